"""The OpenAPI document of the routes below ``/api``, and the route of the settings.

The document is made of what the routes say of themselves, and of the classes that they read and write.
"""

from __future__ import annotations

import enum
import re
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import attrs

from kiro_learn.frontends.http.answers import JSON, Answer, json_answer, value_answer
from kiro_learn.frontends.http.api.activity import activity_routes
from kiro_learn.frontends.http.api.context import context_routes, recall_routes
from kiro_learn.frontends.http.api.forgetting import forgetting_routes, retention_routes
from kiro_learn.frontends.http.api.graph import graph_routes
from kiro_learn.frontends.http.api.observations import edit_routes, embedding_routes, observation_routes
from kiro_learn.frontends.http.api.projects import naming_its_project, pause_routes, project_routes, sharing_routes
from kiro_learn.frontends.http.api.search import search_routes
from kiro_learn.frontends.http.operations import Operation, Parameter
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.checks import Each, Length, Optional, Worded
from kiro_learn.model.version import __version__
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_value

ERROR = {
    "type": "object",
    "properties": {
        "error": {"type": "string"},
        "hint": {"type": "string"},
        "details": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "problem": {"type": "string"}},
                "required": ["path", "problem"],
            },
        },
    },
    "required": ["error"],
}

REFUSALS = {
    400: "The request is malformed; details names every wrong value.",
    401: "No token, or a wrong one.",
    403: "Wrong Host, Origin or Sec-Fetch-Site.",
    404: "No thing has this name or id.",
    408: "The request came too slowly.",
    500: "A defect of the daemon, or the disk is full; the daemon's log has the details.",
    503: "The store or the embedding model cannot answer now; ask again after Retry-After seconds.",
    504: "The answer took too long.",
}
OF_BODIES = {
    409: "The item has changed since, or there is nothing to change; nothing was changed.",
    413: "The body is too large.",
    415: "The body is of another type, compressed, or of another charset.",
}

OPENAPI = Operation("This document.")


def openapi_route(routes: tuple[Route, ...]) -> Route:
    """The route of the document, which describes ``routes`` and itself."""

    async def answer(_request: Request) -> Answer:
        return json_answer(document((*routes, route)))

    route = Route("GET", "/api/openapi.json", answer, about=OPENAPI)
    return route


