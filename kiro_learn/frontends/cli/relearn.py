"""relearn: what was learned without a model is learned again by one."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import click

from kiro_learn.client.building import RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import graph_texts, progress, projects, texts
from kiro_learn.frontends.cli.options import in_project, printing, since_option
from kiro_learn.frontends.cli.projects import Project
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import Terminal, counted, cut, duration, events, memories

UNKNOWN = 404
NOTHING = {
    **dict.fromkeys(("events", "records", "replaced", "protected", "batches", "left"), 0),
    "stopped_because": None,
    "too_little": None,
}


@click.command("relearn", help=texts.RELEARN_HELP)
@since_option
@click.option("--graph", is_flag=True, help=graph_texts.RELEARN_GRAPH_HELP)
@click.option("--dry-run", is_flag=True, help=texts.DRY_RUN_HELP)
@click.option("--yes", is_flag=True, help=texts.YES_HELP)
@in_project
@printing
def relearn_verb(  # click hands every option over
    shell: Shell, *, since: str | None, graph: bool, dry_run: bool, yes: bool, project: str, as_json: bool
) -> int:
    if graph and dry_run:
        raise Failed(graph_texts.GRAPH_OR_DRY_RUN, exit_code=2)
    with shell.client() as client:
        place = projects.meant(client, project)
        if graph:
            return _read_graph(shell, client, place, since, as_json=as_json)
        preview = _preview(client, place, since)
        if preview is None:
            _say_nothing_to_do(shell, place, as_json=as_json)
            return 0
        if dry_run:
            _say_what_would_be_done(shell, preview, place, as_json=as_json)
            return 0
        if not yes:
            shell.say(to_do(preview, place.name, shell.err))
        if not shell.confirm(texts.RELEARN_QUESTION, flag_given=yes, enter_means=True):
            raise Failed(texts.NOT_RELEARNED)
        began = time.monotonic()
        relearned = _relearn(shell, client, _Asked(place, since, preview["model"], quiet=as_json), accept_few=yes)
    if as_json:
        shell.print_json(relearned)
    else:
        took = Took(preview["model"], time.monotonic() - began, _command(project, since))
        shell.print(done(relearned, took, shell.out))
    return 1 if relearned["stopped_because"] else 0


def _read_graph(shell: Shell, client: Client, place: Project, since: str | None, *, as_json: bool) -> int:
    read = client.read_graph(place.project_id, since=since)
    if as_json:
        shell.print_json(read)
    else:
        counts = {name: counted(read[name], *graph_texts.GRAPH_READ[name]) for name in graph_texts.GRAPH_READ}
        shell.print([f"{shell.out.mark('ok')} {graph_texts.GRAPH_WAS_READ.format(project=place.name, **counts)}"])
    if read["problem"]:
        raise Failed(read["problem"])
    return 0


class _Asked(NamedTuple):
    """What is to be learned again, and which model learns it."""

    place: Project
    since: str | None
    model: str
    quiet: bool


def _relearn(shell: Shell, client: Client, asked: _Asked, *, accept_few: bool) -> dict[str, Any]:
    """Do it; where far less would come than goes, show that and ask, and go on if the answer is yes."""
    doing = texts.RELEARNING_PROJECT.format(project=asked.place.name)
    left = progress.of_project(asked.place.namespace, "relearning_event_count")
    watched = progress.Watched(doing, left, events)
    with progress.shown(shell, watched, is_wanted=not asked.quiet):
        relearned = client.relearn(asked.place.project_id, since=asked.since, accept_few=accept_few)
    if relearned["too_little"] is None or asked.quiet or not shell.can_ask:
        return relearned
    shell.say(too_little(relearned, asked.model, shell.err))
    if not shell.confirm(texts.TOO_LITTLE_QUESTION, flag_given=False):
        return relearned
    return _together(relearned, _relearn(shell, client, asked, accept_few=True))


def _together(first: dict[str, Any], then: dict[str, Any]) -> dict[str, Any]:
    """Two parts of one relearning as one."""
    added = {name: first[name] + then[name] for name in ("events", "records", "replaced", "protected", "batches")}
    return {**then, **added}


def _command(project: str, since: str | None) -> str:
    """The same again."""
    options = [*(["--project", project] if project else []), *(["--since", since] if since else [])]
    return shlex.join(["kiro-learn", "relearn", *options])


def _preview(client: Client, place: Project, since: str | None) -> dict[str, Any] | None:
    """What would be done; None if there is nothing to do."""
    try:
        preview = client.relearning(place.project_id, since=since)
    except RequestRefused as error:
        if error.status != UNKNOWN:
            raise
        return None  # a folder that no agent has worked in yet
    return preview if preview["records"] else None


def _say_nothing_to_do(shell: Shell, place: Project, *, as_json: bool) -> None:
    if as_json:
        shell.print_json(NOTHING)
    else:
        shell.print([f"{shell.out.mark('ok')} {texts.NOTHING_TO_RELEARN.format(project=place.name)}"])


def _say_what_would_be_done(shell: Shell, preview: dict[str, Any], place: Project, *, as_json: bool) -> None:
    if as_json:
        shell.print_json(preview)
    else:
        lines = to_do(preview, place.name, shell.out)
        shell.print([*lines, *would_go(preview, shell.out)])


# A relearning as lines: what it will do, and what it has done.

VERB_COLUMN = 10
INDENT = "  "
MOST_TITLES = 10
SOME_MEMORY = "kiro-learn memories {verb} MEMORY"

Json = dict[str, Any]


class Took(NamedTuple):
    """Who did it, and for how long; and what to type for the rest of it."""

    model: str
    seconds: float
    again: str


def to_do(preview: Json, project: str, terminal: Terminal) -> list[str]:
    """How much there is, who is asked how often, what that one is shown, and that nothing is lost."""
    head = texts.RELEARN_HEAD.format(memories=memories(preview["records"]), project=project)
    shown = texts.RELEARN_STAYS_HERE if preview["stays_here"] else texts.RELEARN_MAY_LEAVE
    rows = (
        (texts.RELEARN_ASKS, _asked(preview)),
        (texts.RELEARN_SHOWS, shown.format(events=events(preview["events"]))),
        *_protected_row(sum(each["is_protected"] for each in preview["memories"])),
        (texts.RELEARN_KEEPS, texts.RELEARN_HISTORY),
    )
    return [terminal.bold(cut(head, terminal.width)), *(_row(verb, text, terminal) for verb, text in rows)]


def would_go(preview: Json, terminal: Terminal) -> list[str]:
    """Every memory that may be replaced, by its title; those that bind say so."""
    return [
        _title(each["title"], terminal, note=texts.BOUND if each["is_protected"] else "")
        for each in preview["memories"]
    ]


def too_little(relearned: Json, model: str, terminal: Terminal) -> list[str]:
    """What would go and what would come, where that is far less."""
    going, coming = relearned["too_little"]["going"], relearned["too_little"]["coming"]
    head = texts.TOO_LITTLE_HEAD.format(model=model, going=memories(len(going)), coming=len(coming))
    return [
        f"{terminal.mark('warning')} {terminal.bold(cut(head, terminal.width - 2))}",
        f"{INDENT}{texts.TOO_LITTLE_GOES}",
        *_titles(going, terminal),
        f"{INDENT}{texts.TOO_LITTLE_COMES}",
        *_titles(coming, terminal),
    ]


def done(relearned: Json, took: Took, terminal: Terminal) -> list[str]:
    """How many memories replaced how many; why it ended, if early; and how to undo it, if there is anything."""
    replaced_by = texts.REPLACED_BY.format(
        replaced=memories(relearned["replaced"]), count=relearned["records"], model=took.model
    )
    nothing = texts.NOTHING_REPLACED if relearned["too_little"] else texts.NONE_REPLACED
    said = replaced_by if relearned["replaced"] else nothing.format(model=took.model)
    mark = "warning" if relearned["stopped_because"] else "ok"
    return [
        f"{terminal.mark(mark)} {texts.DOT.join((said, duration(took.seconds)))}",
        *_rest(relearned, took.again, terminal),
    ]


def _asked(preview: Json) -> str:
    calls, left = preview["calls"], preview["calls_left"]
    text = texts.RELEARN_MODEL
    if left is not None:
        text = texts.RELEARN_CALLS_LEFT if calls <= left else texts.RELEARN_TOO_MANY_CALLS
    return text.format(model=preview["model"], calls=counted(calls, *texts.CALLS), left=left or 0)


def _rest(relearned: Json, again: str, terminal: Terminal) -> Iterator[str]:
    if relearned["stopped_because"]:
        ended = texts.STOPPED_BEFORE if relearned["too_little"] else texts.ENDED_EARLY
        yield f"{INDENT}{ended.format(problem=relearned['stopped_because'])}"
    if relearned["protected"]:
        said = texts.ONE_BOUND_STAYS if relearned["protected"] == 1 else texts.BOUND_STAY
        yield f"{INDENT}{said.format(memories=memories(relearned['protected']))}"
    if relearned["left"] == 1:
        yield f"{INDENT}{texts.STILL_ONE_WITHOUT_A_MODEL}"
    elif relearned["left"]:
        yield f"{INDENT}{texts.STILL_WITHOUT_A_MODEL.format(memories=memories(relearned['left']))}"
    if relearned["too_little"]:
        yield f"{INDENT}{texts.REPLACE_ANYWAY.format(command=terminal.command(f'{again} --yes'))}"
    elif relearned["stopped_because"]:
        yield f"{INDENT}{texts.GO_ON.format(command=terminal.command(again))}"
    if relearned["replaced"]:
        undo = terminal.command(SOME_MEMORY.format(verb="undo"))
        yield f"{INDENT}{texts.UNDO_ONE.format(command=undo)}"


def _row(verb: str, text: str, terminal: Terminal) -> str:
    return f"{INDENT}{verb:{VERB_COLUMN}}{cut(text, terminal.width - len(INDENT) - VERB_COLUMN)}"


def _protected_row(count: int) -> Iterator[tuple[str, str]]:
    if count == 1:
        yield texts.RELEARN_GOES, texts.RELEARN_ONE_PROTECTED
    elif count:
        yield texts.RELEARN_GOES, texts.RELEARN_PROTECTED.format(memories=memories(count))


def _titles(titles: Sequence[str], terminal: Terminal) -> Iterator[str]:
    yield from (_title(each, terminal) for each in titles[:MOST_TITLES])
    if len(titles) > MOST_TITLES:
        yield f"{INDENT * 2}{texts.MORE_TITLES.format(memories=memories(len(titles) - MOST_TITLES))}"


def _title(title: str, terminal: Terminal, *, note: str = "") -> str:
    after = f"{texts.DOT}{note}" if note else ""
    return f"{INDENT * 2}{cut(title, terminal.width - len(INDENT) * 2 - len(after))}{terminal.dim(after)}"
