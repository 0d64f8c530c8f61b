"""A folder of Markdown files on the disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiro_learn.adapters.files.notes_folder import DiskNotes


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "notes"


def test_what_is_written_is_there_and_nobody_elses(root: Path) -> None:
    notes = DiskNotes(root)
    assert (notes.index(), notes.is_empty(), list(notes.paths())) == (None, True, [])
    assert notes.read("web/a.md", most_bytes=9) is None
    notes.write("web/a.md", b"old")
    notes.write("web/a.md", b"new")
    notes.write_index(b"index")
    assert (notes.index(), notes.is_empty(), list(notes.paths())) == (b"index", False, ["web/a.md"])
    assert notes.read("web/a.md", most_bytes=3) == b"new"
    assert {path.stat().st_mode & 0o077 for path in root.rglob("*")} == {0}
    assert sorted(each.name for each in root.rglob("*")) == [".kiro-learn.jsonl", "a.md", "web"]
    notes.remove("web/a.md")
    notes.remove("web/a.md")
    assert not (root / "web").exists()


def test_what_a_killed_process_left_is_gone_with_the_next_writing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = DiskNotes(root)
    seen: list[str] = []
    replace = os.replace

    def watched(source: str, *arguments: Any, **options: Any) -> None:
        seen.append(source)
        replace(source, *arguments, **options)

    monkeypatch.setattr(os, "replace", watched)
    notes.write("web/a.md", b"old")
    (root / "web" / seen[0]).write_bytes(b"half")
    notes.write("web/a.md", b"new")
    assert [each.name for each in (root / "web").iterdir()] == ["a.md"]
    assert notes.read("web/a.md", most_bytes=9) == b"new"


OUTSIDE = ("../a.md", "a.md", "/etc/a.md", "web/../../a.md", "web/.a.md", "./a.md", "web/a\0.md", "web/")
Act = Callable[[], object]


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_leads_out_of_it(root: Path, path: str) -> None:
    notes = DiskNotes(root)
    acts: list[Act] = [
        lambda: notes.read(path, most_bytes=9),
        lambda: notes.write(path, b""),
        lambda: notes.remove(path),
    ]
    for act in acts:
        with pytest.raises(OSError, match="is in no project's folder"):
            act()
    assert not root.exists()


def test_no_link_leads_out_of_it(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.md").write_text("mine")
    root.mkdir()
    (root / "link").symlink_to(outside)
    (root / "web").mkdir()
    (root / "web" / "link.md").symlink_to(outside / "mine.md")
    notes = DiskNotes(root)
    assert list(notes.paths()) == ["web/link.md"]
    acts: list[Act] = [lambda: notes.read("link/mine.md", most_bytes=9), lambda: notes.write("link/mine.md", b"")]
    for act in acts:
        with pytest.raises(OSError, match="is a symbolic link"):
            act()
    with pytest.raises(OSError, match="is a symbolic link"):
        notes.read("web/link.md", most_bytes=9)
    notes.write("web/link.md", b"ours")
    assert ((outside / "mine.md").read_text(), (root / "web" / "link.md").read_text()) == ("mine", "ours")
    with pytest.raises(OSError, match="is a symbolic link"):
        DiskNotes(root / "link").write_index(b"")


def test_a_file_that_is_none_or_too_long_is_not_read(root: Path) -> None:
    notes = DiskNotes(root)
    notes.write("web/long.md", b"1234")
    os.mkfifo(root / "web" / "pipe.md")
    with pytest.raises(OSError, match="is longer than 3 bytes"):
        notes.read("web/long.md", most_bytes=3)
    with pytest.raises(OSError, match="is no file"):
        notes.read("web/pipe.md", most_bytes=3)


def test_what_cannot_be_written_leaves_what_was_there(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = DiskNotes(root)
    notes.write("web/a.md", b"old")

    def refuse(*_arguments: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="No space left"):
        notes.write("web/a.md", b"new")
    assert [each.name for each in (root / "web").iterdir()] == ["a.md"]
    assert notes.read("web/a.md", most_bytes=3) == b"old"
