"""Decisions of a person who follows the advice of the answer before: "ok, alembic stays".

The prompt alone says too little. With the question that was asked and the reason of the answer it is a decision.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from kiro_learn.learning.extraction.extractive.chatter import own_words
from kiro_learn.learning.extraction.extractive.markdown import plain
from kiro_learn.learning.extraction.extractive.turns import Turn
from kiro_learn.learning.extraction.extractive.vocabulary import cut_at_word, on_one_line, sentences
from kiro_learn.learning.extraction.user_answers import UserAnswer
from kiro_learn.model.wording import word_set
from kiro_learn.retrieval.query.prose import asks

_LONGEST_AGREEMENT, _LONGEST_ANSWER, _QUESTION_CHARACTERS, _REASON_CHARACTERS = 120, 4_000, 80, 300
_ADVISES = re.compile(
    r"\b(?:(?:i'd|i would|we should|you should|i'll|let's) (?:\w+ly |still |rather |also )?"
    r"(?:choose|go|keep|leave|move|pick|prefer|put|recommend|stay|stick|store|suggest|switch|take|use)"
    r"|i (?:\w+ly )?(?:recommend|suggest|advise|propose|prefer)|my (?:recommendation|advice|suggestion|choice))\b",
    re.IGNORECASE,
)
"""Words by which an answer advises something."""
_REASON = re.compile(
    r"[:;]\s?|\s[\u2013\u2014-]\s|,?\s(?:because|since|as (?=it|they|the|we|you|our|your)|so that)\b\s?", re.IGNORECASE
)
"""What stands between the advice and its reason."""
_ASKS_ADVICE = re.compile(
    r"\b(?:should|shall|which|what|or|better|rather|instead|versus|vs|do you think|recommend|worth)\b", re.IGNORECASE
)
_AGREES = re.compile(
    r"\W*(?:(?:yes|yeah|yep|ok(?:ay)?|alright|agreed|great|good|perfect|sure|sounds good|makes sense|fine|true|then|so"
    r"|please|well|hm+|you(?:'re| are) right|you(?: have|'ve)? convinced me|i(?:'m| am) convinced|i agree|and|now)\b"
    r"[\s,.!:]*)++",
    re.IGNORECASE,
)
"""The beginning of a prompt that agrees."""
_ITEM = re.compile(r"(?:[-*\u2022]|\d{1,2}[.)])\s")
_STAYS = re.compile(r"\b(?:stays?|stick|keep)\b", re.IGNORECASE)
_DOES_NOT = re.compile(
    r"\b(?:no|nope|not|don't|doesn't|isn't|but|instead|rather|except|only|first|later|without)\b|\?", re.IGNORECASE
)
_BEHIND = word_set("please pls thanks then")
_FOLLOWING = word_set("""
    agree agreed approach choose convinced decided do go going idea implement keep kept make option pick please put
    recommended stay staying stays stick suggested take taking then use using version way write
""")
"""Words that follow an advice and name nothing of their own."""


def agreed_in(turn: Turn) -> str:
    """The decision that the prompt of ``turn`` makes by following the answer before, with the question and the
    reason; or the empty text.
    """
    before, said = turn.previous, on_one_line(turn.question.replace("\u2019", "'"))
    if before is None or before.answer is None or not 0 < len(said) <= _LONGEST_AGREEMENT or _DOES_NOT.search(said):
        return ""
    question = next((each for each in reversed(sentences(before.question)) if _ASKS_ADVICE.search(each)), "")
    advice, reason = _advice_in(before.answer.text[:_LONGEST_ANSWER])
    lead = _AGREES.match(said)
    rest = said[lead.end() :] if lead else said
    if not (question and reason and (lead or _STAYS.search(rest)) and _follows(rest, advice, before.question)):
        return ""
    asked = cut_at_word(on_one_line(question.partition("?")[0]), _QUESTION_CHARACTERS)
    meaning = cut_at_word(reason.rstrip(" ."), _REASON_CHARACTERS)
    return UserAnswer(asked, _without_end(rest), meaning).statement


def _advice_in(answer: str) -> tuple[str, str]:
    """The first advice of ``answer``, and its reason: the rest of its sentence, or else what stands below it."""
    said = [plain(each) for each in sentences(answer.replace("\u2019", "'"))]
    for place, sentence in enumerate(said):
        if found := _ADVISES.search(sentence):
            cut = _REASON.search(sentence, found.end())
            advice, reason = (sentence[: cut.start()], sentence[cut.end() :]) if cut else (sentence, "")
            is_told = reason and not reason.endswith(":")
            return advice, reason if is_told else _told_below(said[place + 1 :])
    return "", ""


def _told_below(said: Sequence[str]) -> str:
    """The items of a list at the beginning of ``said``, or else its first sentence."""
    items = [each[found.end() :].rstrip(".") for each in takewhile(_ITEM.match, said) if (found := _ITEM.match(each))]
    first = next((each for each in said if not asks(each)), "")
    return "; ".join(items) or first


def _without_end(said: str) -> str:
    """``said`` without politeness behind it."""
    spoken = said.split()
    while spoken and spoken[-1].strip(".,!").lower() in _BEHIND:
        spoken.pop()
    return " ".join(spoken).rstrip(" .,!")


def _follows(said: str, advice: str, question: str) -> bool:
    """Whether ``said`` names something of ``advice``, and nothing that neither it nor ``question`` names."""
    named = {_stem(word) for word in own_words(said) if word not in _FOLLOWING}
    advised = {_stem(word) for word in own_words(advice)}
    asked = {_stem(word) for word in own_words(question)}
    return bool(named & advised) and named <= advised | asked


def _stem(word: str) -> str:
    return word.removesuffix("s")
