"""share: what a team shares; and, for the owner of its database, who shares what."""

from __future__ import annotations

from typing import Any

import click

from kiro_learn.client import json_calls
from kiro_learn.frontends.cli import record_ids, share_texts, texts
from kiro_learn.frontends.cli.options import ListsAlone, in_project, printing
from kiro_learn.frontends.cli.projects import meant
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import calendar_time, counted, memories, moment_of, plain

Json = dict[str, Any]


@click.group("share", cls=ListsAlone, help=share_texts.HELP)
def share_verb() -> None:
    """Only a name for those inside."""


@share_verb.command("list", help=share_texts.LIST_HELP)
@printing
def list_verb(shell: Shell, *, as_json: bool) -> None:
    with shell.client() as client:
        _show(shell, client.carry_out(json_calls.sharing(client)), as_json=as_json)


@share_verb.command("now", help=share_texts.NOW_HELP)
@printing
def now_verb(shell: Shell, *, as_json: bool) -> None:
    with shell.client() as client:
        _show(shell, client.carry_out(json_calls.compare_shared(client)), as_json=as_json)


@share_verb.command("withdraw", help=share_texts.WITHDRAW_HELP)
@click.argument("memory")
@in_project
@printing
def withdraw_verb(shell: Shell, *, memory: str, project: str, as_json: bool) -> None:
    _withhold(shell, memory, project, is_withheld=True, as_json=as_json)


@share_verb.command("again", help=share_texts.AGAIN_HELP)
@click.argument("memory")
@in_project
@printing
def again_verb(shell: Shell, *, memory: str, project: str, as_json: bool) -> None:
    _withhold(shell, memory, project, is_withheld=False, as_json=as_json)


def _withhold(shell: Shell, memory: str, project: str, *, is_withheld: bool, as_json: bool) -> None:
    with shell.client() as client:
        record = record_ids.found(client, memory, [meant(client, project)])
        done = client.carry_out(json_calls.withhold(client, record["record_id"], withheld=is_withheld))
    if as_json:
        shell.print_json(done)
        return
    sentence = share_texts.TAKEN_BACK if is_withheld else share_texts.SHARED_AGAIN
    shell.print([f"{shell.out.mark('ok')} {sentence.format(title=plain(record['title']))}"])


def _show(shell: Shell, status: Json, *, as_json: bool) -> None:
    if as_json:
        shell.print_json(status)
        return
    if status["team"] is None:
        shell.print([share_texts.NOTHING])
        return
    if status["problem"]:
        raise Failed(status["problem"], hint=status["hint"])
    if not status["compared_at"]:
        shell.print([share_texts.NOT_YET.format(team=plain(status["team"]))])
        return
    when = calendar_time(moment_of(status["compared_at"]), shell.now())
    shell.print([share_texts.WITH.format(team=plain(status["team"]), role=plain(status["role"]), when=when)])
    for project in status["projects"]:
        shell.print(_lines(project, shell))
    if not status["projects"]:
        shell.print([share_texts.NO_PROJECT])


def _lines(project: Json, shell: Shell) -> list[str]:
    name = shell.out.bold(plain(project["name"]))
    if project["problem"]:
        return ["", f"{shell.out.mark('warning')} {name}  {plain(project['problem'])}"]
    parts = [share_texts.SHARED.format(memories=memories(project["shared"]))]
    if project["withheld"]:
        parts.append(share_texts.WITHHELD.format(memories=memories(project["withheld"])))
    lines = ["", f"{name}  {texts.DOT.join(parts)}"]
    kinds = ", ".join(project["kinds"]) or share_texts.NO_KINDS
    lines.append(shell.out.dim(share_texts.KINDS.format(kinds=kinds)))
    for person, count in sorted(project["received"].items()):
        lines.append(share_texts.RECEIVED.format(memories=memories(count), person=plain(person)))
    if project["unreadable"]:
        lines.append(share_texts.UNREADABLE.format(memories=memories(project["unreadable"])))
    return lines


# What the owner of the team's database does. No daemon is asked.


@share_verb.command("setup", help=share_texts.SETUP_HELP)
@click.argument("url", metavar="URL")
@printing
def setup_verb(shell: Shell, *, url: str, as_json: bool) -> None:
    shell.open_maintenance().open_team(url).set_up()
    if as_json:
        shell.print_json({"set_up": True})
    else:
        shell.print([f"{shell.out.mark('ok')} {share_texts.SET_UP}"])


@share_verb.command("admit", help=share_texts.ADMIT_HELP)
@click.argument("url", metavar="URL")
@click.argument("project")
@click.argument("roles", metavar="ROLE...", nargs=-1, required=True)
@printing
def admit_verb(shell: Shell, *, url: str, project: str, roles: tuple[str, ...], as_json: bool) -> None:
    shell.open_maintenance().open_team(url).admit(project, roles)
    _show_members(shell, url, as_json=as_json)


@share_verb.command("expel", help=share_texts.EXPEL_HELP)
@click.argument("url", metavar="URL")
@click.argument("project")
@click.argument("roles", metavar="ROLE...", nargs=-1, required=True)
@printing
def expel_verb(shell: Shell, *, url: str, project: str, roles: tuple[str, ...], as_json: bool) -> None:
    if not shell.open_maintenance().open_team(url).expel(project, roles):
        raise Failed(share_texts.NONE_EXPELLED.format(project=project))
    _show_members(shell, url, as_json=as_json)


@share_verb.command("members", help=share_texts.MEMBERS_HELP)
@click.argument("url", metavar="URL")
@printing
def members_verb(shell: Shell, *, url: str, as_json: bool) -> None:
    _show_members(shell, url, as_json=as_json)


def _show_members(shell: Shell, url: str, *, as_json: bool) -> None:
    members = shell.open_maintenance().open_team(url).members()
    if as_json:
        shell.print_json({"members": [{"project": project, "role": role} for project, role in members]})
        return
    shell.print([f"{plain(project)}  {plain(role)}" for project, role in members])
    shell.print([shell.out.dim(counted(len(members), *share_texts.MEMBERS))])
