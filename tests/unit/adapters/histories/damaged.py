"""Homes of every reader with damaged files, and what a reader reads of them."""

from __future__ import annotations

import functools
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import apsw
import attrs

from kiro_learn.adapters.histories.aider import AiderHistory
from kiro_learn.adapters.histories.claude_code import ClaudeCodeHistory
from kiro_learn.adapters.histories.codex import CodexHistory
from kiro_learn.adapters.histories.copilot import CopilotHistory
from kiro_learn.adapters.histories.cursor import CursorHistory
from kiro_learn.adapters.histories.gemini import GeminiHistory
from kiro_learn.adapters.histories.kiro_cli import AMAZON_Q, KIRO_DATABASE, KiroCliHistory
from kiro_learn.adapters.histories.kiro_ide import KiroIdeHistory
from kiro_learn.adapters.histories.memory_rows import ClaudeMemMemories, KiroMemoryMemories, Mem0Memories
from kiro_learn.adapters.histories.opencode import OpencodeHistory
from kiro_learn.adapters.histories.server_memory import BasicMemoryMemories, ServerMemoryMemories
from kiro_learn.adapters.histories.specstory import SpecStoryHistory
from kiro_learn.model.ids import derived_event_id
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.histories import HistoryPlace, HistoryReader, MemoryReader, PastEvent
from kiro_learn.services.histories import PastMemories, as_record
from kiro_learn.wire.messages import read_record, write_record, write_value
from tests.unit.adapters.histories.homes import (
    aider,
    claude_code,
    codex,
    copilot,
    cursor,
    gemini,
    kiro_cli,
    kiro_database,
    kiro_ide,
    memories,
    opencode,
    specstory,
)
from tests.unit.adapters.histories.telling import Count, place_of

Build: TypeAlias = Callable[[Path], None]

READERS: dict[str, tuple[HistoryReader, Build]] = {
    "aider": (AiderHistory(), aider.build),
    "amazon-q": (AMAZON_Q, kiro_database.build),
    "claude-code": (ClaudeCodeHistory(), claude_code.build),
    "codex": (CodexHistory(), codex.build),
    "copilot": (CopilotHistory(), copilot.build),
    "cursor": (CursorHistory(), cursor.build),
    "cursor-transcripts": (CursorHistory(), cursor.build_transcripts),
    "gemini": (GeminiHistory(), gemini.build),
    "kiro-cli": (KiroCliHistory(), kiro_cli.build),
    "kiro-cli-database": (KIRO_DATABASE, kiro_database.build),
    "kiro-ide": (KiroIdeHistory(), kiro_ide.build),
    "opencode": (OpencodeHistory(), opencode.build),
    "specstory": (SpecStoryHistory(), specstory.build),
}
MEMORIES: dict[str, tuple[MemoryReader, Build]] = {
    "basic-memory": (BasicMemoryMemories(), memories.build_basic_memory),
    "claude-mem": (ClaudeMemMemories(), memories.build_claude_mem),
    "claude-mem-export": (ClaudeMemMemories(), memories.build_claude_mem_export),
    "kiro-memory": (KiroMemoryMemories(), memories.build_kiro_memory),
    "mem0": (Mem0Memories(), memories.build_mem0),
    "server-memory": (ServerMemoryMemories(), memories.build_server_memory),
}
BUILDS = {name: build for name, (_, build) in (*READERS.items(), *MEMORIES.items())}
NAMESPACE = Namespace("/actor/ann/project/" + "ab" * 32 + "/")
NOW = datetime(2027, 1, 1, tzinfo=UTC)
MOST_EVENTS = 1_000
"""The most events of a damaged home. Sound ones have a dozen; damage may repeat some."""
TOKENS = (
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\r", b"\0", b"\x80", b"\xff", b"null", b"-1"),
    *(b"1e999", b'{"a":[', b"```", b"\xe2\x80\xa8", b"\\ud800", b"> ", b"#### "),
)


@attrs.frozen
class Damage:
    """One damage of one file. All numbers are taken modulo the possible ones."""

    file: int
    how: int
    place: int
    length: int
    value: int

    def done_to(self, content: bytes) -> bytes:
        start = self.place % (len(content) + 1)
        end = min(len(content), start + self.length)
        token = TOKENS[self.value % len(TOKENS)]
        match self.how % 6:
            case 0:
                return content[:start] + bytes((self.value % 256,)) + content[start + 1 :]
            case 1:
                return content[:start] + content[end:]
            case 2:
                return content[:end] + content[start:end] + content[end:]
            case 3:
                return content[:start]
            case 4:
                return content[:start] + bytes(end - start) + content[end:]
            case _:
                return content[:start] + token + content[start:]


@functools.cache
def files_of(name: str) -> dict[str, bytes]:
    """The files of a reader's sound home."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        BUILDS[name](home)
        paths = sorted(path for path in home.rglob("*") if path.is_file())
        return {str(path.relative_to(home)): path.read_bytes() for path in paths if path.suffix != ".db-shm"}


@contextmanager
def home_after(name: str, damages: Sequence[Damage]) -> Iterator[HistoryPlace]:
    files = dict(files_of(name))
    names = list(files)
    for damage in damages:
        struck = names[damage.file % len(names)]
        files[struck] = damage.done_to(files[struck])
    with home_of(files) as place:
        yield place


def homes_of_other_sorts(name: str) -> Iterator[HistoryPlace]:
    """The home once for each text that JSON has under a name, with an empty list or object in its place."""
    with home_of(files_of(name)) as place:
        for log in place.user.rglob("*-wal"):  # or what it says last would hide what stands in the database
            with closing(apsw.Connection(str(log).removesuffix("-wal"))) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        files = {path: path.read_bytes() for path in sorted(place.user.rglob("*")) if path.is_file()}
        for path, content in files.items():
            for number, found in enumerate(_NAMED_TEXT.finditer(content)):
                start, end = found.span(1)
                other = (b"[]", b"{}")[number % 2].ljust(end - start)  # as long: the pages of a database have places
                path.write_bytes(content[:start] + other + content[end:])
                yield place
            path.write_bytes(content)


_NAMED_TEXT = re.compile(rb'": ?("(?:[^"\\\n]|\\[^\n])*")')


@contextmanager
def home_of(files: Mapping[str, bytes]) -> Iterator[HistoryPlace]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for path, content in files.items():
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_bytes(content)
        yield place_in(home, files)


def place_in(home: Path, files: Iterable[str]) -> HistoryPlace:
    """A place with the home as a project's folder, and with the home's files as those that a person named."""
    return place_of(home, home, *(home / path for path in files))


def check(event: PastEvent) -> None:
    assert 1 <= len(event.session_id) <= 128
    assert event.happened_at is None or event.happened_at.utcoffset() is not None
    json.dumps(write_value(event.body)).encode()
    assert json.dumps(write_value(event.body), ensure_ascii=False).encode()
    assert derived_event_id(event.session_id, event.kind, event.key)


def remembered(name: str, place: HistoryPlace) -> list[MemoryRecord]:
    """The records of other memories in a home, as the daemon reads them."""
    past, skipped = PastMemories((MEMORIES[name][0],), place), Count()
    records = [
        as_record(memory, found, NAMESPACE, now=NOW)
        for found in past.found()
        for memory in past.memories(found, skipped)
    ]
    assert [read_record(json.loads(json.dumps(write_record(record)))) for record in records] == records
    return records
