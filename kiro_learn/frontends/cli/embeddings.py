"""embeddings stats, embeddings backfill: how much is findable by meaning, and the rest of it now."""

from __future__ import annotations

import time
from typing import Any

import click

from kiro_learn.client import calls
from kiro_learn.client.results import EmbeddingStats
from kiro_learn.frontends.cli import activity_texts, progress, texts
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.shell import Shell
from kiro_learn.frontends.cli.terminal import Terminal, duration, memories, plain


@click.group("embeddings", no_args_is_help=False, help=activity_texts.EMBEDDINGS_HELP)
def embeddings_verb() -> None:
    """Only a name for those inside."""


@embeddings_verb.command("stats", help=activity_texts.STATS_HELP)
@printing
def stats_verb(shell: Shell, as_json: bool) -> None:
    with shell.client() as client:
        call = calls.embedding_stats(client)
        if as_json:
            shell.print_json(client.body_of(call))
            return
        shell.print(stats(client.carry_out(call), shell.out))


@click.command("backfill", help=texts.BACKFILL_HELP)
@printing
def backfill_verb(shell: Shell, as_json: bool) -> None:
    began = time.monotonic()
    with shell.client() as client, progress.shown(shell, _WATCHED, is_wanted=not as_json):
        embedded = client.backfill_embeddings()
    if as_json:
        shell.print_json({"embedded": embedded})
        return
    made = texts.MADE_FINDABLE.format(memories=memories(embedded)) if embedded else texts.ALL_FINDABLE
    shell.print([f"{shell.out.mark('ok')} {texts.DOT.join((made, duration(time.monotonic() - began)))}"])


embeddings_verb.add_command(backfill_verb)


def stats(found: EmbeddingStats, terminal: Terminal) -> list[str]:
    """How many there are of how many, by which model, and what makes the rest findable."""
    rest = found.total - found.embedded
    done = activity_texts.FINDABLE.format(done=found.embedded, memories=memories(found.total))
    percent = activity_texts.PERCENT.format(percent=found.percentage)
    size = [] if found.dimensions is None else [activity_texts.DIMENSIONS.format(count=found.dimensions)]
    lines = [
        f"{terminal.mark('warning' if rest else 'ok')} {texts.DOT.join((done, percent))}",
        f"{terminal.mark('none')} {texts.DOT.join((plain(found.provider), *size))}",
    ]
    if not found.available:
        return [*lines, f"{terminal.mark('warning')} {activity_texts.MODEL_NOT_LOADED}"]
    command = terminal.command("kiro-learn embeddings backfill")
    return [*lines, *([activity_texts.REST_NOW.format(command=command)] if rest else [])]


def _left(status: dict[str, Any]) -> int:
    counts = status["embeddings"]
    return int(counts["total"] - counts["embedded"] - counts["set_aside"])


_WATCHED = progress.Watched(
    activity_texts.MAKING_FINDABLE, _left, memories, when_left=activity_texts.STOPPED_WATCHING_IT
)
