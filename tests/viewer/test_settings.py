"""The settings with their origins and without secrets; and the brief as a session gets it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from ulid import ULID

from kiro_learn.client.routes import Client
from tests.viewer.browsing import Viewer

pytestmark = pytest.mark.one_python

SECRET = "gh" + "p_" + "a1B2" * 9


@pytest.fixture
def settings_file(viewer: Viewer) -> Iterator[None]:
    """Settings that a daemon would read at its next start. They are removed after the test."""
    path = viewer.daemon.home / "settings.toml"
    before = path.read_text(encoding="utf-8") if path.exists() else None
    path.write_text(f"[recall]\nbrief_bytes = 1900\n[llm]\ncommand = 'agent --token {SECRET}'\n", encoding="utf-8")
    yield
    path.unlink() if before is None else path.write_text(before, encoding="utf-8")


@pytest.mark.usefixtures("settings_file")
def test_a_setting_says_where_it_comes_from_and_no_secret_is_shown(viewer: Viewer) -> None:
    page = viewer.open("settings?changed=1")
    rows = page.locator("table.settings tr", has=page.locator("td")).all_inner_texts()
    assert SECRET not in page.content()
    assert any(row.split()[:2] == ["brief_bytes", "1900"] and "settings.toml:2" in row for row in rows)
    page.get_by_label("Find a setting").fill("brief")
    page.wait_for_function("() => document.querySelectorAll('table.settings td.value').length === 1")
    page.get_by_role("button", name="Copy: kiro-learn config set recall.brief_bytes 1900").click()
    page.get_by_text("Copied", exact=True).wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "kiro-learn config set recall.brief_bytes 1900"
    assert SECRET not in page.request.get(f"{viewer.origin}/ui/settings.json").text()


def test_the_port_is_the_one_that_is_listened_on(viewer: Viewer) -> None:
    page = viewer.open("settings?find=server.port")
    assert page.locator("td.value").inner_text().split()[0] == str(viewer.daemon.connect().port)
    assert page.locator("td.from").inner_text() == "--port"


def test_single_keys_and_the_theme_are_switched_for_this_browser(viewer: Viewer) -> None:
    page = viewer.open("settings")
    page.get_by_label("dark", exact=True).check()
    page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    page.get_by_label("Single keys").uncheck()
    page.locator("main").focus()
    page.keyboard.press("t")
    page.keyboard.press("?")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.locator("dialog").count() == 0
    page.get_by_label("Single keys").check()
    page.get_by_label("as the system").check()
    page.locator("main").focus()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()


def test_the_preview_of_the_brief_is_what_a_session_is_told_to_the_byte(viewer: Viewer) -> None:
    event_id = str(ULID())
    start = {
        "event_id": event_id,
        "session_id": event_id,
        "actor_id": viewer.project.namespace.split("/")[2],
        "namespace": viewer.project.namespace,
        "schema_version": 1,
        "kind": "note",
        "body": {"type": "text", "content": "session start"},
        "valid_time": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
        "source": {"surface": "claude-code", "version": "1", "client_id": "test", "project_path": "/home/ada/web-shop"},
    }
    place = f"brief?project={viewer.project.project_id[:12]}"
    page = viewer.open(f"{place}&agent=claude-code")
    previewed = page.locator("pre").text_content()
    with Client(viewer.daemon.home) as client:
        told = client.post_event(start, retrieve=True)["retrieval"]
    assert previewed == told["context"]
    links = page.eval_on_selector_all(
        ".brief-memories a", "all => all.map(a => new URL(a.href).searchParams.get('open'))"
    )
    assert links == told["records"]
    assert viewer.open(f"{place}&agent=claude-code").locator("pre").text_content() == previewed, "it told no session"

    page.get_by_role("slider").fill("300")
    page.wait_for_url("**bytes=300**")
    page.wait_for_function(
        "() => document.querySelector('meter')?.max === 300 && document.querySelector('pre').textContent.length <= 300"
    )
    short = page.locator("pre").text_content() or ""
    assert 0 < len(short.encode()) <= 300
    page.get_by_role("button", name="As set").click()
    page.wait_for_function("wanted => document.querySelector('pre').textContent === wanted", arg=previewed)


def test_each_section_says_what_it_is_about(viewer: Viewer) -> None:
    page = viewer.open("settings")
    headings = page.locator(".settings-section h3").all_inner_texts()
    assert [each for each in headings if each.strip().endswith("]")] == []
