"""Which record replaced which."""

from __future__ import annotations

from typing import Protocol

from kiro_learn.model.history import Replacement
from kiro_learn.model.ids import RecordId


class HistoryReads(Protocol):
    """Reads of replacements."""

    async def list_replacements(self, record_id: RecordId) -> tuple[Replacement, ...]:
        """The replacements that led to a record: the one that brought it, then those that brought what it replaced,
        and so on; the last that was made first. Empty if it replaced nothing, or is not there; one that was replaced
        has a history of its own.
        """
        ...


class HistoryWrites(Protocol):
    """Replacing records, and undoing a replacement."""

    def replace_memory_records(self, replacement: Replacement) -> None:
        """Take ``replacement.replaced`` out of all that search, lists, counts and vectors see, and keep them.

        Of ``replaced`` only the ids count: what is kept is what is stored, vector and all. ``replacing`` were put just
        before, in the same work: undoing it forgets them.

        Raises:
          UnknownRecord: one of ``replaced`` or ``replacing`` is not there (any more), or of another project.
          InvalidRequest: the replacement's id is known; or one of ``replacing`` is among ``replaced``, or came with
            another replacement.
        """
        ...

    def undo_replacement(self, record_id: RecordId) -> Replacement:
        """Undo the replacement that brought ``record_id``: new records are deleted, replaced ones restored, except one
        whose words were forgotten with one of its events.

        Raises:
          UnknownRecord: there is no such record.
          NothingToUndo: it replaced nothing.
          ReplacedSince: a record that came with it was replaced itself; its ``replaced_by`` can be undone, and is to be
            first.
        """
        ...
