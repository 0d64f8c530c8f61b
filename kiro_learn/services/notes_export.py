"""Writes memories as Markdown files, and again if they changed since; files that a person edited stay as they are."""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Mapping
from datetime import datetime

import attrs

from kiro_learn.model.ids import to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.stored import StoredMemory
from kiro_learn.model.version import __version__
from kiro_learn.ports.notes import NotesFolder
from kiro_learn.wire.exported import ExportHead
from kiro_learn.wire.notes import MOST_BYTES, digest_of, file_name_of, name_for, note_of, read_note, write_note
from kiro_learn.wire.notes_index import FORMAT, NotesFile, NotesIndex, NotesProject, WrongNote, read_index, write_index


class Left(enum.StrEnum):
    """Why a file was not written or removed, though the memory says something else."""

    EDITED = "edited"
    """A person changed the file since it was written."""
    DELETED = "deleted"
    """A person deleted the file since it was written."""
    FOREIGN = "foreign"
    """The file has the name of one of ours, but was not written by us."""


@attrs.define
class NotesWritten:
    """What became of the files of an export."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    """Files whose memories were forgotten or replaced."""
    overwritten: list[str] = attrs.Factory(list)
    """The paths of files that a person had edited and that were overwritten."""
    left: dict[str, Left] = attrs.Factory(dict)
    """Why a file was left as it is, by its path."""


class NotesExport:
    """One export into a folder: ``put`` each memory, then ``finish``. Every method may raise OSError."""

    def __init__(self, folder: NotesFolder, names: Mapping[str, str], *, now: datetime, is_forced: bool) -> None:
        """``names``: display names of projects, by namespace. ``is_forced``: overwrite what a person edited or deleted.

        Raises:
          InvalidRequest: the index of the folder's files cannot be read.
        """
        self._folder = folder
        self._names = names
        self._head = ExportHead(format=FORMAT, version=__version__, exported_at=to_text(now))
        self._is_forced = is_forced
        index = folder.index()
        self.is_foreign = index is None and not folder.is_empty()
        """True: the folder is not empty and has no export of ours, so nothing may be written there."""
        self._old = NotesIndex() if index is None else read_index(index)
        self._is_first = index is None
        self._new = NotesIndex(projects=dict(self._old.projects))
        self._written = NotesWritten()

    def put(self, memory: StoredMemory) -> None:
        """Write the file of a memory, if its text changed."""
        if self._is_first:  # first: an export that is cut off can go on in the same folder
            self._folder.write_index(b"".join(write_index(self._old, self._head)))
            self._is_first = False
        note = note_of(memory)
        content = write_note(note)
        folder = self._folder_for(memory.record.namespace)
        known = self._old.files.pop(note.record_id, None)
        if known is not None and not known.path.startswith(f"{folder}/"):  # the project was merged into another
            self._drop(known)
            known = None
        path = f"{folder}/{file_name_of(note)}" if known is None else known.path
        file = NotesFile(path=path, record_id=memory.record.record_id, digest=digest_of(content), said=note.digest)
        if (kept := self._settle(file, known, content)) is not None:
            self._new.files[kept.record_id] = kept

    def finish(self) -> NotesWritten:
        """Remove the files of memories that are gone, and store the index of the files that are there now."""
        for gone in self._old.files.values():
            self._drop(gone)
        folders = {file.path.partition("/")[0] for file in self._new.files.values()}
        self._new.projects = {name: each for name, each in self._new.projects.items() if name in folders}
        self._folder.write_index(b"".join(write_index(self._new, self._head)))
        return self._written

    def _settle(self, file: NotesFile, known: NotesFile | None, content: bytes) -> NotesFile | None:
        """Write the file if that is allowed; returns its entry for the index, None if it gets none."""
        there = self._digest(file.path)
        if there == file.digest:
            self._written.unchanged += 1
            return file
        left = None
        if there is None:
            left = None if known is None else Left.DELETED
        elif known is None or self._is_edited(known, there):
            left = Left.FOREIGN if known is None else Left.EDITED
        elif known.said == file.said and not self._is_forced:  # an editor spelled the same otherwise
            self._written.unchanged += 1
            return known
        if left is not None and not self._is_forced:
            self._written.left[file.path] = left
            return known
        self._folder.write(file.path, content)
        if left in {Left.EDITED, Left.FOREIGN}:
            self._written.overwritten.append(file.path)
        elif there is None:
            self._written.new += 1
        else:
            self._written.changed += 1
        return file

    def _drop(self, gone: NotesFile) -> None:
        there = self._digest(gone.path)
        if there is not None and not self._is_edited(gone, there):
            self._folder.remove(gone.path)
            self._written.removed += 1
        elif there is not None:
            self._written.left[gone.path] = Left.EDITED
            self._new.files[gone.record_id] = gone

    def _is_edited(self, known: NotesFile, digest: str) -> bool:
        """Whether the file with this digest says something new; an editor may spell the same otherwise."""
        if digest == known.digest:
            return False
        try:
            return read_note(self._folder.read(known.path, most_bytes=MOST_BYTES) or b"").digest != known.said
        except (OSError, WrongNote):
            return True

    def _digest(self, path: str) -> str | None:
        """The digest of the file; None if there is no file, and empty if it is a link or cannot be read."""
        try:
            content = self._folder.read(path, most_bytes=MOST_BYTES)
        except OSError:
            return ""
        return None if content is None else digest_of(content)

    def _folder_for(self, namespace: Namespace) -> str:
        if (folder := self._new.folder_of(namespace)) is not None:
            return folder
        name = self._names.get(namespace, "")
        folder = name_for(name, hashlib.sha256(namespace.encode()).hexdigest()[:8])
        self._new.projects[folder] = NotesProject(folder=folder, namespace=namespace, name=name)
        return folder
