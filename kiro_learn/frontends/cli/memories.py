"""The verb memories: list, show, edit, history, undo, forget; pin, unpin, helped, wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import click

from kiro_learn.client import calls, project_calls
from kiro_learn.client.building import Call, Filters, Json, RequestRefused
from kiro_learn.client.results import FeedbackCounts
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import memory_screen, projects, record_ids, replacement_screen, texts
from kiro_learn.frontends.cli.options import in_projects, printing, typed
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.model.namespace import actor_id_in

CHANGES = {
    "title": "One line that can be understood without the rest.",
    "summary": "The whole new summary.",
    "text": "The whole new captured text; an empty one removes it.",
    "fact": "A fact; may be given several times; replaces all facts it has.",
    "concept": "A word to find it by; given and replaced as --fact.",
    "file": "A file that it is about; given and replaced as --fact.",
}

BECAME = tuple(name for name in FeedbackCounts._fields if name != "factor")
"""The names of the feedback that a memory may have got."""

LISTS = {"fact": "facts", "concept": "concepts", "file": "files"}
"""Options that may be repeated, and the name of the field that holds all their values."""


@click.group("memories", no_args_is_help=False)
def memories_verb() -> None:
    """List, show, edit, pin or forget memories, or undo a merge."""


@memories_verb.command("list")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help=texts.LIMIT_HELP)
@click.option("--all", "show_all", is_flag=True, help="List all memories.")
@click.option("--stale", is_flag=True, help="Only memories that cite files which are gone or have changed.")
@click.option("--branch", metavar="NAME", type=typed, help=texts.ON_BRANCH_HELP)
@click.option("--pinned", is_flag=True, help="Only pinned memories.")
@in_projects
@printing
def list_verb(
    shell: Shell,
    *,
    limit: int,
    show_all: bool,
    stale: bool,
    branch: str | None,
    pinned: bool,
    project: str,
    everywhere: bool,
) -> None:
    """List memories, newest first."""
    most = None if show_all else limit
    if branch or pinned:
        wanted: Filters = {"branch": branch, "pinned": pinned or None, "stale": stale or None}
        _list_wanted(shell, wanted, most, project, everywhere=everywhere)
        return
    if stale:
        _list_stale(shell, most, project, everywhere=everywhere)
        return
    with shell.client() as client:
        place = None if everywhere else projects.meant(client, project)
        ask = partial(client.memories, namespace=None if place is None else place.namespace)
        page = record_ids.page_of(ask, most)
        is_empty = place is not None and not page["total"] and not shell.as_json
        moved = projects.perhaps_moved(client, project) if is_empty else []
    name = texts.ALL_PROJECTS if place is None else place.name
    shell.answer(
        page,
        lambda: [
            *memory_screen.rows(page["items"], shell.now(), shell.out),
            *memory_screen.listed(len(page["items"]), page["total"], name, shell.out),
            *memory_screen.perhaps_moved(moved, shell.out),
        ],
    )


def _list_wanted(shell: Shell, wanted: Filters, limit: int | None, project: str, *, everywhere: bool) -> None:
    """List the newest ``limit`` memories, or all, that fit the filters."""
    with shell.client() as client:
        places = projects.places(client, project, everywhere=everywhere)
        most = None if limit is None else limit + 1  # one more, to see whether there are more
        asks = [partial(project_calls.observations, client, project=place.namespace, **wanted) for place in places]
        found = [item for ask in asks for item in client.listed(ask, most)["items"]]
    items = sorted(found, key=lambda item: (item["created_at"], item["record_id"]), reverse=True)[:limit]
    name = texts.ALL_PROJECTS if everywhere else places[0].name
    shell.answer(
        {"items": items},
        lambda: [
            *memory_screen.rows(items, shell.now(), shell.out),
            *memory_screen.listed_some(len(items), name, shell.out, is_more=len(found) > len(items)),
        ],
    )


def _list_stale(shell: Shell, limit: int | None, project: str, *, everywhere: bool) -> None:
    with shell.client() as client:
        places = projects.places(client, project, everywhere=everywhere)
        pages = [record_ids.page_of(partial(client.stale_memories, place.namespace), limit) for place in places]
    items = [item for page in pages for item in page["items"]][:limit]
    total = sum(page["total"] for page in pages)
    if shell.as_json:
        shell.print_json({"items": items, "total": total, "limit": limit or len(items), "offset": 0})
        return
    name = texts.ALL_PROJECTS if everywhere else places[0].name
    shell.print(memory_screen.stale_rows(items, shell.now(), shell.out))
    if all(page["folder"] is None for page in pages):
        shell.print([f"No folder of {name} is known, so the files that its memories cite cannot be checked."])
        return
    shell.print(memory_screen.listed_stale(len(items), total, name, shell.out))


@memories_verb.command("show")
@click.argument("memory")
@in_projects
@printing
def show_verb(shell: Shell, memory: str, project: str, everywhere: bool) -> None:
    """Show one memory, by its id or the end of its id."""
    with shell.client() as client:
        record = record_ids.found(client, memory, projects.places(client, project, everywhere=everywhere))
        if shell.as_json:
            shell.print_json(record)
            return
        name = _project_of(client, record)
        change = replacement_screen.replacement_of(client.history(record["record_id"]))
        teachers = _teachers(client, record)
    changed = None
    if change:
        named = record_ids.to_type(record["record_id"], memory, is_elsewhere=everywhere or bool(project))
        command = f"kiro-learn memories history {named}"
        changed = memory_screen.Changed(replacement_screen.how_it_came(change), command)
    shell.print(memory_screen.memory(record, name, shell.now(), shell.out, changed=changed, teachers=teachers))


def _teachers(client: Client, record: Mapping[str, Any]) -> list[str]:
    """The people whose agents reported what it was learned from; empty if only the project's owner did."""
    teachers = client.body_of(project_calls.sources(client, record["record_id"]))["told_by"]
    return [] if set(teachers) <= {actor_id_in(record["namespace"])} else teachers


