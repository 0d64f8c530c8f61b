"""Makes the brief that an agent is told when a session starts, and remembers which sessions were told it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from typing import TypeVar

import attrs
import trio

from kiro_learn.actors.session_ledger import Session, SessionLedger
from kiro_learn.errors import StorageError
from kiro_learn.learning.extraction.extractive.faults import each_cause_once
from kiro_learn.learning.overruled import RuleStatements, contradictions, without_repeated
from kiro_learn.model.event import Event
from kiro_learn.model.graph import Fact, Preference
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import (
    JUDGED_STRATEGY,
    MODEL_STRATEGY,
    KnowledgeType,
    MemoryRecord,
    Origin,
    RecordFilter,
)
from kiro_learn.model.retrieval import BRIEF, Occasion, Retrieval
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.storage.records import Place, RecordQuery
from kiro_learn.retrieval.rendering.brief import Brief, BriefPart, StatedItem, render_brief, said_by
from kiro_learn.retrieval.rendering.repeats import contradicts, each_once
from kiro_learn.runtime.supervisor import catch_errors
from kiro_learn.services.capture import Capture, Captured
from kiro_learn.services.project_files import NO_RULES, ProjectProfiles, RuleFiles
from kiro_learn.services.retrieval_log import RetrievalLog
from kiro_learn.services.told_unasked import Amended, StatedByHand, Teachers, since_seen

BYTES_A_TOKEN = 4
"""Bytes of a brief for each token that is asked for, roughly true of plain English; too long a brief is cut again."""

LESS = 31 / 32
"""Extra cut of a brief with too many tokens, so that few attempts are needed."""

PAGE, RULES_PAGE, MOST_READ = 20, 40, 640
"""Memories of a sort that the first read takes, rules of the first read, and the most memories in all.

Each further read takes twice as many, until they fill the brief. A read of rules looks at all knowledge of the project.
"""

HARD_RULE_BYTES, RULE_BYTES = 1_200, 400
"""The most bytes of a hard rule and of another rule: a hard rule is told whole, unless it is an essay."""

RULES_SHARE, PERSON_SHARE, WAYS_SHARE, CHOICES_SHARE, NEWEST_SHARE = 0.35, 0.1, 0.25, 0.2, 0.2
"""The share of each part of the brief, if not all fits. Hard rules take what they need."""

MOST_COMPARED = 40
"""The most rules of a brief that are compared with each other, which takes a few milliseconds."""

SHARE_OF_DEADLINE = 0.8
"""The share of the time until the hook's deadline that the brief may take; the rest is for storing the event."""

MOST_SESSIONS = 1_000
"""The most sessions that are remembered as told; the oldest is forgotten first."""

Kept = TypeVar("Kept", bound=Hashable)

NOTHING = Brief()


