"""The copies of the store, for the command line: a daemon may run beside it, or not. Every method blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import attrs

from kiro_learn.errors import UnknownCopy
from kiro_learn.model.backup import BackupCopy, CopyContents, CopyKind
from kiro_learn.ports.backups import BackupFolder


@attrs.frozen
class ListedCopy:
    """A copy, and what it holds."""

    copy: BackupCopy
    contents: CopyContents


class Copies:
    """Makes, lists and checks them."""

    def __init__(self, folder: BackupFolder, utc_now: Callable[[], datetime]) -> None:
        self._folder = folder
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
          UnknownCopy: one has no such name.
          StorageError: the folder cannot be read.
        """
        chosen = [self.named(name) for name in names] or self._folder.copies()
        return tuple(ListedCopy(copy, self._folder.look_into(copy)) for copy in chosen)

    def named(self, name: str) -> BackupCopy:
        """The copy of this name, as ``listed`` has it, or of this path.

        Raises:
          UnknownCopy: there is none.
        """
        copies = self._folder.copies()
        found = next((copy for copy in copies if name in {copy.name, str(copy.path), copy.path.parent.name}), None)
        if found is None:
            raise UnknownCopy(name)
        return found
