"""Whether an answer says something that is worth a memory: it lasts, or it briefly tells what was asked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kiro_learn.learning.extraction.extractive.chatter import is_of_the_moment, own_words
from kiro_learn.learning.extraction.extractive.corrections import corrected_request, corrects_value
from kiro_learn.learning.extraction.extractive.durability import TurnAim, gives_reasons, lasts, tells_cause, wanted_by
from kiro_learn.learning.extraction.extractive.durable import choice_in
from kiro_learn.learning.extraction.extractive.facts import files_in
from kiro_learn.learning.extraction.extractive.inquiries import sought_in, tells_fact
from kiro_learn.learning.extraction.extractive.markdown import Block
from kiro_learn.learning.extraction.extractive.turns import Turn
from kiro_learn.model.wording import letters
from kiro_learn.retrieval.query.prose import asks

_LEAST_CHARACTERS = 40
"""The fewest letters of an answer without its chatter. A shorter one is mostly kept only for rules in its prompt."""

_TELLING = re.compile(r"\d|`|\w[._:/\\@#-]\w|[a-z][A-Z]|[A-Z]{2}|(?<=[a-z,;] )[A-Z][a-z]")
_DENYING = re.compile(r"(?:no|not|never|none|nein|non|nee|нет)\b", re.IGNORECASE)

_QUESTION_WORD = re.compile(r"\s*(?:how|what|when|where|which|who|why)\b", re.IGNORECASE)


def says_something(turn: Turn, blocks: Sequence[Block], is_decided: bool) -> bool:
    """Whether the answer is worth a memory; ``blocks`` are its blocks without chatter.

    Args:
      is_decided: a person laid something down in the turn, or answered a tool that asked.
    """
    length = sum(letters(block.text) for block in blocks)
    has_changed = bool(files_in(turn.tools, "").modified)
    if _seeks_fact(turn) and tells_fact(blocks):
        return True
    if is_of_the_moment(block.text for block in blocks) and not has_changed:
        return False
    if length >= _LEAST_CHARACTERS:
        return lasts(turn, blocks, has_changed=has_changed, is_decided=is_decided)
    names_something = has_changed and any(_TELLING.search(block.text) for block in blocks)
    is_corrected = corrects_value(turn) if has_changed else bool(corrected_request(turn))
    if length > 0 and (choice_in(turn.question) or is_corrected or (names_something and gives_reasons(turn))):
        return True
    return bool(blocks) and wanted_by(turn) is not TurnAim.STATE and _tells_what_was_asked(turn, blocks)


def _tells_what_was_asked(turn: Turn, blocks: Sequence[Block]) -> bool:
    """Whether the answer to a named question has a number, a name or code, or is a "no" with a reason."""
    if tells_cause(turn, blocks):
        return True
    if not asks_something(turn):
        return False
    answer = " ".join(block.text for block in blocks)
    return _TELLING.search(answer) is not None or (_DENYING.match(answer) is not None and bool(own_words(answer)))


def asks_something(turn: Turn) -> bool:
    """Whether the last prompt asks something and names what."""
    question = turn.prompts[-1].text if turn.prompts else ""
    is_question = asks(question) or _QUESTION_WORD.match(question) is not None or _seeks_fact(turn)
    return is_question and bool(own_words(question))


def _seeks_fact(turn: Turn) -> bool:
    is_fact_wanted = bool(turn.prompts) and bool(sought_in(turn.prompts[-1].text))
    return is_fact_wanted and wanted_by(turn) in {TurnAim.ANSWER, TurnAim.WORK}
