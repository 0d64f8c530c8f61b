"""The reports read from each agent's hooks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kiro_learn.model.event import EventKind, JsonBody, TextBody
from kiro_learn.model.ids import derived_event_id
from kiro_learn.wire.hook_names import agent_of_hook, hook_names
from kiro_learn.wire.hook_payload import answer_to
from kiro_learn.wire.hooks import HookReport, read_hook

EVENT_ID = "01J0000000000000000000000Z"


def read(agent: str, headers: dict[str, str] | None = None, **fields: Any) -> HookReport | None:
    reports = read_hook(agent, json.dumps(fields).encode(), headers or {})
    return reports[0] if reports else None


def body_of(agent: str, headers: dict[str, str] | None = None, **fields: Any) -> Any:
    report = read(agent, headers, **fields)
    assert report is not None
    return report.body.data if isinstance(report.body, JsonBody) else getattr(report.body, "content")  # noqa: B009  # Any


@pytest.mark.parametrize(
    ("agent", "event", "kind", "fields"),
    [
        ("kiro-cli", "agentSpawn", EventKind.NOTE, {}),
        ("kiro-cli", "userPromptSubmit", EventKind.PROMPT, {"prompt": "said"}),
        ("kiro-cli", "stop", EventKind.SESSION_SUMMARY, {"assistant_response": "said"}),
        ("kiro-ide", "SessionStart", EventKind.NOTE, {}),
        ("kiro-ide", "UserPromptSubmit", EventKind.PROMPT, {"prompt": "said"}),
        ("kiro-ide", "Stop", EventKind.SESSION_SUMMARY, {"assistant_response": "said"}),
        ("claude-code", "SessionStart", EventKind.NOTE, {"source": "startup"}),
        ("claude-code", "UserPromptSubmit", EventKind.PROMPT, {"prompt": "said"}),
        ("claude-code", "Stop", EventKind.SESSION_SUMMARY, {"last_assistant_message": "said"}),
        ("codex", "UserPromptSubmit", EventKind.PROMPT, {"prompt": "said"}),
        ("codex", "Stop", EventKind.SESSION_SUMMARY, {"last_assistant_message": "said"}),
        ("kiro-cli", "UserPromptSubmit", EventKind.PROMPT, {"prompt": "said"}),
        ("kiro-cli", "Stop", EventKind.SESSION_SUMMARY, {"assistant_response": "said"}),
        ("kiro", "sessionStart", EventKind.NOTE, {}),
        ("kiro", "userPromptSubmit", EventKind.PROMPT, {"prompt": "said"}),
        ("cursor", "sessionStart", EventKind.NOTE, {}),
        ("cursor", "beforeSubmitPrompt", EventKind.PROMPT, {"prompt": "said"}),
        ("cursor", "afterAgentResponse", EventKind.SESSION_SUMMARY, {"text": "said"}),
        ("gemini", "BeforeAgent", EventKind.PROMPT, {"prompt": "said"}),
        ("gemini", "AfterAgent", EventKind.SESSION_SUMMARY, {"prompt": "asked", "prompt_response": "said"}),
    ],
)
def test_each_hook_has_its_kind(agent: str, event: str, kind: EventKind, fields: dict[str, Any]) -> None:
    report = read(agent, hook_event_name=event, cwd="/w", session_id="s", **fields)
    assert report is not None
    assert (report.agent, report.kind, report.cwd, report.session_id) == (agent, kind, "/w", "s")
    assert report.is_spawn is (kind is EventKind.NOTE)
    assert report.body == TextBody("session started" if report.is_spawn else "said")


@pytest.mark.parametrize(
    ("agent", "event"),
    [("kiro-cli", "postToolUse"), ("kiro-ide", "PostToolUse"), ("claude-code", "PostToolUse"), ("gemini", "AfterTool")],
)
def test_a_tool_use_keeps_its_name_input_and_response(agent: str, event: str) -> None:
    used: dict[str, Any] = {
        "tool_name": "fs_write",
        "tool_input": {"path": "a"},
        "tool_response": {"success": True, "result": ["ok"]},
    }
    assert body_of(agent, hook_event_name=event, **used) == used


@pytest.mark.parametrize(
    ("agent", "event"),
    [("kiro-cli", "preToolUse"), ("claude-code", "SessionEnd"), ("claude-code", "SubagentStop"), ("nobody", "stop")],
)
def test_other_hooks_and_agents_say_nothing(agent: str, event: str) -> None:
    assert read(agent, hook_event_name=event, prompt="x", assistant_response="x", tool_name="x") is None


PROMPTS = {
    name: next(event for event, kind in agent.hooks.items() if kind is EventKind.PROMPT)
    for name in hook_names()
    if (agent := agent_of_hook(name)) is not None
}
ANSWERS = {
    **dict.fromkeys(("kiro", "kiro-cli", "kiro-ide"), ("stop", "assistant_response")),
    **dict.fromkeys(("claude-code", "codex"), ("Stop", "last_assistant_message")),
    "gemini": ("AfterAgent", "prompt_response"),
    "cursor": ("afterAgentResponse", "text"),
}


def test_how_each_agent_answers_and_is_answered_is_known_here() -> None:
    assert {*ANSWERS} == {*hook_names()}, "add the new agent's hook after an answer, and its field, to ANSWERS"
    limited = {name for name in hook_names() if (agent := agent_of_hook(name)) and agent.answer.most is not None}
    assert {*MOST} == limited, "add the longest answer that the new agent takes to MOST"


@pytest.mark.parametrize("agent", hook_names())
def test_a_payload_with_a_mark_of_utf8_is_read(agent: str) -> None:
    payload = json.dumps({"hook_event_name": PROMPTS[agent], "prompt": "why?"})
    [report] = read_hook(agent, payload.encode("utf-8-sig"), {})
    assert report.body == TextBody("why?")
    [report] = read_hook(agent, "why {this}?".encode("utf-8-sig"), {"X-Hook-Event": PROMPTS[agent]})
    assert report.body == TextBody("why {this}?")


@pytest.mark.parametrize("agent", ANSWERS)
@pytest.mark.parametrize(
    "blocks",
    [
        [{"type": "text", "text": "one"}, {"type": "image", "source": {"data": "x"}}, {"type": "text", "text": "two"}],
        [{"type": "input_text", "text": "one"}, {"type": "input_image"}, {"type": "input_text", "text": "two"}],
        [
            {"kind": "text", "data": "one"},
            {"kind": "image", "data": {"format": "png"}},
            {"kind": "text", "data": "two"},
        ],
        [{"text": "one"}, {"inlineData": {"data": "x"}}, {"thought": True, "text": "hm"}, {"text": "two"}],
        ["one", None, 3, "two"],
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
        {"parts": [{"text": "one"}, {"text": "two"}]},
        [{"type": "thinking", "text": "hm"}, {"type": "tool_result", "content": "x"}, "one\ntwo"],
        [{"type": "resource", "resource": {"text": "x"}}, {"type": 3, "text": "x"}, "one\ntwo"],
    ],
)
def test_what_was_said_may_come_in_blocks(agent: str, blocks: Any) -> None:
    assert body_of(agent, hook_event_name=PROMPTS[agent], prompt=blocks) == "one\ntwo"
    event, field = ANSWERS[agent]
    assert body_of(agent, hook_event_name=event, **{field: blocks}) == "one\ntwo"


@pytest.mark.parametrize("blocks", [[], {}, [{"type": "image", "source": {}}], [[[]]], {"content": 3}])
def test_blocks_without_words_are_a_prompt_that_says_nothing(blocks: Any) -> None:
    headers = {"X-Hook-Env-User-Prompt": "why%3F"}
    assert read("kiro-cli", hook_event_name="userPromptSubmit", prompt=blocks) is None
    assert body_of("kiro-cli", headers, hook_event_name="userPromptSubmit", prompt=blocks) == "why?"


@pytest.mark.parametrize(
    ("agent", "event"),
    [
        ("claude-code", "PostToolUseFailure"),
        ("codex", "PostToolUseFailure"),
        ("cursor", "postToolUseFailure"),
        ("kiro-cli", "postToolUseFailure"),
        ("kiro-ide", "PostToolUseFailure"),
    ],
)
def test_a_tool_that_failed_is_kept_as_a_use_that_failed(agent: str, event: str) -> None:
    used: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "make"}}
    error = "Exit code 2\nno rule"
    failed = used | {"tool_response": {"success": False, "result": error}}
    assert body_of(agent, hook_event_name=event, **used, error=error) == failed
    assert body_of(agent, hook_event_name=event, **used, error_message=error, failure_type="error") == failed
    both = body_of(agent, hook_event_name=event, **used, tool_response={"stdout": "x"}, error="no rule")
    assert both["tool_response"] == {"success": False, "result": {"stdout": "x"}, "error": "no rule"}
    assert body_of(agent, hook_event_name=event, **used)["tool_response"] == {"success": False}
    assert body_of(agent, hook_event_name=event, **used, failure_type="timeout")["tool_response"]["result"] == "timeout"


def test_an_error_in_the_place_of_a_result_is_one() -> None:
    used = body_of("kiro-cli", hook_event_name="postToolUse", tool_name="shell", error="no rule")
    assert used["tool_response"] == {"success": False, "result": "no rule"}
    collected = [{"tool_name": "one", "error": "no rule"}, {"tool_name": "two", "tool_response": "ok"}]
    payload = json.dumps({"hook_event_name": "postToolUseFailure", "hook_events": collected}).encode()
    bodies = [report.body for report in read_hook("kiro-cli", payload, {})]
    assert [isinstance(body, JsonBody) and body.data["tool_response"] for body in bodies] == [
        {"success": False, "result": "no rule"},
        {"success": False, "result": "ok"},
    ]


@pytest.mark.parametrize("event", ["userPromptSubmit", "stop", "postToolUse"])
@pytest.mark.parametrize("fields", [{}, {"prompt": " \n", "assistant_response": ""}, {"prompt": 3}])
def test_an_empty_hook_says_nothing(event: str, fields: dict[str, Any]) -> None:
    assert read("kiro-cli", hook_event_name=event, **fields) is None


def test_the_tool_uses_of_a_whole_turn_become_one_event_each_with_ids_that_a_repeat_would_have_too() -> None:
    turn = [{"tool_name": "one", "tool_input": {}}, "nonsense", {"tool_name": "two", "tool_response": "done"}]
    payload = json.dumps({"hook_event_name": "postToolUse", "hook_events": turn}).encode()
    reports = read_hook("kiro-cli", payload, {"x-hook-event-id": EVENT_ID})
    assert [report.event_id for report in reports] == [EVENT_ID, "01J00000000000000000000010"]
    assert [report.body.data["tool_name"] for report in reports if isinstance(report.body, JsonBody)] == ["one", "two"]
    assert read_hook("kiro-cli", payload, {"x-hook-event-id": EVENT_ID}) == reports


def test_the_old_ide_names_its_hook_by_argument_and_sends_bare_text() -> None:
    [prompt] = read_hook("kiro-ide", b"why {this}?", {"X-Hook-Event": "promptSubmit", "X-Hook-Cwd": "/a%20b"})
    assert (prompt.kind, prompt.body, prompt.cwd) == (EventKind.PROMPT, TextBody("why {this}?"), "/a b")
    [prompt] = read_hook("kiro-ide", b"", {"X-Hook-Event": "promptSubmit", "X-Hook-Env-User-Prompt": "why%3F"})
    assert prompt.body == TextBody("why?")
    assert read_hook("kiro-ide", b"", {"X-Hook-Event": "agentStop"}) == ()


def test_the_old_ide_spells_its_tool_uses_in_camel_case() -> None:
    headers = {"X-Hook-Event": "postToolUse"}
    used = body_of("kiro-ide", headers, toolName="fsWrite", toolArgs={"a": 1}, toolResult="ok", toolSuccess=False)
    assert used == {
        "tool_name": "fsWrite",
        "tool_input": {"a": 1},
        "tool_response": {"success": False, "result": "ok"},
    }
    assert body_of("kiro-ide", headers, toolResult=0)["tool_name"] == "unknown"


def test_the_payload_is_believed_before_the_shim() -> None:
    headers = {"X-Hook-Cwd": "/shim", "X-Hook-Env-Kiro-Session-Id": "shim", "X-Hook-Event": "stop"}
    told = read("kiro-cli", headers, hook_event_name="agentSpawn", cwd="/agent", session_id="agent")
    untold = read("kiro-cli", headers, hook_event_name="agentSpawn", cwd="relative", session_id="x" * 129)
    assert told is not None
    assert (told.cwd, told.session_id) == ("/agent", "agent")
    assert untold is not None
    assert (untold.cwd, untold.session_id) == ("/shim", "shim")


def test_what_was_not_told_is_left_open() -> None:
    report = read("kiro-cli", {"X-Hook-Time": "soon", "X-Hook-Event-Id": "x"}, hook_event_name="agentSpawn")
    assert report is not None
    assert (report.cwd, report.session_id, report.process) == ("", None, None)
    assert (report.happened_at_ms, report.event_id) == (None, None)


def test_the_shim_tells_process_time_and_id() -> None:
    headers = {"X-HOOK-TIME": "1700000000123", "x-hook-process": "42", "X-Hook-Event-Id": EVENT_ID}
    report = read("kiro-cli", headers, hook_event_name="agentSpawn")
    assert report is not None
    assert (report.happened_at_ms, report.process, report.event_id) == (1700000000123, "42", EVENT_ID)


def test_a_path_that_is_not_utf8_keeps_its_bytes() -> None:
    report = read("kiro-cli", {"X-Hook-Cwd": "/caf%E9"}, hook_event_name="agentSpawn")
    assert report is not None
    assert report.cwd == "/caf\udce9"
    assert report.session_key.encode() == rb"kiro-cli None /caf\udce9"


def test_an_agent_that_takes_only_json_is_answered_in_json() -> None:
    assert answer_to("kiro-cli", "## é") == "## é"
    assert answer_to("claude-code", "") == ""
    assert answer_to("gemini", "") == ""
    output = json.loads(answer_to("gemini", "## é"))["hookSpecificOutput"]
    assert output == {"hookEventName": "BeforeAgent", "additionalContext": "## é"}


@pytest.mark.parametrize("agent", ["codex", "gemini"])
def test_an_answer_to_a_start_names_the_hook_of_the_start(agent: str) -> None:
    output = json.loads(answer_to(agent, "## é", is_at_start=True))["hookSpecificOutput"]
    assert output == {"hookEventName": "SessionStart", "additionalContext": "## é"}


@pytest.mark.parametrize("agent", sorted(set(hook_names()) - {"codex", "gemini"}))
def test_a_start_is_answered_as_a_prompt_is_where_no_hook_is_named(agent: str) -> None:
    block = "## Prior\n" + "".join(f"\n### {number}\n{'é' * 200}" for number in range(80))
    assert answer_to(agent, block, is_at_start=True) == answer_to(agent, block)
    assert answer_to(agent, "", is_at_start=True) == ""


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_payload_in_another_encoding_is_not_guessed(encoding: str) -> None:
    payload = json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": "why?"}).encode(encoding)
    assert read_hook("claude-code", payload, {"X-Hook-Event": "UserPromptSubmit"}) == ()


def test_a_payload_that_was_cut_within_a_character_is_read() -> None:
    payload = json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": "a caf\u00e9"}, ensure_ascii=False).encode()
    cut = payload[: payload.index(b"\xc3") + 1]
    [report] = read_hook("claude-code", cut, {})
    assert report.body == TextBody("a [truncated by kiro-learn]")


def test_cursor_names_its_session_folder_and_results_in_its_own_words() -> None:
    fields: dict[str, Any] = {
        "conversation_id": "c",
        "workspace_roots": ["/w", "/other"],
        "tool_name": "Shell",
        "tool_output": "42",
    }
    report = read("cursor", {"X-Hook-Cwd": "/elsewhere"}, hook_event_name="postToolUse", **fields)
    assert report is not None
    assert (report.session_id, report.cwd) == ("c", "/w")
    assert body_of("cursor", hook_event_name="postToolUse", **fields)["tool_response"] == "42"
    assert body_of("cursor", hook_event_name="postToolUse", tool_name="x", result_json="{}")["tool_response"] == "{}"
    for roots in ([], "x", [3], None):
        odd = read("cursor", {"X-Hook-Cwd": "/e"}, hook_event_name="sessionStart", workspace_roots=roots)
        assert odd is not None
        assert odd.cwd == "/e"


@pytest.mark.parametrize("source", ["compact", "clear", "resume", "RESUME"])
def test_a_context_is_new_where_the_agent_says_so(source: str) -> None:
    report = read("claude-code", hook_event_name="SessionStart", source=source)
    assert report is not None
    assert report.new_context == source.lower()


@pytest.mark.parametrize("fields", [{}, {"source": "startup"}, {"source": "fork"}, {"source": 3}])
def test_a_start_that_says_nothing_leaves_the_context(fields: dict[str, Any]) -> None:
    """Kiro's start hooks name no source, and some versions of Kiro send one with every prompt."""
    report = read("kiro", hook_event_name="sessionStart", **fields)
    assert report is not None
    assert not report.new_context


