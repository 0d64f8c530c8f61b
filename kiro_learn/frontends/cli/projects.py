"""Finds the project that is meant: that of the current folder, or one named by its folder's name, path or id."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import texts

SHOWN_MOVED = 3


class Project(NamedTuple):
    """One project, as people and as the API call it."""

    name: str
    namespace: str
    project_id: str
    is_named: bool = False
    """True: the project was named; False: it is that of the current folder."""


class Called(NamedTuple):
    """One project, with the name for people and the one for a call of the SDK."""

    name: str
    spelled: str
    """A folder in the project, which the daemon may not know yet; or its namespace."""


def called(client: Client, named: str) -> Called:
    """The project that ``named`` means, for a call of the SDK; empty means that of the current folder.

    Raises:
      RequestRefused: no project has this name, or several have it.
    """
    folder = folder_in(named)
    project = meant(client, named)
    return Called(project.name, os.path.abspath(folder) if folder else project.namespace)  # noqa: PTH100  # Path.absolute() leaves ".." in


def meant(client: Client, named: str) -> Project:
    """The project that ``named`` means by the daemon's rule; empty means that of the current folder.

    Raises:
      RequestRefused: no project has this name, or several have it.
    """
    folder = folder_in(named)
    found = _of_answer(client.project(named if folder is None else os.path.abspath(folder)))  # noqa: PTH100  # as above
    return found._replace(is_named=bool(named))


def folder_in(named: str) -> Path | None:
    """The folder that ``named`` spells, or the current one if it is empty; None if it is a name, id or namespace."""
    is_namespace = named.startswith("/actor/") and named.endswith("/")
    if not named or (not is_namespace and (named.startswith((".", "~")) or "/" in named)):
        return Path(named or ".").expanduser()
    return None


def all_of(client: Client) -> list[Project]:
    """All projects of which something is known."""
    found = client.stats()["projects"]
    return [Project(name_of(each["display_name"]), each["namespace"], each["project_id"]) for each in found]


def places(client: Client, named: str, *, everywhere: bool) -> list[Project]:
    """Every project, or the one that ``named`` means."""
    return all_of(client) if everywhere else [meant(client, named)]


def perhaps_moved(client: Client, named: str) -> list[str]:
    """Commands that move in the memories of the project's folder from before it was renamed or moved.

    There is one for each project with memories whose folder is gone, if it had the same parent folder or the same name.
    """
    asked = folder_in(named)
    folder = client.project(os.path.abspath(asked))["folder"] if asked else None  # noqa: PTH100  # as above
    if not folder:
        return []
    here = Path(folder)
    others = [Path(each["folder"]) for each in client.stats()["projects"] if each["memory_count"] and each["folder"]]
    gone = [each for each in others if (each.parent == here.parent or each.name == here.name) and not each.exists()]
    return [shlex.join(["kiro-learn", "projects", "merge", str(each), str(here)]) for each in gone[:SHOWN_MOVED]]


def title(projects: Sequence[Project]) -> str:
    """The name for all these projects together."""
    return projects[0].name if len(projects) == 1 else texts.ALL_PROJECTS


def _of_answer(found: dict[str, Any]) -> Project:
    """The project of an answer; if others have the same name, they are shown with it."""
    others = f" (not {', '.join(found['namesakes'])})" if found["namesakes"] else ""
    return Project(f"{found['project']}{others}", found["namespace"], found["project_id"])


def name_of(path: str) -> str:
    """The display name of the project in this folder."""
    return "~" if path == str(Path.home()) else Path(path).name or path
