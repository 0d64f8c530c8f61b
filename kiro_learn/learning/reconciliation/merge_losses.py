"""A model's merge is done only as far as its words hold what it replaces: some models tell everything as one line.

What is merged stays in the history, but no search finds it there: a merge that says too little erases what was known.
"""

from __future__ import annotations

import attrs

from kiro_learn.learning.protected_records import holds, says_far_less, word_counts
from kiro_learn.learning.reconciliation.plan import MergePlan, Plan, united_record
from kiro_learn.model.ids import RecordId


def without_lossy_merges(planned: Plan) -> Plan:
    """``planned`` with the unions that ``without_lost_records`` leaves."""
    left = (without_lost_records(union) for union in planned.unions)
    return attrs.evolve(planned, unions=tuple(union for union in left if union is not None))


def without_lost_records(union: MergePlan) -> MergePlan | None:
    """``union`` without the protected records that its wording does not hold.

    None if no two records are left, none of them is new, or the wording says far less than they do.
    """
    # The id is never stored: the record is made to compare its words.
    told = united_record(union, record_id=RecordId(""), strategy="", created_at=union.nearest.created_at)
    counts = word_counts(union.records)
    lost = {record for record in union.records if record.is_protected and not holds(told, record, counts)}
    members = tuple(member for member in union.members if member.record not in lost)
    neighbors = tuple(neighbor for neighbor in union.neighbors if neighbor.record not in lost)
    left = attrs.evolve(union, members=members, neighbors=neighbors)
    is_alone = len(left.records) == 1
    if not members or is_alone or says_far_less([told], left.records):
        return None
    return left if union.nearest not in lost else attrs.evolve(left, nearest=left.records[0])
