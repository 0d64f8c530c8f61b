"""A team's database of shared memories."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from kiro_learn.model.ids import RecordId
from kiro_learn.model.sharing import SharedKey, SharedTexts, TeamView


class TeamMemories(Protocol):
    """Memories that people share, project by project. It is asked by one task at a time.

    The database decides who sees and changes what, by the role that connects; an owner is always that role. Every
    method may raise StorageUnavailable (it cannot be reached), StorageBusy and StorageError (it refuses).
    """

    @property
    def name(self) -> str:
        """Of the database, for people; without user and password."""

    async def look(self, projects: Collection[str]) -> TeamView:
        """What is shared in these projects, and by this home anywhere."""

    async def read(self, keys: Sequence[SharedKey]) -> Mapping[SharedKey, str]:
        """What these say, as JSON; what was taken back meanwhile is left out."""

    async def share(self, project: str, memories: SharedTexts) -> None:
        """Let the project's members see memories of this home; one that is there already stays as it is."""

    async def take_back(self, project: str, record_ids: Collection[RecordId]) -> None:
        """Delete memories that this home shared."""

    async def withhold(self, project: str, record_id: RecordId) -> None:
        """Note for good that a memory of this home is not to be shared, which deletes what it said."""

    async def share_again(self, record_ids: Collection[RecordId]) -> None:
        """Forget that these are withheld, in whichever projects."""

    async def close(self) -> None:
        """Let go of the connection. A second close does nothing."""
