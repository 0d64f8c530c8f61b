"""From a folder to a project, by looking at the file system."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from pathlib import Path, PurePath

import attrs
import trio

from kiro_learn.model.namespace import PROJECT_MARKERS, Project, nearest_project_root, project_at

MAX_PATH_BYTES = 4096
"""PATH_MAX of Linux; macOS has 1,024."""
MAX_SHOWN = 2048
"""Characters of a path in an event's source."""


def actor_id(environment: Mapping[str, str]) -> str:
    """The name of whoever runs us: of the operating system's user, else ``$USER``, ``$USERNAME``, ``unknown``."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        name = ""
    return name or environment.get("USER") or environment.get("USERNAME") or "unknown"


@attrs.frozen
class FolderProjectFinder:
    """Finds projects below one user's folder."""

    home_folder: Path
    actor_id: str

    async def project_of(self, folder: str) -> Project:
        """The project that ``folder`` is in; an empty or relative one names nothing and is the global project.

        Cancellation: the thread is left to a file system that may never answer.
        """
        return await trio.to_thread.run_sync(self.find, folder, abandon_on_cancel=True)

    def find(self, folder: str) -> Project:
        """The same, in this thread: some microseconds per folder on the way up."""
        home = Path(os.path.realpath(self.home_folder))
        found = project_at(_root_of(folder, home), actor_id=self.actor_id)
        return attrs.evolve(found, project_path=_shown(found.project_path))


def _root_of(folder: str, home: Path) -> Path:
    if not folder.startswith("/") or not _is_a_path(folder):
        return home
    place = Path(os.path.realpath(folder))
    if worktree := _linked_worktree(place, home):
        return _in_main_worktree(place, *worktree, home)
    root = Path(nearest_project_root(place, home=home, has_marker=_has_marker))
    unreadable = not os.path.exists(place)  # noqa: PTH110  # Path.exists raises where it may not look
    return place if root == home and unreadable else root


def _is_a_path(folder: str) -> bool:
    """Whether the system can be asked about it: not too long, no NUL, no surrogate that stands for no byte."""
    try:
        path = os.fsencode(folder)
    except UnicodeEncodeError:
        return False
    return len(path) < MAX_PATH_BYTES and b"\0" not in path


def _has_marker(folder: PurePath) -> bool:
    return any(os.path.lexists(f"{folder}/{marker}") for marker in PROJECT_MARKERS)


def _in_main_worktree(place: Path, worktree: Path, main: Path, home: Path) -> Path:
    """The root of ``place``, at its own position in the main worktree, wherever the linked one stands."""
    root = Path(nearest_project_root(place, home=worktree.parent, has_marker=_has_marker))
    twin = main / root.relative_to(worktree)
    return twin if home in twin.parents else home


def _linked_worktree(place: Path, home: Path) -> tuple[Path, Path] | None:
    """The linked git worktree around ``place`` and its main worktree; None if there is none around it."""
    for folder in (place, *place.parents):
        if folder == home:
            return None
        if os.path.lexists(folder / ".git"):
            main = _main_worktree(folder)
            return None if main is None else (folder, main)
    return None


def _main_worktree(worktree: Path) -> Path | None:
    """gitrepository-layout(5): ``.git`` names worktrees/<name> of the repository, ``commondir`` there the repository.

    Believed only if the repository names this worktree too, or anyone's unpacked folder could join any project.
    Submodules have no ``commondir``: they are projects of their own. A repository without a worktree of its own
    stands for it, unless it is hidden (``.git``, ``.bare``): then the folder around it does.
    """
    pointer = _line_of(worktree / ".git")
    if pointer is None or not pointer.startswith("gitdir: "):
        return None
    entry = Path(os.path.realpath(worktree / pointer.removeprefix("gitdir: ")))
    back, common = _line_of(entry / "gitdir"), _line_of(entry / "commondir")
    if back is None or common is None or Path(os.path.realpath(entry / back)) != worktree / ".git":
        return None
    repository = Path(os.path.realpath(entry / common))
    return repository.parent if repository.name.startswith(".") else repository


def _line_of(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            line = os.fsdecode(file.read(2 * MAX_PATH_BYTES).removesuffix(b"\n"))
    except OSError:
        return None
    return line if _is_a_path(line) else None


def _shown(path: str) -> str:
    """``path`` as text that an event can bear; the identity was taken from its bytes."""
    return os.fsencode(path).decode("utf-8", "replace")[:MAX_SHOWN]
