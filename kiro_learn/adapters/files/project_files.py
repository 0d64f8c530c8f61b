"""Looks whether files of a project still exist unchanged, and reads manifests and rule files, in threads.

A manifest is a file that says how a project is built. A thread that a file system never answers is abandoned.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import stat
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath

import attrs
import trio

from kiro_learn.model.profile import WantedFiles
from kiro_learn.model.record import FileState

THREADS = 2
"""The most threads that may wait for file systems that do not answer; then nothing is read until one answers."""

READING_THREADS = 1
"""The threads that read contents. No prompt waits for them."""

MOST_DIGESTED_BYTES = 4 * 1024 * 1024
"""The most bytes of a file whose digest is made. Source files are smaller."""

MOST_MANIFEST_BYTES, MOST_MANIFESTS = 256 * 1024, 64
"""The most bytes of a manifest, and the most manifests. For a larger manifest, only its name is used."""

MOST_ENTRIES, MOST_FOLDERS, MOST_LISTED = 2_000, 40, 20
"""The most entries of a folder, folders right in the project's, and files of a folder that are looked at."""

_NOT_ITS_OWN = frozenset({"node_modules", "vendor", "target", "dist", "build", "venv", "deps", "_build"})
"""Folders that hold dependencies or build results."""

_NO_PLAIN_NAME = frozenset('*?"<>|{}:\0')
"""Characters that file names hardly have, but paths may that a learner took from a text."""

_apart = partial(trio.to_thread.run_sync, abandon_on_cancel=True)
"""Runs a function in a thread, which is abandoned if the caller is cancelled."""


@attrs.frozen
class FolderFiles:
    """A ``ProjectFiles`` on the file system."""

    _limiter: trio.CapacityLimiter = attrs.Factory(lambda: trio.CapacityLimiter(THREADS))
    _reading: trio.CapacityLimiter = attrs.Factory(lambda: trio.CapacityLimiter(READING_THREADS))

    async def modified_ats(self, folder: str, paths: Collection[str]) -> dict[str, datetime | None]:
        return await _apart(look, folder, tuple(paths), limiter=self._limiter)

    async def states(self, folder: str, paths: Collection[str]) -> dict[str, FileState | None]:
        return await _apart(read_states, folder, tuple(paths), limiter=self._reading)

    async def manifests(self, folder: str, wanted: WantedFiles) -> dict[str, str]:
        return await _apart(read_manifests, folder, wanted, limiter=self._limiter)


def read_manifests(folder: str, wanted: WantedFiles) -> dict[str, str]:
    """As ``ProjectFiles.manifests``, in this thread."""
    names = {each.name for each in _entries(folder)}
    below = {name: {each.name for each in _entries(f"{folder}/{name}")} for name in _folders(folder, names)}
    noticed = {path for path in wanted.noticed if path.partition("/")[0] in names}
    noticed |= {f"{name}/{each}" for name, inside in below.items() for each in wanted.below_noticed & inside}
    read = [path for path in sorted(wanted.read) if path.partition("/")[0] in names]
    read += [f"{name}/{each}" for name, inside in below.items() for each in sorted(wanted.below & inside)]
    read += _ending(names, wanted.suffixes)
    read += [f"{place}/{name}" for place, suffixes in wanted.listed for name in _names_in(folder, place, suffixes)]
    read += [f"{place}/{name}" for place, inside in below.items() for name in _ending(inside, wanted.suffixes)]
    there = [path for path, modified_at in look(folder, [*read, *noticed]).items() if modified_at is not None]
    to_read = [path for path in there if path not in noticed][:MOST_MANIFESTS]
    return {**dict.fromkeys(there, ""), **{path: _text(folder, path) for path in to_read}}


def _text(folder: str, path: str) -> str:
    """The file's text without a byte order mark; empty if it is too large or cannot be read."""
    content = _content(folder, path, MOST_MANIFEST_BYTES)
    return "" if content is None else content.decode("utf-8-sig", "replace")


def _folders(folder: str, names: Collection[str]) -> list[str]:
    """The project's own folders right in ``folder``, sorted by name."""
    own = sorted(name for name in names if name not in _NOT_ITS_OWN and name[0] not in "._")
    return list(itertools.islice((name for name in own if _is_folder(f"{folder}/{name}")), MOST_FOLDERS))


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _names_in(folder: str, place: str, suffixes: tuple[str, ...]) -> list[str]:
    """Names with these suffixes in the folder ``place``; none if it, or a folder on the way to it, is a link."""
    parts = place.split("/")
    way = ["/".join((folder, *parts[:count])) for count in range(1, len(parts) + 1)]
    names = {each.name for each in _entries(way[-1])} if all(map(_is_folder, way)) else set()
    return _ending(names, suffixes)


def _ending(names: Collection[str], suffixes: tuple[str, ...]) -> list[str]:
    return sorted(name for name in names if name.endswith(suffixes))[:MOST_LISTED]


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from itertools.islice(entries, MOST_ENTRIES)
    except (OSError, ValueError):
        return


def read_states(folder: str, paths: Collection[str]) -> dict[str, FileState | None]:
    """As ``ProjectFiles.states``, in this thread."""
    return {
        path: None if modified_at is None else FileState(modified_at, _digest(folder, path))
        for path, modified_at in look(folder, paths).items()
    }


def _digest(folder: str, path: str) -> str | None:
    content = _content(folder, path, MOST_DIGESTED_BYTES)
    return None if content is None else hashlib.sha256(content).hexdigest()


