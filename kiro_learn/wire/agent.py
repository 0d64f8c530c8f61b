"""The facts about a coding agent, and the form of answers to it; ``wire/agents.py`` has a value for each agent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

import attrs

from kiro_learn.agent_files.layouts import AgentFile, Surroundings
from kiro_learn.model.event import EventKind

Files = Iterator[AgentFile]


@attrs.frozen
class AnswerForm:
    """The form in which an agent takes text for its model, and the most of it."""

    write: Callable[[str, bool], str]
    """Makes the hook's output of a context that is not empty; the other argument: whether the hook reports a session's
    start."""
    most: int | None
    """The longest answer; None: no limit is known."""
    is_in_bytes: bool = False
    """Whether ``most`` counts bytes of the output, or characters of the context."""


@attrs.frozen(kw_only=True)
class Agent:
    """A coding agent that kiro_learn can be installed into."""

    name: str
    """The name on the command line and in the reports of its hooks."""
    title: str
    programs: tuple[str, ...]
    """Names of its program on the PATH; one of them is enough."""
    traces: tuple[str, ...]
    """Paths that it leaves in the user's folder; one of them is enough."""
    folder: str
    """The folder of its files, in the user's folder or a project; of one part or several."""
    hooks: Mapping[str, EventKind]
    """The hooks that we use, by name in lower case: agents write names in camelCase or in PascalCase, even one agent in
    both."""
    answer: AnswerForm
    files: Callable[[Agent, Surroundings], Files]
    """The files that it needs, in the order in which they are shown and written."""
    rule_files: tuple[str, ...] = ()
    """The rule files in a project that it loads at each session's start; the last part of a path may have a ``*``."""
    user_rule_files: tuple[str, ...] = ()
    """The same in the user's folder."""
    before_tool: str = ""
    """The hook before a tool runs, if its answer reaches the model; empty: there is none."""
    moved_by: str = ""
    """The environment variable that moves its folder in the user's; empty: there is none."""
    shared_name: str = ""
    """The name in reports of hooks that another agent also reads; empty: there are no such hooks."""
    next_step: str = ""
    """What the user has to do after the installation; empty: nothing."""


OTHER_RULE_FILES = (".github/copilot-instructions.md",)
"""Rule files of unknown agents; contradictions between them and memories are shown too."""


# The forms in which agents take text for their model.


def as_text(context: str, _is_at_start: bool) -> str:
    """The form of agents that take a hook's output as it is."""
    return context


def in_output_of(prompt_hook: str) -> Callable[[str, bool], str]:
    """The form of agents that refuse plain text, and want the hook's name in the answer."""

    def write(context: str, is_at_start: bool) -> str:
        output = {"hookEventName": "SessionStart" if is_at_start else prompt_hook, "additionalContext": context}
        return json.dumps({"hookSpecificOutput": output}, ensure_ascii=False)

    return write


def for_cursor(context: str, _is_at_start: bool) -> str:
    """The form of Cursor."""
    return json.dumps({"continue": True, "additional_context": context}, ensure_ascii=False)
