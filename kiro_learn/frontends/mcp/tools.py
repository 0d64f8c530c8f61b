"""Tools about facts, preferences and marks: what they ask of the services, and what they answer.

With a mark, a user's agent judges one memory or pins it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

import attrs

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.correction import GraphCorrection
from kiro_learn.model.graph import Entity, Fact, GraphItem, GraphItemId, GraphKind, Preference, Procedure, Relationship
from kiro_learn.model.ids import RecordId, from_text_or_date, to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.profile import FactSaid, PreferenceSaid, ProcedureSaid, Said
from kiro_learn.model.retrieval import Feedback
from kiro_learn.services.graph_items import PERSON, PROJECT
from kiro_learn.services.project_names import HOME, NamedProject
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import feedback_answer
from kiro_learn.wire.structuring import new_converter, structure

T = TypeVar("T")

Arguments: TypeAlias = Mapping[str, Any]
Answering: TypeAlias = Callable[[Services, NamedProject, Arguments], Awaitable[dict[str, Any]]]

_KINDS = {
    "facts": GraphKind.FACT,
    "preferences": GraphKind.PREFERENCE,
    "procedures": GraphKind.PROCEDURE,
    "entities": GraphKind.ENTITY,
}
ONE = "expected a predicate with an object, or a preference, or a procedure with its steps"


async def look_up(services: Services, project: NamedProject, arguments: Arguments) -> dict[str, Any]:
    """Items that were stated of the project, and by hand of all projects."""
    kind, text, limit = _KINDS[arguments["kind"]], arguments.get("text", ""), arguments["limit"]
    as_of = moment_of(arguments, "as_of")
    own = (await services.graph_items.list(project, kind, text=text, as_of=as_of, limit=limit)).items
    others = await services.graph_items.of_all_projects(kind, besides=project, text=text, as_of=as_of, limit=limit)
    newest = sorted((*own, *others), key=lambda item: item.item_id, reverse=True)
    return {"items": [_statement(item, project) for item in newest[:limit]]}


async def add(services: Services, project: NamedProject, arguments: Arguments) -> dict[str, Any]:
    shown = await services.graph_items.add(project, _said(arguments), scope=arguments.get("scope", PROJECT))
    return _statement(shown.item, project) | _place(shown.item.namespace, project)


async def correct(services: Services, project: NamedProject, arguments: Arguments) -> dict[str, Any]:
    wanted = read_as(GraphCorrection, arguments)
    shown = await services.graph_items.edit(project, GraphItemId(arguments["id"]), wanted)
    return _statement(shown.item, project) | {"replaced": arguments["id"]} | _place(shown.item.namespace, project)


async def forget(services: Services, project: NamedProject, arguments: Arguments) -> dict[str, Any]:
    namespace = await services.graph_items.forget(project, GraphItemId(arguments["id"]))
    return {"id": arguments["id"], "forgotten": True} | _place(namespace, project)


def _place(namespace: Namespace, project: NamedProject) -> dict[str, Any]:
    """The project to name in the answer, if it is not the one asked: items for all projects are kept in one."""
    return {} if namespace == project.namespace else {"project": HOME}


def _said(arguments: Arguments) -> Said:
    fact = {name for name in ("predicate", "object", "subject", "since") if name in arguments}
    wish = {name for name in ("preference", "about") if name in arguments}
    way = {name for name in ("procedure", "steps", "trigger") if name in arguments}
    if not fact and not wish and {"procedure", "steps"} <= way:
        return read_as(ProcedureSaid, arguments, name="procedure")
    if not fact and not way and "preference" in wish:
        return read_as(PreferenceSaid, arguments, value="preference", key="about")
    if not wish and not way and {"predicate", "object"} <= fact:
        # A date is enough here, though the class takes only a moment.
        since = moment_of(arguments, "since")
        stated = {name: value for name, value in arguments.items() if name != "since"}
        return attrs.evolve(read_as(FactSaid, stated), since=since)
    raise InvalidRequest([("$", ONE)])


def _statement(item: GraphItem, project: NamedProject) -> dict[str, Any]:
    """An item in one line, with the days between which it held, and its scope if that is not the project alone."""
    since, until = _days(item)
    days = {"since": since, "until": until}
    scope = {} if item.namespace == project.namespace else {"scope": PERSON}
    return {"id": item.item_id, "says": _says(item), **{name: to_text(at) for name, at in days.items() if at}, **scope}


def _says(item: GraphItem) -> str:
    match item:
        case Fact():
            return item.text
        case Preference():
            return f"{item.category}{f' in {item.path}' if item.path else ''}: {item.value}"
        case Procedure():
            return f"{item.name}: {' → '.join(item.steps)}"
        case Entity():
            return f"{item.name} ({item.type})" + (f": {item.description}" if item.description else "")
        case Relationship():
            return item.type


def _days(item: GraphItem) -> tuple[datetime | None, datetime | None]:
    match item:
        case Entity():
            return item.first_seen, None
        case Procedure():
            return item.created_at, None
        case _:
            return item.validity.valid_from or item.validity.observed_at, item.validity.valid_until


# A user's agent judges or pins one memory.


async def judge(services: Services, project: NamedProject, arguments: Arguments) -> dict[str, Any]:
    """Store the feedback. Raises UnknownRecord: the project has no record with this id."""
    record = await services.project_records.one(project, RecordId(arguments["id"]))
    counts = await services.aftermath.say(record.record_id, Feedback(arguments["feedback"]))
    return {"id": record.record_id, **feedback_answer(counts)}


async def pin(services: Services, project: NamedProject, arguments: Arguments) -> dict[str, Any]:
    """Pin or unpin. Raises UnknownRecord: the project has no record with this id."""
    record = await services.project_records.one(project, RecordId(arguments["id"]))
    set_so = services.history.pin if arguments["pinned"] else services.history.unpin
    return {"id": record.record_id, "pinned": (await set_so(record.record_id)).pinned_at is not None}


ANSWERING: Mapping[str, Answering] = {
    "look_up_facts": look_up,
    "add_fact": add,
    "correct_fact": correct,
    "forget_fact": forget,
    "judge_memory": judge,
    "pin_memory": pin,
}
"""The functions by the names of their tools."""


# Reading arguments as our values.

_converter = new_converter()


def read_as(cls: type[T], arguments: Arguments, **names: str) -> T:
    """The arguments as a ``cls``; ``names``: the tool's name of a field, where it differs.

    Raises:
      InvalidRequest: names every wrong argument.
    """
    called = {own: arguments[name] for own, name in names.items() if name in arguments}
    told = {f"$.{own}": f"$.{name}" for own, name in names.items()}
    try:
        return structure(_converter, {**arguments, **called}, cls)
    except InvalidRequest as error:
        raise InvalidRequest([(told.get(path, path), problem) for path, problem in error.problems]) from error


def moment_of(arguments: Mapping[str, Any], name: str) -> datetime | None:
    """The time or date in argument ``name``; a date in ``until`` or ``as_of`` means its end; None if left out.

    Raises:
      InvalidRequest: the value is neither a time nor a date.
    """
    try:
        return from_text_or_date(arguments[name], is_end=name in {"until", "as_of"}) if name in arguments else None
    except ValueError as error:
        raise InvalidRequest([(f"$.{name}", str(error))]) from error
