"""Says of a prompt what the profile of its project has on what it touches: a line, or nothing."""

from __future__ import annotations

from collections.abc import Sequence

import trio

from kiro_learn.config import RecallConfig
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.profile import ProfileFact, Slot
from kiro_learn.model.told import PAST, told_slot
from kiro_learn.ports.projects import ProfilesOfProjects
from kiro_learn.ports.session_prompts import SessionPrompt
from kiro_learn.retrieval.graph.intents import Intent, intent_of
from kiro_learn.retrieval.query.profile_slots import slots_of
from kiro_learn.retrieval.query.question import Query
from kiro_learn.retrieval.rendering.profile_lines import past_line, slot_line

PATIENCE_SECONDS = 0.05
"""For one line. A prompt whose profile is slower is told its memories alone."""


class SlotLines:
    """Each is told once a session, whether anything else is told or not."""

    def __init__(self, profiles: ProfilesOfProjects, config: RecallConfig) -> None:
        self._profiles = profiles
        self._is_told = config.profile and config.prompts != "none"

    async def of(self, namespace: Namespace, folder: str | None, query: Query, prompt: SessionPrompt) -> str:
        """The line for a prompt, which counts as told; empty if there is none, or it was told before."""
        if not (self._is_told and folder):
            return ""
        slots = slots_of(query.meaning, sets_goal=prompt.may_set_goal)
        asks_history = intent_of(query.meaning) is Intent.ASK_HISTORY
        told_id = PAST if asks_history else told_slot(slots[0]) if slots else None
        if told_id is None or told_id in prompt.told_before():
            return ""
        with trio.move_on_after(PATIENCE_SECONDS):
            if asks_history:
                line = past_line(await self._past(namespace, folder, slots))
            else:
                line = slot_line(await self._profiles.told(namespace, folder), slots)
            if line:
                prompt.told((told_id,))
            return line
        return ""

    async def _past(self, namespace: Namespace, folder: str, slots: Sequence[Slot]) -> list[ProfileFact]:
        """What ended of the slots that the prompt touches; of all if nothing did."""
        past = await self._profiles.past(namespace, folder)
        return [fact for fact in past if fact.slot in slots] or past
