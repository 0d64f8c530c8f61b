"""In a folder without memories, the command names those of a folder that is gone, and was perhaps renamed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import memory_screen, projects
from tests.unit.frontends.cli.samples import PLAIN


class Known(Client):
    """A client whose daemon knows these folders, each with its count of memories."""

    def __init__(self, folder: Path | None, counts: dict[Path, int]) -> None:
        super().__init__(url="http://127.0.0.1:1")
        self._folder = folder
        self._counts = counts

    def project(self, named: str) -> dict[str, Any]:
        return {"folder": None if self._folder is None else str(self._folder)}

    def stats(self, namespace: str | None = None, *, sizes: bool = False) -> dict[str, Any]:
        return {"projects": [{"folder": str(each), "memory_count": count} for each, count in self._counts.items()]}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "src" / "new"
    folder.mkdir(parents=True)
    return folder


def test_what_lay_beside_it_or_was_called_so_and_is_gone_is_named(here: Path, tmp_path: Path) -> None:
    there = here.parent / "there"
    there.mkdir()
    renamed, moved = here.parent / "old", tmp_path / "old place" / "new"
    counts = {here: 0, there: 4, renamed: 5, moved: 6, here.parent / "empty": 0, tmp_path / "x" / "y": 7}

    commands = projects.perhaps_moved(Known(here, counts), str(here))

    assert commands == [
        f"kiro-learn projects merge {renamed} {here}",
        f"kiro-learn projects merge '{moved}' {here}",
    ]
    assert memory_screen.perhaps_moved(commands, PLAIN)[1:] == [f"  {each}" for each in commands]


def test_of_a_name_or_a_place_without_a_folder_nothing_is_said(here: Path) -> None:
    assert projects.perhaps_moved(Known(here, {here.parent / "old": 5}), "shop") == []
    assert projects.perhaps_moved(Known(None, {here.parent / "old": 5}), str(here)) == []
    assert memory_screen.perhaps_moved([], PLAIN) == []
