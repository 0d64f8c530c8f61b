"""The live feed shows events at once, and misses none while the daemon is gone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.integration.daemon_process import DaemonProcess, running_daemon
from tests.viewer.browsing import Viewer, log_in, watch

pytestmark = pytest.mark.one_python

LISTEN = """async () => {
    window.heard = [];
    const { listen } = await import("/ui/lib/live.js");
    for (const kind of ["learned", "retrieval"]) listen(kind, (event) => window.heard.push(event));
}"""
MOST_OF_A_HOST = 6
"""Connections that a browser has to one host at a time, over all of its tabs."""
LIVE = "() => document.querySelector('.live').innerText === 'live'"
HEARD = "title => window.heard.some(each => each.title === title)"
TURN = "is => { window.isHidden = is; document.dispatchEvent(new Event('visibilitychange')); }"
NOT_LIVE = "() => document.querySelector('.live').innerText.startsWith('reconnecting')"


def observe(daemon: DaemonProcess, viewer: Viewer, title: str) -> Any:
    return daemon.call("POST", "/api/observations", {"project": viewer.project.namespace, "title": title})


def test_a_memory_is_heard_of_when_it_is_stored(viewer: Viewer) -> None:
    page = viewer.open("nothing-of-ours")
    page.wait_for_function(LIVE)
    page.evaluate(LISTEN)
    observe(viewer.daemon, viewer, "Ports are counted from 9000")
    page.wait_for_function("() => window.heard.some(each => each.title === 'Ports are counted from 9000')")


def test_a_tab_that_was_opened_behind_others_listens_once_it_is_looked_at(viewer: Viewer) -> None:
    page = viewer.page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    page.add_init_script("Object.defineProperty(document, 'hidden', {get: () => !window.isLookedAt})")
    viewer.open("nothing-of-ours")
    assert "/v1/live" not in asked
    page.evaluate("() => { window.isLookedAt = true; document.dispatchEvent(new Event('visibilitychange')); }")
    page.wait_for_function(LIVE)


def test_after_a_restart_the_page_is_still_let_in_reconnects_and_reads_anew(viewer: Viewer, tmp_path: Path) -> None:
    context = viewer.page.context.browser
    assert context is not None
    page = context.new_page()
    with running_daemon(tmp_path) as daemon:
        port = daemon.connect().port
        log_in(page.context, daemon)
        origin = f"http://127.0.0.1:{port}"
        faults = watch(page, origin)
        page.goto(f"{origin}/ui/nothing-of-ours")
        page.wait_for_function(LIVE)
        page.evaluate(LISTEN)
        unread = context.new_page()
        log_in(unread.context, daemon)
        unread.goto(f"{origin}/ui/nothing-of-ours")
        unread.wait_for_function(LIVE)
        daemon.kill()
        page.wait_for_function(NOT_LIVE)
        unread.keyboard.press("g")
        unread.keyboard.press("s")
        unread.get_by_text("Could not read sessions: the daemon does not answer.").wait_for()
    with running_daemon(tmp_path, port=port) as daemon:
        page.wait_for_function(LIVE)
        unread.get_by_text("No agent has reported yet.").wait_for()
        page.wait_for_function("() => window.heard.some(each => each.kind === 'gap')")
        observe(daemon, viewer, "Learned after the restart")
        page.wait_for_function("() => window.heard.some(each => each.title === 'Learned after the restart')")
        assert urlsplit(page.url).path == "/ui/nothing-of-ours"
    page.close()
    unread.close()
    broken = ("ERR_CONNECTION", "ERR_INCOMPLETE", "ERR_EMPTY_RESPONSE")  # by the end of the daemon
    assert [fault for fault in faults if not any(each in fault for each in broken)] == []


def test_a_daemon_that_is_not_heard_of_any_more_is_not_called_live(viewer: Viewer) -> None:
    browser = viewer.page.context.browser
    assert browser is not None
    context = browser.new_context()  # of its own: a clock is that of all pages of a context, also of later ones
    log_in(context, viewer.daemon)
    page = context.new_page()
    page.clock.install()
    page.goto(f"{viewer.origin}/ui/nothing-of-ours")
    page.wait_for_function(LIVE)
    page.clock.pause_at(datetime.now(UTC) + timedelta(seconds=41))  # and it tries again only once the clock goes on
    page.wait_for_function(NOT_LIVE)
    page.clock.fast_forward(2_000)
    page.wait_for_function(LIVE)
    context.close()


def test_more_windows_side_by_side_than_a_browser_has_connections_are_all_live(viewer: Viewer) -> None:
    browser = viewer.page.context.browser
    assert browser is not None
    context = browser.new_context()
    log_in(context, viewer.daemon)
    asked: list[str] = []
    context.on("request", lambda request: asked.extend([request.url] * ("/v1/live" in request.url)))
    pages = [context.new_page() for _ in range(MOST_OF_A_HOST + 1)]
    for page in pages:
        page.goto(f"{viewer.origin}/ui/nothing-of-ours")
        page.wait_for_function(LIVE)
        page.evaluate(LISTEN)
    assert len(asked) == 1
    observe(viewer.daemon, viewer, "Windows share one stream")
    for page in pages:
        page.wait_for_function(HEARD, arg="Windows share one stream")
    pages.pop(0).close()  # the one that had the stream
    observe(viewer.daemon, viewer, "Another window took it over")
    for page in pages:
        page.wait_for_function(HEARD, arg="Another window took it over")
        page.wait_for_function(LIVE)
        assert page.evaluate("window.heard.length") == 2
    context.close()


def test_a_window_that_was_hidden_while_another_heard_of_something_reads_anew(viewer: Viewer) -> None:
    browser = viewer.page.context.browser
    assert browser is not None
    context = browser.new_context()
    context.clock.install()
    context.add_init_script("Object.defineProperty(document, 'hidden', {get: () => window.isHidden})")
    log_in(context, viewer.daemon)
    hidden, shown = context.new_page(), context.new_page()
    for page in (hidden, shown):
        page.goto(f"{viewer.origin}/ui/nothing-of-ours")
        page.wait_for_function(LIVE)
        page.evaluate(LISTEN)
    observe(viewer.daemon, viewer, "Both windows heard of this")
    for page in (hidden, shown):
        page.wait_for_function(HEARD, arg="Both windows heard of this")
    hidden.evaluate(TURN, arg=True)
    context.clock.fast_forward(6_000)
    hidden.wait_for_function("() => document.querySelector('.live').innerText === 'not live'")
    shown.wait_for_function(LIVE)
    observe(viewer.daemon, viewer, "One window heard of this")
    shown.wait_for_function(HEARD, arg="One window heard of this")
    hidden.evaluate(TURN, arg=False)
    hidden.wait_for_function("() => window.heard.at(-1).kind === 'gap'")
    hidden.wait_for_function(LIVE)
    assert shown.evaluate("window.heard.length") == 2
    context.close()


def test_tabs_that_are_hidden_leave_their_connections_to_the_one_that_is_looked_at(viewer: Viewer) -> None:
    browser = viewer.page.context.browser
    assert browser is not None
    context = browser.new_context()
    context.clock.install()
    context.add_init_script("Object.defineProperty(document, 'hidden', {get: () => window.isHidden})")
    log_in(context, viewer.daemon)
    for _ in range(MOST_OF_A_HOST):
        page = context.new_page()
        page.goto(f"{viewer.origin}/ui/nothing-of-ours")
        page.wait_for_function(LIVE)
        page.evaluate(TURN, arg=True)
        context.clock.fast_forward(6_000)
        page.wait_for_function("() => document.querySelector('.live').innerText === 'not live'")
    page = context.new_page()
    page.goto(f"{viewer.origin}/ui/memories")
    page.locator(".row").first.wait_for()
    page.wait_for_function(LIVE)
    context.close()
