"""The scores of a memory's passages do not depend on the other memories that were found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import numpy as np
import pytest

from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import Hit, LexicalRanking, Ranking
from kiro_learn.model.vectors import DIMENSION, Codes, Matrix, to_codes
from kiro_learn.pipelines.recall.excerpting import compared, found, sureness_of
from kiro_learn.pipelines.recall.finder import Findings
from kiro_learn.retrieval.ranking.calibrated import Evidence
from kiro_learn.retrieval.ranking.confidence import FLOOR
from kiro_learn.retrieval.ranking.vector_index import VectorIndex
from kiro_learn.retrieval.ranking.vector_rows import multiply_codes, unit_rows
from kiro_learn.retrieval.rendering.excerpts import Excerpted
from kiro_learn.retrieval.rendering.passages import passages_of
from kiro_learn.testing.daemon import a_record

DICE = np.random.default_rng(20261122)
RECORDS = [
    attrs.evolve(a_record(number), facts=tuple(f"fact {fact} {'word ' * 55}" for fact in range(number)))
    for number in range(12)
]


ROWS: Matrix = unit_rows(DICE.normal(size=(len(RECORDS), DIMENSION)).astype(np.float32))
IDS = [record.record_id for record in RECORDS]


def findings() -> Findings:
    ats = [record.created_at for record in RECORDS]
    ranking = VectorIndex.of(IDS, ats, ROWS, [1] * len(ROWS)).rank(ROWS[0], 10, product=multiply_codes)
    evidence: dict[Ranking, Evidence] = {
        Ranking.WORDS: LexicalRanking(hits=(), ideal_score=0.0),
        Ranking.MEANING: ranking,
    }
    return Findings(hits=(), evidence=evidence, degraded=(), asked=())


FINDINGS = findings()


def codes_of_passages() -> dict[RecordId, Codes]:
    """The codes of each record's passages; one record has none, and one has a code too few."""
    codes = {
        record.record_id: to_codes(DICE.normal(size=(len(passages_of(record)), DIMENSION)).astype(np.float32))
        for record in RECORDS[1:]
    }
    codes[IDS[5]] = codes[IDS[5]][:-1]
    return codes


CODES = codes_of_passages()


def readings(records: Sequence[MemoryRecord], codes: Mapping[RecordId, Codes] = CODES) -> list[Excerpted]:
    read = compared({each.record_id: codes[each.record_id] for each in records if each.record_id in codes}, FINDINGS)
    return [found(each, float(len(each.facts)), read.get(each.record_id), "a note") for each in records]


def test_a_memory_has_the_same_numbers_alone_and_among_others() -> None:
    for each, alone in zip(readings(RECORDS), (one for record in RECORDS for one in readings([record])), strict=True):
        assert (each.nearness, each.cosines) == (alone.nearness, alone.cosines)
        assert np.array_equal(np.array(each.vectors), np.array(alone.vectors))


def test_one_without_fitting_vectors_is_found_by_its_words() -> None:
    assert [number for number, each in enumerate(readings(RECORDS)) if each.nearness is None] == [0, 5]


def test_nothing_is_read_where_nothing_is_found_by_meaning() -> None:
    nothing = VectorIndex().rank(ROWS[0], 5)
    assert compared(CODES, attrs.evolve(FINDINGS, evidence={**FINDINGS.evidence, Ranking.MEANING: nothing})) == {}


def test_a_title_says_nothing_of_how_near_the_text_is() -> None:
    codes = to_codes(ROWS[:3])
    titled, bare = compared({RecordId("a"): codes, RecordId("b"): codes[:1]}, FINDINGS).values()
    assert titled.nearness_of_text == titled.nearness[1:]
    assert bare.nearness_of_text == bare.nearness


def test_a_memory_whose_passages_have_no_codes_is_not_compared() -> None:
    assert compared({RecordId("none"): to_codes(ROWS[:0])}, FINDINGS) == {}


def test_a_passage_that_is_the_query_is_as_near_as_can_be() -> None:
    (each,) = compared({RecordId("a"): to_codes(ROWS[:2])}, FINDINGS).values()
    assert each.cosines[0] == pytest.approx(1.0, abs=1e-3)


def test_a_note_is_told_also_of_a_memory_without_vectors() -> None:
    assert found(RECORDS[1], 1.0, None, "a note").note == "a note"


def test_a_question_in_another_language_than_the_models_needs_words_too() -> None:
    told = readings(RECORDS[:1])
    assert sureness_of(told, FINDINGS, "What is the capital of France, and why?").confidence > FLOOR
    assert sureness_of(told, FINDINGS, "Wie lautet die Hauptstadt von Frankreich und warum?").confidence < FLOOR
    assert sureness_of(told, FINDINGS, "postgres pool timeout").confidence > FLOOR
    by_words = LexicalRanking(hits=(Hit(IDS[0], RECORDS[0].created_at, 0.9),), ideal_score=1.0)
    both = attrs.evolve(FINDINGS, evidence={**FINDINGS.evidence, Ranking.WORDS: by_words})
    assert sureness_of(told, both, "Warum haben wir Karpenter verworfen?").confidence > FLOOR
