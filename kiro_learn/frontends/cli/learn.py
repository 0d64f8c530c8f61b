"""flush, embeddings stats, embeddings backfill: what would be done by itself, now."""

from __future__ import annotations

import time
from typing import Any

import click

from kiro_learn.client import calls
from kiro_learn.client.building import RequestRefused
from kiro_learn.client.results import EmbeddingStats
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import progress, projects, texts
from kiro_learn.frontends.cli.options import in_project, printing
from kiro_learn.frontends.cli.projects import Project
from kiro_learn.frontends.cli.record_ids import UNKNOWN
from kiro_learn.frontends.cli.shell import Shell
from kiro_learn.frontends.cli.terminal import Terminal, duration, events, memories, plain

NOTHING = {"events": 0, "records": 0, "parked": 0}


@click.command("flush")
@in_project
@printing
def flush_verb(shell: Shell, project: str) -> None:
    """Learn now what waits in a project."""
    began = time.monotonic()
    with shell.client() as client:
        place = projects.meant(client, project)
        with progress.shown(shell, _waiting_in(place)):
            flushed = _flush(client, place)
    shell.answer(flushed, flushed_lines(flushed, place.name, time.monotonic() - began, shell))


def flushed_lines(flushed: dict[str, Any], project: str, seconds: float, shell: Shell) -> list[str]:
    """What was learned, and what was not."""
    learned = f"{events(flushed['events'])} learned into {memories(flushed['records'])}"
    said = learned if flushed["events"] else f"Nothing waited in {project}"
    lines = [f"{shell.out.mark('ok')} {texts.DOT.join((said, duration(seconds)))}"]
    if flushed["parked"]:
        waiting = f"{events(flushed['parked'])} not learned yet: they came meanwhile, or are set aside"
        lines.append(f"{shell.out.mark('warning')} {waiting}")
    return lines


def _flush(client: Client, place: Project) -> dict[str, Any]:
    try:
        return client.flush(place.project_id)
    except RequestRefused as error:
        if error.status != UNKNOWN:
            raise
        return NOTHING  # a folder that no agent has worked in yet


def _waiting_in(place: Project) -> progress.Watched:
    left = progress.of_project(place.namespace, "waiting_event_count")
    return progress.Watched(f"Learning {place.name}", left, events)


# embeddings, backfill: finding by meaning.


@click.group("embeddings", no_args_is_help=False)
def embeddings_verb() -> None:
    """How much is findable by meaning, and the rest of it now."""


@embeddings_verb.command("stats")
@printing
def stats_verb(shell: Shell) -> None:
    """Say how many memories are findable by meaning."""
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
    shell.answer(
        {"embedded": embedded}, [f"{shell.out.mark('ok')} {texts.DOT.join((made, duration(time.monotonic() - began)))}"]
    )


embeddings_verb.add_command(backfill_verb)


def stats(found: EmbeddingStats, terminal: Terminal) -> list[str]:
    """How many there are of how many, by which model, and what makes the rest findable."""
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


def _left(status: dict[str, Any]) -> int:
    counts = status["embeddings"]
    return int(counts["total"] - counts["embedded"] - counts["set_aside"])


_WATCHED = progress.Watched(
    "Making memories findable by meaning", _left, memories, when_left="Stopped watching; the daemon goes on."
)
