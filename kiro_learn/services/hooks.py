"""Stores what an agent's hook reported, and returns what the hook should print."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import count
from typing import TypeVar

import attrs
import trio

from kiro_learn.actors.aftermath import Aftermath
from kiro_learn.actors.session_ledger import SessionLedger
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import KiroLearnError, StorageError
from kiro_learn.model.checks import unchecked
from kiro_learn.model.event import Event, EventKind, Source
from kiro_learn.model.ids import EventId, from_milliseconds
from kiro_learn.model.namespace import Namespace, Project
from kiro_learn.model.retrieval import Retrieval
from kiro_learn.model.version import __version__
from kiro_learn.pipelines.recall.recall import Recall
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.home import ProjectFinder, UndeliveredHook
from kiro_learn.ports.storage.events import SessionReads
from kiro_learn.retrieval.rendering.brief import Brief
from kiro_learn.runtime.admission import Offload
from kiro_learn.services.act_rules import ActRules
from kiro_learn.services.capture import SMALL_BYTES, Capture, Captured, RepeatedReports, step_key
from kiro_learn.services.projects_in_use import Pauses
from kiro_learn.services.session_context import SessionContext
from kiro_learn.wire.hook_names import is_answered_before_tool
from kiro_learn.wire.hooks import HookReport, read_hook

MOST_PLACES = 10_000
"""The most pairs of a project and a session that are remembered."""


@attrs.frozen
class Answered:
    """The answer to a hook's request."""

    context: str = ""
    """The text that the hook should print for the agent."""
    is_at_start: bool = False
    """True: the text is shown as a session starts, not for a prompt."""
    is_before_tool: bool = False
    """True: the text is shown before a tool runs."""
    is_pending: bool = False
    """True: a reported event is not durable yet; the hook should spool the request and send it again."""


@attrs.frozen(eq=False)
class SessionProjects:
    """Finds the project of a folder in a session. A session of a repository stays in it when it goes into a package.

    An agent that was started for a whole repository goes into its packages to build and test them.
    """

    _storage: SessionReads
    _project_finder: ProjectFinder
    _pauses: Pauses
    _seen: OrderedDict[tuple[Namespace, str], int] = attrs.field(factory=OrderedDict, init=False)
    """The order in which sessions were first seen in projects: their reports may not be stored yet."""
    _known: OrderedDict[tuple[Namespace, Namespace, str], bool] = attrs.field(factory=OrderedDict, init=False)
    """Whether a session was in a repository's project before it was in that of a package."""
    _count: count[int] = attrs.field(factory=count, init=False)

    async def of(self, folder: str, session_id: str | None) -> Project:
        """The project of ``folder``; for a package, that of its repository if the session was there before.

        If the package is paused, or the store cannot be read, it is the project of ``folder``.

        Args:
          session_id: None if the agent reports none.
        """
        found = await self._project_finder.project_of(folder)
        if session_id is None:
            return found
        if found.repository_path not in {"", found.project_path}:
            whole = await self._project_finder.project_of(found.repository_path)
            is_paused = self._pauses.cover(found.namespace, session_id)
            if (
                whole.namespace != found.namespace
                and not is_paused
                and await self._began_in(whole.namespace, found.namespace, session_id)
            ):
                return attrs.evolve(whole, branch=found.branch)
        _keep(self._seen, (found.namespace, session_id), next(self._count))
        return found

    async def _began_in(self, whole: Namespace, package: Namespace, session_id: str) -> bool:
        key = (whole, package, session_id)
        if key not in self._known:
            try:
                is_of_whole = await self._first(whole, session_id) < await self._first(package, session_id)
            except StorageError:  # then the report cannot be stored either, and it is sent again
                return False
            _keep(self._known, key, is_of_whole)
        return self._known[key]

    async def _first(self, namespace: Namespace, session_id: str) -> tuple[int, float]:
        """The place of the session's first report from a project: what is stored comes before what was only seen."""
        stored = await self._storage.list_session_events(namespace, session_id, limit=1, after=None)
        if stored.events:
            return 0, stored.events[0].valid_time.timestamp()
        return 1, self._seen.get((namespace, session_id), math.inf)


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def _keep(kept: OrderedDict[_Key, _Value], key: _Key, value: _Value) -> None:
    """Keep the first value of ``key``; the oldest goes if there are too many."""
    kept.setdefault(key, value)
    if len(kept) > MOST_PLACES:
        kept.popitem(last=False)


