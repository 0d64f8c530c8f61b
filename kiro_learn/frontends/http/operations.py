"""What a route says of itself: its parameters, its body and its answer. Requests are read by the same values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Generic, TypeVar

import attrs

from kiro_learn.frontends.http.query import Query, wrong
from kiro_learn.model.moment import from_text

T = TypeVar("T")

Schema = Mapping[str, Any]


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
    return Parameter(name=name, about=about, schema={"type": "string"}, read=lambda query: query.optional_text(name))


def flag(name: str, about: str) -> Parameter[bool]:
    return Parameter(
        name=name, about=about, schema={"type": "boolean", "default": False}, read=lambda query: query.flag(name)
    )


def choice(name: str, about: str, *, options: tuple[str, ...]) -> Parameter[str]:
    """One of ``options``; the first if it is left out."""

    def read(query: Query) -> str:
        value = query.optional_text(name) or options[0]
        if value not in options:
            raise wrong(f"invalid {name}", name, f"expected one of {', '.join(options)}")
        return value

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


def number(name: str, about: str, *, default: float, least: float, most: float) -> Parameter[float]:
    """A number, moved into its range."""

    def read(query: Query) -> float:
        text = query.optional_text(name)
        try:
            value = default if text is None else float(text)
        except ValueError:
            value = math.nan
        if math.isnan(value):
            raise wrong(f"{name} must be a number", name, "expected a number")
        return max(least, min(most, value))

    schema = {"type": "number", "minimum": least, "maximum": most, "default": default}
    return Parameter(name=name, about=about, schema=schema, read=read)


def moment(name: str, about: str) -> Parameter[datetime | None]:
    """A date, which begins at midnight in UTC, or a moment with an offset."""

    def read(query: Query) -> datetime | None:
        text = query.optional_text(name)
        try:
            return None if text is None else from_text(text if "T" in text else f"{text}T00:00:00Z")
        except (ValueError, OverflowError):
            expected = "expected a date, or a date and time with an offset, as in 2026-01-05T12:17:31Z"
            raise wrong(f"{name} must be a date", name, expected) from None

    return Parameter(name=name, about=about, schema={"type": "string", "format": "date-time"}, read=read)
