"""The JSON Schemas of our values: of those that bodies are read as, and of those that answers are written from.

Rules of this file: what an answer has by default is left out of it, so a field with a default is not required; one that
may be None and has no default is null.
"""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import attrs

from kiro_learn.model.checks import Each, Length, Optional, Worded

_SIMPLE: Mapping[Any, Mapping[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
}


def schema_of(cls: type[Any]) -> dict[str, Any]:
    """The JSON that is read as a ``cls``, by its types and its validators."""
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
    """The JSON that a value of this class is written as; of several classes, one of theirs.

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
