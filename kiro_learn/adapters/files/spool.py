"""What the shim could not deliver: whole requests in files, whose names sort by time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

import attrs

from kiro_learn.adapters.files import private, spool_cipher

ABANDONED_SECONDS = 60.0
"""A shim lives two seconds: a file it has not finished after this time, it never will."""


@attrs.frozen
class SpooledHook:
    """One hook's request, as ``POST /v1/hooks/{agent}`` would have received it."""

    path: Path
    agent: str
    headers: Mapping[str, str]
    payload: bytes


@attrs.frozen
class Spool:
    """``HookSpool`` in a folder: one file for each undelivered request."""

    folder: Path
    key_file: Path
    """What the shim seals requests with."""

    def waiting(self) -> Iterator[SpooledHook]:
        """Each waiting request, oldest first; what cannot be read is put aside, into ``damaged``.

        Call ``done`` with each after it was taken: until then it comes again at the next call.
        """
        for path in self._files():
            if _is_hidden(path) and not _is_abandoned(path):
                continue
            content = None if _is_hidden(path) else self._opened(path.read_bytes())
            request = None if content is None else parsed(path, content)
            if request is None:
                self._put_aside(path)
            else:
                yield request

    def _opened(self, found: bytes) -> bytes | None:
        """A request as it was before it was sealed; those of before there was a key are as they are."""
        if not found.startswith(spool_cipher.MARK):
            return found
        return spool_cipher.opened(self.key_file.read_bytes(), found) if self.key_file.exists() else None

    def done(self, request: SpooledHook) -> None:
        """Forget a request that was taken; forgetting it twice changes nothing."""
        request.path.unlink(missing_ok=True)

    def damaged_count(self) -> int:
        """How many requests could not be read, and lie in ``damaged``."""
        return len(list(self._damaged.iterdir())) if self._damaged.is_dir() else 0

    @property
    def _damaged(self) -> Path:
        return self.folder / "damaged"

    def _files(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(path for path in self.folder.iterdir() if path.is_file() and not path.is_symlink())

    def _put_aside(self, path: Path) -> None:
        private.make_folder(self._damaged)
        path.replace(self._damaged / path.name.lstrip("."))


def _is_hidden(path: Path) -> bool:
    return path.name.startswith(".")


def _is_abandoned(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > ABANDONED_SECONDS
    except FileNotFoundError:  # its hook has finished it since
        return False


def parsed(path: Path, content: bytes) -> SpooledHook | None:
    """The request in ``content``; None if it is not all there."""
    head, _, payload = content.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, _, target = first.partition(" /v1/hooks/")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    if method != "POST" or headers.get("content-length") != str(len(payload)):
        return None
    return SpooledHook(path, unquote(target.partition("?")[0]), headers, payload)
