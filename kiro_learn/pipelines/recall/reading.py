"""Reads from the store what a prompt needs of the memories that it found, and what is shown with them.

A read that fails is named in ``degraded``, and the rest is shown. Every read of a prompt is a stage of its stopwatch.
If the prompt is cut off, ``degraded`` names the stage that began last. A read that the block can do without also has
a deadline of its own (``_part``).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from typing import TypeVar

import trio

from kiro_learn.config import RecallConfig
from kiro_learn.model.graph import Preference
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.profile import ProfileFact, ProjectProfile, Slot
from kiro_learn.model.record import EDITED, MemoryRecord, RecordFilter
from kiro_learn.model.retrieval import PAST, BriefId, told_slot
from kiro_learn.pipelines.recall.finder import Findings
from kiro_learn.pipelines.recall.recall_trace import RecallTrace
from kiro_learn.pipelines.recall.retrievers import LATE
from kiro_learn.ports.home import ProfilesOfProjects, ProjectFiles
from kiro_learn.ports.session_prompts import SessionPrompt
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.storage.records import SyntaxSearch
from kiro_learn.retrieval.graph.query import Intent, intent_of
from kiro_learn.retrieval.query.prompt_kind import (
    MOST_ASKING,
    acts_of,
    asks_whether,
    has_name,
    may_ask_for_a_tool,
    slots_of,
    tools_asked_for,
)
from kiro_learn.retrieval.query.question import Query
from kiro_learn.retrieval.query.syntax import compile_query
from kiro_learn.retrieval.rendering.brief import past_line, slot_line, wish_lines
from kiro_learn.retrieval.rendering.repeats import all_cited_files, file_notes, was
from kiro_learn.runtime.supervisor import catch_errors, reason

T = TypeVar("T")

RENDER_SHARE = 0.1
"""The share of the budget that reading the passages must leave for reading the records and writing the block."""

HISTORY_SHARE = 0.05
"""The share of the budget that reading the earlier text of corrected memories must leave."""

MOST_ABOUT = 5
"""A name that more memories have than this is a word of the daily work, and does not say which memory is meant."""

MOST_ALIKE = 20
"""The most memories that are checked for a name: those with its words in a row, since the index has no names."""

LOOKING_UP_SHARE = 0.1
"""The share of the budget that looking up names may take; looking up the branch may take as much."""

NAMES_UNKNOWN = "names: the index of words is damaged"


class Reading:
    """Reads what a prompt needs of its memories. A read that fails is named in the trace, and the rest is shown."""

    def __init__(self, storage: StorageBackend, config: RecallConfig) -> None:
        self._storage = storage
        self._config = config

    async def about(self, trace: RecallTrace, names: Sequence[str]) -> frozenset[RecordId]:
        """The memories that have one of ``names``; without names that many have, and the session's own."""
        latest = trio.current_time() + self._config.budget_seconds * LOOKING_UP_SHARE
        found = await _part(trace, "names", lambda: self._about(trace, names), latest=latest)
        return frozenset() if found is None else found

    async def _about(self, trace: RecallTrace, names: Sequence[str]) -> frozenset[RecordId]:
        found: set[RecordId] = set()
        for name in names:
            having = await self._having(trace, name)
            if len(having) <= MOST_ABOUT:
                found.update(having)
        if not found or trace.session_id is None:
            return frozenset(found)
        return frozenset(found - await self._storage.get_fitting_ids(found, RecordFilter(session=trace.session_id)))

    async def _having(self, trace: RecallTrace, name: str) -> Sequence[RecordId]:
        """The memories that have ``name``; empty if too many have its words in a row to check them all."""
        phrase = compile_query(f'"{name}"')
        search = SyntaxSearch(namespace=trace.namespace, expression=phrase, limit=MOST_ALIKE + 1, is_any_enough=True)
        ranking = await self._storage.search_syntax(search)
        if ranking.is_index_damaged and NAMES_UNKNOWN not in trace.degraded:
            trace.degraded.append(NAMES_UNKNOWN)
        alike = [hit.record_id for hit in ranking.hits]
        if not alike or len(alike) > MOST_ALIKE:
            return ()
        records = await self._storage.get_memory_records(alike)
        return [each.record_id for each in records if any(has_name(text, name) for text in texts_of(each))]

    async def of_branch(self, trace: RecallTrace, findings: Findings, branch: str) -> Collection[RecordId]:
        """The memories among ``findings`` that were learned on ``branch``, which is not merged."""
        ids, wanted = [hit.record_id for hit in findings.hits], RecordFilter(branch=branch)
        latest = trio.current_time() + self._config.budget_seconds * LOOKING_UP_SHARE
        found = await _part(trace, "branch", lambda: self._storage.get_fitting_ids(ids, wanted), latest=latest)
        return () if found is None else found

    async def read(self, trace: RecallTrace) -> None:
        """Read the records of the hits. If one makes the read fail, each is read by itself to keep the others."""
        record_ids = [hit.record_id for hit in trace.hits]
        with trace.stopwatch.stage("records"):
            records = await catch_errors("records", lambda: self._storage.get_memory_records(record_ids))
            if isinstance(records, Exception):
                trace.degraded.append(f"records: {reason(records)}")
                records = [record for record_id in record_ids for record in await self._read_alone(record_id)]
            elif len(records) < len(record_ids):
                damaged = {*record_ids} & {*await self._storage.list_damaged()}
                trace.degraded += [f"records: the row of {record_id} is damaged" for record_id in sorted(damaged)]
        with trace.stopwatch.stage("render"):
            trace.take_records(records)

    async def note_corrected(self, trace: RecallTrace) -> None:
        """Note what each memory that a person corrected said before."""
        latest = trio.current_effective_deadline() - self._config.budget_seconds * HISTORY_SHARE
        if any(record.strategy == EDITED for record in trace.records):
            await _part(trace, "history", lambda: self._note_corrected(trace), latest=latest)

    async def _note_corrected(self, trace: RecallTrace) -> None:
        for record in trace.records:
            if record.strategy == EDITED:
                made = await self._storage.list_replacements(record.record_id)
                if made and made[0].replaced[0].title != record.title:
                    trace.corrected[record.record_id] = was(made[0].replaced[0], made[0].replaced_at)

    async def read_passages(self, trace: RecallTrace, *, most: int) -> None:
        """Read the vectors of the passages; if there are none, the words of the query choose among the passages."""
        # Hits that were told before are read only if nothing is new: their passages say whether they were close enough.
        record_ids = [hit.record_id for hit in trace.new_hits or trace.hits]
        latest = trio.current_effective_deadline() - self._config.budget_seconds * RENDER_SHARE
        passages = await _part(
            trace, "passages", lambda: self._storage.get_passages(record_ids, trace.model), latest=latest
        )
        trace.take_passages({} if passages is None else passages, most=most)

    async def _read_alone(self, record_id: RecordId) -> Sequence[MemoryRecord]:
        found = await catch_errors("record", lambda: self._storage.get_memory_records([record_id]))
        return () if isinstance(found, Exception) else found


