"""Makes every actor and service, and gives each the others and the implementations that it needs.

The daemon passes the real implementations, a simulation the fakes; nothing else differs between them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import attrs
import trio

from kiro_learn.actors.backfiller import Backfiller
from kiro_learn.actors.embedder import Embedder
from kiro_learn.actors.embedding_models import EmbeddingModels
from kiro_learn.actors.graph_embedder import GraphEmbedder
from kiro_learn.actors.llm_failover import LlmFailover
from kiro_learn.actors.llm_quota import LlmQuota
from kiro_learn.actors.project import ProjectActor
from kiro_learn.actors.project_work import ProjectDependencies
from kiro_learn.actors.projects import Projects
from kiro_learn.actors.reembedder import Reembedder
from kiro_learn.actors.relearning import Relearner
from kiro_learn.actors.session_ledger import SessionLedger
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.actors.term_prefetcher import TermPrefetcher
from kiro_learn.actors.vector_indexes import VectorIndexes
from kiro_learn.actors.warm_up import WarmUp
from kiro_learn.actors.word_index_rebuilder import WordIndexRebuilder
from kiro_learn.app.api_wiring import api_services
from kiro_learn.app.dependencies import Dependencies
from kiro_learn.app.recall_wiring import context_builder, recall_of
from kiro_learn.config import Config
from kiro_learn.pipelines.learn.compaction import Compactor
from kiro_learn.pipelines.learn.extraction import Extractor
from kiro_learn.pipelines.learn.graph import GraphLearner
from kiro_learn.pipelines.learn.learning_run import Learner
from kiro_learn.pipelines.learn.metered_llm import MeteredLlm
from kiro_learn.pipelines.learn.reconciliation import Reconciler
from kiro_learn.pipelines.learn.relearning_batch import BatchLearner
from kiro_learn.pipelines.recall.context import ContextBuilder
from kiro_learn.pipelines.recall.finder import Finder
from kiro_learn.pipelines.recall.retrievers import VectorRetriever, WordRetriever
from kiro_learn.ports.retriever import Retriever
from kiro_learn.runtime.prompt_priority import PromptPriority
from kiro_learn.runtime.supervisor import supervised
from kiro_learn.services.api_services import ApiServices
from kiro_learn.services.capture import Capture
from kiro_learn.services.daily_retention import daily_retention
from kiro_learn.services.forget import Forget
from kiro_learn.services.freshness import Freshness
from kiro_learn.services.health import Health
from kiro_learn.services.history import History
from kiro_learn.services.hooks import Hooks
from kiro_learn.services.learn import Learn
from kiro_learn.services.project_search import ProjectSearch
from kiro_learn.services.prompt import Prompt
from kiro_learn.services.queries import Queries
from kiro_learn.services.relearn import Relearn
from kiro_learn.services.remember import Remember
from kiro_learn.services.retrieval_log import RetrievalLog
from kiro_learn.services.search import Search
from kiro_learn.services.services import Services
from kiro_learn.services.session_context import SessionContext
from kiro_learn.services.session_start import SessionStart
from kiro_learn.services.spool_drainer import SpoolDrainer
from kiro_learn.services.staleness_check import staleness_check


@asynccontextmanager
async def open_services(dependencies: Dependencies, config: Config) -> AsyncIterator[Services]:
    """Run every actor for the length of the block, and give the services.

    At the end the actors stop in reverse dependency order; the storage actor commits what waits and is the last.
    """
    actors = _actors(dependencies, config)
    services = _services(dependencies, config, actors)
    warm_up = WarmUp(dependencies.storage, actors.embedder, actors.indexes)
    async with AsyncExitStack() as rooms:
        for actor in (
            actors.writer,
            actors.ledger,
            actors.sessions,
            actors.embedder,
            actors.indexes,
            actors.term_prefetcher,
            actors.rebuilder,
            actors.backfiller,
            actors.reembedder,
            actors.graph_embedder,
            actors.projects,
            services.spool_drainer,
            staleness_check(dependencies.storage, services.api.staleness),
            daily_retention(services.api.retention),
            warm_up,
        ):
            await rooms.enter_async_context(supervised(actor))
        yield services


@attrs.frozen(kw_only=True)
class _Actors:
    """Every actor, and what they share."""

    writer: StorageActor
    ledger: LlmQuota
    sessions: SessionLedger
    embedder: Embedder
    prompt_priority: PromptPriority
    indexes: VectorIndexes
    term_prefetcher: TermPrefetcher
    rebuilder: WordIndexRebuilder
    backfiller: Backfiller
    reembedder: Reembedder
    graph_embedder: GraphEmbedder
    projects: Projects
    relearner: Relearner
    llms: LlmFailover


def _actors(dependencies: Dependencies, config: Config) -> _Actors:
    writer = StorageActor(dependencies.storage, batch_count=config.storage.batch_count)
    prompt_priority = PromptPriority()
    models = EmbeddingModels(
        dependencies.model, storage=dependencies.storage, writer=writer, open_model=dependencies.open_model
    )
    embedder = Embedder(models, enabled=config.embedding.enabled, prompt_priority=prompt_priority)
    indexes = VectorIndexes(
        dependencies.storage,
        most_bytes=config.embedding.index_bytes,
        offload=dependencies.offload,
        product=dependencies.code_product,
    )
    backfiller = Backfiller(dependencies.storage, writer, embedder, batch_count=config.embedding.backfill_batch_count)
    writer.subscribe(models.apply)
    writer.subscribe(indexes.apply)
    writer.subscribe(backfiller.apply)
    graph_embedder = _graph_embedder(dependencies, config, writer, embedder)
    ledger = LlmQuota(dependencies.storage, writer, dependencies.clock, daily_calls=config.llm.daily_calls)
    llms = LlmFailover(dependencies.llm, config.learning.breaker(), ledger)
    extractor = _extractor(dependencies, config, embedder, llms, MeteredLlm(ledger))
    project_dependencies = _project_dependencies(dependencies, config, writer, indexes, extractor)
    projects = Projects(dependencies.storage, lambda namespace: ProjectActor(namespace, project_dependencies))
    relearner = _relearner(dependencies, config, project_dependencies.learner)
    sessions = SessionLedger(dependencies.storage, writer, repeat_after_prompts=config.recall.repeat_after_prompts)
    writer.subscribe(sessions.apply)
    return _Actors(
        writer=writer,
        ledger=ledger,
        sessions=sessions,
        embedder=embedder,
        prompt_priority=prompt_priority,
        indexes=indexes,
        term_prefetcher=TermPrefetcher(dependencies.storage),
        rebuilder=WordIndexRebuilder(writer),
        backfiller=backfiller,
        reembedder=Reembedder(
            dependencies.storage, writer, embedder, backfiller, batch_count=config.embedding.backfill_batch_count
        ),
        graph_embedder=graph_embedder,
        projects=projects,
        relearner=relearner,
        llms=llms,
    )


def _graph_embedder(
    dependencies: Dependencies, config: Config, writer: StorageActor, embedder: Embedder
) -> GraphEmbedder:
    made = GraphEmbedder(
        dependencies.storage, writer, embedder, enabled=config.embedding.enabled, offload=dependencies.offload
    )
    writer.subscribe(made.apply)
    return made


def _extractor(
    dependencies: Dependencies, config: Config, embedder: Embedder, llms: LlmFailover, calls: MeteredLlm
) -> Extractor:
    return Extractor(
        llms=llms,
        calls=calls,
        embedder=embedder,
        clock=dependencies.clock,
        offload=dependencies.background,
        config=config.learning,
        prompt_characters=config.llm.prompt_characters,
        learns_graph=config.graph.learn,
    )


def _project_dependencies(
    dependencies: Dependencies, config: Config, writer: StorageActor, indexes: VectorIndexes, extractor: Extractor
) -> ProjectDependencies:
    reconciler = Reconciler(
        storage=dependencies.storage,
        indexes=indexes,
        calls=extractor.calls,
        with_vectors=extractor.with_vectors,
        offload=dependencies.background,
        clock=dependencies.clock,
        config=config.reconciliation,
        prompt_characters=extractor.prompt_characters,
    )
    learner = Learner(
        storage=dependencies.storage,
        extractor=extractor,
        reconciler=reconciler,
        graph=_graph_learner(dependencies, config),
        writer=writer,
        clock=dependencies.clock,
        retry_seconds=config.learning.retry_seconds,
    )
    compactor = Compactor(
        storage=dependencies.storage,
        writer=writer,
        llms=extractor.llms,
        calls=extractor.calls,
        clock=dependencies.clock,
        offload=dependencies.background,
        config=config.compaction,
        prompt_characters=extractor.prompt_characters,
    )
    return ProjectDependencies(
        storage=dependencies.storage,
        learner=learner,
        compactor=compactor,
        run_slots=trio.CapacityLimiter(config.learning.run_slots),
        clock=dependencies.clock,
        schedule=config.schedule,
        breaker=config.learning.breaker(),
        idle_seconds=config.learning.project_idle_seconds,
    )


def _graph_learner(dependencies: Dependencies, config: Config) -> GraphLearner:
    return GraphLearner(clock=dependencies.clock, offload=dependencies.background, enabled=config.graph.learn)


def _relearner(dependencies: Dependencies, config: Config, learner: Learner) -> Relearner:
    batches = BatchLearner(
        storage=dependencies.storage,
        extractor=learner.extractor,
        reconciler=learner.reconciler,
        graph=learner.graph,
        writer=learner.writer,
        clock=dependencies.clock,
        offload=dependencies.background,
    )
    return Relearner(storage=dependencies.storage, batches=batches, batch_bytes=config.learning.extraction_bytes)


def _services(dependencies: Dependencies, config: Config, actors: _Actors) -> Services:
    capture = Capture(
        actors.writer, actors.projects, offload=dependencies.offload, dedup_count=config.learning.dedup_count
    )
    finder = Finder(_retrievers(dependencies, config, actors), dependencies.storage, config.recall)
    search = Search(
        finder, dependencies.storage, embeds=config.embedding.enabled, query_seconds=config.embedding.query_seconds
    )
    retrievals = RetrievalLog()
    contexts = context_builder(
        dependencies, config, finder, actors.embedder, actors.graph_embedder, retrievals=retrievals
    )
    recall = recall_of(
        dependencies,
        config.recall,
        finder,
        contexts,
        sessions=actors.sessions,
        retrievals=retrievals,
        prompt_priority=actors.prompt_priority,
    )
    freshness = Freshness(dependencies.storage, dependencies.project_files)
    session_context = _session_context(dependencies, config, actors)
    prompt = Prompt(capture, recall, budget_seconds=config.recall.budget_seconds)
    hooks = _hooks(dependencies, actors, capture, prompt, session_context)
    spool_drainer = SpoolDrainer(hooks, dependencies.hook_spool, offload=dependencies.background)
    return Services(
        capture=capture,
        recall=recall,
        retrievals=retrievals,
        prompt=prompt,
        session_start=SessionStart(capture, session_context, config.recall.budget_seconds),
        hooks=hooks,
        spool_drainer=spool_drainer,
        search=search,
        project_search=ProjectSearch(search, dependencies.storage, dependencies.project_finder),
        remember=Remember(actors.writer),
        forget=Forget(actors.writer, dependencies.storage),
        history=History(dependencies.storage, actors.writer),
        queries=Queries(dependencies.storage),
        freshness=freshness,
        learn=Learn(dependencies.storage, actors.projects, actors.backfiller, embeds=config.embedding.enabled),
        relearn=Relearn(dependencies.storage, actors.relearner, actors.projects, actors.llms),
        health=_health(dependencies, actors, retrievals, spool_drainer),
        project_finder=dependencies.project_finder,
        api=_api(dependencies, config, actors, contexts=contexts, session_context=session_context, freshness=freshness),
    )


def _hooks(
    dependencies: Dependencies, actors: _Actors, capture: Capture, prompt: Prompt, session_context: SessionContext
) -> Hooks:
    return Hooks(
        capture=capture,
        prompt=prompt,
        session_context=session_context,
        storage=dependencies.storage,
        writer=actors.writer,
        sessions=actors.sessions,
        project_finder=dependencies.project_finder,
        actor_id=dependencies.actor_id,
        clock=dependencies.clock,
        offload=dependencies.offload,
    )


def _session_context(dependencies: Dependencies, config: Config, actors: _Actors) -> SessionContext:
    most_bytes = min(config.recall.brief_bytes, config.recall.context_bytes)
    return SessionContext(dependencies.storage, actors.sessions, most_bytes=most_bytes)


def _api(
    dependencies: Dependencies,
    config: Config,
    actors: _Actors,
    *,
    contexts: ContextBuilder,
    session_context: SessionContext,
    freshness: Freshness,
) -> ApiServices:
    return api_services(
        contexts=contexts,
        graph_learner=_graph_learner(dependencies, config),
        session_context=session_context,
        storage=dependencies.storage,
        writer=actors.writer,
        indexes=actors.indexes,
        embedder=actors.embedder,
        rebuilder=actors.rebuilder,
        freshness=freshness,
        project_finder=dependencies.project_finder,
        actor_id=dependencies.actor_id,
        clock=dependencies.clock,
        background=dependencies.background,
        config=config,
    )


def _health(
    dependencies: Dependencies, actors: _Actors, retrievals: RetrievalLog, spool_drainer: SpoolDrainer[Any]
) -> Health:
    return Health(
        storage=dependencies.storage,
        writer=actors.writer,
        embedder=actors.embedder,
        backfiller=actors.backfiller,
        projects=actors.projects,
        indexes=actors.indexes,
        rebuilder=actors.rebuilder,
        retrievals=retrievals,
        spool_drainer=spool_drainer,
        llms=actors.llms,
        clock=dependencies.clock,
        process=dependencies.process,
    )


def _retrievers(dependencies: Dependencies, config: Config, actors: _Actors) -> tuple[Retriever, ...]:
    """The first one's order stands where no other finds anything."""
    return (
        WordRetriever(dependencies.storage, actors.term_prefetcher, actors.rebuilder, config.recall.term_cap),
        VectorRetriever(actors.embedder, actors.indexes, config.embedding.enabled),
    )
