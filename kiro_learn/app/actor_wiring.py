"""Makes every actor, and gives each the actors and implementations that it needs.

The implementations of all ports, on which services and actors build, are one value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import trio

from kiro_learn.actors.backfiller import Backfiller, Reembedder
from kiro_learn.actors.embedder import Embedder, EmbeddingModels
from kiro_learn.actors.graph_embedder import GraphEmbedder
from kiro_learn.actors.index_upkeep import TermPrefetcher, WordIndexRebuilder
from kiro_learn.actors.llm_use import LlmFailover, LlmQuota
from kiro_learn.actors.project import ProjectActor, Projects
from kiro_learn.actors.project_work import ProjectDependencies
from kiro_learn.actors.relearning import Relearner
from kiro_learn.actors.session_ledger import SessionLedger
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.actors.vector_indexes import VectorIndexes
from kiro_learn.config import Config
from kiro_learn.pipelines.learn.asking import MeteredLlm, is_model
from kiro_learn.pipelines.learn.compaction import Compactor
from kiro_learn.pipelines.learn.extraction import BranchNotes, Extractor
from kiro_learn.pipelines.learn.graph import GraphLearner
from kiro_learn.pipelines.learn.learners import KnownMemories
from kiro_learn.pipelines.learn.learning_run import Learner
from kiro_learn.pipelines.learn.reconciliation import Reconciler
from kiro_learn.pipelines.learn.relearning_batch import BatchLearner
from kiro_learn.ports.backups import BackupFolder
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.home import Branches, HookSpool, ProjectFiles, ProjectFinder, RuleTexts
from kiro_learn.ports.models import CodeMultiplier, EmbeddingModel, LlmChoice
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.team import TeamMemories
from kiro_learn.runtime.admission import Offload, PromptPriority, in_threads
from kiro_learn.services.health import Process

COMPUTE_THREADS = 2
"""Threads in each of two pools for work that would block the event loop: one for requests, one for background work.
SQLite and the embedding model have threads of their own."""


@attrs.frozen(kw_only=True)
class Dependencies:
    """The implementations of all ports."""

    storage: StorageBackend
    model: EmbeddingModel
    open_model: Callable[[str | None], EmbeddingModel]
    """Opens the embedding model in a folder, or the bundled one: for vectors of an earlier model."""
    code_product: CodeMultiplier
    count_tokens: Callable[[str], int]
    """Counts the tokens of a context block."""
    llm: LlmChoice
    project_finder: ProjectFinder
    project_files: ProjectFiles
    branches: Branches
    rule_texts: RuleTexts
    actor_id: str
    hook_spool: HookSpool[Any]
    backups: BackupFolder
    clock: ClockAndIds
    process: Process
    team: TeamMemories | None = None
    """The team with which memories are shared; None: they are not."""
    user_home: str = ""
    """The user's home folder; shared paths inside it begin with ``~``."""
    offload: Offload = attrs.field(factory=lambda: in_threads(COMPUTE_THREADS))
    """Threads for requests."""
    background: Offload = attrs.field(factory=lambda: in_threads(COMPUTE_THREADS))
    """Threads for learning and the hook spool, so that no prompt waits for them."""
    copying: Offload = attrs.field(factory=lambda: in_threads(1))
    """The thread for copies of the store, which may lie on a disk that does not answer."""


@attrs.frozen(kw_only=True)
class Actors:
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


def actors_of(dependencies: Dependencies, config: Config) -> Actors:
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
    writer.subscribe(backfiller.apply, to_others=False)  # other daemons embed what they learn
    graph_embedder = _graph_embedder(dependencies, config, writer, embedder)
    ledger = LlmQuota(dependencies.storage, writer, dependencies.clock, daily_calls=config.llm.daily_calls)
    llms = LlmFailover(dependencies.llm, config.learning.breaker(), ledger)
    known = KnownMemories(embedder, indexes, dependencies.storage, dependencies.background)
    extractor = _extractor(dependencies, config, known, llms, MeteredLlm(ledger))
    project_dependencies = _project_dependencies(dependencies, config, writer, indexes, extractor)
    projects = Projects(dependencies.storage, lambda namespace: ProjectActor(namespace, project_dependencies))
    relearner = _relearner(dependencies, config, project_dependencies.learner)
    sessions = SessionLedger(dependencies.storage, writer, repeat_after_prompts=config.recall.repeat_after_prompts)
    writer.subscribe(sessions.apply)
    return Actors(
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
    writer.subscribe(made.apply, to_others=False)
    return made


def _extractor(
    dependencies: Dependencies, config: Config, known: KnownMemories, llms: LlmFailover, calls: MeteredLlm
) -> Extractor:
    return Extractor(
        llms=llms,
        calls=calls,
        embedder=known.embedder,
        clock=dependencies.clock,
        offload=dependencies.background,
        branches=BranchNotes(dependencies.branches, dependencies.storage),
        config=config.learning,
        known=known,
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
        graph=graph_learner(dependencies, config),
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
        others=dependencies.storage,
        learner=learner,
        compactor=compactor,
        run_slots=trio.CapacityLimiter(config.learning.run_slots),
        clock=dependencies.clock,
        schedule=config.schedule(asks_model=is_model(dependencies.llm.preferred)),
        breaker=config.learning.breaker(),
        idle_seconds=config.learning.project_idle_seconds,
    )


def graph_learner(dependencies: Dependencies, config: Config) -> GraphLearner:
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
