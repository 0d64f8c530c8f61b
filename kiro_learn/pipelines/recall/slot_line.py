"""Says of a prompt what the profile of its project has on what it touches: a line, or nothing."""

from __future__ import annotations

import trio

from kiro_learn.config import RecallConfig
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.told import told_slot
from kiro_learn.ports.projects import ProfilesOfProjects
from kiro_learn.ports.session_prompts import SessionPrompt
from kiro_learn.retrieval.query.profile_slots import slots_of
from kiro_learn.retrieval.query.question import Query
from kiro_learn.retrieval.rendering.profile_lines import slot_line

PATIENCE_SECONDS = 0.05
"""For one line. A prompt whose profile is slower is told its memories alone."""


class SlotLines:
    """Each is told once a session, whether anything else is told or not."""

    def __init__(self, profiles: ProfilesOfProjects, config: RecallConfig) -> None:
        self._profiles = profiles
        self._is_told = config.profile and config.prompts != "none"

    async def of(self, namespace: Namespace, folder: str | None, query: Query, prompt: SessionPrompt) -> str:
        """The line for a prompt, which counts as told; empty if there is none, or it was told before."""
        slots = slots_of(query.meaning, sets_goal=prompt.may_set_goal) if self._is_told and folder else ()
        if not slots or told_slot(slots[0]) in prompt.told_before():
            return ""
        with trio.move_on_after(PATIENCE_SECONDS):
            line = slot_line(await self._profiles.told(namespace, folder), slots)
            if line:
                prompt.told((told_slot(slots[0]),))
            return line
        return ""
