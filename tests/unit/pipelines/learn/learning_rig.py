"""A learner and the services it needs, on fakes. The test scripts what is learned from a text and how it is judged."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import attrs

from kiro_learn.actors.embedder import Embedder, EmbeddingModels
from kiro_learn.actors.llm_use import LlmFailover, LlmQuota
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.actors.vector_indexes import VectorIndexes
from kiro_learn.config import Config
from kiro_learn.errors import StorageError
from kiro_learn.learning.extraction.framing import escaped
from kiro_learn.learning.reconciliation.judge import JudgeBreaker
from kiro_learn.model.buffer import CircuitBreaker
from kiro_learn.model.correction import Replacement
from kiro_learn.model.event import Event
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MODEL_STRATEGY, MemoryRecord
from kiro_learn.pipelines.learn.asking import MeteredLlm
from kiro_learn.pipelines.learn.extraction import BranchNotes, Extractor
from kiro_learn.pipelines.learn.graph import GraphLearner
from kiro_learn.pipelines.learn.learners import KnownMemories
from kiro_learn.pipelines.learn.learning_run import Learned, Learner
from kiro_learn.pipelines.learn.reconciliation import Reconciler
from kiro_learn.ports.models import Llm, LlmChoice
from kiro_learn.ports.storage.answers import Outcome
from kiro_learn.ports.storage.interface import StorageTransaction, Work
from kiro_learn.runtime.admission import Offload, PromptPriority
from kiro_learn.runtime.supervisor import supervised
from kiro_learn.testing.daemon import NAMESPACE, FixedBranches, an_event, simulated_world
from kiro_learn.testing.models import HashEmbedder, Script, ScriptedLlm
from kiro_learn.testing.simulation import in_place
from kiro_learn.testing.storage import InMemoryStorage, transact_one

PLENTY = 10_000_000
RETRY_SECONDS = 10.0

_EVENT = re.compile(r'<event number="(\d+)".*?<text>(.*?)</text>', re.DOTALL)
_SHOWN_ID = re.compile(r'<(?:candidate|neighbor) record_id="([^"]+)"')


def a_record_per_text(prompt: str) -> str:
    """An answer with one record for each event, which has the event's text as its title and summary."""
    return "".join(
        f'<memory_record type="discovery" events="{number}"><title>{text}</title><summary>{text}</summary>'
        "</memory_record>"
        for number, text in _EVENT.findall(prompt)
    )


def shown_ids(prompt: str) -> list[str]:
    """The ids of the records that a judge is shown, in the order shown."""
    return _SHOWN_ID.findall(prompt)


def a_merge(record_ids: Sequence[str], text: str = "all of it") -> str:
    cited = "".join(f"<merged_record_id>{record_id}</merged_record_id>" for record_id in record_ids)
    return f"<merge>{cited}<title>{escaped(text)}</title><summary>{escaped(text)}</summary></merge>"


def merge_all(prompt: str) -> str:
    return a_merge(shown_ids(prompt))


def keep_separate(_prompt: str) -> str:
    return "<keep_separate/>"


class JudgingModel(ScriptedLlm):
    """A model that learns word for word and judges by a script; ``questions`` are the prompts it was asked to judge."""

    strategy = MODEL_STRATEGY
    name = "judging model"

    def __init__(self, judge: Script) -> None:
        self.judge = judge
        self.questions: list[str] = []
        super().__init__(self._answer)

    def _answer(self, prompt: str) -> str:
        if "<reconciliation_request>\n" not in prompt:
            return a_record_per_text(prompt)
        self.questions.append(prompt)
        return self.judge(prompt)


class BuiltInLearner(ScriptedLlm):
    """A learner that is no model, and learns word for word."""

    def __init__(self) -> None:
        super().__init__(a_record_per_text)


class PickyStorage(InMemoryStorage):
    """A store that refuses each record for whose title ``refuses`` is true, as a store refuses a row."""

    def __init__(self, refuses: Callable[[str], bool]) -> None:
        super().__init__()
        self.refuses = refuses

    async def transact(self, works: Sequence[Work[Any]]) -> list[Outcome]:
        def picky(work: Work[Any]) -> Work[Any]:
            return lambda transaction: work(_PickyTransaction(transaction, self.refuses))

        return await super().transact([picky(work) for work in works])


class _PickyTransaction:
    def __init__(self, transaction: StorageTransaction, refuses: Callable[[str], bool]) -> None:
        self._transaction = transaction
        self._refuses = refuses

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transaction, name)

    def put_memory_record(self, record: MemoryRecord) -> None:
        if self._refuses(record.title):
            raise StorageError("the row is refused")
        self._transaction.put_memory_record(record)

    def attempt(self, work: Work[Any]) -> Any:
        return self._transaction.attempt(lambda inner: work(_PickyTransaction(inner, self._refuses)))


