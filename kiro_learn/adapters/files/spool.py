"""The requests that the shim could not deliver: each in a file, whose name sorts by time.

Rules of this file: no file in the spool stops the others. A file that cannot be read or removed stays in its place, and
``problems`` names it. Each look tries it again, so that it is taken once its rights are mended.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

import attrs

from kiro_learn.adapters.files import private, spool_cipher

ABANDONED_SECONDS = 60.0
"""The age from which on an unfinished file is abandoned. A shim lives only two seconds."""


@attrs.frozen
class SpooledHook:
    """One hook's request, as ``POST /v1/hooks/{agent}`` would have received it."""

    path: Path
    agent: str
    headers: Mapping[str, str]
    payload: bytes


@attrs.define(eq=False)
class Spool:
    """``HookSpool`` in a folder: one file for each undelivered request."""

    folder: Path
    key_file: Path
    """The file with the key by which the shim seals requests."""
    _taken: set[Path] = attrs.field(factory=set, init=False)
    """Files that could not be removed yet, though their requests were taken."""
    _unusable: set[Path] = attrs.field(factory=set, init=False)
    """Files that could not be moved yet, and whose requests cannot be taken."""
    _problems: tuple[str, ...] = attrs.field(default=(), init=False)

    def waiting(self) -> Iterator[SpooledHook]:
        """Each waiting request, oldest first. A file that is no whole request is moved into ``damaged``.

        Call ``done`` with each request that was taken: until then, the next call gives it again.
        """
        problems: dict[str, None] = {}  # an ordered set: many files may need the same key
        for path in self._files(problems):
            try:
                request = self._request(path)
            except FileNotFoundError:  # its hook has finished and renamed it since
                continue
            except OSError as error:
                problems[self._named(path, error)] = None
                continue
            if request is not None:
                yield request
        self._problems = tuple(problems)

    def done(self, request: SpooledHook) -> None:
        """Forget a request that was taken; forgetting it twice changes nothing.

        A file that cannot be removed is not given out again, and its removal is tried at every look.
        """
        self._taken.add(request.path)
        try:
            self._remove(request.path)
        except OSError as error:
            self._problems = (*self._problems, self._named(request.path, error))

    def put_aside(self, request: SpooledHook) -> None:
        """Move a request that cannot be taken into ``damaged``; where that fails, it is not given out again."""
        self._unusable.add(request.path)
        try:
            self._move_aside(request.path)
        except OSError as error:
            self._problems = (*self._problems, self._named(request.path, error))

    def problems(self) -> tuple[str, ...]:
        """The files that could not be read, moved or removed at the last look, each with the reason."""
        return self._problems

    def damaged_count(self) -> int:
        """The number of files in ``damaged``."""
        return len(list(self._damaged.iterdir())) if self._damaged.is_dir() else 0

    @property
    def _damaged(self) -> Path:
        return self.folder / "damaged"

    def _files(self, problems: dict[str, None]) -> list[Path]:
        try:
            if not self.folder.is_dir():
                return []
            return sorted(path for path in self.folder.iterdir() if path.is_file() and not path.is_symlink())
        except OSError as error:
            problems[self._named(self.folder, error)] = None
            return []

    def _request(self, path: Path) -> SpooledHook | None:
        """The request in ``path``; None if it holds none that may be taken.

        Raises:
          OSError: the file or the key cannot be read, or the file cannot be moved or removed.
        """
        if path in self._taken:
            self._remove(path)
        elif path in self._unusable:
            self._move_aside(path)
        elif _is_hidden(path):
            if _is_abandoned(path):
                self._move_aside(path)
        else:
            content = self._opened(path.read_bytes())
            request = None if content is None else parsed(path, content)
            if request is None:
                self._move_aside(path)
            return request
        return None

    def _opened(self, found: bytes) -> bytes | None:
        """The request before it was sealed; None if no key opens it. Requests of older versions were not sealed.

        Raises:
          OSError: no readable key opens it, and another key cannot be read.
        """
        if not found.startswith(spool_cipher.MARK):
            return found
        obstacle: OSError | None = None
        for key_file in (self.key_file, *private.put_aside_of(self.key_file)):
            try:
                content = spool_cipher.opened(key_file.read_bytes(), found)
            except FileNotFoundError:
                continue
            except OSError as error:
                obstacle = error
                continue
            if content is not None:
                return content
        if obstacle is not None:
            raise obstacle
        return None

    def _remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._taken.discard(path)

    def _move_aside(self, path: Path) -> None:
        """Move a file into ``damaged``, or remove an empty one. A ``damaged`` that we cannot use is put aside."""
        if path.stat().st_size == 0:
            self._remove(path)
            return
        try:
            private.make_folder(self._damaged)
        except OSError:
            private.put_aside(self._damaged)
            private.make_folder(self._damaged)
        path.replace(self._damaged / path.name.lstrip("."))
        self._unusable.discard(path)

    def _named(self, path: Path, error: OSError) -> str:
        found = Path(error.filename or path)
        home = self.folder.parent
        shown = found.relative_to(home) if found.is_relative_to(home) else found
        return f"{shown}: {(error.strerror or 'cannot be used').lower()}"


def _is_hidden(path: Path) -> bool:
    return path.name.startswith(".")


def _is_abandoned(path: Path) -> bool:
    return time.time() - path.stat().st_mtime > ABANDONED_SECONDS


def parsed(path: Path, content: bytes) -> SpooledHook | None:
    """The request in ``content``; None if it is incomplete."""
    head, _, payload = content.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, _, target = first.partition(" /v1/hooks/")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    if method != "POST" or headers.get("content-length") != str(len(payload)):
        return None
    return SpooledHook(path, unquote(target.partition("?")[0]), headers, payload)
