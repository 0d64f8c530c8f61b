"""Learns a project's waiting events at once, and learns again what was learned without a model."""

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
"""The highest percentage shown while any record lacks its vector."""


@attrs.frozen
class ProjectFlushed:
    """The counts of a flush."""

    event_count: int
    record_count: int
    parked_count: int
    """Events that are not learned yet, because they came meanwhile or their commit failed."""


@attrs.frozen
class EmbeddingState:
    """How much of the memory can be found by meaning."""

    total: int
    embedded: int
    set_aside: int

    @property
    def percentage(self) -> float:
        """The percentage of records with a vector, to one decimal; 100 only if all have one."""
        return 100.0 if self.embedded == self.total else min(LESS_THAN_ALL, round(100 * self.embedded / self.total, 1))


async def _namespaces_of(storage: StorageBackend, project_id: str) -> list[Namespace]:
    """The namespaces of a project, one for each of its users.

    Raises:
      UnknownProject: nothing was ever stored for the project.
      StorageError: the store cannot be read.
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
    """Takes in the events that hooks have kept for later, so that they are learned too."""

    async def flush(self, project_id: str) -> ProjectFlushed:
        """Learn all events that wait for a project, of all its users and also in the spool, and store the vectors.

        Raises:
          UnknownProject: nothing was ever stored for the project.
          DependencyError: the learner, the model or the store failed; events that were not learned still wait.
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
        """Give every record its vector; returns how many records got one.

        Raises:
          EmbeddingError: there is no model.
          StorageError: the store failed.
        """
        before = await self.embedding_state()
        await self._backfiller.wait_idle()
        after = await self.embedding_state()
        return max(0, after.embedded - before.embedded)


# Has a model learn again, on demand, what was learned without one.


@attrs.frozen(kw_only=True)
class WeakMemory:
    """A record that a relearning may replace."""

    record_id: RecordId
    title: str
    is_protected: bool
    """True: a constraint or decision in a person's words, which stays unless a new record holds what it says."""


@attrs.frozen(kw_only=True)
class TooLittle:
    """The titles of a batch that was not committed, because far fewer records would have come than gone."""

    going: tuple[str, ...]
    coming: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Preview:
    """What a relearning would do."""

    records: int
    """Records that were learned without a model and can be learned again."""
    events: int
    """The events of these records, with the rest of their turns."""
    calls: int
    """About how many calls of the model it takes; some more if memories say the same."""
    calls_left: int | None
    """How many calls the model has left today; None: no limit."""
    model: str
    stays_here: bool
    """True: the prompts are known to stay on this machine."""
    memories: tuple[WeakMemory, ...]
    """The records counted in ``records``."""


@attrs.frozen(kw_only=True)
class ProjectRelearned:
    """How far a relearning came."""

    events: int
    """Events that were learned again."""
    records: int
    """New records that are live. A rule that the model passed over and that was put back as it was does not count."""
    replaced: int
    """Records that these new ones replaced; undoing puts them back."""
    protected: int
    """Weak records that stay: a constraint or decision in a person's words, of which no new record holds what it
    says."""
    batches: int
    left: int
    """Live records of the project that are still learned without a model."""
    stopped_because: str | None
    """Why the relearning ended early; None if it did not. Another request then learns the rest."""
    too_little: TooLittle | None
    """The records that would have been replaced and their replacements, if that is why it ended early."""


@attrs.frozen(kw_only=True)
class GraphRead:
    """The counts of what the graph's rules found in past events."""

    events: int = 0
    """The number of events that were read."""
    statements: int = 0
    """Facts and preferences that the events plainly state; known ones are counted, but not learned twice."""
    problem: str | None = None
    """Why some of it could not be learned; None if all was."""


@attrs.frozen(eq=False)
class Relearn:
    """Has a model learn again what the built-in learner learned; old records move to the history of the new ones."""

    _storage: StorageBackend
    _relearner: Relearner
    _projects: Projects
    _llms: LlmFailover

    async def preview(self, project_id: str, *, since: datetime | None) -> Preview:
        """What ``relearn`` would do; changes nothing, and asks no model.

        Raises:
          UnknownProject: nothing was ever stored for the project.
          NoModel: there is no model to learn with.
          LlmError: the model fails, or may not be asked any more today.
          StorageError: the records or events cannot be read.
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
        """Have a model learn again the events at or after ``since`` of all users of a project, as far as possible.

        It may end at any point: finished batches stay, and another call does the rest. It ends before a batch that
        would lose far more than it adds, unless the caller accepts that (``accept_few``).

        Raises:
          UnknownProject: nothing was ever stored for the project.
          NoModel, LlmError: as for ``preview``; nothing changed.
          StorageError: the records or events cannot be read.
          ActorStopped: the daemon is stopping; finished batches stay.
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
        """Have the graph's rules read the events at or after ``since``, of all users of a project.

        No model is asked, and an event that was read before changes nothing.

        Cancellation: what was read so far stays.

        Raises:
          UnknownProject: nothing was ever stored for the project.
          InvalidRequest: the settings say that no graph is learned.
          StorageError: events cannot be read or the graph cannot be stored; what was read before stays.
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
                    partial(batches.graph.commit, namespace=namespace, drafts=drafts)  # the drafts of this page
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