@attrs.define(eq=False)
class Rig:
    """A running learner, and the state in which the last run left the project's judge breaker."""

    learner: Learner
    storage: InMemoryStorage
    breaker: JudgeBreaker = attrs.Factory(JudgeBreaker)
    event_count: int = 0

    async def learn(self, *texts: str, namespace: Namespace = NAMESPACE) -> Learned:
        """Take an event for each text, and learn all waiting events in one run."""
        for text in texts:
            self.event_count += 1
            event = an_event(self.event_count, text=text, session=str(self.event_count), namespace=namespace)
            await transact_one(self.storage, partial(_buffer, event))
        snapshot = await self.storage.snapshot_buffer(namespace, most_bytes=PLENTY)
        return self._after(await self.learner.learn(namespace, snapshot, self.breaker))

    async def retry(self) -> Learned:
        return self._after(await self.learner.retry_parked(NAMESPACE, self.breaker))

    async def titles(self, namespace: Namespace = NAMESPACE) -> list[str]:
        """The titles of the live records, sorted."""
        return sorted(record.title for record in await self.records(namespace))

    async def records(self, namespace: Namespace | None = NAMESPACE) -> tuple[MemoryRecord, ...]:
        return (await self.storage.list_memory_records(namespace=namespace, limit=1000, offset=0)).items

    async def history(self) -> list[Replacement]:
        """Every replacement that led to a live record."""
        return [
            replacement
            for record in await self.records(None)
            for replacement in await self.storage.list_replacements(record.record_id)
        ]

    async def embedded_ids(self) -> set[RecordId]:
        return set((await self.storage.list_embeddings(NAMESPACE)).record_ids)

    async def waiting_count(self) -> int:
        return (await self.storage.snapshot_buffer(NAMESPACE, most_bytes=PLENTY)).event_count

    def _after(self, learned: Learned) -> Learned:
        self.breaker = learned.judge_breaker
        return learned


def _buffer(event: Event, transaction: StorageTransaction) -> None:
    transaction.put_event(event, size_bytes=9, buffered=True)


@asynccontextmanager
async def a_rig(
    llm: Llm,
    *,
    storage: InMemoryStorage | None = None,
    model: HashEmbedder | None = None,
    config: Config | None = None,
    offload: Offload = in_place,
) -> AsyncIterator[Rig]:
    """A learner with the services it needs, which run for the length of the block."""
    storage, config, clock = storage or InMemoryStorage(), config or Config(), simulated_world()
    writer = StorageActor(storage, batch_count=8)
    models = EmbeddingModels(
        model or HashEmbedder(), storage=storage, writer=writer, open_model=lambda _: HashEmbedder()
    )
    embedder = Embedder(models, enabled=True, prompt_priority=PromptPriority())
    indexes = VectorIndexes(storage, most_bytes=PLENTY, offload=in_place)
    writer.subscribe(indexes.apply)
    ledger = LlmQuota(storage, writer, clock, daily_calls=config.llm.daily_calls)
    calls = MeteredLlm(ledger)
    choice, breaker = (
        LlmChoice(preferred=llm, built_in=BuiltInLearner()),
        CircuitBreaker(failure_threshold=3, cooldown_seconds=600),
    )
    extractor = Extractor(
        llms=LlmFailover(choice, breaker, ledger),
        calls=calls,
        embedder=embedder,
        clock=clock,
        offload=offload,
        branches=BranchNotes(FixedBranches(), storage),
        config=config.learning,
        known=KnownMemories(embedder, indexes, storage, offload),
        prompt_characters=PLENTY,
        learns_graph=config.graph.learn,
    )
    reconciler = Reconciler(
        storage=storage,
        indexes=indexes,
        calls=calls,
        with_vectors=extractor.with_vectors,
        offload=offload,
        clock=clock,
        config=config.reconciliation,
        prompt_characters=PLENTY,
    )
    learner = Learner(
        storage=storage,
        extractor=extractor,
        reconciler=reconciler,
        graph=GraphLearner(clock=clock, offload=offload, enabled=config.graph.learn),
        writer=writer,
        clock=clock,
        retry_seconds=RETRY_SECONDS,
    )
    async with AsyncExitStack() as rooms:
        for actor in (writer, ledger, embedder, indexes):
            await rooms.enter_async_context(supervised(actor))
        await embedder.wait_settled()
        yield Rig(learner, storage)
