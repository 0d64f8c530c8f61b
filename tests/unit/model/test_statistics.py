"""The saving of memories is computed from their bytes and the bytes of their sources."""

from __future__ import annotations

import pytest

from kiro_learn.model.statistics import TokenEconomics


@pytest.mark.parametrize(
    ("told", "replaced", "saved", "percent"),
    [(250, 1_000, 750, 75.0), (0, 0, 0, 0.0), (30, 20, -10, -50.0), (1, 3, 2, 66.7)],
)
def test_savings(told: int, replaced: int, saved: int, percent: float) -> None:
    economics = TokenEconomics(tellings=1, told_bytes=told, replaced_bytes=replaced)
    assert (economics.saved_bytes, economics.reduction_percent) == (saved, percent)
