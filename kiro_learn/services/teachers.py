"""Decides what of other people's memories a person's agents are told unasked, in a project of several people."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

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
        strangers = self._strangers(namespace)
        asked = [record for record in records if strangers or record.strategy == SHARED_STRATEGY]
        if EVERYBODY in self._trusted or not asked:
            return list(records)
        teachers = await self._storage.list_teachers([record.record_id for record in asked])
        theirs = {
            record.record_id
            for record in asked
            if self._is_theirs(record, teachers.get(record.record_id, frozenset()), strangers)
        }
        return [record for record in records if record.pinned_at or record.record_id not in theirs]

    def _is_theirs(self, record: MemoryRecord, teachers: AbstractSet[str], strangers: AbstractSet[str]) -> bool:
        """Of what a team shares, unless somebody trusted is known to have said it; else, if strangers alone did."""
        if record.strategy == SHARED_STRATEGY:
            return not teachers & self._trusted
        return bool(teachers) and teachers <= strangers

    def _strangers(self, namespace: Namespace) -> set[str]:
        """Of those who work on it, who are not trusted."""
        return {actor_id_in(each) for each in (namespace, *self._merged.sources_of(namespace))} - self._trusted
