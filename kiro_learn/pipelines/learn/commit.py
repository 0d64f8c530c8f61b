"""The third phase of a learning run: all of it is written in one transaction, each cluster in a piece of its own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import attrs

from kiro_learn.errors import KiroLearnError
from kiro_learn.learning.candidate import Candidate
from kiro_learn.model.history import Replacement, ReplacementReason
from kiro_learn.model.parked import ParkedCluster
from kiro_learn.pipelines.learn.reconciliation import MergedRecord, ReconciledCluster
from kiro_learn.ports.storage.interface import StorageTransaction


@attrs.frozen(eq=False)
class PendingCommit:
    """A cluster to be committed, and how it is parked if that fails; ``problem`` is filled in then."""

    settled: ReconciledCluster
    if_parked: ParkedCluster


@attrs.frozen
class CommitResult:
    """Counts of what a run committed and parked."""

    record_count: int = 0
    """New records that are live."""
    merge_count: int = 0
    replaced_count: int = 0
    """Records that were replaced, those of the run itself included."""
    parked_count: int = 0
    """Clusters that could not be committed."""
    problem: str | None = None
    """Why the last of these could not."""

    def __add__(self, other: CommitResult) -> CommitResult:
        return CommitResult(
            self.record_count + other.record_count,
            self.merge_count + other.merge_count,
            self.replaced_count + other.replaced_count,
            self.parked_count + other.parked_count,
            other.problem or self.problem,
        )


def commit_clusters(transaction: StorageTransaction, pending: Sequence[PendingCommit]) -> CommitResult:
    """Commit each cluster, or park it; a cluster that fails leaves the others alone.

    If a merge fails (a record to be replaced may be forgotten by now), the members are kept as they are. What fails
    even so is parked, and tried again later.
    """
    return sum((_push_one(transaction, parcel) for parcel in pending), CommitResult())


def _push_one(transaction: StorageTransaction, parcel: PendingCommit) -> CommitResult:
    try:
        committed = transaction.attempt(partial(_commit, parcel))
    except KiroLearnError as error:
        if parcel.settled.united:
            return _push_one(transaction, attrs.evolve(parcel, settled=ReconciledCluster(parcel.settled.members)))
        transaction.park_cluster(attrs.evolve(parcel.if_parked, problem=str(error)))
        return CommitResult(parked_count=1, problem=str(error))
    return committed


def _commit(parcel: PendingCommit, transaction: StorageTransaction) -> CommitResult:
    settled = without_forgotten(parcel.settled, transaction)
    for member in settled.members:
        keep(transaction, member)
    for united in settled.united:
        unite(transaction, united)
    transaction.unpark_cluster(parcel.if_parked.cluster_id)
    return CommitResult(
        record_count=len(settled.members) + len(settled.united) - _made_way(settled),
        merge_count=len(settled.united),
        replaced_count=sum(len(united.replaced) for united in settled.united),
    )


def without_forgotten(settled: ReconciledCluster, transaction: StorageTransaction) -> ReconciledCluster:
    """Without what would bring back what was forgotten, maybe since the learner was asked, and merges with that."""
    forgotten = {member.record for member in settled.members if transaction.is_forgotten(member.record)}
    return ReconciledCluster(
        tuple(member for member in settled.members if member.record not in forgotten),
        tuple(united for united in settled.united if forgotten.isdisjoint(united.replaced)),
    )


def unite(transaction: StorageTransaction, united: MergedRecord) -> None:
    """Put the record that stands for others in their place; raises as ``replace_memory_records`` does."""
    keep(transaction, united.candidate)
    transaction.replace_memory_records(_replacement(united))


def _replacement(united: MergedRecord) -> Replacement:
    record = united.candidate.record
    return Replacement(
        replacement_id=united.replacement_id,
        namespace=record.namespace,
        reason=ReplacementReason.MERGED,
        replaced_at=record.created_at,
        replacing=(record.record_id,),
        replaced=united.replaced,
    )


def keep(transaction: StorageTransaction, candidate: Candidate) -> None:
    """Put the record, and its vector if it has one."""
    transaction.put_memory_record(candidate.record)
    if candidate.embedding is not None:
        transaction.put_embedding(candidate.record.record_id, candidate.embedding, candidate.model)


def _made_way(settled: ReconciledCluster) -> int:
    """How many members are replaced in the same commit."""
    members = {member.record.record_id for member in settled.members}
    return sum(record.record_id in members for united in settled.united for record in united.replaced)
