"""Results of a search that explain their rank."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal, TypeAlias

import attrs

from kiro_learn.errors import QuerySyntaxError
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.retrieval.ranking.signals import Scored, Signals

Source: TypeAlias = Literal["hybrid", "vector", "keyword"]


@attrs.frozen(kw_only=True)
class ScoredResult:
    """A record that was found, with its rank explained."""

    record: MemoryRecord
    project: str
    score: float
    source: Source
    """Which rankings found it: both, or one of them."""
    signals: Signals


@attrs.frozen(kw_only=True)
class ScoredResults:
    """Best first."""

    results: tuple[ScoredResult, ...]
    degraded: tuple[str, ...] = ()
    """Why there may be more, or a better order."""
    problem: QuerySyntaxError | None = None
    """Why the query was looked up as plain words."""


class ResultRecords:
    """Reads the records of results. Each method may raise StorageError."""

    def __init__(self, storage: StorageBackend) -> None:
        self._storage = storage

    async def results(
        self, scored: Collection[Scored], sources: Mapping[RecordId, Source], names: Mapping[Namespace, str]
    ) -> tuple[ScoredResult, ...]:
        """A result for each of ``scored``, in their order; without those that were forgotten or cannot be read.

        Args:
          names: what to call each project.
        """
        records = await self._records(each.record_id for each in scored)
        return tuple(
            ScoredResult(
                record=record,
                project=names[record.namespace],
                score=each.score,
                source=sources[each.record_id],
                signals=each.signals,
            )
            for each in scored
            if (record := records.get(each.record_id)) is not None
        )

    async def _records(self, record_ids: Iterable[RecordId]) -> dict[RecordId, MemoryRecord]:
        return {record.record_id: record for record in await self._storage.get_memory_records(list(record_ids))}