@memories_verb.command("edit")
@click.argument("memory")
@in_projects
@printing
def edit_verb(shell: Shell, memory: str, project: str, everywhere: bool, **changes: Any) -> None:
    """Correct a memory; the old one is kept, and undo puts it back."""
    wanted = {LISTS.get(name, name): value for name, value in changes.items() if value not in {None, ()}}
    if not wanted:
        options = ", ".join(f"--{name}" for name in CHANGES)
        raise Failed(f"nothing to change: say it with {options}", exit_code=2)
    with shell.client() as client:
        old = record_ids.found(client, memory, projects.places(client, project, everywhere=everywhere))
        answer = client.body_of(calls.edit(client, old["record_id"], project=old["namespace"], **wanted))
    if shell.as_json:
        shell.print_json(answer)
        return
    shell.print(memory_screen.edited(answer["id"], answer["replaced"], shell.out))
    named = record_ids.to_type(answer["id"], memory, is_elsewhere=everywhere or bool(project))
    shell.hint(f"kiro-learn memories undo {named}")


edit_verb.params += [click.Option([f"--{name}"], help=text, multiple=name in LISTS) for name, text in CHANGES.items()]


@memories_verb.command("history")
@click.argument("memory")
@in_projects
@printing
def history_verb(shell: Shell, memory: str, project: str, everywhere: bool) -> None:
    """Show what a memory replaced."""
    with shell.client() as client:
        record = record_ids.found(client, memory, projects.places(client, project, everywhere=everywhere))
        history = client.history(record["record_id"])
    named = record_ids.to_type(record["record_id"], memory, is_elsewhere=everywhere or bool(project))
    undo = f"kiro-learn memories undo {named}"
    shell.answer(history, lambda: replacement_screen.history(record, history, undo, shell.now(), shell.out))


@memories_verb.command("undo")
@click.argument("memory")
@click.option("--yes", is_flag=True, help=texts.YES_HELP)
@in_projects
@printing
def undo_verb(shell: Shell, *, memory: str, yes: bool, project: str, everywhere: bool) -> None:
    """Put back what a memory replaced, and remove that memory."""
    with shell.client() as client:
        record = record_ids.found(client, memory, projects.places(client, project, everywhere=everywhere))
        if not yes:
            shell.say_before_asking(_to_undo(client, record, shell))
        if not shell.confirm("Undo this?", flag_given=yes):
            raise Failed("nothing was undone")
        answer = client.undo(record["record_id"])
    shell.answer(answer, lambda: replacement_screen.undone(answer, shell.out))


@memories_verb.command("forget")
@click.argument("memory", nargs=-1, required=True, metavar="MEMORY...")
@click.option("--same-words", "with_same", is_flag=True, help="Also forget memories that hold the same words.")
@click.option("--yes", is_flag=True, help=texts.YES_HELP)
@in_projects
@printing
def forget_verb(
    shell: Shell, *, memory: tuple[str, ...], with_same: bool, yes: bool, project: str, everywhere: bool
) -> None:
    """Forget memories everywhere; that cannot be undone."""
    with shell.client() as client:
        places = projects.places(client, project, everywhere=everywhere)
        named = (record_ids.found_if_readable(client, each, places) for each in memory)
        by_id = {each["record_id"]: each for each in named}
        same = _with_same_words(client, by_id)
        if with_same:
            by_id, same = by_id | same, {}
        if not yes:
            readable = [each for each, record in by_id.items() if record_ids.is_readable(record)]
            replaced = {each: replacement_screen.replaced_count(client.history(each)) for each in readable}
            goes = memory_screen.to_forget(list(by_id.values()), replaced, list(same.values()), shell.err)
            shell.say_before_asking(goes)
        if not shell.confirm(texts.FORGET_QUESTION, flag_given=yes):
            raise Failed(texts.NOT_FORGOTTEN)
        for record_id in by_id:
            client.forget(record_id)
    shell.answer(
        {"forgotten": list(by_id), "same_words": list(same)},
        lambda: memory_screen.forgotten(len(by_id), list(same), shell.out),
    )


