"""Branches are read from the files of a repository that git itself made."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import attrs
import pytest

from kiro_learn.adapters.files.project_finder import FolderProjectFinder
from kiro_learn.adapters.files.repository import FileBranches

BEFORE_ALL = datetime(2020, 1, 1, tzinfo=UTC)


@attrs.frozen
class Worktree:
    """A folder in which git is run, with a new time for each commit."""

    folder: Path

    def git(self, *arguments: str) -> str:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder.parent),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": "ada@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        command = ["git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=environment, check=True, capture_output=True
        ).stdout.decode()

    def commit(self, name: str) -> None:
        (self.folder / name).write_text(name)
        self.git("add", name)
        self.git("commit", "-q", "-m", f"Add {name}")

    def branch_of(self, folder: Path | None = None) -> str | None:
        return FolderProjectFinder(self.folder.parent, "ada").find(str(folder or self.folder)).branch

    def merged(self, *names: str) -> frozenset[str]:
        branches = FileBranches(self.folder.parent)
        return branches.find_merged(str(self.folder), dict.fromkeys(names, BEFORE_ALL))

    def apart(self, *names: str) -> frozenset[str]:
        return FileBranches(self.folder.parent).find_apart(str(self.folder), names)


@pytest.fixture
def shop(tmp_path: Path) -> Worktree:
    """A worktree on ``main`` with one commit, in a home folder of its own."""
    home = tmp_path.resolve() / "home"
    (home / "shop").mkdir(parents=True)
    worktree = Worktree(home / "shop")
    worktree.git("init", "-q")
    worktree.commit("first")
    return worktree


def test_the_branch_is_read_from_any_folder_of_any_worktree(shop: Worktree) -> None:
    (shop.folder / "src").mkdir()
    shop.git("worktree", "add", "-q", "-b", "feature/basket", "../basket")
    shop.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./", "part")
    Worktree(shop.folder / "part").git("switch", "-q", "-c", "inside")

    assert shop.branch_of() == "main"
    assert shop.branch_of(shop.folder / "src") == "main"
    assert shop.branch_of(shop.folder.parent / "basket") == "feature/basket"
    assert shop.branch_of(shop.folder / "part") == "inside"
    assert shop.branch_of(shop.folder.parent) is None


def test_a_detached_head_is_no_branch(shop: Worktree) -> None:
    shop.git("checkout", "-q", "--detach")

    assert shop.branch_of() is None


def test_no_link_is_followed_and_nothing_hangs(shop: Worktree) -> None:
    head = shop.folder / ".git" / "HEAD"
    (elsewhere := shop.folder.parent / "elsewhere").write_text("ref: refs/heads/secret\n")
    head.unlink()
    head.symlink_to(elsewhere)
    assert shop.branch_of() is None

    head.unlink()
    os.mkfifo(head)
    assert shop.branch_of() is None

    (other := shop.folder.parent / "other").mkdir()
    (other / ".git").symlink_to(shop.folder / ".git")
    assert shop.branch_of(other) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"ref: refs/heads/",
        b"ref: refs/heads/.invalid\n",
        b"ref: refs/heads/a b",
        b"ref: refs/heads/\xff\x1b[0m",
        b"x" * 9_000,
    ],
)
def test_a_damaged_head_is_no_branch(shop: Worktree, content: bytes) -> None:
    (shop.folder / ".git" / "HEAD").write_bytes(content)

    assert shop.branch_of() is None


def test_nothing_of_a_repository_is_run(shop: Worktree) -> None:
    trap, sprung = shop.folder / "trap", shop.folder / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch {sprung}\n")
    trap.chmod(0o755)
    shop.git("switch", "-q", "-c", "feature")
    for key in ("core.fsmonitor", "core.pager", "core.hooksPath", "alias.log", "diff.external"):
        shop.git("config", key, str(trap))

    assert shop.branch_of() == "feature"
    assert shop.apart("feature") == {"feature"}
    assert shop.merged("feature") == frozenset()
    assert not sprung.exists()


def test_a_new_branch_is_apart_and_not_merged_though_its_commit_is_in_main(shop: Worktree) -> None:
    shop.git("branch", "feature")

    assert shop.apart("feature", "main", "gone") == {"feature"}
    assert shop.merged("feature", "main", "gone") == frozenset()


def on_feature(shop: Worktree) -> None:
    shop.git("switch", "-q", "-c", "feature")
    shop.commit("second")
    shop.git("switch", "-q", "main")


@pytest.mark.parametrize("manner", ["--ff", "--no-ff"])
@pytest.mark.parametrize("deletes", [False, True])
def test_a_merge_made_here_is_seen(shop: Worktree, manner: str, *, deletes: bool) -> None:
    on_feature(shop)
    assert shop.merged("feature") == frozenset()

    shop.git("merge", "-q", manner, "--no-edit", "feature")
    if deletes:
        shop.git("branch", "-q", "-d", "feature")

    assert shop.merged("feature", "other") == {"feature"}
    assert shop.apart("feature") == frozenset()


def test_a_merge_made_at_the_remote_is_seen_once_it_is_pulled(shop: Worktree) -> None:
    shop.git("clone", "-q", "--bare", ".", "../hub")
    shop.git("remote", "add", "origin", "../hub")
    shop.git("fetch", "-q", "origin")
    shop.git("branch", "-q", "-u", "origin/main")
    on_feature(shop)
    shop.git("push", "-q", "origin", "feature")
    shop.git("clone", "-q", "../hub", "../colleague")
    colleague = Worktree(shop.folder.parent / "colleague")
    colleague.git("merge", "-q", "--no-ff", "-m", "Merge pull request #5 from ada/feature", "origin/feature")
    colleague.git("push", "-q", "origin", "main")
    assert shop.merged("feature") == frozenset()

    shop.git("pull", "-q", "--ff-only")
    assert shop.merged("feature") == {"feature"}

    shop.git("branch", "-q", "-D", "feature")
    assert shop.merged("feature") == {"feature"}


def test_a_squash_and_a_branch_thrown_away_are_not_taken_for_merged(shop: Worktree) -> None:
    on_feature(shop)
    shop.git("merge", "-q", "--squash", "feature")
    shop.git("commit", "-q", "-m", "Add all of it")
    assert shop.merged("feature") == frozenset()

    shop.git("branch", "-q", "-D", "feature")
    assert shop.merged("feature") == frozenset()


def test_a_merge_before_the_work_is_of_another_branch_of_that_name(shop: Worktree) -> None:
    on_feature(shop)
    shop.git("merge", "-q", "--no-ff", "--no-edit", "feature")
    shop.git("branch", "-q", "-d", "feature")
    later = datetime.now(UTC).replace(year=2100)

    assert FileBranches(shop.folder.parent).find_merged(str(shop.folder), {"feature": later}) == frozenset()


def test_the_remote_says_which_branch_is_the_default_one(shop: Worktree) -> None:
    shop.git("switch", "-q", "-c", "develop")
    shop.git("clone", "-q", "--bare", ".", "../hub")
    Worktree(shop.folder.parent / "hub").git("symbolic-ref", "HEAD", "refs/heads/develop")
    shop.git("clone", "-q", "../hub", "../clone")
    clone = Worktree(shop.folder.parent / "clone")

    assert clone.apart("develop", "main") == {"main"}


def test_packed_references_are_read_and_a_path_in_a_name_is_not(shop: Worktree) -> None:
    on_feature(shop)
    shop.git("pack-refs", "--all")

    assert shop.apart("feature", "../heads/feature", "../../config") == {"feature"}
    shop.git("merge", "-q", "feature")
    assert shop.merged("feature") == {"feature"}
