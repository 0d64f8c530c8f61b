"""Finds the projects of folders, with real folders, links and git."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import trio

from kiro_learn.adapters.files.project_finder import FolderProjectFinder, actor_id


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def repository(home: Path) -> Path:
    return committed(home / "repository")


def committed(folder: Path) -> Path:
    (folder / "packages/one").mkdir(parents=True)
    (folder / "packages/one/package.json").write_text("{}")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "Begin")
    return folder


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always"]
    alone = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, env=alone, capture_output=True)  # noqa: S607  # the git there is


def root_of(folder: Path | str, home: Path) -> str:
    return FolderProjectFinder(home, "ada").find(str(folder)).project_path


def test_every_subfolder_and_link_is_in_its_project(home: Path) -> None:
    (home / "work/src/deep").mkdir(parents=True)
    (home / "work/pyproject.toml").touch()
    (home / "link").symlink_to(home / "work/src")
    assert {root_of(home / place, home) for place in ("work", "work/src/deep", "link", "work/src/..", "link/deep")} == {
        str(home / "work")
    }


def test_the_repository_around_a_package_is_known(home: Path, repository: Path) -> None:
    found = FolderProjectFinder(home, "ada").find(str(repository / "packages/one"))
    assert (found.project_path, found.repository_path) == (str(repository / "packages/one"), str(repository))
    (home / "notes").mkdir()
    assert FolderProjectFinder(home, "ada").find(str(home / "notes")).repository_path == ""


def test_without_a_marker_inside_home_it_is_the_global_project(home: Path, tmp_path: Path) -> None:
    (home / ".git").mkdir()
    (home / "notes").mkdir()
    (tmp_path / "package.json").touch()
    for place in (home / "notes", home, "", "relative"):
        assert root_of(place, home) == str(home)


def test_outside_home_a_folder_with_a_marker_is_its_own_project(home: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "workspaces" / name / "src").mkdir(parents=True)
        (tmp_path / "workspaces" / name / ".git").mkdir()
        root = tmp_path / "workspaces" / name
        assert root_of(root, home) == root_of(root / "src", home) == str(root)


def test_outside_home_a_folder_without_any_marker_is_its_own_project(home: Path, tmp_path: Path) -> None:
    (tmp_path / "data/deep").mkdir(parents=True)
    for place in (tmp_path / "data", tmp_path / "data/deep", tmp_path, Path("/")):
        assert root_of(place, home) == str(place)


def test_a_marker_on_the_top_of_temporary_files_makes_no_project_of_them(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp/work").mkdir(parents=True)
    (tmp_path / "tmp/package.json").touch()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    assert root_of(tmp_path / "tmp/work", home) == str(tmp_path / "tmp/work")
    (tmp_path / "tmp/work/.git").mkdir()
    (tmp_path / "tmp/work/src").mkdir()
    assert root_of(tmp_path / "tmp/work/src", home) == str(tmp_path / "tmp/work")


@pytest.mark.parametrize(
    ("mounted", "is_a_project"),
    [("/", False), ("/home/ann/code/disk", True), (None, False)],
    ids=["a disk", "a folder, as containers get one", "not listed"],
)
def test_a_marker_on_the_top_of_a_disk_makes_no_project_of_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mounted: str | None, is_a_project: bool
) -> None:
    disk = tmp_path / "a disk"
    (disk / "photos").mkdir(parents=True)
    (disk / "package.json").touch()
    place = str(disk).replace(" ", "\\040")
    listed = f"36 35 98:0 /other / rw\n37 36 8:1 {mounted} {place} rw,noatime - ext4 /dev/sdb1 rw\n" if mounted else ""
    (tmp_path / "mountinfo").write_text(listed)
    monkeypatch.setattr("kiro_learn.adapters.files.project_finder.MOUNTS", tmp_path / "mountinfo")
    is_mount = os.path.ismount
    monkeypatch.setattr("os.path.ismount", lambda path: str(path) == str(disk) or is_mount(path))
    assert root_of(disk / "photos", home) == str(disk if is_a_project else disk / "photos")


def test_a_marker_in_the_root_of_everything_makes_no_project_of_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kiro_learn.adapters.files.project_finder._has_marker", lambda folder: str(folder) == "/")
    assert root_of("/srv/nowhere", home) == "/srv/nowhere"


def test_a_worktree_of_a_repository_outside_home_is_that_repository(home: Path, tmp_path: Path) -> None:
    outside = committed(tmp_path / "srv/repository")
    git(outside, "worktree", "add", "-q", "--detach", str(tmp_path / "srv/linked"))
    git(outside, "worktree", "add", "-q", "--detach", str(home / "linked"))
    assert root_of(tmp_path / "srv/linked/packages/one", home) == str(outside / "packages/one")
    assert root_of(home / "linked", home) == str(outside)


def test_a_worktree_of_the_home_folder_itself_is_the_global_project(home: Path, tmp_path: Path) -> None:
    committed(home)
    git(home, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    assert root_of(tmp_path / "linked", home) == str(home)


def test_what_the_first_kiro_learn_kept_of_a_worktree_belongs_to_its_repository(home: Path, repository: Path) -> None:
    git(repository, "worktree", "add", "-q", "--detach", str(home / "linked"))
    finder = FolderProjectFinder(home, "ada%")
    linked, main = (hashlib.sha256(str(path).encode()).hexdigest() for path in (home / "linked", repository))
    in_use = f"/actor/ada%25/project/{main}/"
    assert finder.namespace_in_use(f"/actor/ada%/project/{linked}/", "ada%", str(home / "linked")) == in_use
    assert finder.namespace_in_use(f"/actor/ada%/project/{main}/", None, str(repository)) == in_use
    unknown = f"/actor/ada%25/project/{linked}/"
    assert finder.namespace_in_use(unknown, "ada%", None) == unknown
    assert finder.namespace_in_use(unknown, "ada%", str(repository)) == unknown, "a path that is not this project's"
    shutil.rmtree(home / "linked")
    assert finder.namespace_in_use(unknown, "ada%", str(home / "linked")) == unknown


def test_a_deleted_folder_stays_in_its_project_or_is_its_own(home: Path) -> None:
    (home / "work/.kiro").mkdir(parents=True)
    assert root_of(home / "work/gone/deep", home) == str(home / "work")
    assert root_of(home / "gone", home) == str(home / "gone")


@pytest.mark.parametrize("folder", ["/a\0b", "/\ud800", "/" + "x" * 300, "/" + "x" * 3000, "/" + "x/" * 5000])
def test_what_is_no_path_at_all_is_somewhere_and_no_error(home: Path, folder: str) -> None:
    assert 1 <= len(FolderProjectFinder(home, "ada").find(folder).project_path.encode()) <= 2048


def test_a_name_that_is_not_utf8_has_its_own_project_and_a_path_that_can_be_shown(home: Path) -> None:
    roots = [os.fsdecode(os.fsencode(home) + name) for name in (b"/caf\xe9", b"/caf\xe8")]
    for root in roots:
        os.makedirs(root + "/.git")  # noqa: PTH103  # bytes in disguise
    projects = [FolderProjectFinder(home, "ada").find(root) for root in roots]
    assert projects[0].project_id != projects[1].project_id
    assert {project.project_path for project in projects} == {f"{home}/caf\N{REPLACEMENT CHARACTER}"}


def test_a_linked_worktree_is_its_main_worktree_wherever_it_stands(
    home: Path, repository: Path, tmp_path: Path
) -> None:
    for place in (home / "linked", repository / ".worktrees/linked", tmp_path / "outside"):
        git(repository, "worktree", "add", "-q", "--detach", str(place))
        (place / "src").mkdir()
        assert root_of(place / "src", home) == str(repository)
        assert root_of(place / "packages/one", home) == str(repository / "packages/one")
    assert root_of(repository, home) == str(repository)


def test_a_worktree_whose_repository_is_gone_is_its_own_project(home: Path, repository: Path) -> None:
    git(repository, "worktree", "add", "-q", str(home / "linked"))
    shutil.rmtree(repository)
    assert root_of(home / "linked", home) == str(home / "linked")


def test_worktrees_around_a_hidden_bare_repository_share_the_folder_around_them(home: Path, repository: Path) -> None:
    around = home / "around"
    git(home, "clone", "-q", "--bare", str(repository), str(around / ".bare"))
    (around / ".git").write_text("gitdir: ./.bare\n")
    for name in ("one", "two"):
        git(around, "worktree", "add", "-q", "-b", name, str(around / name))
        assert root_of(around / name, home) == str(around)
    assert root_of(around, home) == str(around)


def test_a_submodule_is_a_project_of_its_own(home: Path, repository: Path) -> None:
    outer = committed(home / "outer")
    git(outer, "submodule", "--quiet", "add", str(repository), "inner")
    assert (outer / "inner/.git").is_file()
    assert root_of(outer / "inner", home) == str(outer / "inner")


def test_no_folder_joins_a_project_by_claiming_to_be_its_worktree(home: Path, repository: Path) -> None:
    git(repository, "worktree", "add", "-q", str(home / "linked"))
    claim = home / "unpacked"
    claim.mkdir()
    shutil.copy(home / "linked/.git", claim / ".git")
    assert root_of(claim, home) == str(claim)


@pytest.mark.parametrize("content", [b"", b"\xff\0", b"gitdir: ", b"gitdir: \0", b"gitdir: " + b"x" * 9000])
def test_a_strange_git_file_is_a_marker_and_no_more(home: Path, content: bytes) -> None:
    (home / "work").mkdir()
    (home / "work/.git").write_bytes(content)
    assert root_of(home / "work", home) == str(home / "work")


def test_asked_from_the_loop_it_says_the_same(home: Path, repository: Path) -> None:
    finder = FolderProjectFinder(home, "ada")
    assert trio.run(finder.project_of, str(repository)) == finder.find(str(repository))


def test_a_folder_is_gone_only_if_the_system_says_so(home: Path) -> None:
    finder = FolderProjectFinder(home, "ada")
    (home / "file").write_text("")
    for there in (home, home / "file"):
        assert trio.run(finder.is_there, str(there))
    for gone in (home / "typo", home / "file" / "below", f"/\0{home}", f"/{'x' * 9_000}"):
        assert not trio.run(finder.is_there, str(gone))
    assert trio.run(finder.is_there, f"/{'x' * 300}"), "a name too long to be asked about says nothing"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look anywhere")
def test_a_folder_that_we_may_not_look_for_may_be_there(home: Path) -> None:
    (home / "closed").mkdir(mode=0o000)
    assert trio.run(FolderProjectFinder(home, "ada").is_there, str(home / "closed" / "below"))


def test_the_actor_is_the_systems_user_before_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    assert actor_id({"USER": "somebody-else"}) != "somebody-else"

    def unlisted(_uid: int) -> None:
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", unlisted)
    assert actor_id({"USER": "ada", "USERNAME": "eve"}) == "ada"
    assert actor_id({"USERNAME": "eve"}) == "eve"
    assert actor_id({}) == "unknown"
