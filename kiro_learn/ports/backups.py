"""The ports to the copies of the store, and to replacing the store.

Every method blocks, so it must be called off the event loop.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeVar

from kiro_learn.model.backup import BackupCopy, CopyContents, CopyKind, NewerThanCopy, Salvaged
from kiro_learn.ports.storage.interface import Work

T = TypeVar("T")


class BackupFolder(Protocol):
    """Where copies of the store lie."""

    def copies(self) -> tuple[BackupCopy, ...]:
        """All copies, of every kind, newest first. Those dated later than now, by a clock that ran ahead, are last.

        Raises:
          StorageError: the folder cannot be read.
        """

    def absence(self) -> str:
        """Why this is not the folder in which copies were made before, and what to do; empty if it is, or is new.

        An example is a disk that is not mounted. While there is a reason, ``copies`` lists only the copies in the home.
        """

    def take(self, kind: CopyKind, now: datetime, *, interrupted: Callable[[], bool]) -> BackupCopy:
        """Copy the store with every write acknowledged so far, check the copy, and delete older copies that are now too
        many. Writes may go on meanwhile.

        A copy that is interrupted, fails or is not sound is removed, and no older copy is deleted.

        Args:
          interrupted: called again and again; True ends the copying.

        Raises:
          StorageCorrupt: the store, and so the copy, is damaged.
          StorageBusy: another copy is being made.
          StorageError: there is no room, or the folder cannot be used, or is not the one used before.
        """

    def look_into(self, copy: BackupCopy) -> CopyContents:
        """Check the whole copy, and count its contents. The copy is not changed."""

    def count(self, copy: BackupCopy) -> CopyContents:
        """Count the copy's contents without the check: it is only opened."""

    def remove(self, copy: BackupCopy) -> None:
        """Delete a copy; one that is gone already is no error.

        Raises:
          StorageError: the system refused.
        """

    def change(self, copy: BackupCopy, work: Work[T]) -> T:
        """Run ``work`` in a copy, and overwrite the data that it forgot, so that no byte of them is left.

        If the process is killed, the copy is either unchanged or wholly changed. Its age stays.

        Raises:
          StorageError: the copy has an earlier schema, is damaged or cannot be written: it can only be removed.
          KiroLearnError: what ``work`` raised; nothing was changed.
        """


class StoreReplacement(Protocol):
    """Puts another file in the place of the store. No process may use the store meanwhile.

    The replaced file is kept among the copies, in the folder that is returned; None if there was no file. If the
    process is killed, the old store or the new one is there. Every method but ``newer_than`` raises AlreadyRunning if a
    daemon runs, and StorageError if the disk is full or the system refuses; then the old store stays.
    """

    def newer_than(self, copy: BackupCopy) -> NewerThanCopy:
        """What would be lost if the copy took the store's place. A daemon may run."""

    def put(self, copy: BackupCopy) -> Path | None:
        """Put the copy in the place of the store; the copy stays too.

        Raises:
          StorageCorrupt: the copy is damaged; nothing was changed.
        """

    def salvage(self, copy: BackupCopy | None) -> tuple[Salvaged, Path | None]:
        """Replace the store with all that can be read of it, page by page. Events and memories of which only the ids
        can be read are taken from ``copy``, which is sound.

        Raises:
          StorageCorrupt: nothing can be read; nothing was changed.
        """
