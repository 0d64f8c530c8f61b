from __future__ import annotations

from datetime import timedelta

import attrs
import pytest

from kiro_learn.model.file_state import FileChanges, stale_files
from kiro_learn.retrieval.rendering.repeats import MOST_FILES, changes_of, cited_files, note_of
from kiro_learn.testing.daemon import a_record

RECORD = attrs.evolve(a_record(1), files_modified=("b.py",), files_touched=("a.py", "b.py"), files_read=("c.py",))


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        (FileChanges(), ""),
        (FileChanges(gone=("a.py",)), "a.py gone"),
        (FileChanges(changed=("a.py", "b.py")), "a.py and 1 more written to since"),
        (FileChanges(gone=("a.py",), changed=("b.py", "c.py", "d.py")), "a.py gone, b.py and 2 more written to since"),
    ],
)
def test_a_note_names_the_first_file_and_counts_the_others(changes: FileChanges, note: str) -> None:
    assert note_of(changes) == note
    assert bool(changes) is bool(note)


def test_files_that_were_changed_count_first_and_each_once() -> None:
    assert cited_files(RECORD) == ("b.py", "a.py", "c.py")
    many = attrs.evolve(RECORD, files_read=tuple(f"{number}.py" for number in range(20)))
    assert len(cited_files(many)) == MOST_FILES


def test_a_file_written_to_after_the_memory_was_learned_has_changed() -> None:
    before, after = (RECORD.created_at + timedelta(seconds=step) for step in (-1, 1))
    changes = changes_of(RECORD, {"a.py": before, "b.py": after, "c.py": None, "other.py": None})
    assert changes == FileChanges(gone=("c.py",), changed=("b.py",))
    assert not changes_of(RECORD, {"a.py": RECORD.created_at})
    assert not changes_of(RECORD, {}), "of what could not be looked at, nothing is said"


def test_a_bare_name_that_was_only_mentioned_was_perhaps_never_a_file_here() -> None:
    record = attrs.evolve(a_record(1), files_touched=("Node.js", "pool.py", "src/pool.py"), files_read=("read.py",))
    found = dict.fromkeys(("Node.js", "pool.py", "src/pool.py", "read.py"))
    assert changes_of(record, found) == FileChanges(gone=("src/pool.py", "read.py"))
    assert stale_files(record, {"src/pool.py": None}, {})
    assert not stale_files(record, {"Node.js": None, "pool.py": None}, {})
    assert stale_files(record, {"pool.py": None}, {"pool.py": "digest of what was there"})
