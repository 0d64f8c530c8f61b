"""The query string of a request, read strictly: a value is what the caller meant, or it is refused by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from urllib.parse import parse_qsl

import attrs

from kiro_learn.frontends.http.answers import Refused, error_answer
from kiro_learn.model.namespace import NAMESPACE_PATTERN, Namespace

MOST_PARAMETERS = 100
MOST_DIGITS = 18

FLAGS: Mapping[str, bool] = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}
"""In any case of letters."""


@attrs.frozen
class Query:
    """The values of each parameter, in the order in which they came."""

    values: Mapping[str, tuple[str, ...]]

    def refuse_others(self, known: Collection[str]) -> None:
        """Raises Refused: a parameter is none of ``known``; a misspelled one would be as good as not asked for."""
        for name in self.values:
            if name not in known:
                expected = f"expected one of {', '.join(known)}" if known else "expected no parameter"
                raise wrong("unknown parameter", name, expected)

    def optional_text(self, name: str) -> str | None:
        """What is there, or None.

        Raises:
          Refused: it is empty, or given twice.
        """
        values = self.values.get(name, ())
        if len(values) > 1:
            raise wrong(f"{name} is given more than once", name, "expected one value")
        return self._checked(name, values)[0] if values else None

    def texts(self, name: str) -> tuple[str, ...]:
        """What is there, each time that the parameter is given; none may be empty. Raises Refused."""
        return self._checked(name, self.values.get(name, ()))

    def _checked(self, name: str, values: tuple[str, ...]) -> tuple[str, ...]:
        if not all(values):
            raise wrong(f"{name} is empty", name, "expected a value, or no such parameter")
        return values

    def flag(self, name: str) -> bool:
        """False if it is not there.

        Raises:
          Refused: it is neither yes nor no.
        """
        value = self.optional_text(name)
        if value is None:
            return False
        if value.lower() not in FLAGS:
            raise wrong(f"{name} must be true or false", name, f"expected one of {', '.join(FLAGS)}")
        return FLAGS[value.lower()]

    def text(self, name: str) -> str:
        """A required parameter.

        Raises:
          Refused: it is not there.
        """
        if not any(self.values.get(name, ())):
            raise wrong(f"{name} parameter is required", name, "is missing")
        return self.optional_text(name) or ""

    def integer(self, name: str, *, default: int, least: int, most: int) -> int:
        """A whole number, moved into its range.

        Raises:
          Refused: it is none.
        """
        if name not in self.values:
            return default
        value = self.optional_text(name) or ""
        digits = value.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()):
            raise wrong(f"{name} must be an integer", name, "expected a whole number")
        # Longer than any bound here: as large as it gets, without the cost of reading it.
        number = int(digits) if len(digits) <= MOST_DIGITS else 10**MOST_DIGITS
        return max(least, min(most, -number if value.startswith("-") else number))

    def optional_namespace(self, name: str) -> Namespace | None:
        """The namespace, or None for all of them; an empty one is a mistake, not all.

        Raises:
          Refused: it is no namespace.
        """
        value = self.optional_text(name)
        if value is not None and NAMESPACE_PATTERN.fullmatch(value) is None:
            raise wrong(f"invalid {name}", name, "expected /actor/<actor_id>/project/<project_id>/")
        return None if value is None else Namespace(value)


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
    values: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:
        values[name] = (*values.get(name, ()), value)
    return Query(values)


def wrong(error: str, name: str, problem: str) -> Refused:
    """The refusal of one parameter."""
    return Refused(error_answer(400, error, details=[(name, problem)]))
