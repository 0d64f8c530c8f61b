"""A model's compaction is smaller than the buffer and stands only for replaced entries. Halving invents nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.errors import LlmError
from kiro_learn.learning.consolidation import Compacted, entries_of, oldest_half, parse
from kiro_learn.learning.extraction.framing import cleaned, escaped
from kiro_learn.learning.extraction.splitting import portion
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot
from kiro_learn.model.event import Event, EventKind, TextBody
from kiro_learn.model.ids import ULID_PATTERN, EventId
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.testing.daemon import NAMESPACE, an_event
from kiro_learn.testing.simulation import scheduled
from kiro_learn.testing.storage import InMemoryStorage, transact_one
from tests.unit.learning.histories import answer, event, event_id, waiting

HISTORIES = st.lists(
    st.tuples(st.sampled_from(EventKind), st.sampled_from(["one", "two"])), min_size=1, max_size=12
).map(lambda drawn: [event(n, kind, TextBody("said"), session=session) for n, (kind, session) in enumerate(drawn)])
ENTRIES = st.lists(
    st.builds(
        Compacted, st.text(min_size=1).filter(lambda text: cleaned(text).strip()), st.frozensets(st.integers(0, 15))
    ),
    min_size=1,
    max_size=6,
)
PROSE = st.text(max_size=20).filter(lambda text: "<" not in text)


@given(entries=ENTRIES, prose=PROSE)
def test_what_is_written_is_read_back_in_order_whatever_stands_between(entries: list[Compacted], prose: str) -> None:
    written = prose.join(
        f'<compacted_entry events="{" ".join(map(str, each.numbers))}">{escaped(each.text)}</compacted_entry>'
        for each in entries
    )
    expected = [Compacted(cleaned(each.text).strip(), each.numbers) for each in entries]
    assert parse(f"{prose}{written}{prose}") == expected


@given(
    answer_text=st.lists(st.sampled_from(["<compacted_entry>", "</compacted_entry>", "a", " ", "<", "events='1'"])).map(
        "".join
    )
)
def test_any_answer_is_read_or_refused(answer_text: str) -> None:
    try:
        found = parse(answer_text)
    except LlmError:
        found = []
    assert all(each.text for each in found)
    assert len(found) <= len(re.findall("<compacted_entry", answer_text))


@given(history=HISTORIES, older=st.booleans(), entries=ENTRIES)
def test_entries_are_less_and_stand_only_for_what_they_replace(
    history: list[Event], older: bool, entries: list[Compacted]
) -> None:
    """Also if an entry is a compaction already."""
    compaction = (BufferedEvent(answer(50, "old"), 0, 90, stands_for=(event_id(60), event_id(61))),) if older else ()
    snapshot = BufferSnapshot((*compaction, *waiting(*history)))
    part = portion(snapshot, 1e9)
    numbers = count(500)
    try:
        made = entries_of(entries, part, lambda: event_id(next(numbers)))
    except LlmError:
        return
    assert len(made) < len(snapshot.entries)
    assert sum(entry.size_bytes for entry in made) < snapshot.size_bytes
    for entry in made:
        assert_well_formed(entry, snapshot)


def assert_well_formed(entry: BufferedEvent, snapshot: BufferSnapshot) -> None:
    cited = [each for each in snapshot.entries if set(each.sources) <= set(entry.stands_for)]
    assert entry.stands_for == BufferSnapshot(tuple(cited)).source_event_ids
    assert ULID_PATTERN.fullmatch(entry.event.event_id)
    assert entry.event.event_id not in snapshot.source_event_ids
    assert entry.event.kind is EventKind.SESSION_SUMMARY
    assert isinstance(entry.event.body, TextBody)
    assert entry.event.namespace == snapshot.events[0].namespace
    assert entry.event.valid_time == max(each.event.valid_time for each in cited)
    assert entry.event.session_id == cited[-1].event.session_id


@given(history=HISTORIES)
def test_exactly_the_newest_half_goes_on_waiting(history: list[Event]) -> None:
    snapshot = BufferSnapshot(waiting(*history))
    kept = snapshot.entries[len(oldest_half(snapshot).entries) :]
    assert oldest_half(snapshot).entries + kept == snapshot.entries
    assert len(kept) == (len(history) + 1) // 2


@scheduled(before=st.integers(2, 6), during=st.integers(0, 4), made=st.integers(1, 3))
async def test_what_arrives_before_the_entries_are_put_in_place_stays_behind_them(
    before: int, during: int, made: int
) -> None:
    """No event is missing or doubled: a reader sees all old entries or all new ones."""
    storage = InMemoryStorage()
    for number in range(before):
        await transact_one(storage, partial(put, number))
    replaced = await storage.snapshot_buffer(NAMESPACE, most_bytes=10**6)
    for number in range(before, before + during):
        await transact_one(storage, partial(put, number))
    entries = [summary_of(number, replaced.source_event_ids) for number in range(min(made, before - 1))]
    await transact_one(storage, lambda tx: tx.compact_buffer(NAMESPACE, through=replaced.through, entries=entries))
    found = (await storage.snapshot_buffer(NAMESPACE, most_bytes=10**6)).entries
    assert [each.event for each in found] == [
        *(entry.event for entry in entries),
        *(an_event(number) for number in range(before, before + during)),
    ]
    assert [each.position for each in found] == sorted(each.position for each in found)
    size = (await storage.list_buffers())[NAMESPACE]
    assert size.size_bytes == sum(each.size_bytes for each in found)


def put(number: int, transaction: StorageTransaction) -> None:
    transaction.put_event(an_event(number), size_bytes=10, buffered=True)


def summary_of(number: int, sources: Sequence[EventId]) -> BufferedEvent:
    return BufferedEvent(
        an_event(900 + number, kind=EventKind.SESSION_SUMMARY), position=0, size_bytes=1, stands_for=tuple(sources)
    )
