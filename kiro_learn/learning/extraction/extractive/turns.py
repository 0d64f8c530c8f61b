"""A batch of events as values, grouped into turns: the prompts, the tools, the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import attrs

from kiro_learn.learning.extraction.framing import (
    Omitted,
    Sources,
    ToolCall,
    Utterance,
    cleaned,
    parts_of,
    project_path_of,
    sources_of,
)
from kiro_learn.learning.extraction.user_answers import UserAnswer
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.event import Event, EventKind

_MACHINE_TAG = re.compile(
    r"<(/?)(system-reminder|command-message|command-contents|local-command-[a-z]+|user-prompt-submit-hook|task-notification"
    r"|ide_[a-z_]+|bash-(?:stdout|stderr)|steering-reminder|environment_context|user_instructions)\b[^<>]*+>"
)
"""Tags around texts that an agent writes into a prompt. Group 1 is the slash of a closing tag."""

_COMMAND_NAME = re.compile(r"<command-name>([^<]*)</command-name>")
_COMMAND_ARGUMENTS = re.compile(r"<command-args>([^<]*)</command-args>")
_NOT_TYPED = re.compile(
    r"\s*(?:\[Request (?:interrupted|cancelled)\b|Caveat: The messages below were generated"
    r"|This session is being continued from a previous|Operation stopped by hook\b|<command-name>|\[Image\b[^\]]*\]\s*$"
    r"|Stop hook feedback\b|\(no content\))"
)
"""Prompts that agents write themselves in place of a person."""

_ADDED_LINE = re.compile(r"^If you need specific details from before exiting plan mode\b.*$", re.MULTILINE)
"""The line that an agent adds to a plan that a person accepted."""

_SESSION_NOISE = re.compile(r"\s*(?:session|conversation|agent)\s+(?:started|start|ended|resumed|spawn)", re.IGNORECASE)


@attrs.frozen
class Turn:
    """One answer and the events that led to it. Without an answer, the turn was unfinished when the batch ended."""

    prompts: tuple[Said, ...]
    """The texts that a person typed, oldest first; several if the agent was interrupted."""
    tools: tuple[ToolUse, ...]
    answer: Said | None
    previous: Turn | None = None
    """The turn before it in the same session, if the batch holds it; it has the one before that, and no more."""
    is_session_summary: bool = False
    """Whether it sums up a whole session: it has no prompt and no tool of its own, not even a prompt by an agent."""

    @property
    def question(self) -> str:
        """All prompts, as one text."""
        return "\n".join(said.text for said in self.prompts)

    @property
    def is_answered_by_user(self) -> bool:
        """Whether a tool asked and a person answered."""
        return any(tool.answers for tool in self.tools)


@attrs.define
class _OpenTurn:
    prompts: list[Said] = attrs.Factory(list)
    tools: list[ToolUse] = attrs.Factory(list)
    previous: Turn | None = None
    is_begun: bool = False
    """Whether a prompt or a tool use came before its answer."""

    def closed(self, answer: Said | None, *, sums_up: bool = False) -> Turn:
        previous = self.previous
        if previous and previous.previous:
            previous = attrs.evolve(previous, previous=attrs.evolve(previous.previous, previous=None))
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
    """``said`` as its author typed it; nothing if no person typed it."""
    text = _without_machine_blocks(said.text) if "<" in said.text else said.text
    command, arguments = _COMMAND_NAME.search(text), _COMMAND_ARGUMENTS.search(text)
    if command and arguments and arguments.group(1).strip():
        text = f"{command.group(1).strip()} {arguments.group(1).strip()}"
    text = _ADDED_LINE.sub("", text).strip()
    if not text or _NOT_TYPED.match(text):
        return []
    return [attrs.evolve(said, text=text)]


def _without_machine_blocks(text: str) -> str:
    """``text`` without the blocks between machine tags and their closing tags. A tag that never closes stays.

    Every tag is read twice: backwards to find where a block ends, and forwards to cut. So a wall of tags that never
    close costs no more than any other text.
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


# A batch of events as values: the content that a model gets as text (:mod:`..framing`).

_ROLES = {EventKind.PROMPT: "user", EventKind.SESSION_SUMMARY: "assistant"}


@attrs.frozen
class Said:
    """A text that a person or an agent said, and the number of its event."""

    number: int
    role: str
    """``user`` for prompts, ``assistant`` for final answers; notes have their own kind as role."""
    text: str
    is_context: bool = False
    """Whether it was already in an earlier batch."""


