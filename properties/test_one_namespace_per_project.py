"""An agent in any folder of a project, by any spelling of its path, has the same namespace."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.adapters.files.project_finder import FolderProjectFinder
from kiro_learn.model.namespace import PROJECT_MARKERS

names = st.text("abcé _.-", min_size=1, max_size=6).filter(lambda name: name not in {".", ".."})
ways = st.lists(names, max_size=4)


@given(
    way=ways,
    below=ways,
    marker=st.sampled_from(PROJECT_MARKERS),
    spelling=st.sampled_from(["{}/", "{}/.", "/.{}", "//{}"]),
)
def test_one_namespace_per_project(way: list[str], below: list[str], marker: str, spelling: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(os.path.realpath(folder))
        root = home.joinpath("projects", *way)
        inside = root.joinpath(*below)
        inside.mkdir(parents=True)
        (root / marker).mkdir()
        (home / "link").symlink_to(inside)
        finder = FolderProjectFinder(home, "ada")
        project = finder.find(str(root))
        assert project.project_path == str(root)
        assert finder.find(spelling.format(inside)) == project
        assert finder.find(str(home / "link")) == project
        assert finder.find(str(inside / "deleted")) == project
        assert finder.find(str(home / "projects")) != project or not way
