from __future__ import annotations

from pathlib import PurePath

import pytest

from kiro_learn.model.namespace import display_name

HOME = PurePath("/home/ann")


@pytest.mark.parametrize(
    ("path", "home", "shown"),
    [
        ("/home/ann/work/app", HOME, "work/app"),
        ("/home/ann", HOME, "/home/ann"),
        ("/home/anna/app", HOME, "/home/anna/app"),
        ("/home/ann/app", None, "/home/ann/app"),
        (None, HOME, "0123456789ab"),
    ],
)
def test_a_project_is_shown_by_its_folder(path: str | None, home: PurePath | None, shown: str) -> None:
    assert display_name("0123456789abcdef" * 4, path, user_home=home) == shown


def test_a_project_without_a_folder_is_shown_by_the_whole_of_its_name() -> None:
    assert display_name("a-project-with-a-long-name", None, user_home=HOME) == "a-project-with-a-long-name"
