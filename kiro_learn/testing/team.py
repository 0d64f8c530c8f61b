"""A team's database in memory, and the view that one home has of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import attrs
import trio

from kiro_learn.errors import StorageUnavailable
from kiro_learn.model.ids import RecordId
from kiro_learn.model.sharing import SharedHead, SharedKey, SharedTexts, TeamView


@attrs.define
class InMemoryTeam:
    """The memories that people share, by key; None: the memory is withheld."""

    memories: dict[SharedKey, str | None] = attrs.Factory(dict)
    members: dict[str, set[str]] = attrs.Factory(dict)
    """The roles of the members, by project."""
    is_away: bool = False
    asked: int = 0
    """How often anything but the view was requested."""
    clock: int = 0

    def seen_by(self, role: str, home: str = "laptop") -> TeamOfRole:
        return TeamOfRole(self, role, home)

    def texts(self) -> list[str]:
        return [text for text in self.memories.values() if text is not None]


@attrs.frozen
class TeamOfRole:
    """``TeamMemories`` of one home."""

    team: InMemoryTeam
    role: str
    home: str

    @property
    def name(self) -> str:
        return "team in memory"

    async def look(self, projects: Collection[str]) -> TeamView:
        await self._reach()
        admitted = {name for name, roles in self.team.members.items() if self.role in roles}
        seen = [
            SharedHead(key, is_withheld=text is None)
            for key, text in sorted(self.team.memories.items())
            if (key.project in projects and key.project in admitted) or self._is_own(key)
        ]
        return TeamView(self.role, self.home, frozenset(admitted), tuple(seen))

    async def read(self, keys: Sequence[SharedKey]) -> Mapping[SharedKey, str]:
        await self._reach()
        self.team.asked += 1
        return {key: text for key in keys if (text := self.team.memories.get(key)) is not None}

    async def share(self, project: str, memories: SharedTexts) -> None:
        await self._reach()
        for record_id, text in memories.items():
            self.team.asked += 1
            self._put(project, record_id, text)

    async def take_back(self, project: str, record_ids: Collection[RecordId]) -> None:
        await self._reach()
        for key in [each for each in self.team.memories if each.project == project and self._is_own(each)]:
            if key.record_id in record_ids:
                self.team.asked += 1
                del self.team.memories[key]

    async def withhold(self, project: str, record_id: RecordId) -> None:
        await self.take_back(project, [record_id])
        self._put(project, record_id, None)

    async def share_again(self, record_ids: Collection[RecordId]) -> None:
        await self._reach()
        for key in [each for each, text in self.team.memories.items() if text is None and self._is_own(each)]:
            if key.record_id in record_ids:
                del self.team.memories[key]

    async def close(self) -> None:
        await trio.lowlevel.checkpoint()

    def _put(self, project: str, record_id: RecordId, text: str | None) -> None:
        self.team.clock += 1
        key = SharedKey(project, self.role, self.home, record_id, str(self.team.clock))
        if not any(attrs.evolve(key, shared_at=each.shared_at) == each for each in self.team.memories):
            self.team.memories[key] = text

    def _is_own(self, key: SharedKey) -> bool:
        return (key.owner, key.home) == (self.role, self.home)

    async def _reach(self) -> None:
        await trio.lowlevel.checkpoint()
        if self.team.is_away:
            raise StorageUnavailable(self.name, problem="cannot be reached")
