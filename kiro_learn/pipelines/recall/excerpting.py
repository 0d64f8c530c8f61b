"""Compares the passages of the memories that a prompt found with it, and says how many bytes they are worth together.

The memories of a context block are shown by these rules too, as those of the hybrid search are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

import attrs
import numpy as np

from kiro_learn.learning.extraction.extractive.vocabulary import is_foreign
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import Hit
from kiro_learn.model.vectors import Codes, Matrix
from kiro_learn.pipelines.recall.context_search import Gathered
from kiro_learn.pipelines.recall.finder import Findings
from kiro_learn.retrieval.graph.budget import Line
from kiro_learn.retrieval.query.syntax import terms
from kiro_learn.retrieval.ranking.calibrated import vectors_of, words_of, worth_telling
from kiro_learn.retrieval.ranking.confidence import (
    CERTAIN,
    FLOOR,
    WORDS_CERTAIN,
    WORDS_FLOOR,
    Sureness,
    confidence,
    word_share,
)
from kiro_learn.retrieval.ranking.vector_rows import unit_rows
from kiro_learn.retrieval.rendering.excerpts import Excerpted, chosen, listed
from kiro_learn.retrieval.rendering.passages import passages_of


@attrs.frozen(eq=False)
class Compared:
    """The passages of a memory, compared with a query."""

    vectors: Matrix
    """The vectors of the passages, a row each, of unit length."""
    nearness: tuple[float, ...]
    """How near each passage is to the query, in standard deviations above the usual nearness of whole memories."""
    cosines: tuple[float, ...]

    @property
    def nearness_of_text(self) -> tuple[float, ...]:
        """The nearness of the passages without that of the title, unless there is only the title."""
        return self.nearness[1:] or self.nearness


def compared(passages: Mapping[RecordId, Codes], findings: Findings) -> dict[RecordId, Compared]:
    """All ``passages``, decoded and compared together, which costs hardly more than one; empty without vectors."""
    standings = vectors_of(findings.evidence).standings
    known = {record_id: codes for record_id, codes in passages.items() if len(codes)}
    if standings is None or not known:
        return {}
    vectors = unit_rows(np.concatenate(list(known.values())).astype(np.float32))
    nearness = standings.deviations_of(vectors)
    ends = accumulate(map(len, known.values()))
    parts = ((record_id, slice(end - len(known[record_id]), end)) for record_id, end in zip(known, ends, strict=True))
    return {
        # Each cosine is computed by itself: in single precision, the last bit of a product depends on its other rows.
        record_id: Compared(vectors[part], nearness[part], standings.cosines_of(vectors[part]))
        for record_id, part in parts
    }


def found(record: MemoryRecord, score: float, compared: Compared | None, note: str) -> Excerpted:
    """``record`` with its passages, and with their nearness to the query if they have vectors."""
    passages = passages_of(record)
    if compared is None or len(compared.vectors) != len(passages):
        return Excerpted(record, score, passages, note=note)
    return Excerpted(record, score, passages, compared.nearness, compared.cosines, compared.vectors, note)


def sureness_of(found: Sequence[Excerpted], findings: Findings | None, question: str) -> Sureness:
    """How sure it is that what was found helps: by the nearest passages and whole memories.

    Where nothing has a vector, words alone decide; where ``question`` is not in English, both do.
    """
    if not found or findings is None:
        return Sureness(0.0)
    cosines = [*vectors_of(findings.evidence).nearest_wholes, *(cosine for each in found for cosine in each.cosines)]
    if not cosines:
        return Sureness(word_share(words_of(findings.evidence)), WORDS_FLOOR, WORDS_CERTAIN)
    if is_foreign(question):
        # The bundled model reads English: it puts all texts of another language near each other.
        return Sureness(min(confidence(cosines), _as_confidence(word_share(words_of(findings.evidence)))))
    return Sureness(confidence(cosines))


def _as_confidence(share: float) -> float:
    """A share of words, converted to the scale of the confidence."""
    return FLOOR + (share - OTHER_WORDS_FLOOR) * (CERTAIN - FLOOR) / (OTHER_WORDS_CERTAIN - OTHER_WORDS_FLOOR)


OTHER_WORDS_FLOOR, OTHER_WORDS_CERTAIN = 0.33, 0.6
"""The shares of words that count as the floor and as certain, for a question that is not in the model's language."""


INDENT = "  "


class PassageTelling:
    """The memories that a message found, each with its passages and their nearness to the message."""

    def __init__(self, lines: Sequence[Line], gathered: Gathered, message: str) -> None:
        """``lines``: the lines of memories, each of which shows the title."""
        self._findings = gathered.findings.result
        self._message = message
        self._terms = terms(message)
        excerpts = {each.record.record_id: each for each in _excerpts(gathered)}
        self._sections = [
            _Section(line, excerpts[RecordId(line.item_id)]) for line in lines if line.item_id in excerpts
        ]
        self._excerpts = [section.excerpted for section in self._sections]

    def bytes_worth(self, most_bytes: int) -> int:
        """How many of ``most_bytes`` the passages are worth, by how sure it is that they help."""
        return sureness_of(self._excerpts, self._findings, self._message).bytes_worth(most_bytes)

    def told(self, room: int) -> list[Line]:
        """The memories that fit into ``room`` bytes with at least one passage; each line has its passages below it."""
        places = chosen(self._excerpts, self._sections, self._terms, room)
        return [self._sections[number].told(sorted(places[number])) for number in sorted(places)]


def _excerpts(gathered: Gathered) -> Iterator[Excerpted]:
    """The memories with the scores of the hybrid search, refined by their passages.

    Memories that this search finds not worth telling are left out. Memories that only the graph or the named time
    found get the lowest of the scores.
    """
    findings = gathered.findings.result
    near = {} if findings is None else compared(gathered.passages.result, findings)
    scores = {} if findings is None else _scores(findings, near)
    judged = set() if findings is None else {hit.record_id for each in findings.evidence.values() for hit in each.hits}
    least = min(scores.values(), default=1.0)
    for record in gathered.records.result:
        if record.record_id in scores or record.record_id not in judged:
            score = scores.get(record.record_id, least)
            yield found(record, score, near.get(record.record_id), note="")


def _scores(findings: Findings, near: Mapping[RecordId, Compared]) -> dict[RecordId, float]:
    hits: Sequence[Hit] = findings.hits
    if findings.fusion:
        nearness = {record_id: each.nearness_of_text for record_id, each in near.items()}
        hits = findings.fusion.refined(nearness).of(hit.record_id for hit in hits)
    return {hit.record_id: hit.score for hit in worth_telling(hits)}


@attrs.frozen(eq=False)
class _Section:
    """A memory as it is shown; see ``retrieval.rendering.excerpts.Sizes``."""

    line: Line
    excerpted: Excerpted

    @property
    def heading_bytes(self) -> int:
        return len(self.line.text.encode()) + 1

    def passage_bytes(self, place: int) -> int:
        return len(self._passage(place).encode())

    def told(self, places: Sequence[int]) -> Line:
        below = "".join(map(self._passage, places))
        return attrs.evolve(self.line, text=f"{self.line.text}\n{below}".rstrip("\n"))

    def _passage(self, place: int) -> str:
        text = listed(self.excerpted.passages[place], self.excerpted.record.title)
        return "".join(f"{INDENT}{line}\n" for line in text.splitlines())
