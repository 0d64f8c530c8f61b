"""The block of memories that an agent reads before it answers a prompt.

Rules of this file: the form is fixed, the whole is never longer than asked for, and nothing stored can imitate it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs

from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.retrieval.query.terms import terms
from kiro_learn.retrieval.rendering.fact_choice import choose_facts
from kiro_learn.retrieval.rendering.plain_text import item, one_line, paragraph, shortened

HEADING = "## Prior observations from kiro-learn\n"

UNTITLED = "Untitled"

LEAST_SECTION_BYTES = 240
"""Less than this of a memory says too little: rather fewer memories."""

LEAST_WEIGHT = 1e-9
"""Of a memory beside the best one: sums and quotients of weights stay ordinary numbers."""

LEAST_SUMMARY_BYTES = 80
"""A longer summary is not cut below this."""


@attrs.frozen
class Rendered:
    """What the agent reads, and which records are in it, in order. Both are empty if there is nothing to say."""

    text: str = ""
    record_ids: tuple[RecordId, ...] = ()
    passages: dict[RecordId, tuple[int, ...]] = attrs.field(factory=dict, eq=False)
    """Of each of them, which of its passages are told, by their places; nothing where it is told otherwise."""
    named_ids: tuple[RecordId, ...] = attrs.field(default=(), eq=False)
    """Of those that are only named."""


def render(
    records: Sequence[MemoryRecord],
    query: str,
    *,
    most_bytes: int,
    scores: Sequence[float] = (),
) -> Rendered:
    """The block for ``records``, most relevant first, in at most ``most_bytes`` of UTF-8.

    Every record has ``LEAST_SECTION_BYTES``, or what it needs if that is less, and of the rest a part by its score (one
    a record, or none: equal parts); what one leaves over goes to the others. One that does not fit in its share shows
    the facts that suit ``query`` best, then the beginning of its summary; one that still does not is left out.
    """
    room = most_bytes - len(HEADING)
    sections = [_Section.of(record) for record in records]
    sizes = [len(section.whole().encode()) for section in sections]
    least = _least(sizes, room)
    query_terms = terms(query)
    shown: list[tuple[RecordId, str]] = []
    spare = 0
    shares = _shares(sizes[: len(least)], least, scores[: len(least)], room)
    for section, share in zip(sections, shares, strict=False):
        text = section.within(share + spare, query_terms)
        spare += share - len(text.encode())
        if text:
            shown.append((section.record_id, text))
    if not shown:
        return Rendered()
    return Rendered(HEADING + "".join(text for _, text in shown), tuple(record_id for record_id, _ in shown))


def _least(sizes: Sequence[int], room: int) -> list[int]:
    """What each of the first gets at least; no more of them than there is room for, but one."""
    least: list[int] = []
    for size in sizes:
        part = min(size, LEAST_SECTION_BYTES)
        if part > room and least:
            break
        least.append(min(part, room))
        room -= least[-1]
    return least


def _shares(sizes: Sequence[int], least: Sequence[int], scores: Sequence[float], room: int) -> list[int]:
    wanted = [size - part for size, part in zip(sizes, least, strict=True)]
    more = fair_shares(wanted, _weights(scores) or [1.0] * len(sizes), room - sum(least))
    return [part + extra for part, extra in zip(least, more, strict=True)]


def _weights(scores: Sequence[float]) -> list[float]:
    """Each score as a part of the best, and no less than LEAST_WEIGHT; empty if one of them says nothing."""
    if not all(0 < score < math.inf for score in scores):
        return []
    best = max(scores, default=1.0)
    return [max(score / best, LEAST_WEIGHT) for score in scores]


def fair_shares(sizes: Sequence[int], weights: Sequence[float], room: int) -> list[int]:
    """How much of ``room`` each gets: what it needs if that is no more than its part by weight, else that part.

    Weighted max-min fairness (Bertsekas & Gallager, Data Networks, 1992, section 6.5.2), in whole bytes. Weights are
    above 0 and at most 1.
    """
    shares = [0] * len(sizes)
    least_per_weight_first = sorted(range(len(sizes)), key=lambda index: sizes[index] / weights[index])
    for done, index in enumerate(least_per_weight_first):
        rest = math.fsum(weights[other] for other in least_per_weight_first[done:])
        shares[index] = min(sizes[index], int(max(0, room) * weights[index] / rest))
        room -= shares[index]
    return shares


@attrs.frozen
class _Section:
    """One record as it is shown; every text of it is harmless."""

    record_id: RecordId
    title: str
    summary: str
    facts: tuple[str, ...]

    @classmethod
    def of(cls, record: MemoryRecord) -> _Section:
        facts = tuple(fact for fact in map(item, record.facts) if fact)
        return cls(record.record_id, one_line(record.title) or UNTITLED, paragraph(record.summary), facts)

    def whole(self) -> str:
        summary = f"\n{self.summary}\n" if self.summary else ""
        facts = "\n" + "".join(f"- {fact}\n" for fact in self.facts) if self.facts else ""
        return f"\n### {self.title}\n{summary}{facts}"

    def within(self, most_bytes: int, query_terms: Sequence[str]) -> str:
        """As much of it as fits, or nothing."""
        bare = attrs.evolve(self, facts=())
        room = most_bytes - len(bare.whole().encode())
        if room >= 0:
            facts = choose_facts(self.facts, query_terms, budget_bytes=room - len("\n"))
            return attrs.evolve(bare, facts=facts).whole()
        summary_bytes = len(self.summary.encode()) + room
        if summary_bytes < LEAST_SUMMARY_BYTES:
            return ""
        return attrs.evolve(bare, summary=shortened(self.summary, summary_bytes)).whole()
