"""Logs in prompts: hundreds of lines that a program wrote, of which only those that name an error say anything."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

LEAST_LINES = 8
"""In a row: fewer may have been chosen by the person who pasted them."""

MOST_ERRORS = 4
"""Of one run that are left, the first ones that differ in more than numbers."""

_LOOKED_AT = 400
"""Characters of a line."""

_LOG_LINE = re.compile(
    r"\W{0,3}(?:\w{3} )?\d{2,4}[-./ ]\w{2,3}[-./ ]\d{1,4}[-T ,.]*\d\d[:.]\d\d|\W{0,2}\d\d:\d\d:\d\d\b"
    r"|\W{0,2}(?:trace|debug|info|notice|warn|warning|error|fatal|critical|verbose)\b\W{0,3}[:|\]\[\t ]"
    r"|[\w.]{1,60}: (?:trace|debug|info|display|verbose|log|warn|warning|error)\b: "
    r"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} \d"
    r"|\w{3} [ \d]\d \d\d:\d\d:\d\d |I?\d{4} \d\d:\d\d:\d\d\.\d",
    re.IGNORECASE,
)
"""How a line of a log begins: with a time, or with a level."""

_ERROR = re.compile(
    r"\b(?:error|exception|fail(?:ed|ure)?|fatal|panic|denied|refused|cannot|could not|not found|undefined)\b|\berr\b",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\d+")


def without_logs(text: str) -> str:
    """``text`` with only the errors of each log in it: of at least LEAST_LINES of its lines in a row."""
    lines = text.splitlines()
    if len(lines) < LEAST_LINES:
        return text
    kept = list(_kept(lines))
    return text if len(kept) == len(lines) else "\n".join(kept)


def _kept(lines: Sequence[str]) -> Iterator[str]:
    run: list[str] = []
    for line in lines:
        if _LOG_LINE.match(line[:_LOOKED_AT]):
            run.append(line)
        else:
            yield from _left_of(run)
            run = []
            yield line
    yield from _left_of(run)


def _left_of(run: Sequence[str]) -> list[str]:
    if len(run) < LEAST_LINES:
        return list(run)
    errors = {_NUMBERS.sub("", line[:_LOOKED_AT]): line for line in reversed(run) if _ERROR.search(line[:_LOOKED_AT])}
    return list(reversed(errors.values()))[:MOST_ERRORS]
