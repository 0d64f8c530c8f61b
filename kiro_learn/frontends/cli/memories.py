"""memories list, show, forget."""

from __future__ import annotations

import itertools
from typing import Any

import click

from kiro_learn.frontends.cli import memory_screen, projects, record_ids, texts
from kiro_learn.frontends.cli.amounts import memories
from kiro_learn.frontends.cli.options import in_projects, printing
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.client import Client


@click.group("memories", help=texts.MEMORIES_HELP)
def memories_verb() -> None:
    """Only a name for those inside."""


@memories_verb.command("list", help=texts.LIST_HELP)
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help=texts.LIMIT_HELP)
@click.option("--all", "show_all", is_flag=True, help=texts.LIST_ALL_HELP)
@in_projects
@printing
def list_verb(shell: Shell, *, limit: int, show_all: bool, project: str, everywhere: bool, as_json: bool) -> None:
    with shell.client() as client:
        place = None if everywhere else projects.meant(client, project)
        page = _page(client, None if place is None else place.namespace, None if show_all else limit)
    if as_json:
        shell.print_json(page)
        return
    name = texts.ALL_PROJECTS if place is None else place.name
    shell.print(memory_screen.rows(page["items"], shell.now(), shell.out))
    shell.print(memory_screen.listed(len(page["items"]), page["total"], name, shell.out))


@memories_verb.command("show", help=texts.SHOW_HELP)
@click.argument("memory")
@in_projects
@printing
def show_verb(shell: Shell, memory: str, project: str, everywhere: bool, as_json: bool) -> None:
    with shell.client() as client:
        record = record_ids.found(client, memory, _places(client, project, everywhere=everywhere))
        names = {each.namespace: each.name for each in projects.all_of(client)}
    if as_json:
        shell.print_json(record)
        return
    shell.print(memory_screen.memory(record, names.get(record["namespace"], ""), shell.now(), shell.out))


@memories_verb.command("forget", help=texts.FORGET_HELP)
@click.argument("memory", nargs=-1, required=True, metavar="MEMORY...")
@click.option("--yes", is_flag=True, help=texts.YES_HELP)
@in_projects
@printing
def forget_verb(
    shell: Shell, *, memory: tuple[str, ...], yes: bool, project: str, everywhere: bool, as_json: bool
) -> None:
    with shell.client() as client:
        places = _places(client, project, everywhere=everywhere)
        by_id = {found["record_id"]: found for found in (record_ids.found(client, each, places) for each in memory)}
        if not yes:
            shell.say(memory_screen.to_forget(list(by_id.values()), shell.err))
        if not shell.confirm(texts.FORGET_QUESTION, flag_given=yes):
            raise Failed(texts.NOT_FORGOTTEN)
        for record_id in by_id:
            client.forget(record_id)
    if as_json:
        shell.print_json({"forgotten": list(by_id)})
    else:
        shell.print([f"{shell.out.mark('ok')} {texts.FORGOTTEN.format(memories=memories(len(by_id)))}"])


def _page(client: Client, namespace: str | None, limit: int | None) -> dict[str, Any]:
    """One page of ``limit`` memories, as the API answers it; all of them without a limit."""
    page = client.memories(namespace=namespace, limit=min(limit or record_ids.PAGE, record_ids.PAGE))
    wanted = page["total"] if limit is None else min(limit, page["total"])
    for offset in itertools.count(len(page["items"]), record_ids.PAGE):
        if offset >= wanted:
            break
        page["items"] += client.memories(
            namespace=namespace, limit=min(record_ids.PAGE, wanted - offset), offset=offset
        )["items"]
    return {**page, "limit": len(page["items"])} if limit is None else page


def _places(client: Client, project: str, *, everywhere: bool) -> list[projects.Project]:
    return projects.all_of(client) if everywhere else [projects.meant(client, project)]
