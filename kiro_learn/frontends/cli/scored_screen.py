"""What a search by one of the modes found, as lines; and what each score is made of, a column for each signal."""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.client.results import SearchResult, SearchResults
from kiro_learn.frontends.cli import activity_texts, texts
from kiro_learn.frontends.cli.amounts import memories
from kiro_learn.frontends.cli.record_ids import short
from kiro_learn.frontends.cli.search_screen import (
    INDENT,
    MOST_KIND,
    Entry,
    entry,
    found_by,
    headline,
    kind,
    partial_answer,
    warning,
)
from kiro_learn.frontends.cli.terminal import Terminal, cut, spread

WAYS = {"hybrid": ("words", "meaning"), "vector": ("meaning",), "keyword": ("words",)}
LEAST_SHOWN = 0.005
"""What is less would be shown as 0.00."""
GAP = 2


def results(found: SearchResults, terminal: Terminal, *, is_named: bool) -> list[str]:
    """Three lines a memory, best first; ``is_named``: with its project."""
    return [
        line
        for rank, result in enumerate(found, start=1)
        for line in entry(
            Entry(rank, result.title, kind(result.type), result.content, tuple(_origins(result, is_named)), result.id),
            terminal,
        )
    ]


def explained(found: SearchResults, mode: str, terminal: Terminal, *, is_named: bool) -> list[str]:
    """Two lines a memory: its title, and its score with the signals that the score is made of."""
    if not found:
        return []
    widths = [len(name) + GAP for name in activity_texts.SIGNALS]
    head = "".join(f"{name:>{width}}" for name, width in zip(activity_texts.SIGNALS, widths, strict=True))
    lines = [terminal.dim(INDENT + head)]
    for rank, result in enumerate(found, start=1):
        label = texts.DOT.join(
            filter(None, (kind(result.type), cut(result.project, MOST_KIND) if is_named else "", _stale(result)))
        )
        numbers = [score_shown(result.score), *(signal_shown(signal) for signal in result.signals)]
        row = INDENT + "".join(f"{number:>{width}}" for number, width in zip(numbers, widths, strict=True))
        tail = short(result.id)
        lines += [
            headline(rank, result.title, label, terminal),
            spread(row, tail, terminal.width, painted_right=terminal.dim(tail)),
        ]
    return [*lines, terminal.dim(activity_texts.SCORE_IS[mode])]


def summary(count: int, query: str, project: str, terminal: Terminal) -> list[str]:
    """How many there are, and where."""
    if not count:
        return [activity_texts.SCORED_NONE.format(project=project, query=cut(query, 40))]
    return [terminal.dim(activity_texts.SCORED.format(memories=memories(count), project=project))]


def warnings(found: SearchResults, terminal: Terminal) -> list[str]:
    """Why this may be less, or something else, than what was asked for."""
    lines = warning(activity_texts.AS_PLAIN_WORDS.format(problem=found.problem), terminal) if found.problem else []
    far = warning(activity_texts.NOTHING_NEAR, terminal) if found.nothing_near and found else []
    return [*lines, *far, *partial_answer(found.degraded, terminal)]


def signal_shown(signal: float | None) -> str:
    """Of one that the search did not compute, a dash."""
    return "-" if signal is None else f"{signal:.2f}"


def score_shown(score: float) -> str:
    """In 8 characters at most."""
    return f"{score:.2f}" if score >= LEAST_SHOWN or score == 0 else f"{score:.1e}"


def _origins(result: SearchResult, is_named: bool) -> Iterator[str]:
    if is_named:
        yield result.project
    yield found_by(WAYS[result.source])
    yield activity_texts.SCORE_OF.format(score=score_shown(result.score))
    if stale := _stale(result):
        yield stale


def _stale(result: SearchResult) -> str:
    return activity_texts.FILES_DIFFER if result.stale_at else ""
