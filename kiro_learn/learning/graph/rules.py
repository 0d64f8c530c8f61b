"""The learner of graph drafts without a model: what a person said in their own words, and which tools ran.

Answers of agents state nothing here: an agent guesses, and a person who goes on has confirmed nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import PurePath

import attrs

from kiro_learn.learning.extraction.extractive.logs import without_logs
from kiro_learn.learning.extraction.extractive.markdown import BlockKind, blocks_of
from kiro_learn.learning.extraction.extractive.prose import sentences
from kiro_learn.learning.extraction.extractive.reading import Said, ToolUse, read
from kiro_learn.learning.extraction.extractive.turns import Turn, turns_of
from kiro_learn.learning.graph.gazetteer import COMMANDS
from kiro_learn.learning.graph.own_words import LONGEST_PROMPT, PERSON
from kiro_learn.learning.graph.said_in_earnest import said_in_earnest
from kiro_learn.learning.graph.statement import PROJECT, Statement
from kiro_learn.learning.graph.statements import statements_in
from kiro_learn.learning.graph.wishes import ways_in, wishes_in
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.graph import EntityType, SourceType
from kiro_learn.model.graph_drafts import FactDraft, GraphDrafts, PreferenceDraft, ProcedureDraft, Source
from kiro_learn.retrieval.query.time_ranges import time_range_in

LEAST_PROMPT = 10

STATED = 1.0
CORRECTED = 1.0
OBSERVED = 0.6
STRENGTH = 0.8
WAY = 0.8

_RUNS = re.compile(r"bash|shell|exec|command|terminal|powershell", re.IGNORECASE)
_FAILED = re.compile(
    r"command not found|no such file|not recognized|is_?error\W{1,4}true|exit (?:code|status)\W{0,3}[1-9]",
    re.IGNORECASE,
)
_FIRST_WORD = re.compile(
    r"\s*(?:(?:cd|export)\s[^&;|\n]{0,200}&&\s*)?(?:(?:sudo|time|npx|uv run|poetry run)\s+)?([\w./-]{1,40})"
)
_CHANGE = re.compile(
    r"\b(?:moved|switched|migrated|changed|replaced|renamed|started|began|joined|dropped|stopped|removed)\b",
    re.IGNORECASE,
)
_SHOWN = 2_000
"""Characters of a tool's output in which a failure is looked for."""


def drafts_of_events(snapshot: BufferSnapshot) -> GraphDrafts:
    """What the events of ``snapshot`` say, in order; nothing for most of them."""
    batch = read(snapshot)
    reader = _Reader(snapshot, PurePath(batch.project_path).name or "this project")
    facts: list[FactDraft] = []
    preferences: list[PreferenceDraft] = []
    procedures: list[ProcedureDraft] = []
    seen: set[str] = set()
    for turn in turns_of(batch.events):
        for said in turn.prompts:
            if not said.is_context and LEAST_PROMPT <= len(said.text) <= LONGEST_PROMPT:
                meant = attrs.evolve(said, text=said_in_earnest(said.text))
                facts += reader.facts_of(meant, turn)
                preferences += reader.preferences_of(meant)
                procedures += reader.procedures_of(meant)
        for tool in turn.tools:
            facts += reader.facts_of_tool(tool, seen)
    return GraphDrafts(facts=facts, procedures=procedures, preferences=preferences)


@attrs.frozen
class _Reader:
    """Makes drafts of what is found, with the events that say it."""

    snapshot: BufferSnapshot
    project: str

    def facts_of(self, said: Said, turn: Turn) -> Iterator[FactDraft]:
        for block in blocks_of(without_logs(said.text)):
            if block.kind in {BlockKind.TEXT, BlockKind.BULLET}:
                for line in sentences(block.text):
                    for statement in statements_in(line):
                        yield self._fact(statement, line, said, answers=turn.previous is not None)

    def preferences_of(self, said: Said) -> Iterator[PreferenceDraft]:
        for wish in wishes_in(said.text):
            yield PreferenceDraft(
                category=wish.category,
                key=wish.key,
                value=wish.value,
                strength=STRENGTH,
                source_type=SourceType.STATED,
                is_denied=wish.is_denied,
                source=self._source(said.number),
            )

    def procedures_of(self, said: Said) -> Iterator[ProcedureDraft]:
        for way in ways_in(blocks_of(said.text)):
            yield ProcedureDraft(
                name=way.name,
                steps=way.steps,
                confidence=WAY,
                source_type=SourceType.STATED,
                source=self._source(said.number),
            )

    def facts_of_tool(self, tool: ToolUse, seen: set[str]) -> Iterator[FactDraft]:
        """That a known tool ran, once for each batch."""
        if not _RUNS.search(tool.name) or _FAILED.search(tool.output[:_SHOWN]) or self._is_context(tool.number):
            return
        name = COMMANDS.get(_command_of(tool.input))
        if name is None or name in seen:
            return
        seen.add(name)
        yield FactDraft(
            subject=self.project,
            subject_type=EntityType.PROJECT,
            predicate="uses",
            object=name,
            confidence=OBSERVED,
            source_type=SourceType.OBSERVED,
            source=self._source(tool.number),
        )

    def _fact(self, statement: Statement, line: str, said: Said, *, answers: bool) -> FactDraft:
        """A correction needs something before it that it corrects. ``line``: the sentence that states it."""
        is_correction = statement.is_correction and answers
        source = self._source(said.number)
        since, until = _times_in(line, source.said_at)
        return FactDraft(
            subject={PROJECT: self.project, PERSON: PERSON}.get(statement.subject, statement.subject),
            subject_type=statement.subject_type,
            predicate=statement.predicate,
            object=statement.object,
            confidence=CORRECTED if is_correction else STATED,
            source_type=SourceType.CORRECTED if is_correction else SourceType.STATED,
            replaces=statement.replaces,
            is_denied=statement.is_denied or statement.is_past,
            was_never_true=is_correction,
            valid_from=since,
            valid_until=until,
            source=source,
        )

    def _is_context(self, number: int) -> bool:
        return number <= len(self.snapshot.earlier_prompts)

    def _source(self, number: int) -> Source:
        """Of the text with this number in the batch; prompts from before it have the first numbers."""
        entry = self.snapshot.entries[number - len(self.snapshot.earlier_prompts) - 1]
        return Source(event_id=entry.sources[0], session_id=entry.event.session_id, said_at=entry.event.valid_time)


def _times_in(line: str, said_at: datetime) -> tuple[datetime | None, datetime | None]:
    """Since when and until when a sentence says that something holds.

    A time that only goes with a change ("we switched last week") begins with the change; beside a plain statement it
    says nothing ("we use Redis today").
    """
    named = time_range_in(line, now=said_at)
    if named is None or named.is_validity:
        return None, None
    if named.start is None:
        return None, named.end
    is_beginning = named.end is None or _CHANGE.search(line) is not None
    return (named.start if is_beginning and named.start <= said_at else None), None


def _command_of(given: str) -> str:
    """The program that a shell tool was asked to run."""
    try:
        read_: object = json.loads(given)
    except ValueError:
        read_ = given
    command = (
        next((read_[key] for key in ("command", "cmd", "script") if key in read_), "")
        if isinstance(read_, dict)
        else given
    )
    text = " ".join(command) if isinstance(command, Sequence) and not isinstance(command, str) else str(command)
    match = _FIRST_WORD.match(text)
    return match[1] if match is not None else ""
