"""The verb conflicts: lists what contradicts each other in a project, and keeps one of two."""

from __future__ import annotations

import click

from kiro_learn.client import json_calls
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import projects, texts
from kiro_learn.frontends.cli.graph_screen import DAY
from kiro_learn.frontends.cli.options import ListsAlone, in_project, printing
from kiro_learn.frontends.cli.shell import Shell
from kiro_learn.frontends.cli.terminal import counted, plain
from kiro_learn.model.ids import is_record_id


@click.command("list")
@in_project
@printing
def list_verb(shell: Shell, *, project: str) -> None:
    """List facts, rules and rule-file lines that contradict each other. Each pair has the command that settles it."""
    with shell.client() as client:
        place = projects.called(client, project)
        found = client.body_of(json_calls.conflicts(client, project=place.spelled))
    if shell.as_json:
        shell.print_json(found)
        return
    for conflict in found["items"]:
        first, second = conflict["sides"]
        said = [f"{plain(each['text'])} ({(each['at'] or each['source'])[:DAY]})" for each in (first, second)]
        shell.print([*said, shell.out.dim(f"  kiro-learn conflicts keep {first['id']} --over {second['id']}")])
    count = counted(len(found["items"]), "conflict", "conflicts")
    shell.print([shell.out.dim(f"{count} of {place.name}")])


@click.command("keep")
@click.argument("kept", metavar="ID")
@click.option("--over", required=True, metavar="ID", help="The id of the one that ends: a fact or a memory.")
@in_project
@printing
def keep_verb(shell: Shell, *, kept: str, over: str, project: str) -> None:
    """Keep one of two that contradict each other; the other one ends."""
    with shell.client() as client:
        place = _place(client, kept, over, project)
        done = client.body_of(json_calls.settle_conflict(client, keep=kept, over=over, project=place))
    can_be_undone = is_record_id(kept) and is_record_id(over)
    shell.answer(done, lambda: [_kept_line(shell, done["kept"], can_be_undone=can_be_undone)])


def _kept_line(shell: Shell, kept: str, *, can_be_undone: bool) -> str:
    undo = [f"undo: kiro-learn memories undo {kept}"] if can_be_undone else []
    return texts.DOT.join([f"{shell.out.mark('ok')} {kept} is kept", *undo])


def _place(client: Client, kept: str, over: str, project: str) -> str:
    """The named project, else that of a memory among the two: ``status`` may show conflicts of any project."""
    memory = next((each for each in (kept, over) if is_record_id(each)), None)
    if project or memory is None:
        return projects.called(client, project).spelled
    namespace: str = client.memory(memory)["namespace"]
    return namespace


conflicts_verb = ListsAlone(
    "conflicts", help="List contradictions, or settle one by keeping one side.", commands=[list_verb, keep_verb]
)
