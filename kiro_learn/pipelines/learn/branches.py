"""Notes the branch that memories were learned on, until it is merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.branches import Branches
from kiro_learn.ports.storage.records import ObservationReads


@attrs.frozen(eq=False)
class BranchNotes:
    """Says of what was learned on which branch it was, and which branches are merged by now."""

    branches: Branches
    storage: ObservationReads

    async def apart(self, snapshot: BufferSnapshot) -> dict[EventId, str]:
        """The branch of each event that happened on one, but for the default branch and for those that are no more."""
        named: dict[str, set[str]] = {}
        for source in (event.source for event in snapshot.events):
            if source.branch and source.project_path:
                named.setdefault(source.project_path, set()).add(source.branch)
        apart = {folder: await self.branches.apart(folder, names) for folder, names in named.items()}
        return {
            event_id: branch
            for entry in snapshot.entries
            for event_id in entry.sources
            if (branch := entry.event.source.branch) in apart.get(entry.event.source.project_path or "", ()) and branch
        }

    async def merged(self, namespace: Namespace, snapshot: BufferSnapshot) -> frozenset[str]:
        """The branches on which something was learned and which the default branch holds now, if something happened
        there. Raises StorageError.
        """
        sources = [event.source for event in reversed(snapshot.events)]
        folder = next((source.project_path for source in sources if source.branch and source.project_path), None)
        open_since = await self.storage.list_open_branches(namespace) if folder else {}
        if folder is None or not open_since:
            return frozenset()
        return await self.branches.merged(folder, open_since)


def noted(
    records: Sequence[MemoryRecord], branch_of: Mapping[EventId, str], snapshot: BufferSnapshot
) -> list[MemoryRecord]:
    """``records`` with the branch of the last of the events that each was learned from."""
    if not branch_of:
        return list(records)
    places = {event_id: place for place, event_id in enumerate(snapshot.source_event_ids)}
    return [
        attrs.evolve(record, branch=branch_of.get(max(record.source_event_ids, key=lambda each: places.get(each, -1))))
        for record in records
    ]
