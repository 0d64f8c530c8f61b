"""What was learned besides memories: lists of entities, facts, procedures and preferences, and single items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from kiro_learn.errors import InvalidRequest
from kiro_learn.frontends.http.answers import Answer, json_answer, value_answer
from kiro_learn.frontends.http.api.activity import CURSOR, PAGE_LIMIT, Page
from kiro_learn.frontends.http.api.search import PROJECT
from kiro_learn.frontends.http.operations import (
    Operation,
    choice,
    flag,
    integer,
    moment,
    optional_text,
    required_text,
    wrong,
)
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.checks import length
from kiro_learn.model.correction import GraphCorrection
from kiro_learn.model.graph import MOST_NODES, GraphItem, GraphItemId, GraphKind, NodeKind, kind_of
from kiro_learn.model.observation import MAX_PROJECT
from kiro_learn.model.profile import FactSaid, PreferenceSaid, ProcedureSaid, Said
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_value

MAX_ID = 100
KINDS = {
    "facts": GraphKind.FACT,
    "entities": GraphKind.ENTITY,
    "procedures": GraphKind.PROCEDURE,
    "preferences": GraphKind.PREFERENCE,
    "relationships": GraphKind.RELATIONSHIP,
}
KIND = choice("kind", "The kind of items.", options=tuple(KINDS))
TEXT = optional_text("text", "Only items whose name, subject or key contains this text.")
AS_OF = moment("as_of", "Only items that held then (a date means its end), instead of those of now.", is_end=True)
ALL = flag("all", "Also items that no longer hold, and candidates.")
ID = required_text("id", "The id of the item.")
ANY_PROJECT = optional_text("project", "Only of this project: its name, id, namespace, or an absolute folder in it.")
SHOWN = optional_text("show", f"The kinds of nodes, with commas between them: {', '.join(NodeKind)}.")
USUALLY_SHOWN = "projects,memories,concepts"
NODES = integer("limit", "The most nodes; links are at most twice as many.", default=2_000, least=4, most=MOST_NODES)


@attrs.frozen
class ConflictSettled:
    """The side of a conflict that is kept, and the one that is not."""

    project: str = attrs.field(validator=length(1, MAX_PROJECT))
    """A project's name, id, namespace, or a folder in it."""
    keep: str = attrs.field(validator=length(1, MAX_PROJECT))
    over: str = attrs.field(validator=length(1, MAX_PROJECT))


@attrs.frozen
class GraphEdited:
    """An item, and the changes to it."""

    project: str = attrs.field(validator=length(1, MAX_PROJECT))
    """A project's name, id, namespace, or a folder in it."""
    id: str = attrs.field(validator=length(1, MAX_ID))
    correction: GraphCorrection


@attrs.frozen
class GraphAdded:
    """What a person says of a project: a fact, a preference or a procedure."""

    project: str = attrs.field(validator=length(1, MAX_PROJECT))
    """A project's name, id, namespace, or a folder in it."""
    fact: FactSaid | None = None
    preference: PreferenceSaid | None = None
    procedure: ProcedureSaid | None = None
    scope: str = attrs.field(default="project", validator=length(1, MAX_PROJECT))
    """``project``; ``person``: all projects; or a path in the project."""

    @property
    def said(self) -> Said:
        """The value that is given.

        Raises:
          InvalidRequest: several values are given, or none.
        """
        said: list[Said] = [each for each in (self.fact, self.preference, self.procedure) if each is not None]
        if len(said) != 1:
            raise InvalidRequest([("$", "expected one of fact, preference and procedure")])
        return said[0]


@attrs.frozen
class EntitiesMerged:
    """An entity, and the one to merge it into."""

    project: str = attrs.field(validator=length(1, MAX_PROJECT))
    """A project's name, id, namespace, or a folder in it."""
    id: str = attrs.field(validator=length(1, MAX_ID))
    into: str = attrs.field(validator=length(1, MAX_ID))


LIST = Operation(
    "The facts, entities, procedures, preferences or relationships of a project, newest first.",
    (PROJECT, KIND, TEXT, AS_OF, ALL, PAGE_LIMIT, CURSOR),
    answer=Page,
)
SHOW = Operation("One item, with the events that it was learned from.", (PROJECT, ID))
ADD = Operation("Add a fact, preference or procedure that a person states, and return its item.", body=GraphAdded)
EDIT = Operation("Correct an item, and return the one that holds now.", body=GraphEdited)
MERGE = Operation("Merge one entity into another, which gets its names and facts.", body=EntitiesMerged)
FORGET = Operation("Delete an item for good; an entity with its facts and all facts that name it.", (PROJECT, ID))