def document(routes: Iterable[Route]) -> dict[str, Any]:
    """The document of the routes that describe themselves."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if route.about is not None:
            path = re.sub(r"<(\w+)>", r"{\1}", route.path)
            paths.setdefault(path, {})[route.method.lower()] = _operation(route, route.about)
    return {
        "openapi": "3.1.0",
        "info": {"title": "kiro_learn", "version": __version__},
        "security": [{"token": []}, {"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": {"Error": ERROR},
            "securitySchemes": {
                "token": {"type": "apiKey", "in": "header", "name": "X-Worker-Token"},
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        },
    }


def _operation(route: Route, about: Operation) -> dict[str, Any]:
    answer = dict(about.answer) if isinstance(about.answer, Mapping) else schema_of_answer(about.answer)
    kinds = {kind: {"schema": answer} for kind in about.content_types}
    refusals = {**REFUSALS, **(OF_BODIES if route.method == "POST" else {})}
    error = {JSON: {"schema": {"$ref": "#/components/schemas/Error"}}}
    operation: dict[str, Any] = {
        "operationId": f"{route.method.lower()} {route.path}",
        "summary": about.summary,
        "parameters": [_parameter(each) for each in about.parameters],
        "responses": {
            "200": {"description": "Done.", "content": kinds},
            **{str(status): {"description": text, "content": error} for status, text in refusals.items()},
        },
    }
    body = schema_of(about.body) if about.body is not None else about.schema
    if body is not None:
        body = {**body, **({} if about.takes_unknown_keys else {"additionalProperties": False})}
        operation["requestBody"] = {"required": about.body is not None, "content": {JSON: {"schema": body}}}
    return operation


def _parameter(parameter: Parameter[Any]) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "required": parameter.is_required,
        "description": parameter.about,
        "schema": dict(parameter.schema),
    }


# All routes that the OpenAPI document describes: those below ``/api``, and two below ``/v1``.


def api_routes(services: Services) -> Iterator[Route]:
    routes = tuple(naming_its_project(route, services) for route in _described(services))
    yield from routes
    yield openapi_route(routes)


def _described(services: Services) -> Iterator[Route]:
    yield from observation_routes(services)
    yield from edit_routes(services)
    yield from activity_routes(services)
    yield from embedding_routes(services)
    yield from graph_routes(services)
    yield from context_routes(services)
    yield from search_routes(services)
    yield from recall_routes(services)
    yield from retention_routes(services)
    yield from forgetting_routes(services)
    yield from pause_routes(services)
    yield from sharing_routes(services)
    yield from project_routes(services)
    yield from settings_routes(services)


# The settings, each with its origin; read-only.


@attrs.frozen(kw_only=True)
class SettingsShown:
    """The settings that a daemon started now would have."""

    settings: tuple[dict[str, Any], ...]


SETTINGS = Operation("The settings, each with where it comes from.", answer=SettingsShown)


def settings_routes(services: Services) -> Iterator[Route]:
    async def settings(_request: Request) -> Answer:
        return value_answer(SettingsShown(settings=tuple(map(write_value, await services.health.settings()))))

    yield Route("GET", "/api/settings", settings, about=SETTINGS)


# The JSON Schemas of our values: of those that bodies are read as, and of those that answers are written from. An
# answer leaves out fields that have their default, so a field with a default is not required. A field that may be None
# and has no default is null.

_SIMPLE: Mapping[Any, Mapping[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
}


def schema_of(cls: type[Any]) -> dict[str, Any]:
    """The schema of the JSON that is read as a ``cls``, by its types and its validators."""
    attrs.resolve_types(cls)
    fields = attrs.fields(cls)
    return {
        "type": "object",
        "properties": {field.name: _bounded(_of_type(field.type), field.validator) for field in fields},
        "required": [field.name for field in fields if field.default is attrs.NOTHING],
    }


def _of_type(kind: Any) -> dict[str, Any]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in _SIMPLE:
        return dict(_SIMPLE[kind])
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if attrs.has(kind):
        return schema_of(kind)
    if origin is tuple:
        return {"type": "array", "items": _of_type(arguments[0])}
    if origin in {typing.Union, types.UnionType}:
        return {"anyOf": [_of_type(each) for each in arguments if each is not type(None)] + [{"type": "null"}]}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return {"enum": [member.value for member in kind]}
    raise TypeError(f"no schema is known for {kind}")


def _bounded(schema: dict[str, Any], validator: Any) -> dict[str, Any]:
    if isinstance(validator, Length):
        bounds: dict[str, Any] = {"minLength": validator.least, "maxLength": validator.most}
        return schema | bounds | ({"pattern": r"\S"} if isinstance(validator, Worded) else {})
    if isinstance(validator, Each):
        items = _bounded(schema["items"], validator.item)
        return schema | {"minItems": validator.least, "maxItems": validator.most, "items": items}
    if isinstance(validator, Optional):
        first, *rest = schema["anyOf"]
        return {"anyOf": [_bounded(first, validator.inner), *rest]}
    return schema


def schema_of_answer(kind: Any) -> dict[str, Any]:
    """The schema of the JSON that a value of this class is written as; for several classes, one of their schemas.

    A field adds the keywords of its ``metadata``.
    """
    if not attrs.has(kind):
        return {"oneOf": [schema_of_answer(each) for each in typing.get_args(kind)]}
    attrs.resolve_types(kind)
    fields = attrs.fields(kind)
    return {
        "type": "object",
        "properties": {
            field.name: _of_answer(field.type, may_be_null=field.default is attrs.NOTHING) | dict(field.metadata)
            for field in fields
        },
        "required": [field.name for field in fields if field.default is attrs.NOTHING],
    }


def _of_answer(kind: Any, *, may_be_null: bool = True) -> dict[str, Any]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in {typing.Union, types.UnionType}:
        (inner,) = (_of_answer(each) for each in arguments if each is not type(None))
        return inner | {"type": [inner["type"], "null"]} if may_be_null else inner
    if origin is typing.Literal and len(arguments) == 1:
        return {"const": arguments[0]}
    if origin is tuple:
        return {"type": "array", "items": _of_answer(arguments[0])}
    if origin is dict:
        return {"type": "object"}
    return schema_of_answer(kind) if attrs.has(kind) else _of_type(kind)
