"""Plans the merges of a cluster, before anything is written: which of its records and their neighbors become one.

Rules of this file: a record in no merge stays what it is; no record gains in trust by being merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypeVar

import attrs

from kiro_learn.learning.candidate import Candidate
from kiro_learn.learning.reconciliation.clusters import Cluster
from kiro_learn.learning.reconciliation.wording import Merge, Neighbor
from kiro_learn.model.checks import unchecked
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import (
    MAX_CONCEPTS,
    MAX_FILES,
    MAX_SOURCE_EVENTS,
    KnowledgeType,
    MemoryRecord,
    Origin,
)
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
    """Records that are to become one, and the text of that one."""

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

    merges: tuple[MergePlan, ...] = ()
    """No record is in two of them."""
    unknown_count: int = 0
    """Records that were cited and are neither members nor neighbors."""


def plan(cluster: Cluster, neighbors: Sequence[Neighbor], wordings: Iterable[Merge]) -> Plan:
    """Plan the merges of ``cluster`` that ``wordings`` propose.

    A merge needs two known records, at least one of them new: stored ones were compared before, and a person may have
    undone their merge. A record that is in an earlier merge is left out of later ones.
    """
    new = {member.record.record_id for member in cluster.members}
    known = new | {near.record.record_id for near in neighbors}
    taken: set[RecordId] = set()
    merges: list[MergePlan] = []
    unknown_count = 0
    for wording in wordings:
        cited = set(wording.record_ids)
        unknown_count += len(cited - known)
        cited &= known - taken
        if len(cited) > 1 and cited & new:
            merges.append(_merge_plan(cluster, neighbors, wording, cited))
            taken |= cited
    return Plan(tuple(merges), unknown_count)


def unredacted_record(merge: MergePlan, *, record_id: RecordId, strategy: str, created_at: datetime) -> MemoryRecord:
    """The record that stands for all of ``merge``. Facts that its wording does not repeat remain in the history.

    Its limits are not checked: the merged records may be of the first kiro-learn, which had others.
    """
    records, wording = merge.records, merge.wording
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
        observation_type=wording.observation_type or merge.nearest.observation_type,
        source_event_ids=all_of((record.source_event_ids for record in records), MAX_SOURCE_EVENTS),
        created_at=created_at,
        knowledge_type=min((record.knowledge_type for record in records), key=STRICTEST_FIRST.index),
        importance=max(importances, default=None),
        origin=min((record.origin for record in records), key=LEAST_TRUSTED_FIRST.index),
        branch=records[0].branch if len({record.branch for record in records}) == 1 else None,
    )


def merged_record(merge: MergePlan, *, record_id: RecordId, strategy: str, created_at: datetime) -> MemoryRecord:
    """``unredacted_record``, redacted: a model or the rule worded it, and either may repeat something private."""
    return scrub_record(unredacted_record(merge, record_id=record_id, strategy=strategy, created_at=created_at))


def _merge_plan(cluster: Cluster, neighbors: Sequence[Neighbor], wording: Merge, cited: set[RecordId]) -> MergePlan:
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
