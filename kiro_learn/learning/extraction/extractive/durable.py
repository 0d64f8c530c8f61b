"""Sentences in which a person lays down how things are done from now on, or chooses between ways to go on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.learning.acts.cues import cues_in
from kiro_learn.learning.extraction.extractive import other_languages, rule_forms, rule_signs
from kiro_learn.learning.extraction.extractive.own_sentences import own_parts, own_sentences, tidy, unquoted
from kiro_learn.learning.extraction.extractive.rule_words import any_of, is_of_the_moment
from kiro_learn.learning.extraction.extractive.vocabulary import sentences, words
from kiro_learn.model.wording import letters
from kiro_learn.retrieval.query.prose import asks

_CHOICE_LEAD = any_of(
    "yes", "yeah", "yep", "ok", "okay", "no", "hmm", "i think", "actually", "good", "great", "then", "and", "so"
)
_CHOICE = re.compile(
    rf"(?:(?:{_CHOICE_LEAD}|thinking again)[,:. ]+)*"
    + any_of(
        r"let(?:'s| us) (?:completely |just )?"
        r"(?:do|go|use|keep|make|not|drop|remove|replace|move to|switch|stick|implement|call|prefix|put|change|have"
        r"|leave)\b",
        r"(?:go|going) (?:with|for) (?!it\b)",
        r"(?:do |use |implement )?(?:option|approach|variant|choice|plan|number|solution) [#\w]{1,3}\b",
        r"(?:do |both |all )?\d(?:(?: ?[,+&]| and| or) \d)*"
        r"(?= *+(?:[,.!]? *+$|(?:(?<= )|, )(?:and|but|please|then|i)\b))",
        r"i (?:like (?!to\b)|prefer|would (?:prefer|rather|go|even)|choose)\b",
        r"i'd (?:rather|prefer|go)\b",
        r"we (?:removed|decided|chose|dropped|agreed|replaced|rejected|ruled out|settled on|switched to|went with"
        r"|should (?:not|only|keep|use|just))\b",
        r"we(?:'re| are)? (?:us(?:e|ing)|keep(?:ing)?|stay(?:ing)?|stick(?:ing)?) (?=[^?]{2,}\b(?:because|since)\b)",
        r"(?:do|please|just) (?:not(?! (?:run|write|do|start|implement)\b)|nothing|keep|use)\b",
        r"don't (?!(?:run|write|do|start|implement|forget|worry|you)\b)\w+",
        r"(?:keep|use) (?!(?:in mind|going|at it|on|it up)\b)\w+",
        r"(?:\w+ ){1,4}(?:is|are) too? much\b",
        r"we tried \S[^?]{0,80}?(?:[,;:]| but\b)",
        r"(?:it|this|that) should(?:n't| not| only| be)\b",
    ),
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"(?:(?:and|but|so|ok|hmm|yes|no),? )*"
    + any_of(
        *(
            "why",
            "what",
            "when",
            "where",
            "who",
            "which",
            "how",
            "is",
            "are",
            "was",
            "were",
            "does",
            "did",
            "do (?:we|you)",
        ),
        *("can", "could", "would", "will", "should", "have", "has"),
    )
    + r"\b",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"(?:(?:no|nope|wrong|hey|please|again|ok|and|but|claude|i said)[,.!: ]+)*"
    + any_of(
        r"stop \w+ing\b",
        r"(?:do not|don'?t) (?:you )?(?:ever )?"
        r"(?!worry|forget|know|think|care|mind|need|want|understand|see|like)[a-z]+",
        r"(?:i|we) (?:already |just |have |'ve )*(?:told|asked|said)\b(?! (?:me|us)\b)",
        r"you (?:should not|shouldn'?t|must not|mustn'?t|keep \w+ing|forgot(?: again)? to)\b",
        r"(?:not|never) (?:with |by )?`?[a-z]\w*`?[,:;]? (?:but |always )?(?:use|run)\b",
    ),
    re.IGNORECASE,
)
"""How a sentence begins that corrects the agent."""


_SAID_BEFORE = re.compile(
    r"\bagain\b|\btold you\b|\basked you\b|\bi said\b|\byou keep\b|\bhow many times\b", re.IGNORECASE
)
_BARE_ORDER = re.compile(
    r"(?:please )?(?:do not|don'?t) (?:run|start|commit|push|merge|deploy|install|release|publish)"
    r"(?: (?:the|any|your) [\w-]+| anything| code)?[.! ]*$",
    re.IGNORECASE,
)
"""Says what not to do just now."""

_SHORTEST, _LONGEST = 10, 240
"""Characters of a sentence that lays something down."""

_FEWEST_WORDS = 3
_CHOICE_SENTENCES = 2
"""A choice is made at the beginning; what follows is how to go about it."""


def laid_down_in(prompt: str) -> list[str]:
    """The sentences of ``prompt`` that lay down something lasting, each once, in order: rules, and corrections that
    name an act.

    A correction that speaks of the moment ("don't commit this yet") is none, unless it says that it was said before.
    """
    said = own_sentences(prompt)
    found = {*_rules(said), *filter(_is_correction, said)}
    return [sentence for sentence in dict.fromkeys(said) if sentence in found]


def only_lays_down(prompt: str) -> bool:
    """Whether ``prompt`` states rules and nothing else: mostly the first sentence tells that it does not."""
    said = own_sentences(prompt) if own_parts(prompt) == [prompt] else []
    return bool(said) and all(is_rule for _, is_rule in _judged(said))


def _rules(said: list[str]) -> Iterator[str]:
    """Those of ``said`` that are rules."""
    return (sentence for sentence, is_rule in _judged(said) if is_rule)


def _judged(said: list[str]) -> Iterator[tuple[str, bool]]:
    """Each of ``said`` and whether it is a rule, as all are that follow the heading of a list of rules."""
    is_listed = False
    for place, sentence in enumerate(said):
        is_heading = rule_forms.announces_rules(sentence)
        is_listed = is_listed or is_heading
        yield sentence, not is_heading and _is_rule(place, said, is_listed=is_listed)


def _is_rule(place: int, said: list[str], *, is_listed: bool) -> bool:
    """Whether the sentence at ``place`` is a rule."""
    sentence = said[place]
    if not max(len(sentence), letters(sentence)) >= _SHORTEST or len(sentence) > _LONGEST:
        return False
    is_short = sentence.isascii() and len(words(sentence)) < _FEWEST_WORDS  # other scripts may have no blanks
    if is_short or asks(sentence):
        return False
    if _QUESTION.match(sentence) and not rule_forms.names_an_occasion(sentence):
        return False
    bare = unquoted(sentence)
    if is_listed or rule_forms.lays_down(bare) or other_languages.is_rule(bare):
        return True
    # The other sentences are looked at last, where they matter: every prompt is read so before it is answered.
    if not rule_signs.lay_down(sentence):
        return False
    is_sure = rule_signs.lay_down(sentence, is_beside_work=True)
    return is_sure or not any(rule_signs.asks_for_work(other) for at, other in enumerate(said) if at != place)


def _is_correction(sentence: str) -> bool:
    if not _SHORTEST <= len(sentence) <= _LONGEST or sentence.endswith("?") or not _CORRECTION.match(sentence):
        return False
    if (is_of_the_moment(sentence) or _BARE_ORDER.match(sentence)) and not _SAID_BEFORE.search(sentence):
        return False
    return bool(cues_in(unquoted(sentence)))


def choice_in(prompt: str) -> str:
    """The sentence of ``prompt`` that decides between ways to go on, or the empty text."""
    if own_parts(prompt) != [prompt]:
        return ""
    first = (sentence for sentence in map(tidy, sentences(prompt)[:_CHOICE_SENTENCES]) if len(sentence) <= _LONGEST)
    return next((sentence for sentence in first if _is_choice(sentence)), "")


def _is_choice(sentence: str) -> bool:
    return (_CHOICE.match(sentence) is not None and not _QUESTION.match(sentence)) or other_languages.is_choice(
        sentence
    )
