"""The verb search: asks, and shows how each memory was found."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import click

from kiro_learn.client.building import Json, RequestRefused
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
    """The end of the period; a date includes its whole day."""
    return with_offset(text, is_end=True) if no_blank(context, option, text) else None


@click.command("search")
@click.argument("query", nargs=-1, required=True, type=typed)
@click.option(
    "--mode",
    type=click.Choice(MODES),
    default=MODES[0],
    show_default=True,
    help="How to search: by words and meaning, by one of them, or in the search syntax.",
)
@click.option(
    "--type",
    metavar="TYPE",
    multiple=True,
    help="Only memories of this type, such as decision or file-write; may be given several times.",
)
@since_option
@click.option(
    "--until",
    default="",
    metavar="DATE|TIME",
    callback=_end,
    help="Only what happened before this time, or up to the end of this date.",
)
@click.option("--session", metavar="ID", type=typed, help="Only memories of this session.")
@click.option("--concept", metavar="WORD", type=typed, help="Only memories with this concept.")
@click.option(
    "--file", metavar="PATH", type=typed, help="Only memories that cite this file: its path, or the end of it."
)
@click.option("--stale", is_flag=True, help="Only memories that cite files known to have changed.")
@click.option("--branch", metavar="NAME", type=typed, help=texts.ON_BRANCH_HELP)
@click.option("--explain", is_flag=True, help="Show the parts of each score.")
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
    shell.say(warnings(found, shell.err))
    shell.print((explained if explain else hits)(found, shell.now(), shell.out))
    shell.print(summary(asked, found, shell.out))


def _found(client: Client, query: str, *, mode: str, **wanted: Any) -> Json:
    """The answer to the search.

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


def _place(client: Client, project: str) -> Json:
    """Where to search; only if a project is given by its name, it has to be looked up first."""
    folder = projects.folder_in(project)
    if folder is None:
        return {"namespace": projects.meant(client, project).namespace}
    return {"cwd": os.path.abspath(folder)}  # noqa: PTH100  # Path.absolute() leaves ".." in


# The found memories as lines; ``found`` is the answer of ``GET /v1/search``.

INDENT = "   "
MOST_KIND = 24
WARNING_INDENT = 2
GAP, MOST_NUMBER = 2, 7
"""The gap between two columns, and the characters of a number."""
LEAST_SHOWN = 0.005
"""A smaller number would be shown as 0.00."""


def hits(found: Json, now: datetime, terminal: Terminal) -> list[str]:
    """Three lines for each memory: its title, the beginning of its text, and how it was found."""
    is_everywhere = found["project"] is None
    return [line for hit in found["hits"] for line in _hit_lines(hit, now, terminal, names_project=is_everywhere)]


def explained(found: Json, now: datetime, terminal: Terminal) -> list[str]:
    """Two lines for each memory: its title; then its score, with a column for each part of the score."""
    if not found["hits"]:
        return []
    names = list(dict.fromkeys(name for hit in found["hits"] for name in hit["parts"]))
    widths = [max(len(name), MOST_NUMBER) + GAP for name in ("score", *names)]
    heads = zip(("score", *names), widths, strict=True)
    lines = [terminal.dim(INDENT + "".join(f"{name:>{width}}" for name, width in heads))]
    for hit in found["hits"]:
        parts = (score_shown(hit["parts"][name]) if name in hit["parts"] else "-" for name in names)
        columns = zip((score_shown(hit["score"]), *parts), widths, strict=True)
        row, tail = INDENT + "".join(f"{part:>{width}}" for part, width in columns), short(hit["memory"]["record_id"])
        lines += [
            _head(hit, now, terminal),
            spread(row, tail, terminal.width, painted_right=terminal.dim(tail)),
        ]
    return [*lines, terminal.dim("Score: the sum of the columns; comparable within one search of one project only.")]


