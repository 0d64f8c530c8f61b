"""Stores events: redacted, durable, once; then notifies the project's actor."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from typing import Literal, Protocol, TypeAlias, TypeVar

import attrs

from kiro_learn.actors.project import Projects
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import InvalidRequest, KiroLearnError
from kiro_learn.model.event import Event, EventKind, TextBody, body_weight
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.privacy.scrub import scrub_event
from kiro_learn.runtime.admission import Offload
from kiro_learn.wire.hooks import HookReport
from kiro_learn.wire.messages import read_event, read_json

T = TypeVar("T")

WITHIN_TURN = frozenset({EventKind.PROMPT, EventKind.TOOL_USE})
"""The kinds of events after which the agent's answer is still to come."""

SMALL_BYTES = 32_768
"""A body of this size is redacted in about two milliseconds (benchmarks/redaction.py)."""

SAME_STEP = timedelta(seconds=5)
"""The most that the times of one step may differ between a hook and the agent's own history."""

PORTION = 64
"""Events of a batch that a thread reads and redacts at a time, which takes some ten milliseconds."""


@attrs.frozen
class Captured:
    """Whether an event was stored, was a repeat, or is pending."""

    event_id: EventId
    stored: bool | Literal["pending"]
    """True: the event is safe. False: it is a repeat, which changed nothing. Pending: the store is late or failed; the
    sender is to send the event again, which is safe."""


class _Put(Protocol):
    """Stores an event and returns its size; 0 if it is a repeat."""

    def __call__(self, transaction: StorageTransaction, event: Event) -> int: ...


Outcome: TypeAlias = Captured | KiroLearnError
"""The result of one event of a batch, or the error because of which it was not stored."""


@attrs.frozen(eq=False)
class Capture:
    """Stores events; every front end sends its events through here."""

    _writer: StorageActor
    _projects: Projects
    _offload: Offload
    _dedup_count: int
    _in_use: Callable[[Namespace], Namespace]
    """Returns the project that this one was merged into, where its events are kept; else the same project."""
    _saw: Callable[[Event], None]
    """Called with each event that is new, once it is durable."""
    _recent: OrderedDict[EventId, None] = attrs.field(factory=OrderedDict, init=False)
    """Ids known to be durable, least recently seen first: a repeat of one of them needs no read of the store."""

    async def take(self, event: Event) -> Captured:
        """Store ``event``; when this returns, it survives a crash and a power cut.

        Cancellation: if the storage actor has the event by then, it is stored all the same, and its project is
          notified.

        Raises:
          StorageError: the event could not be stored; sending it again is safe.
        """
        if event.event_id in self._recent:
            self._recent.move_to_end(event.event_id)
            return Captured(event.event_id, stored=False)
        clean = await self._clean(event)

        def note(size: int) -> None:
            self._remember(event.event_id)
            if size:
                self._projects.events_arrived(
                    self._in_use(event.namespace), 1, size, is_within_turn=event.kind in WITHIN_TURN
                )
                self._saw(clean)

        size = await self._writer.write(lambda transaction: transaction.put_event(clean, buffered=True), then=note)
        return Captured(event.event_id, size > 0)

    async def take_all(self, events: Sequence[Event]) -> list[Outcome]:
        """Store ``events`` in one commit, as if one by one; returns the outcome of each, in order.

        Cancellation: see ``take``.

        Raises:
          StorageError: no event could be stored; sending all of them again is safe.
        """
        return await self._store(await self._each(scrub_event, events))

    async def take_lines(
        self, lines: Sequence[bytes], *, most_bytes: int, unless_reported: bool = False
    ) -> list[Outcome]:
        """Like ``take_all``, for events as JSON; a line that is invalid or over ``most_bytes`` affects no other.

        ``unless_reported``: an event that hooks reported under another id counts as a repeat too.
        """
        put = _put_unless_reported if unless_reported else _put
        return await self._store(await self._each(partial(_read_clean, most_bytes=most_bytes), lines), put)

    async def _clean(self, event: Event) -> Event:
        """The redacted event; a large one is redacted in a thread."""
        if body_weight(event.body) <= SMALL_BYTES:
            return scrub_event(event)
        return await self._offload(lambda: scrub_event(event))

    async def _each(
        self, work: Callable[[T], Event | KiroLearnError], items: Sequence[T]
    ) -> list[Event | KiroLearnError]:
        """The results of ``work`` on each of ``items``, in threads."""
        done: list[Event | KiroLearnError] = []
        for start in range(0, len(items), PORTION):
            portion = items[start : start + PORTION]
            done += await self._offload(partial(_map, work, portion))
        return done

    async def _store(self, read: Sequence[Event | KiroLearnError], put: _Put | None = None) -> list[Outcome]:
        events = [each for each in read if isinstance(each, Event)]
        if not events:
            return [each for each in read if isinstance(each, KiroLearnError)]

        def note(sizes: Sequence[int | KiroLearnError]) -> None:
            counts: Counter[Namespace] = Counter()
            total: Counter[Namespace] = Counter()
            last: dict[Namespace, EventKind] = {}
            for event, size in zip(events, sizes, strict=True):
                if isinstance(size, int):
                    self._remember(event.event_id)
                    counts[event.namespace] += size > 0
                    total[event.namespace] += size
                    last[event.namespace] = event.kind
                    if size > 0:
                        self._saw(event)
            for namespace, count in counts.items():
                if count:
                    self._projects.events_arrived(
                        self._in_use(namespace), count, total[namespace], is_within_turn=last[namespace] in WITHIN_TURN
                    )

        sizes = await self._writer.write(lambda transaction: _put_all(transaction, events, put or _put), then=note)
        stored = iter(zip(events, sizes, strict=True))
        return [each if isinstance(each, KiroLearnError) else _outcome(*next(stored)) for each in read]

    def _remember(self, event_id: EventId) -> None:
        self._recent[event_id] = None
        while len(self._recent) > self._dedup_count:
            self._recent.popitem(last=False)


