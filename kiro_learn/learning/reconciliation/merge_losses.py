"""Drops merges by a model that lose content: some models summarise everything in one line.

What is merged stays in the history, but no search finds it there: a merge that says too little erases what was known.
"""

from __future__ import annotations

import attrs

from kiro_learn.learning.protected_records import holds, says_far_less, word_counts
from kiro_learn.learning.reconciliation.plan import MergePlan, Plan, unredacted_record
from kiro_learn.model.ids import RecordId


def without_lossy_merges(planned: Plan) -> Plan:
    """``planned`` with the merges that ``without_lost_records`` leaves."""
    left = (without_lost_records(merge_plan) for merge_plan in planned.merges)
    return attrs.evolve(planned, merges=tuple(merge_plan for merge_plan in left if merge_plan is not None))


def without_lost_records(merge_plan: MergePlan) -> MergePlan | None:
    """``merge_plan`` without the protected records that its wording does not hold.

    None if no two records are left, none of them is new, or the wording says far less than they do.
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