def _content(folder: str, path: str, most_bytes: int) -> bytes | None:
    """The content of a path that was just looked at. A pipe or a link that replaced it meanwhile is not read."""
    try:
        descriptor = os.open(os.path.join(folder, path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # noqa: PTH118  # keeps an absolute path
        with open(descriptor, "rb") as file:  # noqa: PTH123  # a descriptor
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode) or state.st_size > most_bytes:
                return None
            return file.read(most_bytes + 1)
    except (OSError, ValueError):
        return None


def look(folder: str, paths: Collection[str]) -> dict[str, datetime | None]:
    """As ``ProjectFiles.modified_ats``, in this thread."""
    if not folder.startswith("/") or "\0" in folder or not os.path.isdir(folder):  # noqa: PTH112  # twice as fast
        return {}
    is_folder: dict[PurePosixPath, bool | None] = {}
    found: dict[str, datetime | None] = {}
    for path in paths:
        inside = _inside(folder, path)
        if inside is not None:
            state = _state(folder, inside, is_folder)
            if not isinstance(state, Unknown):
                found[path] = state
    return found


@attrs.frozen
class Unknown:
    """The result if it cannot be found out whether a file exists."""


def _inside(folder: str, path: str) -> PurePosixPath | None:
    """``path`` relative to ``folder``; None if it is outside of it, or has characters of _NO_PLAIN_NAME."""
    pure = PurePosixPath(path)
    if pure.is_absolute():
        if not pure.is_relative_to(folder):
            return None
        pure = pure.relative_to(folder)
    if not pure.parts or ".." in pure.parts or pure.parts[0].startswith("~") or not _NO_PLAIN_NAME.isdisjoint(path):
        return None
    return pure


def _state(
    folder: str, inside: PurePosixPath, is_folder: dict[PurePosixPath, bool | None]
) -> datetime | Unknown | None:
    """When the file was modified. Each folder above it is looked at first, once, so that no link is followed."""
    for parent in reversed(inside.parents[:-1]):
        if parent not in is_folder:
            mode = _lstat(folder, parent)
            is_folder[parent] = None if mode is None else not isinstance(mode, Unknown) and stat.S_ISDIR(mode.st_mode)
        if is_folder[parent] is None:
            return None
        if not is_folder[parent]:
            return Unknown()
    found = _lstat(folder, inside)
    if found is None or isinstance(found, Unknown):
        return found
    if not stat.S_ISREG(found.st_mode):
        return Unknown()
    try:
        return datetime.fromtimestamp(found.st_mtime, UTC)
    except (OverflowError, ValueError, OSError):
        return Unknown()


def _lstat(folder: str, inside: PurePosixPath) -> os.stat_result | Unknown | None:
    """The state of the file; None if it does not exist."""
    try:
        return os.lstat(f"{folder}/{inside}")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        return Unknown()


# Reads the rule files that agents load: few and small ones, and none outside of their folder.

MOST_FILES = 20
"""The most files of one agent in one folder: the first by name."""

MOST_BYTES = 65_536
"""The most bytes that are read of a file, from its beginning."""

MOST_RULES_LISTED = 1_000
"""The most entries of a folder among which rule files are looked for."""

KEPT = 200
"""The most files whose text is kept until they change."""


@attrs.frozen
class _Read:
    modified_ns: int
    size: int
    text: str


@attrs.define(eq=False)
class FolderRuleTexts:
    """A ``RuleTexts`` on the file system. A file is read again only if its time or its size has changed."""

    user: Path
    """The user's home folder."""
    _limiter: trio.CapacityLimiter = attrs.Factory(lambda: trio.CapacityLimiter(THREADS))
    _kept: OrderedDict[str, _Read] = attrs.Factory(OrderedDict)

    async def read(self, folder: str | None, patterns: Sequence[str]) -> dict[str, str]:
        root = str(self.user) if folder is None else folder
        known = dict(self._kept)
        read = await _apart(read_rule_files, root, patterns, known, limiter=self._limiter)
        for path, each in read.items():
            self._kept[f"{root}/{path}"] = each
            self._kept.move_to_end(f"{root}/{path}")
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return {path: each.text for path, each in read.items()}


def read_rule_files(root: str, patterns: Iterable[str], known: dict[str, _Read]) -> dict[str, _Read]:
    """As ``RuleTexts.read``, in this thread. ``known``: earlier results, which serve for unchanged files."""
    if not root.startswith("/") or "\0" in root:
        return {}
    real = os.path.realpath(root)
    found: dict[str, _Read] = {}
    seen: set[str] = set()
    for path in _matching(real, patterns):
        inside = os.path.realpath(f"{real}/{path}")
        if not inside.startswith(f"{real}/") or inside in seen:
            continue  # a link out of the folder, or a second name of a file
        seen.add(inside)
        read = _read(inside, known.get(f"{root}/{path}"))
        if read is not None:
            found[path] = read
        if len(found) == MOST_FILES:
            break
    return found


def _matching(real: str, patterns: Iterable[str]) -> Iterator[str]:
    for pattern in patterns:
        path = PurePosixPath(pattern)
        if "*" not in path.name:
            yield pattern
            continue
        try:
            with os.scandir(f"{real}/{path.parent}") as entries:
                names = [entry.name for _, entry in zip(range(MOST_RULES_LISTED), entries, strict=False)]
        except OSError:
            continue
        yield from (f"{path.parent}/{name}" for name in sorted(names) if fnmatchcase(name, path.name))


def _read(path: str, known: _Read | None) -> _Read | None:
    """The rule file at ``path``; None if it is no regular file, or a link replaced it meanwhile."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:  # noqa: PTH123  # a descriptor
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                return None
            if known is not None and (known.modified_ns, known.size) == (state.st_mtime_ns, state.st_size):
                return known
            text = file.read(MOST_BYTES).decode("utf-8", "replace")
            return _Read(state.st_mtime_ns, state.st_size, text)
    except (OSError, ValueError):
        return None
