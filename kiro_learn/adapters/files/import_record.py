"""Which past sessions were imported, one a line, in a file of the home. It is of one database, and begins anew with
another one: what was imported into the last is not in this.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from kiro_learn.adapters.files.home import Home

NAME = "imports"
_DIGITS = 32


class DiskImportRecord:
    """``ImportRecord`` as lines that are only added; no line tells which session it is of."""

    def __init__(self, path: Path, database: str) -> None:
        self._path = path
        self._database = database
        self._states = _read(path, database)

    @classmethod
    def of(cls, home: Home) -> DiskImportRecord:
        """The record of the database that is there now."""
        try:
            found = home.database.stat()
        except OSError:
            return cls(home.path / NAME, "none")
        return cls(home.path / NAME, f"{found.st_dev} {found.st_ino}")

    def has(self, key: str, state: str) -> bool:
        return self._states.get(_digest(key)) == _digest(state)

    def add(self, key: str, state: str) -> None:
        line = f"{_digest(key)} {_digest(state)}\n"
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_APPEND if self._states else os.O_TRUNC)
        descriptor = os.open(self._path, flags, 0o600)
        try:
            os.write(descriptor, line.encode() if self._states else f"{self._database}\n{line}".encode())
        finally:
            os.close(descriptor)
        self._states[_digest(key)] = _digest(state)


def _read(path: Path, database: str) -> dict[str, str]:
    """By the digest of the key, that of the state; of lines that are torn, nothing."""
    try:
        first, *lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    except (FileNotFoundError, ValueError):
        return {}
    if first != database:
        return {}
    pairs = (line.split(" ") for line in lines)
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}  # noqa: PLR2004  # a pair


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
