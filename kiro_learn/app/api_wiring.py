"""Builds the services behind the routes below ``/api``."""

from __future__ import annotations

import trio

from kiro_learn.actors.embedder import Embedder
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.actors.vector_indexes import VectorIndexes
from kiro_learn.actors.word_index_rebuilder import WordIndexRebuilder
from kiro_learn.config import Config, EmbeddingConfig, RetentionConfig
from kiro_learn.pipelines.learn.graph import GraphLearner
from kiro_learn.pipelines.recall.context import ContextBuilder
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.projects import ProjectFinder
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.runtime.offload import Offload
from kiro_learn.services.api_services import ApiServices
from kiro_learn.services.context_cache import ContextCache
from kiro_learn.services.contexts import Contexts
from kiro_learn.services.edit import Edit
from kiro_learn.services.forget import Forget
from kiro_learn.services.freshness import Freshness
from kiro_learn.services.graph_edit import GraphEdit
from kiro_learn.services.graph_items import GraphItems
from kiro_learn.services.observe import Observe
from kiro_learn.services.project_activity import ProjectActivity
from kiro_learn.services.project_names import ProjectNames
from kiro_learn.services.project_rankings import ProjectRankings
from kiro_learn.services.project_records import ProjectRecords
from kiro_learn.services.retention import Retention
from kiro_learn.services.scored_results import Scorer
from kiro_learn.services.scored_search import ScoredSearch
from kiro_learn.services.search_by_syntax import SearchBySyntax
from kiro_learn.services.session_context import SessionContext
from kiro_learn.services.staleness import Staleness


def api_services(
    *,
    storage: StorageBackend,
    writer: StorageActor,
    indexes: VectorIndexes,
    embedder: Embedder,
    rebuilder: WordIndexRebuilder,
    session_context: SessionContext,
    freshness: Freshness,
    project_finder: ProjectFinder,
    actor_id: str,
    clock: ClockAndIds,
    contexts: ContextBuilder,
    graph_learner: GraphLearner,
    background: Offload,
    config: Config,
) -> ApiServices:
    project_names = ProjectNames(storage, project_finder, actor_id=actor_id)
    cache = ContextCache(trio.current_time)
    writer.subscribe(cache.apply)
    scorer = Scorer(storage, project_names, clock, config.search.scoring)
    rankings = _rankings(storage, indexes, embedder, rebuilder, config.embedding)
    return ApiServices(
        project_names=project_names,
        session_context=session_context,
        activity=ProjectActivity(storage, project_names, clock),
        staleness=Staleness(storage, writer, freshness, projects=project_names, clock=clock),
        observe=Observe(writer, project_names, clock, actor_id=actor_id),
        search_by_syntax=SearchBySyntax(
            storage,
            rankings,
            scorer,
            rebuilder=rebuilder,
            patience_seconds=config.search.patience_seconds,
        ),
        scored_search=ScoredSearch(
            storage,
            rankings,
            scorer,
            threshold=config.search.semantic_threshold,
            patience_seconds=config.search.patience_seconds,
        ),
        project_records=ProjectRecords(storage, project_names, Edit(writer, clock), Forget(writer, storage)),
        graph_items=GraphItems(storage, project_names, GraphEdit(writer, graph_learner, clock)),
        contexts=Contexts(contexts, project_names, cache),
        retention=_retention(storage, writer, clock, config.retention, background),
    )


def _rankings(
    storage: StorageBackend,
    indexes: VectorIndexes,
    embedder: Embedder,
    rebuilder: WordIndexRebuilder,
    config: EmbeddingConfig,
) -> ProjectRankings:
    return ProjectRankings(
        storage,
        indexes,
        embedder,
        rebuilder=rebuilder,
        embeds=config.enabled,
        query_seconds=config.query_seconds,
    )


def _retention(
    storage: StorageBackend, writer: StorageActor, clock: ClockAndIds, config: RetentionConfig, background: Offload
) -> Retention:
    return Retention(storage, writer, clock, rules=config.rules, rewrite_bytes=config.rewrite_bytes, offload=background)
