"""Builds what answers prompts."""

from __future__ import annotations

from functools import partial

from kiro_learn.actors.aftermath import Aftermath
from kiro_learn.app.actor_wiring import Actors, Dependencies
from kiro_learn.config import Config, RecallConfig
from kiro_learn.pipelines.recall.beside_memories import FileNotes, SlotLines
from kiro_learn.pipelines.recall.context import ContextBuilder
from kiro_learn.pipelines.recall.context_search import ContextSearch
from kiro_learn.pipelines.recall.finder import Finder
from kiro_learn.pipelines.recall.recall import Recall
from kiro_learn.pipelines.recall.retrievers import VectorRetriever, WordRetriever
from kiro_learn.ports.home import ProfilesOfProjects
from kiro_learn.services.placing import Placer
from kiro_learn.services.project_names import ProjectNames
from kiro_learn.services.retrieval_log import RetrievalLog
from kiro_learn.services.search import ProjectSearch, Search, SearchBySyntax


def recalling_of(  # noqa: PLR0917  # its parts, in the order in which they are made
    dependencies: Dependencies,
    config: Config,
    actors: Actors,
    finder: Finder,
    aftermath: Aftermath,
    retrievals: RetrievalLog,
    profiles: ProfilesOfProjects,
) -> tuple[ContextBuilder, Recall]:
    """What builds context blocks, and what answers prompts."""
    builder = _context_builder(dependencies, config, actors, finder, retrievals)
    recall = _recall_of(dependencies, config.recall, actors, finder, builder, aftermath, retrievals, profiles)
    return builder, recall


def _context_builder(
    dependencies: Dependencies,
    config: Config,
    actors: Actors,
    finder: Finder,
    retrievals: RetrievalLog,
) -> ContextBuilder:
    return ContextBuilder(
        ContextSearch(
            finder, dependencies.storage, actors.embedder, actors.graph_embedder, embeds=config.embedding.enabled
        ),
        dependencies.clock,
        config.recall,
        most_tokens=config.graph.context_tokens,
        count_tokens=dependencies.count_tokens,
        offload=dependencies.offload,
        keep_hits=retrievals.add_context,
    )


def _recall_of(  # noqa: PLR0917  # its parts, in the order in which they are made
    dependencies: Dependencies,
    config: RecallConfig,
    actors: Actors,
    finder: Finder,
    contexts: ContextBuilder,
    aftermath: Aftermath,
    retrievals: RetrievalLog,
    profiles: ProfilesOfProjects,
) -> Recall:
    return Recall(
        finder,
        dependencies.storage,
        config,
        sessions=actors.sessions,
        file_notes=FileNotes(dependencies.project_files),
        slot_lines=SlotLines(profiles, config),
        graph=contexts if config.pipeline == "graph" else None,
        factors=aftermath.factors,
        keep_report=retrievals.add,
        prompt_priority=actors.prompt_priority,
        clock=dependencies.clock,
    )


# Builds what answers searches.


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
