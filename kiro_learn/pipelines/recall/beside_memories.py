"""What a prompt is told beside its memories: its project's profile, standing wishes, and which cited files changed."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import trio

from kiro_learn.config import RecallConfig
from kiro_learn.model.graph import Preference
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.profile import ProfileFact, ProjectProfile, Slot
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import PAST, BriefId, told_slot
from kiro_learn.ports.home import ProfilesOfProjects, ProjectFiles
from kiro_learn.ports.session_prompts import SessionPrompt
from kiro_learn.retrieval.graph.query import Intent, intent_of
from kiro_learn.retrieval.query.prompt_kind import (
    MOST_ASKING,
    acts_of,
    asks_whether,
    may_ask_for_a_tool,
    slots_of,
    tools_asked_for,
)
from kiro_learn.retrieval.query.question import Query
from kiro_learn.retrieval.rendering.brief import past_line, slot_line, wish_lines
from kiro_learn.retrieval.rendering.repeats import all_cited_files, file_notes
from kiro_learn.runtime.supervisor import catch_errors

# Says of a prompt what the profile of its project has on what it touches, and what is wanted of what it orders.

SLOT_PATIENCE_SECONDS = 0.05
"""For one line. A prompt whose profile is slower is told its memories alone."""

MOST_WISHES = 2


class SlotLines:
    """Each is told once a session, whether anything else is told or not."""

    def __init__(self, profiles: ProfilesOfProjects, config: RecallConfig) -> None:
        self._profiles = profiles
        self._is_told = config.profile and config.prompts != "none"
        self._tells_wishes = config.pipeline != "graph"  # whose blocks tell all of them

    async def of(self, namespace: Namespace, folder: str | None, query: Query, prompt: SessionPrompt) -> str:
        """The lines for a prompt, which count as told; empty if there are none, or they were told before."""
        if not (self._is_told and folder):
            return ""
        with trio.move_on_after(SLOT_PATIENCE_SECONDS):
            wishes = await self._wishes(namespace, acts_of(query.meaning), prompt)
            told_id, line = await self._slot(namespace, folder, query, prompt)
            prompt.told((*(wish.item_id for wish in wishes), *((told_id,) if line and told_id else ())))
            return wish_lines(wishes) + line
        return ""

    async def _slot(
        self, namespace: Namespace, folder: str, query: Query, prompt: SessionPrompt
    ) -> tuple[BriefId | None, str]:
        text, before = query.meaning, prompt.told_before()
        slots = slots_of(text, sets_goal=prompt.may_set_goal)
        if len(text) <= MOST_ASKING and intent_of(text) is Intent.ASK_HISTORY:
            return PAST, "" if PAST in before else past_line(await self._past(namespace, folder, text, slots))
        if not slots and not may_ask_for_a_tool(text):
            return None, ""
        profile = await self._profiles.told(namespace, folder)
        if not slots:
            profile = ProjectProfile(tools_asked_for(text, profile))
            slots = tuple(dict.fromkeys(fact.slot for fact in profile.facts))
        told_id = told_slot(slots[0]) if slots and (slots[0] is not Slot.RUN or profile.of(Slot.RUN)) else None
        return told_id, "" if told_id is None or told_id in before else slot_line(profile, slots)

    async def _wishes(self, namespace: Namespace, acts: Collection[str], prompt: SessionPrompt) -> list[Preference]:
        """What the person wants of what the prompt orders, and its session was not told by a prompt."""
        if not (acts and self._tells_wishes):
            return []
        meant = re.compile(rf"(?i)\b(?:{'|'.join(act.removesuffix('e') for act in acts)})")
        wanted = [wish for wish in await self._profiles.wishes(namespace) if meant.search(f"{wish.key} {wish.value}")]
        before = prompt.told_before()
        return [wish for wish in wanted if wish.item_id not in before][:MOST_WISHES]

    async def _past(
        self, namespace: Namespace, folder: str, question: str, slots: Sequence[Slot]
    ) -> Sequence[ProfileFact]:
        """What ended of the slots that the question touches, or of what it names; else all, unless it asks whether."""
        past = await self._profiles.past(namespace, folder)
        if slots:
            return [fact for fact in past if fact.slot in slots]
        named = tools_asked_for(question, ProjectProfile(tuple(past)))
        return named if named or asks_whether(question) else past


# Says of memories which of the files that they cite are gone or were written to since they were learned.

PATIENCE_SECONDS = 0.005
"""For the files of one block. A file system that is slower leaves its notes out, not the memories."""


class FileNotes:
    """Notes which files of a record were written to since, by names and times of files in the project's folder only."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files

    async def of(
        self, folder: str | None, records: Sequence[MemoryRecord], *, patience_seconds: float = PATIENCE_SECONDS
    ) -> dict[RecordId, str]:
        """A note for each of ``records`` of which something is to be said. Late or failing, there is none."""
        paths = all_cited_files(records)
        found: object = None
        if folder and paths:
            with trio.move_on_after(patience_seconds):
                found = await catch_errors("files", lambda: self._files.modified_ats(folder, paths))
        return file_notes(records, found) if isinstance(found, dict) else {}
