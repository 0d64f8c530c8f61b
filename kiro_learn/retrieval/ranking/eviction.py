"""Decides which indexes stay in memory."""

from __future__ import annotations

from collections.abc import Sequence

LARGE_SHARE = 0.5
"""An index that takes more than this share of the memory budget is large."""


def eviction_count(sizes: Sequence[int], most_bytes: int) -> int:
    """How many indexes to evict, from the front of ``sizes``, which is least recently used first.

    One large index is not counted, and the most recently used one always stays. Otherwise a project with half a million
    memories, asked in turn with a small one, would be read again for every prompt.
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
