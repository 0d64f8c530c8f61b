"""Takes in a prompt and answers it: both at once, so that the memories do not wait for the disk."""

from __future__ import annotations

import trio

from kiro_learn.errors import KiroLearnError
from kiro_learn.model.event import Event
from kiro_learn.services.capture import Capture, Captured
from kiro_learn.services.recall import Recall, Retrieval


class Prompt:
    """An event of kind prompt, for which somebody waits."""

    def __init__(self, capture: Capture, recall: Recall) -> None:
        self._capture = capture
        self._recall = recall

    async def take(self, event: Event) -> tuple[Captured, Retrieval]:
        """Keep the prompt, and find what helps with it. Returns when both are done; a repeat is answered as well.

        Raises:
          StorageError: it could not be kept; then no memories are told either.
        """
        retrieval = Retrieval()
        failure: KiroLearnError | None = None

        async def recall() -> None:
            nonlocal retrieval
            retrieval = await self._recall.answer(event.namespace, event.body, session_id=event.session_id)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(recall)
            try:
                captured = await self._capture.take(event)
            except KiroLearnError as error:
                failure = error
                nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return captured, retrieval
