from __future__ import annotations

from kiro_learn.model.record import indexed_columns
from tests.unit.storage.builders import record


def test_a_file_counts_once_however_often_it_is_named() -> None:
    touched = record(1, files_touched=("a", "b"), files_read=("b", "c"), files_modified=("a",))
    assert indexed_columns(touched)[-1] == "a\nb\nc"
