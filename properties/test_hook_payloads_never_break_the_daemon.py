"""For any bytes of a hook, the result can be stored, or there is none."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kiro_learn.model.event import JsonBody, TextBody
from kiro_learn.model.ids import is_event_id
from kiro_learn.wire.hook_names import hook_names
from kiro_learn.wire.hook_payload import MAX_BYTES
from kiro_learn.wire.hooks import HookReport, read_hook

agents = st.sampled_from([*hook_names(), "unknown"])
events = st.sampled_from(
    ["agentSpawn", "userPromptSubmit", "PostToolUse", "stop", "promptSubmit", "AfterTool", "", "?"]
)
texts = st.text(st.characters(codec=None), max_size=20)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
fields = st.sampled_from(
    [
        "prompt",
        "cwd",
        "session_id",
        "tool_name",
        "toolName",
        "tool_input",
        "toolResult",
        "assistant_response",
        "hook_events",
    ]
)
payloads = st.builds(
    lambda given, event: json.dumps({**given, "hook_event_name": event}).encode(),
    st.dictionaries(fields, anything, max_size=5),
    events | anything,
)
headers = st.dictionaries(
    st.sampled_from([f"X-Hook-{name}" for name in ("Cwd", "Event", "Event-Id", "Time", "Process", "Env-User-Prompt")]),
    st.text(max_size=30) | st.sampled_from(["%", "%FF%00", "promptSubmit", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "1" * 20]),
)


@given(agent=agents, payload=payloads | st.binary(), headers=headers, cut=st.none() | st.integers(0, 300))
def test_any_bytes_become_reports_that_can_be_stored_or_none(
    agent: str, payload: bytes, headers: dict[str, str], cut: int | None
) -> None:
    for report in read_hook(agent, payload[:cut], headers):
        assert_storable(report)


@settings(max_examples=25)  # half a megabyte and more for each example
@given(event=events, inside=anything, times=st.integers(1, 200_000))
def test_however_large_it_is_what_is_kept_fits(event: str, inside: Any, times: int) -> None:
    text = json.dumps(inside)
    large = f'{{"hook_event_name": "{event}", "tool_input": [{text}{("," + text) * min(times, 700_000 // len(text))}]}}'
    for report in read_hook("kiro-cli", large.encode(), {}):
        assert_storable(report)


@given(content=st.text(min_size=1), before=anything)
def test_a_prompt_that_came_whole_is_kept_to_the_letter(content: str, before: Any) -> None:
    payload = json.dumps({"x": before, "hook_event_name": "userPromptSubmit", "prompt": content}).encode()
    reports = read_hook("kiro-cli", payload, {})
    assert [report.body for report in reports] == ([TextBody(content)] if content.strip() else [])


def assert_storable(report: HookReport) -> None:
    kept = report.body.data if isinstance(report.body, JsonBody) else vars_of(report.body)
    assert len(json.dumps(kept, ensure_ascii=False, allow_nan=False).encode()) <= MAX_BYTES + 64
    assert report.cwd == "" or report.cwd.startswith("/")
    assert report.session_id is None or 1 <= len(report.session_id.encode()) <= 512
    assert report.event_id is None or is_event_id(report.event_id)


def vars_of(body: Any) -> str:
    assert isinstance(body, TextBody)
    return body.content
