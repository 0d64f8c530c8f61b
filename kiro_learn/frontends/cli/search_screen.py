"""What was found, as lines."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from kiro_learn.frontends.cli import activity_texts, texts
from kiro_learn.frontends.cli.amounts import calendar_time, memories, milliseconds, moment_of
from kiro_learn.frontends.cli.record_ids import short
from kiro_learn.frontends.cli.terminal import Terminal, cut, spread

INDENT = "   "
MOST_KIND = 24
WARNING_INDENT = 2


class Hit(NamedTuple):
    """One memory, and how it was found."""

    record: dict[str, Any]
    project: str
    """Its name where several were searched, else empty."""
    rank: int
    score: float
    """Higher is better; those of two projects do not compare."""
    found_by: tuple[str, ...]


class Summary(NamedTuple):
    """The search as a whole."""

    query: str
    project: str
    latency_ms: float
    elsewhere_count: int
    """Hits in other projects."""
    looked_at_count: int


class Entry(NamedTuple):
    """One memory of a search, as people see it."""

    rank: int
    title: str
    label: str
    content: str
    origins: tuple[str, ...]
    """Where it is, and how it was found."""
    record_id: str


def hits(found: Sequence[Hit], now: datetime, terminal: Terminal) -> list[str]:
    return [line for hit in found for line in _hit(hit, now, terminal)]


def summary(about: Summary, count: int, terminal: Terminal) -> list[str]:
    latency = milliseconds(about.latency_ms)
    elsewhere = texts.FOUND_ELSEWHERE.format(count=about.elsewhere_count) if about.elsewhere_count else ""
    if count:
        line = texts.FOUND.format(memories=memories(count), project=about.project, latency=latency)
        return [terminal.dim(texts.DOT.join(filter(None, (line, elsewhere))))]
    none = texts.FOUND_NONE.format(
        project=about.project, query=cut(about.query, 40), count=about.looked_at_count, latency=latency
    )
    return [none, *filter(None, [elsewhere])]


def kind_of(record: dict[str, Any]) -> str:
    """What sort of memory it is, in one word of its own."""
    return kind(record.get("capture_type") or record.get("knowledge_type") or record["observation_type"])


def kind(name: str) -> str:
    """A type as people read it; what is handed in may name a long one."""
    return cut(name.replace("_", " "), MOST_KIND)


def entry(shown: Entry, terminal: Terminal) -> list[str]:
    """Its title, the beginning of what it says, and how it was found."""
    tail = short(shown.record_id)
    origin = cut(texts.DOT.join(shown.origins), terminal.width - len(INDENT) - len(tail) - 2)
    return [
        headline(shown.rank, shown.title, shown.label, terminal),
        INDENT + cut(shown.content, terminal.width - len(INDENT)),
        spread(INDENT + origin, tail, terminal.width, painted_right=terminal.dim(tail)),
    ]


def headline(rank: int, title: str, label: str, terminal: Terminal) -> str:
    """Its place, its title, and what sort of memory it is."""
    head = f"{rank:<{len(INDENT)}}"
    title = cut(title, terminal.width - len(head) - len(label) - 2)
    painted = head + terminal.bold(title)
    return spread(head + title, label, terminal.width, painted_left=painted, painted_right=terminal.dim(label))


def found_by(ways: Sequence[str]) -> str:
    """``words + meaning``, ``words only``; empty if it is not known."""
    return texts.ONLY.format(way=ways[0]) if len(ways) == 1 else texts.AND_BY.join(ways)


def partial_answer(reasons: Iterable[str], terminal: Terminal) -> list[str]:
    """Why there may be more, or a better order: a warning for each reason."""
    return [
        line for reason in reasons for line in warning(activity_texts.PARTIAL_ANSWER.format(reason=reason), terminal)
    ]


def warning(text: str, terminal: Terminal) -> list[str]:
    """``text`` behind the sign of a warning, on as many lines as it takes."""
    first, *others = textwrap.wrap(text, terminal.width - WARNING_INDENT)
    return [f"{terminal.mark('warning')} {first}", *(f"{terminal.mark('none')} {line}" for line in others)]


def _hit(hit: Hit, now: datetime, terminal: Terminal) -> list[str]:
    record = hit.record
    label = texts.DOT.join((kind_of(record), calendar_time(moment_of(record["created_at"]), now)))
    origins = tuple(_origins(hit))
    shown = Entry(hit.rank, record["title"], label, record["summary"], origins, record["record_id"])
    return entry(shown, terminal)


def _origins(hit: Hit) -> Iterator[str]:
    if hit.project:
        yield hit.project
    yield from hit.record["files_touched"][:1]
    if hit.found_by:
        yield found_by(hit.found_by)
    yield texts.SCORE.format(score=hit.score)
