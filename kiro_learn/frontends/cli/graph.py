"""entities, facts, procedures, preferences: what was learned besides memories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from kiro_learn.client import graph_calls
from kiro_learn.client.call import RequestRefused
from kiro_learn.frontends.cli import graph_texts, projects, texts
from kiro_learn.frontends.cli.amounts import counted
from kiro_learn.frontends.cli.options import ListsAlone, in_project, printing, typed
from kiro_learn.frontends.cli.record_ids import UNKNOWN
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import plain

MOST = 200
DAY = 10
"""Characters of a moment that are its date."""

EDITED = {"step": "steps", "alias": "aliases"}
"""Options that may be given again, and what all of them are together."""

Json = dict[str, Any]


def _group(kind: str) -> click.Group:
    group = ListsAlone(kind, help=graph_texts.GROUP_HELP[kind])
    for verb in (_list_verb(kind), _show_verb(), _edit_verb(kind), _forget_verb()):
        group.add_command(verb)
    return group


def _list_verb(kind: str) -> click.Command:
    @click.command("list", help=graph_texts.LIST_HELP)
    @click.option("--text", default="", metavar="TEXT", help=graph_texts.TEXT_HELP)
    @click.option("--as-of", metavar="DATE", help=graph_texts.AS_OF_HELP)
    @click.option("--all", "everything", is_flag=True, help=graph_texts.ALL_HELP)
    @click.option("--limit", type=click.IntRange(1, MOST), default=50, show_default=True, help=texts.LIMIT_HELP)
    @in_project
    @printing
    def list_verb(  # noqa: PLR0917  # its options, which click hands over by name
        shell: Shell, text: str, as_of: str | None, everything: bool, limit: int, project: str, as_json: bool
    ) -> None:
        with shell.client() as client:
            place = projects.called(client, project)
            call = graph_calls.items(
                client, kind, text=text, as_of=as_of, everything=everything, limit=limit, project=place.spelled
            )
            found = client.body_of(call)
        if as_json:
            shell.print_json(found)
            return
        items: list[Json] = found["items"]
        if not items:
            shell.print(_nothing(kind, place.name, shell, is_narrowed=bool(text or as_of)))
            return
        shell.print([_line(item) for item in items])
        listed = graph_texts.LISTED.format(count=counted(len(items), graph_texts.ONE[kind], kind), project=place.name)
        shell.print([shell.out.dim(listed)])

    return list_verb


def _show_verb() -> click.Command:
    @click.command("show", help=graph_texts.SHOW_HELP)
    @click.argument("item_id")
    @in_project
    @printing
    def show_verb(shell: Shell, item_id: str, project: str, as_json: bool) -> None:
        item = _asked(shell, item_id, project, lambda client, named: graph_calls.item(client, item_id, project=named))
        if as_json:
            shell.print_json(item)
            return
        shell.print([_line(item)])
        fields = {name: value for name, value in item.items() if name not in {"id", "kind", "evidence", "validity"}}
        fields |= item.get("validity") or {}
        shell.print([_field(name, _shown(value)) for name, value in fields.items() if value])
        shell.print([shell.out.dim(counted(len(item["evidence"]), *graph_texts.EVENTS))])

    return show_verb


def _edit_verb(kind: str) -> click.Command:
    @click.command("edit", help=graph_texts.EDIT_HELP[kind])
    @click.argument("item_id")
    @in_project
    @printing
    def edit_verb(shell: Shell, item_id: str, project: str, as_json: bool, **changes: Any) -> None:
        wanted = {EDITED.get(name, name): value for name, value in changes.items() if value not in {None, ()}}
        if not wanted:
            options = " or ".join(option.opts[0] for option in _options(kind))
            raise Failed(graph_texts.NOTHING_TO_CHANGE.format(options=options), exit_code=2)
        item = _asked(
            shell, item_id, project, lambda client, named: graph_calls.edit(client, item_id, project=named, **wanted)
        )
        if as_json:
            shell.print_json(item)
        else:
            shell.print([_line(item)])

    edit_verb.params += _options(kind)
    return edit_verb


def _options(kind: str) -> list[click.Option]:
    """Of what may be changed."""
    return [
        click.Option([f"--{name}"], help=text, multiple=name in EDITED, type=typed)
        for name, text in graph_texts.CHANGES[kind].items()
    ]


def _forget_verb() -> click.Command:
    @click.command("forget", help=graph_texts.FORGET_HELP)
    @click.argument("item_id")
    @in_project
    @printing
    def forget_verb(shell: Shell, item_id: str, project: str, as_json: bool) -> None:
        done = _asked(shell, item_id, project, lambda client, named: graph_calls.forget(client, item_id, project=named))
        if as_json:
            shell.print_json(done)
        else:
            shell.print([graph_texts.FORGOTTEN.format(id=item_id)])

    return forget_verb


def _asked(shell: Shell, item_id: str, project: str, call: Callable[[Any, str], Any]) -> Json:
    with shell.client() as client:
        place = projects.called(client, project)
        try:
            answer: Json = client.body_of(call(client, place.spelled))
        except RequestRefused as error:
            if error.status != UNKNOWN:
                raise
            raise Failed(graph_texts.UNKNOWN.format(project=place.name, id=plain(item_id))) from error
    return answer


def _nothing(kind: str, project: str, shell: Shell, *, is_narrowed: bool) -> list[str]:
    if is_narrowed:
        return [graph_texts.NONE_LIKE_IT.format(kind=kind, project=project)]
    return [graph_texts.NONE.format(kind=kind, project=project), shell.out.dim(graph_texts.NONE_HINT)]


def _line(item: Json) -> str:
    """Its id, and what it says, on one line; of a fact that does not hold, why."""
    said = plain(" ".join(_said(item).split()))
    end = (item.get("validity") or {}).get("valid_until")
    mark = graph_texts.ENDED.format(day=end[:DAY]) if end else graph_texts.CANDIDATE
    return f"{item['id']}  {said}" + (f"  ({mark})" if end or item.get("is_candidate") else "")


def _said(item: Json) -> str:
    match item["kind"]:
        case "facts":
            return f"{item['subject']} {item['predicate'].replace('_', ' ')} {item['object']}"
        case "procedures":
            return f"{item['name']}: {' → '.join(item['steps'])}"
        case "preferences":
            return f"{item['category']}: {item['value']}"
        case _:
            return f"{item['name']} ({item['type']})"


def _field(name: str, value: str) -> str:
    """A field; what else stands on lines of its own is no field."""
    return f"  {name.replace('_', ' '):18}" + plain(value).replace("\n", "\n" + " " * 20)


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


entities_verb = _group("entities")
facts_verb = _group("facts")
procedures_verb = _group("procedures")
preferences_verb = _group("preferences")
