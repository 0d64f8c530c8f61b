"""Separates the question from the answer in a summary that the extractive learner made."""

from __future__ import annotations

from kiro_learn.model.record import ASKED


def parted(summary: str) -> tuple[str, str]:
    """The question and the answer in ``summary``; an empty question if it has none."""
    first, _, rest = summary.partition("\n")
    return (first.removeprefix(ASKED), rest) if first.startswith(ASKED) else ("", summary)
