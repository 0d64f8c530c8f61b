"""Copilot CLI's journals are read right, trap by trap."""

from __future__ import annotations

from pathlib import Path

from kiro_learn.adapters.histories.copilot import CopilotHistory
from kiro_learn.adapters.histories.files import TORN
from kiro_learn.adapters.histories.turns import NO_RESULT, SUMMARIES
from tests.unit.adapters.histories.homes import copilot as home
from tests.unit.adapters.histories.telling import place_of, table


def test_results_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    home.build(tmp_path)
    rows, skipped = table(CopilotHistory(), place_of(tmp_path))
    assert rows == {
        "p-api": [("prompt: which port?", "02 06:00:00", "/src/api/web")],
        "p-shop": [
            ("prompt: why is the basket\u2028empty?", "01 12:00:01", "/src/shop"),
            ('tool_use: view {"path": "/src/shop/basket.py"} well', "01 12:00:07", "/src/shop"),
            ('tool_use: bash {"command": "pytest -q"} failed', "01 12:00:08", "/src/shop"),
            ('tool_use: bash {"command": "make"} failed', "01 12:00:10", "/src/shop"),
            ("session_summary: The cookie is read too early.", "01 12:00:11", "/src/shop"),
            ("prompt: keep it there", "01 12:00:14", "/src/shop"),
        ],
    }
    assert skipped == {SUMMARIES: 1, NO_RESULT: 1, TORN: 1}
