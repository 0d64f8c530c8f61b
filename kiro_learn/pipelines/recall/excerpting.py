"""What is known of the passages of the memories that a prompt found, and how many bytes they are worth together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kiro_learn.model.record import MemoryRecord
from kiro_learn.pipelines.recall.finder import Findings
from kiro_learn.pipelines.recall.recall_trace import RecallTrace
from kiro_learn.retrieval.ranking.confidence import (
    WORDS_CERTAIN,
    WORDS_FLOOR,
    bytes_worth,
    confidence,
    word_share,
)
from kiro_learn.retrieval.ranking.vector_rows import unit_rows
from kiro_learn.retrieval.rendering.excerpts import Excerpted
from kiro_learn.retrieval.rendering.passages import passages_of


def found(record: MemoryRecord, trace: RecallTrace, score: float) -> Excerpted:
    """``record`` with its passages, and how near each is to the query where its vectors are there."""
    passages, note = passages_of(record), trace.notes.get(record.record_id, "")
    codes = trace.passages.get(record.record_id)
    standings = trace.findings.vectors.standings if trace.findings else None
    if standings is None or codes is None or len(codes) != len(passages):
        return Excerpted(record, score, passages, note=note)
    vectors = unit_rows(codes.astype(np.float32))
    nearness = tuple(max(0.0, deviation) for deviation in standings.deviations_of(vectors))
    return Excerpted(record, score, passages, nearness, standings.cosines_of(vectors), note)


def bytes_worth_telling(found: Sequence[Excerpted], findings: Findings | None, most_bytes: int) -> int:
    """By the nearest passages and whole memories; by words alone where nothing has a vector."""
    if not found or findings is None:
        return 0
    cosines = [*findings.vectors.nearest_wholes, *(cosine for each in found for cosine in each.cosines)]
    if not cosines:
        return bytes_worth(word_share(findings.words), most_bytes, floor=WORDS_FLOOR, certain=WORDS_CERTAIN)
    return bytes_worth(confidence(cosines, findings.words), most_bytes)
