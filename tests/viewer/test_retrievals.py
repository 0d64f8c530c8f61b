"""Texts that an agent was told, and why: found in a few actions, judged with a key, and asked again."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from ulid import ULID

from kiro_learn.client.routes import Client
from tests.integration.cli.command_line import done, kiro_learn
from tests.viewer.browsing import PROJECT_ID, Viewer, wait_equal

pytestmark = pytest.mark.one_python

PROMPT = "Users get logged out again. Where did we put the token?"


def ask(viewer: Viewer, text: str = PROMPT, *, namespace: str = "") -> dict[str, Any]:
    """The retrieval of a new prompt of an agent, in a session of its own."""
    event_id = str(ULID())
    event = {
        "event_id": event_id,
        "session_id": event_id,
        "actor_id": viewer.project.namespace.split("/")[2],
        "namespace": namespace or viewer.project.namespace,
        "schema_version": 1,
        "kind": "prompt",
        "body": {"type": "text", "content": text},
        "valid_time": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
        "source": {"surface": "claude-code", "version": "1", "client_id": "test", "project_path": "/home/ada/web-shop"},
    }
    with Client(viewer.daemon.home) as client:
        told = client.post_event(event, retrieve=True)["retrieval"]
        return {**client.retrieval(client.retrievals(limit=1)["items"][0]["retrieval_id"]), "told": told}


def test_why_an_agent_said_something_is_found_in_four_actions(viewer: Viewer) -> None:
    asked = ask(viewer)
    page = viewer.open("retrievals")
    page.locator(".row", has_text=PROMPT).first.click()
    panel = page.locator(".panel")
    panel.get_by_text("Text as told").wait_for()
    assert panel.locator("blockquote").inner_text() == PROMPT
    assert panel.locator("pre").text_content() == asked["told"]["context"]
    first = next(each for each in asked["found"] if each["why"] == "told")
    assert panel.locator(".founds a").first.inner_text() == first["memory"]["title"]
    assert f"{first['score']:.2f}" in panel.locator(".founds li").first.inner_text()
    assert panel.locator(".times i").count() >= 3
    assert str(panel.locator(".founds a").first.get_attribute("href")).endswith(f"memories?open={first['record_id']}")
    link = str(panel.get_by_text("its session").get_attribute("href"))
    assert f"session={asked['session_id']}" in link


def test_a_silent_one_says_what_was_missing(viewer: Viewer) -> None:
    asked = ask(viewer, "What should I cook tonight?")
    page = viewer.open(f"retrievals?open={asked['retrieval_id']}")
    panel = page.locator(".panel")
    assert f"the closest was {asked['confidence']:.2f}, needed 0.25" in panel.inner_text()
    assert panel.get_by_role("button", name="Helped").count() == 0


def test_one_key_says_that_what_was_told_helped_or_is_wrong(viewer: Viewer) -> None:
    for key, feedback, button in (("h", "helped", "Helped"), ("w", "wrong", "Wrong")):
        asked = ask(viewer)
        told = [each for each in asked["found"] if each["why"] == "told"]
        before = {each["record_id"]: each["feedback"][feedback] for each in told}
        page = viewer.open(f"retrievals?open={asked['retrieval_id']}")
        page.get_by_role("button", name=button).wait_for()  # of the panel, which the key is for
        page.keyboard.press(key)
        page.get_by_role("button", name=button, pressed=True).wait_for()
        page.get_by_text(f"Noted of {len(told)} memories: {feedback}").wait_for()
        with Client(viewer.daemon.home) as client:
            after = client.retrieval(asked["retrieval_id"])["found"]
        said = {each["record_id"]: each["feedback"][feedback] for each in after if each["became"] == feedback}
        assert said == {record_id: count + 1 for record_id, count in before.items()}


def test_a_copied_test_case_asked_again_is_the_same(viewer: Viewer, tmp_path: Path) -> None:
    asked = ask(viewer)
    page = viewer.open(f"retrievals?open={asked['retrieval_id']}")
    page.get_by_role("button", name="Copy as test case").click()
    page.get_by_text("Copied", exact=True).wait_for()
    case = tmp_path / "case.json"
    case.write_text(page.evaluate("navigator.clipboard.readText()"), encoding="utf-8")
    assert json.loads(case.read_text(encoding="utf-8"))["prompt"] == PROMPT
    said = done(kiro_learn(viewer.daemon.home, "context", "--replay", str(case)))
    told = len(asked["told"]["records"])
    assert said.startswith(f"The same: {told} memories of ")


def test_filters_are_the_address_and_the_same_query_is_json(viewer: Viewer) -> None:
    ask(viewer)
    ask(viewer, "What should I cook tonight?")
    page = viewer.open("retrievals")
    page.get_by_role("button", name="silent").click()
    page.wait_for_url("**/ui/retrievals?outcome=silent")
    page.get_by_label("Agent").select_option("claude-code")
    page.wait_for_url("**agent=claude-code**")
    listed = page.request.get(page.url.replace("/ui/retrievals", "/ui/retrievals.json")).json()
    assert {each["outcome"] for each in listed["items"]} == {"silent"}
    page.wait_for_function("total => document.querySelectorAll('.row').length === total", arg=listed["total"])
    assert page.locator(".chip.told").count() == 0


@pytest.mark.parametrize("query", ["outcome=told", f"project={PROJECT_ID[:12]}", "agent=claude-code&outcome=told"])
def test_only_what_fits_the_filters_is_new(viewer: Viewer, query: str) -> None:
    elsewhere = viewer.project.namespace.replace(PROJECT_ID, "c0" * 32)
    ask(viewer)
    page = viewer.open(f"retrievals?{query}")
    ask(viewer, "What should I cook tonight?", namespace=elsewhere)
    ask(viewer)
    wait_equal(page, page.get_by_role("button", name=re.compile("new$")).all_inner_texts, ["1 new"])
    viewer.daemon.call("POST", "/api/forgetting", {"project": elsewhere, "whole": True})
