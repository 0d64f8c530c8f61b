"""Whether an answer only says again what is remembered: what an agent was told, it tells whoever asks."""

from __future__ import annotations

import re

from kiro_learn.learning.reconciliation.judge import parted
from kiro_learn.learning.relearning import stems
from kiro_learn.model.record import MemoryRecord, Origin

TOLD_AGAIN_SIMILARITY = 0.5
"""Cosine from which a memory is looked at: a short answer and what it repeats are not near."""

_MOST_STEMS = 40
"""Of an answer: a longer one that adds nothing would be an accident."""
_LEAST_FOR_ONE_NEW, _SHARE_NEW = 3, 0.1
"""Of so many words one may be new, of more this share: a verb changes its form ("took")."""
_NAMES = re.compile(r"[\d_./\\@:#-]")
"""In a word that is a number or a name."""


def says_again(answer: MemoryRecord, known: MemoryRecord) -> bool:
    """Whether ``answer`` has no number, no name and hardly a word that ``known`` and its question do not have.

    False where the agent changed a file.
    """
    question, said = parted(answer.summary)
    if answer.origin is not Origin.ASSISTANT or answer.knowledge_type or answer.files_modified or not question:
        return False
    if known.created_at >= answer.created_at:
        return False
    own = stems("\n".join((said, *answer.facts))) - stems(question)
    new = own - stems("\n".join((known.title, known.summary, *known.facts)))
    if not own or len(own) > _MOST_STEMS or any(_NAMES.search(word) for word in new):
        return False
    return len(new) <= max(len(own) >= _LEAST_FOR_ONE_NEW, int(_SHARE_NEW * len(own)))