MOST = {
    "kiro": 10_240,
    "kiro-cli": 10_240,
    "kiro-ide": 10_240,
    "claude-code": 10_000,
    "codex": 10_000,
    "cursor": 10_000,
}
"""Each agent's longest answer as listed in docs/hooks.md: Kiro's in bytes, the others' in characters."""


def context_of(answer: str) -> str:
    if not answer.startswith("{"):
        return answer
    said = json.loads(answer)
    return str(said.get("additional_context") or said["hookSpecificOutput"]["additionalContext"])


@pytest.mark.parametrize("agent", [*MOST, "gemini"])
@pytest.mark.parametrize("text", ["plain words ", 'é "quoted"\n', "\N{PILE OF POO}"])
def test_no_answer_is_longer_than_its_agent_takes(agent: str, text: str) -> None:
    section = f"\n### {text.strip()}\n{text * 40}\n"
    block = "## Prior observations from kiro-learn\n" + section * 400
    told = context_of(answer_to(agent, block))
    most = MOST.get(agent)
    if most is None:
        assert told == block
        return
    measured = len(answer_to(agent, block).encode()) if agent.startswith("kiro") else len(told)
    assert most - len(section.encode()) <= measured <= most
    assert block.startswith(told)
    assert told.rstrip("\n").endswith((text * 40).rstrip("\n")), "no memory is cut in the middle"


