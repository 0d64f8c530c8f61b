"""Forgets what a selection finds: memories, events, items of the graph, and whatever is left of them in the store.

What is to go is written down first, in one commit. It is then removed in small commits, between which prompts are
answered and events are taken in. A daemon that is killed in between goes on where it was when it starts again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import attrs
import structlog
import trio

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import StorageCorrupt, StorageError, UnknownRecord
from kiro_learn.model.backup import BackupCopy, CopyKind
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retention import Erased, Foreseen, Selected, Selection
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.runtime.supervisor import PeriodicJob
from kiro_learn.services.copies import Backups
from kiro_learn.services.memories import Forget

log = structlog.get_logger()

SHOWN = 20
"""Memories that are shown before they go, and others that hold the same words."""
REMOVED_AT_ONCE = 200
"""Some tens of milliseconds, for which other writes wait."""
PASSES = 2
"""A memory may be learned between looking and writing down; the second pass finds it, and after that none can come."""
NOTHING_MORE = Selection()
AGAIN_AFTER_SECONDS = 24 * 3600.0


@attrs.frozen(eq=False)
class Forgetting:
    """Carries out selections, one at a time."""

    _storage: StorageBackend
    _writer: StorageActor
    _forget: Forget
    _collect: Callable[[], Awaitable[object]]
    """Takes in what hooks have put aside, so that it is found too."""
    _backups: Backups
    _turn: trio.Lock = attrs.field(factory=trio.Lock, init=False)

    async def preview(self, selection: Selection) -> Foreseen:
        """What ``forget`` would remove now.

        Raises:
          UnknownRecord: a memory that is named is not there.
          StorageError: the store cannot be read.
        """
        found = await self._found(selection)
        live = found.record_ids[: found.memories]
        shown = await self._storage.get_memory_records(live[:SHOWN])
        return Foreseen(
            events=len(found.event_ids),
            sessions=found.sessions,
            memories=found.memories,
            replaced=len(found.record_ids) - found.memories,
            graph_items=found.graph_items,
            shown=tuple(shown),
            same_words=() if selection.is_whole else await self._same_words(shown, found),
        )

    async def forget(self, selection: Selection, *, deletes_copies: bool = False) -> Erased:
        """Remove it, from the store and its copies.

        Args:
          deletes_copies: copies that cannot be changed are deleted; else they are named.

        Cancellation: what was written down is removed all the same, by ``finish``.

        Raises:
          UnknownRecord: a memory that is named is not there; nothing was removed.
          StorageError: the store cannot be read or written; what was written down is removed later.
        """
        async with self._turn:
            whole = selection.namespace if selection.is_whole else None
            first = found = await self._found(selection)
            for _ in range(PASSES):
                await self._writer.write(lambda transaction, found=found: transaction.doom(found, whole=whole))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
                await self._remove()
                found = await self._storage.select(selection)
                if found.is_nothing:
                    break
            is_overwritten = await self._erase()
            copies, damaged = await self._forget_in_copies(selection, deletes=deletes_copies)
        log.info("forgetting.done", events=len(first.event_ids), memories=first.memories, whole=selection.is_whole)
        return Erased(
            events=len(first.event_ids),
            sessions=first.sessions,
            memories=first.memories,
            graph_items=first.graph_items,
            is_overwritten=is_overwritten,
            copies=copies,
            damaged_copies=damaged,
        )

    async def finish(self) -> None:
        """Remove what an earlier daemon has written down and not removed. Raises StorageError."""
        async with self._turn:
            if await self._storage.has_doomed():
                await self._remove()
                log.info("forgetting.finished", is_overwritten=await self._erase())
                await self._forget_in_copies(NOTHING_MORE, deletes=False)

    async def _found(self, selection: Selection) -> Selected:
        await self._collect()
        found = await self._storage.select(selection)
        unknown = [each for each in selection.record_ids if each not in set(found.record_ids)]
        if unknown:
            raise UnknownRecord(unknown[0])
        return found

    async def _same_words(self, shown: Sequence[MemoryRecord], found: Selected) -> tuple[MemoryRecord, ...]:
        gone = set(found.record_ids)
        held: dict[RecordId, MemoryRecord] = {}
        for record in shown:
            for other in await self._forget.same_words(record.record_id):
                if other.record_id not in gone:
                    held[other.record_id] = other
        return tuple(held.values())[:SHOWN]

    async def _remove(self) -> None:
        while await self._writer.write(lambda transaction: transaction.forget_doomed(limit=REMOVED_AT_ONCE)):
            pass

    async def _forget_in_copies(self, selection: Selection, *, deletes: bool) -> tuple[tuple[BackupCopy, ...], int]:
        """The copies that have it still, of an earlier version or out of reach; and how many are damaged."""
        forgotten = await self._storage.list_forgotten()
        left: list[BackupCopy] = []
        damaged = 0
        done: set[Path] = set()
        # The second look finds a copy that was being made at the first one.
        while copies := [each for each in await self._backups.copies() if each.path not in done]:
            copy = copies[0]
            done.add(copy.path)
            try:
                await self._backups.change(copy, lambda transaction: transaction.forget_again(forgotten, selection))
            except StorageError as error:
                log.warning("forgetting.copy_not_changed", copy=copy.name, error=type(error).__name__)
                if deletes:
                    await self._backups.remove(copy)
                elif copy.kind is CopyKind.DAMAGED or isinstance(error, StorageCorrupt):
                    damaged += 1
                else:
                    left.append(copy)
        await self._writer.write(lambda transaction: transaction.copies_done())
        return tuple(left), damaged

    async def _erase(self) -> bool:
        is_overwritten = await self._storage.erase_forgotten()
        if is_overwritten:
            await self._writer.write(lambda transaction: transaction.forgetting_done())
        return is_overwritten


def unfinished_forgetting(forgetting: Forgetting) -> PeriodicJob:
    """Ends what the daemon before could not end; and once a day what could not be overwritten."""
    return PeriodicJob("forgetting", forgetting.finish, first_after_seconds=0.0, interval_seconds=AGAIN_AFTER_SECONDS)
