"""Every page as a person meets it: both themes, every width, without a mouse's eye for what is wrong with it.

Each page is loaded once, and looked at from all sides. ``VIEWER_SCREENSHOTS`` names a folder in which to keep pictures.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kiro_learn.frontends.viewer.routes import FOLDER
from tests.viewer.browsing import WIDTHS, Viewer, in_both_themes, set_theme, set_width, settle

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.one_python

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text("utf-8")
RUN_AXE = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .filter((each) => each.impact === "serious" || each.impact === "critical")
    .flatMap((each) => each.nodes.map((node) => `${each.id}: ${node.html.slice(0, 120)} ${node.failureSummary}`))"""
SIDEWAYS = """() => ["html", "main"].map((name) => document.querySelector(name))
    .filter((each) => each.scrollWidth > each.clientWidth).map((each) => `${each.tagName} ${each.scrollWidth}`)"""
BENEATH = """() => [document.documentElement].filter((each) => each.scrollHeight > each.clientHeight)
    .map((each) => `${each.scrollHeight} of ${each.clientHeight} px, of which the last are empty`)"""
CUT = """() => [...document.querySelectorAll("h1, h2, button, .chip, .value, .label, nav a span")]
    .filter((each) => each.checkVisibility() && !each.closest(".list, .hidden, .rail"))
    .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
    .map((each) => each.outerHTML.slice(0, 120))"""
CHANGED_BY = """async (styles) => {
    const all = [...document.querySelectorAll("main *")];
    const look = () => all.map((each) => JSON.stringify([...getComputedStyle(each)].map((name) =>
        [name, getComputedStyle(each)[name]])));
    const before = look();
    await Promise.all(styles.map((href) => new Promise((done) => document.head.append(
        Object.assign(document.createElement("link"), { rel: "stylesheet", href, onload: done })))));
    const after = look();
    return [...new Set(all.filter((_, place) => before[place] !== after[place])
        .map((each) => `${each.tagName} ${each.className.baseVal ?? each.className}`))];
}"""
"""What looks different once the stylesheets of all pages are there."""
SMALLEST = 320
SCREENSHOTS = os.environ.get("VIEWER_SCREENSHOTS", "")


def pages() -> list[str]:
    """The names of the pages."""
    files = (FOLDER / "pages").glob("*.js")
    return sorted(path.stem for path in files if "export default" in path.read_text("utf-8"))


def serious(page: Page) -> list[str]:
    """The problems of accessibility that axe finds."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(AXE)
    found: list[str] = page.evaluate(RUN_AXE)
    return found


def keep(page: Page, name: str) -> None:
    if SCREENSHOTS:
        Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(SCREENSHOTS) / f"{name}.png"))


def faults_of(viewer: Viewer, name: str) -> Iterator[str]:
    """The problems of one page, at all widths and in both themes, with and without its first row open."""
    viewer.page.emulate_media(reduced_motion="reduce")  # animations are at their end
    page = viewer.open(name)
    assert page.locator("h1").count() == 1
    sideways: list[Any] = []

    def look(theme: str, width: int) -> None:
        keep(page, f"{name}-{theme}-{width}")
        found = [each for script in (SIDEWAYS, BENEATH, CUT) for each in page.evaluate(script)]
        sideways.extend((theme, width, each) for each in found)

    in_both_themes(viewer, look)
    yield from map(str, sideways)
    yield from (f"dark {WIDTHS[-1]}: {each}" for each in serious(page))
    set_width(page, SMALLEST)
    yield from (f"{SMALLEST}: {each}" for each in page.evaluate(SIDEWAYS))
    set_width(page, WIDTHS[0])
    set_theme(page, "light")
    yield from (f"light {WIDTHS[0]}: {each}" for each in serious(page))
    if page.locator(".row").count():
        page.locator(".row").first.click()
        page.wait_for_selector(".panel")
        settle(page)
        keep(page, f"{name}-panel")
        yield from (f"panel: {each}" for each in serious(page))
        page.keyboard.press("Escape")
        page.wait_for_selector(".panel", state="detached")
        page.wait_for_function("() => document.activeElement.classList.contains('row')")  # the focus is on it again


def test_every_page_is_whole_legible_and_open_to_all(viewer: Viewer) -> None:
    faults = {name: found for name in pages() if (found := list(faults_of(viewer, name)))}
    assert faults == {}


def test_a_page_looks_the_same_after_the_others_were_seen(viewer: Viewer) -> None:
    viewer.page.emulate_media(reduced_motion="reduce")
    styles = sorted(f"/ui/{path.relative_to(FOLDER)}" for path in FOLDER.rglob("*.css") if path.parent.name != "vendor")
    changed = {}
    for name in (*pages(), "memories?q=cart"):
        page = viewer.open(name)
        if page.locator(".row").count():
            page.locator(".row").first.click()
            page.wait_for_selector(".panel")
            settle(page)
        if found := page.evaluate(CHANGED_BY, styles):
            changed[name] = found
    assert changed == {}


def test_nothing_moves_for_whom_motion_is_too_much(viewer: Viewer) -> None:
    page = viewer.open("nothing-of-ours")
    durations = "() => [...document.querySelectorAll('*')].map((each) => getComputedStyle(each).transitionDuration)"
    assert set(page.evaluate(durations)) != {"0s"}
    page.emulate_media(reduced_motion="reduce")
    assert set(page.evaluate(durations)) == {"0s"}


def test_the_link_works_once_and_its_code_stays_nowhere(viewer: Viewer) -> None:
    browser = viewer.page.context.browser
    assert browser is not None
    context = browser.new_context()
    page = context.new_page()
    headers: list[dict[str, str]] = []
    page.on("request", lambda request: headers.append(request.headers))
    path = viewer.daemon.call("POST", "/v1/ui/code", {})["path"]
    page.goto(viewer.origin + path)
    page.wait_for_selector(".rail")
    assert page.url == f"{viewer.origin}/ui/"
    assert page.evaluate("history.length") <= 2  # the empty page that the tab began with, and this one
    assert {each.get("referer", "") for each in headers} == {""}
    (cookie,) = context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == ("kl_ui", True, "Strict")
    context.clear_cookies()
    page.goto(viewer.origin + path)
    assert "Run: kiro-learn ui" in page.inner_text("main")
    assert context.cookies() == []
    context.close()