def summary(query: str, found: Json, terminal: Terminal) -> list[str]:
    """How many were found in what time, and how many are in other projects."""
    latency, place = milliseconds(found["latency_ms"]), found["project"]
    project = texts.ALL_PROJECTS if place is None else projects.name_of(place["display_name"])
    elsewhere = f"{found['elsewhere_count']:,} more in other projects: --everywhere" if found["elsewhere_count"] else ""
    if found["hits"]:
        line = f"{memories(len(found['hits']))} in {project} \N{MIDDLE DOT} {latency}"
        return [terminal.dim(texts.DOT.join(filter(None, (line, elsewhere))))]
    looked_at = f"({found['memory_count']:,} looked at, {latency})"
    none = f'No memory in {project} matches "{cut(query, 40)}" {looked_at}.'
    return [none, *filter(None, [elsewhere])]


def kind_of(record: Json) -> str:
    """The kind of memory, in one word."""
    return kind(record.get("capture_type") or record.get("knowledge_type") or record["observation_type"])


def kind(name: str) -> str:
    """A type as people read it, cut if a client gave it a long name."""
    return cut(name.replace("_", " "), MOST_KIND)


def headline(rank: int, title: str, label: str, terminal: Terminal) -> str:
    """A rank, a title, and the kind of memory."""
    head = f"{rank:<{len(INDENT)}}"
    title = cut(title, terminal.width - len(head) - len(label) - 2)
    painted = head + terminal.bold(title)
    return spread(head + title, label, terminal.width, painted_left=painted, painted_right=terminal.dim(label))


def found_by(ways: Sequence[str]) -> str:
    """The rankings that found it, as ``words + meaning`` or ``words only``; empty if they are not known."""
    return f"{ways[0]} only" if len(ways) == 1 else " + ".join(ways)


def partial_answer(reasons: Iterable[str], terminal: Terminal) -> list[str]:
    """A warning for each reason why there may be more, or a better order."""
    return [line for reason in reasons for line in warning(f"partial answer: {reason}", terminal)]


def warning(text: str, terminal: Terminal) -> list[str]:
    """``text`` after the sign of a warning, on as many lines as it takes."""
    first, *others = textwrap.wrap(text, terminal.width - WARNING_INDENT)
    return [f"{terminal.mark('warning')} {first}", *(f"{terminal.mark('none')} {line}" for line in others)]


def warnings(found: Json, terminal: Terminal) -> list[str]:
    """Warnings that the answer may be incomplete, or has little to do with the query."""
    is_far = "nothing_near" in found and found["hits"]
    far = warning("Nothing is close: these results have little to do with the query.", terminal) if is_far else []
    return [*far, *partial_answer(found["degraded"], terminal)]


def score_shown(score: float) -> str:
    """The score in at most 7 characters; with its power of ten if it would otherwise be shown as 0.00."""
    return f"{score:.2f}" if abs(score) >= LEAST_SHOWN or score == 0 else f"{score:.1e}"


def _hit_lines(hit: Json, now: datetime, terminal: Terminal, *, names_project: bool) -> list[str]:
    tail = short(hit["memory"]["record_id"])
    origins = _origins(hit, names_project=names_project)
    origin = cut(texts.DOT.join(origins), terminal.width - len(INDENT) - len(tail) - 2)
    return [
        _head(hit, now, terminal),
        INDENT + cut(hit["memory"]["summary"], terminal.width - len(INDENT)),
        spread(INDENT + origin, tail, terminal.width, painted_right=terminal.dim(tail)),
    ]


def _head(hit: Json, now: datetime, terminal: Terminal) -> str:
    record = hit["memory"]
    label = texts.DOT.join((kind_of(record), calendar_time(moment_of(record["created_at"]), now)))
    return headline(hit["rank"], record["title"], label, terminal)


def _origins(hit: Json, *, names_project: bool) -> Iterator[str]:
    record = hit["memory"]
    if names_project:
        yield projects.name_of(hit["project"])
    yield from record["files_touched"][:1]
    if hit["found_by"]:
        yield found_by(hit["found_by"])
    yield f"score {score_shown(hit['score'])}"
    if record.get("branch"):
        yield f"on branch {record['branch']}"
    if record.get("stale_at"):
        yield "files changed since"
