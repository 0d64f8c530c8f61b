"""What a hook prints, so that its agent shows it to its model."""

from __future__ import annotations

import json

from kiro_learn.wire.agents import agent_of_hook
from kiro_learn.wire.hooks.payload import TRUNCATED

_SECTION = "\n### "


def answer_to(agent: str, context: str, *, is_at_start: bool = False, is_before_tool: bool = False) -> str:
    """What a hook should print, so that ``agent`` shows ``context`` to its model; empty for nothing.

    ``is_at_start``: the hook reports that a session starts, not a prompt. ``is_before_tool``: that a tool is about to
    run; the answer then leaves it to the agent whether it does.

    Of a context that is longer than the agent takes, the last memories are left out; the agent would cut it in the
    middle of one, or put all of it into a file.
    """
    known = agent_of_hook(agent)
    if known is None or not context:
        return context
    form = known.answer
    if form.most is not None:
        context = _within(context, form.most, is_in_bytes=form.is_in_bytes)
    if is_before_tool:
        output = {"hookEventName": known.before_tool, "additionalContext": context}
        return json.dumps({"hookSpecificOutput": output}, ensure_ascii=False)
    return form.write(context, is_at_start) if context else ""


def _within(context: str, most: int, *, is_in_bytes: bool) -> str:
    """As many whole sections as fit; the beginning of the first where that is too long by itself."""

    def length(text: str) -> int:
        return len(text.encode()) if is_in_bytes else len(text)

    while length(context) > most:
        shorter, _, _ = context.rpartition(_SECTION)
        if _SECTION not in shorter:
            room = most - len(TRUNCATED)
            kept = context.encode()[:room].decode("utf-8", "ignore") if is_in_bytes else context[:room]
            return kept + TRUNCATED
        context = shorter
    return context