def _with_same_words(client: Client, named: Mapping[str, Json]) -> dict[str, Json]:
    """By id, the memories that hold the words of those in ``named``, without these."""
    readable = [each for each, record in named.items() if record_ids.is_readable(record)]
    found = [each for one in readable for each in client.body_of(calls.same_words(client, one))["items"]]
    return {each["record_id"]: each for each in found if each["record_id"] not in named}


def _project_of(client: Client, record: Json) -> str:
    """The name of the project that a memory is in."""
    return next((each.name for each in projects.all_of(client) if each.namespace == record["namespace"]), "")


def _to_undo(client: Client, record: Json, shell: Shell) -> list[str]:
    """What an undo would do.

    Raises:
      Failed: the memory replaced nothing.
    """
    history, name = client.history(record["record_id"]), _project_of(client, record)
    if replacement_screen.is_pinned_last(history):
        return replacement_screen.pin_to_undo(history, name, shell.now(), shell.err)
    replacement = replacement_screen.replacement_of(history)
    if replacement is None:
        tail = record_ids.short(record["record_id"])
        raise Failed(f"{tail} replaced nothing", hint="A memory that replaced nothing can only be forgotten.")
    others = [each for each in replacement["replacing"] if each != record["record_id"]]
    undo = replacement_screen.Undo(replacement, [record, *_those_there(client, others)], name)
    return replacement_screen.to_undo(undo, shell.now(), shell.err)


def _those_there(client: Client, ids: Sequence[str]) -> Iterator[Json]:
    """The records that still exist. If one was replaced, the daemon refuses the undo and names the replacement."""
    for each in ids:
        try:
            yield client.memory(each)
        except RequestRefused as error:
            if error.status != record_ids.UNKNOWN:
                raise


# A person's word on a memory: that it is always to be told, or whether it helped.


@memories_verb.command("pin")
@click.argument("memory")
@in_projects
@printing
def pin_verb(shell: Shell, *, memory: str, project: str, everywhere: bool) -> None:
    """Pin a memory: every session is told it at its start. It is never cut by age."""
    _, answer = _said_of(shell, memory, project_calls.pin, project, everywhere=everywhere)
    shell.answer(answer, lambda: [f"{shell.out.mark('ok')} Pinned: {answer['title']}"])


@memories_verb.command("unpin")
@click.argument("memory")
@in_projects
@printing
def unpin_verb(shell: Shell, *, memory: str, project: str, everywhere: bool) -> None:
    """Take the pin of a memory away."""
    _, answer = _said_of(shell, memory, project_calls.unpin, project, everywhere=everywhere)
    shell.answer(answer, lambda: [f"{shell.out.mark('ok')} No longer pinned: {answer['title']}"])


@memories_verb.command("helped")
@click.argument("memory")
@in_projects
@printing
def helped_verb(shell: Shell, *, memory: str, project: str, everywhere: bool) -> None:
    """Say that a memory helped: it is told a little sooner."""
    helped = partial(project_calls.judge, feedback="helped")
    record, counts = _said_of(shell, memory, helped, project, everywhere=everywhere)
    shell.answer(counts, lambda: [_became(record, counts, shell)])


@memories_verb.command("wrong")
@click.argument("memory")
@in_projects
@printing
def wrong_verb(shell: Shell, *, memory: str, project: str, everywhere: bool) -> None:
    """Say that a memory is wrong: it is told a little later. To correct it: memories edit."""
    wrong = partial(project_calls.judge, feedback="wrong")
    record, counts = _said_of(shell, memory, wrong, project, everywhere=everywhere)
    shell.answer(counts, lambda: [_became(record, counts, shell)])


def _said_of(
    shell: Shell, memory: str, call: Callable[[Client, str], Call[Any]], project: str, *, everywhere: bool
) -> tuple[Json, Json]:
    """Make the call for the named memory; returns the memory, and the answer."""
    with shell.client() as client:
        record = record_ids.found(client, memory, projects.places(client, project, everywhere=everywhere))
        return record, client.body_of(call(client, record["record_id"]))


def _became(record: Json, counts: Json, shell: Shell) -> str:
    known = ", ".join(f"{counts[name]} {name}" for name in BECAME if counts[name])
    return f"{shell.out.mark('ok')} {record['title']}: {known}, score x{counts['factor']:.2f}"
