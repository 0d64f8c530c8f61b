"""The verb logs: the last lines of the daemon's log, and new ones as they come."""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Self

import click

from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.shell import Failed, Shell

LINES = 20
MOST_LINES = 100_000
LOOK_AGAIN_SECONDS = 0.5
LEVEL_COLUMN = 8
_SHOWN_APART = ("timestamp", "level", "event")


@click.command("logs")
@click.option("-n", "--lines", "count", type=click.IntRange(0, MOST_LINES), default=LINES, help="How many lines.")
@click.option("-f", "--follow", "is_following", is_flag=True, help="Also print new lines as they come, until Ctrl-C.")
@printing
def logs_verb(shell: Shell, *, count: int, is_following: bool) -> None:
    """Show the last lines of the daemon's log."""
    folder = shell.home / "logs"
    if not any(folder.glob("daemon.jsonl*")):
        raise Failed(f"there is no log in {shell.tilde(folder)} yet", hint="kiro-learn start")
    with Tail(folder / "daemon.jsonl") as tail:
        _print(shell, tail.last(count))
        if is_following:
            for line in follow(tail, lambda: _is_read_after_a_while(shell)):
                _print(shell, [line])


def _is_read_after_a_while(shell: Shell) -> bool:
    """Wait; returns whether standard output is still read. If the reader closes the pipe, the wait ends at once."""
    if shell.out.is_interactive:  # not every system can poll a terminal, and a closed one ends us by a signal
        time.sleep(LOOK_AGAIN_SECONDS)
        return True
    poll = select.poll()
    poll.register(sys.stdout, 0)
    return not poll.poll(LOOK_AGAIN_SECONDS * 1000)


def _print(shell: Shell, lines: Iterable[bytes]) -> None:
    texts = (line.decode("utf-8", "replace") for line in lines)
    shell.print(texts if shell.as_json else (_shown(shell, text) for text in texts))


def _shown(shell: Shell, line: str) -> str:
    """A line of our log in a form for people; any other line unchanged."""
    try:
        said = json.loads(line)
        when = datetime.fromisoformat(said["timestamp"]).astimezone()
        level, event = str(said["level"]), str(said["event"])
    except (ValueError, LookupError, TypeError):
        return line
    level = f"{level:{LEVEL_COLUMN}}"
    shown = shell.out.error(level) if said["level"] in {"error", "critical"} else level
    return f"{shell.out.dim(f'{when:%Y-%m-%d %H:%M:%S}')} {shown}{shell.out.bold(event)}{_details(said)}"


def _details(said: Mapping[str, Any]) -> str:
    rest = ((name, value) for name, value in said.items() if name not in _SHOWN_APART)
    return "".join(f" {name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in rest)


# The lines of the daemon's log, over all of its files: the last ones, and new ones.
#
# At any moment, a log that has grown is renamed to ``daemon.jsonl.1``, the one before to ``.2``, and so on. So the
# files are opened first and then distinguished by their inodes: an open file cannot be mistaken for another.

BLOCK_BYTES = 65_536


class Tail:
    """Reads one log, from its last lines on."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._file: BinaryIO | None = None
        """The newest file that is read."""
        self._begun = b""
        """The beginning of a line whose end is not written yet."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def last(self, count: int) -> list[bytes]:
        """The last ``count`` lines; ``new`` gives those that come later."""
        lines: list[bytes] = []
        for file in self._opened():
            if self._file is not None and len(lines) >= count:
                file.close()
                continue
            lines = _last_lines(file, count - len(lines)) + lines
            if self._file is None:
                self._file = file
            else:
                file.close()
        return lines

    def new(self) -> Iterator[bytes]:
        """The lines that were written since the last call, also those in files that were renamed meanwhile."""
        newer = self._newer()
        if self._file is not None:
            yield from self._rest(self._file)
        for file in reversed(newer):
            if self._file is not None:
                self._file.close()
            self._file = file
            yield from self._rest(file)

    def _newer(self) -> list[BinaryIO]:
        """The files that are newer than the one that is read, the newest first."""
        known = None if self._file is None else _inode(os.fstat(self._file.fileno()))
        with suppress(FileNotFoundError):
            if _inode(self._log.stat()) == known:
                return []
        newer: list[BinaryIO] = []
        is_older = False
        for file in self._opened():
            is_older = is_older or _inode(os.fstat(file.fileno())) == known
            if is_older:
                file.close()
            else:
                newer.append(file)
        return newer

    def _opened(self) -> list[BinaryIO]:
        """All files of the log, each once, the newest first."""
        numbers = (path.suffix[1:] for path in self._log.parent.glob(f"{self._log.name}.*"))
        names = [f"{self._log.name}.{number}" for number in sorted(map(int, filter(str.isdecimal, numbers)))]
        opened: dict[tuple[int, int], BinaryIO] = {}
        for name in (self._log.name, *names):
            with suppress(FileNotFoundError):
                file = self._log.with_name(name).open("rb")
                if opened.setdefault(_inode(os.fstat(file.fileno())), file) is not file:
                    file.close()
        return list(opened.values())

    def _rest(self, file: BinaryIO) -> Iterator[bytes]:
        while block := file.read(BLOCK_BYTES):
            *lines, self._begun = (self._begun + block).split(b"\n")
            yield from lines


def follow(tail: Tail, wait: Callable[[], bool]) -> Iterator[bytes]:
    """All new lines; if there are none, ``wait`` is called, and its False ends the reading."""
    while True:
        yield from tail.new()
        if not wait():
            return


def _inode(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _last_lines(file: BinaryIO, count: int) -> list[bytes]:
    """At most ``count`` whole lines at the end of ``file``; leaves its position after them."""
    end = size = file.seek(0, os.SEEK_END)
    text = b""
    while end and text.count(b"\n") <= count:
        start = max(0, end - BLOCK_BYTES)
        file.seek(start)
        text = file.read(end - start) + text
        end = start
    whole = text.rfind(b"\n") + 1
    file.seek(size - len(text) + whole)
    return text[:whole].split(b"\n")[:-1][-count:] if count else []
