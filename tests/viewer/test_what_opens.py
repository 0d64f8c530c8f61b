"""axe finds nothing serious in any panel or dialog, each as it is opened, in the light and in the dark."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests.viewer.browsing import Viewer, set_theme, settle
from tests.viewer.test_every_page import serious
from tests.viewer.test_memories import Kitchen, kitchen, row  # noqa: F401  # the fixture
from tests.viewer.test_retrievals import ask

pytestmark = pytest.mark.one_python

DIALOG = "dialog[open]"


@pytest.fixture
def home(kitchen: Kitchen) -> Kitchen:  # noqa: F811  # the fixture
    """A project with a memory from an event, another one with the same words, and a fact."""
    kitchen.viewer.page.emulate_media(reduced_motion="reduce")  # animations are at their end
    event = kitchen.event("s-1", "prompt", "Why does the bread not rise?")
    kitchen.memory("Use fresh yeast", source_event_ids=[event], concepts=["bread"], files_touched=["oven.py"])
    kitchen.memory("Use fresh yeast always", concepts=["bread"])
    fact = {"predicate": "listens_on_port", "object": "8080"}
    kitchen.viewer.daemon.call("POST", "/api/graph", {"project": kitchen.namespace, "fact": fact})
    return kitchen


def look(page: Any, selector: str) -> None:
    """The open part, once it shows its data."""
    page.wait_for_selector(selector)
    settle(page)
    for theme in ("light", "dark"):
        set_theme(page, theme)
        assert serious(page) == [], (page.url, selector, theme)


def close(page: Any, selector: str = DIALOG) -> None:
    page.keyboard.press("Escape")
    page.wait_for_selector(selector, state="detached")


def test_a_memory_with_what_is_done_to_it(home: Kitchen) -> None:
    page = home.open()
    row(page, "Use fresh yeast").last.click()
    look(page, ".panel .events")
    page.keyboard.press("e")
    look(page, ".panel form")
    close(page, ".panel form")
    page.get_by_role("button", name="Forget…", exact=True).click()
    look(page, f"{DIALOG} button.danger:enabled")
    close(page)


def test_a_text_that_is_forgotten_everywhere(home: Kitchen) -> None:
    page = home.open("memories?q=fresh yeast")
    page.get_by_role("button", name="Forget this text everywhere…").click()
    page.get_by_text("all that holds").wait_for()
    look(page, DIALOG)
    close(page)


def test_a_session_and_a_retrieval(home: Kitchen) -> None:
    page = home.open("sessions")
    row(page, "Why does the bread not rise?").click()
    look(page, ".panel .timeline")
    asked = ask(home.viewer)
    page = home.viewer.open(f"retrievals?open={asked['retrieval_id']}")
    look(page, ".panel .founds")


def test_a_node_of_the_graph_and_a_fact_with_what_is_done_to_it(home: Kitchen) -> None:
    page = home.open("graph?view=list&open=concept:bread")
    look(page, ".panel .said")
    close(page, ".panel")
    page.get_by_role("button", name="listens on port 8080").click()
    look(page, DIALOG)
    page.get_by_role("button", name="Forget…").click()
    last = page.get_by_text("It is forgotten everywhere")
    last.wait_for()
    look(page, DIALOG)
    page.keyboard.press("Escape")
    last.wait_for(state="detached")
    close(page)


def test_a_project_with_what_is_done_to_it(home: Kitchen) -> None:
    page = home.viewer.open("projects")
    mine = page.locator("tbody tr").filter(has=page.locator(f"a[href*='{home.project_id[:12]}']"))
    for act in ("Rename…", "Merge into…", "Forget all…"):
        mine.locator(".more").click()
        look(page, ".sheet:popover-open")
        page.locator(".sheet:popover-open").get_by_role("button", name=act).click()
        look(page, DIALOG)
        close(page)
    mine.get_by_role("button", name="Pause").click()
    page.locator("tbody tr", has_text="paused").wait_for()
    look(page, ".toast")
    home.viewer.daemon.call("DELETE", f"/api/pauses?project={quote(home.namespace)}")


def test_the_keys(viewer: Viewer) -> None:
    viewer.page.emulate_media(reduced_motion="reduce")
    page = viewer.open("nothing-of-ours")
    page.keyboard.press("?")
    look(page, DIALOG)
    close(page)