async def _part(trace: RecallTrace, stage: str, read: Callable[[], Awaitable[T]], *, latest: float) -> T | None:
    """The result of ``read`` by ``latest`` (trio's clock); None if it fails or is late, which ``degraded`` says."""
    found: T | Exception | None = None
    with trio.move_on_at(latest) as scope, trace.stopwatch.stage(stage):
        found = await catch_errors(stage, read)
    if scope.cancelled_caught or isinstance(found, Exception):
        trace.degraded.append(f"{stage}: {reason(found) if isinstance(found, Exception) else LATE}")
        return None
    return found


def texts_of(record: MemoryRecord) -> Iterator[str]:
    """All texts of ``record`` and its files, as they were written: the index splits some scripts into pairs."""
    yield from (record.title, record.summary, record.text, *record.facts)
    yield from (*record.files_touched, *record.files_read, *record.files_modified)


# The lines for a prompt that the project's profile has, and the preferences about what the prompt orders.

SLOT_PATIENCE_SECONDS = 0.05
"""The most time for one line. If the profile takes longer, the prompt is told its memories only."""

MOST_WISHES = 2


class SlotLines:
    """The lines of the profile for a prompt. Each is told once a session, even if no memory is told."""

    def __init__(self, profiles: ProfilesOfProjects, config: RecallConfig) -> None:
        self._profiles = profiles
        self._is_told = config.profile and config.prompts != "none"
        self._tells_wishes = config.pipeline != "graph"  # its blocks tell all preferences

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
        """The preferences about what the prompt orders, without those that its session was told before."""
        if not (acts and self._tells_wishes):
            return []
        meant = re.compile(rf"(?i)\b(?:{'|'.join(act.removesuffix('e') for act in acts)})")
        wanted = [wish for wish in await self._profiles.wishes(namespace) if meant.search(f"{wish.key} {wish.value}")]
        before = prompt.told_before()
        return [wish for wish in wanted if wish.item_id not in before][:MOST_WISHES]

    async def _past(
        self, namespace: Namespace, folder: str, question: str, slots: Sequence[Slot]
    ) -> Sequence[ProfileFact]:
        """The past facts of the slots that the question touches, or of the tools that it names.

        If it names neither, all past facts; none if it asks whether something was so.
        """
        past = await self._profiles.past(namespace, folder)
        if slots:
            return [fact for fact in past if fact.slot in slots]
        named = tools_asked_for(question, ProjectProfile(tuple(past)))
        return named if named or asks_whether(question) else past


# Notes which files that memories cite are gone or were changed since the memories were learned.

FILES_PATIENCE_SECONDS = 0.005
"""The most time for the files of one block. If the file system is slower, the notes are left out, not the memories."""


class FileNotes:
    """Notes which files of a record were changed since, by the names and times of files in the project's folder."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files

    async def of(
        self, folder: str | None, records: Sequence[MemoryRecord], *, patience_seconds: float = FILES_PATIENCE_SECONDS
    ) -> dict[RecordId, str]:
        """A note for each of ``records`` that needs one; empty if the files cannot be looked at in time."""
        paths = all_cited_files(records)
        found: object = None
        if folder and paths:
            with trio.move_on_after(patience_seconds):
                found = await catch_errors("files", lambda: self._files.modified_ats(folder, paths))
        return file_notes(records, found) if isinstance(found, dict) else {}
