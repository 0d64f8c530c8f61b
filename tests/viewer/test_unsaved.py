"""What is typed and not saved is lost only once the person says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.viewer.browsing import Viewer, wait_equal
from tests.viewer.test_memories import Kitchen, kitchen, row  # noqa: F401  # the fixture

if TYPE_CHECKING:
    from playwright.sync_api import Dialog

pytestmark = pytest.mark.one_python

TYPED = "Rest the dough overnight"
ASKED = "Discard what you typed?"


def edit(kitchen: Kitchen) -> Any:  # noqa: F811  # the fixture
    """The page with a memory whose title was typed anew."""
    for title in ("Rest the dough", "Heat the oven"):
        kitchen.memory(title)
    page = kitchen.open()
    row(page, "Rest the dough").click()
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_label("Title").fill(TYPED)
    return page


def keep(page: Any) -> None:
    page.get_by_role("dialog", name=ASKED).wait_for()
    page.wait_for_function("() => document.activeElement.innerText === 'Keep editing'")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog", state="detached")
    assert page.get_by_label("Title").input_value() == TYPED


@pytest.mark.parametrize("way", ["another row", "another page", "a filter", "escape", "cancel", "back", "a key"])
def test_nothing_typed_is_left_before_the_person_says_so(kitchen: Kitchen, way: str) -> None:  # noqa: F811  # the fixture
    page = edit(kitchen)
    address = page.url

    def leave() -> None:
        match way:
            case "another row":
                row(page, "Heat the oven").click()
            case "another page":
                page.get_by_role("link", name="Sessions").click()
            case "a filter":
                page.get_by_label("Type").select_option("decision")
            case "escape":
                page.get_by_label("Title").press("Escape")
            case "cancel":
                page.get_by_role("button", name="Cancel", exact=True).click()
            case "back":
                page.go_back()
            case _:
                row(page, "Heat the oven").focus()
                page.keyboard.press("e")

    leave()
    keep(page)
    assert page.url == address
    leave()
    page.get_by_role("button", name="Discard").click()
    page.wait_for_function("typed => document.querySelector('.panel [name=title]')?.value !== typed", arg=TYPED)
    page.wait_for_selector("dialog", state="detached")
    assert kitchen.titles() == ["Heat the oven", "Rest the dough"]


def test_back_leads_where_it_would_have_led(kitchen: Kitchen) -> None:  # noqa: F811  # the fixture
    page = edit(kitchen)
    page.go_back()
    page.get_by_role("button", name="Discard").click()
    page.wait_for_selector(".panel", state="detached")
    assert "open=" not in page.url


def test_a_tab_is_not_closed_over_what_is_typed(kitchen: Kitchen) -> None:  # noqa: F811  # the fixture
    page = edit(kitchen)
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.close(run_before_unload=True)
    wait_equal(page, lambda: asked, ["beforeunload"])
    assert page.get_by_label("Title").input_value() == TYPED


def test_what_was_not_changed_is_left_without_a_question(kitchen: Kitchen) -> None:  # noqa: F811  # the fixture
    page = edit(kitchen)
    page.get_by_label("Title").fill("Rest the dough")
    row(page, "Heat the oven").click()
    page.get_by_role("heading", name="Heat the oven").wait_for()
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_label("Title").fill("Heat the oven to 220 degrees")
    page.keyboard.press("Control+Enter")
    page.get_by_role("heading", name="Heat the oven to 220 degrees").wait_for()
    page.get_by_role("button", name="Close").click()
    page.wait_for_selector(".panel", state="detached")


def test_what_is_being_typed_is_not_drawn_anew(kitchen: Kitchen) -> None:  # noqa: F811  # the fixture
    pinned = kitchen.memory("Salt the water")
    page = kitchen.open()
    row(page, "Salt the water").click()
    page.keyboard.press("p")
    page.get_by_role("button", name="Unpin").wait_for()
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_label("Title").fill(TYPED)
    page.route(f"**/v1/memories/{pinned}", lambda route: route.fulfill(status=503, json={"error": "busy", "hint": ""}))
    page.locator(".toast").get_by_role("button", name="Undo").click()  # reads the memory again, in vain
    page.get_by_text("No longer pinned.").wait_for()
    kitchen.viewer.forgive("503")
    assert page.get_by_label("Title").input_value() == TYPED
    kitchen.memory("Heat the oven")
    page.get_by_role("button", name="1 new").click()
    row(page, "Heat the oven").wait_for()
    assert page.get_by_label("Title").input_value() == TYPED


def test_a_correction_of_a_fact_is_not_lost_by_a_key(kitchen: Kitchen) -> None:  # noqa: F811  # the fixture
    fact = {"predicate": "listens_on_port", "object": "8080"}
    kitchen.viewer.daemon.call("POST", "/api/graph", {"project": kitchen.namespace, "fact": fact})
    page = kitchen.open("graph")
    page.get_by_role("button", name="listens on port 8080").click()
    page.get_by_label("What it says").fill("9090")
    page.keyboard.press("Escape")
    page.get_by_role("dialog", name=ASKED).get_by_role("button", name="Keep editing").click()
    assert page.get_by_label("What it says").input_value() == "9090"
    page.get_by_role("button", name="Forget\u2026").click()
    page.get_by_role("dialog", name=ASKED).get_by_role("button", name="Keep editing").click()
    assert page.get_by_label("What it says").input_value() == "9090"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Discard").click()
    page.wait_for_selector("dialog", state="detached")


def test_where_nothing_is_typed_nothing_is_asked(viewer: Viewer) -> None:
    page = viewer.open("memories")
    asked: list[str] = []
    page.on("dialog", lambda dialog: asked.append(dialog.type))
    page.reload()
    assert asked == []
