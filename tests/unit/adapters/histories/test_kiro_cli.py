"""Kiro CLI's sessions are read right, trap by trap."""

from __future__ import annotations

from pathlib import Path

from kiro_learn.adapters.histories.files import TORN
from kiro_learn.adapters.histories.kiro_cli import UNKNOWN, KiroCliHistory
from kiro_learn.adapters.histories.turns import NO_CALL, NO_RESULT
from tests.unit.adapters.histories.homes import kiro_cli as home
from tests.unit.adapters.histories.telling import ids, place_of, table

READER = KiroCliHistory()


def test_a_call_that_ran_may_have_failed(tmp_path: Path) -> None:
    home.build(tmp_path)
    rows, skipped = table(READER, place_of(tmp_path))
    assert rows == {
        "s-lost": [("prompt: which port?", "", "")],
        "s-shop": [
            ("prompt: fix the retry", "01 10:00:00", "/src/shop"),
            ('tool_use: shell {"command": "ls"} well', "01 10:00:00", "/src/shop"),
            ('tool_use: shell {"command": "make test"} failed', "01 10:00:00", "/src/shop"),
            ('tool_use: shell {"command": "make"} well', "01 10:00:00", "/src/shop"),
            ("session_summary: It is mended.", "01 10:01:00", "/src/shop"),
            ("prompt: and the cart?", "01 10:02:00", "/src/shop"),
        ],
    }
    assert skipped == {NO_RESULT: 1, NO_CALL: 1, UNKNOWN: 1, TORN: 1}


def test_an_id_that_comes_again_is_another_call(tmp_path: Path) -> None:
    home.build(tmp_path)
    found = ids(READER, place_of(tmp_path))
    assert len(set(found)) == len(found)


def test_the_home_moves(tmp_path: Path) -> None:
    home.build(tmp_path)
    (tmp_path / ".kiro").rename(tmp_path / "elsewhere")
    assert len(table(READER, place_of(tmp_path, KIRO_HOME=str(tmp_path / "elsewhere")))[0]) == 2
