"""The copies of the store, for the command line: a daemon may run beside it, or not. Every method blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import attrs

from kiro_learn.errors import NoCopy
from kiro_learn.model.backup import RESTORABLE, BackupCopy, CopyContents, CopyKind, NewerThanCopy
from kiro_learn.ports.backups import BackupFolder, StoreReplacement


@attrs.frozen
class ListedCopy:
    """A copy, and what it holds."""

    copy: BackupCopy
    contents: CopyContents


@attrs.frozen
class Restoration:
    """What restoring would do."""

    found: ListedCopy
    """What takes the store's place; it is sound."""
    newer: NewerThanCopy
    """What would be lost."""


class Copies:
    """Makes, lists and checks them, and puts one in the place of the store."""

    def __init__(self, folder: BackupFolder, replacement: StoreReplacement, utc_now: Callable[[], datetime]) -> None:
        self._folder = folder
        self._replacement = replacement
        self._utc_now = utc_now

    def listed(self) -> tuple[ListedCopy, ...]:
        """All, newest first, counted but not checked.

        Raises:
          StorageError: the folder cannot be read.
        """
        return tuple(ListedCopy(copy, self._folder.count(copy)) for copy in self._folder.copies())

    def take(self) -> ListedCopy:
        """Make one now, and check it.

        Raises:
          StorageError: it could not be made, or is not sound; nothing is left of it.
        """
        copy = self._folder.take(CopyKind.ASKED, self._utc_now(), interrupted=lambda: False)
        return ListedCopy(copy, self._folder.count(copy))

    def verify(self, names: Sequence[str] = ()) -> tuple[ListedCopy, ...]:
        """Check all, or those of these names.

        Raises:
          NoCopy: one has no such name.
          StorageError: the folder cannot be read.
        """
        chosen = [self.named(name) for name in names] or self._folder.copies()
        return tuple(ListedCopy(copy, self._folder.look_into(copy)) for copy in chosen)

    def named(self, name: str) -> BackupCopy:
        """The copy of this name, as ``listed`` has it, or of this path.

        Raises:
          NoCopy: there is none.
        """
        copies = self._folder.copies()
        found = next((copy for copy in copies if name in {copy.name, str(copy.path), copy.path.parent.name}), None)
        if found is None:
            raise NoCopy(f"there is no copy {name}")
        return found

    def plan(self, name: str = "") -> Restoration:
        """What restoring the copy of this name, or the newest that is sound, would do; nothing is changed.

        Raises:
          NoCopy: there is none of this name, it is not sound, or there is none that is.
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
        """Carry it out, while no daemon runs; where what it replaced is, None if nothing was there.

        Raises:
          AlreadyRunning: a daemon runs.
          StorageError: it could not be done; the store is as it was.
        """
        return self._replacement.put(plan.found.copy)
