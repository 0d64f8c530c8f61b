"""A browser that looks at a real daemon, and fails a test for whatever its console, its policy or its network says."""

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
    """The browser that is installed, or None if it or what drives it is missing."""
    if importlib.util.find_spec("playwright") is None:
        return None
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


@attrs.frozen
class Viewer:
    """A page that is logged in, and the daemon behind it."""

    page: Page
    daemon: DaemonProcess
    project: Project
    faults: list[str]
    """Messages of the console, reports of the policy and requests to others, which fail the test at its end."""

    @property
    def origin(self) -> str:
        return origin_of(self.daemon)

    def open(self, path: str) -> Page:
        """Show ``/ui/PATH`` and wait until nothing is loaded any more."""
        self.page.goto(f"{self.origin}/ui/{path}")
        settle(self.page)
        return self.page

    def forgive(self, part: str) -> None:
        """Faults with ``part``, of which one comes, are what the test wanted."""
        wait_equal(self.page, lambda: any(part in fault for fault in self.faults), wanted=True)
        self.faults[:] = [fault for fault in self.faults if part not in fault]


SETTLED = """() => document.querySelector('main .page, main .alone')
    && !document.querySelector('[aria-busy=true], .stale')
    && [...document.querySelectorAll('link[rel=stylesheet]')].every((each) => each.sheet)"""
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
"""Once what follows on a drawing has happened: keys are listened to, and what looks at sizes has seen them."""


def settle(page: Page) -> None:
    """Wait until nothing is loaded any more, and what is shown is styled and hears keys."""
    page.wait_for_function(SETTLED)
    page.evaluate(DRAWN)
    page.wait_for_function(SETTLED)


def wait_equal(page: Page, read: Callable[[], Any], wanted: Any) -> None:
    """Read again, while the page goes on, until that is ``wanted``: what the page did may still be on its way."""
    deadline = time.monotonic() + WAIT_MS / 1000
    while (found := read()) != wanted:
        assert time.monotonic() < deadline, f"{found!r} is not {wanted!r}"
        page.wait_for_timeout(POLL_MS)


def origin_of(daemon: DaemonProcess) -> str:
    connection = daemon.connect()
    return f"http://{connection.host}:{connection.port}"


def hold(page: Page, pattern: str) -> list[Route]:
    """The requests that are held from now on, each until the test lets it go on."""
    held: list[Route] = []

    def keep(route: Route) -> None:
        held.append(route)

    page.route(pattern, keep)
    return held


UNHURRIED = {"KIRO_LEARN_RECALL_BUDGET_SECONDS": "30", "KIRO_LEARN_LEARNING_BUFFER_IDLE_SECONDS": "3600"}
"""However busy the machine is, a question is answered whole; what one test reports is not learned during another."""


@contextmanager
def daemon_with_history(home: Path) -> Iterator[tuple[DaemonProcess, Project]]:
    """A daemon whose home has the demo's history, learned, and the demo's two questions."""
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
        if "GL Driver Message" in message.text:  # of the browser, about itself: it draws without a graphics card here
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
    """As the button does: charts and the graph are canvases, which draw themselves anew when they are told."""
    page.evaluate(
        "theme => { document.documentElement.dataset.theme = theme; document.dispatchEvent(new Event('kl:theme')) }",
        theme,
    )


def set_width(page: Page, width: int) -> None:
    """Charts and lists, which are told of their size, have it then."""
    page.set_viewport_size({"width": width, "height": HEIGHT})
    page.evaluate(DRAWN)


def in_both_themes(viewer: Viewer, look: Callable[[str, int], None]) -> None:
    """Call ``look(theme, width)`` for both themes at all widths, on the page that is shown."""
    for theme in ("light", "dark"):
        set_theme(viewer.page, theme)
        for width in WIDTHS:
            set_width(viewer.page, width)
            look(theme, width)
