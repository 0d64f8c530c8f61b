"""Memories are exported as Markdown files, a person edits these, and memories say what the files say."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.stored import StoredMemory
from kiro_learn.privacy.scrub import scrub_record
from kiro_learn.services.notes_export import Left
from kiro_learn.services.notes_import import NotesFound, Problem
from kiro_learn.wire.notes import MOST_BYTES, Note, note_of, read_note, write_note
from properties.notes import InMemoryMemories, InMemoryNotes, export_notes, import_notes
from properties.test_a_note_says_what_the_memory_says import LISTS, SAID, TEXTS, memory

NAMES = ("title", "summary", "facts", "text", "concepts", "files")


@st.composite
def kept(draw: st.DrawFn) -> InMemoryMemories:
    """Some memories of two projects, without secrets, as a store keeps them."""
    count = draw(st.integers(1, 4))
    records: dict[str, MemoryRecord] = {}
    for number in range(count):
        drawn = memory(draw(SAID), draw(SAID), draw(LISTS), draw(TEXTS), draw(LISTS)).record
        record_id = RecordId(f"mr_01J0000000000000000000000{number}")
        namespace = Namespace(f"/actor/a/project/{'ab'[number % 2]}/")
        records[record_id] = scrub_record(unchecked_evolve(drawn, record_id=record_id, namespace=namespace))
    return InMemoryMemories(records)


@st.composite
def edits(draw: st.DrawFn) -> Mapping[str, Any]:
    files = LISTS.map(lambda names: tuple(dict.fromkeys(names)))
    values = {"title": SAID, "summary": SAID, "text": TEXTS, "facts": LISTS, "concepts": LISTS, "files": files}
    names = draw(st.sets(st.sampled_from(NAMES), max_size=3))
    return {name: draw(values[name]) for name in sorted(names)}


def edited(note: Note, changed: Mapping[str, Any]) -> Note:
    front = {name: value for name, value in changed.items() if name in {"concepts", "files"}}
    said = {name: value for name, value in changed.items() if name not in front}
    return attrs.evolve(note, front={**note.front, **front}, **said)


@given(memories=kept())
def test_what_nobody_edited_changes_nothing(memories: InMemoryMemories) -> None:
    folder, before = InMemoryNotes(), dict(memories.records)
    assert export_notes(folder, memories).new == len(before)
    found, files = import_notes(folder, memories), dict(folder.files)
    assert found.unchanged == len(before)
    assert (found.edited, found.new, found.deleted, found.problems, found.conflicts) == ([], [], [], [], [])
    written = export_notes(folder, memories)
    assert (written.unchanged, written.left) == (len(before), {})
    assert (memories.records, folder.files) == (before, files)


@given(memories=kept(), changes=st.lists(edits(), max_size=4), is_of_windows=st.booleans())
def test_an_edited_file_is_what_memory_says(
    memories: InMemoryMemories, changes: list[Mapping[str, Any]], is_of_windows: bool
) -> None:
    """With any text in any field. A secret in it is cut out, in the file too."""
    folder = InMemoryNotes()
    export_notes(folder, memories)
    wanted = {path: read_note(content) for path, content in folder.files.items()}
    for path, changed in zip(sorted(folder.files), changes, strict=False):
        wanted[path] = edited(wanted[path], changed)
        folder.files[path] = write_note(wanted[path]).replace(b"\n", b"\r\n" if is_of_windows else b"\n")
    found = import_notes(folder, memories)
    assert (found.new, found.deleted, found.problems, found.conflicts) == ([], [], [], [])
    assert sorted(memories.replaced) == sorted(each.note.record_id for each in found.edited)
    files = dict(folder.files)
    for path, content in files.items():
        note = read_note(content)
        record = memories.records[note.record_id]
        assert wanted[path].text or record.text in {"", record.summary}
        assert note.said == note_of(StoredMemory(record=record)).said == scrubbed(record, wanted[path])
    assert export_notes(folder, memories).left == {}
    kept_so = only_spelled_otherwise(found, files, wanted)
    assert {path: folder.files[path] for path in kept_so} == {path: files[path] for path in kept_so}
    assert {path: read_note(content) for path, content in folder.files.items()} == {
        path: read_note(content) for path, content in files.items()
    }
    again = import_notes(folder, memories)
    assert (again.edited, again.new, again.problems, again.unchanged) == ([], [], [], len(files))


def only_spelled_otherwise(found: NotesFound, files: Mapping[str, bytes], wanted: Mapping[str, Note]) -> list[str]:
    """Files with other bytes and the same meaning: they are left as the person has them."""
    taken = {each.path for each in found.edited}
    return [path for path in files if path not in taken and files[path] != write_note(wanted[path])]


def scrubbed(record: MemoryRecord, wanted: Note) -> dict[str, Any]:
    said = dict(wanted.said)
    said["text"] = said["text"] or record.text
    files = {"files_touched": said.pop("files"), "files_read": (), "files_modified": ()}
    return note_of(StoredMemory(record=scrub_record(unchecked_evolve(record, **said, **files)))).said


SECRET = "gh" + "p_" + "a1B2" * 9


def a_folder(*numbers: int) -> tuple[InMemoryNotes, InMemoryMemories]:
    folder, memories = InMemoryNotes(), InMemoryMemories()
    for number in numbers:
        record = memory(f"Title {number}", "Said.", ("a fact",), "", ()).record
        record_id = RecordId(f"mr_01J0000000000000000000000{number}")
        memories.records[record_id] = attrs.evolve(record, record_id=record_id)
    export_notes(folder, memories)
    return folder, memories


def test_a_secret_that_a_person_writes_into_a_file_stays_in_neither() -> None:
    folder, memories = a_folder(1)
    (path,) = folder.files
    folder.files[path] = folder.files[path].replace(b"Said.", SECRET.encode())
    import_notes(folder, memories)
    assert SECRET.encode() not in folder.files[path]
    assert "[REDACTED:" in next(iter(memories.records.values())).summary


def test_a_file_without_an_id_becomes_a_memory_once() -> None:
    folder, memories = a_folder(1)
    (path,) = folder.files
    place = path.partition("/")[0]
    note = b"---\ntype: constraint\nconcepts:\n- git\n---\n# Never force-push\n\nIt broke main.\n\n## Facts\n* in May\n"
    folder.files[f"{place}/new.md"] = note
    kept_index = folder.kept_index
    assert [each.path for each in import_notes(folder, memories).new] == [f"{place}/new.md"]
    (record,) = (each for each in memories.records.values() if each.title == "Never force-push")
    assert (record.type_name, record.facts, record.concepts) == ("constraint", ("in May",), ("git",))
    assert record.record_id.encode() in folder.files[f"{place}/new.md"]
    assert import_notes(folder, memories).unchanged == 2
    folder.kept_index = kept_index
    assert import_notes(folder, memories).unchanged == 2, "an import was killed before it noted what it did"
    folder.files[f"{place}/new.md"] = note
    folder.kept_index = kept_index
    import_notes(folder, memories)
    assert len(memories.records) == 2, "or before it wrote the file"


def test_what_cannot_be_taken_is_named_and_left_alone() -> None:
    folder, memories = a_folder(1, 2, 3, 4, 5, 6, 7)
    before = dict(memories.records)
    one, two, three, four, five, six, seven = sorted(folder.files)
    place = one.partition("/")[0]
    hostile = {
        one: b"\x7fELF\0\xff\xfe",
        two: folder.files[two].replace(b"importance: ", b"importance: &a [*a, *a]"),
        three: folder.files[three].replace(b"id: mr_", b"id: ../../mr_"),
        four: folder.files[five],
        six: folder.files[six].replace(b"type: decision", b"type: constraint"),
        f"{place}/copy.md": folder.files[seven],
        f"{place}/strange.md": folder.files[one].replace(b"id: mr_01J", b"id: mr_02J"),
        f"{place}/long.md": b"# " + b"x" * MOST_BYTES,
        f"{place}/front.md": b"---\nauthor: me\n---\n# t\n",
        "alone.md": b"# t\n",
        "elsewhere/new.md": b"# t\n",
    }
    folder.files |= hostile
    folder.links = {f"{place}/link.md", seven}
    found = import_notes(folder, memories)
    said = {each.path: (each.line, each.problem) for each in found.problems}
    assert said == {
        one: (1, "is no text in UTF-8"),
        two: (6, said[two][1]),
        three: (0, Problem.SWAPPED),
        four: (0, Problem.SWAPPED),
        six: (0, Problem.FIXED + "type"),
        seven: (0, "is a symbolic link"),
        f"{place}/copy.md": (0, Problem.TWICE),
        f"{place}/strange.md": (0, Problem.STRANGE),
        f"{place}/long.md": (0, "is longer"),
        f"{place}/front.md": (2, "a memory has no author"),
        f"{place}/link.md": (0, "is a symbolic link"),
        "alone.md": (0, Problem.NO_PROJECT),
        "elsewhere/new.md": (0, Problem.NO_PROJECT),
    }
    assert (found.edited, found.new, found.deleted, found.conflicts) == ([], [], [], [])
    assert memories.records == before
    assert {path: folder.files[path] for path in hostile} == hostile


def test_what_memory_changed_since_is_a_conflict_and_a_deleted_file_forgets_nothing() -> None:
    folder, memories = a_folder(1, 2, 3)
    one, two, three = sorted(folder.files)
    changed = memories.edit("mr_01J00000000000000000000001", Namespace("/actor/a/project/b/"), {"summary": "Other."})
    for path in (one, two):
        folder.files[path] = folder.files[path].replace(b"Said.", b"Mine.")
    del folder.files[three]
    found = import_notes(folder, memories)
    assert [(each.path, each.problem) for each in found.conflicts] == [(one, Problem.REPLACED)]
    assert [each.path for each in found.edited] == [two]
    assert [each.path for each in found.deleted] == [three]
    assert (memories.records[changed].summary, len(memories.records)) == ("Other.", 3)
    written = export_notes(folder, memories)
    assert written.left == {one: Left.EDITED, three: Left.DELETED}
    assert b"Mine." in folder.files[one]
    assert (written.new, written.unchanged) == (1, 1)


class DiskFull(InMemoryNotes):
    """A folder that takes only a few files."""

    def write(self, path: str, content: bytes) -> None:
        if len(self.files) == 2:
            raise OSError(errno.ENOSPC, "No space left on device", path)
        super().write(path, content)


def test_an_export_that_ended_in_the_middle_goes_on_in_the_same_folder() -> None:
    _, memories = a_folder(1, 2, 3)
    full = DiskFull()
    with pytest.raises(OSError, match="No space"):
        export_notes(full, memories)
    folder = InMemoryNotes(dict(full.files), kept_index=full.kept_index)
    written = export_notes(folder, memories)
    assert (written.new, written.unchanged, written.left) == (1, 2, {})
    assert import_notes(folder, memories).unchanged == 3


def test_a_file_that_is_only_spelled_otherwise_is_written_and_removed_as_one_that_nobody_edited() -> None:
    folder, memories = a_folder(1, 2, 3)
    one, two, three = sorted(folder.files)
    for path in (one, two, three):
        folder.files[path] = b"\xef\xbb\xbf" + folder.files[path].replace(b"\n", b"\r\n")
    memories.records["mr_01J00000000000000000000001"] = attrs.evolve(
        memories.records["mr_01J00000000000000000000001"], summary="Other."
    )
    del memories.records["mr_01J00000000000000000000002"]
    as_it_was = folder.files[three]
    written = export_notes(folder, memories)
    assert (written.changed, written.removed, written.unchanged, written.left) == (1, 1, 1, {})
    assert b"Other." in folder.files[one]
    assert two not in folder.files, "what was forgotten is gone"
    assert folder.files[three] == as_it_was


def test_of_two_new_files_that_say_the_same_one_is_taken() -> None:
    folder, memories = a_folder(1)
    place = next(iter(folder.files)).partition("/")[0]
    folder.files |= {f"{place}/a.md": b"# New\n", f"{place}/b.md": b"# New\n"}
    found = import_notes(folder, memories)
    assert [each.path for each in found.new] == [f"{place}/a.md"]
    assert [(each.path, each.problem) for each in found.problems] == [(f"{place}/b.md", Problem.SAME)]
    assert folder.files[f"{place}/b.md"] == b"# New\n"


def test_a_file_may_be_renamed_and_its_memory_be_forgotten() -> None:
    folder, memories = a_folder(1, 2)
    one, _ = sorted(folder.files)
    place = one.partition("/")[0]
    folder.files[f"{place}/mine.md"] = folder.files.pop(one).replace(b"Said.", b"Mine.")
    assert [each.path for each in import_notes(folder, memories).edited] == [f"{place}/mine.md"]
    del memories.records["mr_01J00000000000000000000002"]
    assert export_notes(folder, memories).removed == 1
    assert list(folder.files) == [f"{place}/mine.md"]
