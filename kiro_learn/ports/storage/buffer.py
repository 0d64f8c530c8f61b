"""What waits to be learned, what was learned and could not be committed; learning runs, and counts of model calls."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from typing import Protocol

from kiro_learn.model.buffer import BufferedEvent, BufferSize, BufferSnapshot, LearningRun, ParkedCluster
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.statistics import LlmUsage

EARLIER_PROMPTS_PER_SESSION = 5
"""Most prompts of one session that a snapshot adds from before it; none that a forgotten record cited."""


class BufferReads(Protocol):
    """Reads of buffers and of parked clusters."""

    async def snapshot_buffer(self, namespace: Namespace, *, most_bytes: int) -> BufferSnapshot:
        """The oldest waiting events of a project, as many as fit in ``most_bytes``, but at least one if any waits."""
        ...

    async def get_buffer_size(self, namespace: Namespace) -> BufferSize:
        """How much of one project waits and is parked."""
        ...

    async def list_buffers(self) -> dict[Namespace, BufferSize]:
        """Every project for which something waits or is parked."""
        ...

    async def list_parked_clusters(self, namespace: Namespace | None) -> list[ParkedCluster]:
        """What could not be committed yet, by id, so oldest first; a damaged one is logged and left out."""
        ...


class BufferWrites(Protocol):
    """Changes of a buffer, and parked clusters."""

    def are_waiting(self, namespace: Namespace, positions: Collection[int]) -> bool:
        """Whether each entry of a snapshot still waits: another daemon may have learned, compacted or parked it."""
        ...

    def clear_buffer(self, namespace: Namespace, *, through: int) -> None:
        """What waits in the project's buffer up to position ``through`` waits no more; what is parked stays."""
        ...

    def compact_buffer(self, namespace: Namespace, *, through: int, entries: Sequence[BufferedEvent]) -> None:
        """Put ``entries`` in the place of what waits up to ``through``, before whatever came later.

        Their ``position`` does not count: they get the last positions of the entries they replace. So callers learn,
        compact, park and unpark a project one after the other; only events arrive at any time. An event that stands
        for itself is the stored one of its id.

        Raises:
          InvalidRequest: there are more entries than they replace; or one stands for something else, or is of
            another project; or an event is there twice.
        """
        ...

    def park_buffer(self, namespace: Namespace, *, through: int) -> None:
        """Set aside what waits up to ``through``: no snapshot sees it until it is unparked, in its old place."""
        ...

    def unpark_buffer(self, namespace: Namespace, *, most_bytes: int) -> BufferSize:
        """Let the oldest of what was set aside wait again, as many as fit in ``most_bytes`` but at least one.

        Returns the buffer's size afterwards.
        """
        ...

    def park_cluster(self, cluster: ParkedCluster) -> None:
        """Keep what could not be committed; a cluster of an id that is known is replaced."""
        ...

    def unpark_cluster(self, cluster_id: str) -> bool:
        """It need not be kept any longer. False: it was not kept, or another daemon has committed it."""
        ...


class UsageReads(Protocol):
    """Reads of learning runs and of model usage."""

    async def list_llm_usage(self, *, since: date) -> list[LlmUsage]:
        """One value per day and project, by day, then by namespace."""
        ...

    async def list_runs(self, limit: int) -> list[LearningRun]:
        """The last learning runs, newest first."""
        ...


class UsageWrites(Protocol):
    """Writes of learning runs and of model usage."""

    def add_llm_usage(self, usage: LlmUsage) -> None:
        """Add to what the project asked of models on that day."""
        ...

    def put_run(self, run: LearningRun) -> None:
        """Store a learning run; one with a known id is replaced."""
        ...
