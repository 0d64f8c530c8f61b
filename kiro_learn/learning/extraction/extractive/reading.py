"""A batch of events as values: what a model is shown as text (:mod:`..framing`), without the text."""

from __future__ import annotations

import attrs

from kiro_learn.learning.extraction.framing import (
    Omitted,
    Sources,
    ToolCall,
    Utterance,
    parts_of,
    project_path_of,
    sources_of,
)
from kiro_learn.learning.extraction.markup import cleaned
from kiro_learn.learning.extraction.user_answers import UserAnswer
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.event import Event, EventKind

_ROLES = {EventKind.PROMPT: "user", EventKind.SESSION_SUMMARY: "assistant"}


@attrs.frozen
class Said:
    """Something that a person or an agent said, and the number of the event it is from."""

    number: int
    role: str
    """``user`` for prompts, ``assistant`` for final answers; notes have their own kind as role."""
    text: str
    is_context: bool = False
    """It was already in an earlier batch."""


@attrs.frozen
class ToolUse:
    """One call of a tool, cut as the frame cut it."""

    number: int
    name: str
    input: str
    """JSON if the tool took an object, else text."""
    output: str
    answers: tuple[UserAnswer, ...] = ()
    """What a person answered to it."""
    has_failed: bool = False


@attrs.frozen
class FramedEvent:
    """One event of the batch: things said, or a tool's use."""

    session: str
    said: tuple[Said, ...] = ()
    tool: ToolUse | None = None
    sums_up: bool = False
    """It is the answer at the end of a turn, or sums up a session, and nothing else."""


@attrs.frozen
class ReadBatch:
    """A batch of events, oldest first, as the built-in learner takes it."""

    project_path: str
    events: tuple[FramedEvent, ...]
    sources: Sources
    """Which events each number stands for."""


def read(snapshot: BufferSnapshot) -> ReadBatch:
    """All of ``snapshot``, after the prompts before it; numbered, and each text cut, as for a model."""
    shown = (*snapshot.earlier_prompts, *snapshot.events)
    context_count = len(snapshot.earlier_prompts)
    return ReadBatch(
        cleaned(project_path_of(shown)),
        tuple(_event(event, number, is_context=number <= context_count) for number, event in enumerate(shown, start=1)),
        sources_of(snapshot.entries, snapshot.earlier_prompts),
    )


def _event(event: Event, number: int, *, is_context: bool) -> FramedEvent:
    said: list[Said] = []
    for part in parts_of(event):
        match part:
            case ToolCall(name, given, output, answers, has_failed):
                texts = (cleaned(name), cleaned(given), cleaned(output))
                tool = ToolUse(number, *texts, tuple(map(_cleaned, answers)), has_failed)
                return FramedEvent(event.session_id, tool=tool)
            case Utterance(text, role):
                said.append(Said(number, cleaned(role or "") or _role_of(event), cleaned(text), is_context))
            case Omitted():
                pass
    sums_up = event.kind is EventKind.SESSION_SUMMARY and all(each.role == "assistant" for each in said)
    return FramedEvent(event.session_id, said=tuple(said), sums_up=sums_up)


def _role_of(event: Event) -> str:
    return _ROLES.get(event.kind, str(event.kind))


def _cleaned(answered: UserAnswer) -> UserAnswer:
    return UserAnswer(
        cleaned(answered.question), cleaned(answered.answer), cleaned(answered.meaning), cleaned(answered.others)
    )
