"""All that is kept goes from one home to another, from the terminal, with real daemons."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from kiro_learn.client import KiroLearn
from tests.integration.cli.command_line import done, failed, kiro_learn
from tests.integration.cli.test_activity_verbs import project_in
from tests.integration.daemon_process import running_daemon

SETTINGS = {"KIRO_LEARN_EMBEDDING_ENABLED": "no", "KIRO_LEARN_LLM_BACKEND": "extractive"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project_in(tmp_path / "web-shop")


@pytest.fixture
def home(tmp_path: Path, folder: Path) -> Iterator[Path]:
    """The home of a daemon with two memories, one of which was edited."""
    home = tmp_path / "home"
    with running_daemon(home, SETTINGS):
        with KiroLearn(folder, home=home) as memory:
            old = memory.store_observation("Tokens expire", text="After 15 minutes.")
            memory.edit(str(old), title="Tokens expire early")
            memory.store_knowledge("Never force-push", "\N{SNOWMAN} it broke main", knowledge_type="constraint")
        yield home


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Path]:
    """The home of an empty daemon."""
    home = tmp_path / "other"
    with running_daemon(home, SETTINGS):
        yield home


def test_it_leaves_one_home_and_enters_another(home: Path, other: Path, folder: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    said = done(kiro_learn(home, "export", str(first)))
    assert "2 memories, 1 replaced, 2 events" in said
    assert f"kiro-learn import {first}" in said
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    assert "2 memories, 1 replaced one, 2 events" in done(kiro_learn(other, "import", str(first)))
    done(kiro_learn(other, "export", str(second)))
    head, *lines = first.read_bytes().split(b"\n")
    assert second.read_bytes().split(b"\n")[1:] == lines
    assert json.loads(head)["kiro_learn_export"]["settings"]["llm"]["backend"] == "extractive"
    with KiroLearn(folder, home=other) as memory:
        assert [each.title for each in memory.search("force-push")] == ["Never force-push"]
    again = json.loads(done(kiro_learn(other, "import", str(first), "--json")))
    assert again["counts"]["memory"] == {"known": 2}
    assert again["is_whole"]


def test_nothing_is_overwritten_and_no_link_is_followed(home: Path, tmp_path: Path) -> None:
    path, link = tmp_path / "out.jsonl", tmp_path / "link.jsonl"
    path.write_text("mine")
    link.symlink_to(path)
    assert failed(kiro_learn(home, "export", str(path)))[0].endswith("out.jsonl  is there already")
    for options in ((), ("--force",)):
        assert "is a symbolic link" in failed(kiro_learn(home, "export", str(link), *options))[0]
    assert path.read_text() == "mine"
    done(kiro_learn(home, "export", str(path), "--force"))
    assert path.read_text().startswith('{"kiro_learn_export"')
    assert sorted(each.name for each in tmp_path.iterdir() if "jsonl" in each.name) == ["link.jsonl", "out.jsonl"]


def test_a_file_that_is_cut_off_is_taken_up_to_there_and_a_whole_one_adds_the_rest(
    home: Path, other: Path, tmp_path: Path
) -> None:
    whole, torn = tmp_path / "whole.jsonl", tmp_path / "torn.jsonl"
    done(kiro_learn(home, "export", str(whole)))
    lines = whole.read_bytes().splitlines(keepends=True)
    torn.write_bytes(b"".join(lines[:-2]) + lines[-2][:40])
    completed = kiro_learn(other, "import", str(torn))
    assert completed.returncode == 1
    assert f"The file is cut off after line {len(lines) - 2}." in completed.stderr
    assert "known already" in done(kiro_learn(other, "import", str(whole)))
    again = tmp_path / "again.jsonl"
    done(kiro_learn(other, "export", str(again)))
    assert again.read_bytes().splitlines(keepends=True)[1:] == lines[1:]


def test_lines_that_are_missing_before_the_end_are_counted(
    home: Path, other: Path, folder: Path, tmp_path: Path
) -> None:
    exported = tmp_path / "notes.jsonl"
    done(kiro_learn(home, "export", str(exported), cwd=folder))
    lines = exported.read_bytes().splitlines(keepends=True)
    exported.write_bytes(b"".join([*lines[:2], *lines[4:]]))
    completed = kiro_learn(other, "import", str(exported), cwd=folder)
    assert completed.returncode == 1
    assert "The file lacks 2 lines" in completed.stderr
    exported.write_bytes(b"".join(lines))
    assert kiro_learn(other, "import", str(exported), cwd=folder).returncode == 0


def test_a_later_format_changes_nothing_and_an_export_is_taken_alone(other: Path, tmp_path: Path) -> None:
    path, second = tmp_path / "some.jsonl", tmp_path / "second.jsonl"
    for each in (path, second):
        each.write_bytes(b'{"kiro_learn_export":{"format":2,"version":"9","exported_at":"x"}}\n')
    said = "\n".join(failed(kiro_learn(other, "import", str(path))))
    assert "reads format 1 of an export, and this one has 2" in said
    for arguments in ((str(path), "--dry-run"), (str(path), str(second)), (str(path), "--limit", "1")):
        assert "an export is imported whole" in failed(kiro_learn(other, "import", *arguments), code=2)[0]
