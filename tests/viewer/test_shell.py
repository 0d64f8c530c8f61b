"""The parts around every page: the login, the rail, the keys, the theme."""

from __future__ import annotations

import pytest

from tests.viewer.browsing import Viewer, settle, wait_equal

pytestmark = pytest.mark.one_python


def test_a_page_whose_file_is_missing_says_so_and_leads_back(viewer: Viewer) -> None:
    page = viewer.open("nothing-of-ours?any=thing")
    assert page.inner_text(".alone") == "This page is not here. Overview"
    wait_equal(page, page.title, "Not here · kiro_learn")


def test_a_page_that_cannot_be_fetched_says_so_and_is_there_at_once_when_it_can(viewer: Viewer) -> None:
    page = viewer.open("nothing-of-ours")
    page.route("**/ui/pages/projects.js*", lambda route: route.abort())
    page.keyboard.press("g")
    page.keyboard.press("p")
    page.get_by_text("Could not read projects: the daemon does not answer.").wait_for()
    assert page.locator(".problem code").inner_text() == "kiro-learn start"
    page.unroute("**/ui/pages/projects.js*")
    page.get_by_role("button", name="Retry").click()
    page.get_by_role("button", name=f"Pause {viewer.project.name}").wait_for()
    viewer.forgive("ERR_FAILED")


def test_an_answer_that_ends_too_early_is_none(viewer: Viewer) -> None:
    page = viewer.page
    torn = {"status": 200, "content_type": "application/json", "body": '{"items": ['}
    page.route("**/v1/memories?*", lambda route: route.fulfill(**torn))
    viewer.open("memories")
    page.get_by_text("Could not read memories: the daemon does not answer.").wait_for()
    page.unroute_all()
    page.get_by_role("button", name="Retry").click()
    page.locator(".row").first.wait_for()


def test_without_the_projects_no_page_shows_the_memories_of_all(viewer: Viewer) -> None:
    page = viewer.page
    for path in ("**/v1/stats", "**/v1/live*"):
        page.route(path, lambda route: route.abort())
    page.goto(f"{viewer.origin}/ui/memories?project={viewer.project.project_id[:12]}")
    page.get_by_text("Could not read projects: the daemon does not answer.").wait_for()
    assert page.locator(".row").count() == 0
    page.unroute_all()
    page.locator(".row").first.wait_for()
    wait_equal(page, page.get_by_label("Project", exact=True).input_value, viewer.project.project_id[:12])
    viewer.forgive("ERR_FAILED")


def test_the_theme_is_kept_and_keys_are_explained(viewer: Viewer) -> None:
    page = viewer.open("nothing-of-ours")
    theme = page.evaluate("document.documentElement.dataset.theme")
    page.keyboard.press("t")
    chosen = page.evaluate("document.documentElement.dataset.theme")
    assert chosen != theme
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == chosen
    settle(page)
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.wait_for_function("() => document.activeElement.innerText === 'Close'")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")


def test_a_project_is_chosen_and_stays_in_the_address(viewer: Viewer) -> None:
    page = viewer.open("nothing-of-ours")
    page.get_by_label("Project").select_option(label=viewer.project.name)
    wanted = f"?project={viewer.project.project_id[:12]}"
    page.wait_for_url(f"**/ui/nothing-of-ours{wanted}")
    page.wait_for_function(
        "wanted => [...document.querySelectorAll('.rail a')].every(a => a.href.endsWith(wanted))", arg=wanted
    )
    page.keyboard.press("Escape")
    page.go_back()
    wait_equal(page, page.get_by_label("Project").input_value, "")


def test_nothing_is_shown_without_the_cookie(viewer: Viewer) -> None:
    context = viewer.page.context.browser
    assert context is not None
    stranger = context.new_page()
    try:
        stranger.goto(f"{viewer.origin}/ui/memories")
        assert stranger.inner_text("main").split("\n\n") == ["kiro_learn", "Run: kiro-learn ui"]
    finally:
        stranger.close()
