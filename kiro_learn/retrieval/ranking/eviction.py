"""Which indexes stay in memory."""

from __future__ import annotations

from collections.abc import Sequence

LARGE_SHARE = 0.5
"""Of all bytes there are: what takes more is large."""


def eviction_count(sizes: Sequence[int], most_bytes: int) -> int:
    """How many of the indexes that take ``sizes`` make room; the one used longest ago is the first.

    One large index is not counted, and the one used last always stays. Else a project with half a million memories,
    asked in turn with a small one, would be read anew for every prompt.
    """
    kept = counted_bytes = large_count = 0
    for size in reversed(sizes):
        if size > most_bytes * LARGE_SHARE:
            large_count += 1
        else:
            counted_bytes += size
        if kept and (counted_bytes > most_bytes or large_count > 1):
            break
        kept += 1
    return len(sizes) - kept
