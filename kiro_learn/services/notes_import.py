"""Takes back a folder of Markdown files: what a person edited, wrote or deleted in it since it was exported."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, Protocol

import attrs

from kiro_learn.model.checks import unchecked
from kiro_learn.model.ids import RECORD_PREFIX, RecordId, derived_event_id, to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.observation import STRATEGY
from kiro_learn.model.record import KnowledgeType, MemoryRecord, Origin
from kiro_learn.model.stored import StoredMemory
from kiro_learn.model.version import __version__
from kiro_learn.ports.notes import NotesFolder
from kiro_learn.services.histories import observation_type_as
from kiro_learn.wire.exported import ExportHead
from kiro_learn.wire.notes import GIVEN, MOST_BYTES, Note, changes, digest_of, note_of, read_note, write_note
from kiro_learn.wire.notes_index import FORMAT, NotesFile, WrongNote, read_index, write_index

CAPTURE_TYPE = "note"


LOOKED_UP = 3
"""How many files' memories are looked up to see whether they are kept here; each lookup is a request."""


class KeptMemories(Protocol):
    """The memories of the files. Every method but the first may raise KiroLearnError."""

    def memory(self, record_id: str) -> StoredMemory | None:
        """The live memory with this id; None if there is none, or another one replaced it."""
        ...

    def edit(self, record_id: str, namespace: Namespace, changed: Mapping[str, Any]) -> str:
        """Correct a memory; returns the id of the corrected one."""
        ...

    def remember(self, record: MemoryRecord) -> None:
        """Store a new memory; does nothing if its id is known."""
        ...

    def forget(self, record_id: str) -> None:
        """Forget a memory; does nothing if it does not exist."""
        ...


class Problem(enum.StrEnum):
    """Why a file is left alone, if no single line of it is wrong."""

    NO_PROJECT = "is in no project's folder of the export"
    NO_NAME = "has a name that is not text"
    TWICE = "has the id of another file too"
    SWAPPED = "has another id than it was written with"
    ID_GONE = "has lost its id; give it back, or copy the file to make a new memory of it"
    STRANGE = "has an id that no memory of this export has"
    MOVED = "was moved to another project, and a memory stays in its own"
    FIXED = "changes what a file cannot change: "
    SAME = "says the same as another new file"
    TOO_MUCH = "has a value that a new memory cannot have: "
    REPLACED = "its memory was replaced or forgotten since the export"
    CHANGED = "its memory was changed since the export"


@attrs.frozen
class NoteProblem:
    """A file that is left alone, and why; ``line`` counts from 1, and is 0 if no line is at fault."""

    path: str
    problem: str
    line: int = 0


@attrs.frozen
class ReadNote:
    """A file that says something new."""

    path: str
    note: Note
    digest: str
    """The digest of the file as it was read."""
    namespace: Namespace
    known: NotesFile | None = None
    """The index entry of the file; None if the memory is new."""
    changed: Mapping[str, Any] = attrs.Factory(dict)
    """The changed fields of an edited memory, by the names of ``Correction``."""


@attrs.define
class NotesFound:
    """What a person did to an export."""

    edited: list[ReadNote] = attrs.Factory(list)
    new: list[ReadNote] = attrs.Factory(list)
    deleted: list[NotesFile] = attrs.Factory(list)
    problems: list[NoteProblem] = attrs.Factory(list)
    conflicts: list[NoteProblem] = attrs.Factory(list)
    unchanged: int = 0
    are_elsewhere: bool = False
    """True: the memories of the unchanged files are not kept here, as far as they were looked up."""


