"""Plans the merges of a cluster, before anything is written: which of its records and their neighbors become one.

Rules of this file: a record in no union stays what it is; no record gains in trust by being merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypeVar

import attrs

from kiro_learn.learning.candidate import Candidate
from kiro_learn.learning.reconciliation.clusters import Cluster
from kiro_learn.learning.reconciliation.wording import Merge, Neighbor
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import (
    MAX_CONCEPTS,
    MAX_FILES,
    MAX_SOURCE_EVENTS,
    KnowledgeType,
    MemoryRecord,
    Origin,
)
from kiro_learn.model.unchecked import unchecked
from kiro_learn.privacy.scrub import scrub_record

_T = TypeVar("_T")

LEAST_TRUSTED_FIRST = (Origin.TOOL, None, Origin.IMPORT, Origin.API, Origin.ASSISTANT, Origin.USER)
STRICTEST_FIRST = (
    KnowledgeType.CONSTRAINT,
    KnowledgeType.DECISION,
    KnowledgeType.REJECTED,
    KnowledgeType.HEURISTIC,
    None,
)


@attrs.frozen(eq=False)
class MergePlan:
    """Records that are to become one, and the words of that one."""

    wording: Merge
    members: tuple[Candidate, ...]
    neighbors: tuple[Neighbor, ...]
    """The most similar first."""
    nearest: MemoryRecord
    """Of members and neighbors, the one most similar to the cluster's centroid."""

    @property
    def records(self) -> tuple[MemoryRecord, ...]:
        """All of them: members in their order, then neighbors."""
        return (*(member.record for member in self.members), *(neighbor.record for neighbor in self.neighbors))


@attrs.frozen(eq=False)
class Plan:
    """The planned merges of a cluster; a member that is in none of them stays what it is."""

    unions: tuple[MergePlan, ...] = ()
    """No record is in two of them."""
    unknown_count: int = 0
    """Records that were cited and are neither members nor neighbors."""


def plan(cluster: Cluster, neighbors: Sequence[Neighbor], wordings: Iterable[Merge]) -> Plan:
    """What becomes of ``cluster`` if ``wordings`` say what is the same.

    Fewer than two known records are no union, nor are stored ones without something new: they were compared before,
    and a person may have undone their merge. A record that is in a union already is not known any more.
    """
    new = {member.record.record_id for member in cluster.members}
    known = new | {near.record.record_id for near in neighbors}
    taken: set[RecordId] = set()
    unions: list[MergePlan] = []
    unknown_count = 0
    for wording in wordings:
        cited = set(wording.record_ids)
        unknown_count += len(cited - known)
        cited &= known - taken
        if len(cited) > 1 and cited & new:
            unions.append(_union(cluster, neighbors, wording, cited))
            taken |= cited
    return Plan(tuple(unions), unknown_count)


def united_record(union: MergePlan, *, record_id: RecordId, strategy: str, created_at: datetime) -> MemoryRecord:
    """The record that stands for all of ``union``. Facts that its wording does not repeat remain in the history.

    It is not held to limits that its parts, which may be of the first kiro-learn, were not held to.
    """
    records, wording = union.records, union.wording
    importances = [record.importance for record in records if record.importance is not None]
    return unchecked(
        MemoryRecord,
        record_id=record_id,
        namespace=records[0].namespace,
        strategy=strategy,
        title=wording.title,
        summary=wording.summary,
        facts=wording.facts,
        concepts=all_of([wording.concepts, *(record.concepts for record in records)], MAX_CONCEPTS),
        files_touched=all_of([wording.files, *(record.files_touched for record in records)], MAX_FILES),
        files_read=all_of((record.files_read for record in records), MAX_FILES),
        files_modified=all_of((record.files_modified for record in records), MAX_FILES),
        observation_type=wording.observation_type or union.nearest.observation_type,
        source_event_ids=all_of((record.source_event_ids for record in records), MAX_SOURCE_EVENTS),
        created_at=created_at,
        knowledge_type=min((record.knowledge_type for record in records), key=STRICTEST_FIRST.index),
        importance=max(importances, default=None),
        origin=min((record.origin for record in records), key=LEAST_TRUSTED_FIRST.index),
    )


def merged_record(union: MergePlan, *, record_id: RecordId, strategy: str, created_at: datetime) -> MemoryRecord:
    """``united_record``, redacted: a model or the rule worded it, and either may repeat something private."""
    return scrub_record(united_record(union, record_id=record_id, strategy=strategy, created_at=created_at))


def _union(cluster: Cluster, neighbors: Sequence[Neighbor], wording: Merge, cited: set[RecordId]) -> MergePlan:
    members = tuple(member for member in cluster.members if member.record.record_id in cited)
    near = tuple(neighbor for neighbor in neighbors if neighbor.record.record_id in cited)
    similarities = [
        *((cluster.similarity(member), member.record) for member in members),
        *((neighbor.similarity, neighbor.record) for neighbor in near),
    ]
    return MergePlan(wording, members, near, nearest=max(similarities, key=lambda found: found[0])[1])


def all_of(lists: Iterable[Sequence[_T]], most: int) -> tuple[_T, ...]:
    """Each item once, in the order in which they are first seen."""
    return tuple(dict.fromkeys(item for items in lists for item in items))[:most]
