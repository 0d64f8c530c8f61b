"""What is old in ``InMemoryStorage``: its part of the reads and of the transactions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from datetime import datetime

from kiro_learn.adapters.sqlite.rows import body_text, from_record, size_of
from kiro_learn.model.event import Event, TextBody
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import EDITED, MemoryRecord
from kiro_learn.model.retention import EXPIRED, IMPORTANT, NOTABLE, Amount, FileSize
from kiro_learn.model.unchecked import unchecked_evolve
from kiro_learn.ports.storage.retention import EventAge, RecordAge
from kiro_learn.testing.memory_state import State


class MemoryRetentionReads:
    """See ``ports.storage.retention.RetentionReads``."""

    _read: Callable[[], Awaitable[State]]

    async def count_expirable(self, age: EventAge) -> Amount:
        state = await self._read()
        found = expirable(state, age)
        return Amount(len(found), sum(size_of(body_text(state.events[event_id].body)) for event_id in found))

    async def list_expirable(self, age: EventAge, *, limit: int) -> list[EventId]:
        return expirable(await self._read(), age)[:limit]

    async def has_expired(self, event_ids: Collection[EventId]) -> bool:
        return not (await self._read()).expired.keys().isdisjoint(event_ids)

    async def list_distillable(
        self, age: RecordAge, *, after: tuple[datetime, RecordId] | None, limit: int
    ) -> list[MemoryRecord]:
        state = await self._read()
        found = [
            record
            for record in state.records_of(age.namespace)
            if _is_distillable(record, age)
            and record.record_id not in state.distilled | state.damaged_rows
            and (after is None or (record.created_at, record.record_id) > after)
        ]
        return sorted(found, key=lambda record: (record.created_at, record.record_id))[:limit]

    async def count_replaced(self, namespace: Namespace, *, before: datetime) -> Amount:
        state = await self._read()
        return _amount(state, replaced_before(state, namespace, before))

    async def get_file_size(self) -> FileSize:
        await self._read()
        return FileSize(0, 0)

    async def give_back_space(self) -> None:
        await self._read()


class MemoryRetentionWrites:
    """See ``ports.storage.retention.RetentionWrites``."""

    state: State
    _forget_replaced: Callable[[RecordId], None]

    def expire_events(self, namespace: Namespace, event_ids: Collection[EventId]) -> Amount:
        gone = Amount()
        waiting = awaited(self.state, namespace)
        for event_id in event_ids:
            event = self.state.events.get(event_id)
            if event is None or event.namespace != namespace:
                continue
            if event_id not in waiting and event_id not in self.state.expired:
                size = size_of(body_text(event.body))
                body = TextBody(EXPIRED)
                self.state.events[event_id] = unchecked_evolve(event, body=body, content_hash=None)
                self.state.expired[event_id] = size
                gone += Amount(1, size)
        return gone

    def mark_distilled(self, record_ids: Collection[RecordId]) -> None:
        self.state.distilled |= set(record_ids) & self.state.records.keys()

    def delete_replaced(self, namespace: Namespace, *, before: datetime, limit: int) -> Amount:
        old = replaced_before(self.state, namespace, before)
        by = {self.state.replaced_by[record_id] for record_id in old}
        first = [replacement_id for replacement_id in self.state.replacements if replacement_id in by][:limit]
        found = [record_id for record_id in old if self.state.replaced_by[record_id] in first]
        gone = _amount(self.state, found)
        for record_id in found:
            self.state.forget_told(record_id)
            self._forget_replaced(record_id)
        return gone


def awaited(state: State, namespace: Namespace) -> set[EventId]:
    """What is to be learned from, and what clusters cite that could not be committed yet."""
    clusters = [cluster for cluster in state.parked_clusters.values() if cluster.namespace == namespace]
    return {
        *(event_id for _, row in state.buffer_of(namespace) for event_id in row.sources),
        *(event_id for cluster in clusters for record in cluster.records for event_id in record.source_event_ids),
    }


def expirable(state: State, age: EventAge) -> list[EventId]:
    """Oldest first."""
    waiting = awaited(state, age.namespace)
    cited = [(event_id, 0) for namespace, event_id, _ in state.forgotten if namespace == age.namespace]
    for record in state.records_of(age.namespace):
        cited += [(event_id, record.importance or 0) for event_id in record.source_event_ids]
    learned: dict[str, tuple[datetime, int]] = {}
    for event_id, importance in cited:
        event = state.events.get(event_id)
        if event is not None and event.namespace == age.namespace:
            last, most = learned.get(event.session_id, (event.valid_time, 0))
            learned[event.session_id] = (max(last, event.valid_time), max(most, importance))
    found = [
        event
        for event in state.events_of(age.namespace)
        if event.session_id in learned
        and event.event_id not in waiting
        and event.event_id not in state.expired
        and _is_old(event, *learned[event.session_id], age)
    ]
    return [event.event_id for event in sorted(found, key=lambda event: (event.valid_time, event.event_id))]


def _is_old(event: Event, last_time: datetime, importance: int, age: EventAge) -> bool:
    before = age.important_before if importance >= IMPORTANT else age.before
    return event.valid_time <= last_time and event.valid_time < before


def replaced_before(state: State, namespace: Namespace, before: datetime) -> list[RecordId]:
    return [
        record_id
        for record_id, replacement_id in state.replaced_by.items()
        if (replacement := state.replacements[replacement_id]).namespace == namespace
        and replacement.replaced_at < before
    ]


def _amount(state: State, record_ids: Collection[RecordId]) -> Amount:
    return Amount(len(record_ids), sum(_size(state.history[record_id]) for record_id in record_ids))


def _size(record: MemoryRecord) -> int:
    stored = from_record(record)
    return sum(size_of(stored[name] or "") for name in ("title", "summary", "facts_json", "captured_text"))


def _is_distillable(record: MemoryRecord, age: RecordAge) -> bool:
    importance = record.importance or 0
    return (
        record.created_at < age.before
        and importance < IMPORTANT
        and (importance < NOTABLE or record.created_at < age.notable_before)
        and record.capture_type is None
        and record.strategy != EDITED
        and not record.is_protected
    )
