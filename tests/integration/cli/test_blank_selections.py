"""A script's variable that was never set selects nothing, not everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.cli.command_line import kiro_learn

BLANK = [
    ("forget", "--session", "", "--since", "2026-01-01", "--yes"),
    ("forget", "--source", " ", "--yes"),
    ("forget", "--since", "", "--until", "2026-01-01", "--yes"),
    ("forget", "--project", "", "--since", "2026-01-01", "--yes"),
    ("projects", "forget", "", "--yes"),
    ("pause", "--session", ""),
    ("resume", "--session="),
]


@pytest.mark.parametrize("arguments", BLANK, ids=" ".join)
def test_what_is_blank_is_refused_before_the_daemon_is_asked(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    completed = kiro_learn(tmp_path / "home", *arguments)
    assert completed.returncode == 2
    assert "it is empty: give a value" in completed.stderr
