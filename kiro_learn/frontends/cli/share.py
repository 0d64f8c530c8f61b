"""The verb share: what a team shares; and, for the owner of its database, who shares what."""

from __future__ import annotations

import click

from kiro_learn.client import json_calls
from kiro_learn.client.building import Json
from kiro_learn.frontends.cli import record_ids, texts
from kiro_learn.frontends.cli.options import ListsAlone, in_project, no_blank, printing
from kiro_learn.frontends.cli.projects import meant
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import calendar_time, counted, memories, moment_of, plain


@click.group("share", cls=ListsAlone)
def share_verb() -> None:
    """Share memories of a project with a team.

    share alone does the same as share list. setup, admit,
    expel and members are for the owner of the team's database.
    """


@share_verb.command("list")
@printing
def list_verb(shell: Shell) -> None:
    """Show what is shared, and what others share. Changes nothing."""
    with shell.client() as client:
        _show(shell, client.carry_out(json_calls.sharing(client)))


@share_verb.command("now")
@printing
def now_verb(shell: Shell) -> None:
    """Share and receive now, without waiting for the next time."""
    with shell.client() as client:
        _show(shell, client.carry_out(json_calls.compare_shared(client)))


@share_verb.command("withdraw")
@click.argument("memory")
@in_project
@printing
def withdraw_verb(shell: Shell, *, memory: str, project: str) -> None:
    """Take a memory back from the team, and keep it only here."""
    _withhold(shell, memory, project, is_withheld=True)


@share_verb.command("again")
@click.argument("memory")
@in_project
@printing
def again_verb(shell: Shell, *, memory: str, project: str) -> None:
    """Share a memory again that was taken back."""
    _withhold(shell, memory, project, is_withheld=False)


def _withhold(shell: Shell, memory: str, project: str, *, is_withheld: bool) -> None:
    with shell.client() as client:
        record = record_ids.found(client, memory, [meant(client, project)])
        done = client.carry_out(json_calls.withhold(client, record["record_id"], withheld=is_withheld))
    said = "Taken back" if is_withheld else "Shared again"
    shell.answer(done, lambda: [f"{shell.out.mark('ok')} {said}: {plain(record['title'])}"])


def _show(shell: Shell, status: Json) -> None:
    if shell.as_json:
        shell.print_json(status)
        return
    if status["team"] is None:
        shell.print(["Nothing is shared: the setting share.url names no database"])
        return
    if status["problem"]:
        raise Failed(status["problem"], hint=status["hint"])
    if not status["compared_at"]:
        shell.print([f"Shared with {plain(status['team'])}; both sides are not compared yet"])
        return
    when = calendar_time(moment_of(status["compared_at"]), shell.now())
    shell.print([f"Shared with {plain(status['team'])}, as {plain(status['role'])}, last compared {when}"])
    for project in status["projects"]:
        shell.print(_lines(project, shell))
    if not status["projects"]:
        shell.print(["The setting share.projects names no project, so nothing leaves this machine"])


def _lines(project: Json, shell: Shell) -> list[str]:
    name = shell.out.bold(plain(project["name"]))
    if project["problem"]:
        return ["", f"{shell.out.mark('warning')} {name}  {plain(project['problem'])}"]
    parts = [f"{memories(project['shared'])} shared"]
    if project["withheld"]:
        parts.append(f"{memories(project['withheld'])} taken back")
    lines = ["", f"{name}  {texts.DOT.join(parts)}"]
    kinds = ", ".join(project["kinds"]) or "none"
    lines.append(shell.out.dim(f"  of the kinds {kinds}"))
    for person, count in sorted(project["received"].items()):
        lines.append(f"  {memories(count)} of {plain(person)}")
    if project["unreadable"]:
        lines.append(
            f"  {memories(project['unreadable'])} of others cannot be read; a newer kiro_learn may have written them"
        )
    return lines


# The work of the owner of the team's database, which needs no daemon.


@share_verb.command("setup")
@click.argument("url", metavar="URL")
@printing
def setup_verb(shell: Shell, *, url: str) -> None:
    """Make or update the tables of a team in a PostgreSQL database."""
    shell.open_maintenance().open_team(url).set_up()
    command = "kiro-learn share admit URL PROJECT ROLE..."
    shell.answer(
        {"set_up": True}, lambda: [f"{shell.out.mark('ok')} The tables of the team are there. Next: {command}"]
    )


@share_verb.command("admit")
@click.argument("url", metavar="URL")
@click.argument("project", callback=no_blank)
@click.argument("roles", metavar="ROLE...", nargs=-1, required=True)
@printing
def admit_verb(shell: Shell, *, url: str, project: str, roles: tuple[str, ...]) -> None:
    """Let roles of the server share a project.

    They see what others share of it, and share what their own settings say.
    """
    shell.open_maintenance().open_team(url).admit(project, roles)
    _show_members(shell, url)


@share_verb.command("expel")
@click.argument("url", metavar="URL")
@click.argument("project", callback=no_blank)
@click.argument("roles", metavar="ROLE...", nargs=-1, required=True)
@printing
def expel_verb(shell: Shell, *, url: str, project: str, roles: tuple[str, ...]) -> None:
    """Stop roles from sharing a project. What they shared stays there; only they can take it back."""
    if not shell.open_maintenance().open_team(url).expel(project, roles):
        raise Failed(f"none of these roles shares {project}")
    _show_members(shell, url)


@share_verb.command("members")
@click.argument("url", metavar="URL")
@printing
def members_verb(shell: Shell, *, url: str) -> None:
    """List which roles share which project."""
    _show_members(shell, url)


def _show_members(shell: Shell, url: str) -> None:
    members = shell.open_maintenance().open_team(url).members()
    shell.answer(
        {"members": [{"project": project, "role": role} for project, role in members]},
        lambda: [
            *(f"{plain(project)}  {plain(role)}" for project, role in members),
            shell.out.dim(counted(len(members), "membership", "memberships")),
        ],
    )
