"""What a person calls a project: the same in every store."""

from __future__ import annotations

from pathlib import PurePath

SHORT_ID_LENGTH = 12

_HASH_LENGTH = 64
"""Of the id of a folder's project. Any other id is the name by which a program called its project."""

EVENTS_WITH_FOLDER = 200
"""A project's newest events, among which its folder is looked for: those of hooks all name it, others never do."""


def display_name(project_id: str, project_path: str | None, *, user_home: PurePath | None) -> str:
    """The project's folder, below the user's home where it is there; its id if it has none, which a hash is cut for."""
    if project_path is None:
        return project_id[:SHORT_ID_LENGTH] if len(project_id) == _HASH_LENGTH else project_id
    if user_home is None:
        return project_path
    return project_path.removeprefix(f"{user_home}/")
