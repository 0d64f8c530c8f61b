"""What was found, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.amounts import calendar_time, memories, milliseconds, moment_of
from kiro_learn.frontends.cli.record_ids import short
from kiro_learn.frontends.cli.terminal import Terminal, cut, spread

INDENT = "   "


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
    label: str = record.get("knowledge_type") or record["observation_type"]
    return label.replace("_", " ")


def _hit(hit: Hit, now: datetime, terminal: Terminal) -> Iterator[str]:
    record = hit.record
    label = texts.DOT.join((kind_of(record), calendar_time(moment_of(record["created_at"]), now)))
    head = f"{hit.rank:<{len(INDENT)}}"
    title = cut(record["title"], terminal.width - len(head) - len(label) - 2)
    yield spread(
        head + title,
        label,
        terminal.width,
        painted_left=head + terminal.bold(title),
        painted_right=terminal.dim(label),
    )
    yield INDENT + cut(record["summary"], terminal.width - len(INDENT))
    tail = short(record["record_id"])
    origin = cut(texts.DOT.join(_origins(hit)), terminal.width - len(INDENT) - len(tail) - 2)
    yield spread(INDENT + origin, tail, terminal.width, painted_right=terminal.dim(tail))


def _origins(hit: Hit) -> Iterator[str]:
    if hit.project:
        yield hit.project
    yield from hit.record["files_touched"][:1]
    if len(hit.found_by) == 1:
        yield texts.ONLY.format(way=hit.found_by[0])
    elif hit.found_by:
        yield texts.AND_BY.join(hit.found_by)
    yield texts.SCORE.format(score=hit.score)
