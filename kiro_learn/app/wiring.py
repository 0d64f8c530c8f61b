"""Who works with whom: every actor and service, given the implementations they lean on.

The daemon hands in the real ones, a simulation the fakes; between them nothing else differs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import attrs
import trio

from kiro_learn.actors.backfiller import Backfiller
from kiro_learn.actors.compaction import Compactor
from kiro_learn.actors.embedder import Embedder
from kiro_learn.actors.embedding_models import EmbeddingModels
from kiro_learn.actors.extraction import Extractor
from kiro_learn.actors.learning_run import Learner
from kiro_learn.actors.llm_failover import LlmSwitch
from kiro_learn.actors.llm_quota import LlmLedger
from kiro_learn.actors.metered_llm import ModelCalls
from kiro_learn.actors.project import ProjectActor, ProjectMeans
from kiro_learn.actors.projects import Projects
from kiro_learn.actors.reconciliation import Reconciler
from kiro_learn.actors.reembedder import Reembedder
from kiro_learn.actors.relearning import Relearner
from kiro_learn.actors.relearning_batch import BatchLearner
from kiro_learn.actors.reranker import Reranker
from kiro_learn.actors.session_ledger import SessionLedger
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.actors.term_prefetcher import LateWords
from kiro_learn.actors.vector_indexes import VectorIndexes
from kiro_learn.actors.warm_up import WarmUp
from kiro_learn.actors.word_index_rebuilder import WordIndexRebuilder
from kiro_learn.config import Config, LearningConfig
from kiro_learn.learning.extraction.splitting import CHARACTERS_PER_TOKEN
from kiro_learn.model.circuit_breaker import CircuitBreaker
from kiro_learn.ports.clock import World
from kiro_learn.ports.embedding import EmbeddingModel
from kiro_learn.ports.hook_spool import Undelivered
from kiro_learn.ports.llm import LlmChoice
from kiro_learn.ports.project_files import ProjectFiles
from kiro_learn.ports.projects import ProjectFinder
from kiro_learn.ports.reranking import RerankModel
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.retrieval.ranking.vector_codes import CodeProduct
from kiro_learn.runtime.offload import Offload
from kiro_learn.runtime.prompt_priority import RightOfWay
from kiro_learn.runtime.supervisor import supervised
from kiro_learn.services.capture import Capture
from kiro_learn.services.forget import Forget
from kiro_learn.services.freshness import Freshness
from kiro_learn.services.health import Health, Process
from kiro_learn.services.history import History
from kiro_learn.services.hooks import Hooks
from kiro_learn.services.learn import Learn
from kiro_learn.services.prompt import Prompt
from kiro_learn.services.queries import Library
from kiro_learn.services.recall import Recall
from kiro_learn.services.relearn import Relearn
from kiro_learn.services.remember import Remember
from kiro_learn.services.retrieval_log import Retrievals
from kiro_learn.services.search import Search
from kiro_learn.services.services import Desk
from kiro_learn.services.spool_drainer import LateHooks


@attrs.frozen(kw_only=True)
class Means:
    """What a household lives on."""

    storage: StorageBackend
    model: EmbeddingModel
    open_model: Callable[[str | None], EmbeddingModel]
    """The embedding model in a folder, or the bundled one: for vectors of before."""
    rerank_model: RerankModel | None
    code_product: CodeProduct
    llm: LlmChoice
    project_finder: ProjectFinder
    project_files: ProjectFiles
    actor_id: str
    undelivered: Undelivered[Any]
    world: World
    process: Process
    offload: Offload
    """For what an agent or a person waits for."""
    background: Offload
    """For what nobody waits for: learning has threads of its own, so that no prompt queues behind it."""


@asynccontextmanager
async def open_household(means: Means, config: Config) -> AsyncIterator[Desk]:
    """Run every actor for the length of the block, and hand out the desk.

    At the end they stop in the order opposite to the one in which they lean on each other; the storage actor commits
    what waits and is the last.
    """
    crew = _crew(means, config)
    desk = _desk(means, config, crew)
    late_hooks = LateHooks(desk.hooks, means.undelivered, offload=means.background)
    warm_up = WarmUp(means.storage, crew.embedder, crew.indexes)
    async with AsyncExitStack() as rooms:
        for actor in (
            crew.writer,
            crew.ledger,
            crew.sessions,
            crew.embedder,
            crew.indexes,
            crew.reranker,
            crew.late_words,
            crew.rebuilder,
            crew.backfiller,
            crew.reembedder,
            crew.projects,
            late_hooks,
            warm_up,
        ):
            await rooms.enter_async_context(supervised(actor))
        yield desk


@attrs.frozen(kw_only=True)
class _Crew:
    """Whoever owns state."""

    writer: StorageActor
    ledger: LlmLedger
    sessions: SessionLedger
    embedder: Embedder
    right_of_way: RightOfWay
    reranker: Reranker
    indexes: VectorIndexes
    late_words: LateWords
    rebuilder: WordIndexRebuilder
    backfiller: Backfiller
    reembedder: Reembedder
    projects: Projects
    relearner: Relearner
    llms: LlmSwitch


def _crew(means: Means, config: Config) -> _Crew:
    writer = StorageActor(means.storage, batch_count=config.storage.batch_count)
    right_of_way = RightOfWay()
    models = EmbeddingModels(means.model, storage=means.storage, writer=writer, open_model=means.open_model)
    embedder = Embedder(models, enabled=config.embedding.enabled, right_of_way=right_of_way)
    indexes = VectorIndexes(
        means.storage,
        most_bytes=config.embedding.index_bytes,
        offload=means.offload,
        product=means.code_product,
    )
    backfiller = Backfiller(means.storage, writer, embedder, batch_count=config.embedding.backfill_batch_count)
    writer.tell(models.apply)
    writer.tell(indexes.apply)
    writer.tell(backfiller.apply)
    ledger = LlmLedger(means.storage, writer, means.world, daily_calls=config.llm.daily_calls)
    llms = LlmSwitch(means.llm, _breaker(config.learning), ledger)
    extractor = Extractor(
        llms=llms,
        calls=ModelCalls(ledger),
        embedder=embedder,
        world=means.world,
        offload=means.background,
        config=config.learning,
        prompt_characters=config.llm.prompt_tokens * CHARACTERS_PER_TOKEN,
    )
    project_means = _project_means(means, config, writer, indexes, extractor)
    projects = Projects(means.storage, lambda namespace: ProjectActor(namespace, project_means))
    reranker = Reranker(means.rerank_model)
    relearner = _relearner(means, config, project_means.learner)
    return _Crew(
        writer=writer,
        ledger=ledger,
        sessions=SessionLedger(means.storage, writer, repeat_after_prompts=config.recall.repeat_after_prompts),
        embedder=embedder,
        right_of_way=right_of_way,
        reranker=reranker,
        indexes=indexes,
        late_words=LateWords(means.storage),
        rebuilder=WordIndexRebuilder(writer),
        backfiller=backfiller,
        reembedder=Reembedder(
            means.storage, writer, embedder, backfiller, batch_count=config.embedding.backfill_batch_count
        ),
        projects=projects,
        relearner=relearner,
        llms=llms,
    )


def _project_means(
    means: Means, config: Config, writer: StorageActor, indexes: VectorIndexes, extractor: Extractor
) -> ProjectMeans:
    reconciler = Reconciler(
        storage=means.storage,
        indexes=indexes,
        calls=extractor.calls,
        with_vectors=extractor.with_vectors,
        offload=means.background,
        world=means.world,
        config=config.reconciliation,
        prompt_characters=extractor.prompt_characters,
    )
    learner = Learner(
        storage=means.storage,
        extractor=extractor,
        reconciler=reconciler,
        writer=writer,
        world=means.world,
        retry_seconds=config.learning.retry_seconds,
    )
    compactor = Compactor(
        storage=means.storage,
        writer=writer,
        llms=extractor.llms,
        calls=extractor.calls,
        world=means.world,
        offload=means.background,
        config=config.compaction,
        prompt_characters=extractor.prompt_characters,
    )
    return ProjectMeans(
        storage=means.storage,
        learner=learner,
        compactor=compactor,
        run_slots=trio.CapacityLimiter(config.learning.run_slots),
        world=means.world,
        learning=config.learning,
        compaction=config.compaction,
    )


def _relearner(means: Means, config: Config, learner: Learner) -> Relearner:
    batches = BatchLearner(
        storage=means.storage,
        extractor=learner.extractor,
        reconciler=learner.reconciler,
        writer=learner.writer,
        world=means.world,
        offload=means.background,
    )
    return Relearner(storage=means.storage, batches=batches, batch_bytes=config.learning.extraction_bytes)


def _breaker(config: LearningConfig) -> CircuitBreaker:
    return CircuitBreaker(failure_threshold=config.breaker_failures, cooldown_seconds=config.breaker_cooldown_seconds)


def _desk(means: Means, config: Config, crew: _Crew) -> Desk:
    capture = Capture(crew.writer, crew.projects, offload=means.offload, dedup_count=config.learning.dedup_count)
    search = Search(
        means.storage,
        crew.indexes,
        crew.embedder,
        late_words=crew.late_words,
        rebuilder=crew.rebuilder,
        recall=config.recall,
        embedding=config.embedding,
    )
    retrievals = Retrievals()
    freshness = Freshness(means.storage, means.project_files)
    recall = _recall(means, config, crew, search=search, retrievals=retrievals, freshness=freshness)
    prompt = Prompt(capture, recall, budget_seconds=config.recall.budget_seconds)
    return Desk(
        capture=capture,
        recall=recall,
        retrievals=retrievals,
        prompt=prompt,
        hooks=Hooks(
            capture=capture,
            prompt=prompt,
            storage=means.storage,
            writer=crew.writer,
            sessions=crew.sessions,
            project_finder=means.project_finder,
            actor_id=means.actor_id,
            world=means.world,
            offload=means.offload,
        ),
        search=search,
        remember=Remember(crew.writer),
        forget=Forget(crew.writer, means.storage),
        history=History(means.storage, crew.writer),
        library=Library(means.storage),
        freshness=freshness,
        learn=Learn(means.storage, crew.projects, crew.backfiller, config.embedding),
        relearn=Relearn(means.storage, crew.relearner, crew.projects, crew.llms),
        health=Health(
            storage=means.storage,
            writer=crew.writer,
            embedder=crew.embedder,
            reranker=crew.reranker,
            backfiller=crew.backfiller,
            projects=crew.projects,
            indexes=crew.indexes,
            rebuilder=crew.rebuilder,
            retrievals=retrievals,
            llms=crew.llms,
            world=means.world,
            process=means.process,
        ),
        project_finder=means.project_finder,
    )


def _recall(
    means: Means, config: Config, crew: _Crew, *, search: Search, retrievals: Retrievals, freshness: Freshness
) -> Recall:
    return Recall(
        search,
        means.storage,
        config.recall,
        reranker=crew.reranker,
        sessions=crew.sessions,
        freshness=freshness,
        retrievals=retrievals,
        right_of_way=crew.right_of_way,
        world=means.world,
    )
