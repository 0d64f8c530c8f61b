"""The query string of a request, read strictly: a value is what the caller meant, or it is refused by name."""

from __future__ import annotations

import enum
from typing import TypeVar
from urllib.parse import parse_qsl

import attrs

from kiro_learn.frontends.http.answers import Refused, error_answer
from kiro_learn.model.namespace import NAMESPACE_PATTERN, Namespace

E = TypeVar("E", bound=enum.StrEnum)

MOST_PARAMETERS = 100
MOST_DIGITS = 18


@attrs.frozen
class Query:
    """Parameters by name; of a repeated one, the first. Unknown ones are ignored."""

    values: dict[str, str]

    def flag(self, name: str) -> bool:
        """True for exactly ``true``."""
        return self.values.get(name) == "true"

    def text(self, name: str) -> str:
        """A required parameter.

        Raises:
          Refused: it is not.
        """
        value = self.values.get(name, "")
        if not value:
            raise wrong(f"{name} parameter is required", name, "is missing")
        return value

    def optional_text(self, name: str) -> str | None:
        return self.values.get(name) or None

    def integer(self, name: str, *, default: int, least: int, most: int) -> int:
        """A whole number, moved into its range.

        Raises:
          Refused: it is none.
        """
        value = self.values.get(name)
        if value is None:
            return default
        digits = value.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()):
            raise wrong(f"{name} must be an integer", name, "expected a whole number")
        # Longer than any bound here: as large as it gets, without the cost of reading it.
        number = int(digits) if len(digits) <= MOST_DIGITS else 10**MOST_DIGITS
        return max(least, min(most, -number if value.startswith("-") else number))

    def choice(self, name: str, default: E) -> E:
        """A member of ``default``'s enumeration.

        Raises:
          Refused: it is none of them.
        """
        kind = type(default)
        value = self.values.get(name, default.value)
        if value not in {member.value for member in kind}:
            raise wrong(f"invalid {name}", name, f"expected one of {', '.join(member.value for member in kind)}")
        return kind(value)

    def namespace(self) -> Namespace:
        """The required namespace.

        Raises:
          Refused: it is not, or is no namespace.
        """
        return _namespace(self.text("namespace"))

    def optional_namespace(self) -> Namespace | None:
        """The namespace, or None for all of them; an empty one is a mistake, not all.

        Raises:
          Refused: it is no namespace.
        """
        value = self.values.get("namespace")
        return None if value is None else _namespace(value)


def read_query(raw: bytes) -> Query:
    """Read a raw query string.

    Raises:
      Refused: it is not UTF-8, or holds more parameters than any request of ours.
    """
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS)
    except ValueError as error:
        problem = f"expected percent-encoded UTF-8, at most {MOST_PARAMETERS} parameters"
        raise wrong("invalid query string", "query string", problem) from error
    return Query(dict(reversed(pairs)))


def _namespace(value: str) -> Namespace:
    if NAMESPACE_PATTERN.fullmatch(value) is None:
        raise wrong("invalid namespace", "namespace", "expected /actor/<actor_id>/project/<project_id>/")
    return Namespace(value)


def wrong(error: str, name: str, problem: str) -> Refused:
    """The refusal of one parameter."""
    return Refused(error_answer(400, error, details=[(name, problem)]))
