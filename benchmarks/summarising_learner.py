"""A model that summarises away: of what the built-in learner keeps it tells titles, or titles and a few sentences."""

from __future__ import annotations

from typing import Literal

import attrs

from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.record import MODEL_STRATEGY
from kiro_learn.ports.models import Drafted, Learner

Manner = Literal["titles", "brief"]

_BRIEF_SUMMARY_CHARACTERS = 300
_BRIEF_FACTS = 3


class SummarisingLearner:
    """Counts as a model: what it answers is checked as any model's answer is."""

    strategy = MODEL_STRATEGY
    name = "summarising stand-in"

    def __init__(self, manner: Manner, built_in: Learner) -> None:
        self._manner = manner
        self._built_in = built_in

    async def drafts_of(self, snapshot: BufferSnapshot) -> Drafted:
        drafted = await self._built_in.drafts_of(snapshot)
        return attrs.evolve(drafted, drafts=[self._worded(draft) for draft in drafted.drafts])

    def _worded(self, draft: RecordDraft) -> RecordDraft:
        if self._manner == "titles":
            return attrs.evolve(draft, summary=draft.title, facts=())
        summary = draft.summary[:_BRIEF_SUMMARY_CHARACTERS]
        return attrs.evolve(draft, summary=summary, facts=draft.facts[:_BRIEF_FACTS])
