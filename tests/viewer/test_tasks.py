"""Ten things that a person does, each begun on the overview and counted: a click or a key is one action.

Typing a text is part of the action that sends it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from tests.viewer.browsing import settle
from tests.viewer.test_every_page import serious
from tests.viewer.test_memories import FOCUSED, Actions, Kitchen, kitchen, row  # noqa: F401  # the fixture
from tests.viewer.test_retrievals import ask

if TYPE_CHECKING:
    from playwright.sync_api import Route

pytestmark = pytest.mark.one_python

RULES = ("Always use pnpm install", "Never use pnpm install")


class Task:
    """The overview of a project, and tasks that begin there."""

    def __init__(self, home: Kitchen, path: str = "") -> None:
        self.page = home.open(path)
        self.act = Actions(self.page)

    def search(self, text: str) -> None:
        self.page.get_by_label("Search memories").fill(text)
        self.act.key("Enter")

    def open(self, title: str) -> None:
        """Open a memory by its link in the list of learned ones, and wait until all of it has loaded."""
        learned = self.page.get_by_role("region", name="Learned")
        self.act(learned.get_by_role("link", name=title, exact=True).click)
        self.page.get_by_role("heading", name=title, exact=True).wait_for()
        settle(self.page)


@pytest.fixture
def home(kitchen: Kitchen) -> Kitchen:  # noqa: F811  # the fixture
    return kitchen


def rules(home: Kitchen) -> None:
    for title in RULES:
        home.memory(title, knowledge_type="constraint", observation_type="discovery")


def test_why_an_agent_said_something_is_found_in_four_actions(home: Kitchen) -> None:
    asked = ask(home.viewer)
    page = home.viewer.open("")
    act = Actions(page)
    live = page.get_by_role("region", name="Live")
    act(live.get_by_role("link", name="asked").first.click)
    page.get_by_role("heading", name="What was told", exact=True, level=2).wait_for()
    why = next(each for each in asked["found"] if each["why"] == "told")
    assert why["memory"]["title"] in page.locator(".panel .founds").first.inner_text()
    assert act.count <= 4


def test_a_wrong_fact_is_corrected_in_three(home: Kitchen) -> None:
    home.memory("The oven has 200 degrees")
    task = Task(home)
    task.open("The oven has 200 degrees")
    task.act.key("e")
    task.page.get_by_label("Title").fill("The oven has 220 degrees")
    task.act.key("Control+Enter")
    task.page.get_by_role("heading", name="The oven has 220 degrees").wait_for()
    assert task.act.count <= 3
    assert home.titles() == ["The oven has 220 degrees"]


def test_a_secret_is_forgotten_everywhere_in_four(home: Kitchen) -> None:
    secret = "plumjam" + str(4700 + 12)
    event = home.event("s-secret", "note", f"the jar says {secret}")
    home.memory(f"The jar is called {secret}", source_event_ids=[event])
    task = Task(home)
    task.search(secret)
    task.act.click("Forget this text everywhere…")
    task.act(task.page.locator("dialog button.danger:enabled").click)
    task.page.get_by_text("Forgotten: 1 memory, 1 event").wait_for()
    assert task.act.count <= 4
    assert home.titles() == []
    assert home.viewer.daemon.call("GET", f"/v1/events?namespace={quote(home.namespace)}")["total"] == 0


def test_what_last_week_taught_is_seen_in_two(home: Kitchen) -> None:
    home.memory("Releases go out on Thursdays", created_at=datetime.now(UTC).isoformat())
    task = Task(home)
    task.act.click("last 7 days", "link")
    row(task.page, "Releases go out on Thursdays").wait_for()
    assert "/ui/memories?" in task.page.url
    assert "since=20" in task.page.url
    assert task.act.count <= 2


def test_a_conflict_is_settled_in_two(home: Kitchen) -> None:
    rules(home)
    task = Task(home)
    conflict = task.page.locator(".side", has_text=RULES[0])
    task.act(conflict.get_by_role("button", name="Keep this").click)
    task.page.get_by_text("Settled", exact=True).wait_for()
    task.page.locator(".conflicts").wait_for(state="detached")
    assert task.act.count <= 2
    assert home.titles() == [RULES[0]]


def test_a_conflict_whose_end_cannot_be_undone_is_settled_in_two_and_says_so_first(home: Kitchen) -> None:
    said = {"source": "stated", "event_id": None, "at": None}
    sides = [
        {**said, "id": f"fa_{port}", "text": f"listens on port {port}", "holds": port == 8080} for port in (8080, 9090)
    ]
    found = {"items": [{"project": home.namespace, "sides": sides}]}
    settled: list[dict[str, str]] = []

    def answer(route: Route) -> None:
        if route.request.method == "POST":
            settled.append(route.request.post_data_json or {})
            found["items"] = []
        route.fulfill(json={"kept": "fa_8080"} if route.request.method == "POST" else found)

    home.viewer.page.route("**/api/conflicts*", answer)
    task = Task(home)
    task.act(task.page.get_by_role("button", name="Keep this").first.click)
    task.page.get_by_role("dialog").get_by_text("This cannot be undone.").wait_for()
    assert serious(task.page) == []
    task.act.click("Keep")
    task.page.get_by_text("Settled", exact=True).wait_for()
    assert task.act.count <= 2
    assert settled == [{"project": home.namespace, "keep": "fa_8080", "over": "fa_9090"}]


def test_whether_memory_helps_is_seen_in_one(home: Kitchen) -> None:
    task = Task(home)
    helps = task.page.get_by_role("region", name="Does it help?").inner_text()
    assert "told in 14 days" in helps
    assert "you said helped" in helps
    assert task.act.count == 0  # the overview is the first of the one that is allowed


def test_a_project_is_paused_in_two(home: Kitchen) -> None:
    home.event("s-1", "prompt", "Is there bread?")
    task = Task(home)
    name = next(
        each["display_name"]
        for each in home.viewer.daemon.call("GET", "/v1/stats")["projects"]
        if each["namespace"] == home.namespace
    ).split("/")[-1]
    task.act.click("Projects", "link")
    task.act.click(f"Pause {name}")
    task.page.locator("tbody tr", has_text="paused").wait_for()
    assert task.act.count <= 2
    paused = home.viewer.daemon.call("GET", "/api/pauses")["pauses"]
    assert [each["namespace"] for each in paused] == [home.namespace]
    home.viewer.daemon.call("DELETE", f"/api/pauses?project={quote(home.namespace)}")


def test_a_merge_is_undone_in_three(home: Kitchen) -> None:
    rules(home)
    sides = home.viewer.daemon.call("GET", f"/api/conflicts?project={quote(home.namespace)}")["items"][0]["sides"]
    over = {"project": home.namespace, "keep": sides[0]["id"], "over": sides[1]["id"]}
    home.viewer.daemon.call("POST", "/api/conflicts", over)  # one takes the place of two, as where they said the same
    task = Task(home)
    task.open(sides[0]["text"])
    for said in ("merged from 2 memories", "The events it came from are gone.", "never yet"):
        task.page.get_by_text(said).wait_for()
    task.act.key("u")
    task.page.get_by_text("Undone: 2 memories are back.").wait_for()
    assert task.act.count <= 3
    assert sorted(home.titles()) == sorted(RULES)


def test_the_session_in_which_something_was_decided_is_found_in_three(home: Kitchen) -> None:
    asked = home.event("s-bread", "prompt", "Why does the bread not rise?")
    home.memory("Use fresh yeast", source_event_ids=[asked])
    task = Task(home)
    task.search("yeast")
    task.page.wait_for_function(f"() => ({FOCUSED}).includes('Use fresh yeast')")
    task.act.key("Enter")
    task.act(task.page.locator(".source").click)
    task.page.get_by_role("heading", name="Why does the bread not rise?").wait_for()
    task.page.wait_for_selector(".event.lit")
    assert task.act.count <= 3


def test_the_events_of_a_memory_are_opened_in_two(home: Kitchen) -> None:
    asked = home.event("s-bread", "prompt", "Why does the bread not rise?")
    home.memory("Use fresh yeast", source_event_ids=[asked])
    task = Task(home)
    task.open("Use fresh yeast")
    task.page.locator(".panel .events").get_by_text("Why does the bread not rise?").wait_for()
    assert task.act.count <= 2
