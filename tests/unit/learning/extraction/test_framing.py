from __future__ import annotations

from xml.etree import ElementTree as ET

from kiro_learn.learning.extraction.framing import TEXT_CHARACTERS, TOOL_CHARACTERS, Bounds, frame, readable
from kiro_learn.model.buffer import BufferedEvent
from kiro_learn.model.event import EventKind, JsonBody, MessageBody, TextBody, Turn
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
        "timestamp": "2026-01-05T12:00:00.000000Z",
    }


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
    compaction = BufferedEvent(answer(9, "all of it"), 1, 100, stands_for=(event_id(2), event_id(3)))
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
