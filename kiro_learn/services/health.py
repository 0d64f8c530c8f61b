"""The state of the daemon as one value, for the command line and the API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any

import attrs
import trio

from kiro_learn.actors.backfiller import Backfiller, BackfillStatistics
from kiro_learn.actors.embedder import EarlierModel, Embedder, EmbedderState
from kiro_learn.actors.index_upkeep import WordIndexRebuilder, WordIndexStatistics
from kiro_learn.actors.llm_use import LlmFailover, LlmStatistics
from kiro_learn.actors.project import Projects, ProjectStatistics
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.actors.vector_indexes import VectorIndexes
from kiro_learn.model.buffer import BufferSize, LearningRun
from kiro_learn.model.namespace import Pause
from kiro_learn.model.settings import Setting
from kiro_learn.model.statistics import EmbeddingCounts, Stats
from kiro_learn.model.vectors import ReembeddingCounts
from kiro_learn.model.version import __version__
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.services.copies import Backups, BackupStatus
from kiro_learn.services.doctor import DaemonFacts, Finding
from kiro_learn.services.projects_in_use import Pauses
from kiro_learn.services.retrieval_log import RecallStatistics, RetrievalLog
from kiro_learn.services.spool_drainer import SpoolDrainer, SpoolStatus

RUNS_SHOWN = 10
DAMAGED_SHOWN = 20


@attrs.frozen
class EmbedderStatus:
    """The state of the embedding model."""

    state: EmbedderState
    model: str
    dimensions: int | None
    """None until the model is loaded."""
    problem: str | None
    earlier: tuple[EarlierModel, ...]
    """Earlier models whose vectors still serve projects, until these projects are embedded again."""

    @property
    def is_available(self) -> bool:
        """Whether texts can be embedded now."""
        return self.state is EmbedderState.READY


@attrs.frozen
class Damage:
    """Damaged rows that reads found since the daemon started; all others are readable."""

    count: int
    rows: tuple[str, ...]
    """The ids of the first damaged rows."""

    @classmethod
    def of(cls, row_ids: tuple[str, ...]) -> Damage:
        """``row_ids``: the ids of all damaged rows, as ``RecordReads.list_damaged`` returns them."""
        return cls(len(row_ids), row_ids[:DAMAGED_SHOWN])


@attrs.frozen(kw_only=True)
class Status:
    """The present state of the daemon."""

    version: str
    build: str
    """A digest of the daemon's sources: it distinguishes builds of one version."""
    pid: int
    started_at: datetime
    now: datetime
    rss_bytes: int
    learning: str
    """The strategy with which new records are learned."""
    llm: LlmStatistics
    embedder: EmbedderStatus
    embeddings: EmbeddingCounts
    reembedding: ReembeddingCounts
    """How far projects of an earlier model are embedded by the current one."""
    backfill: BackfillStatistics
    projects: tuple[ProjectStatistics, ...]
    """The projects with an actor: those with waiting events and those active lately."""
    waiting: BufferSize
    """The events of all projects that are not learned yet, and those set aside until the learner works again."""
    parked_cluster_count: int
    """Clusters of all projects that were learned but not committed; the commit is tried until it succeeds."""
    writes_waiting: int
    write_problem: str
    """Why what was written last could not be stored; empty if it could."""
    indexes: dict[str, int]
    """The number of vectors in memory, by namespace."""
    word_indexes: WordIndexStatistics
    damaged: Damage
    spool: SpoolStatus
    backup: BackupStatus
    pauses: tuple[Pause, ...]
    """Projects and sessions that are paused: nothing is taken in from them, and they are told nothing."""
    log_problem: str
    """Why the last line of the log could not be written; empty if it could."""
    recall: RecallStatistics
    runs: tuple[LearningRun, ...]
    """The last learning runs, newest first."""
    counts: Stats


async def no_findings(_facts: DaemonFacts) -> Sequence[Finding]:
    """The findings of a process without a home: none."""
    await trio.lowlevel.checkpoint()
    return ()


