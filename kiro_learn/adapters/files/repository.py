"""Reads the files of a git repository, by gitrepository-layout(5): branches, references and their logs.

Rules of this file: no program is run, every read is bounded, and no link is followed, so that a stranger's repository
cannot have another file opened.
"""

from __future__ import annotations

import os
import re
import stat
import zlib
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path

import attrs
import trio

from kiro_learn.model.namespace import USUAL_BRANCHES, branch_named

MOST_LINE_BYTES = 8_192
"""The most bytes of a file of one line."""
MOST_PACKED_BYTES = 4 * 1024 * 1024
"""The most bytes that are read of ``packed-refs``: some 60,000 references. Further ones are not known."""
MOST_LOG_BYTES = 256 * 1024
"""The bytes that are read from the end of a reference's log: more than a thousand lines."""

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
    """The time of the change, in seconds since 1970."""
    message: str


@attrs.frozen
class Repository:
    """A repository: the git folder of one worktree, and the one that all its worktrees share."""

    folder: Path
    common: Path
    worktree: Path
    """The folder that has ``.git`` in it."""

    def branch(self) -> str | None:
        """The branch that is checked out; None if there is none, as with a detached HEAD."""
        said = line_of(self.folder / "HEAD")
        return branch_named(said.removeprefix(f"ref: {_HEADS}")) if said.startswith(f"ref: {_HEADS}") else None

    def default(self) -> str | None:
        """The remote's default branch; else the first of the usual ones that exists."""
        said = _line(self.read(f"{_ORIGIN}HEAD", MOST_LINE_BYTES))
        if said.startswith(f"ref: {_ORIGIN}"):
            return branch_named(said.removeprefix(f"ref: {_ORIGIN}"))
        return next((name for name in USUAL_BRANCHES if any(self.tips(name))), None)

    def tips(self, branch: str) -> Iterator[str]:
        """The newest commits of ``branch``, here and as last seen at the remote."""
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
        """The changes of the branch, first those here, then those at the remote, each oldest first."""
        return [
            line
            for reference in (f"{_HEADS}{branch}", f"{_ORIGIN}{branch}")
            for line in _log_lines(self.read(f"logs/{reference}", MOST_LOG_BYTES, from_end=True) or b"")
        ]

    def has_log(self, branch: str) -> bool:
        """Whether the branch has a log of its changes here."""
        return bool(self.read(f"logs/{_HEADS}{branch}", 1))

    def read(self, path: str, most_bytes: int, *, from_end: bool = False) -> bytes | None:
        """As the function ``read``, for a ``path`` in the repository; None if it has a link or ``..`` in it."""
        place = f"{os.path.realpath(self.common)}/{path}"
        return read(place, most_bytes, from_end=from_end) if _is_real(place) else None


def repository_around(place: Path, *, below: Path) -> Repository | None:
    """The repository around ``place``: in it, or in a folder above it that is still below ``below``."""
    for folder in (place, *place.parents):
        if folder == below:
            return None
        mode = _mode(folder / ".git")
        if mode is not None:
            return _at(folder / ".git", mode)
    return None


def _at(marker: Path, mode: int) -> Repository | None:
    """The repository of a ``.git``. It is a file in a worktree or submodule (gitrepository-layout(5), ``gitfile``)."""
    if stat.S_ISDIR(mode):
        return Repository(marker, marker, marker.parent)
    said = line_of(marker) if stat.S_ISREG(mode) else ""
    if not said.startswith("gitdir: "):
        return None
    folder = marker.parent / said.removeprefix("gitdir: ")
    common = line_of(folder / "commondir")
    return Repository(folder, folder / common if common else folder, marker.parent)


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
    """The only line of a file; empty if it cannot be read, is no regular file or has more lines."""
    return _line(read(path, MOST_LINE_BYTES))


def _line(content: bytes | None) -> str:
    text = (content or b"").decode("utf-8", "replace").removesuffix("\n")
    return text if text.isprintable() else ""


def read(path: Path | str, most_bytes: int, *, from_end: bool = False) -> bytes | None:
    """The first or last ``most_bytes`` of a regular file; None if it is none, or cannot be read."""
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
    """The lines of a log: ``old new Name <address> seconds zone TAB message``. Damaged ones are left out."""
    for line in content.decode("utf-8", "replace").split("\n"):
        who, _, message = line.partition("\t")
        old, _, rest = who.partition(" ")
        new, at = rest.partition(" ")[0], seconds_in(who)
        if _HASH.fullmatch(old) and _HASH.fullmatch(new) and at is not None:
            yield LogLine(old, new, at, message)


def seconds_in(who: str) -> int | None:
    """The seconds in ``Name <address> seconds zone``; None if it has none."""
    found = _TIME.search(who)
    return int(found[1]) if found else None


# Finds the branches that were merged, by the logs of references and by loose commits.
#
# A branch that is found was merged for certain. Some merges are not found: those of commits that are only in packs,
# those by squash or rebase, and those that were pulled before the oldest line of the log.

MOST_CHANGES = 100
"""The most changes of the default branch that are looked at, from the newest on."""
MOST_COMMITS = 2_000
"""The most commits that are read for one look."""
MOST_COMMIT_BYTES = 1024 * 1024

