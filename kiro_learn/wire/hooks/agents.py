"""The agents: which of their hooks mean something to us, and in which form they take an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping

import attrs

from kiro_learn.model.event import EventKind
from kiro_learn.wire.hooks.loose_json import TRUNCATED

_CLAUDE_CODE = {
    "sessionstart": EventKind.NOTE,
    "userpromptsubmit": EventKind.PROMPT,
    "posttooluse": EventKind.TOOL_USE,
    "posttoolusefailure": EventKind.TOOL_USE,
    "stop": EventKind.SESSION_SUMMARY,
}

_KIRO = {
    "agentspawn": EventKind.NOTE,
    "promptsubmit": EventKind.PROMPT,
    "agentstop": EventKind.SESSION_SUMMARY,
    **_CLAUDE_CODE,
}
"""Kiro IDE 0.x has promptSubmit and agentStop; each version of the others is in the middle of renaming its events."""

AGENTS: Mapping[str, Mapping[str, EventKind]] = {
    "kiro": _KIRO,
    "kiro-cli": _KIRO,
    "kiro-ide": _KIRO,
    "claude-code": _CLAUDE_CODE,
    "codex": _CLAUDE_CODE,
    "gemini": {
        "sessionstart": EventKind.NOTE,
        "beforeagent": EventKind.PROMPT,
        "aftertool": EventKind.TOOL_USE,
        "afteragent": EventKind.SESSION_SUMMARY,
    },
    "cursor": {
        "sessionstart": EventKind.NOTE,
        "beforesubmitprompt": EventKind.PROMPT,
        "posttooluse": EventKind.TOOL_USE,
        "posttoolusefailure": EventKind.TOOL_USE,
        "afteragentresponse": EventKind.SESSION_SUMMARY,
    },
}
"""By agent, by hook in lower case: agents write theirs in camelCase, in PascalCase, and the same agent in both."""


@attrs.frozen
class AnswerForm:
    """How an agent takes what its model is to read, and how much of it."""

    most: int | None = None
    """Longest answer; None: no limit is known."""
    is_in_bytes: bool = False
    """What ``most`` counts: bytes of what is printed, or characters of the context."""
    prompt_hook: str = ""
    """Agents that refuse plain text want this hook named in the answer to a prompt; ``_START`` in that to a start."""
    is_cursors: bool = False
    """Cursor has a form of its own."""


_KIROS = AnswerForm(most=10_240, is_in_bytes=True)
_FORMS: Mapping[str, AnswerForm] = {
    "kiro": _KIROS,
    "kiro-cli": _KIROS,
    "kiro-ide": _KIROS,
    "claude-code": AnswerForm(most=10_000),
    "codex": AnswerForm(most=10_000, prompt_hook="UserPromptSubmit"),
    "gemini": AnswerForm(prompt_hook="BeforeAgent"),
    "cursor": AnswerForm(most=10_000, is_cursors=True),
}
"""docs/hooks.md has them as a table, and what becomes of a longer one."""

_START = "SessionStart"
"""The hook of a session's start, in the words of all agents that want it named."""

_SECTION = "\n### "


def kind_of(agent: str, event: str) -> EventKind | None:
    """What the hook ``event`` of ``agent`` reports; None if it is none of ours."""
    return AGENTS.get(agent, {}).get(event.lower())


def is_of_failure(event: str) -> bool:
    """Whether the hook ``event`` is run in the place of another one after a tool that failed."""
    return event.lower() == "posttoolusefailure"


def answer_to(agent: str, context: str, *, is_at_start: bool = False) -> str:
    """What a hook should print, so that ``agent`` shows ``context`` to its model; empty for nothing.

    ``is_at_start``: the hook reports that a session starts, not a prompt.

    Of a context that is longer than the agent takes, the last memories are left out; the agent would cut it in the
    middle of one, or put all of it into a file.
    """
    form = _FORMS.get(agent, AnswerForm())
    if form.most is not None:
        context = _within(context, form.most, is_in_bytes=form.is_in_bytes)
    if not context:
        return ""
    if form.is_cursors:
        return json.dumps({"continue": True, "additional_context": context}, ensure_ascii=False)
    if form.prompt_hook:
        name = _START if is_at_start else form.prompt_hook
        output = {"hookEventName": name, "additionalContext": context}
        return json.dumps({"hookSpecificOutput": output}, ensure_ascii=False)
    return context


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
