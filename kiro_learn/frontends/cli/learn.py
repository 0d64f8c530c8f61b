"""The verbs flush, embeddings, backfill and relearn: do at once what happens by itself, or learn again."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import click

from kiro_learn.client import calls
from kiro_learn.client.building import Json, RequestRefused
from kiro_learn.client.results import EmbeddingStats
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import progress, projects, texts
from kiro_learn.frontends.cli.options import in_project, printing, since_option
from kiro_learn.frontends.cli.projects import Project
from kiro_learn.frontends.cli.record_ids import UNKNOWN
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import Terminal, counted, cut, duration, events, memories, plain

NOTHING_LEARNED = {"events": 0, "records": 0, "parked": 0}


@click.command("flush")
@in_project
@printing
def flush_verb(shell: Shell, project: str) -> None:
    """Learn now from the events that wait in a project."""
    began = time.monotonic()
    with shell.client() as client:
        place = projects.meant(client, project)
        with progress.shown(shell, _waiting_in(place)):
            flushed = _flush(client, place)
    seconds = time.monotonic() - began
    shell.answer(flushed, lambda: flushed_lines(flushed, place.name, seconds, shell))


def flushed_lines(flushed: Json, project: str, seconds: float, shell: Shell) -> list[str]:
    """What was learned, and what was not."""
    learned = f"{events(flushed['events'])} learned into {memories(flushed['records'])}"
    said = learned if flushed["events"] else f"Nothing waited in {project}"
    lines = [f"{shell.out.mark('ok')} {texts.DOT.join((said, duration(seconds)))}"]
    if flushed["parked"]:
        waiting = f"{events(flushed['parked'])} not learned yet: they came meanwhile, or are set aside"
        lines.append(f"{shell.out.mark('warning')} {waiting}")
    return lines


def _flush(client: Client, place: Project) -> Json:
    try:
        return client.flush(place.project_id)
    except RequestRefused as error:
        if error.status != UNKNOWN:
            raise
        return NOTHING_LEARNED  # a folder in which no agent has worked yet


def _waiting_in(place: Project) -> progress.Watched:
    left = progress.of_project(place.namespace, "waiting_event_count")
    return progress.Watched(f"Learning {place.name}", left, events)


# embeddings, backfill: what can be found by meaning.


@click.group("embeddings", no_args_is_help=False)
def embeddings_verb() -> None:
    """Show how many memories are findable by meaning."""


@embeddings_verb.command("stats")
@printing
def stats_verb(shell: Shell) -> None:
    """Show how many memories are findable by meaning."""
    with shell.client() as client:
        call = calls.embedding_stats(client)
        if shell.as_json:
            shell.print_json(client.body_of(call))
        else:
            shell.print(stats(client.carry_out(call), shell.out))


@click.command("backfill")
@printing
def backfill_verb(shell: Shell) -> None:
    """Make every memory findable by meaning, now."""
    began = time.monotonic()
    with shell.client() as client, progress.shown(shell, _WATCHED):
        embedded = client.backfill_embeddings()
    made = (
        f"{memories(embedded)} made findable by meaning" if embedded else "Every memory is findable by meaning already"
    )
    said = texts.DOT.join((made, duration(time.monotonic() - began)))
    shell.answer({"embedded": embedded}, lambda: [f"{shell.out.mark('ok')} {said}"])


embeddings_verb.add_command(backfill_verb)


def stats(found: EmbeddingStats, terminal: Terminal) -> list[str]:
    """How many memories have a vector, by which model, and the command for the rest."""
    rest = found.total - found.embedded
    done = f"{found.embedded:,} of {memories(found.total)} findable by meaning"
    percent = f"{found.percentage:.1f} %"
    size = [] if found.dimensions is None else [f"{found.dimensions} dimensions"]
    lines = [
        f"{terminal.mark('warning' if rest else 'ok')} {texts.DOT.join((done, percent))}",
        f"{terminal.mark('none')} {texts.DOT.join((plain(found.provider), *size))}",
    ]
    if not found.available:
        return [*lines, f"{terminal.mark('warning')} the model is not loaded: memories are found by their words alone"]
    command = terminal.command("kiro-learn embeddings backfill")
    return [*lines, *([f"The rest now: {command}"] if rest else [])]


def _left(status: Json) -> int:
    counts = status["embeddings"]
    return int(counts["total"] - counts["embedded"] - counts["set_aside"])


_WATCHED = progress.Watched(
    "Making memories findable by meaning", _left, memories, when_left="Stopped watching; the daemon goes on."
)


# relearn: a model learns again what was learned without one.

NOTHING_RELEARNED = {
    **dict.fromkeys(("events", "records", "replaced", "protected", "batches", "left"), 0),
    "stopped_because": None,
    "too_little": None,
}


@click.command("relearn")
@since_option
@click.option(
    "--graph",
    is_flag=True,
    help="Instead, find facts and preferences in past events by rules: no model is asked, nothing is replaced.",
)
@click.option("--dry-run", is_flag=True, help=texts.DRY_RUN_HELP)
@click.option("--yes", is_flag=True, help=texts.YES_HELP)
@in_project
@printing
def relearn_verb(  # click hands every option over
    shell: Shell, *, since: str | None, graph: bool, dry_run: bool, yes: bool, project: str
) -> int:
    """Have a model learn again what was learned without one."""
    if graph and dry_run:
        raise Failed("--dry-run and --graph exclude each other: --graph replaces nothing", exit_code=2)
    with shell.client() as client:
        place = projects.meant(client, project)
        if graph:
            return _read_graph(shell, client, place, since)
        preview = _preview(client, place, since)
        if preview is None:
            shell.answer(
                NOTHING_RELEARNED,
                lambda: [f"{shell.out.mark('ok')} Nothing in {place.name} is left to be learned again"],
            )
            return 0
        if dry_run:
            shell.answer(preview, lambda: [*to_do(preview, place.name, shell.out), *would_go(preview, shell.out)])
            return 0
        if not yes:
            shell.say_before_asking(to_do(preview, place.name, shell.err))
        if not shell.confirm("Learn them again?", flag_given=yes, enter_means=True):
            raise Failed("nothing was learned again")
        began = time.monotonic()
        relearned = _relearn(shell, client, _Asked(place, since, preview["model"]), accept_few=yes)
    took = Took(preview["model"], time.monotonic() - began, _command(project, since))
    shell.answer(relearned, lambda: done(relearned, took, shell.out))
    return 1 if relearned["stopped_because"] else 0


def _read_graph(shell: Shell, client: Client, place: Project, since: str | None) -> int:
    read = client.read_graph(place.project_id, since=since)
    shell.answer(read, lambda: [_graph_read_line(shell, read, place)])
    if read["problem"]:
        raise Failed(read["problem"])
    return 0


def _graph_read_line(shell: Shell, read: Json, place: Project) -> str:
    statements = counted(read["statements"], "plain statement", "plain statements")
    return f"{shell.out.mark('ok')} {events(read['events'])} of {place.name} read: {statements}"


class _Asked(NamedTuple):
    """The project and time to learn again, and the model that learns."""

    place: Project
    since: str | None
    model: str


def _relearn(shell: Shell, client: Client, asked: _Asked, *, accept_few: bool) -> Json:
    """Relearn; if far less would come than goes, show that, ask, and go on if the answer is yes."""
    doing = f"Learning {asked.place.name} again"
    left = progress.of_project(asked.place.namespace, "relearning_event_count")
    watched = progress.Watched(doing, left, events)
    with progress.shown(shell, watched):
        relearned = client.relearn(asked.place.project_id, since=asked.since, accept_few=accept_few)
    if relearned["too_little"] is None or shell.as_json or not shell.can_ask:
        return relearned
    shell.say(too_little(relearned, asked.model, shell.err))
    if not shell.confirm("Replace them all the same? The model is asked again for these.", flag_given=False):
        return relearned
    return _together(relearned, _relearn(shell, client, asked, accept_few=True))


def _together(first: Json, then: Json) -> Json:
    """The result of two parts of one relearning."""
    added = {name: first[name] + then[name] for name in ("events", "records", "replaced", "protected", "batches")}
    return {**then, **added}


def _command(project: str, since: str | None) -> str:
    """The same command again."""
    options = [*(["--project", project] if project else []), *(["--since", since] if since else [])]
    return shlex.join(["kiro-learn", "relearn", *options])


def _preview(client: Client, place: Project, since: str | None) -> Json | None:
    """What would be done; None if there is nothing to do."""
    try:
        preview = client.relearning(place.project_id, since=since)
    except RequestRefused as error:
        if error.status != UNKNOWN:
            raise
        return None  # a folder in which no agent has worked yet
    return preview if preview["records"] else None


# A relearning as lines: what it will do, and what it has done.

VERB_COLUMN = 10
INDENT = "  "
MOST_TITLES = 10


class Took(NamedTuple):
    """The model, the time that it took, and the command for the rest."""

    model: str
    seconds: float
    again: str


def to_do(preview: Json, project: str, terminal: Terminal) -> list[str]:
    """How much there is, which model is asked how often, what it is shown, and that nothing is lost."""
    head = f"Learn {memories(preview['records'])} of {project} again, by a model"
    where = "on this machine" if preview["stays_here"] else "which may leave this machine"
    rows = (
        ("asks", _asked(preview)),
        ("shows it", f"{events(preview['events'])}, {where}"),
        *_protected_row(sum(each["is_protected"] for each in preview["memories"])),
        ("keeps", "what is replaced; it can be seen and put back"),
    )
    return [terminal.bold(cut(head, terminal.width)), *(_row(verb, text, terminal) for verb, text in rows)]


def would_go(preview: Json, terminal: Terminal) -> list[str]:
    """The title of every memory that may be replaced; protected ones are marked."""
    return [
        _title(each["title"], terminal, note="your words, a rule or a decision" if each["is_protected"] else "")
        for each in preview["memories"]
    ]


def too_little(relearned: Json, model: str, terminal: Terminal) -> list[str]:
    """What would go and what would come, if that is far less."""
    going, coming = relearned["too_little"]["going"], relearned["too_little"]["coming"]
    head = f"{model} tells {memories(len(going))} in {len(coming)}"
    return [
        f"{terminal.mark('warning')} {terminal.bold(cut(head, terminal.width - 2))}",
        f"{INDENT}goes",
        *_titles(going, terminal),
        f"{INDENT}comes",
        *_titles(coming, terminal),
    ]


def done(relearned: Json, took: Took, terminal: Terminal) -> list[str]:
    """How many memories replaced how many; why it ended, if early; and how to undo it, if anything was replaced."""
    said = f"No memory was replaced: {took.model} found nothing better"
    if relearned["stopped_because"]:
        said = "No memory was replaced"  # the model may not even have been asked
    if relearned["replaced"]:
        said = f"{memories(relearned['replaced'])} replaced by {relearned['records']:,} learned by {took.model}"
    elif relearned["too_little"]:
        said = f"No memory was replaced by one of {took.model}"
    mark = "warning" if relearned["stopped_because"] else "ok"
    return [
        f"{terminal.mark(mark)} {texts.DOT.join((said, duration(took.seconds)))}",
        *_rest(relearned, took.again, terminal),
    ]


def _asked(preview: Json) -> str:
    calls, left = preview["calls"], preview["calls_left"]
    text = f"{preview['model']}, about {counted(calls, *texts.CALLS)}"
    if left is None:
        return text
    return f"{text} of {left:,} left today" if calls <= left else f"{text}; {left:,} are left today, and it stops there"


def _rest(relearned: Json, again: str, terminal: Terminal) -> Iterator[str]:
    if relearned["stopped_because"]:
        ended = "Stopped before this" if relearned["too_little"] else "Ended early"
        yield f"{INDENT}{ended}: {relearned['stopped_because']}"
    if relearned["protected"] == 1:
        yield f"{INDENT}1 memory with your words, a rule or a decision stays: no new one holds it"
    elif relearned["protected"]:
        count = memories(relearned["protected"])
        yield f"{INDENT}{count} with your words, rules or decisions stay: no new one holds them"
    if relearned["left"] == 1:
        yield f"{INDENT}1 memory learned without a model stays"
    elif relearned["left"]:
        yield f"{INDENT}{memories(relearned['left'])} learned without a model stay"
    if relearned["too_little"]:
        yield f"{INDENT}Do it all the same: {terminal.command(f'{again} --yes')}"
    elif relearned["stopped_because"]:
        yield f"{INDENT}Go on: {terminal.command(again)}"
    if relearned["replaced"]:
        yield f"{INDENT}Undo one: {terminal.command('kiro-learn memories undo MEMORY')}"


def _row(verb: str, text: str, terminal: Terminal) -> str:
    return f"{INDENT}{verb:{VERB_COLUMN}}{cut(text, terminal.width - len(INDENT) - VERB_COLUMN)}"


def _protected_row(count: int) -> Iterator[tuple[str, str]]:
    if count == 1:
        yield "may go", "1 memory only for a new one that holds what it says"
    elif count:
        yield "may go", f"{memories(count)} only for a new one that holds what they say"


def _titles(titles: Sequence[str], terminal: Terminal) -> Iterator[str]:
    yield from (_title(each, terminal) for each in titles[:MOST_TITLES])
    if len(titles) > MOST_TITLES:
        yield f"{INDENT * 2}and {memories(len(titles) - MOST_TITLES)} more"


def _title(title: str, terminal: Terminal, *, note: str = "") -> str:
    after = f"{texts.DOT}{note}" if note else ""
    return f"{INDENT * 2}{cut(title, terminal.width - len(INDENT) * 2 - len(after))}{terminal.dim(after)}"
