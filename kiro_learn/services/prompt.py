"""Stores a prompt and recalls memories for it, concurrently: recall does not wait for the disk."""

from __future__ import annotations

import attrs
import trio

from kiro_learn.actors.aftermath import Aftermath
from kiro_learn.errors import KiroLearnError, StorageError
from kiro_learn.model.event import Event
from kiro_learn.model.retrieval import Retrieval
from kiro_learn.pipelines.recall.graph_recall import GraphRecall
from kiro_learn.pipelines.recall.recall import Recall
from kiro_learn.services.capture import Capture, Captured


class Prompt:
    """Answers a prompt: stores its event and recalls memories for it, side by side, by one deadline."""

    def __init__(
        self, capture: Capture, recall: Recall | GraphRecall, aftermath: Aftermath, *, budget_seconds: float
    ) -> None:
        self._capture = capture
        self._recall = recall
        self._aftermath = aftermath
        self._budget_seconds = budget_seconds

    def deadline(self, came_at: float) -> float:
        """Of a prompt that came at that time of trio's clock."""
        return came_at + self._budget_seconds

    async def take(self, event: Event, *, deadline: float | None = None) -> tuple[Captured, Retrieval]:
        """Keep the prompt, and find what helps with it. Returns when both are done; a repeat is answered as well.

        By ``deadline`` (trio's clock; the budget from now, if there is none) it returns in any case. An event that is
        not durable by then is pending: the storage actor goes on with it, if it had room for it. So is one that cannot
        be stored, as on a full disk: what is remembered can be read all the same, and ``degraded`` says why.

        Raises:
          ActorStopped: the daemon is stopping; then no memories are shown either.
        """
        latest = self.deadline(trio.current_time()) if deadline is None else deadline
        retrieval = Retrieval()
        captured = Captured(event.event_id, stored="pending")
        failure: KiroLearnError | None = None
        obstacle: StorageError | None = None

        async def recall() -> None:
            nonlocal retrieval
            retrieval = await self._recall.answer(
                event.namespace,
                event.body,
                session_id=event.session_id,
                event_id=event.event_id,
                said_at=event.valid_time,
                folder=event.source.project_path,
                agent=event.source.surface,
                branch=event.source.branch,
                deadline=latest,
            )

        async with trio.open_nursery() as nursery:
            nursery.start_soon(recall)
            try:
                with trio.move_on_at(latest):
                    captured = await self._capture.take(event)
            except StorageError as error:
                obstacle = error
            except KiroLearnError as error:
                failure = error
                nursery.cancel_scope.cancel()
        if failure is not None:
            self._recall.take_back(event.namespace, event.session_id, retrieval)
            raise failure
        if obstacle is not None:
            retrieval = attrs.evolve(retrieval, degraded=(*retrieval.degraded, f"event: {obstacle}"))
        self._aftermath.told(event, retrieval.record_ids, [each.record_id for each in retrieval.found])
        return captured, retrieval
