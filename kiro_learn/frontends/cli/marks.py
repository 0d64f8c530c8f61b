"""memories pin, unpin, helped, wrong: what people say of a memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import click

from kiro_learn.client import project_calls
from kiro_learn.client.building import Call, Caller
from kiro_learn.client.results import Memory
from kiro_learn.frontends.cli import projects, record_ids
from kiro_learn.frontends.cli.options import in_projects, printing
from kiro_learn.frontends.cli.shell import Shell


@click.command("pin")
@click.argument("memory")
@in_projects
@printing
def pin_verb(shell: Shell, *, memory: str, project: str, everywhere: bool) -> None:
    """Pin a memory: every session is told it as it starts, and it is never cut by age."""
    _mark(shell, project_calls.pin, "Pinned", memory, project, everywhere=everywhere)


@click.command("unpin")
@click.argument("memory")
@in_projects
@printing
def unpin_verb(shell: Shell, *, memory: str, project: str, everywhere: bool) -> None:
    """Take the pin of a memory away."""
    _mark(shell, project_calls.unpin, "No longer pinned", memory, project, everywhere=everywhere)


def _mark(
    shell: Shell,
    call: Callable[[Caller, str], Call[Memory]],
    said: str,
    memory: str,
    project: str,
    *,
    everywhere: bool,
) -> None:
    with shell.client() as client:
        places = projects.all_of(client) if everywhere else [projects.meant(client, project)]
        record = record_ids.found(client, memory, places)
        answer = client.body_of(call(client, record["record_id"]))
    shell.answer(answer, [f"{shell.out.mark('ok')} {said}: {answer['title']}"])


# memories helped, memories wrong: what somebody says of a memory that was told.


@click.command("helped")
@click.argument("memory")
@in_projects
@printing
def helped_verb(shell: Shell, *, memory: str, project: str, everywhere: bool) -> None:
    """Say that a memory that was told helped: it is told a little sooner."""
    _judge(shell, memory, "helped", project, everywhere=everywhere)


@click.command("wrong")
@click.argument("memory")
@in_projects
@printing
def wrong_verb(shell: Shell, *, memory: str, project: str, everywhere: bool) -> None:
    """Say that a memory that was told is wrong: it is told a little later. To correct it: memories edit."""
    _judge(shell, memory, "wrong", project, everywhere=everywhere)


def _judge(shell: Shell, memory: str, feedback: Literal["helped", "wrong"], project: str, *, everywhere: bool) -> None:
    with shell.client() as client:
        places = projects.all_of(client) if everywhere else [projects.meant(client, project)]
        record = record_ids.found(client, memory, places)
        call = project_calls.judge(client, record["record_id"], feedback)
        if shell.as_json:
            shell.print_json(client.body_of(call))
            return
        counts = client.carry_out(call)
    known = ", ".join(f"{count} {name}" for name, count in counts._asdict().items() if name != "factor" and count)
    shell.print([f"{shell.out.mark('ok')} {record['title']}: {known}, score x{counts.factor:.2f}"])
