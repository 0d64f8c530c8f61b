"""Which indexes stay in memory."""

from __future__ import annotations

from collections.abc import Sequence

LARGE_SHARE = 0.5
"""Of all bytes there are: what takes more is large."""


def to_let_go(sizes: Sequence[int], most_bytes: int) -> int:
    """How many of the indexes that take ``sizes`` make room; the one used longest ago is the first.

    One large index is not counted, and the one used last always stays. Else a project with half a million memories,
    asked in turn with a small one, would be read anew for every prompt.
    """
    counted = [0 if size > most_bytes * LARGE_SHARE else size for size in sizes]
    gone = 0
    while gone < len(sizes) - 1 and (sum(counted[gone:]) > most_bytes or counted[gone:].count(0) > 1):
        gone += 1
    return gone
