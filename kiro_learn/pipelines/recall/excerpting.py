"""What is known of the passages of the memories that a prompt found, and how many bytes they are worth together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

import attrs
import numpy as np

from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.vectors import Codes, Matrix
from kiro_learn.pipelines.recall.finder import Findings
from kiro_learn.retrieval.ranking.calibrated import vectors_of, words_of
from kiro_learn.retrieval.ranking.confidence import (
    WORDS_CERTAIN,
    WORDS_FLOOR,
    Sureness,
    confidence,
    word_share,
)
from kiro_learn.retrieval.ranking.vector_rows import unit_rows
from kiro_learn.retrieval.rendering.excerpts import Excerpted
from kiro_learn.retrieval.rendering.passages import passages_of


@attrs.frozen(eq=False)
class Compared:
    """The passages of a memory beside a query."""

    vectors: Matrix
    """Of unit length, a row a passage."""
    nearness: tuple[float, ...]
    """Deviations above what is usual for whole memories."""
    cosines: tuple[float, ...]

    @property
    def nearness_of_text(self) -> tuple[float, ...]:
        """Without the title, where there is more."""
        return self.nearness[1:] or self.nearness


def compared(passages: Mapping[RecordId, Codes], findings: Findings) -> dict[RecordId, Compared]:
    """All ``passages``, decoded and compared at once, since that costs as much as for one; nothing without vectors."""
    standings = vectors_of(findings.evidence).standings
    known = {record_id: codes for record_id, codes in passages.items() if len(codes)}
    if standings is None or not known:
        return {}
    vectors = unit_rows(np.concatenate(list(known.values())).astype(np.float32))
    nearness = standings.deviations_of(vectors)
    ends = accumulate(map(len, known.values()))
    parts = ((record_id, slice(end - len(known[record_id]), end)) for record_id, end in zip(known, ends, strict=True))
    return {
        # The cosines one by one: the last bit of a product in single precision depends on what else is in it.
        record_id: Compared(vectors[part], nearness[part], standings.cosines_of(vectors[part]))
        for record_id, part in parts
    }


def found(record: MemoryRecord, score: float, compared: Compared | None, note: str) -> Excerpted:
    """``record`` with its passages, and how near each is to the query where their vectors are there."""
    passages = passages_of(record)
    if compared is None or len(compared.vectors) != len(passages):
        return Excerpted(record, score, passages, note=note)
    return Excerpted(record, score, passages, compared.nearness, compared.cosines, compared.vectors, note)


def sureness_of(found: Sequence[Excerpted], findings: Findings | None) -> Sureness:
    """By the nearest passages and whole memories; by words alone where nothing has a vector."""
    if not found or findings is None:
        return Sureness(0.0)
    cosines = [*vectors_of(findings.evidence).nearest_wholes, *(cosine for each in found for cosine in each.cosines)]
    if not cosines:
        return Sureness(word_share(words_of(findings.evidence)), WORDS_FLOOR, WORDS_CERTAIN)
    return Sureness(confidence(cosines))
