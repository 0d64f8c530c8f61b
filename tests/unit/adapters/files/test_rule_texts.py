"""Rule files are read within bounds, again when they change, and never from outside of their folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import trio

from kiro_learn.adapters.files import project_files
from kiro_learn.adapters.files.project_files import FolderRuleTexts

PATTERNS = ("CLAUDE.md", ".kiro/steering/*.md")


def read(texts: FolderRuleTexts, folder: Path | None, *patterns: str) -> dict[str, str]:
    return trio.run(texts.read, None if folder is None else str(folder), patterns or PATTERNS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "shop"
    (project / ".kiro" / "steering").mkdir(parents=True)
    (project / "CLAUDE.md").write_text("Never push")
    (project / ".kiro" / "steering" / "b.md").write_text("b")
    (project / ".kiro" / "steering" / "a.md").write_text("a")
    (project / ".kiro" / "steering" / "a.txt").write_text("no rule")
    (tmp_path / "secret.md").write_text("outside")
    return project


def test_the_files_are_read_by_name_in_the_order_of_their_patterns(folder: Path) -> None:
    found = read(FolderRuleTexts(folder.parent), folder)
    assert list(found) == ["CLAUDE.md", ".kiro/steering/a.md", ".kiro/steering/b.md"]
    assert found["CLAUDE.md"] == "Never push"
    assert read(FolderRuleTexts(folder), None) == found


def test_a_link_that_leads_out_is_not_followed_and_one_inside_is_read_once(folder: Path) -> None:
    (folder / "AGENTS.md").symlink_to(folder / "CLAUDE.md")
    (folder / ".kiro" / "steering" / "out.md").symlink_to(folder.parent / "secret.md")
    (folder / "GEMINI.md").symlink_to("/etc/passwd")
    assert read(FolderRuleTexts(folder), folder, "AGENTS.md", "CLAUDE.md", "GEMINI.md", ".kiro/steering/o*.md") == {
        "AGENTS.md": "Never push"
    }


def test_what_is_no_file_is_left_out(folder: Path) -> None:
    os.mkfifo(folder / "AGENTS.md")
    (folder / "GEMINI.md").mkdir()
    assert read(FolderRuleTexts(folder), folder, "AGENTS.md", "GEMINI.md", "gone/*.md") == {}
    assert read(FolderRuleTexts(folder), folder / "gone") == {}
    assert trio.run(FolderRuleTexts(folder).read, "relative", PATTERNS) == {}


def test_number_and_size_are_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_files, "MOST_FILES", 2)
    monkeypatch.setattr(project_files, "MOST_BYTES", 5)
    assert read(FolderRuleTexts(folder), folder) == {"CLAUDE.md": "Never", ".kiro/steering/a.md": "a"}


def test_a_file_is_read_again_when_it_changed(folder: Path) -> None:
    texts = FolderRuleTexts(folder)
    path = folder / "CLAUDE.md"
    os.utime(path, ns=(1, 1))
    assert read(texts, folder)["CLAUDE.md"] == "Never push"
    path.write_text("Never pull")
    os.utime(path, ns=(1, 1))
    assert read(texts, folder)["CLAUDE.md"] == "Never push"  # the same length and time count as unchanged
    os.utime(path, ns=(2, 2))
    assert read(texts, folder)["CLAUDE.md"] == "Never pull"