@attrs.frozen(eq=False)
class SessionContext:
    """Reads the parts of a project's brief, and remembers which sessions were told it."""

    _storage: StorageBackend
    _sessions: SessionLedger
    _profiles: ProjectProfiles
    rule_files: RuleFiles
    _stated: StatedByHand
    teachers: Teachers
    _log: RetrievalLog
    _most_bytes: int
    _told: OrderedDict[str, None] = attrs.field(factory=OrderedDict, init=False)
    _missed: OrderedDict[Session, None] = attrs.field(factory=OrderedDict, init=False)

    async def context(
        self,
        namespace: Namespace,
        *,
        folder: str | None,
        tokens: int | None = None,
        most_bytes: int | None = None,
        with_profile: bool | None = None,
        loaded: RuleStatements = NO_RULES,
    ) -> Brief:
        """The brief of at most ``[recall] brief_bytes``, or of at most ``tokens``.

        Empty in a project without memories whose files say nothing.

        Args:
          folder: the project's folder, in which its profile is read; None if it is not known.
          most_bytes: replaces the value of the settings, as does ``with_profile``.
          loaded: the statements of the agent's own rule files, which are not told again.

        Raises:
          StorageError: the memories cannot be read.
        """
        room = self._most_bytes if most_bytes is None else most_bytes
        if tokens is not None:
            room = tokens * BYTES_A_TOKEN
        parts = await self._parts(namespace, room, loaded)
        profile = await self._profiles.told(namespace, folder, is_told=with_profile)
        brief = render_brief(parts, most_bytes=room, profile=profile)
        while tokens is not None and (count := brief.token_count) > tokens:
            brief = render_brief(
                parts, most_bytes=int(len(brief.text.encode()) * tokens / count * LESS), profile=profile
            )
        return brief

    async def _parts(self, namespace: Namespace, room: int, loaded: RuleStatements) -> list[BriefPart]:
        """Hard rules, pinned memories, other rules, the person, ways, decisions, and the last work: each newest first.

        Memories of tool output are left out, except commands that work here. Decisions in an agent's own words are left
        out, unless a model learned them: of those that the built-in learner quotes, most are steps that were taken.
        Rejected ideas are told.
        """
        choices = (KnowledgeType.DECISION, KnowledgeType.REJECTED)
        pinned, rules, ways, decided, newest = await _at_once(
            lambda: self._newest(namespace, room, loaded, is_pinned=True),
            lambda: self._rules(namespace, room, loaded),
            lambda: self._newest(namespace, room, loaded, KnowledgeType.HEURISTIC),
            lambda: self._newest(namespace, room, loaded, *choices),
            lambda: self._newest(namespace, int(room * NEWEST_SHARE), loaded),
        )
        stated = await self._stated.of(await self._profiles.wishes(namespace))
        facts = {each.item_id: each for each in (*await self._profiles.person(namespace), *stated)}
        amended = Amended.of(rules, [*ways, *decided], newest)
        holding = amended.holding(rules)
        parts = [
            BriefPart("Hard rules", [rule for rule in holding if rule.is_hard_rule], line_bytes=HARD_RULE_BYTES),
            BriefPart("Pinned", pinned, line_bytes=RULE_BYTES),
            BriefPart(
                "Rules",
                [rule for rule in holding if not rule.is_hard_rule],
                RULES_SHARE,
                RULE_BYTES,
                stated=_not_said([each for each in stated if isinstance(each, Preference)], holding, loaded),
            ),
            BriefPart(
                "The person",
                [],
                PERSON_SHARE,
                stated=[each for each in facts.values() if isinstance(each, Fact)],
                takes_rest=False,
            ),
            BriefPart("How things are done here", each_cause_once(amended.holding(ways)), WAYS_SHARE),
            BriefPart("Decided", amended.holding(decided), CHOICES_SHARE),
            BriefPart("Last worked on", amended.left_of(newest), NEWEST_SHARE, takes_rest=False),
        ]
        compared = contradictions(holding[:MOST_COMPARED])
        notes = {rule.record_id: contradicts(before) for before, rule in compared} | dict(amended.notes)
        return [attrs.evolve(part, notes=notes) for part in parts]

    async def _rules(self, namespace: Namespace, room: int, loaded: RuleStatements) -> Sequence[MemoryRecord]:
        found: list[MemoryRecord] = []
        read_count, is_last = 0, False
        while not is_last and _least_bytes(found) < room:
            limit = max(RULES_PAGE, read_count)
            page = await self._storage.list_rules_first(namespace, limit=limit, offset=read_count)
            rules = [record for record in page if record.knowledge_type is KnowledgeType.CONSTRAINT]
            is_last = len(rules) < limit
            read_count += len(rules)
            told = await self.teachers.told(namespace, rules)
            found += (record for record in told if not loaded.say(record))
        return without_repeated(each_once(found))

    async def _newest(
        self,
        namespace: Namespace,
        room: int,
        loaded: RuleStatements,
        *types: KnowledgeType,
        is_pinned: bool | None = None,
    ) -> Sequence[MemoryRecord]:
        """Enough memories to fill ``room`` bytes: pinned ones, those of ``types``, or, without both, non-knowledge."""
        found: list[MemoryRecord] = []
        before: Place | None = None
        read_count, is_last = 0, False
        while not is_last and read_count < MOST_READ and _least_bytes(found) < room:
            limit = max(PAGE, read_count)
            query = RecordQuery(
                namespace=namespace,
                limit=limit,
                filter=RecordFilter(types=types, is_pinned=is_pinned),
                only_knowledge=bool(types),
                before=before,
            )
            page = await self._storage.list_records(query)
            is_last = len(page) < limit
            read_count += len(page)
            before = (page[-1].created_at, page[-1].record_id) if page else None
            told = await self.teachers.told(namespace, page)
            fitting = told if is_pinned else filter(_is_told if types else _is_no_knowledge, told)
            found += (record for record in fitting if not loaded.say(record))
        return each_once(found)

    async def begin(self, event: Event, *, key: str, is_emptied: bool, deadline: float) -> Brief:
        """The brief for a session that starts with ``event``: told once, and again after its context ``is_emptied``.

        It is there by ``deadline`` (trio's clock). Nothing is raised; a late brief is told with the first prompt.
        ``key`` identifies the session of an agent that names none.
        """
        session = (event.namespace, event.session_id)
        was_told = key in self._told or bool(self._sessions.told_to(session, but=-1))
        if was_told and not is_emptied:
            return NOTHING
        _keep(self._told, key)  # at once, since several hooks of one session may come together
        told: Brief | None = None
        try:
            told = await _in_time(lambda: self._brief_of(event), deadline)
            self._missed.pop(session, None)
        finally:
            if told is None:
                self.missed(session)
            if told is None or not told.text:
                self._told.pop(key, None)
        return told or NOTHING

    def missed(self, session: Session) -> None:
        """Note that the session was told nothing at its start: the daemon was not running, or too late."""
        _keep(self._missed, session)

    async def late(self, event: Event, *, deadline: float) -> Brief:
        """The brief for the session of a prompt, if the session missed it at its start; by ``deadline``."""
        session = (event.namespace, event.session_id)
        found = await _in_time(lambda: self._brief_of(event), deadline) if session in self._missed else None
        if found is not None:
            self._missed.pop(session, None)
        return found or NOTHING

    async def resume(self, event: Event, *, deadline: float) -> Brief:
        """What is new for a session that goes on with ``event`` since it was last active; by ``deadline``."""
        return await _in_time(lambda: self._since_seen(event), deadline) or NOTHING

    async def _since_seen(self, event: Event) -> Brief:
        loaded = await self.rule_files.loaded_by(event.source.surface, event.source.project_path)
        parts = await self._parts(event.namespace, self._most_bytes, loaded)
        return await since_seen(self._storage, event, parts)

    async def _brief_of(self, event: Event) -> Brief:
        loaded = await self.rule_files.loaded_by(event.source.surface, event.source.project_path)
        return await self.context(event.namespace, folder=event.source.project_path, loaded=loaded)

    def told(self, event: Event, brief: Brief) -> None:
        """Note that the session was told ``brief``; its prompts do not repeat the memories that it told whole."""
        prompt = self._sessions.prompt(event.namespace, event.session_id, event.event_id)
        prompt.told((BRIEF, *brief.whole_ids))
        self._sessions.brief((event.namespace, event.session_id), brief.record_ids)
        self._log.add_told(event, brief, Occasion.START)


