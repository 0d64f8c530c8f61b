"""Sessions of agents: which one a hook is of, and what it was told."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from kiro_learn.model.namespace import Namespace
from kiro_learn.model.told import ToldId, ToldItem


class SessionReads(Protocol):
    """Reads of hook sessions, and of what each session was shown."""

    async def get_hook_session(self, key: str) -> str | None:
        """The session id put last under ``key`` (a process and folder); None if there is none."""
        ...

    async def list_told(self) -> list[ToldItem]:
        """What all sessions were told, in the order in which they were told it last."""
        ...


class SessionWrites(Protocol):
    """Writes of hook sessions, and of what each session was shown."""

    def put_hook_session(self, key: str, session_id: str) -> None:
        """Remember which session an agent that does not name one is in."""
        ...

    def put_told(
        self, namespace: Namespace, session_id: str, item_ids: Sequence[ToldId], *, prompt_number: int
    ) -> None:
        """Remember that a session was told these last by its prompt of this number; what is not there is left unknown.
        What is forgotten later, or goes for good when a replacement is undone, goes from here too.
        """
        ...

    def clear_told(self, namespace: Namespace, session_id: str) -> None:
        """Remember nothing of what a session was told."""
        ...

    def forget_told(self, item_ids: Collection[ToldId]) -> None:
        """Remember of no session that it was told these."""
        ...
