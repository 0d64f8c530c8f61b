"""Memories as Markdown files, from the terminal, with a real daemon."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from kiro_learn.client import KiroLearn
from tests.integration.cli.command_line import done, failed, kiro_learn
from tests.integration.cli.test_activity_verbs import project_in
from tests.integration.cli.test_export import SETTINGS
from tests.integration.daemon_process import running_daemon


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project_in(tmp_path / "web-shop")


@pytest.fixture
def home(tmp_path: Path, folder: Path) -> Iterator[Path]:
    """The home of a daemon with two memories."""
    home = tmp_path / "home"
    with running_daemon(home, SETTINGS):
        with KiroLearn(folder, home=home) as memory:
            memory.store_observation("Tokens expire", text="After 15 minutes.", session="monday")
            memory.store_knowledge("Never force-push", "It broke main.", knowledge_type="constraint", concepts=["git"])
        yield home


def test_what_a_person_edits_writes_and_deletes_comes_back(home: Path, folder: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    assert "2 new, 0 changed" in done(kiro_learn(home, "export", "--markdown", str(notes)))
    constraint, observation = sorted(notes.glob("web-shop-*/*.md"))
    assert stat.S_IMODE(constraint.stat().st_mode) == 0o600
    assert constraint.name.startswith("never-force-push-01")
    assert "session" in observation.read_text()
    assert "  - monday\n" in observation.read_text()
    constraint.write_text(constraint.read_text().replace("It broke main.", "It broke main in May."))
    (constraint.parent / "new.md").write_text("# Deploys run on Fridays\n\nNever after lunch.\n")
    observation.unlink()
    said = done(kiro_learn(home, "import", str(notes), "--yes"))
    assert "1 edited, 1 new, 1 deleted, 0 unchanged" in said
    assert "1 edited, 1 remembered, 0 forgotten" in said
    with KiroLearn(folder, home=home) as memory:
        assert [each.title for each in memory.search("lunch")] == ["Deploys run on Fridays"]
        assert len(memory.search("expire")) == 1, "--yes forgets nothing"
        (edited,) = memory.search("force-push")
        known = memory.get(str(edited.id))
        assert (known.summary, known.text) == ("It broke main in May.", "It broke main in May.")
    assert str(edited.id) in constraint.read_text()
    assert str(edited.id) in done(kiro_learn(home, "memories", "history", str(edited.id), "--everywhere", "--json"))
    again = json.loads(done(kiro_learn(home, "import", str(notes), "--forget-deleted", "--json")))
    assert (again["taken"], again["unchanged"]) == ({"edited": 0, "new": 0, "forgotten": 1}, 2)
    written = json.loads(done(kiro_learn(home, "export", "--markdown", str(notes), "--json")))
    assert (written["unchanged"], written["new"], written["left"]) == (2, 0, {})


def test_what_a_person_edited_is_not_overwritten_and_what_was_forgotten_goes(home: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    done(kiro_learn(home, "export", "--markdown", str(notes)))
    constraint, observation = sorted(notes.glob("web-shop-*/*.md"))
    (constraint.parent / "new.md").write_text("# " + "t" * 501 + "\n\nSaid.\n")
    assert "title: expected" in kiro_learn(home, "import", str(notes), "--yes").stderr
    (constraint.parent / "new.md").unlink()
    constraint.write_text("mine\n")
    wrong = kiro_learn(home, "import", str(notes), "--yes")
    assert wrong.returncode == 1
    assert f"{constraint.relative_to(notes)}:1  expected # and the title" in wrong.stderr
    left = kiro_learn(home, "export", "--markdown", str(notes))
    assert left.returncode == 1
    assert f"{constraint.relative_to(notes)}  was edited" in left.stderr
    assert constraint.read_text() == "mine\n"
    forced = kiro_learn(home, "export", "--markdown", str(notes), "--force")
    assert "1 file overwritten, edits with it" in forced.stderr
    assert "# Never force-push" in constraint.read_text()
    done(kiro_learn(home, "memories", "forget", observation.stem[-10:], "--everywhere", "--yes"))
    assert "1 removed" in done(kiro_learn(home, "export", "--markdown", str(notes)))
    assert not observation.exists()


def test_nothing_is_written_outside_of_the_folder(home: Path, tmp_path: Path) -> None:
    notes, outside = tmp_path / "notes", tmp_path / "outside"
    done(kiro_learn(home, "export", "--markdown", str(notes)))
    (place,) = (each for each in notes.iterdir() if each.is_dir())
    for file in place.iterdir():
        file.unlink()
    place.rmdir()
    outside.mkdir()
    place.symlink_to(outside)
    assert "is a symbolic link" in "\n".join(failed(kiro_learn(home, "export", "--markdown", str(notes), "--force")))
    assert list(outside.iterdir()) == []
    link = tmp_path / "link"
    link.symlink_to(notes)
    assert "is a symbolic link" in "\n".join(failed(kiro_learn(home, "export", "--markdown", str(link))))
    (outside / "mine.txt").write_text("mine")
    assert "has other files in it" in failed(kiro_learn(home, "export", "--markdown", str(outside)))[0]


def test_a_damaged_index_is_refused_and_other_options_too(home: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    done(kiro_learn(home, "export", "--markdown", str(notes)))
    index = notes / ".kiro-learn.jsonl"
    lines = index.read_text()
    index.write_text(lines.replace('"format":1', '"format":2'))
    assert "reads format 1 of an export" in failed(kiro_learn(home, "import", str(notes)))[0]
    index.write_text("{}")
    assert "is no longer an export" in failed(kiro_learn(home, "import", str(notes)))[0]
    index.write_text(lines.replace("web-shop-", "../web-shop-"))
    for verb in (("import", str(notes), "--yes"), ("export", "--markdown", str(notes))):
        assert "is no longer an export" in failed(kiro_learn(home, *verb))[0]
    assert "imported whole" in failed(kiro_learn(home, "import", str(notes), "--limit", "1"), code=2)[0]
    assert "name one place" in failed(kiro_learn(home, "export", "a", "--markdown", "b"), code=2)[0]
    assert "folder of an export" in failed(kiro_learn(home, "import", "--forget-deleted"), code=2)[0]


def test_a_folder_of_another_home_is_no_way_to_move_a_memory_and_says_so(home: Path, tmp_path: Path) -> None:
    notes, other = tmp_path / "notes", tmp_path / "other"
    done(kiro_learn(home, "export", "--markdown", str(notes)))
    here = kiro_learn(home, "import", str(notes), "--yes")
    assert "another home" not in here.stderr
    with running_daemon(other, SETTINGS):
        there = kiro_learn(other, "import", str(notes), "--yes")
    assert "2 unchanged" in there.stdout
    assert "the folder is of another home" in there.stderr
    assert "kiro-learn export FILE" in there.stderr
