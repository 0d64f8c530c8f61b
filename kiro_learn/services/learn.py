"""Learns a project's waiting events at once, and what was learned without a model again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial

import attrs

from kiro_learn.actors.backfiller import Backfiller
from kiro_learn.actors.llm_use import LlmFailover
from kiro_learn.actors.project import Projects
from kiro_learn.actors.relearning import EVENT_BYTES_READ, Relearned, Relearner
from kiro_learn.errors import InvalidRequest, UnknownProject
from kiro_learn.model.buffer import BufferSize
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace, project_id_in
from kiro_learn.pipelines.learn.relearning_batch import BatchRefused
from kiro_learn.ports.storage.interface import StorageBackend

LESS_THAN_ALL = 99.9
"""The highest percentage shown while any are left."""


@attrs.frozen
class ProjectFlushed:
    """The counts of a flush."""

    event_count: int
    record_count: int
    parked_count: int
    """Events that are not learned yet: they came in the meantime, or their commit failed."""


@attrs.frozen
class EmbeddingState:
    """How much of the memory can be found by meaning."""

    total: int
    embedded: int
    set_aside: int

    @property
    def percentage(self) -> float:
        """Of records with a vector; one decimal; 100 when all have one."""
        return 100.0 if self.embedded == self.total else min(LESS_THAN_ALL, round(100 * self.embedded / self.total, 1))


async def _namespaces_of(storage: StorageBackend, project_id: str) -> list[Namespace]:
    """One for each user of a project.

    Raises:
      UnknownProject: nothing was ever stored for it.
      StorageError: the store cannot tell.
    """
    projects = await storage.list_projects()
    namespaces = [project.namespace for project in projects if project_id_in(project.namespace) == project_id]
    if not namespaces:
        raise UnknownProject(project_id)
    return namespaces


@attrs.frozen(eq=False)
class Learn:
    """Empties buffers and catches up with vectors, on demand."""

    _storage: StorageBackend
    _projects: Projects
    _backfiller: Backfiller
    _embeds: bool
    _collect: Callable[[], Awaitable[object]]
    """Takes in what hooks have put aside, so that it is learned too."""

    async def flush(self, project_id: str) -> ProjectFlushed:
        """Learn all that waits for a project, of every user of it, also in the spool, and store the vectors.

        Raises:
          UnknownProject: nothing was ever stored for it.
          DependencyError: the learner, the model or the store failed; what was not learned still waits.
        """
        await self._collect()
        namespaces = await _namespaces_of(self._storage, project_id)
        flushed = [await self._projects.flush(namespace) for namespace in namespaces]
        if self._embeds:
            await self._backfiller.wait_idle()
        return ProjectFlushed(
            event_count=sum(each.event_count for each in flushed),
            record_count=sum(each.record_count for each in flushed),
            parked_count=await self._count_parked(namespaces),
        )

    async def _count_parked(self, namespaces: Sequence[Namespace]) -> int:
        size = BufferSize.total([await self._storage.get_buffer_size(namespace) for namespace in namespaces])
        clusters = [each for namespace in namespaces for each in await self._storage.list_parked_clusters(namespace)]
        events = {event_id for each in clusters for record in each.records for event_id in record.source_event_ids}
        return size.event_count + size.parked_event_count + len(events)

    async def embedding_state(self) -> EmbeddingState:
        """Counts of records with and without a vector, of all projects. Raises StorageError."""
        counts = await self._storage.count_embeddings(None)
        return EmbeddingState(counts.total, counts.embedded, counts.set_aside)

    async def backfill(self) -> int:
        """Give every record its vector; returns how many got one.

        Raises:
          EmbeddingError: there is no model.
          StorageError: the store failed.
        """
        before = await self.embedding_state()
        await self._backfiller.wait_idle()
        after = await self.embedding_state()
        return max(0, after.embedded - before.embedded)


# Has a model learn again what was learned without one, on demand.


@attrs.frozen(kw_only=True)
class WeakMemory:
    """A record that may be replaced."""

    record_id: RecordId
    title: str
    is_protected: bool
    """It is in a person's words, a constraint or a decision: it stays unless a new record holds what it says."""


@attrs.frozen(kw_only=True)
class TooLittle:
    """Titles of a batch that was not committed, since far less would have come than gone."""

    going: tuple[str, ...]
    coming: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Preview:
    """What a relearning would do."""

    records: int
    """Learned without a model, and can be learned again."""
    events: int
    """That they were learned from, with the rest of their turns."""
    calls: int
    """About how often the model is asked; where memories say the same, some more."""
    calls_left: int | None
    """How often it may be asked today; None: as often as it takes."""
    model: str
    stays_here: bool
    """What the model is asked is known to stay on this machine."""
    memories: tuple[WeakMemory, ...]
    """The ``records``."""


