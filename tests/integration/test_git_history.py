"""The commits of a repository that give a reason become memories once; no program of its settings is run."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import attrs
import pytest

from kiro_learn.adapters.histories import git
from kiro_learn.adapters.histories.git import TOO_LONG, UNREADABLE, GitMemories
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.histories import HistoryPlace
from kiro_learn.services.histories import PastMemories, as_record
from kiro_learn.wire.commits import BOTS, BUMPS, MERGES, NO_REASON

NOW = datetime(2026, 11, 25, tzinfo=UTC)
WHY = "Keep the pool at 20 connections\n\nPostgres refuses more than 25, because the host has 2 GB.\n"


@attrs.frozen
class Repository:
    """A repository in which tests commit with any message at any time."""

    folder: Path

    def git(self, *arguments: str, given: bytes = b"", **environment: str) -> str:
        people = {f"GIT_{who}_{what}": "ada" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        base = {"PATH": os.environ["PATH"], "HOME": str(self.folder.parent), "GIT_CONFIG_NOSYSTEM": "1", **people}
        command = ["git", "-c", "init.defaultBranch=main", *arguments]
        done = subprocess.run(  # git itself
            command, cwd=self.folder, env=base | environment, input=given, check=True, capture_output=True
        )
        return done.stdout.decode()

    def commit(self, message: bytes | str, at: str = "1700000000 +0000", **environment: str) -> None:
        given = message if isinstance(message, bytes) else message.encode()
        dates = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        self.git("commit", "-q", "--allow-empty", "--cleanup=verbatim", "-F", "-", given=given, **dates | environment)

    def memories(self) -> tuple[list[MemoryRecord], Counter[str]]:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder.parent)}
        place = HistoryPlace(user=self.folder.parent, environment=environment, repositories=(self.folder,))
        past, skipped = PastMemories([GitMemories()], place), Counter[str]()
        namespace = Namespace("/actor/ada/project/shop/")
        [store] = past.found()
        told = past.memories(store, lambda reason: skipped.update([reason]))
        return [as_record(each, store, namespace, now=NOW) for each in told], skipped


@pytest.fixture
def shop(tmp_path: Path) -> Repository:
    (tmp_path / "home" / "shop").mkdir(parents=True)
    repository = Repository(tmp_path / "home" / "shop")
    repository.git("init", "-q")
    return repository


def test_a_commit_that_says_why_is_a_memory_with_its_hash_and_its_day(shop: Repository) -> None:
    shop.commit(WHY + "\nFixes: #12\nSigned-off-by: ada\n")
    shop.commit("Add a test")

    [made], skipped = shop.memories()

    assert made.title == "Keep the pool at 20 connections"
    assert made.summary == "Postgres refuses more than 25, because the host has 2 GB."
    assert made.facts == ("Fixes: #12",)
    assert made.details is not None
    assert made.details.commit == shop.git("rev-parse", "HEAD~1").strip()
    assert made.created_at == datetime.fromtimestamp(1_700_000_000, UTC)
    assert made.type_name == "decision"
    assert skipped == {NO_REASON: 1}


def test_a_second_import_and_a_rebase_bring_the_same_ids(shop: Repository) -> None:
    shop.commit("Begin")
    shop.git("switch", "-q", "-c", "work")
    shop.commit(WHY)
    before, _ = shop.memories()
    shop.git("switch", "-q", "main")
    shop.commit("Go on")
    shop.git("rebase", "-q", "main", "work")
    shop.git("switch", "-q", "main")
    shop.git("merge", "-q", "--ff-only", "work")
    shop.git("cherry-pick", "--allow-empty", "work")
    after, _ = shop.memories()

    assert before == []
    assert len({each.record_id for each in after}) == len(after) == 1
    assert [each.record_id for each in shop.memories()[0]] == [each.record_id for each in after]


def test_merges_and_bots_are_left_out_and_counted(shop: Repository) -> None:
    shop.commit("Begin")
    shop.git("switch", "-q", "-c", "work")
    shop.commit("Work")
    shop.git("switch", "-q", "main")
    shop.git("merge", "-q", "--no-ff", "-m", "Merge work\n\nIt is faster because of it.", "work")
    shop.commit(WHY, GIT_AUTHOR_NAME="dependabot[bot]")
    shop.commit("Bump pool from 1.2 to 1.3\n\nbecause of it")

    made, skipped = shop.memories()

    assert made == []
    assert skipped[MERGES] == 1
    assert skipped[BOTS] == skipped[BUMPS] == 1


def test_hostile_messages_neither_break_nor_leak(shop: Repository) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2  # assembled, so that no scanner takes it for a real token
    shop.commit(b"Title \x1b[31mred\x1b[0m \xff\xfe\x07\n\nbecause \x1b]0;x\x07 it \xe2\x80\xae must\n")
    shop.commit(f"Rotate the key\n\nbecause {token} leaked\n")
    shop.commit(b"Long\n\nbecause " + b"of it " * 300_000)
    shop.commit("Old\n\nbecause it is old\n", at="@1 +0000")
    shop.commit("New\n\nbecause it is to come\n", at="@4200000000 +0000")

    made, skipped = shop.memories()
    by_title = {each.title.split()[0]: each for each in made}

    assert set(by_title) == {"Title", "Rotate", "Old", "New"}
    assert skipped[TOO_LONG] == 1
    assert all(character.isprintable() or character == "\n" for each in made for character in each.title + each.summary)
    assert token not in str(made)
    assert by_title["Old"].created_at.year == 1970
    assert by_title["New"].created_at <= NOW


def test_nothing_that_a_repository_names_is_run(shop: Repository) -> None:
    trap, sprung = shop.folder / "trap", shop.folder / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch {sprung}\ncat\n")
    trap.chmod(0o755)
    (shop.folder / ".gitattributes").write_text("* diff=trap filter=trap\n")
    shop.git("add", ".")
    shop.commit(WHY)
    for key in ("core.fsmonitor", "core.pager", "pager.log", "gpg.program", "diff.external", "core.sshCommand"):
        shop.git("config", key, str(trap))
    for key in ("diff.trap.textconv", "diff.trap.command", "filter.trap.clean", "core.editor", "core.askPass"):
        shop.git("config", key, str(trap))
    for key in ("alias.log", "alias.for-each-ref"):
        shop.git("config", key, f"!{trap}")
    for name in ("post-checkout", "post-index-change", "reference-transaction"):
        (shop.folder / ".git" / "hooks" / name).parent.mkdir(exist_ok=True)
        (shop.folder / ".git" / "hooks" / name).symlink_to(trap)
    shop.git("config", "log.showSignature", "true")
    sprung.unlink(missing_ok=True)

    made, _ = shop.memories()

    assert len(made) == 1
    assert not sprung.exists()


@pytest.mark.parametrize("manner", ["shallow", "sha256", "worktree", "no commits", "damaged"])
def test_every_sort_of_repository_is_read_or_counted(shop: Repository, manner: str) -> None:
    home = shop.folder.parent
    if manner == "sha256":
        (home / "new").mkdir()
        other = Repository(home / "new")
        other.git("init", "-q", "--object-format=sha256")
        other.commit(WHY)
    elif manner == "no commits":
        other = shop
    else:
        shop.commit("Begin\n\nbecause one must\n")
        shop.commit(WHY)
        if manner == "shallow":
            shop.git("clone", "-q", "--depth=1", f"file://{shop.folder}", "../new")
        elif manner == "worktree":
            shop.git("worktree", "add", "-q", "../new")
        else:
            (shop.folder / ".git" / "HEAD").write_text("nothing")
        other = shop if manner == "damaged" else Repository(home / "new")

    made, skipped = other.memories()

    assert len(made) == {"shallow": 1, "sha256": 1, "worktree": 2}.get(manner, 0)
    assert skipped[UNREADABLE] == (manner in {"no commits", "damaged"})


def test_a_repository_that_git_waits_for_is_left_out(shop: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's archive may hold a pipe to which nobody writes."""
    monkeypatch.setattr(git, "LISTING_SECONDS", 0.2)
    (shop.folder / ".git" / "HEAD").unlink()
    os.mkfifo(shop.folder / ".git" / "HEAD")
    told, skipped = shop.memories()
    assert (told, skipped) == ([], {UNREADABLE: 1})
