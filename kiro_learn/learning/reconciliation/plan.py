"""Plans the merges of close candidates before anything is written: which records become one, and in which words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from kiro_learn.learning.acts.cues import cues_of
from kiro_learn.learning.aftermath import connected
from kiro_learn.learning.relearning import Candidate, holds, says_far_less, stems, word_counts
from kiro_learn.model.checks import unchecked
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import (
    MAX_CONCEPTS,
    MAX_FACTS,
    MAX_FILES,
    MAX_SOURCE_EVENTS,
    KnowledgeType,
    MemoryRecord,
    ObservationType,
    Origin,
)
from kiro_learn.model.vectors import BUNDLED_MODEL, ModelIdentity, Vector
from kiro_learn.model.wording import denies_on_balance
from kiro_learn.privacy.scrub import scrub_record
from kiro_learn.retrieval.ranking.succession import is_replacing, replacing
from kiro_learn.retrieval.ranking.vector_rows import unit_rows

# Plans the merges of a cluster before anything is written: which of its records and their neighbors become one.
#
# Rules of this part: a record in no merge stays as it is; no record gains in trust by being merged.

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
    """Records that are to become one, and the text of the merged record."""

    wording: Merge
    members: tuple[Candidate, ...]
    neighbors: tuple[Neighbor, ...]
    """The neighbors, the most similar first."""
    nearest: MemoryRecord
    """The member or neighbor most similar to the cluster's centroid."""

    @property
    def records(self) -> tuple[MemoryRecord, ...]:
        """All records of the merge: members in their order, then neighbors."""
        return (*(member.record for member in self.members), *(neighbor.record for neighbor in self.neighbors))


@attrs.frozen(eq=False)
class Plan:
    """The planned merges of a cluster. A member in none of them stays as it is."""

    merges: tuple[MergePlan, ...] = ()
    """The merges; no record is in two of them."""
    unknown_count: int = 0
    """How many cited records are neither members nor neighbors."""


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
    """The record that replaces all records of ``merge``.

    Facts that the wording does not repeat remain only in the history, except those that name a replaced record. Limits
    are not checked: the merged records may come from the first kiro-learn, which had other limits.
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
        facts=all_of([_replacing(records), [each for each in wording.facts if not is_replacing(each)]], MAX_FACTS),
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


def _replacing(records: Sequence[MemoryRecord]) -> list[str]:
    """The facts of ``records`` that name a replaced record, unless it is one of ``records``."""
    own = {replacing(record.title) for record in records}
    return [fact for record in records for fact in record.facts if is_replacing(fact) and fact not in own]


def merged_record(merge: MergePlan, *, record_id: RecordId, strategy: str, created_at: datetime) -> MemoryRecord:
    """``unredacted_record``, redacted: its words are a model's or the rule's, and may repeat something private."""
    return scrub_record(unredacted_record(merge, record_id=record_id, strategy=strategy, created_at=created_at))


def _merge_plan(cluster: Cluster, neighbors: Sequence[Neighbor], wording: Merge, cited: set[RecordId]) -> MergePlan:
    members = tuple(member for member in cluster.members if member.record.record_id in cited)
    near = tuple(neighbor for neighbor in neighbors if neighbor.record.record_id in cited)
    similarities = [
        *((cluster.similarity(member), member.record) for member in members),
        *((neighbor.similarity, neighbor.record) for neighbor in near),
    ]
    return MergePlan(wording, members, near, nearest=max(similarities, key=lambda found: found[0])[1])


def all_of(lists: Iterable[Iterable[_T]], most: int) -> tuple[_T, ...]:
    """Each item once, in the order in which they are first seen."""
    return tuple(dict.fromkeys(item for items in lists for item in items))[:most]


# Clusters the candidates of one batch whose vectors are close, so that they are compared with each other.

ROUNDING = 1e-6
"""Above the rounding error of a cosine of float32 vectors, so that equal vectors pass any threshold."""

ROWS_AT_ONCE = 256
"""Rows of cosines computed at a time: 20 MB for 10,000 candidates."""

_Doubles = npt.NDArray[np.float64]


@attrs.frozen(eq=False)
class Cluster:
    """Candidates joined by cosine, in the order in which they were made."""

    members: tuple[Candidate, ...]
    centroid: Vector | None
    """A unit vector between the members' directions. None if a member has no direction, or if they cancel out."""

    @classmethod
    def of(cls, members: Sequence[Candidate]) -> Cluster:
        """The cluster of all of ``members``, at least one, however far apart they are."""
        directions = _directions(members)
        middle = directions.mean(axis=0, keepdims=True)
        has_middle = directions.any(axis=1).all() and np.linalg.norm(middle) > ROUNDING
        return cls(tuple(members), unit_rows(middle.astype(np.float32))[0] if has_middle else None)

    @property
    def model(self) -> ModelIdentity:
        """The model that made the vectors of the members."""
        return model_of(self.members)

    def similarity(self, member: Candidate) -> float:
        """Cosine of a member and the centroid; 0 without a centroid."""
        return 0.0 if self.centroid is None else float(_directions([member])[0] @ self.centroid.astype(np.float64))