@pytest.mark.parametrize("agent", MOST)
def test_a_single_memory_that_is_too_long_is_cut_with_a_mark(agent: str) -> None:
    told = context_of(answer_to(agent, "## Prior\n\n### long\n" + "é" * 20_000))
    assert told.endswith("é [truncated by kiro-learn]")
    assert len(told.encode() if agent.startswith("kiro") else told) <= MOST[agent]


def test_cursor_is_answered_in_its_own_form() -> None:
    assert json.loads(answer_to("cursor", "## é")) == {"continue": True, "additional_context": "## é"}
    assert answer_to("cursor", "") == ""


def test_a_call_with_an_id_of_its_own_has_the_event_id_that_an_import_gives_it() -> None:
    def event_id(call_id: str, session: str, **fields: Any) -> str | None:
        headers = {"X-Hook-Event-Id": EVENT_ID}
        report = read(
            "claude-code", headers, hook_event_name="PostToolUse", tool_name="Bash", tool_use_id=call_id,
            session_id=session, **fields,
        )  # fmt: skip  # as short as it gets
        return None if report is None else report.event_id

    unique = "toolu_01ABCDEFGHJKMNPQRSTVWXYZ"
    assert event_id(unique, "s1") == event_id(unique, "s2") == derived_event_id("s3", "tool_use", unique)
    assert event_id("call_1", "s1") == EVENT_ID
