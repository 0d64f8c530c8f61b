"""The agents: which of their hooks mean something to us, and in which form they take an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping

from kiro_learn.model.event import EventKind

_CLAUDE_CODE = {
    "sessionstart": EventKind.NOTE,
    "userpromptsubmit": EventKind.PROMPT,
    "posttooluse": EventKind.TOOL_USE,
    "stop": EventKind.SESSION_SUMMARY,
}

AGENTS: Mapping[str, Mapping[str, EventKind]] = {
    "kiro-cli": {"agentspawn": EventKind.NOTE, **_CLAUDE_CODE},
    "kiro-ide": {
        "agentspawn": EventKind.NOTE,
        "promptsubmit": EventKind.PROMPT,
        "agentstop": EventKind.SESSION_SUMMARY,
        **_CLAUDE_CODE,
    },
    "claude-code": _CLAUDE_CODE,
    "codex": _CLAUDE_CODE,
    "gemini": {
        "sessionstart": EventKind.NOTE,
        "beforeagent": EventKind.PROMPT,
        "aftertool": EventKind.TOOL_USE,
        "afteragent": EventKind.SESSION_SUMMARY,
    },
}
"""By agent, by hook in lower case: agents write theirs in camelCase, in PascalCase, and the same agent in both."""

_ANSWERS_IN_JSON = {"codex": "UserPromptSubmit", "gemini": "BeforeAgent"}
"""Agents that refuse plain text, with the hook they want to be named in the answer."""


def kind_of(agent: str, event: str) -> EventKind | None:
    """What the hook ``event`` of ``agent`` reports; None if it is none of ours."""
    return AGENTS.get(agent, {}).get(event.lower())


def answer_to(agent: str, context: str) -> str:
    """What a prompt's hook should print, so that ``agent`` shows ``context`` to its model; empty for nothing."""
    if not context or agent not in _ANSWERS_IN_JSON:
        return context
    output = {"hookEventName": _ANSWERS_IN_JSON[agent], "additionalContext": context}
    return json.dumps({"hookSpecificOutput": output}, ensure_ascii=False)
