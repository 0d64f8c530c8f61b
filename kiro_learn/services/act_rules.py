"""Shows an agent the rule or the trap that its next step is about: with the act, and once a session.

What a person said by hand of a file or folder is shown in the same way, when a prompt or the next step names a path in
it.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import PurePosixPath

import attrs
import trio

from kiro_learn.actors.session_ledger import SessionLedger
from kiro_learn.learning.acts.cues import Act, act_of
from kiro_learn.learning.acts.index import ActIndex
from kiro_learn.model.event import Event, EventKind, JsonBody
from kiro_learn.model.graph import Fact, GraphKind, Preference, SourceType
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import KnowledgeType, MemoryRecord, RecordFilter
from kiro_learn.model.retrieval import Occasion
from kiro_learn.ports.storage.answers import Change, RecordRemoved, RecordStored
from kiro_learn.ports.storage.graph import GraphList, GraphReads
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.storage.records import RecordQuery
from kiro_learn.retrieval.query.question import query_text
from kiro_learn.retrieval.rendering.brief import Brief, StatedItem, render_for_path, render_on_act
from kiro_learn.runtime.supervisor import catch_errors
from kiro_learn.services.retrieval_log import RetrievalLog
from kiro_learn.services.told_unasked import Teachers

PATH_SECONDS = 0.1
"""The longest time that an agent waits for these statements."""

MOST_LISTED = 200
MOST_PATHS = 50
"""The most names of files that are read from one prompt or step; of a long text, only the beginning is read."""
MOST_CHARACTERS = 20_000

_NAME = re.compile(r"[\w./@+~-]+")


class PathStatements:
    """Finds what a person said of a file or folder. Each statement is shown once a session."""

    def __init__(self, storage: GraphReads, sessions: SessionLedger) -> None:
        self._storage = storage
        self._sessions = sessions

    async def on(self, event: Event) -> str:
        """The statements to show to the session of ``event``, a prompt or a use of a tool that is about to happen.

        Nothing is raised; statements that come too late are not shown.
        """
        paths = _paths_in(event)
        found: object = None
        if paths:
            with trio.move_on_after(PATH_SECONDS):
                found = await catch_errors("statements of paths", lambda: self._about(event.namespace, paths))
        session = (event.namespace, event.session_id)
        said = found if isinstance(found, list) else []
        new = [each for each in said if self._sessions.may_remind(session, each.item_id)]
        text = render_for_path(new)
        if text:
            self._sessions.remind(session, [each.item_id for each in new])
        return text

    async def _about(self, namespace: Namespace, paths: frozenset[str]) -> list[StatedItem]:
        """The statements about ``paths``, the newest first."""
        asked = GraphList(namespace=namespace, kind=GraphKind.PREFERENCE, limit=MOST_LISTED)
        listed = list(await self._storage.list_graph_items(asked))
        for entity in await self._storage.find_named_entities(namespace, paths):
            about = GraphList(namespace=namespace, kind=GraphKind.FACT, limit=MOST_LISTED, about=entity.item_id)
            listed += await self._storage.list_graph_items(about)
        return [
            each
            for each in listed
            if (isinstance(each, Preference) and each.path in paths)
            or (isinstance(each, Fact) and each.source_type is SourceType.CORRECTED)
        ]


def _paths_in(event: Event) -> frozenset[str]:
    """The paths that the event names in its project, and the folders around them; relative to the project's folder."""
    folder = event.source.project_path or "/"
    found: list[str] = []
    names = (name.lstrip("@").rstrip(".") for name in _NAME.findall(_text_of(event)[:MOST_CHARACTERS]))
    for name in islice((each for each in names if "/" in each or "." in each), MOST_PATHS):
        path = PurePosixPath(name)
        if path.is_absolute():
            path = path.relative_to(folder) if path.is_relative_to(folder) else PurePosixPath()
        found += (str(each) for each in (path, *path.parents))
    return frozenset(found) - {".", "/"}


def _text_of(event: Event) -> str:
    if event.kind is EventKind.PROMPT:
        return query_text(event.body)
    data = event.body.data if isinstance(event.body, JsonBody) else None
    return "\n".join(_strings(data.get("tool_input"))) if isinstance(data, dict) else ""


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


MOST_PROJECTS = 50
MOST_RULES = 2_000
"""The newest rules and traps of one project that are kept; reading so many takes 2 MB and 0.2 s."""

MOST_SESSIONS, MOST_WAITING = 200, 3
"""The most sessions with rules that wait for their next prompt, and the most rules of each."""

SECONDS = 0.5
"""The longest time that a tool waits: a project is read once, and every later answer comes from memory."""

PAGE = 500
TYPES = RecordFilter(types=(KnowledgeType.CONSTRAINT, KnowledgeType.REJECTED, KnowledgeType.HEURISTIC))
NOTHING = Brief()


