"""The first line of a summary that the extractive learner made: what was asked, apart from what was answered."""

from __future__ import annotations

from kiro_learn.model.record import ASKED


def parted(summary: str) -> tuple[str, str]:
    """The question and the answer that ``summary`` tells; an empty question if it tells none."""
    first, _, rest = summary.partition("\n")
    return (first.removeprefix(ASKED), rest) if first.startswith(ASKED) else ("", summary)
