"""Which project is meant: that of the current folder, or one named by its folder's name, its path or its id."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.shell import Failed

SHORTEST_ID = 12
"""Characters of an id that name a project, as lists show it."""


class Project(NamedTuple):
    """One project, as people and as the API call it."""

    name: str
    namespace: str
    project_id: str


class Called(NamedTuple):
    """One project, as people call it, and as a call of the SDK names it."""

    name: str
    spelled: str
    """A folder in it, which the daemon may not know yet; or its name, or its namespace."""


def called(client: Client, named: str) -> Called:
    """The project that ``named`` means, for a call of the SDK; empty means that of the current folder.

    Raises:
      Failed: none is called so, or several are.
    """
    folder = folder_in(named)
    if folder is not None:
        return Called(at(client, folder).name, os.path.abspath(folder))  # noqa: PTH100  # as below
    project = meant(client, named)
    # Answers name a project as they were asked about it, so a name is better than a namespace.
    return Called(project.name, named if named == project.name else project.namespace)


def meant(client: Client, named: str) -> Project:
    """The project that ``named`` means; empty means that of the current folder.

    Raises:
      Failed: none is called so, or several are.
    """
    folder = folder_in(named)
    if folder is not None:
        return at(client, folder)
    known = [project for project in client.stats()["projects"] if _is_called(project, named)]
    if len(known) == 1:
        return _of(known[0])
    if known:
        names = ", ".join(project["display_name"] for project in known)
        message = texts.AMBIGUOUS_PROJECT.format(name=named, count=len(known))
        raise Failed(message, hint=texts.AMBIGUOUS_PROJECT_HINT.format(names=names))
    names = ", ".join(project.name for project in all_of(client))
    hint = texts.UNKNOWN_PROJECT_HINT.format(names=names) if names else texts.NO_PROJECTS_HINT
    raise Failed(texts.UNKNOWN_PROJECT.format(name=named), hint=hint)


def folder_in(named: str) -> Path | None:
    """The folder that ``named`` spells, the current one if it is empty; None if it is the name or id of a project."""
    if not named or named.startswith((".", "~")) or "/" in named:
        return Path(named or ".").expanduser()
    return None


def at(client: Client, folder: Path) -> Project:
    """The project that ``folder`` is in."""
    found = client.project_of(os.path.abspath(folder))  # noqa: PTH100  # Path.absolute() leaves ".." in
    return Project(name_of(found["project_path"]), found["namespace"], found["project_id"])


def all_of(client: Client) -> list[Project]:
    """Every project that something is known of."""
    return [_of(project) for project in client.stats()["projects"]]


def title(projects: Sequence[Project]) -> str:
    """What to call them together."""
    return projects[0].name if len(projects) == 1 else texts.ALL_PROJECTS


def _of(project: dict[str, Any]) -> Project:
    return Project(name_of(project["display_name"]), project["namespace"], project["project_id"])


def name_of(path: str) -> str:
    """What people call the project that lies there."""
    return "~" if path == str(Path.home()) else Path(path).name or path


def _is_called(project: dict[str, Any], named: str) -> bool:
    is_id = len(named) >= SHORTEST_ID and project["project_id"].startswith(named)
    return is_id or named in {project["display_name"], name_of(project["display_name"])}
