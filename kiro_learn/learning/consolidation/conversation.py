"""Makes room in an agent's conversation: old turns become a summary, the newest stay as they were said.

A turn is what a person said and all that follows until they speak again. The newest turns are never taken: at most ten
stay, at least three, and as many as leave half of what the conversation may have. A summary that is there already is
kept and added to, so that nothing is summarised twice.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache
from itertools import takewhile

import attrs

from kiro_learn.learning.extraction.extractive.prose import sentences

DUE_SHARE = 0.75
"""Of the tokens that a conversation may have, from which on it is made shorter."""
WANTED_SHARE = 0.5
LEAST_TURNS = 3
MOST_TURNS = 10
SUMMARY_SHARE = 0.1
"""Of these tokens that the summary may have; its oldest lines go first."""
LINE_CHARACTERS = 200
BEGIN, END = "[Conversation summary:\n", "]"
"""Around the summary, in a message of the role ``system``."""


@attrs.frozen
class Message:
    """Something that was said."""

    role: str
    """``user``, ``assistant`` or another."""
    content: str


@attrs.frozen
class CompactedConversation:
    """A conversation after its old turns were summarised."""

    messages: tuple[Message, ...]
    summarized_count: int
    """Messages that are in the summary now and were not before; 0: nothing was changed."""
    tokens: int


def compact(messages: Sequence[Message], *, slot: int, count: Callable[[str], int]) -> CompactedConversation:
    """The conversation in ``slot`` tokens; as it is, unless three quarters of these are used and a turn can go.

    What the agent was told first, in messages of the role ``system``, stays in front.
    """
    count = cache(count)
    orders, summary, said = _parted(messages)
    total = sum(count(message.content) for message in messages)
    turns = _turns(said)
    kept = _kept(turns, slot, count)
    if total < DUE_SHARE * slot or len(kept) == len(turns):
        return CompactedConversation(tuple(messages), 0, total)
    gone = [message for turn in turns[: len(turns) - len(kept)] for message in turn]
    lines = [*summary, *(line for turn in turns[: len(turns) - len(kept)] if (line := _line(turn)))]
    first = Message("system", BEGIN + _newest(lines, SUMMARY_SHARE * slot, count) + END)
    result = (*orders, first, *(message for turn in kept for message in turn))
    tokens = sum(count(message.content) for message in result)
    if tokens >= total:  # a summary of a few words has more than these
        return CompactedConversation(tuple(messages), 0, total)
    return CompactedConversation(result, len(gone), tokens)


def _parted(messages: Sequence[Message]) -> tuple[Sequence[Message], list[str], Sequence[Message]]:
    """What comes before the conversation, the lines of the summary that is there, and the rest."""
    orders = list(takewhile(lambda message: message.role == "system" and not _is_summary(message), messages))
    said = messages[len(orders) :]
    if not said or not _is_summary(said[0]):
        return orders, [], said
    return orders, said[0].content.removeprefix(BEGIN).removesuffix(END).splitlines(), said[1:]


def _is_summary(message: Message) -> bool:
    return message.role == "system" and message.content.startswith(BEGIN)


def _turns(messages: Sequence[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for message in messages:
        if message.role == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def _kept(turns: Sequence[list[Message]], slot: int, count: Callable[[str], int]) -> Sequence[list[Message]]:
    """The newest, as many as may stay."""
    number = min(len(turns), max(LEAST_TURNS, min(MOST_TURNS, len(turns) // 2)))
    sizes = [sum(count(message.content) for message in turn) for turn in turns]
    while number > LEAST_TURNS and sum(sizes[len(turns) - number :]) > WANTED_SHARE * slot:
        number -= 1
    return turns[len(turns) - number :]


def _newest(lines: Sequence[str], most: float, count: Callable[[str], int]) -> str:
    """As many of the last lines as have at most so many tokens; one at least.

    Fewer lines never have more tokens, so how many is found by halving: a conversation may have thousands.
    """
    texts = range(len(lines) - 1)
    first = bisect_left(texts, True, key=lambda number: count("\n".join(lines[number:])) <= most)
    return "\n".join(lines[first:])


def _line(turn: Sequence[Message]) -> str:
    """What was asked and what came of it, a sentence each."""
    asked = _first_sentence(turn[0].content)
    answers = [message.content for message in turn[1:] if message.role == "assistant"]
    answered = _first_sentence(answers[-1]) if answers else ""
    return " → ".join(part for part in (asked, answered) if part)


def _first_sentence(text: str) -> str:
    found = next((" ".join(each.split()) for each in sentences(text[: 10 * LINE_CHARACTERS]) if each.strip()), "")
    return found[:LINE_CHARACTERS]
