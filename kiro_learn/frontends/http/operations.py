"""What a route says of itself: its parameters, its body and its answer. Requests are read by the same values."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any, Generic, TypeVar
from urllib.parse import parse_qsl

import attrs

from kiro_learn.frontends.http.answers import Refused, error_answer
from kiro_learn.model.ids import from_text_or_date
from kiro_learn.model.namespace import NAMESPACE_PATTERN, Namespace
from kiro_learn.model.record import RecordFilter
from kiro_learn.wire.structuring import new_converter, structure

T = TypeVar("T")

Schema = Mapping[str, Any]

_TEXT: Schema = {"type": "string", "minLength": 1}
_FOLDER: Schema = {"type": "string", "pattern": "^/"}


@attrs.frozen
class Parameter(Generic[T]):
    """One parameter of a query string."""

    name: str
    about: str
    schema: Schema
    read: Callable[[Query], T]
    """Reads the value from a query. Raises Refused if it is missing or wrong."""
    is_required: bool = False


@attrs.frozen
class Operation:
    """What one route does."""

    summary: str
    parameters: tuple[Parameter[Any], ...] = ()
    body: type[Any] | None = None
    """The class that the JSON body is read as."""
    takes_unknown_keys: bool = True
    """True: unknown keys of the body are ignored. False: they are refused, lest a misspelled one changes too much."""
    schema: Schema | None = None
    """The schema of a body that is read as no class."""
    answer: Schema | Any = attrs.field(factory=lambda: {"type": "object"})
    """A schema, or the class of the answer, or a union of such classes."""
    content_types: tuple[str, ...] = ("application/json",)
    """The content types of the answer, among which the parameters choose."""

    def read(self, value: Any) -> Any:
        """Read a JSON value as the ``body``. Raises InvalidRequest, naming every wrong value."""
        assert self.body is not None
        return structure(_TOLERANT if self.takes_unknown_keys else _STRICT, value, self.body)


_TOLERANT, _STRICT = new_converter(), new_converter(forbid_extra_keys=True)


def required_text(name: str, about: str) -> Parameter[str]:
    return Parameter(name, about, _TEXT, lambda query: query.text(name), is_required=True)


def optional_text(name: str, about: str) -> Parameter[str | None]:
    return Parameter(name, about, _TEXT, lambda query: query.optional_text(name))


def texts(name: str, about: str) -> Parameter[tuple[str, ...]]:
    """One value or several, each given by a parameter of this name."""
    schema = {"type": "array", "items": {"type": "string", "minLength": 1}}
    return Parameter(name, about, schema, lambda query: query.texts(name))


def flag(name: str, about: str) -> Parameter[bool]:
    schema = {"type": "boolean", "default": False}
    return Parameter(name, about, schema, lambda query: query.flag(name))


def optional_flag(name: str, about: str) -> Parameter[bool | None]:
    """True or false; None if it is left out."""

    def read(query: Query) -> bool | None:
        return query.flag(name) if name in query.values else None

    return Parameter(name, about, {"type": "boolean"}, read)


def optional_namespace(name: str, about: str) -> Parameter[Namespace | None]:
    return Parameter(name, about, _TEXT, lambda query: query.optional_namespace(name))


def required_namespace(name: str, about: str) -> Parameter[Namespace]:
    def read(query: Query) -> Namespace:
        query.text(name)
        found = query.optional_namespace(name)
        assert found is not None, "it is there"
        return found

    return Parameter(name, about, _TEXT, read, is_required=True)


def optional_folder(name: str, about: str) -> Parameter[str | None]:
    """An absolute folder."""

    def read(query: Query) -> str | None:
        folder = query.optional_text(name)
        return None if folder is None else _absolute(name, folder)

    return Parameter(name, about, _FOLDER, read)


def required_folder(name: str, about: str) -> Parameter[str]:
    """An absolute folder."""

    def read(query: Query) -> str:
        return _absolute(name, query.text(name))

    return Parameter(name, about, _FOLDER, read, is_required=True)


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
    return Parameter(name, about, schema, read)


def integer(name: str, about: str, *, default: int, least: int, most: int) -> Parameter[int]:
    """A whole number; a value outside its range is moved to the nearest bound."""
    schema = {"type": "integer", "minimum": least, "maximum": most, "default": default}
    return Parameter(
        name,
        about,
        schema,
        lambda query: query.integer(name, default=default, least=least, most=most),
    )


def optional_integer(name: str, about: str, *, least: int, most: int) -> Parameter[int | None]:
    """A whole number, moved into its range; None if it is left out."""

    def read(query: Query) -> int | None:
        return query.integer(name, default=least, least=least, most=most) if name in query.values else None

    schema = {"type": "integer", "minimum": least, "maximum": most}
    return Parameter(name, about, schema, read)


def optional_number(name: str, about: str, *, least: float, most: float) -> Parameter[float | None]:
    """A number, moved into its range; None if it is left out."""

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
    return Parameter(name, about, schema, read)


def moment(name: str, about: str, *, is_end: bool = False) -> Parameter[datetime | None]:
    """A moment with an offset, or a date, as ``from_text_or_date`` reads it."""

    def read(query: Query) -> datetime | None:
        text = query.optional_text(name)
        try:
            return None if text is None else from_text_or_date(text, is_end=is_end)
        except ValueError as error:
            raise wrong(f"{name} must be a date", name, str(error)) from None

    return Parameter(name, about, {"type": "string", "format": "date-time"}, read)


# The query string of a request, read strictly: a value is taken as the caller meant it, or refused by its name.

MOST_PARAMETERS = 100
MOST_DIGITS = 18

FLAGS: Mapping[str, bool] = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}
"""The spellings of a flag, in lower case; requests may use any case."""


@attrs.frozen
class Query:
    """The values of each parameter, in the order in which they came."""

    values: Mapping[str, tuple[str, ...]]

    def refuse_others(self, known: Collection[str]) -> None:
        """Raises Refused if a parameter is not in ``known``: a misspelled one would otherwise be ignored."""
        for name in self.values:
            if name not in known:
                expected = f"expected one of {', '.join(known)}" if known else "expected no parameter"
                raise wrong("unknown parameter", name, expected)

    def optional_text(self, name: str) -> str | None:
        """The value, or None if it is left out.

        Raises:
          Refused: the value is empty, or given twice.
        """
        values = self.values.get(name, ())
        if len(values) > 1:
            raise wrong(f"{name} is given more than once", name, "expected one value")
        return self._checked(name, values)[0] if values else None

    def texts(self, name: str) -> tuple[str, ...]:
        """All values of the parameter, none of which may be empty. Raises Refused."""
        return self._checked(name, self.values.get(name, ()))

    def _checked(self, name: str, values: tuple[str, ...]) -> tuple[str, ...]:
        if not all(values):
            raise wrong(f"{name} is empty", name, "expected a value, or no such parameter")
        return values

    def flag(self, name: str) -> bool:
        """The flag's value; False if it is left out.

        Raises:
          Refused: the value is neither yes nor no.
        """
        value = self.optional_text(name)
        if value is None:
            return False
        if value.lower() not in FLAGS:
            raise wrong(f"{name} must be true or false", name, f"expected one of {', '.join(FLAGS)}")
        return FLAGS[value.lower()]

    def text(self, name: str) -> str:
        """The value of a required parameter.

        Raises:
          Refused: the parameter is missing.
        """
        if not any(self.values.get(name, ())):
            raise wrong(f"{name} parameter is required", name, "is missing")
        return self.optional_text(name) or ""

    def integer(self, name: str, *, default: int, least: int, most: int) -> int:
        """A whole number, moved into its range; ``default`` if it is left out.

        Raises:
          Refused: the value is no whole number.
        """
        if name not in self.values:
            return default
        value = self.optional_text(name) or ""
        digits = value.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()):
            raise wrong(f"{name} must be an integer", name, "expected a whole number")
        # A longer number exceeds all bounds here; it counts as 10**18, without the cost of parsing it.
        number = int(digits) if len(digits) <= MOST_DIGITS else 10**MOST_DIGITS
        return max(least, min(most, -number if value.startswith("-") else number))

    def optional_namespace(self, name: str) -> Namespace | None:
        """The namespace; None means all of them. An empty value is an error, and does not mean all.

        Raises:
          Refused: the value is no namespace.
        """
        value = self.optional_text(name)
        if value is not None and NAMESPACE_PATTERN.fullmatch(value) is None:
            raise wrong(f"invalid {name}", name, "expected /actor/<actor_id>/project/<project_id>/")
        return None if value is None else Namespace(value)


def read_query(raw: bytes) -> Query:
    """Read a raw query string.

    Raises:
      Refused: it is not UTF-8, or has more parameters than any request of ours.
    """
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS)
    except ValueError as error:
        problem = f"expected percent-encoded UTF-8, at most {MOST_PARAMETERS} parameters"
        raise wrong("invalid query string", "query string", problem) from error
    values: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:
        values[name] = (*values.get(name, ()), value)
    return Query(values)


def wrong(error: str, name: str, problem: str) -> Refused:
    """The refusal of one parameter."""
    return Refused(error_answer(400, error, details=[(name, problem)]))


# The parameters that filter memories in a list or a search: the same ones on every route that has them.

TYPE = texts("type", "Only memories of this type; may be given several times, for memories of any of them.")
SINCE = moment("since", "Only memories made then or later; a date begins at midnight in UTC.")
UNTIL = moment("until", "Only memories made before this time, or up to the end of this date in UTC.", is_end=True)
SESSION = optional_text("session", "Only memories learned from this session, or handed in for it.")
CONCEPT = optional_text("concept", "Only memories with this concept, in upper or lower case.")
FILE = optional_text("file", "Only memories that cite this file: its path, or the end of its path after a slash.")
STALE = optional_flag("stale", "true: only memories that cite files known to have changed; false: only the others.")
BRANCH = optional_text("branch", "Only memories learned on this branch, which is not merged.")
PINNED = optional_flag("pinned", "true: only pinned memories; false: only the others.")

FILTERS = (TYPE, SINCE, UNTIL, SESSION, CONCEPT, FILE, STALE, BRANCH, PINNED)


def filter_of(query: Query) -> RecordFilter:
    """The filter of a list or a search. Raises Refused."""
    return RecordFilter(
        types=TYPE.read(query),
        since=SINCE.read(query),
        until=UNTIL.read(query),
        session=SESSION.read(query),
        concept=CONCEPT.read(query),
        file=FILE.read(query),
        is_stale=STALE.read(query),
        branch=BRANCH.read(query),
        is_pinned=PINNED.read(query),
    )
