"""Which home is served."""

from __future__ import annotations

from pathlib import Path

from kiro_learn.client.address import default_home


def test_the_home_is_where_the_environment_says(tmp_path: Path) -> None:
    assert default_home({"KIRO_LEARN_HOME": str(tmp_path)}) == tmp_path
    assert default_home({"KIRO_LEARN_HOME": ""}) == Path.home() / ".kiro-learn"
    assert default_home({"KIRO_LEARN_HOME": "~/x"}) == Path.home() / "x"
    assert default_home({"KIRO_LEARN_HOME": "x"}).is_absolute()
