"""What a person calls a project: the same in every store."""

from __future__ import annotations

from pathlib import PurePath

SHORT_ID_LENGTH = 12

EVENTS_WITH_FOLDER = 200
"""A project's newest events, among which its folder is looked for: those of hooks all name it, others never do."""


def display_name(project_id: str, project_path: str | None, *, user_home: PurePath | None) -> str:
    """The project's folder, below the user's home where it is there; the beginning of its id if it has none."""
    if project_path is None:
        return project_id[:SHORT_ID_LENGTH]
    if user_home is None:
        return project_path
    return project_path.removeprefix(f"{user_home}/")
