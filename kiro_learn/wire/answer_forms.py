"""The forms in which agents take what their model is to read."""

from __future__ import annotations

import json
from collections.abc import Callable


def as_text(context: str, _is_at_start: bool) -> str:
    """The form of agents that take what a hook prints as it is."""
    return context


def in_output_of(prompt_hook: str) -> Callable[[str, bool], str]:
    """The form of agents that refuse plain text: they want the hook named that is answered."""

    def write(context: str, is_at_start: bool) -> str:
        output = {"hookEventName": "SessionStart" if is_at_start else prompt_hook, "additionalContext": context}
        return json.dumps({"hookSpecificOutput": output}, ensure_ascii=False)

    return write


def for_cursor(context: str, _is_at_start: bool) -> str:
    """The form of Cursor."""
    return json.dumps({"continue": True, "additional_context": context}, ensure_ascii=False)
