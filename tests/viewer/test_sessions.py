"""Sessions in the viewer: from a memory to its events and back, and from an event to its memories."""

from __future__ import annotations

import pytest

from tests.viewer.browsing import Viewer, set_width, wait_equal
from tests.viewer.test_memories import Actions, Kitchen, kitchen, row  # noqa: F401  # the fixture

pytestmark = pytest.mark.one_python


@pytest.fixture
def story(kitchen: Kitchen) -> Kitchen:  # noqa: F811  # the fixture
    """Two sessions. The first has a memory of two events and a memory of one of them; the second has one memory."""
    asked = kitchen.event("s-bread", "prompt", "Why does the bread not rise?")
    kitchen.event("s-bread", "note", "Looked at the flour.")
    found = kitchen.event("s-bread", "session_summary", "The yeast was old; a fresh one it is.")
    other = kitchen.event("s-soup", "prompt", "How much salt?")
    kitchen.memory("Use fresh yeast", source_event_ids=[asked, found])
    kitchen.memory("Old yeast is tired", source_event_ids=[found])
    kitchen.memory("One spoon of salt", source_event_ids=[other])
    return kitchen


def test_the_day_of_a_session_stands_on_one_line(story: Kitchen) -> None:
    page = story.open("sessions")
    set_width(page, 390)
    days = page.locator(".session > .day").evaluate_all("all => all.map(each => each.clientHeight)")
    assert days
    assert set(days) <= {0, 16}


def test_a_prompt_that_is_too_long_for_a_title_ends_with_an_ellipsis(kitchen: Kitchen) -> None:  # noqa: F811  # the fixture
    kitchen.event("s-long", "prompt", "Why does the bread not rise? " * 20)
    page = kitchen.open("sessions?session=s-long")
    assert page.locator(".panel h2").inner_text().endswith("not ri…")


def test_a_memory_shows_its_events_and_leads_to_them_and_back(story: Kitchen) -> None:
    page = story.open()
    act = Actions(page)
    act(row(page, "Use fresh yeast").click)
    page.get_by_text("The yeast was old").wait_for()
    act(page.locator(".source").click)
    page.wait_for_selector(".event.lit")
    assert act.count <= 2
    back = Actions(page)
    back(page.get_by_role("link", name="Open Use fresh yeast").first.click)
    page.get_by_role("heading", name="Use fresh yeast").wait_for()
    assert back.count <= 2


def test_picking_a_memory_lights_its_events_and_picking_an_event_its_memories(story: Kitchen) -> None:
    page = story.open("sessions")
    act = Actions(page)
    act(row(page, "Why does the bread not rise?").click)
    page.get_by_text("gave 2 memories").wait_for()
    row(page, "Why does the bread not rise?").get_by_text("2 memories").wait_for()
    act(page.get_by_role("button", name="Old yeast is tired").click)
    wait_equal(page, page.locator(".event.lit .who").all_inner_texts, ["agent"])
    assert act.count <= 2
    page.get_by_text("gave 1 memory").click()
    wait_equal(page, page.locator(".event.lit .who").all_inner_texts, ["you"])
    marked = page.locator(".came .chip[aria-pressed=true]")
    wait_equal(page, marked.all_inner_texts, ["◆ Use fresh yeast"] * 2)
    page.keyboard.press("Escape")
    page.wait_for_selector(".panel", state="detached")
    page.wait_for_function("() => document.activeElement.closest('.row')?.innerText.includes('bread')")


def test_sessions_of_all_projects_say_what_they_are_called(story: Kitchen, viewer: Viewer) -> None:
    page = viewer.open("sessions")
    row(page, "How much salt?").wait_for()
    assert "Claude Code" in row(page, "How much salt?").inner_text()
    answer = page.request.get(f"{viewer.origin}/ui/sessions.json").json()
    assert answer["items"][0]["first_prompt"] == "How much salt?"


def test_another_project_is_shown_without_the_session_of_the_one_before(story: Kitchen, viewer: Viewer) -> None:
    page = story.open("sessions")
    row(page, "How much salt?").click()
    page.locator(".event").first.wait_for()
    page.get_by_label("Project", exact=True).select_option(label=viewer.project.name)
    page.wait_for_url(f"**/ui/sessions?project={viewer.project.project_id[:12]}")
    page.wait_for_selector(".panel", state="detached")
