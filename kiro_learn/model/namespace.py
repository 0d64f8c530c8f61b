"""The wall between projects: ``/actor/<actor_id>/project/<project_id>/``."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import NewType
from urllib.parse import quote

import attrs

Namespace = NewType("Namespace", str)

NAMESPACE_PATTERN = re.compile(r"/actor/([^/\x00-\x1f\x7f]{1,384})/project/([^/\x00-\x1f\x7f]{1,128})/")

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


def namespace_of(actor_id: str, project_id: str) -> Namespace:
    """The namespace of one user's work on one project.

    ``/`` and control characters of an actor's name are percent-encoded, and ``%`` too, so that no two names meet.
    """
    encoded = re.sub(r"[/%\x00-\x1f\x7f]", lambda found: quote(found.group(), safe=""), actor_id)
    return Namespace(f"/actor/{encoded}/project/{project_id}/")


def project_id_in(namespace: Namespace) -> str:
    found = NAMESPACE_PATTERN.fullmatch(namespace)
    assert found is not None, "a namespace is checked where it enters"
    return found.group(2)


def project_at(root: PurePath, *, actor_id: str) -> Project:
    path = str(root)
    project_id = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()
    return Project(namespace_of(actor_id, project_id), project_id, path)


def nearest_project_root(folder: PurePath, *, home: PurePath, has_marker: Callable[[PurePath], bool]) -> PurePath:
    """The nearest folder from ``folder`` upwards that ``has_marker``; ``home`` (the global project) if there is none.

    Both paths are real paths. The search stays strictly below ``home``: a marker in the home folder itself, or
    anywhere outside of it, would make one project of everything.
    """
    return next((place for place in _upwards(folder, home) if has_marker(place)), home)


def _upwards(folder: PurePath, ceiling: PurePath) -> Iterator[PurePath]:
    if ceiling not in folder.parents:
        return
    for place in (folder, *folder.parents):
        if place == ceiling:
            return
        yield place
