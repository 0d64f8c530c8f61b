"""From an ``Ask`` of the protocol to the service that answers it, and back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple, TypeAlias, TypeVar

import attrs
import trio

from kiro_learn.errors import InvalidRequest, KiroLearnError, UnknownCheckpoint
from kiro_learn.frontends.mcp.tools import ANSWERING, moment_of, read_as
from kiro_learn.model.correction import Correction
from kiro_learn.model.event import TextBody
from kiro_learn.model.ids import RecordId
from kiro_learn.model.observation import Checkpoint, KnowledgeItem, Observation
from kiro_learn.model.record import RecordFilter
from kiro_learn.services.observe import Observed
from kiro_learn.services.placing import Wanted
from kiro_learn.services.project_names import NamedProject
from kiro_learn.services.services import Services
from kiro_learn.wire.mcp import offers
from kiro_learn.wire.mcp.answers import (
    brief,
    failure_result,
    full,
    listed_memory,
    listed_session,
    memory_contents,
    session_contents,
    tool_result,
)
from kiro_learn.wire.mcp.protocol import Ask, Failed, Missing, Outcome, tool_error
from kiro_learn.wire.mcp.versions import INVALID_PARAMS
from kiro_learn.wire.messages import read_handed_in

T = TypeVar("T", Observation, KnowledgeItem, Checkpoint)

Arguments: TypeAlias = Mapping[str, Any]

LISTED_MEMORIES = 20
LISTED_SESSIONS = 10
SESSION_MEMORIES = 50
LAST_MOMENT = timedelta(microseconds=1)
"""Makes the end of a session inclusive: a record that was made with its last event is part of it."""

UNNAMED_SESSION = "mcp"
"""The session if neither the client nor the model names one."""

NO_PROJECT = "Name the project in the argument project, or connect to /mcp?project= with an absolute folder."
STARTED_NOWHERE = (
    "This client was started in {name}, whose project holds what belongs to no other project. "
    "If you mean another project, name it in the argument project."
)
NEW_PROJECT = "No project was called {name} before."
NAMESAKES = "Other projects with the same name: {others}."
TOO_LATE = "the answer took too long; ask again"
NOTHING_CLOSE = "No memory is close enough."


@attrs.frozen(kw_only=True)
class ClientPlace:
    """Where a client works."""

    project: str | None
    """A folder in the project, its name or its id."""
    session: str | None


class Told(NamedTuple):
    """The answer of a tool."""

    value: dict[str, Any]
    text: str | None = None
    """The text for clients that read only text; None: the value as JSON."""


class AskedServices:
    """Answers asks. The project is that of the argument, else the client's."""

    def __init__(self, services: Services, place: ClientPlace) -> None:
        self._services = services
        self._place = place

    async def answer(self, ask: Ask) -> Outcome:
        """The outcome of ``ask``; errors that the client or user can act on are returned, not raised."""
        try:
            return await self._ask(ask)
        except InvalidRequest as error:
            return Failed(f"Invalid params: {error} {error.hint}".strip(), INVALID_PARAMS)
        except KiroLearnError as error:
            return Failed(f"{error} {error.hint}".strip())
        except trio.TooSlowError:
            return Failed(TOO_LATE)

    async def _ask(self, ask: Ask) -> Outcome:
        match ask.method:
            case "tools/call":
                return await self._call_tool(ask.params["name"], ask.params["arguments"])
            case "resources/list":
                return await self._list_resources(ask.params.get("cursor"))
            case "resources/read":
                return await self._read_resource(ask.params["uri"])
            case _:
                return await self._recall_prompt(ask.params["arguments"]["question"])

    async def _call_tool(self, name: str, arguments: Arguments) -> dict[str, Any]:
        tools: dict[str, Callable[[NamedProject, Arguments], Awaitable[Told]]] = {
            "search_memory": self._search,
            "get_memories": self._get,
            "timeline": self._timeline,
            "recall_context": self._recall,
            "save_observation": self._save_observation,
            "store_knowledge": self._store_knowledge,
            "save_session_summary": self._save_session_summary,
            "edit_memory": self._edit,
            "forget_memory": self._forget,
        }
        try:
            named = await self._named(arguments.get("project"))
            if (answer := ANSWERING.get(name)) is not None:
                told = Told(await answer(self._services, named, arguments))
            else:
                told = await tools[name](named, arguments)
        except KiroLearnError as error:
            return failure_result(error)
        except trio.TooSlowError:
            return tool_error(TOO_LATE)
        note = note_of(named, is_argument="project" in arguments)
        text = f"{told.text}\n\n{note}" if told.text and note else told.text
        return tool_result({"project": named.name} | told.value | ({"note": note} if note else {}), text)

    def _asked(self, argument: str | None) -> str:
        project = argument or self._place.project
        if not project:
            raise InvalidRequest([("$.project", "is missing")], hint=NO_PROJECT)
        return project

    async def _named(self, argument: str | None = None) -> NamedProject:
        """The project of the argument, else the client's.

        The argument's must be known, since a model may have made it up. The client's may be new, since a person named
        it.
        """
        may_be_new = not argument
        return await self._services.project_names.resolve(self._asked(argument), may_be_new=may_be_new)

    # --- reading ----------------------------------------------------------------------------------------------------

    async def _search(self, project: NamedProject, arguments: Arguments) -> Told:
        limit = arguments["limit"]
        wanted = Wanted(limit=limit, filter=_filter_of(arguments))
        found = await self._services.search.among([project.namespace], arguments["query"], wanted)
        shown = full if arguments["detail"] == "full" else brief
        value = {"memories": [shown(record) for record in found.records], "more": len(found.records) == limit}
        return Told(value | ({"degraded": list(found.degraded)} if found.degraded else {}))

    async def _get(self, project: NamedProject, arguments: Arguments) -> Told:
        found = await self._services.project_records.read(project, [RecordId(each) for each in arguments["ids"]])
        memories = [full(record, with_all_text=arguments["full_text"]) for record in found.records]
        return Told({"memories": memories, "unknown": list(found.unknown)})

    async def _timeline(self, project: NamedProject, arguments: Arguments) -> Told:
        if "around" not in arguments:
            newest = await self._services.activity.records(
                project, limit=arguments["limit"], cursor=arguments.get("cursor")
            )
            value: dict[str, Any] = {"memories": [brief(record) for record in newest.items]}
            return Told(value | ({"next_cursor": newest.next_cursor} if newest.next_cursor else {}))
        anchor = await self._services.project_records.one(project, RecordId(arguments["around"]))
        found = await self._services.activity.timeline(
            anchor.record_id, before=arguments["before"], after=arguments["after"]
        )
        return Told({"memories": [brief(each) for each in (*found.before, found.anchor, *found.after)]})

    async def _recall(self, project: NamedProject, arguments: Arguments) -> Told:
        context, record_ids, degraded = await self._recalled(project, arguments.get("prompt", ""))
        value = {"context": context, "ids": record_ids} | ({"degraded": degraded} if degraded else {})
        named = f"\nIds for get_memories: {', '.join(record_ids)}" if record_ids else ""
        return Told(value, f"{context}{named}" if context else NOTHING_CLOSE)

    async def _recalled(self, project: NamedProject, prompt: str) -> tuple[str, list[str], list[str]]:
        """The text that the hook would tell, the ids of its memories, and why there may be more."""
        if not prompt.strip():
            started = await self._services.session_context.context(project.namespace, folder=project.folder)
            return started.text, list(started.record_ids), []
        told = await self._services.recall.answer(
            project.namespace, TextBody(prompt), folder=project.folder, branch=project.branch
        )
        return told.context, list(told.record_ids), list(told.degraded)

    # --- saving -----------------------------------------------------------------------------------------------------

    async def _save_observation(self, _project: NamedProject, arguments: Arguments) -> Told:
        handed_in = self._handed_in(arguments, Observation)
        return _saved(await self._services.observe.observe(handed_in))

    async def _store_knowledge(self, _project: NamedProject, arguments: Arguments) -> Told:
        handed_in = self._handed_in(arguments, KnowledgeItem)
        return _saved(await self._services.observe.add_knowledge(handed_in))

    async def _save_session_summary(self, _project: NamedProject, arguments: Arguments) -> Told:
        session = self._place.session or UNNAMED_SESSION
        handed_in = self._handed_in({"session": session, **arguments}, Checkpoint)
        return _saved(await self._services.observe.add_checkpoint(handed_in))

    def _handed_in(self, arguments: Arguments, cls: type[T]) -> T:
        session = {"session": self._place.session} if self._place.session else {}
        return read_handed_in({**session, **arguments, "project": self._asked(arguments.get("project"))}, cls)

    # --- changing ---------------------------------------------------------------------------------------------------

    async def _edit(self, project: NamedProject, arguments: Arguments) -> Told:
        records = self._services.project_records
        old = await records.one(project, RecordId(arguments["id"]))
        edited = await records.edit(project, old.record_id, read_as(Correction, arguments))
        return Told({"id": edited.record_id, "replaced": old.record_id})

    async def _forget(self, project: NamedProject, arguments: Arguments) -> Told:
        forget = self._services.project_records.forget
        done = await forget(project, RecordId(arguments["id"]), with_same_words=arguments["same_words"])
        record_id, *also = done.record_ids
        value = {"id": record_id, "forgotten": True, "also_forgotten": also}
        return Told(value | {"same_words": [brief(each) for each in done.same_words]})

    # --- resources and prompts --------------------------------------------------------------------------------------

    async def _list_resources(self, cursor: str | None) -> Outcome:
        if not self._place.project:
            return {"resources": []}
        activity, project = self._services.activity, await self._named()
        newest = await activity.records(project, limit=LISTED_MEMORIES, cursor=cursor)
        listed = [listed_memory(record) for record in newest.items]
        if cursor is None:
            sessions = await activity.sessions(project, limit=LISTED_SESSIONS)
            listed = [listed_session(head.session) for head in sessions.items] + listed
        return {"resources": listed} | ({"nextCursor": newest.next_cursor} if newest.next_cursor else {})

    async def _read_resource(self, uri: str) -> Outcome:
        resource, project = offers.resource_of(uri), await self._named()
        if resource is None:
            return Missing(uri)
        if resource.kind == offers.SESSION:
            return await self._read_session(project, resource.id) or Missing(uri)
        found = await self._services.project_records.read(project, [RecordId(resource.id)])
        return memory_contents(found.records[0]) if found.records else Missing(uri)

    async def _read_session(self, project: NamedProject, session_id: str) -> dict[str, Any] | None:
        activity = self._services.activity
        reported = await activity.session(project, session_id, limit=1)
        if reported is None:
            return None
        session = reported.session
        meanwhile = RecordFilter(since=session.started_at, until=session.last_event_at + LAST_MOMENT)
        made = await activity.records(project, limit=SESSION_MEMORIES, wanted=meanwhile)
        try:
            checkpoint = await activity.checkpoint(project, session_id)
        except UnknownCheckpoint:
            return session_contents(session, None, made.items)
        return session_contents(session, checkpoint, made.items)

    async def _recall_prompt(self, question: str) -> Outcome:
        context, _record_ids, _degraded = await self._recalled(await self._named(), question)
        return offers.recall_prompt(question, context)


def _filter_of(arguments: Arguments) -> RecordFilter:
    """The filter of a search. Raises InvalidRequest: a moment is invalid."""
    return RecordFilter(
        types=tuple(arguments.get("types", ())),
        since=moment_of(arguments, "since"),
        until=moment_of(arguments, "until"),
        session=arguments.get("session"),
        concept=arguments.get("concept"),
        file=arguments.get("file"),
        is_stale=arguments.get("stale"),
        branch=arguments.get("branch"),
    )


def note_of(named: NamedProject, *, is_argument: bool) -> str:
    """What a model should know about the project of its answer; empty if there is nothing special."""
    said = []
    if named.is_everything and not is_argument:
        said.append(STARTED_NOWHERE.format(name=named.name))
    if named.is_new:
        said.append(NEW_PROJECT.format(name=named.name))
    if named.namesakes:
        said.append(NAMESAKES.format(others=", ".join(named.namesakes)))
    return " ".join(said)


def _saved(observed: Observed) -> Told:
    if not observed.is_repeat:
        return Told({"id": observed.record_id, "stored": True})
    return Told({"id": observed.record_id, "stored": False, "differs": list(observed.differs)})
