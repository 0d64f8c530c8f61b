"""Ids as people use them: the end of a memory's id is its random part, and a unique end names it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from kiro_learn.client.call import RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.projects import Project, title
from kiro_learn.frontends.cli.shell import Failed
from kiro_learn.frontends.cli.terminal import plain

SHOWN = 6
LEAST = 4
PAGE = 500
UNKNOWN = 404

_FULL = re.compile(r"mr_[0-9A-Z]{26}")


def short(record_id: str) -> str:
    return texts.SHORT_ID.format(tail=record_id[-SHOWN:])


def to_type(record_id: str, asked: str, *, is_elsewhere: bool) -> str:
    """The id for a command that works where ``asked`` did without another option: its end, or else all of it."""
    return record_id if is_elsewhere or _FULL.fullmatch(asked) else record_id[-SHOWN:]


def memories_of(client: Client, project: Project) -> Iterator[dict[str, Any]]:
    """All of a project's memories, newest first."""
    offset, total = 0, 1
    while offset < total:
        page = client.memories(namespace=project.namespace, limit=PAGE, offset=offset)
        yield from page["items"]
        offset, total = offset + PAGE, page["total"]


def found(client: Client, ending: str, projects: Sequence[Project]) -> dict[str, Any]:
    """The memory with this id, or the only one of ``projects`` whose id ends so.

    Raises:
      Failed: there is none, or there are several.
    """
    if _FULL.fullmatch(ending):
        return _by_id(client, ending)
    end = ending.lstrip(".\N{HORIZONTAL ELLIPSIS}").upper()
    if len(end) < LEAST:
        raise Failed(texts.SHORT_ENDING.format(ending=ending, least=LEAST), hint=texts.LIST_THEM, exit_code=2)
    looked_at = [record for project in projects for record in memories_of(client, project)]
    fitting = [record for record in looked_at if record["record_id"].endswith(end)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise _ambiguous(ending, fitting, projects)
    raise Failed(
        texts.UNKNOWN_ID.format(ending=ending, project=title(projects)),
        hint=_closest(end, looked_at) or texts.LIST_THEM,
    )


def _by_id(client: Client, record_id: str) -> dict[str, Any]:
    try:
        return client.memory(record_id)
    except RequestRefused as error:
        if error.status == UNKNOWN:
            raise Failed(str(error), hint=texts.LIST_THEM) from error
        raise


def _ambiguous(ending: str, fitting: Sequence[dict[str, Any]], projects: Sequence[Project]) -> Failed:
    message = texts.AMBIGUOUS_ID.format(ending=ending, count=len(fitting), project=title(projects))
    return Failed(message, hint=texts.AMBIGUOUS_ID_HINT.format(ids=", ".join(each["record_id"] for each in fitting)))


def _closest(end: str, records: Sequence[dict[str, Any]]) -> str:
    """The id that was perhaps meant, with its title; empty if none is near."""
    by_end = {record["record_id"][-len(end) :]: record for record in records}
    near = difflib.get_close_matches(end, by_end, n=1)
    if not near:
        return ""
    record = by_end[near[0]]
    return texts.CLOSEST.format(tail=short(record["record_id"]), title=plain(record["title"]))