async def no_settings() -> Sequence[Setting]:
    """The settings of a process that reads none: an empty list."""
    await trio.lowlevel.checkpoint()
    return ()


@attrs.frozen(kw_only=True)
class Process:
    """The daemon's process, as the operating system knows it."""

    pid: int
    rss_bytes: Callable[[], int]
    build: str = ""
    log_problem: Callable[[], str] = str
    """Why the last line of the log could not be written; empty if it could."""
    settings: Callable[[], Awaitable[Sequence[Setting]]] = no_settings
    """Returns the settings that a daemon started now would have; raises ConfigError."""
    examine: Callable[[DaemonFacts], Awaitable[Sequence[Finding]]] = no_findings
    """Runs the checks of the daemon's home."""


@attrs.frozen(eq=False, kw_only=True)
class Health:
    """Collects the state of every actor and of the store."""

    _storage: StorageBackend
    _writer: StorageActor
    _embedder: Embedder
    _backfiller: Backfiller
    _projects: Projects
    _indexes: VectorIndexes
    _rebuilder: WordIndexRebuilder
    _retrievals: RetrievalLog
    _spool_drainer: SpoolDrainer[Any]
    _backups: Backups
    _pauses: Pauses
    _llms: LlmFailover
    _clock: ClockAndIds
    _process: Process
    _started_at: datetime = attrs.field(init=False)

    @_started_at.default
    def _now(self) -> datetime:
        return self._clock.utc_now()

    @property
    def pid(self) -> int:
        """The daemon's process id. Needs no store, so the daemon can be stopped even if the store is damaged."""
        return self._process.pid

    @property
    def build(self) -> str:
        """A digest of the sources that the daemon was started with."""
        return self._process.build

    async def settings(self) -> Sequence[Setting]:
        """The settings that a daemon started now would have. Raises ConfigError: they are wrong by now."""
        return await self._process.settings()

    async def examine(self, facts: DaemonFacts) -> Sequence[Finding]:
        """The checks of the home, with ``facts`` about its daemon; takes seconds, and changes nothing."""
        return await self._process.examine(facts)

    def embedder(self) -> EmbedderStatus:
        """The state of the embedding model. Needs no store."""
        embedder = self._embedder
        current = embedder.models.current
        dimensions = None if current is None else current.dimension
        return EmbedderStatus(
            embedder.state, embedder.models.name, dimensions, embedder.problem, embedder.models.statistics()
        )

    async def status(self) -> Status:
        """The daemon's present state. Raises StorageError: the store cannot be read."""
        llm = self._llms.statistics()
        return Status(
            version=__version__,
            build=self.build,
            pid=self._process.pid,
            started_at=self._started_at,
            now=self._clock.utc_now(),
            rss_bytes=self._process.rss_bytes(),
            learning=llm.strategy,
            llm=llm,
            embedder=self.embedder(),
            embeddings=await self._storage.count_embeddings(None),
            reembedding=await self._storage.count_reembedded(),
            backfill=self._backfiller.statistics(),
            projects=tuple(self._projects.statistics()),
            waiting=BufferSize.total((await self._storage.list_buffers()).values()),
            parked_cluster_count=len(await self._storage.list_parked_clusters(None)),
            writes_waiting=self._writer.waiting_count,
            write_problem=self._writer.problem,
            indexes={str(namespace): count for namespace, count in self._indexes.statistics().items()},
            word_indexes=self._rebuilder.statistics(),
            damaged=Damage.of(await self._storage.list_damaged()),
            spool=self._spool_drainer.status(),
            backup=await self._backups.status(),
            pauses=self._pauses.list(),
            log_problem=self._process.log_problem(),
            recall=self._retrievals.statistics(),
            runs=tuple(await self._storage.list_runs(RUNS_SHOWN)),
            counts=await self._storage.get_stats(None),
        )
