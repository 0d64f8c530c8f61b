"""The ports to the copies of the store, and to what may take its place.

Every method blocks, and belongs off the event loop.
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
        """All of them, of every kind, newest first.

        Raises:
          StorageError: the folder cannot be read.
        """

    def absence(self) -> str:
        """Why the folder is not the one in which copies were made before, as where its disk is not mounted, and what
        to do; empty if it is, or is new. While it is another one, ``copies`` lists what lies in the home alone.
        """

    def take(self, kind: CopyKind, now: datetime, *, interrupted: Callable[[], bool]) -> BackupCopy:
        """Copy the store as it is now, with all that was acknowledged before, whether or not it is written meanwhile;
        check the copy, and let older ones go that are superfluous then.

        A copy that is interrupted, fails, or is not sound leaves nothing behind, and costs no older one.

        Args:
          interrupted: asked all the time; True ends it.

        Raises:
          StorageCorrupt: the store, and so the copy, is damaged.
          StorageBusy: another copy is being made.
          StorageError: there is no room, or the folder cannot be used, or is not the one of before.
        """

    def look_into(self, copy: BackupCopy) -> CopyContents:
        """Check the whole of a copy, and count what it holds. It is not changed."""

    def count(self, copy: BackupCopy) -> CopyContents:
        """The same without the check: only whether it can be opened."""

    def remove(self, copy: BackupCopy) -> None:
        """Delete a copy; one that is gone already is no error.

        Raises:
          StorageError: the system refused.
        """

    def change(self, copy: BackupCopy, work: Work[T]) -> T:
        """Run ``work`` in a copy, and overwrite in it what the work has forgotten, so that no byte of that is left.

        A kill leaves it as it was, or changed. Its age stays.

        Raises:
          StorageError: it is of an earlier schema, damaged, or cannot be written: then it can only be removed.
          KiroLearnError: what ``work`` raised; nothing was changed.
        """


class StoreReplacement(Protocol):
    """Puts another file in the place of the store. No process may use the store meanwhile.

    What is replaced is kept among the copies, in a folder that is answered; None if nothing was there. A kill leaves
    the old store or the new one. Every method but ``newer_than`` raises AlreadyRunning where a daemon runs, and
    StorageError where the disk is full or the system refuses; then the old one stays.
    """

    def newer_than(self, copy: BackupCopy) -> NewerThanCopy:
        """What would be lost if the copy took the store's place. A daemon may run."""

    def put(self, copy: BackupCopy) -> Path | None:
        """Let the copy, which stays, take the store's place.

        Raises:
          StorageCorrupt: the copy is damaged; nothing was changed.
        """

    def salvage(self, copy: BackupCopy | None) -> tuple[Salvaged, Path | None]:
        """Let all that can be read of the store, page by page, take its place. What can only be named of it is taken
        from ``copy``, which is sound.

        Raises:
          StorageCorrupt: nothing can be read; nothing was changed.
        """
