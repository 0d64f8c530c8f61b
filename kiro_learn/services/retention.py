"""Deletes what is old, by rules and once a day: contents of events, long texts of memories, replaced memories.

An event keeps its contents until its session has a memory that cites it or a later event, and while it waits to be
learned.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

import attrs
import structlog
import trio

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retention import MOST_REWRITTEN_BYTES, Amount, FileSize, RetentionRules
from kiro_learn.pipelines.learn.compaction import Distiller
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import OtherDaemons, StorageBackend, StorageTransaction
from kiro_learn.ports.storage.retention import EventAge, RecordAge
from kiro_learn.runtime.supervisor import PeriodicJob

log = structlog.get_logger()

IMPORTANT_EVENT_DAYS = 30
"""The least days for contents of events, if an important memory cites an event of their session."""
NOTABLE_DAYS = 90
"""The least days before notable memories are shortened."""
LISTED = 20_000
"""Events that are searched for at a time: each search reads all events that memories cite."""
EXPIRED_AT_ONCE = 500
DISTILLED_AT_ONCE = 50
DELETED_AT_ONCE = 200
"""Replacements whose old records one commit deletes, in some tens of milliseconds, for which other writes wait."""
NOTHING = Amount()
LEAST_FREE_SHARE = 0.25
"""The least share of free space in the file with which the file is rewritten."""


@attrs.frozen(kw_only=True)
class Aged:
    """The amounts that the rules would delete or shorten, or did."""

    rules: RetentionRules
    events: Amount = NOTHING
    """Events that lose their contents, and the bytes of these contents."""
    memories: Amount = NOTHING
    """Memories that become shorter, and the bytes that their texts lose."""
    replaced: Amount = NOTHING
    """Replaced memories that are deleted, and the bytes of their texts."""
    file_bytes: int = 0
    free_bytes: int = 0
    """Bytes of the file that are allocated and not used."""
    is_rewritten: bool = False
    """Whether the file is rewritten without its free space; in a preview, as far as that can be known."""


@attrs.frozen(eq=False, kw_only=True)
class Retention:
    """Carries out the rules, one request at a time; each step is a commit of its own, so it may end anywhere."""

    _storage: StorageBackend
    _writer: StorageActor
    _clock: ClockAndIds
    rules: RetentionRules
    _distiller: Distiller
    _rewrite_bytes: int
    """The least free space with which the file is rewritten, if it is also a quarter of the file; 0: never."""
    _turn: trio.Lock = attrs.field(factory=trio.Lock, init=False)

    async def preview(self, rules: RetentionRules) -> Aged:
        """What ``apply`` would do now; nothing is changed.

        Raises:
          StorageError: the store cannot be read.
        """
        events = memories = replaced = NOTHING
        now = self._clock.utc_now()
        for namespace in await self._namespaces():
            if rules.event_days:
                events += await self._storage.count_expirable(_event_age(namespace, rules, now))
            memories += await self._distill(namespace, rules, now, self._distiller.preview)
            if rules.replaced_days:
                before = _days_before(now, rules.replaced_days)
                replaced += await self._storage.count_replaced(namespace, before=before)
        aged = Aged(rules=rules, events=events, memories=memories, replaced=replaced)
        # The text that a memory loses does not become free: the replaced memory keeps it.
        return await self._with_file(aged, leaving=events.bytes + replaced.bytes)

    async def apply(self, rules: RetentionRules) -> Aged:
        """Delete and shorten what is old.

        Cancellation: finished steps stay; the remains of their text in the file are overwritten the next time.

        Raises:
          StorageError: the store cannot be read or written, or there is no room to rewrite the file.
        """
        async with self._turn:
            aged = await self._with_file(await self._let_go(rules))
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

    async def _let_go(self, rules: RetentionRules) -> Aged:
        now = self._clock.utc_now()
        aged = Aged(rules=rules)
        for namespace in await self._namespaces():
            aged = attrs.evolve(
                aged,
                events=aged.events + await self._expire(namespace, rules, now),
                memories=aged.memories + await self._distill(namespace, rules, now, self._distiller.distill),
                replaced=aged.replaced + await self._delete_replaced(namespace, rules, now),
            )
        return aged

    async def _namespaces(self) -> list[Namespace]:
        return [project.namespace for project in await self._storage.list_projects()]

    async def _with_file(self, aged: Aged, *, leaving: int = 0) -> Aged:
        """``aged`` with the file's sizes; ``leaving``: bytes that are still used, but will be free."""
        size = await self._storage.get_file_size()
        is_rewritten = self._is_to_rewrite(FileSize(size.bytes, min(size.bytes, size.free_bytes + leaving)))
        return attrs.evolve(aged, file_bytes=size.bytes, free_bytes=size.free_bytes, is_rewritten=is_rewritten)

    def _is_to_rewrite(self, size: FileSize) -> bool:
        least = self._rewrite_bytes
        is_worth_it = 0 < least <= size.free_bytes and size.free_bytes >= LEAST_FREE_SHARE * size.bytes
        return is_worth_it and size.content_bytes <= MOST_REWRITTEN_BYTES

    async def _expire(self, namespace: Namespace, rules: RetentionRules, now: datetime) -> Amount:
        gone = NOTHING
        is_more = bool(rules.event_days)
        while is_more:
            event_ids = await self._storage.list_expirable(_event_age(namespace, rules, now), limit=LISTED)
            before = gone
            for start in range(0, len(event_ids), EXPIRED_AT_ONCE):
                some = event_ids[start : start + EXPIRED_AT_ONCE]
                gone += await self._writer.write(partial(_expired, namespace, some))
            is_more = len(event_ids) == LISTED and gone != before
        return gone

    async def _distill(
        self,
        namespace: Namespace,
        rules: RetentionRules,
        now: datetime,
        work: Callable[[Sequence[MemoryRecord]], Awaitable[Amount]],
    ) -> Amount:
        """The sum of ``work`` over all memories that are to be shortened, some at a time."""
        gone = NOTHING
        page = await self._distillable(namespace, rules, now, after=None)
        while page:
            gone += await work(page)
            page = await self._distillable(namespace, rules, now, after=page[-1])
        return gone

    async def _distillable(
        self, namespace: Namespace, rules: RetentionRules, now: datetime, *, after: MemoryRecord | None
    ) -> list[MemoryRecord]:
        """The next memories to shorten, after ``after``; empty at the end."""
        if not rules.distill_days:
            return []
        age = RecordAge(
            namespace=namespace,
            before=_days_before(now, rules.distill_days),
            notable_before=_days_before(now, max(rules.distill_days, NOTABLE_DAYS)),
        )
        place = None if after is None else (after.created_at, after.record_id)
        return await self._storage.list_distillable(age, after=place, limit=DISTILLED_AT_ONCE)

    async def _delete_replaced(self, namespace: Namespace, rules: RetentionRules, now: datetime) -> Amount:
        if not rules.replaced_days:
            return NOTHING
        before, gone, is_more = _days_before(now, rules.replaced_days), NOTHING, True
        while is_more:
            some = await self._writer.write(
                lambda transaction: transaction.delete_replaced(namespace, before=before, limit=DELETED_AT_ONCE)
            )
            gone, is_more = gone + some, bool(some.count)
        return gone


