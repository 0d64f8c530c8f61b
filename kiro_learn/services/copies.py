"""The copies of the store: the daemon makes one a day, and the command line lists, makes, checks and restores them.

The methods for the command line block. They work whether a daemon runs or not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

import attrs
import structlog
import trio

from kiro_learn.errors import KiroLearnError, NoCopy
from kiro_learn.model.backup import RESTORABLE, BackupCopy, CopyContents, CopyKind, NewerThanCopy
from kiro_learn.ports.backups import BackupFolder, StoreReplacement
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import Work
from kiro_learn.runtime.admission import Offload
from kiro_learn.runtime.supervisor import PeriodicJob


@attrs.frozen
class ListedCopy:
    """A copy, and what it holds."""

    copy: BackupCopy
    contents: CopyContents


@attrs.frozen
class Restoration:
    """What a restore would do."""

    found: ListedCopy
    """The copy that takes the store's place; it is sound."""
    newer: NewerThanCopy
    """What the store has and the copy lacks, and would be lost."""


class Copies:
    """Makes, lists and checks copies, and puts one in the place of the store."""

    def __init__(self, folder: BackupFolder, replacement: StoreReplacement, utc_now: Callable[[], datetime]) -> None:
        self._folder = folder
        self._replacement = replacement
        self._utc_now = utc_now

    def listed(self) -> tuple[ListedCopy, ...]:
        """All copies, newest first, counted but not checked.

        Raises:
          StorageError: the folder cannot be read.
        """
        return tuple(ListedCopy(copy, self._folder.count(copy)) for copy in self._folder.copies())

    def take(self) -> ListedCopy:
        """Make a copy now, and check it.

        Raises:
          StorageError: the copy could not be made, or is not sound; nothing is left of it.
        """
        copy = self._folder.take(CopyKind.ASKED, self._utc_now(), interrupted=lambda: False)
        return ListedCopy(copy, self._folder.count(copy))

    def verify(self, names: Sequence[str] = ()) -> tuple[ListedCopy, ...]:
        """Check all copies, or those with these names.

        Raises:
          NoCopy: there is no copy with one of the names.
          StorageError: the folder cannot be read.
        """
        chosen = [self.named(name) for name in names] or self._folder.copies()
        return tuple(ListedCopy(copy, self._folder.look_into(copy)) for copy in chosen)

    def named(self, name: str) -> BackupCopy:
        """The copy with this name, as ``listed`` has it, or with this path.

        Raises:
          NoCopy: there is no such copy.
        """
        copies = self._folder.copies()
        found = next((copy for copy in copies if name in {copy.name, str(copy.path), copy.path.parent.name}), None)
        if found is None:
            raise NoCopy(f"there is no copy {name}")
        return found

    def plan(self, name: str = "") -> Restoration:
        """What a restore of the copy with this name, or of the newest sound one, would do; nothing is changed.

        Raises:
          NoCopy: no copy has this name, the copy is not sound, or no copy is.
          StorageError: the folder cannot be read.
        """
        chosen = [self.named(name)] if name else [each for each in self._folder.copies() if each.kind in RESTORABLE]
        found = [ListedCopy(copy, self._folder.look_into(copy)) for copy in chosen[:1]]
        while found and found[-1].contents.problem and len(found) < len(chosen):
            copy = chosen[len(found)]
            found.append(ListedCopy(copy, self._folder.look_into(copy)))
        if not found or found[-1].contents.problem:
            problems = "; ".join(f"{each.copy.name}: {each.contents.problem}" for each in found)
            raise NoCopy(f"no copy can be used: {problems}" if found else "there is no copy")
        return Restoration(found[-1], self._replacement.newer_than(found[-1].copy))

    def restore(self, plan: Restoration) -> Path | None:
        """Carry out ``plan``, while no daemon runs; returns where the old store is now, None if there was none.

        Raises:
          AlreadyRunning: a daemon runs.
          StorageError: the copy could not be put there; the store is as it was.
        """
        return self._replacement.put(plan.found.copy)


log = structlog.get_logger()

T = TypeVar("T")

FIRST_AFTER_SECONDS = 120.0
"""The pause after the start; it is short, so that a daemon that runs for only an hour a day makes a copy too."""
INTERVAL_SECONDS = 1_800.0
"""The pause between two checks whether a copy is due."""
DUE_AFTER = timedelta(hours=24)
LOOK_SECONDS = 0.25
"""The longest time that a status waits for the folder, which may lie on a slow disk."""