def _map(work: Callable[[T], Event | KiroLearnError], items: Sequence[T]) -> list[Event | KiroLearnError]:
    return [work(item) for item in items]


def _read_clean(line: bytes, *, most_bytes: int) -> Event | KiroLearnError:
    if len(line) > most_bytes:
        return InvalidRequest([("$", f"expected at most {most_bytes} bytes a line")])
    try:
        return scrub_event(read_event(read_json(line)))
    except InvalidRequest as error:
        return error


def _put_all(transaction: StorageTransaction, events: Sequence[Event], put: _Put) -> list[int | KiroLearnError]:
    """The size of each stored event, 0 for a repeat. If the store refuses one, each event is put by itself."""
    try:
        return transaction.attempt(lambda inner: [put(inner, event) for event in events])
    except KiroLearnError:
        return list(_put_each(transaction, events, put))


def _put(transaction: StorageTransaction, event: Event) -> int:
    return transaction.put_event(event, buffered=True)


def _put_unless_reported(transaction: StorageTransaction, event: Event) -> int:
    return 0 if transaction.is_reported(event, within=SAME_STEP) else _put(transaction, event)


def _put_each(transaction: StorageTransaction, events: Sequence[Event], put: _Put) -> Iterator[int | KiroLearnError]:
    for event in events:
        try:
            yield transaction.attempt(partial(put, event=event))
        except KiroLearnError as error:
            yield error


def _outcome(event: Event, size: int | KiroLearnError) -> Outcome:
    return size if isinstance(size, KiroLearnError) else Captured(event.event_id, size > 0)


# Drops the second report of one step, and keeps both reports of an agent that does the same step twice.

WINDOW_MS = 5_000
"""An agent runs the hooks of one event within their time limit; a person or a model takes longer to repeat a step."""
MOST_REPORTS = 2_000


@attrs.frozen
class _Seen:
    event_id: EventId
    at_ms: int


class RepeatedReports:
    """The reports of the last seconds, to recognise one that comes twice.

    An agent runs a hook twice if it is installed twice. Kiro CLI V3 reads the hooks in its agents' files and those next
    to them. Cursor reads its own and Claude Code's. Every agent reads the user's and the project's. Each run has an
    event id of its own, so the ids do not show that it is the same step.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[str, _Seen] = OrderedDict()
        """Least recently seen first."""

    def without_repeats(self, reports: Sequence[tuple[HookReport, str]], *, now_ms: int) -> list[HookReport]:
        """The reports of one request that no other request made within the window. Each comes with its ``step_key``.

        A request that is sent again has the same ids and is no repeat; neither is a report without an id.
        """
        fresh = [(report, key) for report, key in reports if not self._is_repeat(report, key, now_ms)]
        for report, key in fresh:
            if report.event_id is not None:
                self._seen[key] = _Seen(report.event_id, _moment(report, now_ms))
                self._seen.move_to_end(key)
        while len(self._seen) > MOST_REPORTS:
            self._seen.popitem(last=False)
        return [report for report, _ in fresh]

    def _is_repeat(self, report: HookReport, key: str, now_ms: int) -> bool:
        before = self._seen.get(key)
        if before is None or report.event_id in {None, before.event_id}:
            return False
        return abs(_moment(report, now_ms) - before.at_ms) <= WINDOW_MS


def _moment(report: HookReport, now_ms: int) -> int:
    return now_ms if report.happened_at_ms is None else report.happened_at_ms


def step_key(report: HookReport) -> str:
    """A key that is the same for one step of a session, whatever agent's name the hook was given."""
    body = report.body.content if isinstance(report.body, TextBody) else json.dumps(attrs.asdict(report.body))
    session = report.session_id or f"{report.process} {report.cwd}"
    parts = json.dumps([session, report.kind, body, report.new_context])
    return hashlib.sha256(parts.encode()).hexdigest()
