"""The bodies of events that agents report, whether by hooks or in what they keep of past sessions."""

from __future__ import annotations

from typing import Any

from kiro_learn.model.event import JsonBody, TextBody
from kiro_learn.wire.hooks.payload import fitted


def text_body(text: str) -> TextBody:
    """A prompt or an answer, cut if it does not fit."""
    return TextBody(fitted(text))


def tool_body(name: str, given: Any, response: Any) -> JsonBody:
    """One use of a tool, cut if it does not fit. ``response``: as the agent's hook has it, or a ``failed_response``.

    Nothing here says whether it failed: ``learning.extraction.outcomes`` reads that from the body, for all agents.
    """
    return JsonBody(fitted(tool_use(name, given, response)))


def tool_use(name: str, given: Any, response: Any) -> dict[str, Any]:
    """The data of such a body."""
    return {
        "tool_name": name or "unknown",
        "tool_input": {} if given is None else given,
        "tool_response": response,
    }


def failed_response(*told: Any) -> dict[str, Any]:
    """The response of a tool that failed, of what was ``told`` of it: its result, then the error; or one of them."""
    return {
        "success": False,
        **dict(zip(("result", "error"), (each for each in told if each is not None), strict=False)),
    }
