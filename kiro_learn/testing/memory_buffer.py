"""The buffer of ``InMemoryStorage``: what may be done to it, and what it answers, as functions of the state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

import attrs

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.buffer import BufferedEvent, BufferSize, BufferSnapshot
from kiro_learn.model.compaction_check import refuse_strange_entries
from kiro_learn.model.event import Event, EventKind
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.buffer import EARLIER_PROMPTS_PER_SESSION
from kiro_learn.testing.memory_state import State, Waiting
from kiro_learn.wire.messages import body_bytes


def clear_buffer(state: State, namespace: Namespace, *, through: int) -> None:
    for position, _row in list(state.waiting_in(namespace)):
        if position <= through:
            del state.buffer[position]


def compact_buffer(state: State, namespace: Namespace, *, through: int, entries: Sequence[BufferedEvent]) -> None:
    waiting = {position: row for position, row in state.waiting_in(namespace) if position <= through}
    refuse_strange_entries(entries, namespace=namespace, waiting=[row.sources for row in waiting.values()])
    for position in waiting:
        del state.buffer[position]
    for position, entry in zip(list(waiting)[len(waiting) - len(entries) :], entries, strict=True):
        event = entry.event if entry.stands_for else state.events[entry.event.event_id]
        state.buffer[position] = Waiting(event, entry.size_bytes, entry.stands_for)


def park_buffer(state: State, namespace: Namespace, *, through: int) -> None:
    for position, row in list(state.waiting_in(namespace)):
        if position <= through:
            state.buffer[position] = attrs.evolve(row, is_parked=True)


def unpark_buffer(state: State, namespace: Namespace, *, most_bytes: int) -> BufferSize:
    for entry in _fitting(state.parked_in(namespace), most_bytes):
        state.buffer[entry.position] = attrs.evolve(state.buffer[entry.position], is_parked=False)
    return _size(row for _position, row in state.buffer_of(namespace))


def get_buffer_size(state: State, namespace: Namespace) -> BufferSize:
    return list_buffers(state).get(namespace, BufferSize())


def list_buffers(state: State) -> dict[Namespace, BufferSize]:
    rows: dict[Namespace, list[Waiting]] = defaultdict(list)
    for row in state.buffer.values():
        rows[row.event.namespace].append(row)
    return {namespace: _size(found) for namespace, found in rows.items()}


def _size(rows: Iterable[Waiting]) -> BufferSize:
    found = tuple(rows)
    waiting = [row for row in found if not row.is_parked]
    return BufferSize(
        event_count=sum(len(row.sources) for row in waiting),
        size_bytes=sum(row.size_bytes for row in waiting),
        parked_event_count=sum(len(row.sources) for row in found if row.is_parked),
    )


def snapshot_buffer(state: State, namespace: Namespace, *, most_bytes: int) -> BufferSnapshot:
    waiting = list(state.waiting_in(namespace))
    entries = _fitting((row for row in waiting if row[1].event.event_id not in state.damaged_rows), most_bytes)
    if not entries:
        return BufferSnapshot(damaged_through=waiting[-1][0] if waiting else 0)
    return BufferSnapshot(entries, _earlier_prompts(state, namespace, entries))


def snapshot_events(
    state: State, namespace: Namespace, *, since: datetime | None, after: EventId | None, most_bytes: int
) -> BufferSnapshot:
    arrivals = {event.event_id: index for index, event in enumerate(state.events_of(namespace))}
    if after is not None and after not in arrivals:
        raise InvalidRequest([("$.after", "expected the id of an event of this project")])
    start = 0 if after is None else arrivals[after] + 1
    in_buffer = {event_id for _position, row in state.buffer_of(namespace) for event_id in row.sources}
    wanted = (
        (0, Waiting(event, body_bytes(event.body)))
        for event in state.events_of(namespace)[start:]
        if event.event_id not in in_buffer | state.damaged_rows
        and not state.is_gone(event)
        and (since is None or event.valid_time >= since)
    )
    entries = _fitting(wanted, most_bytes)
    return BufferSnapshot(entries, _earlier_prompts(state, namespace, entries))


def _fitting(rows: Iterable[tuple[int, Waiting]], most_bytes: int) -> tuple[BufferedEvent, ...]:
    """The first that fit, but at least one if there is any."""
    entries: list[BufferedEvent] = []
    total_bytes = 0
    for position, row in rows:
        if entries and total_bytes + row.size_bytes > most_bytes:
            break
        entries.append(BufferedEvent(row.event, position, row.size_bytes, row.stands_for))
        total_bytes += row.size_bytes
    return tuple(entries)


def _earlier_prompts(state: State, namespace: Namespace, entries: Sequence[BufferedEvent]) -> tuple[Event, ...]:
    arrivals = {event.event_id: index for index, event in enumerate(state.events_of(namespace))}
    first_of_session: dict[str, int] = {}
    for entry in entries:
        first_of_session.setdefault(entry.event.session_id, arrivals[entry.sources[0]])
    found: list[Event] = []
    for session_id, before in first_of_session.items():
        earlier = [event for event in state.events_of(namespace)[:before] if event.session_id == session_id]
        prompts = [event for event in _open_prompts(earlier) if not state.is_gone(event)]
        shown = prompts[-EARLIER_PROMPTS_PER_SESSION:]
        found += [prompt for prompt in shown if prompt.event_id not in state.damaged_rows]
    return tuple(sorted(found, key=lambda event: arrivals[event.event_id]))


def _open_prompts(session: Sequence[Event]) -> list[Event]:
    prompts: list[Event] = []
    for event in session:
        if event.kind is EventKind.SESSION_SUMMARY:
            prompts.clear()
        elif event.kind is EventKind.PROMPT:
            prompts.append(event)
    return prompts
