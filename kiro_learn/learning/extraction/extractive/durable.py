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
    """Whether ``prompt`` states rules and nothing else."""
    said = own_sentences(prompt) if own_parts(prompt) == [prompt] else []
    rules = set(_rules(said))
    return bool(said) and rules.issuperset(said)


def _rules(said: list[str]) -> Iterator[str]:
    """Those of ``said`` that are rules; all that follow the heading of a list of rules are."""
    is_listed = False
    work_count = sum(map(rule_signs.asks_for_work, said))
    for sentence in said:
        is_beside_work = work_count > rule_signs.asks_for_work(sentence)
        if rule_forms.announces_rules(sentence):
            is_listed = True
        elif _is_rule(sentence, is_listed=is_listed, is_beside_work=is_beside_work):
            yield sentence


def _is_rule(sentence: str, *, is_listed: bool, is_beside_work: bool) -> bool:
    if not max(len(sentence), letters(sentence)) >= _SHORTEST or len(sentence) > _LONGEST:
        return False
    is_short = sentence.isascii() and len(words(sentence)) < _FEWEST_WORDS  # other scripts may have no blanks
    if is_short or asks(sentence):
        return False
    if _QUESTION.match(sentence) and not rule_forms.names_an_occasion(sentence):
        return False
    said = unquoted(sentence)
    if is_listed or rule_forms.lays_down(said) or other_languages.is_rule(said):
        return True
    return rule_signs.lay_down(sentence, is_beside_work=is_beside_work)


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
