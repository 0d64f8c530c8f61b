"""Finds memories for a person or a tool: whole records, best first."""

from __future__ import annotations

import attrs

from kiro_learn.errors import EmbeddingError, EmbeddingOff
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import Ranking, SearchMode
from kiro_learn.pipelines.recall.finder import Finder
from kiro_learn.pipelines.recall.retrievers import EMBEDDING_OFF
from kiro_learn.ports.storage.records import RecordReads

OTHER_MODES = "Search with mode=hybrid or mode=lexical."


@attrs.frozen
class FoundMemory:
    """A memory, and why it was found."""

    record: MemoryRecord
    score: float
    """Score of the fusion, or of the only ranking asked; comparable within one search of one project only."""
    found_by: tuple[Ranking, ...]


@attrs.frozen
class Found:
    """The result of a search of one project."""

    memories: tuple[FoundMemory, ...]
    """Best first."""
    degraded: tuple[str, ...] = ()
    """Why there may be more, or a better order."""
    damaged: tuple[str, ...] = ()
    """Ids of records that were found and cannot be read."""

    @property
    def records(self) -> tuple[MemoryRecord, ...]:
        """Best first."""
        return tuple(each.record for each in self.memories)


class Search:
    """Searches one project for records, rather than for a block."""

    def __init__(self, finder: Finder, storage: RecordReads, *, embeds: bool, query_seconds: float) -> None:
        self.finder = finder
        self._storage = storage
        self._embeds = embeds
        self._query_seconds = query_seconds

    async def search(
        self, namespace: Namespace, query: str, *, limit: int, mode: SearchMode = SearchMode.HYBRID
    ) -> Found:
        """The ``limit`` records that fit ``query`` best, best first.

        Raises:
          EmbeddingError: ``mode`` is semantic, and embedding is off or the query could not be embedded.
          StorageError: the store could not be read.
        """
        if mode is SearchMode.SEMANTIC and not self._embeds:
            raise EmbeddingOff(hint=OTHER_MODES)
        patience = self._query_seconds
        findings = await self.finder.find_text(namespace, query, limit=limit, mode=mode, patience_seconds=patience)
        if mode is SearchMode.SEMANTIC and findings.degraded:
            raise EmbeddingError("; ".join(findings.degraded), hint=OTHER_MODES)
        records = await self._storage.get_memory_records([hit.record_id for hit in findings.hits])
        missing = {hit.record_id for hit in findings.hits} - {record.record_id for record in records}
        damaged = missing & set(await self._storage.list_damaged()) if missing else ()
        scores = {hit.record_id: hit.score for hit in findings.hits}
        memories = tuple(
            FoundMemory(record, scores[record.record_id], found_by)
            for record, found_by in zip(records, findings.found_by([each.record_id for each in records]), strict=True)
        )
        is_half = mode is SearchMode.HYBRID and not self._embeds
        degraded = (*findings.degraded, *((EMBEDDING_OFF,) if is_half else ()))
        return Found(memories, degraded, tuple(sorted(damaged)))
