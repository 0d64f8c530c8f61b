"""The port to what sessions were shown: read before a prompt is answered, added to afterwards."""

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
        """What other prompts of the session were told, also those being answered now; nothing without a session."""

    @property
    def may_set_goal(self) -> bool:
        """Whether no earlier prompt set the goal of this sitting; True for a prompt without a session."""

    def set_goal(self) -> None:
        """Note that this prompt sets the goal."""

    def told(self, item_ids: Sequence[ToldId]) -> None:
        """Note that this prompt is told these items."""


class SessionPrompts(Protocol):
    """Counts the prompts of each session and what it was told."""

    def prompt(
        self, namespace: Namespace, session_id: str | None, event_id: EventId | None, said_at: datetime | None = None
    ) -> SessionPrompt:
        """The next prompt of a session; the same as before if its event is sent again.

        ``said_at``: when the prompt was sent; after a long pause it may set another goal.
        """

    def take_back(self, namespace: Namespace, session_id: str, item_ids: Collection[ToldId]) -> None:
        """Note that a session was not told these items after all."""