@attrs.frozen(kw_only=True)
class BackupStatus:
    """How old the newest copy is, and how many there are."""

    enabled: bool
    newest_at: datetime | None
    """When the newest sound copy was made, by the daemon or by hand; None if there is none."""
    copy_count: int
    bytes: int
    """The size of all copies together, with damaged stores that were put aside."""
    problem: str
    """Why the last attempt failed, or the next one will; empty if all is well."""


class Backups:
    """The copies of the store, for the daemon. One request at a time."""

    def __init__(self, folder: BackupFolder, clock: ClockAndIds, *, enabled: bool, offload: Offload) -> None:
        """``offload`` has no other user, so that a disk that does not answer delays only copies."""
        self._folder = folder
        self._clock = clock
        self._enabled = enabled
        self._offload = offload
        self._turn = trio.Lock()
        self._known: tuple[BackupCopy, ...] = ()
        self._problem = ""

    async def copies(self) -> tuple[BackupCopy, ...]:
        """All files with contents of the store, newest first, including those of upgrades and damaged ones put aside.

        Raises:
          StorageError: the folder cannot be read.
        """
        self._known = await self._offload(self._folder.copies)
        return self._known

    async def take_if_due(self) -> None:
        """Make a copy, unless the newest daily one is younger than a day.

        Cancellation: nothing is left of a copy that is not finished.

        Raises:
          StorageError: the copy could not be made; ``status`` says why until one could.
        """
        if not self._enabled or not self._is_due(await self.copies()):
            return
        await self.take(CopyKind.DAILY)

    async def take(self, kind: CopyKind) -> BackupCopy:
        """Make a copy now; otherwise like ``take_if_due``."""
        ended = threading.Event()
        async with self._turn:
            try:
                take = partial(self._folder.take, kind, self._clock.utc_now(), interrupted=ended.is_set)
                copy = await self._offload(take)
            except KiroLearnError as error:
                self._problem = str(error)
                raise
            finally:
                ended.set()
        self._problem = ""
        log.info("backup.taken", kind=kind.value, size_bytes=copy.bytes)
        await self.copies()
        return copy

    async def remove(self, copy: BackupCopy) -> None:
        """Delete a copy for good.

        Raises:
          StorageError: the system refused.
        """
        async with self._turn:
            await self._offload(partial(self._folder.remove, copy))

    async def change(self, copy: BackupCopy, work: Work[T]) -> T:
        """Run ``work`` in a copy, and overwrite there what it forgot; the copy keeps its date.

        Raises:
          StorageError: the copy has an earlier schema, is damaged, or cannot be written: it can only be removed.
          KiroLearnError: the error of ``work``; nothing was changed.
        """
        async with self._turn:
            return await self._offload(partial(self._folder.change, copy, work))

    async def status(self) -> BackupStatus:
        """The state of the folder now, or, if it is too slow, when it answered last."""
        problem = self._problem
        with trio.move_on_after(LOOK_SECONDS):
            try:
                await self.copies()
            except KiroLearnError as error:
                problem = problem or str(error)
            problem = await self._offload(self._folder.absence) or problem
        newest = _newest_made(self._known)
        return BackupStatus(
            enabled=self._enabled,
            newest_at=newest,
            copy_count=len(self._known),
            bytes=sum(each.bytes for each in self._known),
            problem=problem,
        )

    def _is_due(self, copies: tuple[BackupCopy, ...]) -> bool:
        """Whether there is no daily copy of the last day; one dated in the future, by a wrong clock, does not count."""
        ages = (self._clock.utc_now() - each.made_at for each in copies if each.kind is CopyKind.DAILY)
        return not any(timedelta() <= age < DUE_AFTER for age in ages)


def daily_backup(backups: Backups) -> PeriodicJob:
    """Checks again and again whether a copy is due, so that a machine that sleeps at night has one too."""
    return PeriodicJob(
        "backup", backups.take_if_due, first_after_seconds=FIRST_AFTER_SECONDS, interval_seconds=INTERVAL_SECONDS
    )


def _newest_made(copies: tuple[BackupCopy, ...]) -> datetime | None:
    made = (CopyKind.DAILY, CopyKind.ASKED, CopyKind.UPGRADE)
    return next((each.made_at for each in copies if each.kind in made), None)
