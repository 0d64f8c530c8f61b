"""The files of a git repository, by gitrepository-layout(5): which branch is checked out, and what references say.

Rules of this file: no program is run, every read is bounded, and no link is followed: what a stranger's repository
points at elsewhere is not opened.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import attrs

from kiro_learn.model.namespace import USUAL_BRANCHES, branch_named

MOST_LINE_BYTES = 8_192
"""Of a file of one line."""
MOST_PACKED_BYTES = 4 * 1024 * 1024
"""Of ``packed-refs``: some 60,000 references. What is behind is not known."""
MOST_LOG_BYTES = 256 * 1024
"""Of the end of a log of references: more than a thousand lines."""

_HEADS = "refs/heads/"
_ORIGIN = "refs/remotes/origin/"
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

_TIME = re.compile(r" (\d{1,11}) [+-]\d{4}\Z", re.ASCII)


@attrs.frozen
class LogLine:
    """One change of a reference."""

    old: str
    new: str
    at: int
    """Seconds since 1970."""
    message: str


@attrs.frozen
class Repository:
    """A repository: the folder of the checked out branch, and the one that all its worktrees share."""

    folder: Path
    common: Path

    def branch(self) -> str | None:
        """The branch that is checked out; None if that is none."""
        said = line_of(self.folder / "HEAD")
        return branch_named(said.removeprefix(f"ref: {_HEADS}")) if said.startswith(f"ref: {_HEADS}") else None

    def default(self) -> str | None:
        """The branch that the remote calls its own; else the one of those that are usual that there is."""
        said = _line(self.read(f"{_ORIGIN}HEAD", MOST_LINE_BYTES))
        if said.startswith(f"ref: {_ORIGIN}"):
            return branch_named(said.removeprefix(f"ref: {_ORIGIN}"))
        return next((name for name in USUAL_BRANCHES if any(self.tips(name))), None)

    def tips(self, branch: str) -> Iterator[str]:
        """The commits that ``branch`` is at, here and as last seen at the remote."""
        for reference in (f"{_HEADS}{branch}", f"{_ORIGIN}{branch}"):
            tip = self._tip(reference)
            if tip is not None:
                yield tip

    def _tip(self, reference: str) -> str | None:
        loose = _line(self.read(reference, MOST_LINE_BYTES))
        if _HASH.fullmatch(loose):
            return loose
        packed = self.read("packed-refs", MOST_PACKED_BYTES) or b""
        found = re.search(rb"^([0-9a-f]{40,64}) " + re.escape(reference.encode()) + rb"$", packed, re.MULTILINE)
        return found[1].decode() if found else None

    def log(self, branch: str) -> list[LogLine]:
        """What changed the branch, here and at the remote, oldest first of each; no more than a thousand lines."""
        return [
            line
            for reference in (f"{_HEADS}{branch}", f"{_ORIGIN}{branch}")
            for line in _log_lines(self.read(f"logs/{reference}", MOST_LOG_BYTES, from_end=True) or b"")
        ]

    def has_log(self, branch: str) -> bool:
        """Whether the branch is there, with what changed it."""
        return bool(self.read(f"logs/{_HEADS}{branch}", 1))

    def read(self, path: str, most_bytes: int, *, from_end: bool = False) -> bytes | None:
        """As ``read``, of a file that really lies at ``path`` in the repository, behind no link and no ``..``."""
        place = f"{os.path.realpath(self.common)}/{path}"
        return read(place, most_bytes, from_end=from_end) if _is_real(place) else None


def repository_around(place: Path, *, below: Path) -> Repository | None:
    """The repository whose worktree ``place`` is in, found upwards as far as ``below``, which is left out."""
    for folder in (place, *place.parents):
        if folder == below:
            return None
        mode = _mode(folder / ".git")
        if mode is not None:
            return _at(folder / ".git", mode)
    return None


def _at(marker: Path, mode: int) -> Repository | None:
    """A worktree and a submodule name their folder in a file (gitrepository-layout(5), ``gitfile``)."""
    if stat.S_ISDIR(mode):
        return Repository(marker, marker)
    said = line_of(marker) if stat.S_ISREG(mode) else ""
    if not said.startswith("gitdir: "):
        return None
    folder = marker.parent / said.removeprefix("gitdir: ")
    common = line_of(folder / "commondir")
    return Repository(folder, folder / common if common else folder)


def _mode(path: Path) -> int | None:
    try:
        return os.lstat(path).st_mode
    except (OSError, ValueError):
        return None


def _is_real(place: str) -> bool:
    try:
        return os.path.realpath(place) == place
    except ValueError:
        return False


def line_of(path: Path) -> str:
    """The one line of a file; empty if it cannot be read, is no regular file or has more."""
    return _line(read(path, MOST_LINE_BYTES))


def _line(content: bytes | None) -> str:
    text = (content or b"").decode("utf-8", "replace").removesuffix("\n")
    return text if text.isprintable() else ""


def read(path: Path | str, most_bytes: int, *, from_end: bool = False) -> bytes | None:
    """The first or last ``most_bytes`` of a regular file; None of all else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                return None
            if from_end:
                os.lseek(descriptor, max(0, state.st_size - most_bytes), os.SEEK_SET)
            return os.read(descriptor, most_bytes)
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return None


def _log_lines(content: bytes) -> Iterator[LogLine]:
    """``old new Name <address> seconds zone TAB message``; a line that is cut or damaged is passed over."""
    for line in content.decode("utf-8", "replace").split("\n"):
        who, _, message = line.partition("\t")
        old, _, rest = who.partition(" ")
        new, at = rest.partition(" ")[0], seconds_in(who)
        if _HASH.fullmatch(old) and _HASH.fullmatch(new) and at is not None:
            yield LogLine(old, new, at, message)


def seconds_in(who: str) -> int | None:
    """The time that stands behind a name: ``Name <address> seconds zone``."""
    found = _TIME.search(who)
    return int(found[1]) if found else None