@attrs.frozen(kw_only=True)
class ProjectRelearned:
    """How far a relearning came."""

    events: int
    """Events that were learned again."""
    records: int
    """New records that are live."""
    replaced: int
    """Records that the new ones replaced; undo puts them back."""
    protected: int
    """Weak records that stay: they are in a person's words, a constraint or a decision, and no new record holds what
    they say."""
    batches: int
    left: int
    """Records of the project that were learned without a model and are still live."""
    stopped_because: str | None
    """Why it ended early; None if it did not. Another request then learns the rest."""
    too_little: TooLittle | None
    """The records that would have been replaced and their replacements, if that is why it ended early."""


@attrs.frozen(kw_only=True)
class GraphRead:
    """What the graph's rules found in past events."""

    events: int = 0
    """That were read."""
    statements: int = 0
    """Facts and preferences that they state plainly; those that were known are not learned twice."""
    problem: str | None = None
    """Why not all of it is learned."""


@attrs.frozen(eq=False)
class Relearn:
    """Has a model learn again what the built-in learner learned; old records move to the history of the new ones."""

    _storage: StorageBackend
    _relearner: Relearner
    _projects: Projects
    _llms: LlmFailover

    async def preview(self, project_id: str, *, since: datetime | None) -> Preview:
        """What ``relearn`` would do; it changes nothing, and asks no model.

        Raises:
          UnknownProject: nothing was ever stored for it.
          NoModel: there is no model to learn it.
          LlmError: there is, but it fails, or may not be asked any more today.
          StorageError: what there is cannot be read.
        """
        namespaces = await _namespaces_of(self._storage, project_id)
        model, usage = self._llms.model(*namespaces), self._llms.statistics().usage
        plans = [await self._relearner.plan(namespace, since=since) for namespace in namespaces]
        return Preview(
            records=sum(len(each.weak) for each in plans),
            events=sum(each.event_count for each in plans),
            calls=sum(each.calls(self._relearner.prompt_bytes) for each in plans),
            calls_left=usage.limit - usage.calls if usage.limit else None,
            model=model.name,
            stays_here=self._llms.stays_here,
            memories=tuple(
                WeakMemory(record_id=record.record_id, title=record.title, is_protected=record.is_protected)
                for each in plans
                for record in each.weak.values()
            ),
        )

    async def relearn(self, project_id: str, *, since: datetime | None, accept_few: bool = False) -> ProjectRelearned:
        """Have a model learn again what it can of what happened at or after ``since``, of every user of a project.

        It may end at any point: what was done is done, and what is left can be done by calling it again. It ends before
        far more would go than come, unless that is accepted (``accept_few``).

        Raises:
          UnknownProject: nothing was ever stored for it.
          NoModel, LlmError: as ``preview``; nothing changed.
          StorageError: what there is cannot be read.
          ActorStopped: the daemon is stopping; what was done is done.
        """
        namespaces = await _namespaces_of(self._storage, project_id)
        self._llms.model(*namespaces)
        relearned = Relearned()
        for namespace in namespaces:
            if relearned.problem is None:
                relearning = self._relearner.relearning(namespace, since=since, accepts_few=accept_few)
                relearned += await self._projects.relearn(namespace, relearning)
        return ProjectRelearned(
            events=relearned.event_count,
            records=relearned.record_count,
            replaced=relearned.replaced_count,
            protected=relearned.protected_count,
            batches=relearned.batch_count,
            left=sum([await self._relearner.count_weak(namespace) for namespace in namespaces]),
            stopped_because=relearned.problem,
            too_little=_too_little(relearned.refused),
        )

    async def read_graph(self, project_id: str, *, since: datetime | None) -> GraphRead:
        """Have the graph's rules read what happened at or after ``since``, of every user of a project. No model is
        asked, and an event that was read before changes nothing.

        Cancellation: what was read so far is kept.

        Raises:
          UnknownProject: nothing was ever stored for it.
          InvalidRequest: the settings say that no graph is learned.
          StorageError: it cannot be read or kept; what was read before is kept.
        """
        batches, read = self._relearner.batches, GraphRead()
        if not batches.graph.enabled:
            raise InvalidRequest([("[graph] learn", "expected true")], hint="kiro-learn config set graph.learn true")
        for namespace in await _namespaces_of(self._storage, project_id):
            after: EventId | None = None
            reading = partial(self._storage.snapshot_events, namespace, since=since, most_bytes=EVENT_BYTES_READ)
            while (page := await reading(after=after)).entries:
                drafts = await batches.graph.drafts_of(page)
                problem = await batches.writer.write(
                    partial(batches.graph.commit, namespace=namespace, drafts=drafts)  # of this page
                )
                after = page.events[-1].event_id
                read = GraphRead(
                    events=read.events + len(page.entries),
                    statements=read.statements + len(drafts.sources),
                    problem=read.problem or problem,
                )
        return read


def _too_little(refused: BatchRefused | None) -> TooLittle | None:
    if refused is None:
        return None
    return TooLittle(
        going=tuple(record.title for record in refused.going), coming=tuple(record.title for record in refused.coming)
    )
