"""What one hook reported."""

from __future__ import annotations

import attrs

from kiro_learn.model.event import Body, EventKind
from kiro_learn.model.ids import EventId

NEW_CONTEXTS = frozenset({"compact", "clear", "resume"})
"""Sources of a session's start. One that names none says nothing: Kiro's come at every prompt in some versions, and a
session must not be told the same at each."""

_EMPTIED_CONTEXTS = frozenset({"compact", "clear"})


@attrs.frozen(kw_only=True)
class HookReport:
    """One thing an agent did, as its hook reported it: the fields of an event that the agent knows."""

    agent: str
    """As in the path of the request; it becomes the event's surface."""
    kind: EventKind
    body: Body
    """Encodes to at most 512 KiB and holds no text that UTF-8 cannot carry."""
    cwd: str
    """Absolute, undecodable bytes as surrogates (PEP 383); empty if it is not known."""
    session_id: str | None
    """1 to 128 characters; None if the agent named none."""
    process: str | None
    """Tells apart the agents that name no session."""
    happened_at_ms: int | None
    """Since 1970, by the shim's clock."""
    event_id: EventId | None
    """Fixed by the shim, so that a request sent twice is stored once."""
    is_spawn: bool
    """A session begins here."""
    new_context: str = ""
    """Why what the agent was told before may be out of its context: one of ``NEW_CONTEXTS``; empty if it is not."""

    @property
    def is_context_emptied(self) -> bool:
        """The agent says that its context was compacted or emptied: what it was told is not there any more."""
        return self.new_context in _EMPTIED_CONTEXTS

    @property
    def session_key(self) -> str:
        """What stands for the session of an agent that names none, as text that any store can keep."""
        return f"{self.agent} {self.process} {self.cwd}".encode("utf-8", "backslashreplace").decode()