@attrs.frozen(eq=False, kw_only=True)
class Hooks:
    """Takes hooks' requests: completes each report (id, session, project), then stores it like any event.

    If two hooks report the same step, it is stored once, and only the first request is answered.
    """

    _capture: Capture
    _prompt: Prompt
    _session_context: SessionContext
    _act_rules: ActRules
    _storage: SessionReads
    _writer: StorageActor
    _sessions: SessionLedger
    _pauses: Pauses
    _project_finder: ProjectFinder
    _actor_id: str
    _clock: ClockAndIds
    _offload: Offload
    _repeated: RepeatedReports = attrs.field(factory=RepeatedReports, init=False)
    _projects: SessionProjects = attrs.field(init=False)

    @_projects.default
    def _projects_of_sessions(self) -> SessionProjects:
        return SessionProjects(self._storage, self._project_finder, self._pauses)

    async def take(self, agent: str, payload: bytes, headers: Mapping[str, str], *, retrieve: bool) -> Answered:
        """Store what a hook's request reports; return the context for a prompt, or nothing.

        A payload that no translator can read reports nothing.

        With ``retrieve``, a prompt is answered within its budget in any case. Memories are told even if the report
        cannot be stored, as on a full disk; the report is pending then.

        Raises:
          StorageError: a report could not be stored, and nothing is told; sending all of them again is safe if they
            have ids.
        """
        came_at = trio.current_time()
        now_ms = round(self._clock.utc_now().timestamp() * 1000)
        reports = self._repeated.without_repeats(await self._read(agent, payload, headers), now_ms=now_ms)
        if reports and reports[0].is_before_tool:
            return await self._before_tool(agent, reports[0]) if retrieve else Answered()
        is_told = retrieve and any(report.kind is EventKind.PROMPT or report.is_spawn for report in reports)
        deadline = self._prompt.deadline(came_at) if is_told else math.inf
        answered = Answered()
        for report in reports:
            captured, context = await self._take(agent, report, deadline=deadline, retrieve=retrieve)
            is_pending = answered.is_pending or captured is None or captured.stored == "pending"
            is_at_start = report.is_spawn if context else answered.is_at_start
            answered = Answered(context or answered.context, is_at_start=is_at_start, is_pending=is_pending)
        return answered

    async def take_all(self, requests: Sequence[UndeliveredHook]) -> None:
        """Store the reports of these requests, in order and in one commit, without an answer.

        Raises:
          StorageError: a report could not be stored; sending all of them again is safe if they have ids.
        """
        events = []
        for request in requests:
            for report, _ in await self._read(request.agent, request.payload, request.headers):
                if report.is_before_tool:
                    continue
                event = await self._event(request.agent, report)
                if report.new_context:
                    self._sessions.clear(event.namespace, event.session_id)
                if report.is_spawn:
                    self._session_context.missed((event.namespace, event.session_id))
                if not self._pauses.holds(event):
                    events.append(event)
        for outcome in await self._capture.take_all(events):
            if isinstance(outcome, KiroLearnError):
                raise outcome

    async def _before_tool(self, agent: str, report: HookReport) -> Answered:
        """Answer a report of a tool that is about to run. Nothing is stored: it is reported again after the run."""
        event = await self._event(agent, report, or_alone=True)
        if self._pauses.holds(event):
            return Answered(is_before_tool=True)
        told = ((await self._act_rules.on_act(event)).text, await self._act_rules.paths.on(event))
        return Answered("\n".join(filter(None, told)), is_before_tool=True)

    async def _take(
        self, agent: str, report: HookReport, *, deadline: float, retrieve: bool
    ) -> tuple[Captured | None, str]:
        """The outcome of the report, None if it is unknown at ``deadline``; and the text that the hook should print."""
        event: Event | None = None
        context = Brief()
        captured: Captured | None = None
        is_told = retrieve and (report.is_spawn or report.kind is EventKind.PROMPT)
        with trio.move_on_at(deadline):
            event = await self._event(agent, report, or_alone=is_told)
        if event is not None and self._pauses.holds(event):
            return Captured(event.event_id, stored=False), ""
        if event is not None and report.is_spawn and retrieve:
            context = await self._at_start(event, report, deadline)
        if event is not None and report.new_context:
            self._sessions.clear(event.namespace, event.session_id)
        if event is not None and context.text:
            self._session_context.told(event, context)
        if event is not None and retrieve and event.kind is EventKind.PROMPT:
            return await self._answer(event, deadline)
        if event is not None:
            try:
                with trio.move_on_at(deadline):
                    captured = await self._capture.take(event)
            except StorageError:
                if not context.text:
                    raise
            if event.kind is EventKind.TOOL_USE and retrieve and not is_answered_before_tool(agent):
                await self._act_rules.after_act(event)
        return captured, context.text

    async def _at_start(self, event: Event, report: HookReport, deadline: float) -> Brief:
        """The text for the session: its brief, or what is new since the session last reported something."""
        key = event.session_id if report.session_id else report.session_key
        brief = await self._session_context.begin(
            event, key=key, is_emptied=report.is_context_emptied, deadline=deadline
        )
        if brief.text or not report.is_resumed:
            return brief
        return await self._session_context.resume(event, deadline=deadline)

    async def _answer(self, prompt: Event, deadline: float) -> tuple[Captured, str]:
        """The outcome of a prompt, and the text for its agent, with the brief if the session's start missed it."""
        late = await self._session_context.late(prompt, deadline=deadline)
        if late.text:
            self._session_context.told(prompt, late)
        captured, retrieval = await self._prompt.take(prompt, deadline=deadline)
        of_paths = ""
        with trio.move_on_at(deadline):
            of_paths = await self._act_rules.paths.on(prompt)
        waited = self._act_rules.with_next_prompt(prompt)
        return captured, "\n".join(filter(None, (late.text, retrieval.context, of_paths, waited.text)))

    async def _read(self, agent: str, payload: bytes, headers: Mapping[str, str]) -> Sequence[tuple[HookReport, str]]:
        """The reports of a request, each with its ``step_key``; a large payload is read in a thread."""
        if len(payload) <= SMALL_BYTES:
            return _reports(agent, payload, headers)
        return await self._offload(lambda: _reports(agent, payload, headers))

    async def _event(self, agent: str, report: HookReport, *, or_alone: bool = False) -> Event:
        """The report as an event. ``or_alone``: if the store cannot say which session it is in, it gets its own."""
        session_id = report.session_id or await self._session_of(report, or_alone=or_alone)
        project = await self._projects.of(report.cwd, report.session_id or None)
        now = self._clock.utc_now()
        # No validators are needed: the translator and the project finder keep the limits of each field.
        return unchecked(
            Event,
            event_id=EventId(report.event_id or self._clock.new_ulid()),
            session_id=session_id,
            actor_id=self._actor_id,
            namespace=project.namespace,
            schema_version=1,
            kind=report.kind,
            body=report.body,
            valid_time=now if report.happened_at_ms is None else from_milliseconds(report.happened_at_ms, latest=now),
            source=unchecked(
                Source,
                surface=agent,
                version=__version__,
                client_id=self._actor_id,
                project_path=project.project_path,
                branch=project.branch,
            ),
        )

    async def _session_of(self, report: HookReport, *, or_alone: bool) -> str:
        """The session of an agent that reports none: one for each process and folder, a new one at each start."""
        key = report.session_key
        session_id = self._clock.new_ulid()
        try:
            known = None if report.is_spawn else await self._storage.get_hook_session(key)
            if known is not None:
                return known
            await self._writer.write(lambda transaction: transaction.put_hook_session(key, session_id))
        except StorageError:
            if not or_alone:
                raise
        return session_id


