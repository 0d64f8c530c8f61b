"""A browser on a real daemon. It fails a test for any message of its console, its policy or its network."""

from __future__ import annotations

import importlib.util
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import demo_history
from kiro_learn.frontends.cli.demo_history import Scene
from kiro_learn.frontends.cli.projects import Project
from tests.integration.daemon_process import DaemonProcess, running_daemon

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Route

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
PROJECT_ID = "ab" * 32
WAIT_MS = 25_000
POLL_MS = 20
WIDTHS = (1280, 900, 390)
HEIGHT = 800


def chromium() -> str | None:
    """The installed browser; None if the browser or its driver is missing."""
    if importlib.util.find_spec("playwright") is None:
        return None
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


@attrs.frozen
class Viewer:
    """A logged-in page and its daemon."""

    page: Page
    daemon: DaemonProcess
    project: Project
    faults: list[str]
    """Messages of the console, reports of the policy and foreign requests. They fail the test at its end."""

    @property
    def origin(self) -> str:
        return origin_of(self.daemon)

    def open(self, path: str) -> Page:
        """Show ``/ui/PATH`` and wait until all is loaded."""
        self.page.goto(f"{self.origin}/ui/{path}")
        settle(self.page)
        return self.page

    def forgive(self, part: str) -> None:
        """Wait for a fault with ``part``, and drop all such faults, which the test wants."""
        wait_equal(self.page, lambda: any(part in fault for fault in self.faults), wanted=True)
        self.faults[:] = [fault for fault in self.faults if part not in fault]


SETTLED = """() => document.querySelector('main .page, main .alone')
    && !document.querySelector('[aria-busy=true], .stale')
    && [...document.querySelectorAll('link[rel=stylesheet]')].every((each) => each.sheet)"""
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
"""A script that waits for the effects of drawing: keys work, and observers have seen new sizes."""


def settle(page: Page) -> None:
    """Wait until all is loaded and styled, and keys work."""
    page.wait_for_function(SETTLED)
    page.evaluate(DRAWN)
    page.wait_for_function(SETTLED)


def wait_equal(page: Page, read: Callable[[], Any], wanted: Any) -> None:
    """Read again and again until the value is ``wanted``, since the page's request may still be under way."""
    deadline = time.monotonic() + WAIT_MS / 1000
    while (found := read()) != wanted:
        assert time.monotonic() < deadline, f"{found!r} is not {wanted!r}"
        page.wait_for_timeout(POLL_MS)


def origin_of(daemon: DaemonProcess) -> str:
    connection = daemon.connect()
    return f"http://{connection.host}:{connection.port}"


def hold(page: Page, pattern: str) -> list[Route]:
    """The requests that are held from now on, each until the test releases it."""
    held: list[Route] = []

    def keep(route: Route) -> None:
        held.append(route)

    page.route(pattern, keep)
    return held


UNHURRIED = {"KIRO_LEARN_RECALL_BUDGET_SECONDS": "30", "KIRO_LEARN_LEARNING_BUFFER_IDLE_SECONDS": "3600"}
"""Settings for a busy machine: questions are answered whole, and a test's events are not learned in another test."""


@contextmanager
def daemon_with_history(home: Path) -> Iterator[tuple[DaemonProcess, Project]]:
    """A daemon whose home has the demo's learned history and the demo's two questions."""
    with running_daemon(home, UNHURRIED) as daemon:
        client = Client(home)
        owner = client.project_of("/")["namespace"].partition("/project/")[0]
        project = Project("web-shop", f"{owner}/project/{PROJECT_ID}/", PROJECT_ID)
        scene = Scene(project, "/home/ada/web-shop", datetime.now().astimezone())
        for chapter in demo_history.chapters(scene):
            client.post_event(chapter.event)
        client.flush(PROJECT_ID)
        for question in (demo_history.QUESTION, demo_history.OFF_TOPIC):
            client.post_event(demo_history.prompt(scene, question), retrieve=True)
        client.close()
        yield daemon, project


@contextmanager
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # missing where no browser is tested

    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])


def log_in(context: BrowserContext, daemon: DaemonProcess) -> None:
    """Exchange a one-time code for the cookie, as the link of ``kiro-learn ui`` does."""
    path = daemon.call("POST", "/v1/ui/code", {})["path"]
    answer = context.request.get(origin_of(daemon) + path)
    assert answer.ok, answer.status


def watch(page: Page, origin: str) -> list[str]:
    """The faults of ``page`` from now on."""
    faults: list[str] = []

    def console(message: ConsoleMessage) -> None:
        if "GL Driver Message" in message.text:  # the browser's own: it draws without a graphics card
            return
        faults.append(f"console {message.type}: {message.text} ({message.location.get('url', '')})")

    def request(asked: Any) -> None:
        if not asked.url.startswith((f"{origin}/", f"blob:{origin}/")):
            faults.append(f"request to another origin: {asked.url}")

    page.on("console", console)
    page.on("pageerror", lambda error: faults.append(f"page error: {error}"))
    page.on("request", request)
    return faults


def set_theme(page: Page, theme: str) -> None:
    """Change the theme as the button does: charts and the graph are canvases, which redraw themselves on its event."""
    page.evaluate(
        "theme => { document.documentElement.dataset.theme = theme; document.dispatchEvent(new Event('kl:theme')) }",
        theme,
    )


def set_width(page: Page, width: int) -> None:
    """Set the width, and wait until charts and lists have their new size."""
    page.set_viewport_size({"width": width, "height": HEIGHT})
    page.evaluate(DRAWN)


def in_both_themes(viewer: Viewer, look: Callable[[str, int], None]) -> None:
    """Call ``look(theme, width)`` on the shown page for both themes at all widths."""
    for theme in ("light", "dark"):
        set_theme(viewer.page, theme)
        for width in WIDTHS:
            set_width(viewer.page, width)
            look(theme, width)
