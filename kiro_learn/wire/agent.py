"""What is known of a coding agent, and of how it is answered; ``wire/agents.py`` has a value for each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

import attrs

from kiro_learn.agent_files.layouts import AgentFile, Surroundings
from kiro_learn.model.event import EventKind

Files = Iterator[AgentFile]


@attrs.frozen
class AnswerForm:
    """How an agent takes what its model is to read, and how much of it."""

    write: Callable[[str, bool], str]
    """What is printed of a context that is not empty; the other argument: the hook reports that a session starts."""
    most: int | None
    """Longest answer; None: no limit is known."""
    is_in_bytes: bool = False
    """What ``most`` counts: bytes of what is printed, or characters of the context."""


@attrs.frozen(kw_only=True)
class Agent:
    """A coding agent that kiro_learn can be installed into."""

    name: str
    """That the command line takes, and by which its hooks report."""
    title: str
    programs: tuple[str, ...]
    """Its program on the PATH, by any of these names."""
    traces: tuple[str, ...]
    """What it leaves in the user's folder, any of these."""
    folder: str
    """Of its files, in the user's folder or a project; of one part or several."""
    hooks: Mapping[str, EventKind]
    """Those that mean something to us, in lower case: agents write them in camelCase, in PascalCase, and the same agent
    in both."""
    answer: AnswerForm
    files: Callable[[Agent, Surroundings], Files]
    """What it needs, in the order in which it is shown and written."""
    rule_files: tuple[str, ...] = ()
    """Of a project, what it loads at the start of each session; the last part of a path may have a ``*``."""
    user_rule_files: tuple[str, ...] = ()
    """The same of the user, in the user's folder."""
    before_tool: str = ""
    """The hook before a tool runs, where its answer reaches the model; empty: none does."""
    moved_by: str = ""
    """The environment variable that moves its folder of the user; empty: there is none."""
    shared_name: str = ""
    """By which the hooks report that another agent reads as well; empty: there are none."""
    next_step: str = ""
    """What its user has to do after the installation; empty: nothing."""


OTHER_RULE_FILES = (".github/copilot-instructions.md",)
"""Of agents that we do not know: what contradicts a memory is shown all the same."""


# The forms in which agents take what their model is to read.


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
