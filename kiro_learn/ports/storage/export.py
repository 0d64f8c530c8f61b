"""All that a store keeps: read from one state of it, and put into another store."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retrieval import Feedback, FeedbackCounts
from kiro_learn.model.stored import Restored, Stored


class StoreReading(Protocol):
    """One state of the store, read from its beginning to its end. Close it in the end."""

    async def next_page(self) -> list[Stored]:
        """The next pieces, by the order of ``KINDS``; as many as are light to hold, and none at the end.

        Rows that cannot be read are left out.
        """

    @property
    def damaged_count(self) -> int:
        """How many were left out so far."""

    async def close(self) -> None:
        """Let go of that state. A second close does nothing."""


class ExportReads(Protocol):
    """Reads of all that is kept."""

    async def open_reading(self, kinds: Collection[str]) -> StoreReading:
        """Read what is kept of ``kinds`` right now, whatever is written meanwhile."""


class RestoreWrites(Protocol):
    """Taking back what another store kept."""

    def restore(self, piece: Stored) -> Restored:
        """Keep ``piece`` as it was, with its ids and times, unless its id is known.

        A memory has no vector then, and waits for one.

        Raises:
          StorageError: it cannot be kept, because of what it refers to, or of a name that another piece has.
        """


# Names that people give their projects, and merging one project into another.


class ProjectReads(Protocol):
    """Reads of merged projects."""

    async def list_merged(self) -> Mapping[Namespace, Namespace]:
        """The project that each merged one is part of now."""

    async def list_project_names(self) -> Mapping[Namespace, str]:
        """The names that people gave."""


class ProjectWrites(Protocol):
    """Naming and merging."""

    def note_folder(self, namespace: Namespace, folder: str) -> None:
        """Let lists show the project by this folder, which no event tells of; nothing changes if one is noted."""

    def rename_project(self, namespace: Namespace, name: str | None) -> None:
        """Let lists show the project by ``name``; None: by its folder.

        Raises:
          InvalidRequest: another project has this name.
        """

    def begin_merge(self, source: Namespace, target: Namespace) -> None:
        """From now on whatever comes to ``source`` is kept in ``target``, and no learner commits to ``source``.

        A target that was merged itself stands for the project that it is part of now.

        Raises:
          InvalidRequest: they are one project already, or are searched by vectors of different models.
        """

    def merge_some(self, source: Namespace, *, limit: int) -> int:
        """Move ``limit`` rows, with what belongs to them; returns how many. 0: nothing is left in ``source``."""


# What became of memories that were told, in numbers.


class FeedbackReads(Protocol):
    """Reads of what became of memories."""

    async def list_feedback(self, limit: int) -> dict[RecordId, FeedbackCounts]:
        """Of live records of which anything is known, the ``limit`` newest by id."""


class FeedbackWrites(Protocol):
    """Writes of what became of memories; it goes with its record."""

    def add_feedback(self, record_id: RecordId, feedback: Feedback) -> None:
        """Count one more.

        Raises:
          UnknownRecord: there is no such record (any more).
        """
