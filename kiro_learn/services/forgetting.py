"""Forgets what a selection finds: memories, events, items of the graph, and all that the store keeps because of them.

What is to go is first written down, in one commit. It is then removed in small commits; between them, prompts are
answered and events stored. If the daemon is killed in between, the next one goes on where it was.
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
"""The most memories that are shown before they go, and the most others shown that hold the same words."""
REMOVED_AT_ONCE = 200
"""Items that one commit removes, in some tens of milliseconds, for which other writes wait."""
PASSES = 2
"""The passes of selecting and writing down: what is learned between both steps of the first, the second one finds."""
NOTHING_MORE = Selection()
AGAIN_AFTER_SECONDS = 24 * 3600.0


@attrs.frozen(eq=False)
class Forgetting:
    """Carries out selections, one at a time."""

    _storage: StorageBackend
    _writer: StorageActor
    _forget: Forget
    _collect: Callable[[], Awaitable[object]]
    """Takes in the events that hooks have kept for later, so that they are found too."""
    _backups: Backups
    _turn: trio.Lock = attrs.field(factory=trio.Lock, init=False)

    async def preview(self, selection: Selection) -> Foreseen:
        """What ``forget`` would remove now.

        Raises:
          UnknownRecord: a memory that the selection names does not exist.
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
        """Remove what ``selection`` finds, from the store and its copies.

        Args:
          deletes_copies: True: copies that cannot be changed are deleted; False: the result names them.

        Cancellation: what was written down is still removed, by ``finish``.

        Raises:
          UnknownRecord: a memory that the selection names does not exist; nothing was removed.
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
        """Remove what an earlier daemon wrote down and did not remove. Raises StorageError."""
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
        """The copies from which nothing could be removed, and how many others are damaged."""
        forgotten = await self._storage.list_forgotten()
        left: list[BackupCopy] = []
        damaged = 0
        done: set[Path] = set()
        # The loop looks again, to find a copy that was being made during the first look.
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
    """Ends at the start what the last daemon could not end, and tries daily to overwrite what could not be."""
    return PeriodicJob("forgetting", forgetting.finish, first_after_seconds=0.0, interval_seconds=AGAIN_AFTER_SECONDS)
