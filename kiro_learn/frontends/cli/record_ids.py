"""Ids as people use them: the end of an id is its random part, so a unique end is enough to name it."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from kiro_learn.client.building import Json, RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.projects import Project, title
from kiro_learn.frontends.cli.shell import Failed
from kiro_learn.frontends.cli.terminal import cut, plain
from kiro_learn.model.ids import LEAST_ENDING, ending_of
from kiro_learn.model.record import EDITED

SHOWN = 6
PAGE = 500
CLOSEST_WIDTH = 60
MOST_HISTORIES = 50
"""The newest corrected memories whose history is searched if an id is unknown."""
UNKNOWN = 404
SERVER_ERROR = 500

_FULL = re.compile(r"mr_[0-9A-Z]{26}")


class Sort(NamedTuple):
    """The kind of things that some ids belong to."""

    one: str
    """The name for one of them."""
    key: str
    """The field with the id."""
    said: Callable[[Json], str]
    listing: str
    """The command that lists them."""


MEMORIES = Sort("memory", "record_id", lambda record: str(record["title"]), "kiro-learn memories list")


def short(record_id: str) -> str:
    return f"\N{HORIZONTAL ELLIPSIS}{record_id[-SHOWN:]}"


def to_type(record_id: str, asked: str, *, is_elsewhere: bool) -> str:
    """The id to type in a command that finds it by the same options as ``asked``: its end, or else all of it."""
    return record_id if is_elsewhere or _FULL.fullmatch(asked) else record_id[-SHOWN:]


def _memories_of(client: Client, projects: Sequence[Project]) -> list[Json]:
    """All memories of these projects, newest first in each."""
    pages = [page_of(partial(client.memories, namespace=project.namespace), None) for project in projects]
    return [record for page in pages for record in page["items"]]


def page_of(ask: Callable[..., Json], limit: int | None) -> Json:
    """One page of ``limit`` memories, in the form of the API; all memories without a limit."""
    page = ask(limit=min(limit or PAGE, PAGE))
    wanted = page["total"] if limit is None else min(limit, page["total"])
    for offset in itertools.count(len(page["items"]), PAGE):
        if offset >= wanted:
            break
        page["items"] += ask(limit=min(PAGE, wanted - offset), offset=offset)["items"]
    return {**page, "limit": len(page["items"])} if limit is None else page


def found(client: Client, ending: str, projects: Sequence[Project]) -> Json:
    """The memory with this id, or the only one in ``projects`` whose id ends with it.

    A whole id is looked for everywhere, unless a project is named.

    Raises:
      Failed: there is none, or there are several. If the memory was corrected, the error names its successor.
    """
    if _FULL.fullmatch(ending):
        return _by_id(client, ending, projects)
    insist_it_is_long(ending, MEMORIES)
    looked_at = _memories_of(client, projects)
    end = ending_of(ending)
    if not any(record["record_id"].endswith(end) for record in looked_at):
        _name_successor(client, end, looked_at)
    return only_one(ending, looked_at, MEMORIES, title(projects))


def found_if_readable(client: Client, ending: str, projects: Sequence[Project]) -> Json:
    """Like ``found``; for a whole id with a damaged row, only ``record_id`` and a title that says so.

    Raises:
      Failed: see ``found``.
    """
    try:
        return found(client, ending, projects)
    except RequestRefused as error:
        if error.status < SERVER_ERROR:
            raise
        return {"record_id": ending, "title": texts.UNREADABLE}


def is_readable(record: Json) -> bool:
    return "namespace" in record


def insist_it_is_long(ending: str, sort: Sort) -> None:
    """Raise Failed if ``ending`` is too short to name one of many."""
    if len(ending_of(ending)) < LEAST_ENDING:
        message = f'"{plain(ending)}" is too short for an id: at least {LEAST_ENDING} characters of its end'
        raise Failed(message, hint=sort.listing, exit_code=2)


def only_one(ending: str, looked_at: Sequence[Json], sort: Sort, place: str) -> Json:
    """The only one of ``looked_at`` whose id ends with ``ending``; ``place``: where they are from.

    Raises:
      Failed: there is none, or there are several.
    """
    end = ending_of(ending)
    fitting = [each for each in looked_at if each[sort.key].endswith(end)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        message = f'"{plain(ending)}" is the end of {len(fitting)} ids in {place}'
        ids = ", ".join(each[sort.key] for each in fitting)
        raise Failed(message, hint=f"one of: {ids}")
    message = f'no {sort.one} ends in "{plain(ending)}" in {place}'
    raise Failed(message, hint=_closest(end, looked_at, sort) or sort.listing)


def _name_successor(client: Client, end: str, looked_at: Sequence[Json]) -> None:
    """Raise Failed with the successor of a memory whose id ends with ``end``, if that memory was corrected."""
    corrected = [record for record in looked_at if EDITED in record.values()]
    for record in corrected[:MOST_HISTORIES]:
        for replacement in client.history(record["record_id"])["replacements"]:
            for old in replacement["replaced"]:
                if old["record_id"].endswith(end):
                    new = record["record_id"]
                    said = (
                        f'{short(old["record_id"])} was corrected: {short(new)} "{cut(record["title"], CLOSEST_WIDTH)}"'
                    )
                    raise Failed(f"{said} replaces it", hint=f"kiro-learn memories show {new}")


def _by_id(client: Client, record_id: str, projects: Sequence[Project]) -> Json:
    try:
        record = client.memory(record_id)
    except RequestRefused as error:
        if error.status == UNKNOWN:
            _name_successor(client, record_id, _memories_of(client, projects))
            raise Failed(str(error), hint="kiro-learn memories list") from error
        raise
    named = {project.namespace for project in projects if project.is_named}
    if named and record["namespace"] not in named:
        message = f"{record_id} is not in {title(projects)}"
        raise Failed(message, hint="the same command without --project: a whole id is found everywhere")
    return record


def _closest(end: str, looked_at: Sequence[Json], sort: Sort) -> str:
    """The id that was perhaps meant, with its text; empty if none is similar."""
    by_end = {each[sort.key][-len(end) :]: each for each in looked_at}
    near = difflib.get_close_matches(end, by_end, n=1)
    if not near:
        return ""
    meant = by_end[near[0]]
    return f'closest: {short(meant[sort.key])} "{cut(sort.said(meant), CLOSEST_WIDTH)}"'
