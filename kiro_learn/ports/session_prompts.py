"""The port to what sessions were shown: read before a prompt is answered, and added to afterwards."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retrieval import ToldId


class SessionPrompt(Protocol):
    """One prompt of a session."""

    def told_before(self) -> Collection[ToldId]:
        """What other prompts of the session were told, those that are answered right now included; nothing for a
        prompt of no session.
        """

    @property
    def may_set_goal(self) -> bool:
        """No earlier prompt set the goal of its session, or of its sitting; True for a prompt of no session."""

    def set_goal(self) -> None:
        """It sets the goal."""

    def told(self, item_ids: Sequence[ToldId]) -> None:
        """It is being told these."""


class SessionPrompts(Protocol):
    """Counts the prompts of sessions and what each was shown."""

    def prompt(
        self, namespace: Namespace, session_id: str | None, event_id: EventId | None, said_at: datetime | None = None
    ) -> SessionPrompt:
        """The next prompt of a session; or the same as before, if its event is sent again.

        ``said_at``: after a long pause, the prompt may set another goal.
        """

    def take_back(self, namespace: Namespace, session_id: str, item_ids: Collection[ToldId]) -> None:
        """A session was not told these after all."""
