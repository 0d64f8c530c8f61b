"""Agents are found by their programs or their folders, and asked for their versions all at once."""

from __future__ import annotations

import time
from pathlib import Path, PurePosixPath

import pytest

from kiro_learn.adapters.files import agent_files
from kiro_learn.adapters.files.agent_files import PathPrograms


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