PICTURE = Operation(
    "The newest memories, the things that they are about and how those are related, as nodes and links.",
    (ANY_PROJECT, SHOWN, NODES),
)
CONFLICTS = Operation("Facts, rules and lines of rule files that contradict each other.", (ANY_PROJECT,))
SETTLE = Operation("Keep one side of a conflict; the other one ends.", body=ConflictSettled)


def graph_routes(services: Services) -> Iterator[Route]:
    async def list_items(request: Request) -> Answer:
        query = request.query
        found = await services.graph_items.list(
            PROJECT.read(query),
            KINDS[KIND.read(query)],
            text=TEXT.read(query) or "",
            as_of=AS_OF.read(query),
            only_current=not ALL.read(query),
            limit=PAGE_LIMIT.read(query),
            cursor=CURSOR.read(query),
        )
        return value_answer(Page(items=tuple(map(_written, found.items)), next_cursor=found.next_cursor))

    async def show(request: Request) -> Answer:
        found = await services.graph_items.show(PROJECT.read(request.query), GraphItemId(ID.read(request.query)))
        return json_answer(_written(found.item) | {"evidence": [write_value(each) for each in found.evidence]})

    async def add(request: Request) -> Answer:
        wanted: GraphAdded = ADD.read(request.json())
        found = await services.graph_items.add(wanted.project, wanted.said, scope=wanted.scope)
        return json_answer(_written(found.item))

    async def edit(request: Request) -> Answer:
        wanted: GraphEdited = EDIT.read(request.json())
        found = await services.graph_items.edit(wanted.project, GraphItemId(wanted.id), wanted.correction)
        return json_answer(_written(found.item))

    async def forget(request: Request) -> Answer:
        await services.graph_items.forget(PROJECT.read(request.query), GraphItemId(ID.read(request.query)))
        return json_answer({"forgotten": 1})

    async def picture(request: Request) -> Answer:
        show = (SHOWN.read(request.query) or USUALLY_SHOWN).split(",")
        if not set(show) <= set(NodeKind):
            raise wrong("invalid show", "show", f"expected some of {', '.join(NodeKind)}, with commas between them")
        project, limit = ANY_PROJECT.read(request.query), NODES.read(request.query)
        return json_answer(write_value(await services.graph_items.picture(project, map(NodeKind, show), limit=limit)))

    yield from _conflict_routes(services)
    yield _merging_route(services)
    yield Route("GET", "/api/graph", list_items, about=LIST)
    yield Route("POST", "/api/graph", add, about=ADD)
    yield Route("GET", "/api/graph/picture", picture, about=PICTURE)
    yield Route("GET", "/api/graph/item", show, about=SHOW)
    yield Route("POST", "/api/graph/item", edit, about=EDIT)
    yield Route("DELETE", "/api/graph/item", forget, about=FORGET)


def _merging_route(services: Services) -> Route:
    async def merge(request: Request) -> Answer:
        wanted: EntitiesMerged = MERGE.read(request.json())
        found = await services.graph_items.merge(wanted.project, GraphItemId(wanted.id), GraphItemId(wanted.into))
        return json_answer(_written(found.item))

    return Route("POST", "/api/graph/merge", merge, about=MERGE)


def _conflict_routes(services: Services) -> Iterator[Route]:
    async def conflicts(request: Request) -> Answer:
        project = ANY_PROJECT.read(request.query)
        if project is None:
            namespaces = [each.namespace for each in await services.queries.projects()]
        else:
            namespaces = [(await services.project_names.resolve(project)).namespace]
        found = await services.conflicts.list(namespaces)
        return json_answer({"items": [{"project": each, "sides": write_value(sides)} for each, sides in found]})

    async def settle(request: Request) -> Answer:
        wanted: ConflictSettled = SETTLE.read(request.json())
        named = await services.project_names.resolve(wanted.project)
        return json_answer({"kept": await services.conflicts.settle(named.namespace, wanted.keep, wanted.over)})

    yield Route("GET", "/api/conflicts", conflicts, about=CONFLICTS)
    yield Route("POST", "/api/conflicts", settle, about=SETTLE)


def _written(item: GraphItem) -> dict[str, Any]:
    """An item as JSON, with the name of its kind, and without fields that people do not ask for."""
    values: dict[str, Any] = write_value(item)
    names = {kind: name for name, kind in KINDS.items()}
    kind = kind_of(item.item_id)
    del values["namespace"]
    return {"id": values.pop("item_id"), "kind": None if kind is None else names[kind], **values}
