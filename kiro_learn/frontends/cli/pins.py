"""memories pin, memories unpin."""

from __future__ import annotations

from collections.abc import Callable

import click

from kiro_learn.client import mark_calls
from kiro_learn.client.building import Call, Caller
from kiro_learn.client.results import Memory
from kiro_learn.frontends.cli import pin_texts, projects, record_ids
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
