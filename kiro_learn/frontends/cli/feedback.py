"""memories helped, memories wrong: what somebody says of a memory that was told."""

from __future__ import annotations

from typing import Literal

import click

from kiro_learn.client import mark_calls
from kiro_learn.frontends.cli import feedback_texts, projects, record_ids
from kiro_learn.frontends.cli.options import in_projects, printing
from kiro_learn.frontends.cli.shell import Shell


@click.command("helped", help=feedback_texts.HELPED_HELP)
@click.argument("memory")
@in_projects
@printing
def helped_verb(shell: Shell, *, memory: str, project: str, everywhere: bool, as_json: bool) -> None:
    _judge(shell, memory, "helped", project, everywhere=everywhere, as_json=as_json)


@click.command("wrong", help=feedback_texts.WRONG_HELP)
@click.argument("memory")
@in_projects
@printing
def wrong_verb(shell: Shell, *, memory: str, project: str, everywhere: bool, as_json: bool) -> None:
    _judge(shell, memory, "wrong", project, everywhere=everywhere, as_json=as_json)


def _judge(
    shell: Shell, memory: str, feedback: Literal["helped", "wrong"], project: str, *, everywhere: bool, as_json: bool
) -> None:
    with shell.client() as client:
        places = projects.all_of(client) if everywhere else [projects.meant(client, project)]
        record = record_ids.found(client, memory, places)
        call = mark_calls.judge(client, record["record_id"], feedback)
        if as_json:
            shell.print_json(client.body_of(call))
            return
        counts = client.carry_out(call)
    known = ", ".join(f"{count} {name}" for name, count in counts._asdict().items() if name != "factor" and count)
    mark = shell.out.mark("ok")
    shell.print([feedback_texts.SAID.format(mark=mark, title=record["title"], known=known, factor=counts.factor)])
