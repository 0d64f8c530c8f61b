"""Builds what answers prompts and searches, and keeps account of it."""

from __future__ import annotations

from functools import partial

import attrs

from kiro_learn.actors.aftermath import Aftermath
from kiro_learn.app.actor_wiring import Actors, Dependencies
from kiro_learn.config import Config, RecallConfig
from kiro_learn.pipelines.recall.context import ContextBuilder
from kiro_learn.pipelines.recall.context_search import ContextSearch
from kiro_learn.pipelines.recall.finder import Finder
from kiro_learn.pipelines.recall.reading import FileNotes, Reading, SlotLines
from kiro_learn.pipelines.recall.recall import Recall
from kiro_learn.pipelines.recall.retrievers import VectorRetriever, WordRetriever
from kiro_learn.services.placing import Placer
from kiro_learn.services.project_files import ProjectProfiles
from kiro_learn.services.project_names import ProjectNames
from kiro_learn.services.retrieval_log import RetrievalDetails, RetrievalLog
from kiro_learn.services.search import ProjectSearch, Search, SearchBySyntax


@attrs.frozen(kw_only=True)
class Answering:
    """What answers prompts and searches, and keeps account of it."""

    search: Search
    profiles: ProjectProfiles
    retrievals: RetrievalLog
    details: RetrievalDetails
    aftermath: Aftermath
    contexts: ContextBuilder
    recall: Recall


def answering_of(dependencies: Dependencies, config: Config, actors: Actors) -> Answering:
    finder, search = _searching(dependencies, config, actors)
    profiles, (retrievals, aftermath) = _profiles(dependencies, config), _retrievals(dependencies, actors)
    contexts = _context_builder(dependencies, config, actors, finder, retrievals)
    return Answering(
        search=search,
        profiles=profiles,
        retrievals=retrievals,
        details=RetrievalDetails(retrievals, dependencies.storage, FileNotes(dependencies.project_files), aftermath),
        aftermath=aftermath,
        contexts=contexts,
        recall=_recall_of(dependencies, config.recall, actors, finder, contexts, aftermath, retrievals, profiles),
    )


def _profiles(dependencies: Dependencies, config: Config) -> ProjectProfiles:
    is_told = config.recall.profile
    return ProjectProfiles(dependencies.project_files, dependencies.storage, dependencies.offload, is_told=is_told)


def _retrievals(dependencies: Dependencies, actors: Actors) -> tuple[RetrievalLog, Aftermath]:
    """Their log, and what judges them by what follows."""
    retrievals = RetrievalLog()
    aftermath = Aftermath(dependencies.storage, actors.writer, report=retrievals.judge)
    actors.writer.subscribe(aftermath.apply)
    return retrievals, aftermath


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
    profiles: ProjectProfiles,
) -> Recall:
    return Recall(
        finder=finder,
        reading=Reading(dependencies.storage, config),
        config=config,
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


def _searching(dependencies: Dependencies, config: Config, actors: Actors) -> tuple[Finder, Search]:
    """The first retriever's order stands where the other finds nothing."""
    words = WordRetriever(dependencies.storage, actors.term_prefetcher, actors.rebuilder, config.recall.term_cap)
    vectors = VectorRetriever(actors.embedder, actors.indexes, config.embedding.enabled)
    finder = Finder((words, vectors), dependencies.storage, config.recall)
    return finder, _search_of(dependencies, config, finder, words, vectors)


def _search_of(
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