_OWN_WORK = ("commit", "cherry-pick", "revert", "am")
"""The beginnings of messages in a branch's log for commits that were made on it."""
_MERGES = re.compile(
    r"merge (?P<git>\S{1,255}): |(?:commit \(merge\): )?(?:"
    r"Merge (?:remote-tracking )?branch '(?:origin/)?(?P<branch>[^']{1,255})'"
    r"|Merge pull request #\d{1,9} from [^/\s]{1,100}/(?P<hub>\S{1,255})"
    r"|Merged in (?P<bucket>\S{1,255}) \(pull request)"
)
"""The messages of merges by git, GitHub and Bitbucket; GitLab's is the same as git's."""


@attrs.frozen
class FileBranches:
    """``Branches`` on the file system."""

    home: Path

    async def apart(self, folder: str, names: Collection[str]) -> frozenset[str]:
        return await trio.to_thread.run_sync(self.find_apart, folder, names, abandon_on_cancel=True)

    async def merged(self, folder: str, branches: Mapping[str, datetime]) -> frozenset[str]:
        return await trio.to_thread.run_sync(self.find_merged, folder, branches, abandon_on_cancel=True)

    def find_apart(self, folder: str, names: Collection[str]) -> frozenset[str]:
        """As ``apart``, in this thread."""
        repository, default, held = self._look(folder)
        if repository is None or default is None:
            return frozenset()
        there = {name for name in names if name != default and any(repository.tips(name))}
        return frozenset(name for name in there if not held.has_work_of(repository, name))

    def find_merged(self, folder: str, branches: Mapping[str, datetime]) -> frozenset[str]:
        """As ``merged``, in this thread."""
        repository, default, held = self._look(folder)
        if repository is None or default is None:
            return frozenset()
        return frozenset(
            name
            for name, since in branches.items()
            if name != default
            and (
                held.has_work_of(repository, name) if repository.has_log(name) else held.names(name, since.timestamp())
            )
        )

    def _look(self, folder: str) -> tuple[Repository | None, str | None, _Held]:
        """The repository around ``folder``, its default branch, and the latter's newest commits and merges."""
        repository = repository_around(Path(folder), below=self.home)
        default = repository.default() if repository else None
        if repository is None or default is None:
            return repository, default, _Held(set(), [])
        changes = sorted(repository.log(default), key=lambda line: line.at)[-MOST_CHANGES:]
        return repository, default, _Held.of(repository, changes)


@attrs.frozen
class _Held:
    """The commits and merges that came to the default branch lately."""

    commits: set[str]
    merges: list[tuple[str, int]]
    """The branch that each merge names, and the time of the merge in seconds since 1970."""

    @classmethod
    def of(cls, repository: Repository, changes: list[LogLine]) -> _Held:
        held = cls({line.new for line in changes}, [])
        for line in changes:
            held._note(line.message, line.at)
        known = {line.old for line in changes}
        waiting = [line.new for line in reversed(changes)]
        for _ in range(MOST_COMMITS):
            commit = waiting.pop(0) if waiting else None
            if commit is None:
                break
            parents, at, subject = _commit(repository, commit)
            held._note(subject, at)
            waiting += [each for each in parents if each not in known]
            held.commits.update(parents)
            known.update((commit, *parents))
        return held

    def _note(self, message: str, at: int) -> None:
        found = _MERGES.match(message)
        if found:
            self.merges.append((next(filter(None, found.groups())), at))

    def names(self, branch: str, since: float) -> bool:
        """Whether a merge of ``branch`` was made at ``since`` or later, which is when work on it began."""
        return any(name == branch and at >= int(since) for name, at in self.merges)

    def has_work_of(self, repository: Repository, branch: str) -> bool:
        """Whether commits that were made on the branch are here. A branch without own commits is not held."""
        has_own = any(line.message.startswith(_OWN_WORK) for line in repository.log(branch))
        tip = next(repository.tips(branch), None)
        return has_own and tip in self.commits


def _commit(repository: Repository, name: str) -> tuple[list[str], int, str]:
    """The parents of a commit, its time in seconds, and its subject; no parents, 0 and "" if it is in a pack."""
    packed = repository.read(f"objects/{name[:2]}/{name[2:]}", MOST_COMMIT_BYTES)
    text = _unpacked(packed).decode("utf-8", "replace") if packed else ""
    head, _, message = text.partition("\n\n")
    kind, _, head = head.partition("\0")
    if not kind.startswith("commit "):
        return [], 0, ""
    lines = head.split("\n")
    made = next((line for line in lines if line.startswith("committer ")), "")
    at = seconds_in(made) or 0
    return list(_parents(lines)), at, message.partition("\n")[0]


def _parents(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if re.fullmatch(r"parent [0-9a-f]{40,64}", line):
            yield line.removeprefix("parent ")


def _unpacked(content: bytes) -> bytes:
    """The content, at most MOST_COMMIT_BYTES of it: a small file may unpack to gigabytes."""
    try:
        return zlib.decompressobj().decompress(content, MOST_COMMIT_BYTES)
    except zlib.error:
        return b""
