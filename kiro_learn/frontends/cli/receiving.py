"""What comes from the daemon line by line, and goes into files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kiro_learn.client import json_calls
from kiro_learn.client.routes import Client
from kiro_learn.errors import InvalidRequest
from kiro_learn.frontends.cli import export_texts
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.wire.exported import END, read_line

Json = dict[str, Any]


class LineSplitter:
    """Hands over whole lines of what comes in pieces, and keeps the last one."""

    def __init__(self, take: Callable[[bytes], object]) -> None:
        self._take = take
        self._rest = b""
        self.last = b""

    def __call__(self, piece: bytes) -> None:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            self._take(line)
        if lines:
            self.last = lines[-1]


def receive(client: Client, kind: str | None, path: Path, take: Callable[[bytes], object]) -> Json:
    """Receive an export, each line without its end, and ``take`` it to ``path``; what its last line says.

    Raises:
      Failed: it was cut off, or cannot be written.
    """

    def taken(line: bytes) -> None:
        with writing(path):  # else the client takes an error of the disk for one of its connection
            take(line)

    splitter = LineSplitter(taken)
    client.receive(json_calls.export(kind), splitter)
    return end_of(splitter.last)


def end_of(line: bytes) -> Json:
    """What the last line of an export says. Raises Failed: it is not the last."""
    try:
        kind, value = read_line(line)
    except InvalidRequest as error:
        raise Failed(export_texts.CUT_OFF) from error
    if kind != END:
        raise Failed(export_texts.CUT_OFF)
    return value


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say what is wrong with ``path``, for the length of the block."""
    try:
        yield
    except OSError as error:
        hint = export_texts.FORCE_HINT if isinstance(error, FileExistsError) else ""
        problem = error.strerror or type(error).__name__
        raise Failed(export_texts.CANNOT_WRITE.format(path=path, problem=problem), hint=hint) from error


def warn_of_damage(shell: Shell, end: Json) -> None:
    if end["damaged"]:
        shell.say(
            [
                f"{shell.err.mark('warning')} {export_texts.DAMAGED.format(count=end['damaged'])}",
                export_texts.DAMAGED_HINT,
            ]
        )
