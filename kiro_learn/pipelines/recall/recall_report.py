"""What the retrieval log has of a recall: ids, scores, reasons and times, and no contents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import FoundRecord, Report
from kiro_learn.pipelines.recall.recall_trace import CUT_OFF, FAILED, RecallTrace
from kiro_learn.retrieval.ranking.calibrated import WORTH_TELLING

MOST_UNREAD = 10
"""Of what was found and not read: as many are noted, so that who asks why sees what came close."""


def report_of(
    trace: RecallTrace,
    *,
    retrieval_id: str,
    at: datetime,
    namespace: Namespace,
    session_id: str | None,
    event_id: EventId | None,
    agent: str | None,
    latency_ms: float,
) -> Report:
    """The whole retrieval for the log: ids, counts and times, no contents. ``at`` is in UTC."""
    return Report(
        retrieval_id=retrieval_id,
        at=at,
        namespace=namespace,
        session_id=session_id,
        event_id=event_id,
        agent=agent,
        query_characters=trace.query_characters,
        asked=trace.findings.asked if trace.findings else (),
        records=tuple(_found(trace, (*trace.records, *trace.told_before))),
        unread=tuple(_unread(trace)),
        passages=trace.rendered.passages,
        named=trace.rendered.named_ids,
        profile_bytes=len(trace.slot_line.encode()),
        confidence=trace.sureness.confidence if trace.sureness else None,
        needed=trace.sureness.floor if trace.sureness else None,
        left_out={why: count for why, count in trace.left_out.items() if count},
        context_bytes=len(trace.context.encode()),
        latency_ms=latency_ms,
        stages_ms=trace.stopwatch.stages_ms,
        degraded=tuple(trace.degraded),
        silent_because=None if trace.slot_line else trace.silent_because,
    )


def _found(trace: RecallTrace, records: Sequence[MemoryRecord]) -> Iterator[FoundRecord]:
    if trace.findings is None:
        return
    told_before = {record.record_id for record in trace.told_before}
    ids = [record.record_id for record in records]
    for record, found_by in zip(records, trace.findings.found_by(ids), strict=True):
        yield FoundRecord(
            record_id=record.record_id,
            score=trace.scores[record.record_id],
            strategy=record.strategy,
            found_by=found_by,
            shown=record.record_id in trace.rendered.record_ids,
            told_before=record.record_id in told_before,
            is_of_branch=record.record_id in trace.of_branch,
            why="told_before" if record.record_id in told_before else _why(trace, record.record_id),
        )


def _why(trace: RecallTrace, record_id: RecordId) -> str:
    """What became of one that was read."""
    if record_id in trace.rendered.record_ids:
        return "told"
    if record_id in trace.rendered.named_ids:
        return "named"
    if record_id in trace.repeated:
        return "repeat"
    return "late" if trace.silent_because in {CUT_OFF, FAILED} else "room"


def _unread(trace: RecallTrace) -> Iterator[FoundRecord]:
    """The best of the others that were found: far behind, without a place, gone, or not relevant."""
    if trace.findings is None:
        return
    read = {record.record_id for record in (*trace.records, *trace.told_before)}
    hits = {hit.record_id for hit in trace.hits}
    best = max(trace.scores.values(), default=0.0)
    others = sorted(trace.scores.keys() - read, key=lambda each: (-trace.scores[each], each))[:MOST_UNREAD]
    for record_id, found_by in zip(others, trace.findings.found_by(others), strict=True):
        score = trace.scores[record_id]
        why = "cut" if score < WORTH_TELLING * best else "behind"
        if record_id in trace.floored:
            why = "floor"
        elif record_id in hits:
            why = "gone"
        yield FoundRecord(record_id=record_id, score=score, strategy="", found_by=found_by, shown=False, why=why)
