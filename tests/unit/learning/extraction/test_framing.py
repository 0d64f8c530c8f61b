"""The text by which a model is shown events, with a failed and a successful call as each agent reports them."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from kiro_learn.learning.extraction.framing import (
    LOOKED_AT_CHARACTERS,
    TEXT_CHARACTERS,
    TOOL_CHARACTERS,
    Bounds,
    ToolCall,
    as_attribute,
    cleaned,
    clipped,
    escaped,
    frame,
    parts_of,
    readable,
    unescaped,
)
from kiro_learn.learning.extraction.user_answers import has_failed
from kiro_learn.model.buffer import BufferedEvent
from kiro_learn.model.event import EventKind, JsonBody, MessageBody, TextBody, Turn
from kiro_learn.testing.daemon import an_event
from tests.unit.learning.histories import answer, event, event_id, framed, prompt, tool, waiting


def elements(text: str) -> list[ET.Element]:
    return list(ET.fromstring(text))  # noqa: S314  # our own text: that it parses is what is tested


def test_events_are_numbered_from_one_and_the_numbers_name_them() -> None:
    batch = framed([prompt(7, "why?"), answer(8, "because")])
    assert [element.get("number") for element in elements(batch.text)] == ["1", "2"]
    assert batch.sources == ((event_id(7),), (event_id(8),))


def test_an_event_says_its_kind_surface_session_and_time() -> None:
    (element,) = elements(framed([prompt(0, "why?")]).text)
    assert dict(element.attrib) == {
        "number": "1",
        "kind": "prompt",
        "surface": "kiro-cli",
        "session": "1",
        "time": "2026-01-05T12:00:00Z",
    }


def test_a_session_says_its_surface_once_in_a_batch() -> None:
    batch = framed([prompt(1, "a"), prompt(2, "b", session="two"), answer(3, "c"), answer(4, "d", session="two")])
    assert [element.get("surface") for element in elements(batch.text)] == ["kiro-cli", "kiro-cli", None, None]


@pytest.mark.parametrize(
    "name", ["Read", "fs_read", "read_file", "readMultipleFiles", "Grep", "grepSearch", "Glob", "LS"]
)
def test_of_what_was_only_looked_at_a_beginning_and_an_end_are_shown(name: str) -> None:
    (element,) = elements(framed([tool(1, name, {"path": "src/pay.py"}, "begin" + "x" * 50_000 + "end")]).text)
    output = element.findtext("output") or ""
    assert output.startswith("begin")
    assert output.endswith("end")
    assert len(output) < LOOKED_AT_CHARACTERS + 100


@pytest.mark.parametrize("name", ["Bash", "Task", "WebFetch", "mcp__jira__search_issues", "search_memories", "thread"])
def test_what_ran_or_was_fetched_shows_more(name: str) -> None:
    (element,) = elements(framed([tool(1, name, {}, "x" * TOOL_CHARACTERS)]).text)
    assert element.findtext("output") == "x" * TOOL_CHARACTERS


def test_a_file_that_could_not_be_read_says_all_of_why() -> None:
    why = f"Error: {'x' * 1_000}"
    (element,) = elements(framed([tool(1, "Read", {"path": "src/pay.py"}, {"success": False, "error": why})]).text)
    assert why in (element.findtext("output") or "")


def test_quotes_of_a_text_stand_as_they_are() -> None:
    text = framed([tool(1, "Bash", {"command": "ls"}, 'say "hi"'), prompt(2, 'say "hi"')]).text
    assert text.count('say "hi"') == 2
    assert '<input>{"command": "ls"}</input>' in text


def test_interleaved_sessions_can_be_told_apart() -> None:
    batch = framed([prompt(1, "a"), prompt(2, "b", session="two"), answer(3, "c"), answer(4, "d", session="two")])
    assert [element.get("session") for element in elements(batch.text)] == ["1", "2", "1", "2"]


def test_earlier_prompts_come_first_and_are_marked_as_context() -> None:
    batch = framed([answer(2, "because")], [prompt(1, "why?")])
    first, second = elements(batch.text)
    assert (first.get("context"), second.get("context")) == ("true", None)
    assert batch.sources == ((event_id(1),), (event_id(2),))
    assert batch.batch_event_ids == (event_id(2),)


def test_a_tool_shows_its_name_its_input_as_json_and_its_output_as_text() -> None:
    (element,) = elements(framed([tool(1, "Bash", {"command": "ls <dir>"}, {"stdout": "a\nb", "ok": True})]).text)
    assert element.findtext("tool_name") == "Bash"
    assert element.findtext("input") == '{"command": "ls <dir>"}'
    assert element.findtext("output") == "stdout: a\nb\nok: true"


def test_a_tool_without_output_has_no_output_element() -> None:
    (element,) = elements(framed([tool(1, "Bash", None, None)]).text)
    assert [child.tag for child in element] == ["tool_name", "input"]


def test_a_tool_event_that_is_no_object_is_still_a_tool() -> None:
    (number, text) = elements(
        framed([event(1, EventKind.TOOL_USE, JsonBody([1, 2])), event(2, EventKind.TOOL_USE, TextBody("ran it"))]).text
    )
    assert (number.findtext("tool_name"), number.findtext("input")) == ("unknown", "[1, 2]")
    assert text.findtext("input") == "ran it"


def test_a_conversation_shows_who_spoke() -> None:
    body = MessageBody((Turn("user", "why?"), Turn("assistant", "because")))
    (element,) = elements(framed([event(1, EventKind.NOTE, body)]).text)
    assert [(child.get("role"), child.text) for child in element] == [("user", "why?"), ("assistant", "because")]


def test_json_that_is_no_tool_is_a_text() -> None:
    (element,) = elements(framed([event(1, EventKind.NOTE, JsonBody({"deploy": {"on": "Friday"}, "by": None}))]).text)
    assert element.findtext("text") == "deploy: on: Friday"


def test_a_long_output_keeps_its_beginning_and_its_end() -> None:
    (element,) = elements(framed([tool(1, "Bash", {}, "begin" + "x" * 50_000 + "end")]).text)
    output = element.findtext("output") or ""
    assert output.startswith("begin")
    assert output.endswith("end")
    assert "characters left out" in output
    assert len(output) < TOOL_CHARACTERS + 100


def test_a_long_file_content_does_not_hide_the_path_beside_it() -> None:
    (element,) = elements(framed([tool(1, "Write", {"content": "x" * 50_000, "file_path": "src/pay.py"}, "ok")]).text)
    assert '"file_path": "src/pay.py"' in (element.findtext("input") or "")


def test_an_answer_is_shown_whole_up_to_its_bound() -> None:
    whole, cut = elements(framed([answer(1, "y" * TEXT_CHARACTERS), answer(2, "z" * (TEXT_CHARACTERS + 1))]).text)
    assert whole.findtext("text") == "y" * TEXT_CHARACTERS
    assert "[... 1 characters left out ...]" in (cut.findtext("text") or "")


def test_deep_json_ends_somewhere() -> None:
    deep: object = "bottom"
    for _ in range(200):
        deep = {"in": [deep]}
    assert "bottom" not in readable(deep)
    assert elements(framed([tool(1, "Task", deep, deep)]).text)


def test_nothing_is_framed_as_an_empty_batch() -> None:
    batch = framed([])
    assert elements(batch.text) == []
    assert batch.sources == ()


def test_a_compaction_is_one_element_that_stands_for_its_events() -> None:
    compaction = BufferedEvent(answer(3, "all of it"), 1, 100, stands_for=(event_id(2), event_id(3)))
    batch = frame([compaction, *waiting(prompt(4, "why?"))], [prompt(1, "earlier")])
    assert [element.get("number") for element in elements(batch.text)] == ["1", "2", "3"]
    assert batch.sources == ((event_id(1),), (event_id(2), event_id(3)), (event_id(4),))
    assert batch.batch_event_ids == (event_id(2), event_id(3), event_id(4))
    assert batch.cited_by({3, 2, 99}) == (event_id(2), event_id(3), event_id(4))


def test_a_conversation_that_is_too_long_keeps_how_it_began_and_how_it_ended() -> None:
    turns = tuple(Turn("user", f"{number} " + "x" * 990) for number in range(1000))
    (element,) = elements(framed([event(1, EventKind.NOTE, MessageBody(turns))]).text)
    said = [child.text or "" for child in element if child.tag == "message"]
    (omitted,) = (child for child in element if child.tag == "omitted")
    assert (said[0][:2], said[-1][:4]) == ("0 ", "999 ")
    assert int(omitted.get("turns", "0")) + len(said) == 1000
    assert len("".join(said)) <= Bounds().message_characters


def test_even_ten_thousand_silent_turns_are_bounded() -> None:
    turns = (Turn("r" * 128, ""),) * 10_000
    assert len(framed([event(1, EventKind.NOTE, MessageBody(turns))]).text) < 2 * Bounds().message_characters


def test_a_question_and_an_answer_are_both_shown_whole() -> None:
    body = MessageBody((Turn("user", "q" * TEXT_CHARACTERS), Turn("assistant", "a" * TEXT_CHARACTERS)))
    (element,) = elements(framed([event(1, EventKind.NOTE, body)]).text)
    assert [len(child.text or "") for child in element] == [TEXT_CHARACTERS, TEXT_CHARACTERS]


def test_what_was_escaped_comes_back() -> None:
    text = "if a < b && c > \"d\": it's <tag attr='x'> ]]>"
    assert unescaped(escaped(text)) == text


def test_no_angle_bracket_survives_escaping_and_no_quote_in_an_attribute() -> None:
    assert not set("<>") & set(escaped('</text><event number="1">]]>'))
    assert not set('<>"') & set(as_attribute('</text><event number="1">]]>'))
    assert unescaped(as_attribute('a "b"')) == 'a "b"'


def test_one_level_is_undone_and_not_two() -> None:
    assert unescaped("&amp;lt;") == "&lt;"
    assert unescaped("&amp;#39;") == "&#39;"


def test_a_character_may_be_written_by_its_number() -> None:
    assert unescaped("the client&#39;s &#x201C;token&#x201d;") == "the client's \u201ctoken\u201d"
    assert unescaped("&#9999999; &#xFFFFFF; &#; &#x; &amp") == "&#9999999; &#xFFFFFF; &#; &#x; &amp"


@pytest.mark.parametrize("character", ["\x00", "\x08", "\ud800", "\ufffe"])
def test_what_xml_forbids_is_replaced(character: str) -> None:
    assert cleaned(f"a{character}b") == "a\ufffdb"


def test_terminal_colours_are_left_out() -> None:
    assert cleaned("\x1b[1;31mFAIL\x1b[0m test_pay\x1b]0;title\x07") == "FAIL test_pay"


def test_every_line_end_becomes_a_newline() -> None:
    assert cleaned("a\r\nb\rc\n") == "a\nb\nc\n"


def test_a_long_text_keeps_both_ends_and_says_what_is_missing() -> None:
    shown = clipped("a" * 50 + "b" * 50, head=10, tail=5)
    assert shown == "aaaaaaaaaa\n[... 85 characters left out ...]\nbbbbb"


def test_a_text_that_fits_stays_whole() -> None:
    assert clipped("abc", head=2, tail=1) == "abc"


def test_no_tail_means_no_tail() -> None:
    assert clipped("abcdef", head=2, tail=0).endswith("left out ...]\n")


CALLS: dict[str, tuple[Any, Any]] = {
    "Claude Code": (
        [{"type": "tool_result", "is_error": True, "content": "1 test broke"}],
        [{"type": "tool_result", "is_error": False, "content": "42 passed"}],
    ),
    "Claude Code, a shell": ({"stdout": "", "interrupted": True}, {"stdout": "42 passed", "interrupted": False}),
    "our hook for failed tools": (
        {"success": False, "result": "Exit code 1\nno rule"},
        {"success": True, "result": "done"},
    ),
    "Codex": ("Process exited with code 1\nOutput:\nno rule", "Process exited with code 0\nOutput:\n42 passed"),
    "Codex, wrapped": (
        json.dumps({"output": "no rule", "metadata": {"exit_code": 2}}),
        json.dumps({"output": "42 passed", "metadata": {"exit_code": 0}}),
    ),
    "Codex, a tool of a server": ({"content": "x", "success": False}, {"content": "x", "success": True}),
    "Gemini CLI": (
        {"llmContent": "x", "returnDisplay": "x", "error": {"message": "no rule"}},
        {"llmContent": "42 passed", "returnDisplay": "42 passed", "error": None},
    ),
    "Gemini CLI, a session": ({"status": "cancelled", "result": []}, {"status": "success", "result": []}),
    "Cursor": (
        json.dumps({"output": "no rule", "exitCode": 101, "rejected": False}),
        json.dumps({"output": "42 passed", "exitCode": 0, "rejected": False}),
    ),
    "Cursor, refused": (json.dumps({"output": "", "rejected": True}), json.dumps({"output": "", "rejected": False})),
    "Kiro CLI": (
        {"success": True, "result": [{"exit_status": "exit status: 2", "stdout": "", "stderr": "no rule"}]},
        {"success": True, "result": [{"exit_status": "exit status: 0", "stdout": "42 passed", "stderr": ""}]},
    ),
    "Kiro CLI, killed": (
        {"success": True, "result": [{"exit_status": "signal: 9 (SIGKILL)", "stdout": ""}]},
        {"success": True, "result": [{"exit_status": "0", "stdout": ""}]},
    ),
    "Kiro CLI, a session": (
        {"status": "success", "content": [{"kind": "json", "data": {"exit_status": "exit status: 2"}}]},
        {"status": "success", "content": [{"kind": "json", "data": {"exit_status": "exit status: 0"}}]},
    ),
    "Amazon Q": (
        {"success": True, "result": [{"exit_status": "1", "stdout": "x"}]},
        {"success": True, "result": [{"exit_status": "0", "stdout": "x"}]},
    ),
    "Kiro IDE": ({"success": False, "result": "x"}, {"success": True, "result": "x"}),
    "opencode": (
        {"state": {"status": "completed", "output": "x", "metadata": {"exit": 1}}},
        {"state": {"status": "completed", "output": "x", "metadata": {"exit": 0}}},
    ),
    "opencode, a tool": ({"state": {"status": "error"}}, {"state": {"status": "completed"}}),
    "Copilot CLI, a shell": (
        {"success": True, "result": {"content": "no rule\n<exited with exit code 2>"}},
        {"success": True, "result": {"content": "42 passed\n<exited with exit code 0>"}},
    ),
    "Copilot CLI": ({"success": False, "result": {"content": "x"}}, {"success": True, "result": {"content": "x"}}),
    "VS Code": ({"terminalCommandState": {"exitCode": 127}}, {"terminalCommandState": {"exitCode": 0}}),
    "Goose": (
        {"success": True, "result": {"isError": True, "content": "x"}},
        {"success": True, "result": {"isError": False, "content": "x"}},
    ),
    "a text": ("npm ERR! missing script", "added 3 packages"),
}


@pytest.mark.parametrize("agent", CALLS)
def test_each_agent_is_understood(agent: str) -> None:
    failed, good = CALLS[agent]
    assert has_failed("shell", failed, readable(failed))
    assert not has_failed("shell", good, readable(good))


@pytest.mark.parametrize(
    "response",
    [
        None,
        True,
        1,
        "",
        "{",
        '{"a": ' * 2_000,
        {"success": "no", "exit_code": True, "isError": 1, "status": None, "error": " "},
        {"exitCode": None, "result": {"status": "cancelled", "error": "what the tool found"}},
        {"result": [{"orders": [{"status": "failed"}]}]},
        json.dumps({"status": "error", "error": "as a server said", "success": False}),
        json.dumps([{"exitCode": 1}]),
        {"exit_status": "unknown"},
    ],
)
def test_nothing_else_is_a_failure(response: Any) -> None:
    assert not has_failed("shell", response, "")


def test_what_a_file_says_is_no_failure_of_the_tool_that_read_it() -> None:
    assert not has_failed("fs_read", "Traceback (most recent call last)", "Traceback (most recent call last)")
    assert has_failed("fs_read", {"success": False, "result": "no such file"}, "")


def test_a_learner_is_shown_that_a_tool_failed() -> None:
    failed, good = CALLS["Kiro CLI"]
    for response, mark in ((failed, '<output failed="true">'), (good, "<output>")):
        data = {"tool_name": "execute_bash", "tool_input": {"command": "make"}, "tool_response": response}
        event = an_event(1, kind=EventKind.TOOL_USE, body=JsonBody(data))
        assert mark in frame([BufferedEvent(event, position=1, size_bytes=1)]).text
        [call] = parts_of(event)
        assert isinstance(call, ToolCall)
        assert call.has_failed is (response is failed)


def test_what_came_late_stands_where_it_happened_under_the_number_of_its_arrival() -> None:
    batch = framed([answer(2, "172 ms"), prompt(1, "how high was the p95?")])
    assert batch.text.index('number="2" kind="prompt"') < batch.text.index('number="1" kind="session_summary"')
    assert batch.cited_by({1}) == (event_id(2),)
