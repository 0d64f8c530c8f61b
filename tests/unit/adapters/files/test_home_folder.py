"""A home is made ready for agents; its removal takes only our files."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

import kiro_learn.client
from kiro_learn.adapters.files import Home
from kiro_learn.adapters.files.home_folder import DiskHomeFolder
from kiro_learn.errors import AlreadyRunning, ConfigError

SHIM = Path(kiro_learn.client.__file__).with_name("hook.py")


@pytest.fixture
def folder(tmp_path: Path) -> DiskHomeFolder:
    return DiskHomeFolder(Home(tmp_path / "home"), SHIM)


def test_it_is_made_with_a_hook_and_goes_whole(folder: DiskHomeFolder) -> None:
    assert folder.contents() == ()
    assert folder.remove() == ()
    folder.prepare()
    folder.prepare()
    assert folder.home.hook.exists()
    assert {"token", "bin", "spool.key"} <= {name for name, _ in folder.contents()}
    assert dict(folder.contents())["token"] == 44
    assert folder.remove() == ()
    assert not folder.home.path.exists()


def test_everything_that_a_home_holds_by_docs_operations_is_ours(folder: DiskHomeFolder) -> None:
    names = ["kiro-learn.db", "kiro-learn.db-wal", "settings.toml", "daemon.upgrade", "agent-groups", "buffers"]
    names.append(".manifest.json.0123456789abcdef")
    folder.home.path.mkdir()
    for name in names:
        (folder.home.path / name).touch()
    assert {name for name, _ in folder.contents()} == set(names)


def test_a_home_that_is_somebodys_folder_keeps_what_is_theirs(folder: DiskHomeFolder) -> None:
    folder.prepare()
    (folder.home.path / "Documents").mkdir()
    (folder.home.path / "my.db").touch()
    assert folder.remove() == ("Documents", "my.db")
    assert sorted(path.name for path in folder.home.path.iterdir()) == ["Documents", "my.db"]


def test_a_link_in_it_goes_and_what_it_points_to_stays(folder: DiskHomeFolder, tmp_path: Path) -> None:
    folder.prepare()
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "kept").touch()
    (folder.home.path / "backups").rmdir()
    (folder.home.path / "backups").symlink_to(tmp_path / "disk")
    assert folder.remove() == ()
    assert (tmp_path / "disk" / "kept").exists()


def test_a_home_in_use_stays(folder: DiskHomeFolder) -> None:
    folder.prepare()
    with folder.home.lock(), pytest.raises(AlreadyRunning):
        folder.remove()
    assert folder.home.hook.exists()


def test_one_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError):
        DiskHomeFolder(Home(tmp_path / "file" / "home"), SHIM).prepare()


def test_a_full_disk_is_named_with_the_home_and_not_as_a_wrong_setting(
    folder: DiskHomeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_named: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("py_compile.compile", fail)
    with pytest.raises(ConfigError) as caught:
        folder.prepare()
    assert caught.value.problems == (("home", f"{folder.home.path}: No space left on device"),)
    assert caught.value.hint == "kiro-learn doctor"


def test_a_file_where_a_folder_belongs_is_named_with_what_to_do(folder: DiskHomeFolder) -> None:
    folder.home.path.mkdir()
    (folder.home.path / "logs").touch()
    with pytest.raises(ConfigError, match="logs: is no folder; move it away"):
        folder.prepare()
