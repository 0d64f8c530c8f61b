"""What is answered to a search, as JSON: the one place that knows these shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kiro_learn.model.record import MemoryRecord
from kiro_learn.wire.messages import write_record

DIGITS = 6
"""Of a score: bm25 is tiny where a word is in every record."""


def significant(score: float) -> float:
    """``score`` to as many digits as are worth telling, whatever its power of ten."""
    return float(f"{score:.{DIGITS}g}")


def hit_answer(
    record: MemoryRecord,
    *,
    rank: int,
    score: float,
    parts: Mapping[str, float],
    found_by: Iterable[str],
    project: str,
) -> dict[str, Any]:
    """One memory, and why it is there: a higher score is better, and scores of two projects do not compare. ``parts``:
    what the score is the sum of.
    """
    return {
        "rank": rank,
        "score": significant(score),
        "parts": {name: significant(part) for name, part in parts.items()},
        "found_by": list(found_by),
        "project": project,
        "memory": write_record(record),
    }


def search_answer(
    hits: Sequence[dict[str, Any]],
    *,
    project: dict[str, Any] | None,
    elsewhere_count: int,
    memory_count: int,
    latency_ms: float,
    degraded: Iterable[str],
    damaged: Iterable[str],
    is_nothing_near: bool,
) -> dict[str, Any]:
    """All that a person is shown of a search; ``project`` is None if all were searched."""
    return {
        **({"nothing_near": True} if is_nothing_near else {}),
        "project": project,
        "hits": list(hits),
        "elsewhere_count": elsewhere_count,
        "memory_count": memory_count,
        "latency_ms": latency_ms,
        "degraded": list(degraded),
        "damaged": list(damaged),
    }
