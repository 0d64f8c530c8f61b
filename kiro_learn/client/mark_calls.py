"""Methods of the SDK as functions that build their calls: what a person says of one memory."""

from __future__ import annotations

from typing import Literal

from kiro_learn.client import reading
from kiro_learn.client.building import Call, Caller, encoded
from kiro_learn.client.calls import path_of
from kiro_learn.client.results import FeedbackCounts, Memory


def judge(client: Caller, /, memory_id: str, feedback: Literal["helped", "wrong"]) -> Call[FeedbackCounts]:  # noqa: ARG001  # every call has one
    """Say that a memory that was told helped, or is wrong: all that is known of it then.

    It is told a little sooner or later for it; nothing is changed or hidden.

    Raises:
      RequestRefused: there is none with this id (404).
    """
    body = encoded({"feedback": feedback})
    return Call("POST", f"{path_of(memory_id)}/feedback", reading.feedback, body, is_repeatable=False)


def pin(client: Caller, /, memory_id: str) -> Call[Memory]:  # noqa: ARG001  # as above
    """Let every session's brief tell a memory: the memory, with ``pinned_at``.

    Raises:
      RequestRefused: there is none with this id (404).
    """
    return Call("POST", f"{path_of(memory_id)}/pin", reading.memory, b"{}")


def unpin(client: Caller, /, memory_id: str) -> Call[Memory]:  # noqa: ARG001  # as above
    """Take the pin of a memory away, if it has one: the memory.

    Raises:
      RequestRefused: there is none with this id (404).
    """
    return Call("DELETE", f"{path_of(memory_id)}/pin", reading.memory)
