"""Makes an old memory shorter: its title, what was asked, the beginning of the answer, and its first facts."""

from __future__ import annotations

from kiro_learn.learning.extraction.asked import parted
from kiro_learn.learning.extraction.extractive.prose import cut_at_sentence, on_one_line
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import ASKED, MemoryRecord
from kiro_learn.model.retention import DISTILLED

ASKED_CHARACTERS = 100
ANSWER_CHARACTERS = 250
MOST_FACTS = 3
FACT_CHARACTERS = 150
LEAST_SAVED_SHARE = 0.5
"""Of its text; a memory that would become less shorter than this stays as it is."""


def distilled(record: MemoryRecord, record_id: RecordId) -> MemoryRecord | None:
    """The short memory that may replace ``record``, of the same events and time; None: it is short enough."""
    question, answer = parted(record.summary)
    lines = [
        f"{ASKED}{cut_at_sentence(on_one_line(question), ASKED_CHARACTERS)}" if question.strip() else "",
        cut_at_sentence(answer.strip(), ANSWER_CHARACTERS),
    ]
    short = unchecked_evolve(
        record,
        record_id=record_id,
        strategy=DISTILLED,
        summary="\n".join(line for line in lines if line) or record.title,
        facts=tuple(cut_at_sentence(fact, FACT_CHARACTERS) for fact in record.facts[:MOST_FACTS]),
    )
    return short if text_bytes(short) <= (1 - LEAST_SAVED_SHARE) * text_bytes(record) else None


def text_bytes(record: MemoryRecord) -> int:
    """Of summary and facts, in UTF-8."""
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in (record.summary, *record.facts))
