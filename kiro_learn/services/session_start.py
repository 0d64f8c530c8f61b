"""Stores the event that starts a session, and answers what the session should know."""

from __future__ import annotations

import attrs
import trio

from kiro_learn.model.event import Event
from kiro_learn.model.retrieval import Retrieval
from kiro_learn.services.capture import Capture, Captured
from kiro_learn.services.session_context import SessionContext


@attrs.frozen(eq=False)
class SessionStart:
    """The start of a session that a program reports itself; what agents' hooks report is ``Hooks``'."""

    capture: Capture
    session_context: SessionContext
    budget_seconds: float

    async def take(self, event: Event) -> tuple[Captured, Retrieval]:
        """Keep ``event``, and find what its session is told: once a session, within the budget.

        Raises:
          StorageError: it could not be kept.
        """
        began = trio.current_time()
        told = await self.session_context.begin(
            event, key=event.session_id, is_emptied=False, deadline=began + self.budget_seconds
        )
        latency_ms = (trio.current_time() - began) * 1000
        captured = await self.capture.take(event)
        if told.text:
            self.session_context.told(event, told)
        return captured, Retrieval(told.text, told.record_ids, latency_ms)
