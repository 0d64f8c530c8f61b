"""The list of projects: a row for each, with any folder names."""

from __future__ import annotations

from types import SimpleNamespace

from kiro_learn.frontends.cli.project_verbs import _row
from tests.unit.frontends.cli.samples import PLAIN


def test_a_folder_of_any_name_has_one_row_and_brings_no_colours() -> None:
    counts = {"event_count": 1, "memory_count": 0, "size_bytes": 4100, "last_event_at": None}
    project = {"display_name": "shop\n\x1b[31mred\x9b", **counts}
    row = _row(project, SimpleNamespace(out=PLAIN))  # type: ignore[arg-type]  # without a moment it asks for no clock
    assert row.startswith("shop \ufffd[31mred\ufffd  ")
    assert row.endswith("1 event · 0 memories · 4.1 kB")
    assert len(row.splitlines()) == 1