def cluster(candidates: Sequence[Candidate], *, threshold: float) -> list[Cluster]:
    """Single-linkage clusters of ``candidates``: two whose cosine is at least ``threshold`` are in the same one.

    A candidate without a usable vector is alone. The clusters are in the order of their first members.
    """
    directions = _directions(candidates)
    groups = connected(_close_candidates(directions, threshold - ROUNDING))
    return [Cluster.of([candidates[index] for index in group]) for group in groups]


def _close_candidates(directions: _Doubles, least: float) -> Iterator[list[int]]:
    """For each candidate its own index and the indices of close ones; computes ROWS_AT_ONCE rows at a time."""
    is_usable = np.linalg.norm(directions, axis=1) > ROUNDING
    for start in range(0, len(directions), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        is_close = (directions[rows] @ directions.T >= least) & is_usable & is_usable[rows, np.newaxis]
        for index, row in enumerate(is_close, start=start):
            yield [index, *np.flatnonzero(row).tolist()]


def _directions(candidates: Sequence[Candidate]) -> _Doubles:
    """A unit vector for each candidate, in double precision; zero without a usable vector of the common model."""
    model = model_of(candidates)
    nothing = np.zeros(model.dimension, np.float32)
    rows = [nothing if each.vector is None or each.model != model else each.vector for each in candidates]
    return unit_rows(np.array(rows, np.float32).reshape(-1, model.dimension)).astype(np.float64)


def model_of(candidates: Sequence[Candidate]) -> ModelIdentity:
    """The model of the first candidate with vectors. A batch has vectors of two models only while models change."""
    return next((each.model for each in candidates if each.embedding is not None), BUNDLED_MODEL)


# The words of a merged record. A judge's verdict and the rule's verdict have one type.


@attrs.frozen
class Neighbor:
    """A stored record near a cluster's centroid."""

    record: MemoryRecord
    similarity: float
    """Cosine to the centroid."""


@attrs.frozen(kw_only=True)
class Merge:
    """A verdict: these records say the same, in these words. Every text is within the bounds of a record."""

    record_ids: tuple[RecordId, ...]
    """The ids as they were cited: one may be unknown, or no id at all."""
    title: str
    summary: str
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    observation_type: ObservationType | None = None
    """None: the type of the nearest record stays."""


@attrs.frozen
class KeepSeparate:
    """A verdict: the records do not say the same."""


Verdict = Merge | KeepSeparate


# Whether a person gave the same rule for the same act twice: a second correction repeats the first one.

LEAST_SHARE = 2 / 3
"""The share of the shorter rule's words that the other rule must have."""

LEAST_SHARED = 2
"""The fewest words that both rules must have: a single common word is mostly the act itself."""


def is_of_act(record: MemoryRecord) -> bool:
    """Whether ``record`` is a rule in a person's words about an act."""
    is_rule = record.knowledge_type is KnowledgeType.CONSTRAINT and record.origin is Origin.USER
    return is_rule and bool(cues_of(record))


def is_same_principle(rule: MemoryRecord, other: MemoryRecord) -> bool:
    """Whether both are a person's rules about the same acts, in mostly the same words, and neither denies the other."""
    if not is_of_act(rule) or not is_of_act(other):
        return False
    if {cue.key for cue in cues_of(rule)} != {cue.key for cue in cues_of(other)}:
        return False
    if denies_on_balance(rule.title) != denies_on_balance(other.title):
        return False
    words, others = stems(rule.title), stems(other.title)
    shared = len(words & others)
    return shared >= LEAST_SHARED and shared >= LEAST_SHARE * min(len(words), len(others))


# Drops merges by a model that lose content: some models summarise everything in one line.
#
# Merged records stay in the history, but no search finds them there. So a merge that says too little loses knowledge.


def without_lossy_merges(planned: Plan) -> Plan:
    """``planned`` with the merges that ``without_lost_records`` leaves."""
    left = (without_lost_records(merge_plan) for merge_plan in planned.merges)
    return attrs.evolve(planned, merges=tuple(merge_plan for merge_plan in left if merge_plan is not None))


def without_lost_records(merge_plan: MergePlan) -> MergePlan | None:
    """``merge_plan`` without the protected records that its wording does not hold.

    None if fewer than two records are left, none of them is new, or the wording says far less than they do.
    """
    # The id is never stored: the record is made to compare its words.
    told = unredacted_record(merge_plan, record_id=RecordId(""), strategy="", created_at=merge_plan.nearest.created_at)
    counts = word_counts(merge_plan.records)
    lost = {record for record in merge_plan.records if record.is_protected and not holds(told, record, counts)}
    members = tuple(member for member in merge_plan.members if member.record not in lost)
    neighbors = tuple(neighbor for neighbor in merge_plan.neighbors if neighbor.record not in lost)
    left = attrs.evolve(merge_plan, members=members, neighbors=neighbors)
    is_alone = len(left.records) == 1
    if not members or is_alone or says_far_less([told], left.records):
        return None
    return left if merge_plan.nearest not in lost else attrs.evolve(left, nearest=left.records[0])
