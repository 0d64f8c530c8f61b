"""A team's database of shared memories."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from kiro_learn.model.ids import RecordId
from kiro_learn.model.sharing import SharedKey, SharedTexts, TeamView


class TeamMemories(Protocol):
    """Memories that people share, project by project. Only one task may use it at a time.

    The database decides by the role that connects who may see and change what; an owner is always that role. Every
    method may raise StorageUnavailable (no connection), StorageBusy and StorageError (it refuses).
    """

    @property
    def name(self) -> str:
        """The database's name for people, without user and password."""

    async def look(self, projects: Collection[str]) -> TeamView:
        """The memories shared in these projects, and those that this home shares in any project."""

    async def read(self, keys: Sequence[SharedKey]) -> Mapping[SharedKey, str]:
        """The texts of these memories, as JSON; one that was taken back meanwhile is left out."""

    async def share(self, project: str, memories: SharedTexts) -> None:
        """Show memories of this home to the project's members; one that is there already stays as it is."""

    async def take_back(self, project: str, record_ids: Collection[RecordId]) -> None:
        """Delete memories that this home shared."""

    async def withhold(self, project: str, record_id: RecordId) -> None:
        """Note for good that a memory of this home must not be shared; this deletes its text there."""

    async def share_again(self, record_ids: Collection[RecordId]) -> None:
        """Forget that these memories are withheld, in all projects."""

    async def close(self) -> None:
        """Let go of the connection. A second close does nothing."""
