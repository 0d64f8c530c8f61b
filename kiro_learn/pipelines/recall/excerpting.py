"""What is known of the passages of the memories that a prompt found, and how many bytes they are worth together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.vectors import Codes
from kiro_learn.pipelines.recall.finder import Findings
from kiro_learn.pipelines.recall.recall_trace import RecallTrace
from kiro_learn.retrieval.ranking.confidence import (
    WORDS_CERTAIN,
    WORDS_FLOOR,
    bytes_worth,
    confidence,
    word_share,
)
from kiro_learn.retrieval.ranking.evidence import vectors_of, words_of
from kiro_learn.retrieval.ranking.vector_rows import unit_rows
from kiro_learn.retrieval.ranking.z_scores import ZScores
from kiro_learn.retrieval.rendering.excerpts import Excerpted
from kiro_learn.retrieval.rendering.passages import Passage, passages_of

_Reading: TypeAlias = tuple[tuple[float, ...] | None, tuple[float, ...]]
"""``nearness`` and ``cosines`` of ``Excerpted``."""

_UNREAD: _Reading = (None, ())


def found(records: Sequence[MemoryRecord], scores: Sequence[float], trace: RecallTrace) -> list[Excerpted]:
    """``records`` with their passages, and how near each of these is to the query, where its vectors are there.

    ``scores``: one a record.
    """
    standings = vectors_of(trace.findings.evidence).standings if trace.findings else None
    passages = [passages_of(record) for record in records]
    codes = [
        _fitting(trace.passages.get(record.record_id), cut) if standings else None
        for record, cut in zip(records, passages, strict=True)
    ]
    readings = _readings(standings, [each for each in codes if each is not None]) if standings else iter(())
    return [
        Excerpted(
            record,
            score,
            cut,
            *(_UNREAD if each is None else next(readings)),
            trace.notes.get(record.record_id, ""),
        )
        for record, score, cut, each in zip(records, scores, passages, codes, strict=True)
    ]


def _fitting(codes: Codes | None, passages: Sequence[Passage]) -> Codes | None:
    """None if they are not those of ``passages``."""
    return codes if codes is not None and len(codes) == len(passages) else None


def _readings(standings: ZScores, codes: Sequence[Codes]) -> Iterator[_Reading]:
    """Of each of the ``codes``: all are decoded and compared at once, since that costs as much as for one."""
    if not codes:
        return
    vectors = unit_rows(np.concatenate(codes).astype(np.float32))
    nearness = [max(0.0, deviation) for deviation in standings.deviations_of(vectors)]
    first = 0
    for each in codes:
        end = first + len(each)
        # One by one: the last bit of a product in single precision depends on what else is in it.
        yield tuple(nearness[first:end]), standings.cosines_of(vectors[first:end])
        first = end


def bytes_worth_telling(found: Sequence[Excerpted], findings: Findings | None, most_bytes: int) -> int:
    """By the nearest passages and whole memories; by words alone where nothing has a vector."""
    if not found or findings is None:
        return 0
    words = words_of(findings.evidence)
    cosines = [*vectors_of(findings.evidence).nearest_wholes, *(cosine for each in found for cosine in each.cosines)]
    if not cosines:
        return bytes_worth(word_share(words), most_bytes, floor=WORDS_FLOOR, certain=WORDS_CERTAIN)
    return bytes_worth(confidence(cosines, words), most_bytes)
