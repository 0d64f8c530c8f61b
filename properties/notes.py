"""A folder of Markdown files and the memories that they hold, both in the computer's memory."""

from __future__ import annotations

import errno
import itertools
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import attrs

from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.correction import Correction
from kiro_learn.model.ids import RECORD_PREFIX, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import EDITED, MemoryRecord
from kiro_learn.model.stored import StoredMemory
from kiro_learn.privacy.scrub import scrub_record
from kiro_learn.services.notes_export import NotesExport, NotesWritten
from kiro_learn.services.notes_import import NotesFound, NotesImport

NOW = datetime(2026, 1, 5, tzinfo=UTC)


@attrs.define
class InMemoryNotes:
    """``NotesFolder`` as a dictionary."""

    files: dict[str, bytes] = attrs.Factory(dict)
    links: set[str] = attrs.Factory(set)
    kept_index: bytes | None = None

    def index(self) -> bytes | None:
        return self.kept_index

    def write_index(self, content: bytes) -> None:
        self.kept_index = content

    def is_empty(self) -> bool:
        return not self.files

    def paths(self) -> Iterator[str]:
        yield from sorted({*self.files, *self.links})

    def read(self, path: str, *, most_bytes: int) -> bytes | None:
        content = self.files.get(path)
        if path in self.links:
            raise OSError(errno.ELOOP, "is a symbolic link", path)
        if content is not None and len(content) > most_bytes:
            raise OSError(errno.EFBIG, "is longer", path)
        return content

    def write(self, path: str, content: bytes) -> None:
        self.files[path] = content
        self.links.discard(path)

    def remove(self, path: str) -> None:
        self.files.pop(path, None)


@attrs.define
class InMemoryMemories:
    """``KeptMemories`` as a dictionary, with the redaction of the real ones."""

    records: dict[str, MemoryRecord] = attrs.Factory(dict)
    replaced: list[str] = attrs.Factory(list)
    _numbers: Iterator[int] = attrs.Factory(lambda: itertools.count(1))

    def memory(self, record_id: str) -> StoredMemory | None:
        record = self.records.get(record_id)
        return None if record is None else StoredMemory(record=record)

    def edit(self, record_id: str, namespace: Namespace, changed: Mapping[str, Any]) -> str:
        old = self.records.pop(record_id)
        assert old.namespace == namespace
        corrected = scrub_record(unchecked_evolve(Correction(), **changed).of(old))
        new_id = RecordId(f"{RECORD_PREFIX}7{next(self._numbers):025}")
        self.records[new_id] = unchecked_evolve(corrected, record_id=new_id, strategy=EDITED)
        self.replaced.append(record_id)
        return new_id

    def remember(self, record: MemoryRecord) -> None:
        self.records.setdefault(record.record_id, scrub_record(record))

    def forget(self, record_id: str) -> None:
        self.records.pop(record_id, None)


def export_notes(folder: InMemoryNotes, memories: InMemoryMemories, *, is_forced: bool = False) -> NotesWritten:
    """Export all memories into the folder."""
    export = NotesExport(folder, {}, now=NOW, is_forced=is_forced)
    for record in tuple(memories.records.values()):
        export.put(StoredMemory(record=record))
    return export.finish()


def import_notes(folder: InMemoryNotes, memories: InMemoryMemories) -> NotesFound:
    """Import all that a person did in the folder, except deleted files."""
    notes = NotesImport(folder, memories, now=NOW)
    found = notes.find(lambda _count: None)
    for each in (*found.edited, *found.new):
        notes.take(each)
    notes.finish()
    return found
