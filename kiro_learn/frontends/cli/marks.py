"""memories pin, unpin, helped, wrong: what people say of a memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import click

from kiro_learn.client import mark_calls
from kiro_learn.client.building import Call, Caller
from kiro_learn.client.results import Memory
from kiro_learn.frontends.cli import feedback_texts, pin_texts, projects, record_ids
from kiro_learn.frontends.cli.options import in_projects, printing
from kiro_learn.frontends.cli.shell import Shell


@click.command("pin", help=pin_texts.PIN_HELP)
@click.argument("memory")
@in_projects
@printing
def pin_verb(shell: Shell, *, memory: str, project: str, everywhere: bool, as_json: bool) -> None:
    _mark(shell, mark_calls.pin, pin_texts.PINNED, memory, project, everywhere=everywhere, as_json=as_json)


@click.command("unpin", help=pin_texts.UNPIN_HELP)
@click.argument("memory")
@in_projects
@printing
def unpin_verb(shell: Shell, *, memory: str, project: str, everywhere: bool, as_json: bool) -> None:
    _mark(shell, mark_calls.unpin, pin_texts.UNPINNED, memory, project, everywhere=everywhere, as_json=as_json)


def _mark(
    shell: Shell,
    call: Callable[[Caller, str], Call[Memory]],
    said: str,
    memory: str,
    project: str,
    *,
    everywhere: bool,
    as_json: bool,
) -> None:
    with shell.client() as client:
        places = projects.all_of(client) if everywhere else [projects.meant(client, project)]
        record = record_ids.found(client, memory, places)
        answer = client.body_of(call(client, record["record_id"]))
    if as_json:
        shell.print_json(answer)
        return
    shell.print([said.format(mark=shell.out.mark("ok"), title=answer["title"])])


# memories helped, memories wrong: what somebody says of a memory that was told.


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
