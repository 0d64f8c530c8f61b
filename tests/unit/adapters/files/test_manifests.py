"""Manifests are read only inside of the project's folder, only a few of them, and no large ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import trio

from kiro_learn.adapters.files.project_files import (
    MOST_LISTED,
    MOST_MANIFEST_BYTES,
    MOST_MANIFESTS,
    FolderFiles,
    read_manifests,
)
from kiro_learn.learning.profile.profile import WANTED, profile_of
from tests.unit.learning.profile.repositories import REPOSITORIES


def write(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", REPOSITORIES)
def test_a_repository_on_the_disk_has_the_profile_of_its_texts(name: str, tmp_path: Path) -> None:
    files = REPOSITORIES[name].files
    found = read_manifests(str(write(tmp_path, files)), WANTED)
    assert set(found) == set(files)
    assert profile_of(found) == profile_of(files)


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "other", {"package.json": "{}", "workflows/ci.yml": "x", "HEAD": "x", "a.csproj": "x"})
    project = write(tmp_path / "shop", {"go.mod": "module x\n", "src/main.rs": ""})
    (project / "package.json").symlink_to(outside / "package.json")
    (project / "Makefile").symlink_to("go.mod")
    (project / "web").symlink_to(outside)
    (project / ".github").symlink_to(outside)
    (project / "b.csproj").symlink_to(outside / "a.csproj")
    (project / ".git").symlink_to(outside)
    assert read_manifests(str(project), WANTED) == {"go.mod": "module x\n", "src/main.rs": ""}


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "package.json")
    (tmp_path / "Cargo.toml").mkdir()
    assert read_manifests(str(tmp_path), WANTED) == {}


def test_a_large_file_is_only_noticed(tmp_path: Path) -> None:
    with (tmp_path / "package.json").open("wb") as file:
        file.truncate(100_000_000)
    (tmp_path / "go.mod").write_bytes(b"\xef\xbb\xbfmodule x" + b" " * (MOST_MANIFEST_BYTES - 11))
    found = read_manifests(str(tmp_path), WANTED)
    assert (found["package.json"], found["go.mod"][:8]) == ("", "module x")
    assert profile_of(found).facts


def test_few_files_are_read_however_many_there_are(tmp_path: Path) -> None:
    names = [f".github/workflows/{number:03d}.yml" for number in range(100)]
    names += [f"{number:03d}/package.json" for number in range(200)] + [f"{number:03d}.csproj" for number in range(90)]
    found = read_manifests(str(write(tmp_path, dict.fromkeys(names, "x"))), WANTED)
    assert sum(text == "x" for text in found.values()) == MOST_MANIFESTS
    assert sum(path.startswith(".github") for path in found) == MOST_LISTED


@pytest.mark.parametrize("folder", ["", "relative", "/no/such/folder", "/dev/null", "/a\0b"])
def test_a_folder_that_is_none_has_no_files(folder: str) -> None:
    assert read_manifests(folder, WANTED) == {}


def test_bytes_that_are_no_text_are_read_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_bytes(b"\xff\xfe\x00module")
    assert profile_of(read_manifests(str(tmp_path), WANTED)).facts


def test_the_adapter_reads_in_a_thread(tmp_path: Path) -> None:
    write(tmp_path, {"go.mod": "module x\n"})
    assert trio.run(FolderFiles().manifests, str(tmp_path), WANTED) == {"go.mod": "module x\n"}
