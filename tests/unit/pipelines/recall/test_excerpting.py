"""What is known of passages does not depend on what else was found."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import trio

from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import Ranking
from kiro_learn.model.vectors import DIMENSION, to_codes
from kiro_learn.pipelines.recall.excerpting import found
from kiro_learn.pipelines.recall.finder import Findings
from kiro_learn.pipelines.recall.recall_trace import RecallTrace
from kiro_learn.ports.storage.answers import LexicalRanking
from kiro_learn.retrieval.ranking.evidence import Evidence
from kiro_learn.retrieval.ranking.vector_codes import multiply_codes
from kiro_learn.retrieval.ranking.vector_index import VectorIndex
from kiro_learn.retrieval.ranking.vector_rows import unit_rows
from kiro_learn.retrieval.rendering.passages import passages_of
from kiro_learn.testing.daemon import a_record
from kiro_learn.testing.simulation import simulate

DICE = np.random.default_rng(20261122)
RECORDS = [
    attrs.evolve(a_record(number), facts=tuple(f"fact {fact} {'word ' * 55}" for fact in range(number)))
    for number in range(12)
]


def a_trace() -> RecallTrace:
    """With the vectors of the passages of all records but two: one has none, and those of the other do not fit."""
    rows = unit_rows(DICE.normal(size=(len(RECORDS), DIMENSION)).astype(np.float32))
    ids, ats = [record.record_id for record in RECORDS], [record.created_at for record in RECORDS]
    ranking = VectorIndex.of(ids, ats, rows, [1] * len(rows)).rank(rows[0], 10, product=multiply_codes)
    evidence: dict[Ranking, Evidence] = {
        Ranking.WORDS: LexicalRanking(hits=(), ideal_score=0.0),
        Ranking.MEANING: ranking,
    }
    trace = RecallTrace(findings=Findings(hits=(), evidence=evidence, degraded=(), asked=()))
    trace.passages = {
        record.record_id: to_codes(DICE.normal(size=(len(passages_of(record)), DIMENSION)).astype(np.float32))
        for record in RECORDS[1:]
    }
    trace.passages[ids[5]] = trace.passages[ids[5]][:-1]
    trace.notes = {ids[3]: "a.py gone"}
    return trace


def readings(trace: RecallTrace, records: Sequence[MemoryRecord]) -> list[object]:
    """All that is found of ``records``, to the last bit."""
    scores = [float(len(record.facts)) for record in records]
    return [attrs.asdict(each, recurse=False) for each in found(records, scores, trace)]


def test_a_memory_has_the_same_numbers_alone_and_among_others() -> None:
    async def scenario() -> tuple[list[object], list[object]]:
        await trio.lowlevel.checkpoint()
        trace = a_trace()
        return readings(trace, RECORDS), [each for record in RECORDS for each in readings(trace, [record])]

    together, alone = simulate(scenario)
    assert together == alone


def test_one_without_fitting_vectors_is_found_by_its_words() -> None:
    async def scenario() -> list[bool]:
        await trio.lowlevel.checkpoint()
        return [each.nearness is None for each in found(RECORDS, [1.0] * len(RECORDS), a_trace())]

    assert [number for number, is_unread in enumerate(simulate(scenario)) if is_unread] == [0, 5]


def test_nothing_is_read_where_nothing_is_found_by_meaning() -> None:
    async def scenario() -> list[bool]:
        await trio.lowlevel.checkpoint()
        trace = a_trace()
        trace.findings = None
        return [each.nearness is None and not each.cosines for each in found(RECORDS, [1.0] * len(RECORDS), trace)]

    assert all(simulate(scenario))
