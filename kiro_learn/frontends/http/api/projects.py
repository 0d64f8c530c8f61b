"""Routes that show, rename and merge projects, pause them, and share them.

Also the headers in which every answer about one project names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import attrs

from kiro_learn.frontends.http.answers import Answer, json_answer, value_answer
from kiro_learn.frontends.http.api.search import PROJECT
from kiro_learn.frontends.http.operations import Operation, optional_text
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.checks import length, optional
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import MAX_PROJECT_CHARACTERS, Pause, project_id_in
from kiro_learn.model.profile import ProfileFact
from kiro_learn.services.project_names import NamedProject
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_record, write_value

NAME_HEADER = "X-Project"
NAMESPACE_HEADER = "X-Project-Namespace"
NAMESAKES_HEADER = "X-Project-Namesakes"
READABLE = "/~ @+:"
"""The characters besides letters, digits and ``_.-`` that are not percent-encoded in a header."""


@attrs.frozen(kw_only=True)
class ProjectShown:
    """A project, and other projects with the same name."""

    project: str
    namespace: str
    project_id: str
    folder: str | None
    namesakes: tuple[str, ...]


SHOW = Operation("The project with this name, and other projects with the same name.", (PROJECT,), answer=ProjectShown)

_FACT = {
    "type": "object",
    "properties": {
        **{name: {"type": "string"} for name in ("slot", "value", "source")},
        "runs": {
            "type": ["object", "null"],
            "properties": {
                **{name: {"type": "integer"} for name in ("succeeded", "failed")},
                **{name: {"type": "string"} for name in ("last_at", "last_event")},
            },
        },
    },
    "required": ["slot", "value", "source", "runs"],
}
PROFILE = Operation(
    "The languages, tools and commands of a project, as its files state them.",
    (PROJECT,),
    answer={
        "type": "object",
        "properties": {
            "project": {"type": "string"},
            "folder": {"type": ["string", "null"]},
            "facts": {"type": "array", "items": _FACT},
        },
        "required": ["project", "folder", "facts"],
    },
)


@attrs.frozen(kw_only=True)
class RenameAsked:
    """A project, and its new name."""

    project: str = attrs.field(validator=length(1, 4096))
    name: str = attrs.field(validator=length(1, MAX_PROJECT_CHARACTERS))


@attrs.frozen(kw_only=True)
class MergeAsked:
    """A project, and the one that is to keep all of it."""

    source: str = attrs.field(validator=length(1, 4096))
    into: str = attrs.field(validator=length(1, 4096))


RENAME = Operation("Rename a project; its folder still leads to it.", body=RenameAsked, takes_unknown_keys=False)
MERGE = Operation(
    "Move all of a project into another, which also gets its later events.", body=MergeAsked, takes_unknown_keys=False
)


def project_routes(services: Services) -> Iterator[Route]:
    async def show(request: Request) -> Answer:
        return _answer(await services.project_names.described(PROJECT.read(request.query)))

    async def rename(request: Request) -> Answer:
        asked: RenameAsked = RENAME.read(request.json())
        return _answer(await services.project_merges.rename(asked.project, asked.name))

    async def merge(request: Request) -> Answer:
        asked: MergeAsked = MERGE.read(request.json())
        return _answer(await services.project_merges.merge(asked.source, asked.into))

    async def profile(request: Request) -> Answer:
        named = await services.project_names.resolve(PROJECT.read(request.query))
        found = await services.profiles.of(named.namespace, named.folder)
        return json_answer(
            {"project": named.name, "folder": named.folder, "facts": [_fact(fact) for fact in found.facts]}
        )

    yield Route("GET", "/api/project", show, about=SHOW)
    yield Route("GET", "/api/profile", profile, about=PROFILE)
    yield Route("POST", "/api/project", rename, about=RENAME)
    yield Route("POST", "/api/project/merge", merge, about=MERGE)


def _answer(named: NamedProject) -> Answer:
    return value_answer(
        ProjectShown(
            project=named.name,
            namespace=named.namespace,
            project_id=project_id_in(named.namespace),
            folder=named.folder,
            namesakes=tuple(named.namesakes),
        )
    )


def _fact(fact: ProfileFact) -> Mapping[str, Any]:
    runs = None if fact.runs is None else write_value(fact.runs)
    return {"slot": fact.slot, "value": fact.value, "source": fact.source, "runs": runs}


def naming_its_project(route: Route, services: Services) -> Route:
    """``route`` with headers that name the project of its answers, if a request names one."""
    about = route.about
    is_in_body = about is not None and about.body is not None and "project" in attrs.fields_dict(about.body)
    parameter = None if about is None else next((each for each in about.parameters if each.name == PROJECT.name), None)
    if not is_in_body and parameter is None:
        return route

    async def answer(request: Request) -> Answer:
        found = await route.answer(request)
        # If the request stored something, its project is known now; an unknown name was refused already.
        asked = request.json().get("project") if parameter is None else parameter.read(request.query)
        if asked is None:  # the answer is about all projects
            return found
        named = await services.project_names.resolve(asked, may_be_new=True)
        return attrs.evolve(found, headers={**found.headers, **_headers(named)})

    return attrs.evolve(route, answer=answer)


def _headers(named: NamedProject) -> dict[str, Any]:
    namesakes = ", ".join(quote(each, safe=READABLE) for each in named.namesakes)
    return {
        NAME_HEADER: quote(named.name, safe=READABLE),
        NAMESPACE_HEADER: quote(named.namespace, safe=READABLE),
        **({NAMESAKES_HEADER: namesakes} if namesakes else {}),
    }


# Pauses: projects and sessions from which nothing is taken in, and that are told nothing.

SESSION = optional_text("session", "Only this session.")


@attrs.frozen(kw_only=True)
class PauseAsked:
    """The project or session to pause."""

    project: str = attrs.field(validator=length(1, 4096))
    session: str | None = attrs.field(default=None, validator=optional(length(1, 128)))


LIST = Operation("The projects and sessions that are paused now.")
PAUSE = Operation(
    "Pause a project or a session: what its hooks report is dropped, and its prompts are told nothing.",
    body=PauseAsked,
    takes_unknown_keys=False,
)
RESUME = Operation("End a pause.", (PROJECT, SESSION))


def pause_routes(services: Services) -> Iterator[Route]:
    async def listed(_request: Request) -> Answer:
        return json_answer({"pauses": [_written(each) for each in services.pauses.list()]})

    async def pause(request: Request) -> Answer:
        asked: PauseAsked = PAUSE.read(request.json())
        named = await services.project_names.resolve(asked.project)
        return json_answer(_written(await services.pauses.pause(named.namespace, asked.session)))

    async def resume(request: Request) -> Answer:
        project, session = PROJECT.read(request.query), SESSION.read(request.query)
        named = await services.project_names.resolve(project)
        return json_answer({"resumed": await services.pauses.resume(named.namespace, session)})

    yield Route("GET", "/api/pauses", listed, about=LIST)
    yield Route("POST", "/api/pauses", pause, about=PAUSE)
    yield Route("DELETE", "/api/pauses", resume, about=RESUME)


def _written(pause: Pause) -> dict[str, Any]:
    return {"namespace": pause.namespace, "session": pause.session_id, "since": write_value(pause.since)}


# Sharing with a team: its state, comparing both sides now, and memories that stay here.


@attrs.frozen(kw_only=True)
class WithholdAsked:
    """A memory, and whether it is to stay on this machine."""

    record_id: str = attrs.field(validator=length(1, 128))
    withheld: bool = True


SHARING = Operation("The state of sharing: what is shared with a team, and what others share.")
COMPARE = Operation("Compare both sides now: share, take back and receive what is due.")
WITHHOLD = Operation(
    "Take a memory back from the team and keep it on this machine, or share it again.",
    body=WithholdAsked,
    takes_unknown_keys=False,
)


def sharing_routes(services: Services) -> Iterator[Route]:
    async def status(_request: Request) -> Answer:
        return json_answer(write_value(services.sharing.status))

    async def compare(_request: Request) -> Answer:
        return json_answer(write_value(await services.sharing.compare()))

    async def withhold(request: Request) -> Answer:
        asked: WithholdAsked = WITHHOLD.read(request.json())
        record = await services.sharing.withhold(RecordId(asked.record_id), is_withheld=asked.withheld)
        return json_answer({"withheld": asked.withheld, "memory": write_record(record)})

    yield Route("GET", "/api/share", status, about=SHARING)
    yield Route("POST", "/api/share", compare, about=COMPARE)
    yield Route("POST", "/api/share/withhold", withhold, about=WITHHOLD)
