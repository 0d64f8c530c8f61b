"""Reads the ranking features of what two rankings find: those of the first while the second is still awaited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Hit, RankingFeatures
from kiro_learn.pipelines.recall.optional_result import OptionalResult


class FeatureReading:
    """Reads the ranking features of one search's hits, each record once, whichever ranking has it first."""

    def __init__(
        self, read: Callable[[list[RecordId]], Awaitable[dict[RecordId, RankingFeatures]]], *, is_wanted: bool
    ) -> None:
        self._read = read
        self._is_wanted = is_wanted
        self._begun: set[RecordId] = set()
        self._parts: list[OptionalResult[dict[RecordId, RankingFeatures]]] = []

    async def read(self, hits: Iterable[Hit]) -> None:
        """Read those of ``hits`` that are not being read yet."""
        record_ids = [hit.record_id for hit in hits if hit.record_id not in self._begun]
        if not self._is_wanted or not record_ids:
            return
        self._begun.update(record_ids)
        part: OptionalResult[dict[RecordId, RankingFeatures]] = OptionalResult({}, is_asked=True)
        self._parts.append(part)
        await part.run("features", lambda: self._read(record_ids))

    def gathered(self, *, is_needed: bool) -> OptionalResult[dict[RecordId, RankingFeatures]]:
        """All of them, or none: where some are missing, those that are there would weigh more for that alone."""
        problem = next((part.problem for part in self._parts if part.problem), None)
        known = {} if problem else {key: value for part in self._parts for key, value in part.result.items()}
        return OptionalResult(known, is_asked=self._is_wanted and is_needed, problem=problem)
