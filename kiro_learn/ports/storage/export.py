"""Export and restore: all that a store keeps, read from one state of it, and put into another store."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retrieval import Feedback, FeedbackCounts
from kiro_learn.model.stored import Restored, Stored


class StoreReading(Protocol):
    """One state of the store, read from beginning to end. Close it afterwards."""

    async def next_page(self) -> list[Stored]:
        """The next pieces, in the order of ``KINDS``; so many that they need little memory, and none at the end.

        Rows that cannot be read are left out.
        """

    @property
    def damaged_count(self) -> int:
        """How many rows were left out so far."""

    async def close(self) -> None:
        """Release the state that is read. Closing again does nothing."""


class ExportReads(Protocol):
    """Reads of the whole store."""

    async def open_reading(self, kinds: Collection[str]) -> StoreReading:
        """Read all that is kept of ``kinds`` right now; later writes are not seen."""


class RestoreWrites(Protocol):
    """Restoring the pieces that another store kept."""

    def restore(self, piece: Stored) -> Restored:
        """Keep ``piece`` unchanged, with its ids and times, unless its id is known.

        A restored memory has no vector, and waits for one.

        Raises:
          StorageError: it cannot be kept: it refers to something missing, or has the name of another piece.
        """


# Names that people give their projects, and merging one project into another.


class ProjectReads(Protocol):
    """Reads of merged projects."""

    async def list_merged(self) -> Mapping[Namespace, Namespace]:
        """For each merged project, the project that it is part of now."""

    async def list_project_names(self) -> Mapping[Namespace, str]:
        """The names that people gave to projects."""


class ProjectWrites(Protocol):
    """Naming and merging projects."""

    def note_folder(self, namespace: Namespace, folder: str) -> None:
        """Let lists show the project by this folder, which no event names; nothing changes if a folder is noted."""

    def rename_project(self, namespace: Namespace, name: str | None) -> None:
        """Let lists show the project by ``name``; None: by its folder.

        Raises:
          InvalidRequest: another project has this name.
        """

    def begin_merge(self, source: Namespace, target: Namespace) -> None:
        """From now on, keep whatever comes for ``source`` in ``target``, and let no learner commit to ``source``.

        If the target was merged itself, the project that it is part of now is used.

        Raises:
          InvalidRequest: they are one project already, or different models serve them.
        """

    def merge_some(self, source: Namespace, *, limit: int) -> int:
        """Move ``limit`` rows and all that belongs to them. Returns how many; 0: nothing is left in ``source``."""


# How often memories that were told proved useful or not, in numbers.


class FeedbackReads(Protocol):
    """Reading feedback on memories."""

    async def list_feedback(self, limit: int) -> dict[RecordId, FeedbackCounts]:
        """The feedback on live records that have any, the ``limit`` newest by id."""


class FeedbackWrites(Protocol):
    """Writing feedback on memories; it is deleted with its record."""

    def add_feedback(self, record_id: RecordId, feedback: Feedback) -> None:
        """Count one more feedback of this sort.

        Raises:
          UnknownRecord: there is no such record (any more).
        """
