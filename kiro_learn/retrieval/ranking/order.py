"""The one order of hits: best, then newest, then by id."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from kiro_learn.model.retrieval import Hit


def best_first(hits: Iterable[Hit]) -> list[Hit]:
    """``hits`` by (score descending, created_at descending, record_id ascending); how they came does not matter."""
    by_id = sorted(hits, key=attrgetter("record_id"))
    return sorted(by_id, key=attrgetter("score", "created_at"), reverse=True)  # equal ones stay in id order
