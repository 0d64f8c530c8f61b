"""The verbs observe and knowledge: store what is handed in as it is, and list what holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from kiro_learn.client import calls, project_calls
from kiro_learn.client.building import Call
from kiro_learn.client.results import Repeat, StoredId
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import memory_screen, projects, texts
from kiro_learn.frontends.cli.options import ListsAlone, Verb, in_project, printing, typed, typed_or_piped
from kiro_learn.frontends.cli.record_ids import short
from kiro_learn.frontends.cli.shell import Shell
from kiro_learn.frontends.cli.terminal import Terminal, counted

KINDS = ("constraint", "decision", "heuristic", "rejected")
READ = "file-read"
MOST = 200


def _about(verb: Verb) -> Verb:
    """Adds options: the verb is called with ``concepts``, ``files`` and ``session``."""
    verb = click.option("--session", metavar="ID", help="The session that it belongs to.")(verb)
    verb = click.option(
        "--file", "files", multiple=True, metavar="PATH", help="A file that it is about; may be given several times."
    )(verb)
    return click.option(
        "--concept",
        "concepts",
        multiple=True,
        type=typed,
        metavar="WORD",
        help="A subject that it is about; may be given several times.",
    )(verb)


@click.command("observe")
@click.argument("title", type=typed)
@click.option(
    "--text",
    default="",
    type=typed_or_piped,
    metavar="TEXT",
    help="Its details, such as the output of a command or a diff; - is standard input.",
)
@click.option(
    "--type",
    "kind",
    default="manual",
    show_default=True,
    help="file-read, file-write, command, research, or any other word.",
)
@_about
@in_project
@printing
def observe_verb(
    shell: Shell,
    *,
    title: str,
    text: str,
    kind: str,
    concepts: tuple[str, ...],
    files: tuple[str, ...],
    session: str | None,
    project: str,
) -> None:
    """Store what was done or seen, in your words."""
    read, modified = (files, ()) if kind == READ else ((), files)
    with shell.client() as client:
        call = calls.store_observation(
            client,
            title,
            type=kind,
            text=text,
            concepts=concepts,
            files_read=read,
            files_modified=modified,
            session=session,
            project=projects.called(client, project).spelled,
        )
        _keep(shell, client, call)


@click.group("knowledge", cls=ListsAlone)
def knowledge_verb() -> None:
    """Store and list knowledge that holds from now on."""


@knowledge_verb.command("add")
@click.argument("knowledge_type", metavar="TYPE", type=click.Choice(KINDS))
@click.argument("title", type=typed)
@click.argument("content", type=typed_or_piped)
@click.option("--severity", type=click.Choice(["hard", "soft"]), help="How strict a constraint is.")
@click.option(
    "--reason", type=typed, metavar="TEXT", help="The reason for a constraint, a decision or a rejected idea."
)
@click.option(
    "--alternative",
    "alternatives",
    multiple=True,
    type=typed,
    metavar="TEXT",
    help="An alternative to a decision or a rejected idea; may be given several times.",
)
@click.option("--context", type=typed, metavar="TEXT", help="When a heuristic applies.")
@click.option("--confidence", type=click.Choice(["high", "medium", "low"]), help="How sure a heuristic is.")
@_about
@in_project
@printing
def add_verb(shell: Shell, *, title: str, content: str, project: str, **given: Any) -> None:
    """Store a constraint, a decision, a heuristic or a rejected idea."""
    # The other values in ``given`` have the names that the SDK uses.
    with shell.client() as client:
        place = projects.called(client, project)
        call = calls.store_knowledge(client, title, content, project=place.spelled, **given)
        _keep(shell, client, call)


@knowledge_verb.command("list")
@click.option("--limit", type=click.IntRange(1, MOST), default=20, show_default=True, help=texts.LIMIT_HELP)
@in_project
@printing
def list_verb(shell: Shell, limit: int, project: str) -> None:
    """List the knowledge of a project, newest first."""
    with shell.client() as client:
        place = projects.called(client, project)
        page = client.body_of(project_calls.knowledge(client, limit=limit, project=place.spelled))
    shell.answer(
        page,
        lambda: [
            *memory_screen.rows(page["items"], shell.now(), shell.out),
            *held(len(page["items"]), place.name, shell.out, is_all=page["next_cursor"] is None),
        ],
    )


def kept(stored: StoredId, terminal: Terminal) -> list[str]:
    """The outcome of what was handed in."""
    if isinstance(stored, Repeat):
        return list(_repeated(stored, terminal))
    said = f"Kept as {short(stored)}"
    return [f"{terminal.mark('ok')} {texts.DOT.join((said, 'found from now on'))}"]


def _repeated(repeat: Repeat, terminal: Terminal) -> Iterator[str]:
    if not repeat.differs:
        yield f"{terminal.mark('ok')} The same was stored a moment ago; it is not stored twice"
        return
    said = f"Not stored: {short(repeat.duplicate_of)}, stored a moment ago, has the same type, title and text"
    yield f"{terminal.mark('warning')} {said}"
    names = ", ".join(name.replace("_", " ") for name in repeat.differs)
    yield f"{memory_screen.INDENT}Differs in: {names} \N{MIDDLE DOT} use another title to store it"


def held(count: int, project: str, terminal: Terminal, *, is_all: bool) -> list[str]:
    """The number of memories that were listed."""
    if not count:
        command = terminal.command("kiro-learn knowledge add")
        return [f"No knowledge is stored for {project}. Add some: {command}"]
    line = f"{counted(count, 'memory that holds', 'memories that hold')} in {project}"
    return [terminal.dim(line if is_all else texts.DOT.join((line, texts.MORE_BY_LIMIT)))]


def _keep(shell: Shell, client: Client, call: Call[StoredId]) -> None:
    if shell.as_json:
        shell.print_json(client.body_of(call))
    else:
        shell.print(kept(client.carry_out(call), shell.out))
