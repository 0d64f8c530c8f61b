"""What a prompt says about the answer before it: which option a person picks, and which advice they follow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from kiro_learn.learning.extraction.extractive.chatter import own_words
from kiro_learn.learning.extraction.extractive.markdown import plain
from kiro_learn.learning.extraction.extractive.own_text import own_sentences
from kiro_learn.learning.extraction.extractive.turns import Turn
from kiro_learn.learning.extraction.extractive.vocabulary import cut_at_word, on_one_line, sentences
from kiro_learn.learning.extraction.user_answers import UserAnswer
from kiro_learn.model.wording import word_set
from kiro_learn.retrieval.query.prose import asks

# Options that a person picks by their number or letter: "option 2, we have the endpoint already".

_ORDINAL = r"(?:first|second|third|last)"
_PICKED = rf"\b(?:[1-9]|[a-e]\b|the {_ORDINAL}\b|{_ORDINAL} (?:one|option|approach|way)\b)"
_PICK = re.compile(
    r"\W*(?!for\b)(?:(?:ok(?:ay)?|yes|yeah|yep|sure|hm+|great|cool|good|please|pls|then|so|let'?s|i(?:'d| would|'ll)"
    r"|we(?:'ll)?|do|go|use|take|try|pick|choose|prefer|implement|with|for|the|options?|approach|variant|choice|number"
    r"|nr|solution|plan)"
    r"\W+)*"
    rf"(?P<picked>{_PICKED}(?:\s*(?:,|and|&|\+)\s*{_PICKED})*)(?: (?:one|option|approach|is fine|please|pls|then))*"
    r"(?P<rest>\s*(?:$|[.,;:!)]\s.*|[.,;:!)]$|(?:and|but|since|because|as)\b.*))",
    re.IGNORECASE | re.DOTALL,
)
"""A prompt that picks one option or several, and the rest of it."""
_MARK = re.compile(
    r"(?:^|(?<=[\s(]))(?:#{1,6}\s+)?(?:\*\*)?(?:(?:option|variant|approach|choice|plan|alternative)\s+)?"
    r"\(?(?P<mark>[1-9]|[A-Ea-e])[.):]\**\s+(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
"""The number or letter before an option in an answer."""
_OFFERS = re.compile(
    r"\b(?:options?|approach(?:es)?|alternatives?|either|(?:two|three|several|other) ways|variants?|choose|choices?"
    r"|prefer|recommend\w*|which (?:one|would|do|of)|trade-?offs?|pros|cons)\b",
    re.IGNORECASE,
)
"""Words of an answer that offers ways to go on."""
_ASKS_WHICH = re.compile(
    r"\W*(?:(?:and|but|so|ok|hm+|hey)\b\W*)*(?:where|which|how (?:long|many|much|often|should)|what should|should)\b",
    re.IGNORECASE,
)
"""The beginning of a prompt that asks for a choice."""
_OFFERING = re.compile(
    r"\W*(?:would you like|shall i|should i|do you want|want me|can i|may i|does (?:this|that) (?:sound|look|make))\b",
    re.IGNORECASE,
)
"""The beginning of a question that offers to go on, and asks for nothing."""
_LISTS_WORK = re.compile(
    r"\b(?:(?:next )?steps?|findings|issues|problems|to-?dos?|tasks|remaining|left to do|causes?|reasons?|fail\w*"
    r"|errors?)\b",
    re.IGNORECASE,
)
"""Words before a list of work or causes: who names one item of it does not turn down the others."""
_INTRODUCING_CHARACTERS = 80
_PICKS_NOT = re.compile(
    r"n'?t\b|\b(?:no|not|never|cannot|maybe|perhaps|unsure|idea|done|fail\w*|same|works?|worked|check|explain|show|tell"
    r"|later|talk|hi|hello|nicht|kein\w*|geht|nein)\b"
    r"|\A\W*(?:(?:and|but|so)\b\W*)?(?:what|how|why|which|when|where|who|was|wie|warum)\b|(?<!\w)[1-9a-e][.):]\s",
    re.IGNORECASE,
)
"""Words behind an option by which it is refused, doubted, asked about or reported on; or an own list."""
_PLACES = {"first": 0, "second": 1, "third": 2, "last": -1}
_LONGEST_REPLY, _LONGEST_ANSWER = 300, 20_000
_QUESTION_CHARACTERS, _OPTION_CHARACTERS, _OTHER_CHARACTERS = 70, 160, 60
_FEWEST_OPTIONS, _FEWEST_WORDS, _FEWEST_CHARACTERS = 2, 2, 12


def picked_in(turn: Turn) -> str:
    """The option of the answer before that the prompt of ``turn`` picks, with its question; else the empty text.

    In the form of an answer to a tool that asks: "where should retries live → a table (it is durable); not: Redis".
    """
    before = turn.previous
    if before is None or before.answer is None or len(turn.question) > _LONGEST_REPLY:
        return ""
    found = _PICK.fullmatch(turn.question.strip())
    answer = before.answer.text[:_LONGEST_ANSWER]
    if found is None or not (_OFFERS.search(answer) or _ASKS_WHICH.match(before.question)):
        return ""
    added = own_sentences(on_one_line(found["rest"]).strip(" .,;:!)"))
    if added and _PICKS_NOT.search(added[0]):
        return ""
    options = _options_in(answer)
    places = [_place_of(name) for name in re.findall(_PICKED, found["picked"], re.IGNORECASE)]
    if not options or any(place >= len(options) for place in places):
        return ""
    picked = list(dict.fromkeys(options[place] for place in places))
    if len(picked) == len(options):
        return ""
    others = (cut_at_word(option, _OTHER_CHARACTERS) for option in options if option not in picked)
    reasons = (each for each in added if not asks(each) and each.strip(" .").casefold() not in picked[0].casefold())
    reason = " ".join(reasons).rstrip(".")
    told = UserAnswer(_question_of(before.question, answer), "; ".join(picked), reason, "; ".join(others))
    return told.statement if told.question else told.statement.removeprefix(" \u2192 ")


def _question_of(prompt: str, answer: str) -> str:
    """The last short question of the prompt before the options, or of the answer that lists them; or a short prompt."""
    said = [on_one_line(plain(each)) for each in (*reversed(own_sentences(prompt)), *reversed(sentences(answer)))]
    whole = on_one_line(prompt)
    questions = (each for each in said if asks(each) and not _OFFERING.match(each))
    candidates = (*questions, *([whole] if len(own_words(whole)) >= _FEWEST_WORDS else ()))
    return next((each for each in candidates if len(each) <= _QUESTION_CHARACTERS and own_words(each)), "")


def _place_of(name: str) -> int:
    name = name.lower()
    if ordinal := re.search(_ORDINAL, name):
        return _PLACES[ordinal[0]]
    return int(name) - 1 if name.isdigit() else ord(name) - ord("a")


def _options_in(answer: str) -> Sequence[str]:
    """The options of the last list in ``answer`` whose marks count up from 1 or from a; none if it lists work."""
    runs: list[list[re.Match[str]]] = []
    for found in _MARK.finditer(answer):
        place = _place_of(found["mark"])
        if place == 0:
            runs.append([found])
        elif runs and place == len(runs[-1]) and found["mark"].isdigit() == runs[-1][0]["mark"].isdigit():
            runs[-1].append(found)
    run = next((each for each in reversed(runs) if len(each) >= _FEWEST_OPTIONS), None)
    if run is None or _LISTS_WORK.search(answer, max(0, run[0].start() - _INTRODUCING_CHARACTERS), run[0].start()):
        return ()
    ends = [*(found.start() for found in run[1:]), len(answer)]
    return [_option(answer[found.end() : end]) for found, end in zip(run, ends, strict=True)]


def _option(text: str) -> str:
    """The first sentence of an option; its name alone says too little."""
    name = text.partition("\n\n")[0].partition("```")[0]
    said = sentences(plain(name.replace("**", "").rstrip(" (#")))
    shown = said[0] if said else ""
    if len(shown) < _FEWEST_CHARACTERS and len(said) > 1:
        shown = f"{shown} {said[1]}"
    return cut_at_word(shown.strip(" .;"), _OPTION_CHARACTERS)


# Decisions of a person who follows the advice of the answer before: "ok, alembic stays".
#
# The prompt alone says too little. With the question that was asked and the reason of the answer it is a decision.

_LONGEST_AGREEMENT, _LONGEST_ADVICE, _ADVICE_REASON_CHARACTERS = 120, 4_000, 300
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
_RATHER_THAN = re.compile(r"\b(?:over|instead of|rather than|and not|not|than|versus|vs)\b", re.IGNORECASE)
"""What stands between the advised way and the other one."""
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
    r"\b(?:no|nope|or|not|don't|doesn't|isn't|but|instead|rather|except|only|first|later|without)\b|\?", re.IGNORECASE
)
_BEHIND = word_set("please pls thanks then")
_FOLLOWING = word_set("""
    agree agreed approach choose convinced decided do go going idea implement keep kept make option pick please put
    recommended stay staying stays stick suggested take taking then use using version way
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
    advice, reason = _advice_in(before.answer.text[:_LONGEST_ADVICE])
    lead = _AGREES.match(said)
    rest = said[lead.end() :] if lead else said
    if not (question and reason and (lead or _STAYS.search(rest)) and _follows(rest, advice, before.question)):
        return ""
    asked = cut_at_word(on_one_line(question.partition("?")[0]), _QUESTION_CHARACTERS)
    meaning = cut_at_word(reason.rstrip(" ."), _ADVICE_REASON_CHARACTERS)
    return UserAnswer(asked, _without_end(rest), meaning).statement


def _advice_in(answer: str) -> tuple[str, str]:
    """The first advice of ``answer``, and its reason: the rest of its sentence, or else what stands below it."""
    said = [plain(each) for each in sentences(answer.replace("\u2019", "'"))]
    for place, sentence in enumerate(said):
        if found := _ADVISES.search(sentence):
            cut = _REASON.search(sentence, found.end())
            advice, reason = (sentence[: cut.start()], sentence[cut.end() :]) if cut else (sentence, "")
            advice = _RATHER_THAN.split(advice)[0]
            is_told = reason and not reason.endswith(":")
            return advice, reason if is_told else _told_below(said[place + 1 :])
    return "", ""


def _told_below(said: Sequence[str]) -> str:
    """The items of a list at the beginning of ``said``, or else its first sentence."""
    items = [each[found.end() :].rstrip(".") for each in takewhile(_ITEM.match, said) if (found := _ITEM.match(each))]
    first = next((each for each in said if not asks(each)), "")
    return "; ".join(items) or ("" if first.endswith(":") or first[:3].lower() == "if " else first)


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
