"""Builds what answers searches."""

from __future__ import annotations

from functools import partial

from kiro_learn.app.dependencies import Dependencies
from kiro_learn.config import Config
from kiro_learn.pipelines.recall.finder import Finder
from kiro_learn.pipelines.recall.retrievers import VectorRetriever, WordRetriever
from kiro_learn.services.placing import Placer
from kiro_learn.services.project_names import ProjectNames
from kiro_learn.services.project_search import ProjectSearch
from kiro_learn.services.search import Search, SearchBySyntax


def search_of(
    dependencies: Dependencies, config: Config, finder: Finder, words: WordRetriever, vectors: VectorRetriever
) -> Search:
    storage, recall = dependencies.storage, config.recall
    placer = Placer(
        words,
        vectors,
        storage,
        dependencies.clock,
        finder_over=partial(Finder, storage=storage, config=recall),
        rrf_k=recall.rrf_k if recall.fusion == "rrf" else None,
        scoring=config.search.scoring,
    )
    return Search(
        finder,
        placer,
        SearchBySyntax(storage, placer),
        storage,
        query_seconds=config.embedding.query_seconds,
        patience_seconds=config.search.patience_seconds,
    )


def project_search_of(
    dependencies: Dependencies, config: Config, search: Search, project_names: ProjectNames
) -> ProjectSearch:
    return ProjectSearch(
        search,
        dependencies.storage,
        dependencies.project_finder,
        project_names,
        least_cosine=config.search.semantic_threshold,
    )
