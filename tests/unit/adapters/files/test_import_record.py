"""Which past sessions were imported, kept in a file of the home."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiro_learn.adapters.files import Home
from kiro_learn.adapters.files.home import _IMPORTS as NAME
from kiro_learn.adapters.files.home import DiskImportRecord


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "kiro-learn.db").write_bytes(b"x")
    return Home(tmp_path)


def test_it_is_kept_and_tells_no_session(home: Home) -> None:
    DiskImportRecord.of(home).add("claude-code /home/ann/x.jsonl s1", "1 2 3")
    DiskImportRecord.of(home).add("claude-code /home/ann/y.jsonl s2", "1 2 3")
    record = DiskImportRecord.of(home)
    assert record.has("claude-code /home/ann/x.jsonl s1", "1 2 3")
    assert record.has("claude-code /home/ann/y.jsonl s2", "1 2 3")
    assert not record.has("claude-code /home/ann/x.jsonl s1", "1 2 4")
    assert "ann" not in (home.path / NAME).read_text()
    assert (home.path / NAME).stat().st_mode & 0o777 == 0o600


def test_another_database_has_had_no_import(home: Home) -> None:
    DiskImportRecord.of(home).add("a", "1")
    kept = home.database.rename(home.path / "before.db")
    home.database.write_bytes(b"x")
    record = DiskImportRecord.of(home)
    assert not record.has("a", "1")
    record.add("b", "1")
    home.database.unlink()
    kept.rename(home.database)
    assert not DiskImportRecord.of(home).has("a", "1")


@pytest.mark.parametrize("text", ["", "\n", "torn", "\udcff", "none\na b c\nd"])
def test_a_file_that_is_torn_tells_nothing(home: Home, text: str) -> None:
    (home.path / NAME).write_bytes(text.encode("utf-8", "surrogateescape"))
    assert not DiskImportRecord.of(home).has("a", "b")
