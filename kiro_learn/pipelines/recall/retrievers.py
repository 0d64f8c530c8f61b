"""The ways of finding records: by words, and by meaning."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import trio

from kiro_learn.errors import EmbeddingError
from kiro_learn.model.retrieval import Ranking, SearchMode
from kiro_learn.ports.embedding import QueryEmbedder
from kiro_learn.ports.retriever import NearestRecords, RetrieverAnswer, RetrieverQuery, TermLookup, WordIndexRepair
from kiro_learn.ports.storage.answers import LexicalRanking, SearchParams
from kiro_learn.ports.storage.words import WordReads
from kiro_learn.retrieval.query.question import Query
from kiro_learn.retrieval.query.syntax import has_words
from kiro_learn.retrieval.ranking.vector_index import VectorRanking

EMBEDDING_OFF = "vectors: [embedding] enabled is false"
INDEX_DAMAGED = "words: the index is damaged and being rebuilt; found without it"


@attrs.frozen(eq=False)
class WordRetriever:
    """Asks the store's index of words."""

    storage: WordReads
    term_prefetcher: TermLookup
    """Goes on with what was cut off."""
    rebuilder: WordIndexRepair
    term_cap: int

    name: ClassVar = Ranking.WORDS
    stage: ClassVar = "words"
    mode: ClassVar = SearchMode.LEXICAL
    nothing: ClassVar = LexicalRanking(hits=(), ideal_score=0.0)

    def can_answer(self, query: Query) -> bool:  # noqa: ARG002  # the store knows what a term is
        """Always True: the store decides which words of a query it looks up."""
        return True

    async def ask(self, query: RetrieverQuery) -> RetrieverAnswer:
        """See ``Retriever.ask``. If cancelled, ``term_prefetcher`` looks the words up afterwards, for the next prompt.

        Raises:
          StorageError: the store could not be read.
        """
        params = SearchParams(
            query.namespace, query.query.words, query.depth, self.term_cap, with_neighbors=query.with_neighbors
        )
        try:
            with query.stage(self.stage):
                ranking = await self.storage.rank_by_words(params)
        except trio.Cancelled:
            self.term_prefetcher.look_up(params)
            raise
        if not ranking.is_index_damaged:
            return RetrieverAnswer(ranking)
        self.rebuilder.note_damage(params.namespace)
        return RetrieverAnswer(ranking, INDEX_DAMAGED)


@attrs.frozen(eq=False)
class VectorRetriever:
    """Embeds the query and asks for the nearest records."""

    embedder: QueryEmbedder
    indexes: NearestRecords
    is_enabled: bool

    name: ClassVar = Ranking.MEANING
    stage: ClassVar = "vectors"
    mode: ClassVar = SearchMode.SEMANTIC
    nothing: ClassVar = VectorRanking()

    def can_answer(self, query: Query) -> bool:
        """Whether embedding is enabled and the query has a word in it."""
        return self.is_enabled and has_words(query.meaning)

    async def ask(self, query: RetrieverQuery) -> RetrieverAnswer:
        """See ``Retriever.ask``.

        Raises:
          EmbeddingError: there is no model, it failed, or it made a vector that is not finite.
          StorageError: the index was not in memory and could not be read.
        """
        with query.stage("embed"):
            model = self.embedder.serving_model(query.namespace)
            vector = await self.embedder.embed_query(query.query.meaning, model)
        if not np.isfinite(vector).all():
            raise EmbeddingError("the embedding model made a vector of no direction")
        with query.stage(self.stage):
            return RetrieverAnswer(await self.indexes.rank(query.namespace, vector, query.depth, model=model))
