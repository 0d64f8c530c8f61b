"""A memory and its Markdown file say the same, whatever its texts hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kiro_learn.model.checks import unchecked
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import KnowledgeType, MemoryRecord, ObservationType, Origin, RecordDetails
from kiro_learn.model.stored import StoredMemory
from kiro_learn.wire.notes import GIVEN, MOST_NAME, Note, file_name_of, note_of, read_note, write_note
from kiro_learn.wire.notes_index import WrongNote, read_front, write_front

SIGNS = st.one_of(
    st.sampled_from(
        [*"\n\r\t -#`\\&;:'\"*>|[]{}.0123", "## Facts", "## Text", "---", "&amp;", "&#xA;", "```", "\n- ", "\n\n  "]
    ),
    st.characters(),
)
TEXTS = st.lists(SIGNS, max_size=12).map("".join)
SAID = TEXTS.map(lambda text: text or "x")
LISTS = st.lists(SAID, max_size=3).map(tuple)


def memory(title: str, summary: str, facts: tuple[str, ...], text: str, names: tuple[str, ...]) -> StoredMemory:
    record: MemoryRecord = unchecked(
        MemoryRecord,
        record_id=RecordId("mr_01J00000000000000000000001"),
        namespace=Namespace("/actor/a/project/b/"),
        strategy="direct",
        title=title,
        summary=summary,
        facts=facts,
        concepts=names,
        files_read=names,
        observation_type=ObservationType.DECISION,
        source_event_ids=("01J00000000000000000000001",),
        created_at=datetime(2026, 1, 5, tzinfo=UTC) + timedelta(microseconds=1),
        knowledge_type=KnowledgeType.DECISION,
        origin=Origin.USER,
        importance=7,
        text=text,
        details=RecordDetails(severity="hard"),
        pinned_at=datetime(2026, 1, 6, tzinfo=UTC),
    )
    return StoredMemory(record=record, sessions=names[:1])


@example(title="a: b", summary="\\## Facts\n## Facts  ", facts=("- a\n\n  b\n",), text="```\n&amp;\r", names=("a: b",))
@given(title=SAID, summary=TEXTS, facts=LISTS, text=TEXTS, names=LISTS)
def test_a_note_says_what_the_memory_says(
    title: str, summary: str, facts: tuple[str, ...], text: str, names: tuple[str, ...]
) -> None:
    note = note_of(memory(title, summary, facts, text, names))
    written = write_note(note)
    read = read_note(written)
    assert attrs.asdict(read) == attrs.asdict(note)
    assert (read.title, read.summary, read.facts) == (title, summary, facts)
    assert (read.text or summary) == (text or summary)
    assert read_note(written.replace(b"\n", b"\r\n")).said == note.said, "a file that Windows saved"
    assert read_note(b"\xef\xbb\xbf" + written) == read


@given(title=TEXTS)
def test_a_file_has_a_name_that_every_system_takes(title: str) -> None:
    name = file_name_of(Note(front={"id": "mr_01J00000000000000000000001"}, title=title, summary="s"))
    assert name.endswith("01j00000000000000000000001.md")
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    assert len(name) <= MOST_NAME + 31
    assert name[0] not in "-."


@given(content=st.one_of(st.binary(max_size=200), TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass"))))
def test_any_file_is_read_or_named_with_its_line(content: bytes) -> None:
    """A file that was read is written so that it can be read again."""
    for each in (content, b"---\n" + content, b"# t\n" + content, b"# t\n\n## Facts\n" + content):
        line = wrong_line_of(each)
        assert 0 <= line <= each.count(b"\n") + 2
        if not line:
            note = read_note(each)
            assert read_note(write_note(note)).said == note.said


def wrong_line_of(content: bytes) -> int:
    """The number of the wrong line, from 1; 0 if all lines are correct."""
    try:
        read_note(content)
    except WrongNote as wrong:
        return wrong.line
    return 0


@given(value=TEXTS, items=st.lists(TEXTS.filter(bool), min_size=1, max_size=3).map(tuple))
def test_a_text_of_the_front_matter_is_a_text_whatever_it_looks_like(value: str, items: tuple[str, ...]) -> None:
    front: dict[str, str | tuple[str, ...]] = {"type": value or "yes", "concepts": items}
    lines = "\n".join([*write_front(front), "more"]).split("\n")
    assert read_front(lines, texts=GIVEN[:1], lists=GIVEN[1:]) == (front, len(lines) - 1)


@pytest.mark.parametrize(
    ("front", "line"),
    [
        ("type: &a [x, x]", 2),
        ("type: *a", 2),
        ("type: !!python/object x", 2),
        ("type: {a: b}", 2),
        ("concepts: [a, b]", 2),
        ("type: a\ntype: b", 3),
        ("type: |\n  a", 2),
        ("nested:\n  a: b", 2),
        ("concepts:\n  - - a", 3),
        ("- a", 2),
        ('type: "a', 2),
        ("type: 'a", 2),
        ("type: a: b", 2),
        ("type: a", 1),
    ],
)
def test_yaml_that_means_more_than_it_says_is_named(front: str, line: int) -> None:
    end = "" if line == 1 else "\n---\n# t"
    with pytest.raises(WrongNote) as wrong:
        read_note(f"---\n{front}{end}\n".encode())
    assert wrong.value.line == line