class NotesImport:
    """One import of a folder: ``find``, then ``take`` and ``forget``, and ``finish`` whatever happened."""

    def __init__(self, folder: NotesFolder, memories: KeptMemories, *, now: datetime) -> None:
        """Raises InvalidRequest: the index of the folder's files cannot be read."""
        self._folder = folder
        self._memories = memories
        self._now = now
        self._index = read_index(folder.index() or b"")

    def find(self, tell: Callable[[int], None]) -> NotesFound:
        """Look through all files; ``tell`` gets the number done so far. Only the known places of files are changed."""
        found, by_path = NotesFound(), self._index.by_path()
        there: set[str] = set()
        read: list[ReadNote] = []
        for number, path in enumerate(self._folder.paths()):
            tell(number)
            known = by_path.get(path)
            there |= set() if known is None else {known.record_id}
            read += self._read(path, known, found)
        ids = Counter([each.note.record_id for each in read if each.note.record_id])
        for each in read:
            record_id = each.note.record_id
            is_copy = each.known is None and record_id in there
            if record_id and (ids[record_id] > 1 or is_copy):
                found.problems.append(NoteProblem(each.path, Problem.TWICE))
            else:
                self._sort(each, found)
        there |= set(ids)
        found.deleted += [file for record_id, file in self._index.files.items() if record_id not in there]
        kept = list(islice((record_id for record_id in self._index.files if record_id in there), LOOKED_UP))
        is_any_here = any(self._memories.memory(record_id) is not None for record_id in kept)
        found.are_elsewhere = found.unchanged >= len(kept) > 0 and not is_any_here
        return found

    def take(self, read: ReadNote) -> None:
        """Edit or store the memory of a file, and write the file anew. Raises KiroLearnError: it cannot be stored."""
        if read.known is None:
            record = new_record(read, self._now)
            self._memories.remember(record)
            record_id: str = record.record_id
        else:
            record_id = self._memories.edit(read.known.record_id, read.namespace, read.changed)
            del self._index.files[read.known.record_id]
        memory = self._memories.memory(record_id)
        if memory is not None:
            self._write(read, memory)

    def forget(self, file: NotesFile) -> None:
        """Forget the memory of a file that a person deleted. Raises KiroLearnError: the memory is still there."""
        self._memories.forget(file.record_id)
        del self._index.files[file.record_id]

    def finish(self) -> None:
        """Store the index of the files that are there now. Raises OSError."""
        head = ExportHead(format=FORMAT, version=__version__, exported_at=to_text(self._now))
        self._folder.write_index(b"".join(write_index(self._index, head)))

    def _read(self, path: str, known: NotesFile | None, found: NotesFound) -> Iterator[ReadNote]:
        """The file's content if it is new; problems with the file are noted in ``found``."""
        try:
            path.encode()
            content = self._folder.read(path, most_bytes=MOST_BYTES) or b""
            if known is not None and known.digest == digest_of(content):
                found.unchanged += 1
                return
            project = self._index.projects.get(path.partition("/")[0])
            note = read_note(content)
        except UnicodeEncodeError:
            found.problems.append(NoteProblem(ascii(path)[1:-1], Problem.NO_NAME))
        except OSError as error:
            found.problems.append(NoteProblem(path, error.strerror or type(error).__name__))
        except WrongNote as error:
            found.problems.append(NoteProblem(path, error.problems[0][1], error.line))
        else:
            if project is None:
                found.problems.append(NoteProblem(path, Problem.NO_PROJECT))
            else:
                yield ReadNote(path, note, digest_of(content), project.namespace, known)

    def _sort(self, read: ReadNote, found: NotesFound) -> None:
        record_id, known = read.note.record_id, read.known or self._index.files.get(read.note.record_id)
        if known is None and not record_id:
            self._sort_new(read, found)
        elif known is None:
            self._adopt(read, found)
        elif record_id != known.record_id:
            problem = Problem.SWAPPED if record_id else Problem.ID_GONE
            found.problems.append(NoteProblem(read.path, problem))
        elif read.path.partition("/")[0] != known.path.partition("/")[0]:
            found.problems.append(NoteProblem(read.path, Problem.MOVED))
        else:
            known = attrs.evolve(known, path=read.path)
            self._index.files[record_id] = known
            self._sort_edited(attrs.evolve(read, known=known), known, found)

    def _sort_new(self, read: ReadNote, found: NotesFound) -> None:
        if other := [name for name in read.note.front if name not in GIVEN]:
            found.problems.append(NoteProblem(read.path, Problem.TOO_MUCH + ", ".join(other)))
        elif any(each.digest == read.digest and each.namespace == read.namespace for each in found.new):
            found.problems.append(NoteProblem(read.path, Problem.SAME))
        else:
            found.new.append(read)

    def _sort_edited(self, read: ReadNote, known: NotesFile, found: NotesFound) -> None:
        if read.digest == known.digest:
            found.unchanged += 1
            return
        memory = self._memories.memory(known.record_id)
        if memory is None:
            found.conflicts.append(NoteProblem(read.path, Problem.REPLACED))
            return
        base = note_of(memory)
        fixed = [name for name, value in base.fixed.items() if read.note.fixed[name] != value]
        if base.digest != known.said or memory.record.namespace != read.namespace:
            found.conflicts.append(NoteProblem(read.path, Problem.CHANGED))
        elif fixed:
            found.problems.append(NoteProblem(read.path, Problem.FIXED + ", ".join(fixed)))
        elif changed := changes(memory, read.note):
            found.edited.append(attrs.evolve(read, changed=changed))
        else:
            found.unchanged += 1

    def _adopt(self, read: ReadNote, found: NotesFound) -> None:
        """Recognise a file that an earlier import had written before it was cut off."""
        memory = self._memories.memory(read.note.record_id)
        note = None if memory is None else note_of(memory)
        if memory is None or note is None or memory.record.namespace != read.namespace or changes(memory, read.note):
            found.problems.append(NoteProblem(read.path, Problem.STRANGE))
            return
        self._know(read.path, memory, note, read.digest)
        found.unchanged += 1

    def _write(self, read: ReadNote, memory: StoredMemory) -> None:
        """Replace the file that was read by the text of the memory, unless the file was changed since."""
        note = note_of(attrs.evolve(memory, sessions=tuple(read.note.front.get("sessions", ()))))
        content = write_note(note)
        now = self._folder.read(read.path, most_bytes=MOST_BYTES)
        if now is not None and digest_of(now) == read.digest:
            self._folder.write(read.path, content)
        self._know(read.path, memory, note, digest_of(content))

    def _know(self, path: str, memory: StoredMemory, note: Note, digest: str) -> None:
        record_id = memory.record.record_id
        self._index.files[record_id] = NotesFile(path=path, record_id=record_id, digest=digest, said=note.digest)


def new_record(read: ReadNote, now: datetime) -> MemoryRecord:
    """The memory of a new file. The same file always gives the same id."""
    note, said = read.note, read.note.said
    kind = str(note.front.get("type", "")) or CAPTURE_TYPE
    knowledge = KnowledgeType(kind) if kind in set(KnowledgeType) else None
    key = f"{read.namespace} {read.digest}"
    record: MemoryRecord = unchecked(
        MemoryRecord,
        record_id=RecordId(RECORD_PREFIX + derived_event_id("markdown", "memory", key)),
        namespace=read.namespace,
        strategy=STRATEGY,
        title=note.title,
        summary=note.summary or "\n".join(note.facts) or note.title,
        facts=note.facts,
        concepts=said["concepts"],
        files_touched=said["files"],
        observation_type=observation_type_as(knowledge, kind),
        source_event_ids=(derived_event_id("markdown", "source", key),),
        created_at=now,
        knowledge_type=knowledge,
        origin=Origin.USER,
        capture_type=kind,
        text=note.text,
    )
    return record