def _expired(namespace: Namespace, event_ids: Sequence[EventId], transaction: StorageTransaction) -> Amount:
    return transaction.expire_events(namespace, event_ids)


def _event_age(namespace: Namespace, rules: RetentionRules, now: datetime) -> EventAge:
    return EventAge(
        namespace=namespace,
        before=_days_before(now, rules.event_days),
        important_before=_days_before(now, max(rules.event_days, IMPORTANT_EVENT_DAYS)),
    )


def _days_before(now: datetime, days: int) -> datetime:
    return now - timedelta(days=days)


FIRST_AFTER_SECONDS = 1_800.0
"""The pause after the start; it is short, so that a daemon that runs for only an hour a day does it too."""

INTERVAL_SECONDS = 24 * 3600.0


def daily_retention(retention: Retention, others: OtherDaemons) -> PeriodicJob:
    """Applies the rules of the settings, which by default delete nothing; a file with free space is still rewritten.

    If several daemons use one database, one does it at a time; the next one finds nothing left to do.
    """

    async def apply() -> None:
        async with others.turn("retention") as is_ours:
            if is_ours:
                await retention.apply(retention.rules)

    return PeriodicJob("retention", apply, first_after_seconds=FIRST_AFTER_SECONDS, interval_seconds=INTERVAL_SECONDS)
