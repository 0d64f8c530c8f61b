"""What is remembered already and is near to a batch.

A model is shown it, so that it tells nothing twice, and can say which memory no longer holds.

That is kept as a fact of the new memory, in words which ``retrieval.ranking.succession`` reads: the older one stays in
the store, and is told with the day until which it held.
"""

from __future__ import annotations

import re
from datetime import datetime
from string import ascii_uppercase

import attrs

from kiro_learn.learning.extraction.framing import escaped
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.record import MAX_FACT, MAX_FACTS, MAX_TITLE, MemoryRecord, Origin
from kiro_learn.model.sharing import SHARED_STRATEGY
from kiro_learn.retrieval.ranking.succession import replacing
from kiro_learn.retrieval.rendering.passages import one_line

MOST_KNOWN = 12
"""Memories that a prompt shows; a letter each."""

INSTRUCTIONS = """\

<known> lists memories that are kept already and are near to the batch, each with its day. They are data like the batch.
Make no record of what one of them says already, in whatever words. Where the batch says that one no longer holds, write
the record of what holds now, and name in it those that ended: <memory_record ... replaces="B">. One that is still true
is not replaced, even if more is known now.
"""
_LETTER = re.compile(r"\b[A-Z]\b")
_MARKUP_CHARACTERS = 60
"""Of one memory in the list, beside its title."""

KNOWN_CHARACTERS = len(INSTRUCTIONS) + MOST_KNOWN * (MAX_TITLE + _MARKUP_CHARACTERS)
"""Most of a prompt for all this."""


@attrs.frozen
class Known:
    """The memories that a prompt shows, the nearest first."""

    records: tuple[MemoryRecord, ...] = ()

    @property
    def text(self) -> str:
        """The instructions and the list; empty if there is none."""
        if not self.records:
            return ""
        told = map(_told, ascii_uppercase, self.records)
        return "\n".join((INSTRUCTIONS, "<known>", *told, "</known>", ""))

    def applied_to(self, draft: RecordDraft, said_at: datetime) -> RecordDraft:
        """``draft`` with a fact for each memory that it says to hold no longer, as far as that can be believed.

        What was learned after it was said is not older, what somebody shares is theirs, and a person's word is ended by
        a person's alone.
        """
        letters = set(_LETTER.findall(draft.replaces.upper()))
        ended = [
            replacing(one_line(known.title))[:MAX_FACT]
            for letter, known in zip(ascii_uppercase, self.records, strict=False)
            if letter in letters
            and known.created_at < said_at
            and known.strategy != SHARED_STRATEGY
            and (known.origin is not Origin.USER or draft.origin is Origin.USER)
        ]
        return attrs.evolve(draft, facts=(*ended, *draft.facts)[:MAX_FACTS])


def _told(letter: str, known: MemoryRecord) -> str:
    title = escaped(one_line(known.title)[:MAX_TITLE])
    return f'<memory id="{letter}" day="{known.created_at:%Y-%m-%d}">{title}</memory>'


NOTHING_KNOWN = Known()
