"""Files of agents are written whole or not at all, and files that we may not write are left alone.

Agents are found by their programs or their folders, and asked for their versions at the same time.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Self

import pytest

from kiro_learn.adapters.files import agent_files
from kiro_learn.adapters.files.agent_files import MAX_BYTES, DiskAgentFiles, PathPrograms
from kiro_learn.errors import AgentFileError

OLD, NEW = '{"old": true}\n', '{"new": "é"}\r\n'


@pytest.fixture
def files(tmp_path: Path) -> DiskAgentFiles:
    return DiskAgentFiles(tmp_path)


def a_file(tmp_path: Path, text: str = OLD) -> PurePosixPath:
    path = tmp_path / "settings.json"
    path.write_bytes(text.encode())
    return PurePosixPath(path)


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"") for path in folder.rglob("*")
    }


def test_a_file_keeps_its_mode_and_becomes_the_text_to_the_byte(files: DiskAgentFiles, tmp_path: Path) -> None:
    path = a_file(tmp_path)
    Path(path).chmod(0o640)
    assert files.folders_to_make(path) == ()
    files.write(path, NEW, expected=OLD)
    assert Path(path).read_bytes() == NEW.encode()
    assert files.read(path) == NEW
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o640
    assert len(list(tmp_path.iterdir())) == 1


def test_a_new_file_is_private_and_its_folders_are_named_and_go_again(files: DiskAgentFiles, tmp_path: Path) -> None:
    path = PurePosixPath(tmp_path / "a" / "b" / "c.json")
    made = files.folders_to_make(path)
    files.write(path, NEW, expected=None)
    assert made == (str(tmp_path / "a"), str(tmp_path / "a" / "b"))
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    files.remove(path, expected=NEW)
    assert not files.remove_folder(PurePosixPath(made[0]))
    assert [files.remove_folder(PurePosixPath(each)) for each in reversed(made)] == [True, True]
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_beside_a_file_goes_and_what_one_writes_now_stays(
    files: DiskAgentFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = a_file(tmp_path)
    left = tmp_path / ".settings.json.0123456789abcdef.kiro-learn"
    theirs = tmp_path / ".settings.json.backup.kiro-learn"
    left.write_text("{")
    theirs.touch()
    written: list[set[str]] = []

    def sync(_descriptor: int) -> None:
        files.remove_leftovers(path)
        written.append({each.name for each in tmp_path.iterdir()} - {theirs.name, "settings.json"})

    monkeypatch.setattr(os, "fsync", sync)
    files.write(path, NEW, expected=OLD)
    assert len(written[0]) == 1
    assert {each.name for each in tmp_path.iterdir()} == {"settings.json", theirs.name}
    assert files.read(path) == NEW


def test_a_folder_that_cannot_be_looked_into_is_none_to_make(files: DiskAgentFiles, tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert files.folders_to_make(PurePosixPath(loop / "a" / "b.json")) == ()


def test_a_link_is_followed_and_goes_on_pointing_there(files: DiskAgentFiles, tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    target = tmp_path / "dotfiles" / "claude.json"
    target.write_text(OLD)
    link = tmp_path / "settings.json"
    link.symlink_to("dotfiles/claude.json")
    files.write(PurePosixPath(link), NEW, expected=OLD)
    assert link.is_symlink()
    assert target.read_bytes() == NEW.encode()


def refused(call: Callable[[], object]) -> AgentFileError:
    with pytest.raises(AgentFileError) as caught:
        call()
    return caught.value


def test_a_link_that_leads_nowhere_or_round_is_left_alone(files: DiskAgentFiles, tmp_path: Path) -> None:
    for target in ("gone", "settings.json"):
        link = tmp_path / "settings.json"
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        assert str(link) in str(refused(lambda: files.read(PurePosixPath(link))))  # noqa: B023  # called at once
        refused(lambda: files.write(PurePosixPath(link), NEW, expected=None))  # noqa: B023  # called at once
        assert link.is_symlink()


def put_a_pipe_at(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda path: path.chmod(0o444), "is read-only"),
        (lambda path: os.chown(path, 12345, -1), "belongs to the user with the number 12345, not to you"),
        (lambda path: os.truncate(path, MAX_BYTES + 1), "only files of up to"),
        (lambda path: path.write_bytes(b'{\n "a": "\xff"}'), "line 2, column 8: is not UTF-8"),
        (lambda path: os.link(path, path.with_name("twin")), "has 2 names"),
        (lambda path: (path.unlink(), path.mkdir()), "is no regular file"),
        (put_a_pipe_at, "is no regular file"),
    ],
    ids=["read-only", "foreign", "huge", "not UTF-8", "hard link", "folder", "pipe"],
)
def test_what_is_not_ours_to_write_is_left_alone(
    files: DiskAgentFiles, tmp_path: Path, spoil: Callable[[Path], object], problem: str
) -> None:
    path = a_file(tmp_path)
    try:
        spoil(Path(path))
    except PermissionError:
        pytest.skip("only root gives files away")
    before = state(tmp_path)

    def read_and_check() -> None:
        files.read(path)
        files.check(path)

    assert problem in str(refused(read_and_check))
    refused(lambda: files.write(path, NEW, expected=OLD))
    assert state(tmp_path) == before


def test_a_file_that_somebody_changed_meanwhile_is_left_alone(files: DiskAgentFiles, tmp_path: Path) -> None:
    path = a_file(tmp_path, "{}")
    before = state(tmp_path)
    for attempt in (
        lambda: files.write(path, NEW, expected=OLD),
        lambda: files.write(path, NEW, expected=None),
        lambda: files.remove(path, expected=OLD),
    ):
        assert "changed by another program" in str(refused(attempt))
        assert state(tmp_path) == before


@pytest.mark.parametrize("call", ["fsync", "replace", "write", "fchmod"])
@pytest.mark.parametrize("is_new", [False, True])
def test_a_disk_that_fails_leaves_all_as_it_was(
    files: DiskAgentFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, is_new: bool
) -> None:
    """If any call fails, no incomplete file, no temporary file and no folder stays."""
    path = PurePosixPath(tmp_path / "a" / "b.json") if is_new else a_file(tmp_path)
    if is_new and call == "fchmod":
        pytest.skip("a new file has no mode to keep")
    before = state(tmp_path)

    def fail(*_arguments: object, **_named: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if call == "write":
        monkeypatch.setattr(os, "fdopen", _failing_file)
    else:
        monkeypatch.setattr(Path if call == "replace" else os, call, fail)
    assert "no space left on device" in str(refused(lambda: files.write(path, NEW, expected=None if is_new else OLD)))
    monkeypatch.undo()
    assert state(tmp_path) == before


class _FailingFile:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def fileno(self) -> int:
        return self._descriptor

    def write(self, content: bytes) -> None:
        os.write(self._descriptor, content[:3])
        raise OSError(errno.ENOSPC, "No space left on device")


def _failing_file(descriptor: int, _mode: str) -> _FailingFile:
    return _FailingFile(descriptor)


def test_the_manifest_is_private(files: DiskAgentFiles, tmp_path: Path) -> None:
    assert files.manifest() is None
    files.keep_manifest("{}")
    assert stat.S_IMODE((tmp_path / "manifest.json").stat().st_mode) == 0o600
    assert files.manifest() == "{}"
    files.keep_manifest(None)
    assert list(tmp_path.iterdir()) == []


def test_a_manifest_that_would_name_a_folder_of_other_bytes_is_refused(files: DiskAgentFiles, tmp_path: Path) -> None:
    files.keep_manifest("{}")
    with pytest.raises(AgentFileError, match="not UTF-8"):
        files.keep_manifest('{"path": "/home/\udcff"}')
    assert (tmp_path / "manifest.json").read_text() == "{}"


def test_changes_of_the_manifest_wait_for_one_another(files: DiskAgentFiles, tmp_path: Path) -> None:
    """``flock`` excludes a second opening of the same folder in a process too, so threads stand for processes."""
    files.keep_manifest("0")

    def count_up() -> None:
        with files.exclusive():
            number = int(files.manifest() or "0")
            time.sleep(0.005)
            files.keep_manifest(str(number + 1))

    threads = [threading.Thread(target=count_up) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert files.manifest() == "4"


def test_without_a_home_there_is_nothing_to_wait_for(tmp_path: Path) -> None:
    with DiskAgentFiles(tmp_path / "none").exclusive():
        assert not (tmp_path / "none").exists()


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_an_agent_is_there_if_its_program_or_its_folder_is(tmp_path: Path) -> None:
    program(tmp_path, "claude", "")
    programs = PathPrograms({"PATH": str(tmp_path)})
    assert programs.is_installed(("x", "claude"), ())
    assert programs.is_installed((), (PurePosixPath(tmp_path),))
    assert not programs.is_installed(("codex",), (PurePosixPath(tmp_path / "gone"),))


def test_versions_are_read_from_what_programs_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_files, "VERSION_SECONDS", 0.5)
    program(tmp_path, "claude", "echo '2.1.4 (Claude Code)'")
    program(tmp_path, "codex", "echo codex-cli 0.153.2")
    program(tmp_path, "gemini", "echo who knows; exit 3")
    program(tmp_path, "cursor", "sleep 30 & sleep 30")
    (tmp_path / "kiro-cli").write_text("no program")
    (tmp_path / "kiro-cli").chmod(0o755)
    names = ("claude", "codex", "gemini", "cursor", "kiro-cli", "gone")
    began = time.monotonic()
    stated = PathPrograms({"PATH": f"{tmp_path}:/usr/bin:/bin"}).versions({name: (name,) for name in names})
    assert stated == {"claude": "2.1.4", "codex": "0.153.2"}
    assert time.monotonic() - began < 3
