"""One daemon and one browser for all tests of a worker. Without Chromium each test is skipped by name."""

from __future__ import annotations

import asyncio
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kiro_learn.frontends.cli.projects import Project
from tests.integration.daemon_process import DaemonProcess
from tests.viewer.browsing import (
    HEIGHT,
    WAIT_MS,
    WIDTHS,
    Viewer,
    browser,
    chromium,
    daemon_with_history,
    log_in,
    origin_of,
    watch,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext


@pytest.fixture(scope="session")
def chrome() -> Iterator[Browser]:
    if chromium() is None:
        pytest.skip("no Chromium, or no playwright: apt-get install chromium; pip install playwright")
    with browser() as opened:
        loop = asyncio.get_running_loop()
        yield opened
        asyncio._set_running_loop(loop)  # the last test of this worker may be another's


@pytest.fixture(scope="session")
def loop(chrome: Browser) -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


@pytest.fixture(autouse=True)
def loop_of_the_browser(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Put Playwright's asyncio loop aside between tests: it runs on this thread, and another loop could not start."""
    asyncio._set_running_loop(loop)
    yield
    asyncio._set_running_loop(None)


@pytest.fixture(autouse=True)
def only_one() -> Iterator[None]:
    """Only one worker looks at pages at a time: several browsers on two cores would slow each other down."""
    with (Path(tempfile.gettempdir()) / f"kiro-learn-viewer-tests-{os.getuid()}").open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def demo(chrome: Browser) -> Iterator[tuple[DaemonProcess, Project]]:
    with tempfile.TemporaryDirectory() as folder, daemon_with_history(Path(folder)) as running:
        yield running


@pytest.fixture(scope="session")
def known(chrome: Browser, demo: tuple[DaemonProcess, Project]) -> BrowserContext:
    context = chrome.new_context(
        viewport={"width": WIDTHS[0], "height": HEIGHT}, permissions=["clipboard-write", "clipboard-read"]
    )
    context.set_default_timeout(WAIT_MS)
    log_in(context, demo[0])
    return context


@pytest.fixture
def viewer(known: BrowserContext, demo: tuple[DaemonProcess, Project]) -> Iterator[Viewer]:
    """A logged-in page. At its end, all unexpected faults fail the test."""
    daemon, project = demo
    page = known.new_page()
    faults = watch(page, origin_of(daemon))
    yield Viewer(page, daemon, project, faults)
    page.close()
    assert not faults
