"""Files are looked at only inside of a project's folder, and a file system that does not answer delays no caller."""

from __future__ import annotations

import hashlib
import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trio

from kiro_learn.adapters.files import project_files
from kiro_learn.adapters.files.project_files import THREADS, FolderFiles, look, read_states
from kiro_learn.model.record import FileState

MOMENT = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "shop"
    for path in (project / "src" / "pool.py", project / "b.py", tmp_path / "other" / "secret.py"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
        os.utime(path, (MOMENT.timestamp(), MOMENT.timestamp()))
    (project / "link").symlink_to(tmp_path / "other")
    (project / "link.py").symlink_to(tmp_path / "other" / "secret.py")
    return project


def test_it_tells_when_a_file_was_written_or_that_it_is_gone(folder: Path) -> None:
    inside = str(folder / "b.py")
    paths = ("src/pool.py", "./src//pool.py", inside, "src/gone.py", "gone/deep/a.py", "b.py/a.py")
    assert look(str(folder), paths) == {
        "src/pool.py": MOMENT,
        "./src//pool.py": MOMENT,
        inside: MOMENT,
        "src/gone.py": None,
        "gone/deep/a.py": None,
    }


def test_nothing_outside_is_looked_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []
    lstat = os.lstat

    def noted(path: str) -> os.stat_result:
        looked_at.append(path)
        return lstat(path)

    monkeypatch.setattr(os, "lstat", noted)
    outside = str(folder.parent / "other" / "secret.py")
    paths = ("../other/secret.py", "src/../../other/secret.py", outside, "link/secret.py", "link/gone.py", "link.py")
    assert look(str(folder), paths) == {}
    assert set(looked_at) == {f"{folder}/link", f"{folder}/link.py"}


@pytest.mark.parametrize(
    "path", ["src/*.py", "pool.py:42", "~/notes", "http://a/b", "src", "", ".", "/", "a\0b", "\ud800"]
)
def test_what_is_no_plain_file_is_left_out(path: str, folder: Path) -> None:
    assert look(str(folder), [path]) == {}


@pytest.mark.parametrize("name", ["gone", "b.py"])
def test_without_the_folder_nothing_is_told(name: str, folder: Path) -> None:
    assert look(str(folder / name), ["a.py"]) == {}
    assert look("shop", ["a.py"]) == {}
    assert look("/a\0b", ["a.py"]) == {}


def test_a_mount_that_does_not_answer_keeps_threads_but_no_caller(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    monkeypatch.setattr(project_files, "look", lambda *_: (answers.wait(10), {})[1])
    files = FolderFiles()

    async def scenario() -> float:
        began = trio.current_time()
        for _ in range(THREADS + 3):
            with trio.move_on_after(0.005):
                await files.modified_ats(str(folder), ["b.py"])
        return trio.current_time() - began

    try:
        assert trio.run(scenario) < 1
    finally:
        answers.set()


def test_the_digest_of_a_file_is_that_of_its_content(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = hashlib.sha256(b"x").hexdigest()
    os.mkfifo(folder / "pipe")
    paths = ("src/pool.py", str(folder / "b.py"), "gone.py", "link.py", "link/secret.py", "pipe", "../other/secret.py")
    expected = {path: FileState(MOMENT, digest) for path in paths[:2]} | {"gone.py": None}
    assert read_states(str(folder), paths) == expected
    monkeypatch.setattr(project_files, "MOST_DIGESTED_BYTES", 0)
    assert read_states(str(folder), ("b.py",)) == {"b.py": FileState(MOMENT, None)}


def test_what_became_a_link_or_a_pipe_meanwhile_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(folder / "pipe")
    monkeypatch.setattr(project_files, "look", lambda _folder, paths: dict.fromkeys(paths, MOMENT))
    paths = ("link.py", "pipe", "gone.py")
    assert read_states(str(folder), paths) == dict.fromkeys(paths, FileState(MOMENT, None))
