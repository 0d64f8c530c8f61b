"""The third phase of a learning run: one transaction writes everything, with a savepoint for each cluster."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import attrs

from kiro_learn.errors import KiroLearnError
from kiro_learn.learning.relearning import Candidate
from kiro_learn.model.buffer import ParkedCluster
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.pipelines.learn.reconciliation import MergedRecord, ReconciledCluster
from kiro_learn.ports.storage.interface import StorageTransaction


@attrs.frozen(eq=False)
class PendingCommit:
    """A cluster to be committed, and what is parked if that fails; ``problem`` is filled in then."""

    cluster: ReconciledCluster
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

    If a merge fails (a record to be replaced may be forgotten by now), the members are committed without it. If that
    fails as well, the cluster is parked and tried again later.
    """
    return sum((_commit_or_park(transaction, each) for each in pending), CommitResult())


def _commit_or_park(transaction: StorageTransaction, pending: PendingCommit) -> CommitResult:
    try:
        return transaction.attempt(partial(_commit, pending))
    except KiroLearnError as error:
        if pending.cluster.merges:
            unmerged = ReconciledCluster(pending.cluster.members)
            return _commit_or_park(transaction, attrs.evolve(pending, cluster=unmerged))
        transaction.park_cluster(attrs.evolve(pending.if_parked, problem=str(error)))
        return CommitResult(parked_count=1, problem=str(error))


def _commit(pending: PendingCommit, transaction: StorageTransaction) -> CommitResult:
    cluster = without_forgotten(pending.cluster, transaction)
    for member in cluster.members:
        put_candidate(transaction, member)
    for merge in cluster.merges:
        put_merge(transaction, merge)
    return CommitResult(
        record_count=len(cluster.members) + len(cluster.merges) - _replaced_member_count(cluster),
        merge_count=len(cluster.merges),
        replaced_count=sum(len(merge.replaced) for merge in cluster.merges),
    )


def without_forgotten(cluster: ReconciledCluster, transaction: StorageTransaction) -> ReconciledCluster:
    """``cluster`` without forgotten members and merges with them: a person may forget a record during the run."""
    forgotten = {member.record for member in cluster.members if transaction.is_forgotten(member.record)}
    return ReconciledCluster(
        tuple(member for member in cluster.members if member.record not in forgotten),
        tuple(merge for merge in cluster.merges if forgotten.isdisjoint(merge.replaced)),
    )


def put_merge(transaction: StorageTransaction, merge: MergedRecord) -> None:
    """Put the merged record in the place of those it replaces; raises as ``replace_memory_records`` does."""
    put_candidate(transaction, merge.candidate)
    transaction.replace_memory_records(_replacement(merge))


def _replacement(merge: MergedRecord) -> Replacement:
    record = merge.candidate.record
    return Replacement(
        replacement_id=merge.replacement_id,
        namespace=record.namespace,
        reason=ReplacementReason.MERGED,
        replaced_at=merge.merged_at,
        replacing=(record.record_id,),
        replaced=merge.replaced,
    )


def put_candidate(transaction: StorageTransaction, candidate: Candidate) -> None:
    """Put the record, and its vector if it has one."""
    transaction.put_memory_record(candidate.record)
    if candidate.embedding is not None:
        transaction.put_embedding(candidate.record.record_id, candidate.embedding, candidate.model)


def _replaced_member_count(cluster: ReconciledCluster) -> int:
    """How many members a merge of the same cluster replaces."""
    members = {member.record.record_id for member in cluster.members}
    return sum(record.record_id in members for merge in cluster.merges for record in merge.replaced)
