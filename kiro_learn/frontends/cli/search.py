"""search: asks, and says which way each memory was found."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import click

from kiro_learn.client.building import RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import projects, texts
from kiro_learn.frontends.cli.options import in_projects, no_blank, printing, since_option, typed, with_offset
from kiro_learn.frontends.cli.record_ids import short
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import Terminal, calendar_time, cut, memories, milliseconds, moment_of, spread

MODES = ("hybrid", "lexical", "semantic", "syntax")
BY_WORDS = "kiro-learn search --mode lexical"

UNAVAILABLE = 503


def _end(context: click.Context, option: click.Parameter, text: str) -> str | None:
    """A date is part of what is searched."""
    return with_offset(text, is_end=True) if no_blank(context, option, text) else None


@click.command("search")
@click.argument("query", nargs=-1, required=True, type=typed)
@click.option(
    "--mode",
    type=click.Choice(MODES),
    default=MODES[0],
    show_default=True,
    help="By words and meaning, by one of them, or in the search syntax.",
)
@click.option(
    "--type",
    metavar="TYPE",
    multiple=True,
    help="Only memories of this type, such as decision or file-write; may be given again.",
)
@since_option
@click.option(
    "--until",
    default="",
    metavar="DATE|TIME",
    callback=_end,
    help="Only what was before this moment, or up to the end of this date.",
)
@click.option("--session", metavar="ID", type=typed, help="Only memories of this session.")
@click.option("--concept", metavar="WORD", type=typed, help="Only memories with this concept.")
@click.option(
    "--file", metavar="PATH", type=typed, help="Only memories that cite this file: its path, or the end of it."
)
@click.option("--stale", is_flag=True, help="Only memories that cite files known to have changed.")
@click.option("--branch", metavar="NAME", type=typed, help=texts.ON_BRANCH_HELP)
@click.option("--explain", is_flag=True, help="Show what each score is made of.")
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help=texts.LIMIT_HELP)
@in_projects
@printing
def search_verb(
    shell: Shell,
    *,
    query: tuple[str, ...],
    type: tuple[str, ...],  # noqa: A002  # as it is typed
    stale: bool,
    explain: bool,
    project: str,
    everywhere: bool,
    **wanted: Any,
) -> None:
    """Find memories, by words and by meaning."""
    asked = " ".join(query)
    if not asked.strip():
        raise Failed("there is nothing to search for", hint="kiro-learn search --help", exit_code=2)
    with shell.client() as client:
        place = {} if everywhere else _place(client, project)
        wanted |= {"type": list(type), "stale": "true" if stale else None, **place}
        if shell.as_json:
            shell.print_json(client.ask(asked, **wanted))
            return
        found = _found(client, asked, **wanted)
    listed = [_hit(hit, is_named=everywhere) for hit in found["hits"]]
    about = Summary(
        query=asked,
        project=texts.ALL_PROJECTS if everywhere else projects.name_of(found["project"]["display_name"]),
        latency_ms=found["latency_ms"],
        elsewhere_count=found["elsewhere_count"],
        looked_at_count=found["memory_count"],
    )
    shell.say(warnings(found, shell.err))
    shell.print((explained if explain else hits)(listed, shell.now(), shell.out))
    shell.print(summary(about, len(listed), shell.out))


def _found(client: Client, query: str, *, mode: str, **wanted: Any) -> dict[str, Any]:
    """What was found.

    Raises:
      Failed: the query does not parse, or cannot be searched by meaning.
    """
    try:
        return client.ask(query, mode=mode, **wanted)
    except RequestRefused as error:
        for detail in error.details:
            if "position" in detail:
                message = f"the query does not parse at character {detail['position'] + 1}: {detail['problem']}"
                hint = f"quote what is meant literally, or: {BY_WORDS}"
                raise Failed(message, hint=hint) from error
        if mode == "semantic" and error.status == UNAVAILABLE:
            raise Failed(str(error), hint=BY_WORDS) from error
        raise


def _place(client: Client, project: str) -> dict[str, Any]:
    """Where to search; only the name of a project has to be looked up first."""
    folder = projects.folder_in(project)
    if folder is None:
        return {"namespace": projects.meant(client, project).namespace}
    return {"cwd": os.path.abspath(folder)}  # noqa: PTH100  # Path.absolute() leaves ".." in


def _hit(hit: dict[str, Any], *, is_named: bool) -> Hit:
    return Hit(
        record=hit["memory"],
        project=projects.name_of(hit["project"]) if is_named else "",
        rank=hit["rank"],
        score=hit["score"],
        found_by=tuple(hit["found_by"]),
        parts=hit["parts"],
    )


# What was found, as lines.

INDENT = "   "
MOST_KIND = 24
WARNING_INDENT = 2
GAP, MOST_NUMBER = 2, 7
"""Between two columns, and characters of a number."""
LEAST_SHOWN = 0.005
"""What is less would be shown as 0.00."""


class Hit(NamedTuple):
    """One memory, and how it was found."""

    record: dict[str, Any]
    project: str
    """Its name where several were searched, else empty."""
    rank: int
    score: float
    """Higher is better; those of two projects do not compare."""
    found_by: tuple[str, ...]
    parts: Mapping[str, float]
    """What the score is the sum of."""


class Summary(NamedTuple):
    """The search as a whole."""

    query: str
    project: str
    latency_ms: float
    elsewhere_count: int
    """Hits in other projects."""
    looked_at_count: int


def hits(found: Sequence[Hit], now: datetime, terminal: Terminal) -> list[str]:
    """Three lines a memory: its title, the beginning of what it says, and how it was found."""
    return [line for hit in found for line in _hit_lines(hit, now, terminal)]


def explained(found: Sequence[Hit], now: datetime, terminal: Terminal) -> list[str]:
    """Two lines a memory, in the same order: its title, and its score with a column for each part of the score."""
    if not found:
        return []
    names = list(dict.fromkeys(name for hit in found for name in hit.parts))
    widths = [max(len(name), MOST_NUMBER) + GAP for name in ("score", *names)]
    heads = zip(("score", *names), widths, strict=True)
    lines = [terminal.dim(INDENT + "".join(f"{name:>{width}}" for name, width in heads))]
    for hit in found:
        parts = (score_shown(hit.parts[name]) if name in hit.parts else "-" for name in names)
        columns = zip((score_shown(hit.score), *parts), widths, strict=True)
        row, tail = INDENT + "".join(f"{part:>{width}}" for part, width in columns), short(hit.record["record_id"])
        lines += [
            _head(hit, now, terminal),
            spread(row, tail, terminal.width, painted_right=terminal.dim(tail)),
        ]
    return [*lines, terminal.dim("Score: the sum of the columns; comparable within one search of one project only.")]


def summary(about: Summary, count: int, terminal: Terminal) -> list[str]:
    latency = milliseconds(about.latency_ms)
    elsewhere = f"{about.elsewhere_count:,} more in other projects: --everywhere" if about.elsewhere_count else ""
    if count:
        line = f"{memories(count)} in {about.project} \N{MIDDLE DOT} {latency}"
        return [terminal.dim(texts.DOT.join(filter(None, (line, elsewhere))))]
    looked_at = f"({about.looked_at_count:,} looked at, {latency})"
    none = f'No memory in {about.project} matches "{cut(about.query, 40)}" {looked_at}.'
    return [none, *filter(None, [elsewhere])]


def kind_of(record: dict[str, Any]) -> str:
    """What sort of memory it is, in one word of its own."""
    return kind(record.get("capture_type") or record.get("knowledge_type") or record["observation_type"])


def kind(name: str) -> str:
    """A type as people read it; what is handed in may name a long one."""
    return cut(name.replace("_", " "), MOST_KIND)


def headline(rank: int, title: str, label: str, terminal: Terminal) -> str:
    """Its place, its title, and what sort of memory it is."""
    head = f"{rank:<{len(INDENT)}}"
    title = cut(title, terminal.width - len(head) - len(label) - 2)
    painted = head + terminal.bold(title)
    return spread(head + title, label, terminal.width, painted_left=painted, painted_right=terminal.dim(label))


def found_by(ways: Sequence[str]) -> str:
    """``words + meaning``, ``words only``; empty if it is not known."""
    return f"{ways[0]} only" if len(ways) == 1 else " + ".join(ways)


def partial_answer(reasons: Iterable[str], terminal: Terminal) -> list[str]:
    """Why there may be more, or a better order: a warning for each reason."""
    return [line for reason in reasons for line in warning(f"partial answer: {reason}", terminal)]


def warning(text: str, terminal: Terminal) -> list[str]:
    """``text`` behind the sign of a warning, on as many lines as it takes."""
    first, *others = textwrap.wrap(text, terminal.width - WARNING_INDENT)
    return [f"{terminal.mark('warning')} {first}", *(f"{terminal.mark('none')} {line}" for line in others)]


def warnings(found: Mapping[str, Any], terminal: Terminal) -> list[str]:
    """Why this may be less than what was asked for, or have little to do with it."""
    is_far = "nothing_near" in found and found["hits"]
    far = warning("Nothing is near: what is shown has little to do with it.", terminal) if is_far else []
    return [*far, *partial_answer(found["degraded"], terminal)]


def score_shown(score: float) -> str:
    """In 7 characters at most; what would be 0.00 with the power of ten that it has."""
    return f"{score:.2f}" if abs(score) >= LEAST_SHOWN or score == 0 else f"{score:.1e}"


def _hit_lines(hit: Hit, now: datetime, terminal: Terminal) -> list[str]:
    tail = short(hit.record["record_id"])
    origin = cut(texts.DOT.join(_origins(hit)), terminal.width - len(INDENT) - len(tail) - 2)
    return [
        _head(hit, now, terminal),
        INDENT + cut(hit.record["summary"], terminal.width - len(INDENT)),
        spread(INDENT + origin, tail, terminal.width, painted_right=terminal.dim(tail)),
    ]


def _head(hit: Hit, now: datetime, terminal: Terminal) -> str:
    label = texts.DOT.join((kind_of(hit.record), calendar_time(moment_of(hit.record["created_at"]), now)))
    return headline(hit.rank, hit.record["title"], label, terminal)


def _origins(hit: Hit) -> Iterator[str]:
    if hit.project:
        yield hit.project
    yield from hit.record["files_touched"][:1]
    if hit.found_by:
        yield found_by(hit.found_by)
    yield f"score {score_shown(hit.score)}"
    if hit.record.get("branch"):
        yield f"on branch {hit.record['branch']}"
    if hit.record.get("stale_at"):
        yield "files changed since"
