"""The namespace, which is the wall between projects: ``/actor/<actor_id>/project/<project_id>/``. Also a project's
name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import PurePath
from typing import Any, NewType
from urllib.parse import quote, unquote

import attrs

Namespace = NewType("Namespace", str)

MAX_ACTOR_CHARACTERS = 384
MAX_PROJECT_CHARACTERS = 128
NAMESPACE_PATTERN = re.compile(
    rf"/actor/([^/\x00-\x1f\x7f]{{1,{MAX_ACTOR_CHARACTERS}}})/project/([^/\x00-\x1f\x7f]{{1,{MAX_PROJECT_CHARACTERS}}})/"
)
PROJECT_NAME = re.compile(rf"(?![\s.]*\Z)[^/\x00-\x1f\x7f]{{1,{MAX_PROJECT_CHARACTERS}}}")
"""Names that people give. Not blank, and not ``.`` or ``..``, which name a folder that only the caller knows."""
_ANY_NAMESPACE = re.compile(r"/actor/([^/]+)/project/([^/]+)/")
_UNWANTED = re.compile(r"[\x00-\x1f\x7f]")

PROJECT_MARKERS = (
    ".kiro",
    ".git",
    "package.json",
    "Cargo.toml",
    "pyproject.toml",
    "setup.py",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "Gemfile",
    "composer.json",
    "mix.exs",
    "deno.json",
    "deno.jsonc",
)
"""A folder that holds any of these is the root of a project."""


@attrs.frozen
class Project:
    """Where an agent works, and the namespace its memories belong to."""

    namespace: Namespace
    project_id: str
    project_path: str
    branch: str | None = None
    """The checked-out branch of the folder that was looked up; that may be another worktree of the project."""
    repository_path: str = ""
    """The worktree around the folder that was looked up; empty if there is none."""


def namespace_of(actor_id: str, project_id: str) -> Namespace:
    """The namespace of one user's work on one project.

    ``/``, ``%`` and control characters in an actor's name are percent-encoded, so that two names never become one.
    """
    return Namespace(f"/actor/{_encoded(actor_id)}/project/{project_id}/")


def _encoded(actor_id: str) -> str:
    return re.sub(r"[/%\x00-\x1f\x7f]", lambda found: quote(found.group(), safe=""), actor_id)


def actor_id_in(namespace: Namespace) -> str:
    """The actor whose work the namespace holds."""
    return unquote(namespace.removeprefix("/actor/").partition("/")[0])


def project_id_in(namespace: Namespace) -> str:
    """The project id. A stored namespace is not checked: the first kiro-learn allowed longer ones than we do."""
    return namespace.rstrip("/").rpartition("/")[2]


def within_our_limits(namespace: str, *, actor_id: str) -> Namespace:
    """A namespace of the first kiro-learn in the form that hooks of ``actor_id`` use today.

    The first kiro-learn did not encode the actor's name, and allowed parts of any length; a part that is too long
    becomes its hash. A text that is no namespace stays as it is.
    """
    found = _ANY_NAMESPACE.fullmatch(namespace)
    if found is None:
        return Namespace(namespace)
    actor, project_id = found.groups()
    encoded = _encoded(actor_id) if actor == actor_id else actor
    ours = Namespace(f"/actor/{encoded}/project/{project_id}/")
    if NAMESPACE_PATTERN.fullmatch(ours):
        return ours
    short = (_short(_encoded(actor), MAX_ACTOR_CHARACTERS), _short(project_id, MAX_PROJECT_CHARACTERS))
    return Namespace("/actor/{}/project/{}/".format(*short))


def _short(part: str, most_characters: int) -> str:
    fits = len(part) <= most_characters and _UNWANTED.search(part) is None
    return part if fits else hashlib.sha256(part.encode("utf-8", "surrogateescape")).hexdigest()


def project_at(root: PurePath, *, actor_id: str) -> Project:
    path = str(root)
    project_id = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()
    return Project(namespace_of(actor_id, project_id), project_id, path)


def nearest_project_root(folder: PurePath, *, home: PurePath, has_marker: Callable[[PurePath], bool]) -> PurePath:
    """The nearest folder from ``folder`` upwards that ``has_marker``, except the root of the file system.

    If there is none, it is ``home`` (the global project) for a folder inside of it, and ``folder`` itself elsewhere.
    Both paths are real paths. Inside ``home`` the search stops below it, since a marker in the home folder itself would
    make one project of everything.
    """
    for place in (folder, *folder.parents):
        if place == home:
            return home
        if place != place.parent and has_marker(place):
            return place
    return folder


SHORT_ID_LENGTH = 12

_HASH_LENGTH = 64
"""The length of the id of a folder's project. Any other id is the name that a program gave its project."""

EVENTS_WITH_FOLDER = 200
"""How many of a project's newest events are searched for its folder: events of hooks all name it, others never do."""


def display_name(project_id: str, project_path: str | None, *, user_home: PurePath | None) -> str:
    """The project's folder, relative to the user's home if inside; without a folder its id, cut if it is a hash."""
    if project_path is None:
        return project_id[:SHORT_ID_LENGTH] if len(project_id) == _HASH_LENGTH else project_id
    if user_home is None:
        return project_path
    return project_path.removeprefix(f"{user_home}/")


# Names of branches, as git has them.

MAX_BRANCH = 255
BRANCH_PATTERN = re.compile(rf"(?!\.invalid\Z)[^\s\x00-\x20~^:?*\[\\\x7f]{{1,{MAX_BRANCH}}}")
"""The rules of git-check-ref-format(1) that matter here. ``.invalid`` stands for a name that a file cannot hold."""

USUAL_BRANCHES = ("main", "master", "trunk")
"""Names of the default branch if nothing else names it."""

NO_BRANCH = "HEAD"
"""The name that agents and git write if no branch is checked out."""


def branch_named(name: Any) -> str | None:
    """``name`` if it is valid for a branch; else None."""
    is_one = isinstance(name, str) and name != NO_BRANCH and name.isprintable() and BRANCH_PATTERN.fullmatch(name)
    return name if is_one else None


# Pauses, in which nothing is taken in and nothing is told.


@attrs.frozen
class Pause:
    """While it lasts, hooks of a project, or of one session in it, are dropped, and its prompts are told nothing."""

    namespace: Namespace
    session_id: str | None
    """None: the whole project."""
    since: datetime
