"""Which project a call is about, and how its request is put together."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, TypeVar

from kiro_learn.client.call import LEARNING_PATIENCE_SECONDS, Call, Response, encoded, target_of
from kiro_learn.errors import InvalidRequest

T = TypeVar("T")

Named: TypeAlias = Path | str | None
"""A project: a folder in it, its name or its id; None: the client's own."""

Moment: TypeAlias = date | datetime | str
"""A day in UTC, from its midnight on as ``since`` and to its end as ``until``; a moment, in local time if it has no
zone; or either as ISO 8601."""

Types: TypeAlias = str | Collection[str] | None
"""Of memories that are wanted: one type or several; None: all of them."""


class Caller:
    """Who calls: it knows which project is meant where a call names none."""

    def __init__(self, project: Named = None) -> None:
        self._project = None if project is None else spelled(project)

    def project_named(self, project: Named = None) -> str:
        """What the daemon is told: an absolute folder, a name or an id.

        Raises:
          InvalidRequest: none is named, and the current folder is gone.
        """
        if project is not None:
            return spelled(project)
        if self._project is not None:
            return self._project
        try:
            return os.getcwd()  # noqa: PTH109  # the same, without a Path
        except FileNotFoundError as error:
            hint = "Name a project: the current folder is gone."
            raise InvalidRequest([("$.project", "is missing")], hint=hint) from error


def spelled(project: object) -> str:
    """``project`` as the daemon knows it: a folder absolute, a name or an id as it is. Raises InvalidRequest."""
    if not isinstance(project, (str, os.PathLike)) or not isinstance(folder := os.fspath(project), str):
        raise InvalidRequest([("$.project", "expected a folder, a name or an id")])
    is_folder = isinstance(project, Path) or folder.startswith((".", "~")) or "/" in folder
    if not is_folder or folder.startswith("/"):
        return folder  # a namespace begins with a slash as well, and must keep the one at its end
    return os.path.abspath(os.path.expanduser(folder))  # noqa: PTH100, PTH111  # Path.absolute() leaves ".." in


def checked_home(home: Path | str) -> Path:
    """``home`` as a path. Raises InvalidRequest: it is none."""
    try:
        return Path(home)
    except TypeError as error:
        raise InvalidRequest([("$.home", "expected the folder of a home")]) from error


def get_call(path: str, read: Callable[[Response], T], **query: object) -> Call[T]:
    """With a query of what is given; None means not given."""
    return Call("GET", target_of(path, **query), read)


def post_call(path: str, read: Callable[[Response], T], *, is_long: bool = False, **fields: Any) -> Call[T]:
    """With a body of the fields that say something. ``is_long``: the answer comes when all is done."""
    body = encoded({name: value for name, value in fields.items() if value not in (None, "", [])})
    patience = LEARNING_PATIENCE_SECONDS if is_long else None
    return Call("POST", path, read, body, patience_seconds=patience, is_repeatable=is_long)


def listed(items: object) -> Any:
    """``items`` as JSON has them; what is no list stays as it is, so that the daemon refuses it: a text, above all."""
    is_no_list = isinstance(items, (str, bytes, Mapping))
    return list(items) if isinstance(items, Collection) and not is_no_list else items


class Filters(TypedDict, total=False):
    """Which memories are wanted; what is left out does not matter."""

    type: Types
    """One type or several."""
    since: Moment | None
    """Made then or later."""
    until: Moment | None
    """Made before; a day is part of it."""
    session: str | None
    """Learned from this session."""
    concept: str | None
    """With this concept."""
    file: str | None
    """Of this file."""
    stale: bool | None
    """Whether a file that it cites is gone or changed."""
    branch: str | None
    """Learned on this branch, which is not merged."""
    pinned: bool | None
    """Whether it is pinned."""


def written_filters(filters: Filters) -> dict[str, object]:
    """As parameters of a request.

    Raises:
      TypeError: it has a name that is no filter.
    """
    if unknown := filters.keys() - Filters.__annotations__.keys():
        raise TypeError(
            f"unexpected keyword argument {min(unknown)!r}; filters are {', '.join(Filters.__annotations__)}"
        )
    return {
        "type": written_types(filters.get("type")),
        "since": written_moment(filters.get("since")),
        "until": written_moment(filters.get("until")),
        "session": filters.get("session"),
        "concept": filters.get("concept"),
        "file": filters.get("file"),
        "stale": _written_flag(filters.get("stale")),
        "branch": filters.get("branch"),
        "pinned": _written_flag(filters.get("pinned")),
    }


def _written_flag(flag: bool | None) -> str | None:
    return None if flag is None else "true" if flag else "false"


def written_types(types: Types) -> str | list[str] | None:
    """``types`` as a query has them; no type at all is what none of them asks for."""
    return None if types is None else listed(types) or None


def written_moment(moment: Moment | None) -> str | None:
    """``moment`` as ISO 8601, with an offset if it has a time."""
    if isinstance(moment, datetime):
        try:
            return (moment if moment.tzinfo else moment.astimezone()).isoformat()
        except (OverflowError, ValueError):
            return moment.isoformat()  # at an end of the calendar: the daemon says that the offset is missing
    return moment.isoformat() if isinstance(moment, date) else moment
