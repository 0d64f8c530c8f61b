"""The overview says whether memory helps, shows new memories at once, and works even if a part of it fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kiro_learn.testing.daemon import a_record
from kiro_learn.wire.messages import write_record
from tests.integration.daemon_process import DaemonProcess, running_daemon
from tests.viewer.browsing import Viewer, log_in, origin_of, wait_equal
from tests.viewer.test_every_page import serious
from tests.viewer.test_memories import Kitchen, kitchen  # noqa: F401  # the fixture

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.one_python


def learn(daemon: DaemonProcess, number: int, title: str) -> None:
    daemon.call("POST", "/v1/memories", write_record(a_record(number, title)))


def wait_live(page: Page) -> None:
    """Wait until the live feed is connected and its list, which is drawn after that, listens."""
    page.get_by_text("live", exact=True).wait_for()
    page.get_by_role("region", name="Live").get_by_role("button", name="Hold").wait_for()


def test_nothing_is_said_to_be_learned_of_days_without_a_memory(kitchen: Kitchen) -> None:  # noqa: F811  # the fixture
    kitchen.memory("Rest the dough", created_at="2026-01-05T12:00:00Z")
    page = kitchen.open("")
    page.get_by_text("0 learned today, 0 a day on average; 0 told today.").wait_for()
    assert page.get_by_role("link", name="of today").count() == 0


def test_whether_memory_helps_is_seen_in_one_action(viewer: Viewer) -> None:
    retrievals = viewer.daemon.call("GET", "/v1/retrievals")["items"]
    told = next(each["records"][0]["record_id"] for each in retrievals if each["records"])
    before = viewer.daemon.call("GET", "/api/days")["feedback"]["helped"]
    viewer.daemon.call("POST", f"/v1/memories/{told}/feedback", {"feedback": "helped"})

    page = viewer.open("")

    box = page.get_by_role("region", name="Does it help?")
    days = viewer.daemon.call("GET", "/api/days")
    assert f"{sum(each['told'] for each in days['days'])} told in 14 days" in box.inner_text()
    assert f"{before + 1} you said helped" in box.inner_text()
    for word in ("used, of", "you said wrong"):
        assert word in box.inner_text()


def test_a_title_of_usual_length_is_shown_whole(viewer: Viewer) -> None:
    title = "The expiry check ran before the token refresh, so it dropped"
    viewer.daemon.call("POST", "/api/observations", {"project": viewer.project.namespace, "title": title})
    page = viewer.open("")
    assert page.get_by_role("link", name=title).first.evaluate("each => each.scrollHeight <= each.clientHeight")
    assert page.get_by_role("link", name=title).first.evaluate("each => each.scrollWidth <= each.clientWidth")


def test_figures_are_those_of_the_routes_and_of_the_project_that_is_chosen(viewer: Viewer) -> None:
    days = viewer.daemon.call("GET", f"/api/days?project={viewer.project.namespace}")
    page = viewer.open(f"?project={viewer.project.project_id[:12]}")
    assert page.inner_text(".figure >> nth=0").split("\n")[1] == str(days["memories"])
    assert page.inner_text(".figure >> nth=1").split("\n")[1] == str(sum(days["sessions"].values()))
    assert f"of {days['latency_ms']['answers']}" in page.inner_text(".figure >> nth=2")


def test_charts_say_in_words_and_in_a_table_what_they_draw(viewer: Viewer) -> None:
    page = viewer.open("?days=30")
    box = page.get_by_role("region", name="Learned and told, per day")
    page.wait_for_selector(".uplot canvas")
    days = viewer.daemon.call("GET", "/api/days?days=30")["days"]
    assert f"{days[-1]['learned']} learned today" in (box.get_by_role("img").get_attribute("aria-label") or "")
    box.get_by_role("button", name="Show as table").click()
    assert serious(page) == []
    cells = [row.split("\t")[1:] for row in box.locator("tbody tr").all_inner_texts()]
    assert cells == [[str(each["learned"]), str(each["told"])] for each in days]
    box.locator("tbody button").last.click()
    page.wait_for_url(f"**/ui/memories?since={days[-1]['day']}&until={days[-1]['day']}")


def test_a_memory_that_is_learned_shows_soon_behind_new_and_moves_nothing(viewer: Viewer) -> None:
    page = viewer.open("")
    wait_live(page)
    rows = page.locator(".feed").first.locator("li")
    before = rows.count()
    page.evaluate("document.querySelector('main').scrollTop = 60")
    learn(viewer.daemon, 900, "Look at this one")

    page.get_by_role("button", name="1 new").wait_for()

    assert (rows.count(), page.evaluate("document.querySelector('main').scrollTop")) == (before, 60)
    page.get_by_role("link", name="learned “Look at this one”").wait_for()


def test_what_comes_while_it_is_held_waits_until_it_is_asked_for(viewer: Viewer) -> None:
    page = viewer.open("")
    wait_live(page)
    live = page.get_by_role("region", name="Live")
    live.get_by_role("button", name="Hold").click()
    for number in (901, 902, 903):
        learn(viewer.daemon, number, f"Held back {number}")

    live.get_by_role("button", name="3 new").wait_for()

    assert live.get_by_text("Held back").count() == 0
    live.get_by_role("button", name="3 new").click()
    wait_equal(page, live.get_by_text("Held back").count, 3)


def test_one_route_that_fails_leaves_the_other_boxes_and_names_a_command(viewer: Viewer) -> None:
    refused = json.dumps({"error": "the store cannot be read", "hint": "kiro-learn doctor --fix"})
    viewer.page.route(
        "**/api/days*", lambda route: route.fulfill(status=503, content_type="application/json", body=refused)
    )
    page = viewer.open("")

    box = page.get_by_role("region", name="Learned and told, per day")
    assert "the store cannot be read" in box.inner_text()
    assert "kiro-learn doctor --fix" in box.inner_text()
    assert "Everything works" in page.get_by_role("region", name="Health").inner_text()
    assert page.locator(".feed").first.locator("li").count()
    page.unroute("**/api/days*")
    box.get_by_role("button", name="Retry").click()
    box.get_by_role("img").wait_for()
    viewer.forgive("503")


def test_what_is_not_well_is_shown_with_the_command_that_mends_it(viewer: Viewer) -> None:
    status = viewer.daemon.call("GET", "/v1/status")
    status["backup"]["problem"] = "no room on the disk"
    viewer.page.route("**/v1/status", lambda route: route.fulfill(json=status))
    health = viewer.open("").get_by_role("region", name="Health")
    assert "no room on the disk" in health.inner_text()
    assert "kiro-learn backup now" in health.inner_text()
    assert "Everything works" not in health.inner_text()


def test_the_doctor_looks_when_it_is_asked_and_names_what_mends(viewer: Viewer) -> None:
    found = viewer.daemon.call("GET", "/v1/doctor")
    wrong = [each for each in found["checks"] if each["state"] in {"warn", "fail"}]
    assert {"home", "database"} <= {each["id"] for each in found["checks"]}
    health = viewer.open("").get_by_role("region", name="Health")
    health.get_by_role("button", name="Run the doctor").click()
    said = "all well" if not wrong else f"{len(wrong)} to look at"
    health.get_by_text(f"{len(found['checks'])} checks, {said}").wait_for()
    assert all(each["mend"] in health.inner_text() for each in wrong)
    assert serious(viewer.page) == []


def test_calls_of_models_are_shown_by_day_where_there_were_any(viewer: Viewer) -> None:
    days = viewer.daemon.call("GET", "/api/days")
    assert viewer.open("").get_by_role("region", name="Model calls").count() == 0
    days["days"][-1] |= {"calls": 12, "failures": 2}
    viewer.page.route("**/api/days*", lambda route: route.fulfill(json=days))
    calls = viewer.open("").get_by_role("region", name="Model calls, per day")
    assert "12 calls in 14 days, of which 2 failed." in calls.inner_text()


def test_a_title_that_turns_the_direction_leaves_what_stands_behind_it(viewer: Viewer) -> None:
    page = viewer.open("")
    wait_live(page)
    learn(viewer.daemon, 910, "Turned \u202e round")
    title = page.locator("bdi", has_text="round").first
    title.wait_for()
    ends = """each => {
        const range = document.createRange();
        range.selectNode(each.nextSibling);
        return [each.getBoundingClientRect().right, range.getBoundingClientRect().left];
    }"""
    right, left = title.evaluate(ends)
    assert right <= left + 1


def test_after_a_kill_and_a_restart_it_goes_on_alone_and_lacks_nothing(chrome: Browser, tmp_path: Path) -> None:
    settings = {"KIRO_LEARN_EMBEDDING_ENABLED": "false"}
    context = chrome.new_context()
    with running_daemon(tmp_path, settings) as daemon:
        log_in(context, daemon)
        page = context.new_page()
        page.goto(f"{origin_of(daemon)}/ui/")
        wait_live(page)
        learn(daemon, 1, "Before the kill")
        page.get_by_role("link", name="learned “Before the kill”").wait_for()
        port = daemon.connect().port
    page.get_by_text("reconnecting").first.wait_for()
    page.route("**/v1/live*", lambda route: route.abort())  # away until the daemon has learned
    with running_daemon(tmp_path, settings, port=port) as daemon:
        learn(daemon, 2, "While it was away")
        page.unroute("**/v1/live*")
        wait_live(page)
        learned = page.get_by_role("region", name="Learned last")
        learned.get_by_role("link", name="While it was away").wait_for()
        assert learned.get_by_role("link", name="Before the kill").count() == 1
    context.close()
