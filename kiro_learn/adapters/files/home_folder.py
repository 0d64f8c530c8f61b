"""The home, made and removed. Only names that we give are removed: the home may be any folder that a variable names."""

from __future__ import annotations

import fnmatch
import shutil
from collections.abc import Iterator
from pathlib import Path

import attrs

from kiro_learn.adapters.files.home import Home
from kiro_learn.adapters.files.hook_script import lasting_interpreter, write_hook_script
from kiro_learn.errors import ConfigError

OUR_NAMES = (
    "kiro-learn.db*",
    "settings.toml",
    "token",
    "manifest.json",
    "spool.key*",
    "spool",
    "spool.put-aside*",
    "backups",
    "logs",
    "bin",
    "agent",
    "agent-groups",
    "buffers",
    f".*.{'[0-9a-f]' * 16}",
    "daemon.*",
)
"""What lies in a home, as docs/operations.md lists it, and what a process that was killed while it wrote such a file
left beside it; ``daemon.lock`` last, since it is held meanwhile."""


@attrs.frozen
class DiskHomeFolder:
    """``HomeFolder`` on the file system. ``shim_source``: what ``bin/hook`` runs a copy of; ``build``: ours."""

    home: Home
    shim_source: Path
    build: str = ""

    def prepare(self) -> None:
        self.home.prepare()
        self.home.token()
        try:
            write_hook_script(
                self.home, shim_source=self.shim_source, interpreter=lasting_interpreter(), build=self.build
            )
        except OSError as error:
            raise ConfigError([("home", f"{error.filename or self.home.path}: {error.strerror}")]) from error

    def contents(self) -> tuple[tuple[str, int], ...]:
        return tuple((path.name, _bytes_of(path)) for path in self._ours())

    def remove(self) -> tuple[str, ...]:
        if not self.home.path.is_dir():
            return ()
        try:
            with self.home.lock():
                for path in self._ours():
                    if path.is_dir() and not path.is_symlink():
                        shutil.rmtree(path)
                    else:
                        path.unlink(missing_ok=True)
            left = tuple(sorted(path.name for path in self.home.path.iterdir()))
            if not left:
                self.home.path.rmdir()
        except OSError as error:
            raise ConfigError([("home", f"{error.filename or self.home.path}: {error.strerror}")]) from error
        return left

    def _ours(self) -> Iterator[Path]:
        if not self.home.path.is_dir():
            return
        paths = sorted(self.home.path.iterdir())
        for pattern in OUR_NAMES:
            yield from (path for path in paths if fnmatch.fnmatchcase(path.name, pattern))


def _bytes_of(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() and not path.is_symlink() else [path]
    return sum(each.lstat().st_size for each in files if each.is_symlink() or not each.is_dir())
