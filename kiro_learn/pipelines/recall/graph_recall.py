"""Answers prompts with the context block of the whole memory, in place of the hybrid search alone."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime

import attrs
import trio

from kiro_learn.config import RecallConfig
from kiro_learn.learning.extraction.extractive.chatter import asks_nothing
from kiro_learn.learning.extraction.extractive.durable import only_lays_down
from kiro_learn.model.event import Body
from kiro_learn.model.feedback import PAST, BriefId, ToldId, told_slot
from kiro_learn.model.graph import GraphItemId, Preference
from kiro_learn.model.ids import EventId, RecordId, is_record_id
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.profile import ProfileFact, ProjectProfile, Slot
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import FoundRecord, Ranking, Report, Retrieval
from kiro_learn.pipelines.recall.context import Context, ContextBuilder, ContextRequest
from kiro_learn.pipelines.recall.recall_trace import (
    CUT_OFF,
    FAILED,
    NOTHING_ASKED,
    NOTHING_NEEDED,
    NOTHING_NEW,
    NOTHING_RELEVANT,
)
from kiro_learn.pipelines.recall.stopwatch import Stopwatch
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.home import ProfilesOfProjects, ProjectFiles
from kiro_learn.ports.session_prompts import SessionPrompt, SessionPrompts
from kiro_learn.retrieval.graph.query import Intent, intent_of
from kiro_learn.retrieval.query.prompt_kind import (
    GOALS,
    MOST_ASKING,
    PromptKind,
    acts_of,
    asks_whether,
    kind_of,
    may_ask_for_a_tool,
    slots_of,
    tools_asked_for,
)
from kiro_learn.retrieval.query.question import Query, query_text
from kiro_learn.retrieval.rendering.brief import past_line, slot_line, told_first, wish_lines
from kiro_learn.retrieval.rendering.repeats import changes_of, cited_files, note_of
from kiro_learn.runtime.supervisor import catch_errors, reason


class GraphRecall:
    """Has the same public methods as ``Recall``."""

    def __init__(
        self,
        contexts: ContextBuilder,
        config: RecallConfig,
        *,
        sessions: SessionPrompts,
        slot_lines: SlotLines,
        keep_report: Callable[[Report], None],
        clock: ClockAndIds,
    ) -> None:
        self._contexts = contexts
        self._config = config
        self._sessions = sessions
        self._slot_lines = slot_lines
        self._keep_report = keep_report
        self._clock = clock

    async def answer(
        self,
        namespace: Namespace,
        body: Body,
        *,
        session_id: str | None = None,
        event_id: EventId | None = None,
        said_at: datetime | None = None,
        folder: str | None = None,
        agent: str | None = None,
        branch: str | None = None,  # noqa: ARG002  # nothing of the graph is of a branch
        deadline: float = math.inf,
    ) -> Retrieval:
        """The block for a prompt, by the end of the budget at the latest. A session is told each thing once.

        Nothing is raised: whatever fails or is late is named in ``degraded``.
        """
        stopwatch = Stopwatch()
        asker = (namespace, session_id, event_id, agent)
        prompt = self._sessions.prompt(namespace, session_id, event_id, said_at)
        outcome, text = None, query_text(body)
        query = Query.of_prompt(text)
        line = await self._slot_lines.of(namespace, folder, query, prompt)
        most_bytes = bytes_for(text, query, prompt, self._config) - len(line.encode())
        alone = told_first(line, "")
        if most_bytes <= 0:
            blank = self._blank_report(asker, len(text), stopwatch.elapsed_ms())
            why = None if line else silence_of(query)
            self._keep_report(attrs.evolve(blank, asked=(), context_bytes=len(alone.encode()), silent_because=why))
            return Retrieval(alone, latency_ms=blank.latency_ms)
        request = self._request(text, folder, most_bytes)
        with trio.move_on_at(min(deadline, trio.current_time() + self._config.budget_seconds)):
            outcome = await catch_errors(
                "context", lambda: self._contexts.build(namespace, request, prompt.told_before)
            )
        blank = self._blank_report(asker, len(text), stopwatch.elapsed_ms())
        if not isinstance(outcome, Context):
            problem = "late" if outcome is None else reason(outcome)
            why = None if line else CUT_OFF if outcome is None else FAILED
            report = attrs.evolve(blank, degraded=(f"context: {problem}",), silent_because=why)
            self._keep_report(report)
            return Retrieval(alone, latency_ms=report.latency_ms, degraded=report.degraded)
        told = tuple(_told_id(item.item_id) for item in outcome.items)
        # Since the builder asked what the session was told, no other prompt of it can have come between.
        prompt.told(told)
        context = told_first(line, outcome.text)
        report = _report(outcome, blank, context)
        self._keep_report(report)
        records = tuple(RecordId(each) for each in told if is_record_id(each))
        return Retrieval(context, records, report.latency_ms, outcome.degraded, report.records, told)

    def _request(self, text: str, folder: str | None, most_bytes: int) -> ContextRequest:
        in_passages = self._config.format == "excerpts"
        return ContextRequest(message=text, folder=folder, most_bytes=most_bytes, tells_passages=in_passages)

    def take_back(self, namespace: Namespace, session_id: str, retrieval: Retrieval) -> None:
        """An answer was not sent after all: its session may still be told what it says."""
        self._sessions.take_back(namespace, session_id, retrieval.told_ids)

    def _blank_report(
        self, asker: tuple[Namespace, str | None, EventId | None, str | None], characters: int, latency_ms: float
    ) -> Report:
        namespace, session_id, event_id, agent = asker
        return Report(
            retrieval_id=self._clock.new_ulid(),
            at=self._clock.utc_now(),
            namespace=namespace,
            session_id=session_id,
            event_id=event_id,
            agent=agent,
            query_characters=characters,
            asked=tuple(Ranking),
            records=(),
            left_out={},
            context_bytes=0,
            latency_ms=latency_ms,
            stages_ms={},
            degraded=(),
            silent_because=None,
        )


def _report(context: Context, blank: Report, told: str) -> Report:
    found = tuple(
        FoundRecord(
            record_id=RecordId(item.item_id),
            score=item.score,
            strategy="graph",
            found_by=_found_by(item.parts),
            shown=True,
        )
        for item in context.items
        if is_record_id(item.item_id)
    )
    return attrs.evolve(
        blank,
        records=found,
        left_out={"told_before": context.told_before_count} if context.told_before_count else {},
        context_bytes=len(told.encode()),
        degraded=context.degraded,
        silent_because=None if told else _silent_because(context),
    )


def _told_id(item_id: str) -> ToldId:
    return RecordId(item_id) if is_record_id(item_id) else GraphItemId(item_id)


def _silent_because(context: Context) -> str | None:
    if context.items:
        return None
    return NOTHING_NEW if context.told_before_count else NOTHING_RELEVANT


def _found_by(parts: Mapping[str, float]) -> tuple[Ranking, ...]:
    names = {"keyword": Ranking.WORDS, "semantic": Ranking.MEANING}
    return tuple(ranking for name, ranking in names.items() if name in parts)


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
        paths = _paths_of(records)
        found: object = None
        if folder and paths:
            with trio.move_on_after(patience_seconds):
                found = await catch_errors("files", lambda: self._files.modified_ats(folder, paths))
        if not isinstance(found, dict):
            return {}
        notes = {record.record_id: note_of(changes_of(record, found)) for record in records}
        return {record_id: note for record_id, note in notes.items() if note}


def _paths_of(records: Sequence[MemoryRecord]) -> dict[str, None]:
    return dict.fromkeys(path for record in records for path in cited_files(record))


# How many bytes of memory a prompt is worth, by its kind and by the settings.


def bytes_for(text: str, query: Query, prompt: SessionPrompt, config: RecallConfig) -> int:
    """At most how much is told for ``text``, whose question is ``query``; notes the goal that it sets."""
    if config.prompts == "none" or asks_nothing(query.meaning) or only_lays_down(text):
        return 0
    kind = kind_of(text, query.meaning, sets_goal=prompt.may_set_goal)
    if kind in GOALS:
        prompt.set_goal()
    if config.prompts == "all" or kind in {PromptKind.QUESTION, PromptKind.PAST}:
        return config.context_bytes
    return min(config.context_bytes, config.task_bytes) if kind is PromptKind.TASK else 0


def silence_of(query: Query) -> str:
    """Why nothing is told for a prompt that is worth no bytes."""
    return NOTHING_ASKED if asks_nothing(query.meaning) else NOTHING_NEEDED