@attrs.define(eq=False)
class _Known:
    """The rules of one project, and the ids of records that were stored since it was read."""

    index: ActIndex = attrs.Factory(ActIndex)
    is_read: bool = False
    new: set[RecordId] = attrs.Factory(set)
    gone: set[RecordId] = attrs.Factory(set)
    """Records that were removed while the project was read."""


class ActRules:
    """Keeps in memory, for each project in use, which acts its rules are about, and follows what is stored."""

    def __init__(self, storage: StorageBackend, sessions: SessionLedger, log: RetrievalLog, teachers: Teachers) -> None:
        self._log = log
        self._teachers = teachers
        self._storage = storage
        self._sessions = sessions
        self.paths = PathStatements(storage, sessions)
        self._projects: OrderedDict[Namespace, _Known] = OrderedDict()
        self._waiting: OrderedDict[tuple[Namespace, str], list[MemoryRecord]] = OrderedDict()

    def apply(self, change: Change) -> None:
        """Note a change of the store: a stored record may be a rule, and a removed one is no rule any more."""
        if not isinstance(change, RecordStored | RecordRemoved):
            return
        known = self._projects.get(change.namespace, _Known())
        if isinstance(change, RecordStored):
            known.new.add(change.record_id)
            known.gone.discard(change.record_id)
            return
        known.new.discard(change.record_id)
        known.gone.add(change.record_id)
        known.index.drop(change.record_id)
        for waiting in self._waiting.values():
            waiting[:] = [record for record in waiting if record.record_id != change.record_id]

    async def on_act(self, event: Event) -> Brief:
        """The rules to show to the session of ``event``, a use of a tool that is about to happen: mostly none.

        Nothing is raised; rules that come too late are not shown.
        """
        session = (event.namespace, event.session_id)
        records = [each for each in await self._about(event) if self._sessions.may_remind(session, each.record_id)]
        return self._told(event, render_on_act(records))

    def _told(self, event: Event, told: Brief) -> Brief:
        if told.text:
            self._sessions.remind((event.namespace, event.session_id), told.record_ids)
            self._log.add_told(event, told, Occasion.ACT)
        return told

    async def after_act(self, event: Event) -> None:
        """For an agent that takes no answer before a tool: keep the rules about its act for the next prompt."""
        session = (event.namespace, event.session_id)
        found = await self._about(event)
        if found:
            waiting = self._waiting.setdefault(session, [])
            waiting += [record for record in found if record not in waiting]
            del waiting[MOST_WAITING:]
            self._waiting.move_to_end(session)
            while len(self._waiting) > MOST_SESSIONS:
                self._waiting.popitem(last=False)

    def with_next_prompt(self, event: Event) -> Brief:
        """The rules that waited for the prompt ``event``, without those that the session was told by now."""
        session = (event.namespace, event.session_id)
        waiting = self._waiting.pop(session, [])
        left = [each for each in waiting if not self._sessions.is_told_or_briefed(session, each.record_id)]
        return self._told(event, render_on_act(left))

    async def _about(self, event: Event) -> Sequence[MemoryRecord]:
        if not isinstance(event.body, JsonBody) or not isinstance(event.body.data, dict):
            return ()
        used = event.body.data
        act = act_of(str(used.get("tool_name", "")), used.get("tool_input"), event.source.project_path or "")
        if not act.keys:
            return ()
        found: object = None
        with trio.move_on_after(SECONDS):
            found = await catch_errors("rules of acts", lambda: self._rules_about(event.namespace, act))
        return found if isinstance(found, list) else ()

    async def _rules_about(self, namespace: Namespace, act: Act) -> list[MemoryRecord]:
        return await self._teachers.told(namespace, (await self._index(namespace)).about(act))

    async def _index(self, namespace: Namespace) -> ActIndex:
        known = self._projects.setdefault(namespace, _Known())
        self._projects.move_to_end(namespace)
        while len(self._projects) > MOST_PROJECTS:
            self._projects.popitem(last=False)
        if not known.is_read:
            await self._read(namespace, known)
        elif known.new:
            new = tuple(known.new)
            for record in await self._storage.get_memory_records(new):
                known.index.put(record)
            known.new.difference_update(new)
        return known.index

    async def _read(self, namespace: Namespace, known: _Known) -> None:
        query = RecordQuery(namespace=namespace, limit=PAGE, filter=TYPES)
        read_count = 0
        while read_count < MOST_RULES:
            page = await self._storage.list_records(query)
            for record in page:
                known.index.put(record)
            read_count += len(page)
            if len(page) < PAGE:
                break
            query = attrs.evolve(query, before=(page[-1].created_at, page[-1].record_id))
        for record_id in known.gone:
            known.index.drop(record_id)
        known.is_read = True
