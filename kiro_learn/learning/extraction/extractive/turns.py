"""Groups the events of each session into turns: the prompts, the tools, the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable

import attrs

from kiro_learn.learning.extraction.extractive.reading import FramedEvent, Said, ToolUse

_MACHINE_TAG = re.compile(
    r"<(/?)(system-reminder|command-message|command-contents|local-command-[a-z]+|user-prompt-submit-hook|task-notification"
    r"|ide_[a-z_]+|bash-(?:stdout|stderr)|steering-reminder|environment_context|user_instructions)\b[^<>]*+>"
)
"""Around what an agent writes into a prompt; group 1 is a slash in a closing one."""

_COMMAND_NAME = re.compile(r"<command-name>([^<]*)</command-name>")
_COMMAND_ARGUMENTS = re.compile(r"<command-args>([^<]*)</command-args>")
_NOT_TYPED = re.compile(
    r"\s*(?:\[Request (?:interrupted|cancelled)\b|Caveat: The messages below were generated"
    r"|This session is being continued from a previous|Operation stopped by hook\b|<command-name>|\[Image\b[^\]]*\]\s*$"
    r"|Stop hook feedback\b|\(no content\))"
)
"""Prompts that agents write themselves into the place where a person's words stand."""

_SESSION_NOISE = re.compile(r"\s*(?:session|conversation|agent)\s+(?:started|start|ended|resumed|spawn)", re.IGNORECASE)


@attrs.frozen
class Turn:
    """One answer and what led to it. Without an answer: it was still unfinished when the batch ended."""

    prompts: tuple[Said, ...]
    """What a person typed, oldest first; several when the agent was interrupted."""
    tools: tuple[ToolUse, ...]
    answer: Said | None
    previous: Turn | None = None
    """The turn before it in the same session, if the batch holds it."""
    is_session_summary: bool = False
    """It has no prompt and no tool of its own, not even one that an agent wrote itself: it tells of a whole session."""

    @property
    def question(self) -> str:
        """All prompts, as one text."""
        return "\n".join(said.text for said in self.prompts)

    @property
    def is_answered_by_user(self) -> bool:
        """A tool asked, and a person answered."""
        return any(tool.answers for tool in self.tools)


@attrs.define
class _OpenTurn:
    prompts: list[Said] = attrs.Factory(list)
    tools: list[ToolUse] = attrs.Factory(list)
    previous: Turn | None = None
    is_begun: bool = False
    """A prompt or a tool use led to its answer."""

    def closed(self, answer: Said | None, *, sums_up: bool = False) -> Turn:
        previous = attrs.evolve(self.previous, previous=None) if self.previous else None
        return Turn(tuple(self.prompts), tuple(self.tools), answer, previous, sums_up and not self.is_begun)


def turns_of(events: Iterable[FramedEvent]) -> list[Turn]:
    """The turns in the order in which they ended, then the unfinished ones. Notes are answers without a prompt."""
    open_turns: dict[str, _OpenTurn] = {}
    finished: list[Turn] = []
    for event in events:
        turn = open_turns.setdefault(event.session, _OpenTurn())
        if event.tool:
            turn.tools.append(event.tool)
            turn.is_begun = True
        for said in event.said:
            if said.role == "note":
                finished.extend(_note(said))
            elif said.role == "user":
                turn.prompts.extend(_typed(said))
                turn.is_begun = True
            elif said.role == "assistant" and said.text.strip():
                finished.append(turn.closed(said, sums_up=event.sums_up))
                turn = open_turns[event.session] = _OpenTurn(previous=finished[-1])
    unfinished = [turn.closed(None) for turn in open_turns.values()]
    return finished + [turn for turn in unfinished if turn.prompts or turn.is_answered_by_user]


def _note(said: Said) -> list[Turn]:
    return [] if _SESSION_NOISE.match(said.text) else [Turn((), (), said)]


def _typed(said: Said) -> list[Said]:
    """``said`` as its author typed it; nothing if no person did."""
    text = _without_machine_blocks(said.text) if "<" in said.text else said.text
    command, arguments = _COMMAND_NAME.search(text), _COMMAND_ARGUMENTS.search(text)
    if command and arguments and arguments.group(1).strip():
        text = f"{command.group(1).strip()} {arguments.group(1).strip()}"
    if not text.strip() or _NOT_TYPED.match(text):
        return []
    return [attrs.evolve(said, text=text.strip())]


def _without_machine_blocks(text: str) -> str:
    """``text`` without what stands between each machine tag and the next that closes it; one that never closes stays.

    Every tag is looked at twice, backwards for where a block ends and forwards to cut, so that a wall of tags that
    never close costs no more than any other text.
    """
    tags = list(_MACHINE_TAG.finditer(text))
    closing_ends: dict[str, int] = {}
    block_ends: list[int] = []
    for tag in reversed(tags):
        slash, name = tag.groups()
        if slash:
            closing_ends[name] = tag.end()
        block_ends.append(0 if slash else closing_ends.get(name, 0))
    pieces: list[str] = []
    position = 0
    for tag, block_end in zip(tags, reversed(block_ends), strict=True):
        if block_end and tag.start() >= position:
            pieces.append(text[position : tag.start()])
            position = block_end
    return "".join((*pieces, text[position:]))