def _reports(agent: str, payload: bytes, headers: Mapping[str, str]) -> list[tuple[HookReport, str]]:
    return [(report, step_key(report)) for report in read_hook(agent, payload, headers)]


# Stores a prompt and recalls memories for it at the same time, so that recall does not wait for the disk.


class Prompt:
    """Answers a prompt: stores its event and recalls memories for it, side by side, by one deadline."""

    def __init__(self, capture: Capture, recall: Recall, aftermath: Aftermath, *, budget_seconds: float) -> None:
        self._capture = capture
        self._recall = recall
        self._aftermath = aftermath
        self._budget_seconds = budget_seconds

    def deadline(self, came_at: float) -> float:
        """The deadline of a prompt that came at ``came_at``, both on trio's clock."""
        return came_at + self._budget_seconds

    async def take(self, event: Event, *, deadline: float | None = None) -> tuple[Captured, Retrieval]:
        """Store the prompt, and find memories that help with it. Returns when both are done; a repeat is answered too.

        It returns by ``deadline`` in any case (trio's clock; without one, the budget from now). An event that is not
        durable by then is pending; the storage actor goes on with it, if it had room for it. An event that cannot be
        stored, as on a full disk, is pending too: memories can still be read, and ``degraded`` says why.

        Raises:
          ActorStopped: the daemon is stopping; then no memories are told either.
        """
        latest = self.deadline(trio.current_time()) if deadline is None else deadline
        retrieval = Retrieval()
        captured = Captured(event.event_id, stored="pending")
        failure: KiroLearnError | None = None
        obstacle: StorageError | None = None

        async def recall() -> None:
            nonlocal retrieval
            retrieval = await self._recall.answer(
                event.namespace,
                event.body,
                session_id=event.session_id,
                event_id=event.event_id,
                said_at=event.valid_time,
                folder=event.source.project_path,
                agent=event.source.surface,
                branch=event.source.branch,
                deadline=latest,
            )

        async with trio.open_nursery() as nursery:
            nursery.start_soon(recall)
            try:
                with trio.move_on_at(latest):
                    captured = await self._capture.take(event)
            except StorageError as error:
                obstacle = error
            except KiroLearnError as error:
                failure = error
                nursery.cancel_scope.cancel()
        if failure is not None:
            self._recall.take_back(event.namespace, event.session_id, retrieval)
            raise failure
        if obstacle is not None:
            retrieval = attrs.evolve(retrieval, degraded=(*retrieval.degraded, f"event: {obstacle}"))
        self._aftermath.told(event, retrieval.record_ids, [each.record_id for each in retrieval.found])
        return captured, retrieval
