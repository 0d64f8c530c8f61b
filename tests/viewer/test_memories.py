"""Memories in the viewer are found, read, corrected and forgotten by keys only, in as few actions as promised."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from tests.viewer.browsing import DRAWN, Viewer, hold, set_width, settle, wait_equal

pytestmark = pytest.mark.one_python

FOCUSED = "document.activeElement.closest('.row')?.innerText ?? ''"
_numbers = itertools.count(1)


class Kitchen:
    """A test's own project, whose memories and events no other test sees."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        number = next(_numbers)
        self.project_id = f"{number:02d}" + "c7" * 31
        owner = viewer.project.namespace.partition("/project/")[0]
        self.namespace = f"{owner}/project/{self.project_id}/"
        self.started = datetime.now(UTC) - timedelta(hours=1)
        self.prefix = f"{number:04d}"
        self.count = 0

    def _id(self) -> str:
        self.count += 1
        return f"01J{self.prefix}{self.count:019d}"

    def memory(self, title: str, **fields: Any) -> str:
        record_id = f"mr_{self._id()}"
        record = {
            "record_id": record_id,
            "namespace": self.namespace,
            "strategy": "test",
            "title": title,
            "summary": f"{title}, said in full.",
            "source_event_ids": [self._id()],
            "created_at": (self.started + timedelta(seconds=self.count)).isoformat(),
            "observation_type": "decision",
        }
        self.viewer.daemon.call("POST", "/v1/memories", record | fields)
        return record_id

    def event(self, session: str, kind: str, text: str) -> str:
        event_id = self._id()
        event = {
            "event_id": event_id,
            "session_id": session,
            "actor_id": self.namespace.split("/")[2],
            "namespace": self.namespace,
            "schema_version": 1,
            "kind": kind,
            "body": {"type": "text", "content": text},
            "valid_time": (self.started + timedelta(seconds=self.count)).isoformat(),
            "source": {"surface": "claude-code", "version": "1", "client_id": "ada"},
        }
        self.viewer.daemon.call("POST", "/v1/events", event)
        return event_id

    def titles(self) -> list[str]:
        answer = self.viewer.daemon.call("GET", f"/v1/memories?namespace={quote(self.namespace)}")
        return [each["title"] for each in answer["items"]]

    def pinned(self) -> list[str]:
        answer = self.viewer.daemon.call("GET", f"/v1/memories?pinned=true&namespace={quote(self.namespace)}")
        return sorted(each["title"] for each in answer["items"])

    def open(self, path: str = "memories") -> Any:
        joined = "&" if "?" in path else "?"
        return self.viewer.open(f"{path}{joined}project={self.project_id[:12]}")


@pytest.fixture
def kitchen(viewer: Viewer) -> Iterator[Kitchen]:
    made = Kitchen(viewer)
    yield made
    viewer.page.close()  # what it may still ask for is gone in a moment
    viewer.daemon.call("POST", "/api/forgetting", {"project": made.namespace, "whole": True})