@attrs.frozen
class ToolUse:
    """One call of a tool, cut as in the prompt for a model."""

    number: int
    name: str
    input: str
    """JSON if the tool took an object, else text."""
    output: str
    answers: tuple[UserAnswer, ...] = ()
    """A person's answers to the tool."""
    has_failed: bool = False


@attrs.frozen
class FramedEvent:
    """One event of the batch: texts that were said, or the use of a tool."""

    session: str
    said: tuple[Said, ...] = ()
    tool: ToolUse | None = None
    sums_up: bool = False
    """Whether it is the answer at the end of a turn, or the summary of a session, and nothing else."""


@attrs.frozen
class ReadBatch:
    """A batch of events, oldest first, in the form that the built-in learner reads."""

    project_path: str
    events: tuple[FramedEvent, ...]
    sources: Sources
    """The events that each number stands for."""


def read(snapshot: BufferSnapshot) -> ReadBatch:
    """``snapshot`` after its earlier prompts; numbered and cut as for a model."""
    shown = (*snapshot.earlier_prompts, *snapshot.events)
    context_count = len(snapshot.earlier_prompts)
    # A hook that waited for a busy daemon comes by the spool, after events that happened later.
    in_time = sorted(enumerate(shown, start=1), key=lambda numbered: numbered[1].valid_time)
    return ReadBatch(
        cleaned(project_path_of(shown)),
        tuple(_event(event, number, is_context=number <= context_count) for number, event in in_time),
        sources_of(snapshot.entries, snapshot.earlier_prompts),
    )


def _event(event: Event, number: int, *, is_context: bool) -> FramedEvent:
    said: list[Said] = []
    for part in parts_of(event):
        match part:
            case ToolCall(name, given, output, answers, has_failed):
                texts = (cleaned(name), cleaned(given), cleaned(output))
                tool = ToolUse(number, *texts, tuple(each.with_each(cleaned) for each in answers), has_failed)
                return FramedEvent(event.session_id, tool=tool)
            case Utterance(text, role):
                speaker = cleaned(role or "") or _ROLES.get(event.kind, str(event.kind))
                said.append(Said(number, speaker, cleaned(text), is_context))
            case Omitted():
                pass
    sums_up = event.kind is EventKind.SESSION_SUMMARY and all(each.role == "assistant" for each in said)
    return FramedEvent(event.session_id, said=tuple(said), sums_up=sums_up)


# Logs in prompts: hundreds of lines by a program. Only the lines that name an error say anything.

LEAST_LINES = 8
"""The fewest log lines in a row. A person who pastes fewer may have chosen them."""

MOST_ERRORS = 4
"""The most error lines of one log that stay: the first ones that differ in more than numbers."""

_LOOKED_AT = 400
"""How many characters of a line are read."""

_LOG_LINE = re.compile(
    r"\W{0,3}(?:\w{3} )?\d{2,4}[-./ ]\w{2,3}[-./ ]\d{1,4}[-T ,.]*\d\d[:.]\d\d|\W{0,2}\d\d:\d\d:\d\d\b"
    r"|\W{0,2}(?:trace|debug|info|notice|warn|warning|error|fatal|critical|verbose)\b\W{0,3}[:|\]\[\t ]"
    r"|[\w.]{1,60}: (?:trace|debug|info|display|verbose|log|warn|warning|error)\b: "
    r"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} \d"
    r"|\w{3} [ \d]\d \d\d:\d\d:\d\d |I?\d{4} \d\d:\d\d:\d\d\.\d",
    re.IGNORECASE,
)
"""The beginning of a line of a log: a time, or a level."""

_ERROR = re.compile(
    r"\b(?:error|exception|fail(?:ed|ure)?|fatal|panic|denied|refused|cannot|could not|not found|undefined)\b|\berr\b",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\d+")


def without_logs(text: str) -> str:
    """``text`` with only the errors of each log in it. A log is at least LEAST_LINES of its lines in a row."""
    lines = text.splitlines()
    if len(lines) < LEAST_LINES:
        return text
    kept = list(_kept(lines))
    return text if len(kept) == len(lines) else "\n".join(kept)


def _kept(lines: Sequence[str]) -> Iterator[str]:
    run: list[str] = []
    for line in lines:
        if _LOG_LINE.match(line[:_LOOKED_AT]):
            run.append(line)
        else:
            yield from _left_of(run)
            run = []
            yield line
    yield from _left_of(run)


def _left_of(run: Sequence[str]) -> list[str]:
    if len(run) < LEAST_LINES:
        return list(run)
    errors = {_NUMBERS.sub("", line[:_LOOKED_AT]): line for line in reversed(run) if _ERROR.search(line[:_LOOKED_AT])}
    return list(reversed(errors.values()))[:MOST_ERRORS]
