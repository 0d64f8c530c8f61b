"""Decides what of other people's memories a person's agents are told unasked, in a project of several people."""

from __future__ import annotations

from collections.abc import Sequence

from kiro_learn.model.namespace import Namespace, actor_id_in
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.sharing import SHARED_STRATEGY
from kiro_learn.ports.storage.events import EventReads
from kiro_learn.services.project_names import MergedProjects

EVERYBODY = "*"


class Teachers:
    """Knows whose memories stand in the briefs of this daemon's user beside the user's own.

    A project has several people once projects of others were merged into it, or it into theirs, and where a team
    shares memories of it. A rule that another of them said in passing, perhaps as a joke, is no rule of everybody's
    until somebody pins it.
    """

    def __init__(self, storage: EventReads, merged: MergedProjects, *, actor_id: str, trusted: str) -> None:
        """``trusted``: names, by commas; ``*``: everybody's."""
        self._storage = storage
        self._merged = merged
        self._trusted = {actor_id, *(name.strip() for name in trusted.split(","))}

    async def told(self, namespace: Namespace, records: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        """Those that may be told unasked: pinned, or learned from what agents of this user or of somebody trusted said.

        Raises StorageError.
        """
        if EVERYBODY in self._trusted:
            return list(records)
        theirs = {record.record_id for record in records if self._is_shared_by_stranger(record)}
        if strangers := self._strangers(namespace):
            teachers = await self._storage.list_teachers([record.record_id for record in records])
            theirs |= {record_id for record_id, actors in teachers.items() if actors <= strangers}
        return [record for record in records if record.pinned_at or record.record_id not in theirs]

    def _is_shared_by_stranger(self, record: MemoryRecord) -> bool:
        person = record.details.shared_by if record.details else None
        return record.strategy == SHARED_STRATEGY and person is not None and person not in self._trusted

    def _strangers(self, namespace: Namespace) -> set[str]:
        """Of those who work on it, who are not trusted."""
        return {actor_id_in(each) for each in (namespace, *self._merged.sources_of(namespace))} - self._trusted