class Actions:
    """Counts a person's actions: clicks and keys. Typing a text is part of the action that sends it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.count = 0

    def __call__(self, action: Callable[[], Any]) -> None:
        self.count += 1
        action()

    def key(self, key: str) -> None:
        self(lambda: self.page.keyboard.press(key))

    def click(self, name: str, role: str = "button") -> None:
        self(lambda: self.page.get_by_role(role, name=name, exact=True).click())


def row(page: Any, title: str) -> Any:
    return page.locator(".row", has_text=title)


def test_all_is_done_by_keyboard_alone_and_the_focus_returns_to_the_row(kitchen: Kitchen) -> None:
    for title in ("Salt the water", "Rest the dough", "Heat the oven"):
        kitchen.memory(title)
    page = kitchen.open()
    press = page.keyboard.press
    press("/")
    page.keyboard.type("dough")
    press("Enter")
    page.wait_for_function(f"() => ({FOCUSED}).includes('Rest the dough')")
    press("Enter")
    page.get_by_role("heading", name="Rest the dough").wait_for()

    press("e")
    page.wait_for_function("() => document.activeElement.name === 'title'")
    press("Control+a")
    page.keyboard.type("Rest the dough overnight")
    press("Control+Enter")
    page.get_by_role("heading", name="Rest the dough overnight").wait_for()
    row(page, "Rest the dough overnight").wait_for()

    page.get_by_role("heading", name="History").wait_for()
    settle(page)  # what is asked for of a memory that an undo removes is a 404, a fault of the page
    press("u")
    page.get_by_role("heading", name="Rest the dough", exact=True).wait_for()
    assert "Rest the dough" in kitchen.titles()

    press("Escape")
    page.wait_for_selector(".panel", state="detached")
    page.wait_for_function(f"() => ({FOCUSED}).includes('Rest the dough')")
    press("#")
    page.get_by_role("dialog").get_by_text("This cannot be undone.").wait_for()
    page.wait_for_function("() => document.activeElement.innerText === 'Cancel'")
    page.wait_for_selector("dialog button.danger:enabled")
    press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.wait_for_function(f"() => ({FOCUSED}).includes('Rest the dough')")
    press("#")
    page.wait_for_selector("dialog button.danger:enabled")
    page.locator("dialog button.danger").focus()
    press("Enter")
    page.wait_for_selector("dialog", state="detached")
    row(page, "Rest the dough").wait_for(state="detached")
    assert "Rest the dough" not in kitchen.titles()
    page.wait_for_function("() => document.activeElement.closest('.row') || !document.querySelector('.row')")


def test_a_wrong_fact_is_corrected_in_three_actions(kitchen: Kitchen) -> None:
    kitchen.memory("The oven has 200 degrees", facts=["200 degrees"])
    page = kitchen.open()
    act = Actions(page)
    act(row(page, "The oven has 200 degrees").click)
    act.click("Edit")
    page.get_by_label("Facts, one a line").fill("220 degrees")
    act.click("Save")
    page.get_by_role("list").get_by_text("220 degrees").wait_for()
    assert act.count <= 3
    assert kitchen.viewer.daemon.call("GET", f"/v1/memories?namespace={quote(kitchen.namespace)}")["items"][0][
        "facts"
    ] == ["220 degrees"]


def test_a_wrong_fact_that_is_searched_for_is_corrected_in_three_actions_too(kitchen: Kitchen) -> None:
    kitchen.memory("The oven has 200 degrees")
    page = kitchen.open("")
    act = Actions(page)
    page.get_by_label("Search memories").fill("oven")
    act.key("Enter")
    page.wait_for_function(f"() => ({FOCUSED}).includes('The oven has 200 degrees')")
    act.key("e")
    page.get_by_label("Title").fill("The oven has 220 degrees")
    act.key("Control+Enter")
    page.get_by_role("heading", name="The oven has 220 degrees").wait_for()
    assert act.count <= 3


def test_a_merge_is_undone_in_three_actions(kitchen: Kitchen) -> None:
    first = kitchen.memory("Bread needs time")
    edit = {"project": kitchen.namespace, "id": first, "title": "Bread needs a day"}
    kitchen.viewer.daemon.call("POST", "/v1/memories/edit", edit)
    page = kitchen.open()
    act = Actions(page)
    act(row(page, "Bread needs a day").click)
    page.get_by_text("edited just now").wait_for()
    settle(page)
    act.click("Undo")
    page.get_by_role("heading", name="Bread needs time").wait_for()
    assert act.count <= 3
    assert kitchen.titles() == ["Bread needs time"]


def test_a_memory_is_pinned_by_a_key_found_by_a_filter_and_unpinned_by_undo(kitchen: Kitchen) -> None:
    for title in ("Salt the water", "Rest the dough", "Heat the oven"):
        kitchen.memory(title)
    page = kitchen.open()
    row(page, "Rest the dough").focus()
    page.keyboard.press("p")
    row(page, "Rest the dough").get_by_text("pinned", exact=True).wait_for()
    wait_equal(page, kitchen.pinned, ["Rest the dough"])
    page.get_by_role("button", name="Pinned", exact=True).click()
    row(page, "Heat the oven").wait_for(state="detached")

    row(page, "Rest the dough").click()
    page.locator(".panel").get_by_text("pinned just now").wait_for()
    page.keyboard.press("u")
    page.get_by_role("button", name="Pin", exact=True).wait_for()
    wait_equal(page, kitchen.pinned, [])
    page.get_by_role("button", name="Pin", exact=True).click()
    page.get_by_role("button", name="Unpin", exact=True).wait_for()
    page.keyboard.press("p")
    page.get_by_role("button", name="Pin", exact=True).wait_for()
    wait_equal(page, kitchen.pinned, [])

    page.get_by_role("button", name="Pinned", exact=True).click()
    row(page, "Heat the oven").focus()
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.locator(".chosen").get_by_role("button", name="Pin", exact=True).click()
    page.locator(".row", has=page.get_by_text("pinned", exact=True)).nth(1).wait_for()
    wait_equal(page, kitchen.pinned, ["Heat the oven", "Rest the dough"])


def test_a_pin_shows_before_the_answer_and_goes_where_it_is_refused(kitchen: Kitchen) -> None:
    kitchen.memory("Rest the dough")
    page = kitchen.open("memories")
    waiting = hold(page, "**/pin")
    row(page, "Rest the dough").focus()
    page.keyboard.press("p")
    row(page, "Rest the dough").get_by_text("pinned", exact=True).wait_for()
    wait_equal(page, lambda: len(waiting), 1)
    waiting[0].fulfill(status=503, json={"error": "the store is busy", "hint": ""})
    page.get_by_text("the store is busy").wait_for()
    row(page, "Rest the dough").get_by_text("pinned", exact=True).wait_for(state="detached")
    kitchen.viewer.forgive("503")


def test_an_undo_at_once_takes_back_the_pin_that_is_still_on_its_way_and_nothing_before_it(kitchen: Kitchen) -> None:
    first = kitchen.memory("Bread needs time")
    edit = {"project": kitchen.namespace, "id": first, "title": "Bread needs a day"}
    kitchen.viewer.daemon.call("POST", "/v1/memories/edit", edit)
    page = kitchen.open()
    waiting = hold(page, "**/pin")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    row(page, "Bread needs a day").focus()
    page.keyboard.press("p")
    page.keyboard.press("u")
    wait_equal(page, lambda: len(waiting), 1)
    page.evaluate(DRAWN)
    assert "undo" not in asked
    waiting[0].continue_()
    page.get_by_text("No longer pinned.").wait_for()
    assert kitchen.pinned() == []
    assert kitchen.titles() == ["Bread needs a day"]


def test_to_undo_the_pins_of_several_leaves_those_that_were_there(kitchen: Kitchen) -> None:
    kept = kitchen.memory("Rest the dough")
    kitchen.memory("Heat the oven")
    at = kitchen.viewer.daemon.call("POST", f"/v1/memories/{kept}/pin", {})["pinned_at"]
    page = kitchen.open()
    row(page, "Heat the oven").focus()
    for key in "xjxp":
        page.keyboard.press(key)
    page.locator(".toast").get_by_role("button", name="Undo").click()
    page.get_by_text("No longer pinned.").wait_for()
    listed = kitchen.viewer.daemon.call("GET", f"/v1/memories?pinned=true&namespace={quote(kitchen.namespace)}")
    assert [(each["title"], each["pinned_at"]) for each in listed["items"]] == [("Rest the dough", at)]


def test_what_is_learned_meanwhile_waits_behind_new_and_nothing_jumps(kitchen: Kitchen) -> None:
    for number in range(60):
        kitchen.memory(f"Recipe {number}")
    page = kitchen.open()
    page.wait_for_selector(".live.on")
    page.locator(".list").evaluate("list => list.scrollTo(0, 900)")
    page.wait_for_function("() => !document.querySelector('.row').innerText.includes('Recipe 59')")  # drawn anew
    title = page.locator(".row .strong").first  # without how long ago it was learned, which may go on
    seen = title.inner_text()
    kitchen.memory("A new recipe", created_at=datetime.now(UTC).isoformat())
    page.get_by_role("button", name="1 new").wait_for()
    assert page.locator(".list").evaluate("list => list.scrollTop") == 900
    assert title.inner_text() == seen
    page.get_by_role("button", name="1 new").click()
    row(page, "A new recipe").wait_for()
    page.wait_for_function("() => document.querySelector('.list').scrollTop === 0")


def test_several_are_chosen_exported_and_forgotten_with_their_number_typed(kitchen: Kitchen) -> None:
    for number in range(25):
        kitchen.memory(f"Spice {number}")
    page = kitchen.open()
    row(page, "Spice 24").wait_for()
    page.keyboard.press("j")
    page.wait_for_function(f"() => ({FOCUSED}).includes('Spice 24')")
    page.keyboard.press("x")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    exported = download.value.path().read_text().splitlines()
    assert len(exported) == 1
    assert "Spice 24" in exported[0]
    page.get_by_role("button", name="Choose all 25").click()
    page.get_by_role("button", name="Forget…", exact=True).click()
    page.get_by_label("Type 25 to go on").wait_for()
    assert page.locator("dialog button.danger").is_disabled()
    page.get_by_label("Type 25 to go on").fill("25")
    page.locator("dialog button.danger").click()
    page.get_by_text("Forgotten: 25 memories").wait_for()
    page.get_by_text("Nothing learned yet").wait_for()
    assert kitchen.titles() == []


def test_what_was_forgotten_is_not_counted_and_what_was_chosen_is_of_the_filters(kitchen: Kitchen) -> None:
    for title in ("Basil", "Thyme", "Sage"):
        kitchen.memory(title)
    page = kitchen.open()
    row(page, "Thyme").get_by_label("Choose Thyme").check()
    page.get_by_role("button", name="Forget…", exact=True).click()
    page.locator("dialog button.danger:enabled").click()
    page.get_by_text("2 memories", exact=True).wait_for()

    row(page, "Basil").get_by_label("Choose Basil").check()
    page.get_by_text("1 chosen").wait_for()
    page.get_by_label("Type").select_option("decision")
    page.get_by_text("2 of 2").wait_for()
    page.get_by_text("1 chosen").wait_for(state="detached")


def test_the_search_field_says_what_is_searched_for_also_after_back(kitchen: Kitchen) -> None:
    page = kitchen.open("memories?q=basil")
    field = page.get_by_label("Search memories")
    field.fill("thyme")
    field.press("Enter")
    page.wait_for_url("**q=thyme")
    page.go_back()
    page.wait_for_url("**q=basil*")
    page.wait_for_function("() => document.querySelector('.search input').value === 'basil'")


def test_filters_stand_in_the_address_and_chips_set_them(kitchen: Kitchen) -> None:
    kitchen.memory("With garlic", concepts=["garlic"], files_touched=["src/pan.ts"])
    kitchen.memory("With onions", concepts=["onion"])
    page = kitchen.open()
    row(page, "With garlic").click()
    page.get_by_role("button", name="garlic", exact=True).click()
    row(page, "With onions").wait_for(state="detached")
    assert "concept=garlic" in page.url
    page.get_by_text("1 of 2").wait_for()
    page.get_by_label("File").fill("nowhere.ts")
    page.keyboard.press("Tab")
    page.get_by_text("No memory fits").wait_for()
    page.get_by_role("button", name="Clear filters").click()
    row(page, "With onions").wait_for()


def test_what_is_typed_into_a_filter_stays_while_something_is_learned(kitchen: Kitchen) -> None:
    kitchen.memory("With garlic", files_touched=["src/pan.ts"])
    page = kitchen.open()
    page.wait_for_selector(".live.on")
    page.get_by_label("File").fill("src/p")
    kitchen.memory("With onions")
    page.get_by_role("button", name="1 new").wait_for()
    assert page.get_by_label("File").input_value() == "src/p"
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Clear filters").click()
    wait_equal(page, page.get_by_label("File").input_value, "")


def test_a_memory_that_a_team_shares_says_who_it_is_from(kitchen: Kitchen) -> None:
    source = kitchen.event("s-1", "note", "shared")
    shared = kitchen.memory("Taste before salting", strategy="team-shared", source_event_ids=[source])
    page = kitchen.open(f"memories?open={shared}")
    page.get_by_text(f"{kitchen.namespace.split('/')[2]}, through the team").wait_for()
    assert page.get_by_text("Session s-1").count() == 0


def test_a_long_type_leaves_room_for_the_title_and_a_date_shows_its_year(kitchen: Kitchen) -> None:
    kitchen.memory("Knead the dough for ten minutes", capture_type="kneading-by-hand-" * 5)
    page = kitchen.open("memories?since=2026-01-01")
    for width in (1280, 390):
        set_width(page, width)
        page.locator(".row").first.click()
        page.wait_for_selector(".panel")
        page.keyboard.press("Escape")
        page.wait_for_selector(".panel", state="detached")
        assert page.locator(".memory > .cut").evaluate("each => each.clientWidth") > 120
        assert page.locator(".memory > .type").evaluate("each => each.clientHeight") <= 24
        assert page.get_by_label("Since").evaluate("each => each.clientWidth") > 120
    kitchen.open("")
    assert page.locator(".kind .chip").first.evaluate("each => each.clientHeight") <= 24
