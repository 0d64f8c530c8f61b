"""Lets go of what is old, by rules: contents of events, long texts of memories, and what memories replaced.

Nothing goes before a memory keeps what it said: an event of which nothing was learned stays, and so does one that
waits.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

import attrs
import structlog
import trio

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.config import RetentionConfig
from kiro_learn.errors import UnknownRecord
from kiro_learn.learning.consolidation.distillation import distilled, text_bytes
from kiro_learn.model.history import Replacement, ReplacementReason
from kiro_learn.model.ids import RECORD_PREFIX, EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retention import Amount, RetentionRules
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.ports.storage.retention import EventAge, RecordAge
from kiro_learn.runtime.offload import Offload

log = structlog.get_logger()

IMPORTANT_EVENT_DAYS = 30
"""Contents of events that an important memory cites are kept at least so long."""
NOTABLE_DAYS = 90
"""Notable memories are whole at least so long."""
LISTED = 20_000
"""Events looked for at a time: each time, all that memories cite is read."""
EXPIRED_AT_ONCE = 500
DISTILLED_AT_ONCE = 50
NOTHING = Amount()
LEAST_FREE_SHARE = 0.25
"""Of the file, from which it is rewritten."""


@attrs.frozen(kw_only=True)
class Aged:
    """What goes by age, or went."""

    rules: RetentionRules
    events: Amount = NOTHING
    """That lose their contents, and the bytes of these."""
    memories: Amount = NOTHING
    """That become shorter, and the bytes that their texts lose."""
    replaced: Amount = NOTHING
    """Memories that were replaced and are deleted, and the bytes of their texts."""
    file_bytes: int = 0
    free_bytes: int = 0
    """Of the file, allocated and not used."""
    is_rewritten: bool = False
    """The file is rewritten without what is free."""


class Retention:
    """Carries out the rules, one request at a time; each step is a commit of its own, so it may end anywhere."""

    def __init__(
        self,
        storage: StorageBackend,
        writer: StorageActor,
        clock: ClockAndIds,
        config: RetentionConfig,
        *,
        offload: Offload,
    ) -> None:
        self.config = config
        self._storage = storage
        self._writer = writer
        self._clock = clock
        self._offload = offload
        self._turn = trio.Lock()

    async def preview(self, rules: RetentionRules) -> Aged:
        """What ``apply`` would do now; it changes nothing.

        Raises:
          StorageError: what there is cannot be read.
        """
        events = memories = replaced = NOTHING
        now = self._clock.utc_now()
        for namespace in await self._namespaces():
            if rules.event_days:
                events += await self._storage.count_expirable(_event_age(namespace, rules, now))
            memories += await self._savable(namespace, rules, now)
            if rules.replaced_days:
                before = _days_before(now, rules.replaced_days)
                replaced += await self._storage.count_replaced(namespace, before=before)
        aged = Aged(rules=rules, events=events, memories=memories, replaced=replaced)
        return await self._with_file(aged)

    async def apply(self, rules: RetentionRules, *, stopped: trio.Event | None = None) -> Aged:
        """Let go of what is old. What was done is done, also if it ends early, as it does once ``stopped`` is set.

        Raises:
          StorageError: it cannot be read or written, or there is no room to rewrite the file.
        """
        async with self._turn:
            stopped = trio.Event() if stopped is None else stopped
            aged = await self._with_file(await self._let_go(rules, stopped))
            if stopped.is_set():
                return attrs.evolve(aged, is_rewritten=False)
            if aged.events.count or aged.replaced.count:
                await self._storage.erase_forgotten()
            if aged.is_rewritten:
                await self._storage.give_back_space()
            log.info(
                "retention.applied",
                events=aged.events.count,
                memories=aged.memories.count,
                replaced=aged.replaced.count,
                is_rewritten=aged.is_rewritten,
            )
            return aged

    async def _let_go(self, rules: RetentionRules, stopped: trio.Event) -> Aged:
        now = self._clock.utc_now()
        aged = Aged(rules=rules)
        for namespace in await self._namespaces():
            aged = attrs.evolve(
                aged,
                events=aged.events + await self._expire(namespace, rules, now, stopped),
                memories=aged.memories + await self._distill(namespace, rules, now, stopped),
                replaced=aged.replaced + await self._delete_replaced(namespace, rules, now, stopped),
            )
        return aged

    async def _namespaces(self) -> list[Namespace]:
        return [project.namespace for project in await self._storage.list_projects()]

    async def _with_file(self, aged: Aged) -> Aged:
        size, least = await self._storage.get_file_size(), self.config.rewrite_bytes
        is_worth_it = 0 < least <= size.free_bytes and size.free_bytes >= LEAST_FREE_SHARE * size.bytes
        return attrs.evolve(aged, file_bytes=size.bytes, free_bytes=size.free_bytes, is_rewritten=is_worth_it)

    async def _expire(self, namespace: Namespace, rules: RetentionRules, now: datetime, stopped: trio.Event) -> Amount:
        gone = NOTHING
        is_more = bool(rules.event_days)
        while is_more and not stopped.is_set():
            event_ids = await self._storage.list_expirable(_event_age(namespace, rules, now), limit=LISTED)
            before = gone
            for start in range(0, len(event_ids), EXPIRED_AT_ONCE):
                some = event_ids[start : start + EXPIRED_AT_ONCE]
                gone += NOTHING if stopped.is_set() else await self._writer.write(partial(_expired, namespace, some))
            is_more = len(event_ids) == LISTED and gone != before
        return gone

    async def _savable(self, namespace: Namespace, rules: RetentionRules, now: datetime) -> Amount:
        gone = NOTHING
        page = await self._distillable(namespace, rules, now, after=None)
        while page:
            gone += _saved(page, await self._shortened(page))
            page = await self._distillable(namespace, rules, now, after=page[-1])
        return gone

    async def _distill(self, namespace: Namespace, rules: RetentionRules, now: datetime, stopped: trio.Event) -> Amount:
        gone = NOTHING
        page = await self._distillable(namespace, rules, now, after=None)
        while page and not stopped.is_set():
            short = await self._shortened(page)
            done = await self._writer.write(partial(self._put_short, now, page, short))
            gone += _saved([page[index] for index in done], [short[index] for index in done])
            page = await self._distillable(namespace, rules, now, after=page[-1])
        return gone

    async def _distillable(
        self, namespace: Namespace, rules: RetentionRules, now: datetime, *, after: MemoryRecord | None
    ) -> list[MemoryRecord]:
        """Some that come after ``after``; none if none is to be distilled."""
        if not rules.distill_days:
            return []
        age = RecordAge(
            namespace=namespace,
            before=_days_before(now, rules.distill_days),
            notable_before=_days_before(now, max(rules.distill_days, NOTABLE_DAYS)),
        )
        place = None if after is None else (after.created_at, after.record_id)
        return await self._storage.list_distillable(age, after=place, limit=DISTILLED_AT_ONCE)

    async def _shortened(self, records: Sequence[MemoryRecord]) -> list[MemoryRecord | None]:
        """For each its short one; None: it stays as it is."""
        ids = [RecordId(RECORD_PREFIX + self._clock.new_ulid()) for _ in records]
        return await self._offload(lambda: [distilled(*each) for each in zip(records, ids, strict=True)])

    def _put_short(
        self,
        now: datetime,
        records: Sequence[MemoryRecord],
        short: Sequence[MemoryRecord | None],
        transaction: StorageTransaction,
    ) -> list[int]:
        """Answers the places of those that were replaced; one that went meanwhile is left out."""
        transaction.mark_distilled([record.record_id for record in records])
        done: list[int] = []
        for index, (record, new) in enumerate(zip(records, short, strict=True)):
            if new is None:
                continue
            replacement = Replacement(
                replacement_id=self._clock.new_ulid(),
                namespace=record.namespace,
                reason=ReplacementReason.MERGED,
                replaced_at=now,
                replacing=(new.record_id,),
                replaced=(record,),
            )
            with contextlib.suppress(UnknownRecord):
                transaction.attempt(partial(_replaced_by_short, replacement, new))
                done.append(index)
        return done

    async def _delete_replaced(
        self, namespace: Namespace, rules: RetentionRules, now: datetime, stopped: trio.Event
    ) -> Amount:
        if not rules.replaced_days or stopped.is_set():
            return NOTHING
        before = _days_before(now, rules.replaced_days)
        return await self._writer.write(lambda transaction: transaction.delete_replaced(namespace, before=before))


def _expired(namespace: Namespace, event_ids: Sequence[EventId], transaction: StorageTransaction) -> Amount:
    return transaction.expire_events(namespace, event_ids)


def _replaced_by_short(replacement: Replacement, new: MemoryRecord, transaction: StorageTransaction) -> None:
    transaction.put_memory_record(new)
    transaction.mark_distilled([new.record_id])
    transaction.replace_memory_records(replacement)


def _saved(records: Sequence[MemoryRecord], short: Sequence[MemoryRecord | None]) -> Amount:
    pairs = [(record, new) for record, new in zip(records, short, strict=True) if new is not None]
    return Amount(len(pairs), sum(text_bytes(record) - text_bytes(new) for record, new in pairs))


def _event_age(namespace: Namespace, rules: RetentionRules, now: datetime) -> EventAge:
    return EventAge(
        namespace=namespace,
        before=_days_before(now, rules.event_days),
        important_before=_days_before(now, max(rules.event_days, IMPORTANT_EVENT_DAYS)),
    )


def _days_before(now: datetime, days: int) -> datetime:
    return now - timedelta(days=days)
