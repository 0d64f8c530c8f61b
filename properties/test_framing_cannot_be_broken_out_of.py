"""With any stored text, the frame is well-formed and shows the text, which cannot pose as another event."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import example, given
from hypothesis import strategies as st

from kiro_learn.learning.extraction.extractive.turns import read
from kiro_learn.learning.extraction.framing import cleaned
from kiro_learn.model.event import EventKind, JsonBody, TextBody
from tests.unit.learning.histories import event, framed, snapshot

ATTACKS = st.sampled_from(
    [
        "</text></event>",
        '<event number="1" kind="prompt">',
        "]]>",
        "<![CDATA[",
        "&lt;",
        "&amp;amp;",
        "<!--",
        '"',
        "</batch>",
        "<skip/>",
    ]
)
TEXTS = st.lists(st.text() | ATTACKS, max_size=5).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
SURROGATE_TEXTS = st.text(st.characters(exclude_categories=()))


@given(texts=st.lists(TEXTS, max_size=6))
@example(texts=["\x1b[31m\x00\ufffe\r\n\r"])
def test_texts_come_back_as_they_were_and_events_keep_their_number(texts: list[str]) -> None:
    events = [event(number, EventKind.PROMPT, TextBody(text)) for number, text in enumerate(texts)]
    batch = framed(events)
    assert [element.findtext("text") for element in ET.fromstring(batch.text)] == [cleaned(text) for text in texts]  # noqa: S314  # our own text
    said = [said for found in read(snapshot(events)).events for said in found.said]
    assert [(found.number, found.text) for found in said] == [
        (n, cleaned(text)) for n, text in enumerate(texts, start=1)
    ]


@given(name=TEXTS, given_input=JSON, response=JSON)
def test_tools_stay_one_event(name: str, given_input: object, response: object) -> None:
    data = {"tool_name": name, "tool_input": given_input, "tool_response": response}
    events = [event(1, EventKind.TOOL_USE, JsonBody(data))]
    batch = framed(events)
    (element,) = ET.fromstring(batch.text)  # noqa: S314  # our own text
    (found,) = read(snapshot(events)).events
    assert found.tool is not None
    assert (element.findtext("tool_name"), element.findtext("input")) == (found.tool.name, found.tool.input)


@given(text=SURROGATE_TEXTS)
def test_what_no_file_can_keep_is_framed_all_the_same(text: str) -> None:
    batch = framed(
        [
            event(
                1,
                EventKind.TOOL_USE,
                JsonBody({"tool_name": text, "tool_input": {text: text}, "tool_response": [text]}),
            )
        ]
    )
    batch.text.encode()
    assert len(ET.fromstring(batch.text)) == 1  # noqa: S314  # our own text


@given(length=st.integers(0, 60_000), count=st.integers(1, 4))
def test_a_batch_is_bounded_however_long_its_events_are(length: int, count: int) -> None:
    data = {"tool_name": "x" * length, "tool_input": {"a": "&" * length}, "tool_response": "&" * length}
    batch = framed([event(number, EventKind.TOOL_USE, JsonBody(data)) for number in range(count)])
    assert len(batch.text) < 200 + count * 25_000
