"""The retrievers of one search: what a filter leaves out does not count, and a query is embedded once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import trio

from kiro_learn.errors import EmbeddingError
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import EVERYTHING, RecordFilter
from kiro_learn.model.retrieval import Hit, Ranking, SearchMode
from kiro_learn.model.vectors import ModelIdentity, Vector
from kiro_learn.pipelines.recall.retrievers import LATE
from kiro_learn.ports.embedding import QueryEmbedder
from kiro_learn.ports.retriever import Retriever, RetrieverAnswer, RetrieverQuery
from kiro_learn.ports.storage.records import ObservationReads
from kiro_learn.retrieval.query.question import Query
from kiro_learn.retrieval.ranking.calibrated import Evidence

DEEPER = 10
"""Factor by which the depth grows if too few hits pass the filter."""


@attrs.define(eq=False)
class QueryVectors:
    """Embeds the query of one search once for each model, however many projects and depths it is asked for."""

    _embedder: QueryEmbedder
    _patience_seconds: float
    _known: dict[tuple[str, ModelIdentity | None], Vector] = attrs.field(factory=dict, init=False)

    def serving_model(self, namespace: Namespace) -> ModelIdentity:
        """See ``QueryEmbedder``."""
        return self._embedder.serving_model(namespace)

    async def embed_query(self, text: str, model: ModelIdentity | None = None) -> Vector:
        """See ``QueryEmbedder``; a vector that is late is an EmbeddingError too."""
        if (text, model) not in self._known:
            with trio.move_on_after(self._patience_seconds):
                self._known[text, model] = await self._embedder.embed_query(text, model)
        if (text, model) not in self._known:
            raise EmbeddingError(LATE)
        return self._known[text, model]


@attrs.define(eq=False)
class Sifted:
    """A retriever that goes on until ``least`` of its hits pass a filter, or it has no more.

    Its first hits are all kept, whether they pass or not, since fusion weighs a record beside others. Of those further
    down only what passes is kept, so that what is weighed stays small.
    """

    _retriever: Retriever
    _storage: ObservationReads
    _wanted: RecordFilter
    _least: int
    fitting: frozenset[RecordId] = attrs.field(default=frozenset(), init=False)
    """The hits that pass the filter."""
    is_complete: bool = attrs.field(default=False, init=False)
    """It answered, and every record that it has anything to say of is among its hits."""

    @property
    def name(self) -> Ranking:
        """See ``Retriever``."""
        return self._retriever.name

    @property
    def stage(self) -> str:
        """See ``Retriever``."""
        return self._retriever.stage

    @property
    def mode(self) -> SearchMode:
        """See ``Retriever``."""
        return self._retriever.mode

    @property
    def nothing(self) -> Evidence:
        """See ``Retriever``."""
        return self._retriever.nothing

    def can_answer(self, query: Query) -> bool:
        """See ``Retriever``."""
        return self._retriever.can_answer(query)

    async def ask(self, query: RetrieverQuery) -> RetrieverAnswer:
        """See ``Retriever``."""
        answer = await self._retriever.ask(query)
        depth, evidence = query.depth, answer.evidence
        fitting = await self._fitting(evidence.hits)
        while len(evidence.hits) == depth and len(fitting) < self._least:
            depth *= DEEPER
            answer = await self._retriever.ask(attrs.evolve(query, depth=depth))
            evidence = answer.evidence
            fitting = await self._fitting(evidence.hits)
        self.fitting, self.is_complete = fitting, len(evidence.hits) < depth
        further = [hit for hit in evidence.hits[query.depth :] if hit.record_id in fitting]
        hits = (*evidence.hits[: query.depth], *further[: query.depth])
        return attrs.evolve(answer, evidence=_with_hits(evidence, hits))

    async def _fitting(self, hits: Sequence[Hit]) -> frozenset[RecordId]:
        record_ids = frozenset(hit.record_id for hit in hits)
        if self._wanted == EVERYTHING:
            return record_ids
        return await self._storage.get_fitting_ids(record_ids, self._wanted)


def _with_hits(evidence: Any, hits: tuple[Hit, ...]) -> Evidence:
    changed: Evidence = attrs.evolve(evidence, hits=hits)
    return changed
