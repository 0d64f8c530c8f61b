"""Makes room in an agent's conversation: old turns become a summary, the newest stay as they were said.

A turn is what a person said and all that follows until they speak again. The newest turns are never taken: at most ten
stay, at least three, and as many as leave half of what the conversation may have. A summary that is there already is
kept and added to, so that nothing is summarised twice. Each turn that goes has a line in it, a shorter one where there
are many; where not even these fit, the oldest share a line that says how many they are.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache
from itertools import takewhile

import attrs

from kiro_learn.learning.extraction.extractive.prose import cut_at_word, sentences

DUE_SHARE = 0.75
"""Of the tokens that a conversation may have, from which on it is made shorter."""
WANTED_SHARE = 0.5
LEAST_TURNS = 3
MOST_TURNS = 10
SUMMARY_SHARE, MOST_SHARE = 0.1, 0.7
"""Of these tokens that the summary may have; more where a line a turn needs it, as far as the whole then has 0.7."""
LINE_CHARACTERS, LEAST_CHARACTERS = 200, 40
"""Of a sentence in a line, and of a whole line where there are many."""
ARROW = " \u2192 "
"""Between what was asked and what came of it."""
NOTHING_SAID = "(no words)"
_EARLIER = re.compile(r"\((\d{1,9}) earlier turns\)")
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
    summarized: tuple[Message, ...]
    """Those that are in the summary now and were not before; none: nothing was changed."""
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
        return CompactedConversation(tuple(messages), (), total)
    gone = tuple(message for turn in turns[: len(turns) - len(kept)] for message in turn)
    left = MOST_SHARE * slot - sum(count(message.content) for turn in kept for message in turn)
    lines = [*summary, *lines_of(gone)]
    first = Message("system", BEGIN + _summary(lines, SUMMARY_SHARE * slot, left, count) + END)
    result = (*orders, first, *(message for turn in kept for message in turn))
    tokens = sum(count(message.content) for message in result)
    if tokens >= total:  # a summary of a few words has more than these
        return CompactedConversation(tuple(messages), (), total)
    return CompactedConversation(result, gone, tokens)


def lines_of(messages: Sequence[Message]) -> list[str]:
    """For each turn what was asked and what came of it, a sentence each; none is empty."""
    return [_line(turn) for turn in _turns(messages)]


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


def _summary(lines: Sequence[str], wanted: float, most: float, count: Callable[[str], int]) -> str:
    """All ``lines`` in about ``wanted`` tokens, each as long as that allows; in ``most`` where that is too little for
    short ones, and if need be with one line for the oldest.

    Shorter and fewer lines never have more tokens, so both are found by halving: a conversation may have thousands.
    """
    widths = range(LEAST_CHARACTERS, 2 * LINE_CHARACTERS + len(ARROW) + 1)
    too_wide = bisect_left(widths, True, key=lambda width: count(_shortened(lines, width)) > wanted)
    text = _shortened(lines, widths[max(0, too_wide - 1)])
    if too_wide or count(text) <= max(wanted, most):
        return text
    short = text.splitlines()
    numbers = range(2, len(short))
    first = bisect_left(numbers, True, key=lambda number: count(_folded(short, number)) <= max(wanted, most))
    return _folded(short, first + 2) if len(short) > 1 else text


def _shortened(lines: Sequence[str], width: int) -> str:
    return "\n".join(_cut(line, width) for line in lines)


def _cut(line: str, width: int) -> str:
    """Its beginning, and that of what came of it; the arrow between them stays."""
    asked, arrow, answered = line.partition(ARROW)
    if len(line) <= width or _EARLIER.fullmatch(line):
        return line
    if not arrow:
        return cut_at_word(line, width)
    each = (width - len(ARROW)) // 2
    return (
        cut_at_word(asked, max(each, width - len(ARROW) - len(answered)))
        + arrow
        + cut_at_word(answered, max(each, width - len(ARROW) - len(asked)))
    )


def _folded(lines: Sequence[str], number: int) -> str:
    """``lines`` with one in the place of the first ``number``, which may stand for more turns already."""
    turns = sum(int(found[1]) if (found := _EARLIER.fullmatch(line)) else 1 for line in lines[:number])
    return "\n".join((f"({turns} earlier turns)", *lines[number:]))


def _line(turn: Sequence[Message]) -> str:
    asked = _first_sentence(turn[0].content)
    answers = [message.content for message in turn[1:] if message.role == "assistant"]
    answered = _first_sentence(answers[-1]) if answers else ""
    return ARROW.join(part for part in (asked, answered) if part) or NOTHING_SAID


def _first_sentence(text: str) -> str:
    found = next((" ".join(each.split()) for each in sentences(text[: 10 * LINE_CHARACTERS]) if each.strip()), "")
    return found[:LINE_CHARACTERS]
