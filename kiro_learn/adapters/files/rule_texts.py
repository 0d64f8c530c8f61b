"""Reads the rule files that agents load: few, small, and never what lies outside of their folder."""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

import attrs
import trio

MOST_FILES = 20
"""Of one agent in one folder; the first by name."""

MOST_BYTES = 65_536
"""Of one file; of a longer one, the beginning."""

MOST_LISTED = 1_000
"""Entries of a folder in which files are looked for."""

KEPT = 200
"""Files whose text is kept until they change."""

THREADS = 2


@attrs.frozen
class _Read:
    modified_ns: int
    size: int
    text: str


@attrs.define(eq=False)
class FolderRuleTexts:
    """A ``RuleTexts`` on the file system. A file is read again as its time or its size is another."""

    user: Path
    """The user's folder."""
    _limiter: trio.CapacityLimiter = attrs.Factory(lambda: trio.CapacityLimiter(THREADS))
    _kept: OrderedDict[str, _Read] = attrs.Factory(OrderedDict)

    async def read(self, folder: str | None, patterns: Sequence[str]) -> dict[str, str]:
        root = str(self.user) if folder is None else folder
        known = dict(self._kept)
        read = await trio.to_thread.run_sync(
            lambda: read_rule_files(root, patterns, known), limiter=self._limiter, abandon_on_cancel=True
        )
        for path, each in read.items():
            self._kept[f"{root}/{path}"] = each
            self._kept.move_to_end(f"{root}/{path}")
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return {path: each.text for path, each in read.items()}


def read_rule_files(root: str, patterns: Iterable[str], known: dict[str, _Read]) -> dict[str, _Read]:
    """As ``RuleTexts.read``, in this thread; of a file that did not change, what is ``known``."""
    if not root.startswith("/") or "\0" in root:
        return {}
    real = os.path.realpath(root)
    found: dict[str, _Read] = {}
    seen: set[str] = set()
    for path in _matching(real, patterns):
        inside = os.path.realpath(f"{real}/{path}")
        if not inside.startswith(f"{real}/") or inside in seen:
            continue  # a link that leads out; or a second name of a file
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
                names = [entry.name for _, entry in zip(range(MOST_LISTED), entries, strict=False)]
        except OSError:
            continue
        yield from (f"{path.parent}/{name}" for name in sorted(names) if fnmatchcase(name, path.name))


def _read(path: str, known: _Read | None) -> _Read | None:
    """A pipe, a device or a folder is not opened, nor is a link that took the place of a file meanwhile."""
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
