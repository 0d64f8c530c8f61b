"""Finds the project of a folder, by looking at the file system."""

from __future__ import annotations

import hashlib
import os
import pwd
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePath

import attrs
import trio

from kiro_learn.adapters.files.repository import Repository, repository_around
from kiro_learn.model.namespace import (
    PROJECT_MARKERS,
    Namespace,
    Project,
    nearest_project_root,
    project_at,
    project_id_in,
    within_our_limits,
)

MAX_PATH_BYTES = 4096
"""PATH_MAX of Linux; macOS has 1,024."""
MAX_SHOWN = 2048
"""The most characters of a path in an event's source."""
TEMPORARY_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108  # named, not written to
MOUNTS = Path("/proc/self/mountinfo")


def actor_id(environment: Mapping[str, str]) -> str:
    """The name of the daemon's user: from the operating system, else ``$USER``, ``$USERNAME``, ``unknown``."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        name = ""
    return name or environment.get("USER") or environment.get("USERNAME") or "unknown"


@attrs.frozen
class FolderProjectFinder:
    """``ProjectFinder`` on the file system, for one user."""

    home_folder: Path
    actor_id: str

    async def project_of(self, folder: str) -> Project:
        """The project that ``folder`` is in; the global project if ``folder`` is empty or relative.

        Cancellation: the thread is abandoned, since the file system may never answer.
        """
        return await trio.to_thread.run_sync(self.find, folder, abandon_on_cancel=True)

    async def is_there(self, folder: str) -> bool:
        """Whether ``folder`` exists; False only if the system says that it does not.

        Cancellation: as of ``project_of``.
        """
        return await trio.to_thread.run_sync(_may_be_there, folder, abandon_on_cancel=True)

    def find(self, folder: str) -> Project:
        """As ``project_of``, in this thread: some microseconds per folder on the way up."""
        home = Path(os.path.realpath(self.home_folder))
        found = project_at(_root_of(folder, home), actor_id=self.actor_id)
        repository = _repository_of(folder, home)
        return attrs.evolve(
            found,
            project_path=_shown(found.project_path),
            branch=repository.branch() if repository else None,
            repository_path=str(repository.worktree) if repository else "",
        )

    def namespace_in_use(self, namespace: str, actor_id: str | None, project_path: str | None) -> Namespace:
        """The namespace that hooks use today for the project that the first kiro-learn kept under ``namespace``.

        It differs if the first kiro-learn did not encode a user's name, or took a linked worktree for a project. The
        latter is noticed only if the worktree still exists.

        Args:
          actor_id, project_path: those of an event that was kept there, if there is one.
        """
        ours = within_our_limits(namespace, actor_id=actor_id or self.actor_id)
        if project_path is None or _hash_of(project_path) != project_id_in(ours):
            return ours
        home, place = Path(os.path.realpath(self.home_folder)), Path(os.path.realpath(project_path))
        if not place.is_dir() or _linked_worktree(place, home) is None:
            return ours
        return Namespace(f"{ours.removesuffix(f'{project_id_in(ours)}/')}{self.find(project_path).project_id}/")


def _hash_of(path: str) -> str:
    return hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()


def _root_of(folder: str, home: Path) -> Path:
    if not folder.startswith("/") or not _is_a_path(folder):
        return home
    place = Path(os.path.realpath(folder))
    if worktree := _linked_worktree(place, home):
        return _in_main_worktree(place, *worktree, home)
    has_marker = _has_marker if home in place.parents else _has_marker_and_is_no_top
    root = Path(nearest_project_root(place, home=home, has_marker=has_marker))
    unreadable = not os.path.exists(place)  # noqa: PTH110  # Path.exists raises without the right to look
    return place if root == home and unreadable else root


def _repository_of(folder: str, home: Path) -> Repository | None:
    if not folder.startswith("/") or not _is_a_path(folder):
        return None
    return repository_around(Path(os.path.realpath(folder)), below=home)


def _may_be_there(folder: str) -> bool:
    if not _is_a_path(folder):
        return False
    try:
        os.stat(folder)  # noqa: PTH116  # Path.exists is False without the right to look
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _is_a_path(folder: str) -> bool:
    """Whether the system takes it as a path: not too long, no NUL, no surrogate that stands for no byte."""
    try:
        path = os.fsencode(folder)
    except UnicodeEncodeError:
        return False
    return len(path) < MAX_PATH_BYTES and b"\0" not in path


def _has_marker(folder: PurePath) -> bool:
    return any(os.path.lexists(f"{folder}/{marker}") for marker in PROJECT_MARKERS)


def _has_marker_and_is_no_top(folder: PurePath) -> bool:
    """Whether ``folder`` has a marker. A stray one at the top of a disk or in a temporary folder does not count."""
    return _has_marker(folder) and not _is_temporary_top(folder) and not _is_top_of_a_disk(folder)


def _is_temporary_top(folder: PurePath) -> bool:
    return any(os.path.realpath(top) == str(folder) for top in (*TEMPORARY_FOLDERS, tempfile.gettempdir()))


def _is_top_of_a_disk(folder: PurePath) -> bool:
    """Whether a whole file system is mounted there. Containers mount a folder of one instead, which may be a project.

    proc(5): the fourth field is the mounted folder of the file system, the fifth the mount point, in octal escapes.
    """
    if not os.path.ismount(folder):
        return False
    try:
        mounts = [line.split(b" ", 5)[3:5] for line in MOUNTS.read_bytes().splitlines()]
    except OSError:
        return True  # only Linux mounts folders of a file system
    point = b"".join(b"\\%03o" % byte if byte in b" \t\n\\" else bytes((byte,)) for byte in os.fsencode(folder))
    return next((root == b"/" for root, place in reversed(mounts) if place == point), True)


def _in_main_worktree(place: Path, worktree: Path, main: Path, home: Path) -> Path:
    """The root of ``place``, moved from the linked worktree to the same relative path in the main one."""
    root = Path(nearest_project_root(place, home=worktree.parent, has_marker=_has_marker))
    twin = main / root.relative_to(worktree)
    return home if twin == home or twin in home.parents else twin


def _linked_worktree(place: Path, home: Path) -> tuple[Path, Path] | None:
    """The linked git worktree around ``place`` and its main worktree; None if ``place`` is in no linked one."""
    for folder in (place, *place.parents):
        if folder == home:
            return None
        if os.path.lexists(folder / ".git"):
            main = _main_worktree(folder)
            return None if main is None else (folder, main)
    return None


def _main_worktree(worktree: Path) -> Path | None:
    """The main worktree of a linked one; None if ``worktree`` is none.

    gitrepository-layout(5): ``.git`` names worktrees/<name> of the repository, and ``commondir`` there the repository.
    The repository must name this worktree too, or anyone's unpacked folder could join any project. Submodules have no
    ``commondir``, and are projects of their own. The result is the folder around a hidden repository (``.git``,
    ``.bare``), else the repository itself.
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
    """``path`` as text for an event. The project's identity comes from the path's bytes."""
    return os.fsencode(path).decode("utf-8", "replace")[:MAX_SHOWN]