async def _in_time(read: Callable[[], Awaitable[Brief]], deadline: float) -> Brief | None:
    """The result of ``read``; None if it fails, or takes more than its share of the time."""
    now = trio.current_time()
    with trio.move_on_at(now + (deadline - now) * SHARE_OF_DEADLINE):
        found = await catch_errors("session context", read)
        return found if isinstance(found, Brief) else None
    return None


def _keep(sessions: OrderedDict[Kept, None], session: Kept) -> None:
    sessions[session] = None
    sessions.move_to_end(session)
    while len(sessions) > MOST_SESSIONS:
        sessions.popitem(last=False)


async def _at_once(*reads: Callable[[], Awaitable[Sequence[MemoryRecord]]]) -> list[Sequence[MemoryRecord]]:
    """The results of ``reads``, in their order. Raises StorageError: one of them failed."""
    found: list[Sequence[MemoryRecord]] = [()] * len(reads)
    failures: list[StorageError] = []

    async def keep(place: int, read: Callable[[], Awaitable[Sequence[MemoryRecord]]]) -> None:
        try:
            found[place] = await read()
        except StorageError as error:
            failures.append(error)

    async with trio.open_nursery() as nursery:
        for place, read in enumerate(reads):
            nursery.start_soon(keep, place, read)
    if failures:
        raise failures[0]
    return found


def _not_said(stated: Sequence[StatedItem], rules: Sequence[MemoryRecord], loaded: RuleStatements) -> list[StatedItem]:
    """The items that neither a rule nor a rule file says."""
    if not stated:
        return []  # reading the statements of all rules is half of a brief's time
    said = RuleStatements.of({rule.record_id: f"{rule.title}\n\n{rule.summary}" for rule in rules})
    return [each for each in stated if not (loaded.word(said_by(each)) or said.word(said_by(each)))]


def _least_bytes(records: Iterable[MemoryRecord]) -> int:
    """The least bytes of the records' lines: those of their titles."""
    return sum(len(record.title) for record in records)


def _is_told(record: MemoryRecord) -> bool:
    if record.origin is Origin.TOOL:
        return record.knowledge_type is KnowledgeType.HEURISTIC  # a command that fails here, with the one that works
    is_worded_by_model = record.strategy in {MODEL_STRATEGY, JUDGED_STRATEGY}
    return (
        record.origin is not Origin.ASSISTANT or record.knowledge_type is KnowledgeType.REJECTED or is_worded_by_model
    )


def _is_no_knowledge(record: MemoryRecord) -> bool:
    return record.knowledge_type is None


# Stores the event that starts a session, and returns what the session should know.


@attrs.frozen(eq=False)
class SessionStart:
    """The start of a session that a program reports itself; ``Hooks`` takes the reports of agents' hooks."""

    capture: Capture
    session_context: SessionContext
    budget_seconds: float

    async def take(self, event: Event) -> tuple[Captured, Retrieval]:
        """Store ``event``, and make what its session is told: once a session, within the budget.

        Raises:
          StorageError: the event could not be stored.
        """
        began = trio.current_time()
        told = await self.session_context.begin(
            event, key=event.session_id, is_emptied=False, deadline=began + self.budget_seconds
        )
        latency_ms = (trio.current_time() - began) * 1000
        captured = await self.capture.take(event)
        if told.text:
            self.session_context.told(event, told)
        return captured, Retrieval(told.text, told.record_ids, latency_ms)
