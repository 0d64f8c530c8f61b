"""Follows each session that was told something, and keeps what became of the memories."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import attrs
import structlog
import trio

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import KiroLearnError
from kiro_learn.learning.aftermath import is_used, names_one, objects, signs_of
from kiro_learn.model.event import Event, EventKind, JsonBody
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import Feedback, FeedbackCounts
from kiro_learn.ports.storage.answers import Change, RecordRemoved
from kiro_learn.ports.storage.export import FeedbackReads
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.ports.storage.records import RecordReads
from kiro_learn.retrieval.query.question import query_text
from kiro_learn.runtime.supervisor import Rounds

log = structlog.get_logger()

MOST_SESSIONS = 200
"""The most sessions that are followed at once; beyond, the one that was told something first is dropped."""

MOST_EVENTS, EVENT_CHARACTERS = 40, 4_000
"""The most steps that are kept of each session, and the most characters of a step."""

MOST_CONTROLS = 10
MOST_WAITING = 500
"""The most sessions that wait to be judged; beyond, the oldest is dropped."""

MOST_KEPT = 100_000
"""The most memories whose counts are read at the start."""

GATHER_SECONDS = 1.0
"""How long sessions are collected for one round of judging. Nothing waits for it."""

Session = tuple[Namespace, str]
Reported = Callable[[Namespace, str, RecordId, Feedback], None]


class Reads(FeedbackReads, RecordReads, Protocol):
    """The reads that the actor needs."""


@attrs.define(eq=False)
class _Watch:
    """A session since it was told something."""

    session: Session
    prompt_id: EventId
    prompt: str
    told: tuple[RecordId, ...]
    controls: tuple[RecordId, ...]
    followed: list[str] = attrs.Factory(list)
    next_prompt: str = ""


class Aftermath:
    """Judges memories that were told by what follows in the session, in its own task; no session waits for it.

    A judgment that cannot be written is lost: it is one sign among many.
    """

    name = "aftermath"

    def __init__(self, storage: Reads, writer: StorageActor, *, report: Reported) -> None:
        self._storage = storage
        self._writer = writer
        self._report = report
        self._counts: dict[RecordId, FeedbackCounts] = {}
        self._totals: Counter[str] = Counter()
        self._watches: OrderedDict[Session, _Watch] = OrderedDict()
        self._waiting: deque[_Watch] = deque(maxlen=MOST_WAITING)
        self._rounds = Rounds(gather_seconds=GATHER_SECONDS)

    def factors(self, record_ids: Iterable[RecordId]) -> list[float]:
        """The factors of the scores of these memories, in their order."""
        found = (self._counts.get(record_id) for record_id in record_ids)
        return [1.0 if counts is None else counts.factor for counts in found]

    def counts_of(self, record_id: RecordId) -> FeedbackCounts:
        """The counts of what became of a memory."""
        return self._counts.get(record_id, FeedbackCounts())

    def sums_of(self, records: Iterable[MemoryRecord]) -> dict[str, int]:
        """How many times each feedback was given to ``records``; without feedback that none got."""
        known = [self._counts[each.record_id] for each in records if each.record_id in self._counts]
        sums = {each.value: sum(getattr(counts, each.value) for counts in known) for each in Feedback}
        return {name: count for name, count in sums.items() if count}

    def totals(self) -> FeedbackCounts:
        """The feedback to all that was told since the daemon started."""
        return FeedbackCounts(**self._totals)

    def told(self, prompt: Event, told: Sequence[RecordId], found: Sequence[RecordId]) -> None:
        """Note that the session of ``prompt`` was told the memories ``told``, and not the others in ``found``."""
        session = (prompt.namespace, prompt.session_id)
        if not told:
            return
        controls = tuple(each for each in found if each not in told)[:MOST_CONTROLS]
        text = query_text(prompt.body).lower()
        self._watches[session] = _Watch(session, prompt.event_id, text, tuple(told), controls)
        self._watches.move_to_end(session)
        while len(self._watches) > MOST_SESSIONS:
            self._judge_soon(self._watches.popitem(last=False)[1])

    def saw(self, event: Event) -> None:
        """Note ``event`` if its session is followed."""
        watch = self._watches.get((event.namespace, event.session_id))
        if watch is None or event.event_id == watch.prompt_id:
            return
        if event.kind is EventKind.PROMPT:
            watch.next_prompt = query_text(event.body)
        else:
            watch.followed.append(_done(event)[:EVENT_CHARACTERS].lower())
        if watch.next_prompt or len(watch.followed) == MOST_EVENTS:
            del self._watches[watch.session]
            self._judge_soon(watch)

    def apply(self, change: Change) -> None:
        """Drop the counts of a record that is removed."""
        if isinstance(change, RecordRemoved):
            self._counts.pop(change.record_id, None)

    async def say(self, record_id: RecordId, feedback: Feedback) -> FeedbackCounts:
        """Store the feedback that somebody gives to a memory; returns all its counts.

        Raises:
          UnknownRecord: there is no such memory.
          StorageError: the feedback could not be stored.
        """
        await self._writer.write(lambda transaction: transaction.add_feedback(record_id, feedback))
        self._note(record_id, feedback)
        return self.counts_of(record_id)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        await self._read()
        task_status.started()
        await self._rounds.run(self._judge_waiting)

    def stop(self) -> None:
        self._rounds.stop()

    abandon = stop  # no caller waits for an answer

    def _judge_soon(self, watch: _Watch) -> None:
        if watch.followed:
            self._waiting.append(watch)
            self._rounds.begin_soon()

    async def _read(self) -> None:
        try:
            self._counts |= await self._storage.list_feedback(MOST_KEPT)
        except KiroLearnError as error:
            log.warning("feedback.not_read", problem=type(error).__name__)

    async def _judge_waiting(self) -> None:
        while self._waiting:
            await self._judge(self._waiting.popleft())

    async def _judge(self, watch: _Watch) -> None:
        try:
            records = await self._storage.get_memory_records((*watch.told, *watch.controls))
            signs = {each.record_id: signs_of(each, watch.prompt) for each in records}
            found = _judged(watch, signs)

            def add(transaction: StorageTransaction) -> None:
                for record_id, feedback in found.items():
                    transaction.add_feedback(record_id, feedback)

            await self._writer.write(add)
        except KiroLearnError as error:
            log.warning("feedback.not_stored", problem=type(error).__name__)
            return
        for record_id, feedback in found.items():
            self._note(record_id, feedback)
            self._report(*watch.session, record_id, feedback)

    def _note(self, record_id: RecordId, feedback: Feedback) -> None:
        self._counts[record_id] = self.counts_of(record_id).plus(feedback)
        self._totals[feedback.value] += 1


def _judged(watch: _Watch, signs: dict[RecordId, frozenset[str]]) -> dict[RecordId, Feedback]:
    """The feedback to each memory that was told and still exists."""
    followed = "\n".join(watch.followed)
    controls = [signs[each] for each in watch.controls if each in signs]
    is_objection = objects(watch.next_prompt)
    judged: dict[RecordId, Feedback] = {}
    for record_id in watch.told:
        if record_id in signs:
            used = is_used(signs[record_id], controls, followed)
            is_meant = used or names_one(signs[record_id], watch.next_prompt)
            judged[record_id] = Feedback.USED if used else Feedback.IGNORED
            if is_objection and is_meant:
                judged[record_id] = Feedback.OBJECTED
    return judged


def _done(event: Event) -> str:
    """What the agent did or said. Of a tool only the input, since its output may be anything."""
    if isinstance(event.body, JsonBody) and isinstance(event.body.data, dict):
        return json.dumps(event.body.data.get("tool_input", event.body.data), ensure_ascii=False)
    return query_text(event.body)
