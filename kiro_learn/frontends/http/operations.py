"""What a route says of itself: its parameters, its body and its answer. Requests are read by the same values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Generic, TypeVar

import attrs

from kiro_learn.frontends.http.query import Query, wrong
from kiro_learn.model.moment import from_text_or_date
from kiro_learn.model.namespace import Namespace

T = TypeVar("T")

Schema = Mapping[str, Any]

_FOLDER: Schema = {"type": "string", "pattern": "^/"}


@attrs.frozen(kw_only=True)
class Parameter(Generic[T]):
    """One parameter of a query string."""

    name: str
    about: str
    schema: Schema
    read: Callable[[Query], T]
    """Raises Refused where the value is missing or wrong."""
    is_required: bool = False


@attrs.frozen(kw_only=True)
class Operation:
    """What one route does."""

    summary: str
    parameters: tuple[Parameter[Any], ...] = ()
    body: type[Any] | None = None
    """What the JSON body is read as."""
    schema: Schema | None = None
    """Of a body that no value of ours is read from."""
    answer: Schema = attrs.field(factory=lambda: {"type": "object"})
    content_types: tuple[str, ...] = ("application/json",)
    """Of the answer, as the parameters ask for it."""


def required_text(name: str, about: str) -> Parameter[str]:
    schema = {"type": "string", "minLength": 1}
    return Parameter(name=name, about=about, schema=schema, read=lambda query: query.text(name), is_required=True)


def optional_text(name: str, about: str) -> Parameter[str | None]:
    schema = {"type": "string", "minLength": 1}
    return Parameter(name=name, about=about, schema=schema, read=lambda query: query.optional_text(name))


def texts(name: str, about: str) -> Parameter[tuple[str, ...]]:
    """One value or several, each by a parameter of this name."""
    schema = {"type": "array", "items": {"type": "string", "minLength": 1}}
    return Parameter(name=name, about=about, schema=schema, read=lambda query: query.texts(name))


def flag(name: str, about: str) -> Parameter[bool]:
    schema = {"type": "boolean", "default": False}
    return Parameter(name=name, about=about, schema=schema, read=lambda query: query.flag(name))


def optional_flag(name: str, about: str) -> Parameter[bool | None]:
    """True, false, or None if it is left out."""

    def read(query: Query) -> bool | None:
        return query.flag(name) if name in query.values else None

    return Parameter(name=name, about=about, schema={"type": "boolean"}, read=read)


def optional_namespace(name: str, about: str) -> Parameter[Namespace | None]:
    schema = {"type": "string", "minLength": 1}
    return Parameter(name=name, about=about, schema=schema, read=lambda query: query.optional_namespace(name))


def required_namespace(name: str, about: str) -> Parameter[Namespace]:
    def read(query: Query) -> Namespace:
        query.text(name)
        found = query.optional_namespace(name)
        assert found is not None, "it is there"
        return found

    schema = {"type": "string", "minLength": 1}
    return Parameter(name=name, about=about, schema=schema, read=read, is_required=True)


def optional_folder(name: str, about: str) -> Parameter[str | None]:
    """An absolute folder."""

    def read(query: Query) -> str | None:
        folder = query.optional_text(name)
        return None if folder is None else _absolute(name, folder)

    return Parameter(name=name, about=about, schema=_FOLDER, read=read)


def required_folder(name: str, about: str) -> Parameter[str]:
    """An absolute folder."""

    def read(query: Query) -> str:
        return _absolute(name, query.text(name))

    return Parameter(name=name, about=about, schema=_FOLDER, read=read, is_required=True)


def _absolute(name: str, folder: str) -> str:
    if not folder.startswith("/"):
        raise wrong(f"{name} must be an absolute path", name, "expected an absolute path")
    return folder


def choice(name: str, about: str, *, options: tuple[str, ...]) -> Parameter[str]:
    """One of ``options``; the first if it is left out."""

    def read(query: Query) -> str:
        value = query.optional_text(name)
        if value is not None and value not in options:
            raise wrong(f"invalid {name}", name, f"expected one of {', '.join(options)}")
        return value or options[0]

    schema = {"type": "string", "enum": list(options), "default": options[0]}
    return Parameter(name=name, about=about, schema=schema, read=read)


def integer(name: str, about: str, *, default: int, least: int, most: int) -> Parameter[int]:
    """A whole number, moved into its range."""
    schema = {"type": "integer", "minimum": least, "maximum": most, "default": default}
    return Parameter(
        name=name,
        about=about,
        schema=schema,
        read=lambda query: query.integer(name, default=default, least=least, most=most),
    )


def optional_integer(name: str, about: str, *, least: int, most: int) -> Parameter[int | None]:
    """A whole number, moved into its range."""

    def read(query: Query) -> int | None:
        return query.integer(name, default=least, least=least, most=most) if name in query.values else None

    schema = {"type": "integer", "minimum": least, "maximum": most}
    return Parameter(name=name, about=about, schema=schema, read=read)


def optional_number(name: str, about: str, *, least: float, most: float) -> Parameter[float | None]:
    """A number, moved into its range."""

    def read(query: Query) -> float | None:
        text = query.optional_text(name)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isnan(value):
            raise wrong(f"{name} must be a number", name, "expected a number")
        return max(least, min(most, value))

    schema = {"type": "number", "minimum": least, "maximum": most}
    return Parameter(name=name, about=about, schema=schema, read=read)


def moment(name: str, about: str, *, is_end: bool = False) -> Parameter[datetime | None]:
    """A moment with an offset, or a date, as ``from_text_or_date`` reads it."""

    def read(query: Query) -> datetime | None:
        text = query.optional_text(name)
        try:
            return None if text is None else from_text_or_date(text, is_end=is_end)
        except ValueError:
            expected = "expected a date, or a date and time with an offset, as in 2026-01-05T12:17:31Z"
            raise wrong(f"{name} must be a date", name, expected) from None

    return Parameter(name=name, about=about, schema={"type": "string", "format": "date-time"}, read=read)
