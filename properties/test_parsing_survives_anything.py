"""For any answer of a model, parsing gives records within their bounds, or one kind of error."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from kiro_learn.errors import LlmError
from kiro_learn.learning.extraction.framing import FramedBatch, escaped
from kiro_learn.learning.extraction.parsing import parse
from kiro_learn.model.event import EventKind, TextBody
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord, ObservationType
from tests.unit.learning.histories import START, event, event_id

BATCH = FramedBatch("", tuple((event_id(number),) for number in range(5)), context_count=2)
NAMESPACE = event(1, EventKind.NOTE, TextBody("")).namespace
RECORD_ID = RecordId("mr_" + event_id(1))

PIECES = st.sampled_from(
    [
        '<memory_record type="decision" events="1 4">',
        "<memory_record type='error' importance='99' knowledge='x'>",
        "</memory_record>",
        "<memory_record",
        "<title>",
        "</title>",
        "<summary>",
        "</summary>",
        "<title>T</title><summary>S</summary>",
        "<facts><fact>",
        "</fact></facts>",
        '<file access="read">a.py</file>',
        "<concept> </concept>",
        "<skip/>",
        "&amp;lt;",
        "\ud800",
        "\x00",
        "f" * 700,
    ]
)
ANSWERS = st.lists(PIECES | st.text(st.characters(exclude_categories=())), max_size=20).map("".join)


@given(answer=ANSWERS)
@example(answer="<memory_record type='decision'><title>\x00</title><summary>\u3000</summary></memory_record>")
def test_every_draft_could_be_kept_as_it_is(answer: str) -> None:
    try:
        drafts = parse(answer, BATCH)
    except LlmError:
        return
    for draft in drafts:
        MemoryRecord(
            record_id=RECORD_ID,
            namespace=NAMESPACE,
            strategy="test",
            title=draft.title,
            summary=draft.summary,
            facts=draft.facts,
            concepts=draft.concepts,
            files_touched=draft.files_touched,
            files_read=draft.files_read,
            files_modified=draft.files_modified,
            observation_type=draft.observation_type,
            source_event_ids=draft.source_event_ids,
            created_at=START,
            importance=draft.importance,
        )


@given(
    title=st.text("ab<>&'\"; \n", min_size=1).filter(str.strip),
    cited=st.sets(st.integers(1, 5), min_size=1),
    kind=st.sampled_from(ObservationType),
    before=st.sampled_from(["", "Sure, here you are:\n", "<skip/>", "<memory_record type='gossip'>"]),
)
def test_a_good_record_is_read_whatever_stands_before_it(title: str, cited: set[int], kind: str, before: str) -> None:
    numbers = " ".join(map(str, cited))
    opening = f'<memory_record type="{kind}" events="{numbers}">'
    content = f"<title>{escaped(title)}</title><summary>S</summary>"
    (draft,) = parse(f"{before}{opening}{content}</memory_record>", BATCH)
    assert draft.title == " ".join(title.split())[:200].strip()
    assert draft.source_event_ids == tuple(event_id(number - 1) for number in sorted(cited))
