"""Any answer of a judge is a verdict whose record is within its bounds, or one kind of error."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from kiro_learn.errors import LlmError
from kiro_learn.learning.reconciliation.judge import parse_verdict
from kiro_learn.learning.reconciliation.plan import Cluster, KeepSeparate, Neighbor, plan, unredacted_record
from kiro_learn.learning.relearning import Candidate
from kiro_learn.model.ids import RecordId
from kiro_learn.privacy.scrub import scrub_record
from kiro_learn.testing.daemon import a_record
from kiro_learn.testing.simulation import EPOCH

CLUSTER = Cluster.of([Candidate(a_record(number), None) for number in (1, 2)])
NEIGHBORS = [Neighbor(a_record(number), 0.9) for number in (3, 4)]
NEW_ID = RecordId("mr_07ZZZZZZZZZZZZZZZZZZZZZZZZ")

CITATIONS = [f"<merged_record_id>{a_record(number).record_id}</merged_record_id>" for number in range(1, 6)]
PIECES = st.sampled_from(
    [
        "<merge>",
        "</merge>",
        *CITATIONS,
        "<title>T</title>",
        "<summary>S</summary>",
        "<title>",
        "</title>",
        "<summary>\n</summary>",
        "<facts><fact>f</fact>",
        "</facts>",
        "<file access='read'>a.py</file>",
        "<observation_type>decision</observation_type>",
        "<observation_type>gossip</observation_type>",
        "<keep_separate/>",
        "&amp;lt;",
        "\x00",
        "f" * 5000,
    ]
)
ANSWERS = st.lists(PIECES | st.text(st.characters(exclude_categories=())), max_size=20).map("".join)


@given(answer=ANSWERS)
@example(answer=f"<merge>{''.join(CITATIONS)}<title>\x1b</title><summary>{'s' * 5000}</summary>")
def test_every_merge_makes_a_record_that_cites_all_it_stands_for(answer: str) -> None:
    try:
        verdict = parse_verdict(answer)
    except LlmError:
        return
    planned = plan(CLUSTER, NEIGHBORS, [] if isinstance(verdict, KeepSeparate) else [verdict])
    for merge_plan in planned.merges:
        record = unredacted_record(merge_plan, record_id=NEW_ID, strategy="llm-reconciled", created_at=EPOCH)
        scrub_record(record)
        assert len(merge_plan.records) > 1
        assert set(record.source_event_ids) == {event for each in merge_plan.records for event in each.source_event_ids}
