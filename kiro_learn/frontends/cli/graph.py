"""The verbs entities, facts, procedures and preferences: what was learned besides memories."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import click

from kiro_learn.client import json_calls
from kiro_learn.client.building import Call, Json, RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import graph_screen, projects, record_ids, texts
from kiro_learn.frontends.cli.forget import has_copies
from kiro_learn.frontends.cli.options import ListsAlone, in_project, printing, since_option, typed
from kiro_learn.frontends.cli.record_ids import SERVER_ERROR, UNKNOWN, Sort
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.model.graph import SourceType

GROUP_HELP = {
    "entities": "List, show, merge, edit or forget things that you talk about.",
    "facts": "List, show, add, edit or forget facts about those things.",
    "procedures": "List, show, add, edit or forget ways to do things.",
    "preferences": "List, show, add, edit or forget what you always want.",
}
LIST_HELP = {
    "entities": "List the entities of a project, newest first.",
    "facts": "List the facts of a project that hold now, newest first.",
    "procedures": "List the procedures of a project that hold now, newest first.",
    "preferences": "List the preferences of a project that hold now, newest first.",
}
EDIT_HELP = {
    "entities": "Change the description or the other names of an entity.",
    "facts": "Correct a fact; the old one counts as never true.",
    "procedures": "Change the steps of a procedure.",
    "preferences": "Change the wording of a preference.",
}
CHANGES = {
    "entities": {
        "description": "The new description.",
        "alias": "Another name; may be given several times; replaces all other names it has.",
    },
    "facts": {"object": "The new object of the fact: what stands after its predicate."},
    "procedures": {"step": "One step; may be given several times, in order."},
    "preferences": {"value": "What you want instead."},
}
FORGET_HELP = {
    "entities": "Delete an entity for good, with all facts that name it.",
    "facts": "Delete a fact for good.",
    "procedures": "Delete a procedure for good.",
    "preferences": "Delete a preference for good.",
}
AS_OF_HELP = {
    "entities": "Only entities that were known on this date, such as 2026-03-31.",
    "facts": "The facts that held on this date, such as 2026-03-31.",
    "procedures": "The procedures as they were on this date, such as 2026-03-31.",
    "preferences": "The preferences that held on this date, such as 2026-03-31.",
}
ALL_HELP = {
    "facts": "Also facts that no longer hold, and facts that are uncertain.",
    "procedures": "Also earlier versions.",
    "preferences": "Also preferences that no longer hold.",
}
"""The help of ``--all``, for kinds whose items can end."""

EDITED = {"step": "steps", "alias": "aliases"}
"""Options that may be repeated, and the name of the field that holds all their values."""

KINDS = {"en": "entities", "fa": "facts", "pr": "procedures", "pf": "preferences"}
"""The kinds by the beginnings of their ids."""

HOME = "~"
"""The folder whose project keeps what holds for all projects."""

_FULL = re.compile(r"([a-z]{2})_[0-9A-Z]{26}")


def _group(kind: str) -> click.Group:
    group = ListsAlone(kind, help=GROUP_HELP[kind])
    for verb in (_list_verb(kind), _show_verb(kind), OWN_VERBS[kind], _edit_verb(kind), _forget_verb(kind)):
        group.add_command(verb)
    return group


def _list_verb(kind: str) -> click.Command:
    @click.command("list", help=LIST_HELP[kind])
    @click.option("--text", default="", metavar="TEXT", help="Only those that contain this text.")
    @click.option("--as-of", metavar="DATE", help=AS_OF_HELP[kind])
    @click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help=texts.LIMIT_HELP)
    @in_project
    @printing
    def list_verb(  # noqa: PLR0917  # its options, which click hands over by name
        shell: Shell,
        text: str,
        as_of: str | None,
        limit: int,
        project: str,
        everything: bool = False,
    ) -> None:
        with shell.client() as client:
            place = projects.called(client, project)
            ask = partial(
                json_calls.items, client, kind, text=text, as_of=as_of, everything=everything, project=place.spelled
            )
            found = client.listed(ask, limit)
            next_cursor = found["next_cursor"]
            is_more = next_cursor is not None and bool(client.body_of(ask(limit=1, cursor=next_cursor))["items"])
            of_all = 0 if shell.as_json else len(_of_all_projects(client, partial(ask, project=HOME), found["items"]))
        items = found["items"]
        if shell.as_json:
            shell.print_json(found)
        elif items:
            shell.print(graph_screen.rows(items, shell.out))
            shell.print(graph_screen.listed(items, kind, place.name, shell.out, is_more=is_more))
        else:
            is_narrowed = bool(text or as_of)
            shell.print(graph_screen.none_listed(kind, place.name, shell.out, is_narrowed=is_narrowed))
        shell.print(graph_screen.of_all_projects(of_all, kind, shell.out) if of_all else [])

    if kind in ALL_HELP:
        list_verb.params.insert(2, click.Option(["--all", "everything"], is_flag=True, help=ALL_HELP[kind]))
    return list_verb


def _of_all_projects(client: Client, ask: Callable[..., Call[Json]], own: Sequence[Json]) -> list[Json]:
    """The items that a person stated for all projects: ``ask`` finds them in the home folder; without ``own``."""
    known = {each["id"] for each in own}
    try:
        found = [each for each in client.listed(ask, None)["items"] if each["id"] not in known]
    except RequestRefused:  # a service's user need not have a home folder
        return []
    return [each for each in found if each.get("source_type") == SourceType.CORRECTED and not each.get("path")]


def _show_verb(kind: str) -> click.Command:
    @click.command("show")
    @click.argument("item_id")
    @in_project
    @printing
    def show_verb(shell: Shell, item_id: str, project: str) -> None:
        """Show one item with all its details, and how many events support it."""
        with _meant(shell, kind, item_id, project) as meant:
            item = meant.asked(json_calls.item)
        shell.answer(item, lambda: graph_screen.item(item, shell.out))

    return show_verb


def _scope_of(scope: str, project: str) -> str:
    """The scope for the daemon: a path is relative to the current folder, or to that of the named ``project``."""
    if project or scope in {"person", "project"}:
        return scope
    return os.path.abspath(scope)  # noqa: PTH100  # Path.absolute() leaves ".." in


_scoped = click.option(
    "--scope",
    default="project",
    metavar="person|project|PATH",
    help="Where it holds: in all your projects, in this one, or below a path in it.",
)


@click.command("add")
@click.argument("predicate")
@click.argument("object", type=typed)
@click.option("--of", "subject", type=typed, metavar="NAME", help="What the fact is about, if not the project.")
@partial(since_option, about="Since when the fact holds.")
@_scoped
@in_project
@printing
def add_fact_verb(
    shell: Shell,
    *,
    predicate: str,
    object: str,  # noqa: A002  # as click names the argument
    subject: str | None,
    since: str | None,
    scope: str,
    project: str,
) -> None:
    """Add a fact about the project, such as: deployed_on Fly.io."""
    with shell.client() as client:
        spelled = projects.called(client, project).spelled
        said: Json = {"subject": subject, "since": since, "scope": _scope_of(scope, project), "project": spelled}
        call = json_calls.add_fact(client, predicate.replace(" ", "_"), object, **said)
        _print_now(shell, client.body_of(call))


@click.command("add")
@click.argument("text", type=typed)
@click.option(
    "--about", "key", type=typed, metavar="WORDS", help="Its subject; it replaces the preference with the same subject."
)
@_scoped
@in_project
@printing
def add_preference_verb(shell: Shell, *, text: str, key: str | None, scope: str, project: str) -> None:
    """Add what you always want, or never want."""
    with shell.client() as client:
        spelled = projects.called(client, project).spelled
        call = json_calls.add_preference(client, text, key=key, scope=_scope_of(scope, project), project=spelled)
        _print_now(shell, client.body_of(call))


@click.command("add")
@click.argument("name", type=typed)
@click.option(
    "--step", "steps", type=typed, metavar="TEXT", multiple=True, required=True, help=CHANGES["procedures"]["step"]
)
@click.option("--when", "trigger", type=typed, default="", metavar="WORDS", help="When to use the procedure.")
@in_project
@printing
def add_procedure_verb(shell: Shell, *, name: str, steps: tuple[str, ...], trigger: str, project: str) -> None:
    """Add a procedure, or a new version of the one with that name."""
    with shell.client() as client:
        spelled = projects.called(client, project).spelled
        call = json_calls.add_procedure(client, name, steps, trigger=trigger, project=spelled)
        _print_now(shell, client.body_of(call))


@click.command("merge")
@click.argument("item_id", metavar="ID")
@click.argument("into", metavar="INTO")
@in_project
@printing
def merge_verb(shell: Shell, *, item_id: str, into: str, project: str) -> None:
    """Merge one entity into another, which gets its names and facts."""
    with _meant(shell, "entities", item_id, project) as meant:
        kept = _id_of(meant.client, "entities", into, meant.place)
        _print_now(shell, meant.asked(json_calls.merge_entities, into=kept))


def _print_now(shell: Shell, item: Json) -> None:
    shell.answer(item, lambda: graph_screen.rows([item], shell.out))


def _edit_verb(kind: str) -> click.Command:
    @click.command("edit", help=EDIT_HELP[kind])
    @click.argument("item_id")
    @in_project
    @printing
    def edit_verb(shell: Shell, item_id: str, project: str, **changes: Any) -> None:
        wanted = {EDITED.get(name, name): value for name, value in changes.items() if value not in {None, ()}}
        if not wanted:
            options = " or ".join(option.opts[0] for option in _options(kind))
            raise Failed(f"nothing to change: say it with {options}", exit_code=2)
        with _meant(shell, kind, item_id, project) as meant:
            item = meant.asked(json_calls.edit, **wanted)
        _print_now(shell, item)

    edit_verb.params += _options(kind)
    return edit_verb


def _options(kind: str) -> list[click.Option]:
    """An option for each field that may be changed."""
    return [
        click.Option([f"--{name}"], help=text, multiple=name in EDITED, type=typed, metavar="TEXT")
        for name, text in CHANGES[kind].items()
    ]


def _forget_verb(kind: str) -> click.Command:
    @click.command("forget", help=FORGET_HELP[kind])
    @click.argument("item_id")
    @click.option("--yes", is_flag=True, help=texts.YES_HELP)
    @in_project
    @printing
    def forget_verb(shell: Shell, item_id: str, yes: bool, project: str) -> None:
        with _meant(shell, kind, item_id, project) as meant:
            if not yes:
                goes = graph_screen.to_forget(kind, meant.item_id, meant.item_if_readable(), shell.err)
                shell.say_before_asking(goes)
            if not shell.confirm(texts.FORGET_QUESTION, flag_given=yes):
                raise Failed(texts.NOT_FORGOTTEN)
            done = meant.asked(json_calls.forget)
            is_copied = has_copies(meant.client)
        shell.answer(done, lambda: graph_screen.forgotten(kind, shell.out, is_copied=is_copied))

    return forget_verb


class _Meant(NamedTuple):
    """One item, in its project."""

    client: Client
    place: projects.Called
    kind: str
    item_id: str

    def asked(self, call: Callable[..., Call[Json]], **values: Any) -> Json:
        """The answer to a call about the item. Raises Failed: the project has no item with this id."""
        try:
            answer: Json = self.client.body_of(call(self.client, self.item_id, project=self.place.spelled, **values))
        except RequestRefused as error:
            if error.status != UNKNOWN:
                raise
            message = f"{self.place.name} has no {graph_screen.ONE[self.kind]} with the id {self.item_id}"
            raise Failed(message, hint=_listing(self.kind)) from error
        return answer

    def item_if_readable(self) -> Json | None:
        """The item; None if its row is damaged, since it can still be forgotten."""
        try:
            return self.asked(json_calls.item)
        except RequestRefused as error:
            if error.status < SERVER_ERROR:
                raise
            return None


@contextmanager
def _meant(shell: Shell, kind: str, asked: str, project: str) -> Iterator[_Meant]:
    """The item of this kind with the id ``asked``, or the only one whose id ends with it.

    Raises:
      Failed: there is no such item, there are several, or the id is of another kind.
    """
    with shell.client() as client:
        place = projects.called(client, project)
        yield _Meant(client, place, kind, _id_of(client, kind, asked, place))


def _id_of(client: Client, kind: str, asked: str, place: projects.Called) -> str:
    if whole := _FULL.fullmatch(asked):
        other = KINDS.get(whole[1], "")
        if other == kind:
            return asked
        message = f"{asked} is the id of no {graph_screen.ONE[kind]}"
        raise Failed(message, hint=f"kiro-learn {other} show {asked}" if other else _listing(kind), exit_code=2)
    sort = Sort(graph_screen.ONE[kind], "id", graph_screen.said, _listing(kind))
    record_ids.insist_it_is_long(asked, sort)
    ask = partial(json_calls.items, client, kind, everything=True, project=place.spelled)
    own = client.listed(ask, None)["items"]
    looked_at = [*own, *_of_all_projects(client, partial(ask, project=HOME), own)]
    found: str = record_ids.only_one(asked, looked_at, sort, place.name)["id"]
    return found


def _listing(kind: str) -> str:
    """The command that lists the items of this kind."""
    return f"kiro-learn {kind} list"


OWN_VERBS = {
    "entities": merge_verb,
    "facts": add_fact_verb,
    "preferences": add_preference_verb,
    "procedures": add_procedure_verb,
}

entities_verb = _group("entities")
facts_verb = _group("facts")
procedures_verb = _group("procedures")
preferences_verb = _group("preferences")
