"""Questions that the agent could not answer, and the person's own answer in the next prompt.

"I don't know, it's not in the repo" is no memory. "#ledger-ship" after it answers the question.
"""

from __future__ import annotations

import re

import attrs

from kiro_learn.learning.extraction.extractive.chatter import own_words
from kiro_learn.learning.extraction.extractive.durable import chosen_in, laid_down_in
from kiro_learn.learning.extraction.extractive.extract import Extract, asked_line, beginning
from kiro_learn.learning.extraction.extractive.markdown import Block, BlockKind
from kiro_learn.learning.extraction.extractive.own_text import own_sentences
from kiro_learn.learning.extraction.extractive.sentence_classes import signs_of
from kiro_learn.learning.extraction.extractive.titles import title_under
from kiro_learn.learning.extraction.extractive.turns import Turn, without_logs
from kiro_learn.learning.extraction.extractive.vocabulary import concepts_in, on_one_line, sentences
from kiro_learn.model.record import ObservationType, Origin
from kiro_learn.retrieval.query.prose import asks

_LEAD = r"\W*+(?:(?:hmm*|sorry|unfortunately|honestly|good question|no)\b[\s,.!:\u2013\u2014-]*+)*+"
_I = r"(?:i|we)(?:'m| am|'ve| have| was)?(?: really| honestly| actually| also)? "
_KNOWS_NOT = re.compile(
    rf"{_LEAD}{_I}(?:(?:don't|do not) (?:actually |really )?know|not (?:aware|certain|sure)|unsure|no idea"
    r"|(?:don't|do not) have (?:access|that|this|any information))\b",
    re.IGNORECASE,
)
_FINDS_NOT = re.compile(
    rf"{_LEAD}{_I}(?:(?:can't|cannot|can not|couldn't|could not|wasn't able to|unable to|not able to)"
    r" (?:determine|figure|find|locate|say|see|tell)|(?:didn't|did not) find|found (?:no|nothing))\b",
    re.IGNORECASE,
)
"""The beginning of an answer that found nothing. To "do we use Redis?" that is an answer."""

_SAYS_MORE = re.compile(r"\b(?:but|however|though|although|except|because|since)\b", re.IGNORECASE)
_MOST_SENTENCES = 4
"""The most sentences of an answer without knowledge. A longer one says what was found instead."""

_WHICH = re.compile(
    r"\W*(?:(?:and|but|so|ok|hey|btw|wait|remind me|(?:do )?(?:you|u) know|any idea|tell me)\b[\s,:]*)*"
    r"(?:(?:what|where|which|who|when|how)(?:'?s|'?re)?|whose)\b",
    re.IGNORECASE,
)
"""A question that wants a name, a place or a number."""
_TAGGED = re.compile(
    r"\b(?:do|does|did|is|are|has|have|can)(?:n'?t)? (?:we|it|i|they|there|u|you)\W*$|\bright\W*$", re.IGNORECASE
)
"""The end of a question that supposes its answer."""

_TOLD_CHARACTERS, _TOLD_WORDS = 200, 12
"""The most characters and words of a prompt that answers such a question."""
_NO_ANSWER = re.compile(
    r"\W*(?:(?:ok|okay|hm+|ah|oh|well|no|np|thanks?|thx|then|so|and|yes|yeah)\b[\s,.:!]*)*(?:$|(?:add|any|ask|can|change"
    r"|check|could|create|do|dunno|find|fix|forget|go|google|grep|guess|i (?:don'?t|do not|forgot)|i'?ll|idk|ignore"
    r"|just|leave|let'?s|look|make|maybe|me neither|neither|never ?mind|no idea|not sure|nvm|please|pls|read|run|search"
    r"|see|show|skip|try|use|whatever|write|you)\b)",
    re.IGNORECASE,
)
"""The beginning of a prompt that orders something, or that knows no answer either."""


def is_unknown(turn: Turn) -> bool:
    """Whether the answer says only that the agent does not know what the person asked."""
    said = sentences(turn.answer.text.replace("\u2019", "'")) if turn.answer else []
    if not 0 < len(said) <= _MOST_SENTENCES or _SAYS_MORE.search(said[0]):
        return False
    asked = _last_prompt(turn)
    if _FINDS_NOT.match(said[0]):
        return _WHICH.match(asked) is not None
    return _is_question(asked) and _KNOWS_NOT.match(said[0]) is not None


def told_after(turn: Turn) -> str:
    """The prompt of ``turn``, if it answers the question before it that the agent could not answer; else empty."""
    before = turn.previous
    if before is None or before.answer is None or len(turn.prompts) != 1 or turn.prompts[0].is_context:
        return ""
    asked, told = _last_prompt(before), turn.prompts[0].text.strip()
    if not _is_question(asked) or not own_words(asked):
        return ""
    found = before.answer.text.replace("\u2019", "'")
    if not (_KNOWS_NOT.match(found) or _FINDS_NOT.match(found)) or _says_nothing(told):
        return ""
    return told


def extract_of_told(turn: Turn, before: Turn, told: str) -> Extract:
    """The memory of a question that the agent could not answer, and of what the person ``told`` after it.

    What the agent says to that is no part of it: the words are the person's.
    """
    told = on_one_line(told)
    shown, _ = beginning([Block(BlockKind.TEXT, told)])
    return Extract(
        title=title_under(before.question, told),
        summary="\n".join((asked_line(attrs.evolve(before, previous=None)), shown)),
        observation_type=ObservationType.DISCOVERY,
        events=tuple(said.number for said in (*before.prompts, *turn.prompts)),
        concepts=concepts_in(before.question, shown),
        origin=Origin.USER,
    )


def _is_question(prompt: str) -> bool:
    return asks(prompt) or _WHICH.match(prompt) is not None or _TAGGED.search(prompt) is not None


def _says_nothing(told: str) -> bool:
    if len(told) > _TOLD_CHARACTERS or asks(told) or _WHICH.match(told) or _NO_ANSWER.match(told):
        return True
    if len(told.split()) > _TOLD_WORDS or {"task", "report"} & signs_of(told) or chosen_in(told):
        return True
    if set(own_sentences(told)) <= set(laid_down_in(told)):
        return True
    return not own_words(told) and not any(map(str.isdigit, told))


def _last_prompt(turn: Turn) -> str:
    return without_logs(turn.prompts[-1].text) if turn.prompts else ""
