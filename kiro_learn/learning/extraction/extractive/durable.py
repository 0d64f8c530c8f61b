"""Sentences in which a person lays down how things are done from now on, or chooses between ways to go on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.learning.extraction.extractive import other_languages
from kiro_learn.learning.extraction.extractive.own_sentences import own_parts, own_sentences, tidy, unquoted
from kiro_learn.learning.extraction.extractive.sentence_classes import odds_of
from kiro_learn.learning.extraction.extractive.vocabulary import sentences, words
from kiro_learn.model.wording import letters
from kiro_learn.retrieval.query.prose import asks


def any_of(*patterns: str) -> str:
    """A group of ``patterns``, none of which is captured."""
    return f"(?:{'|'.join(patterns)})"


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
_THIS_HOUR = re.compile(
    r"\b(?:yet|today|tomorrow|tonight|yesterday|later|(?:for|at) the moment|just once|currently|i'll"
    r"|i will|this time|this one|last (?:commit|time|change)|for the (?:rest of the|next) \w+"
    r"|(?:in|for|during) this (?:session|chat|conversation|run|pr|mr|branch|ticket|task|sprint|demo|meeting)"
    r"|this (?:morning|afternoon|evening|week|sprint)"
    r"|when (?:it|that|he|she|they|i)(?:'s| is|'re| are|'m| am)"
    r"|(?:when|once|until|if|after|before) (?:you|we) ?(?:are|'re) done"
    r"|(?:by|until|till) (?:\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|noon\b|eod\b|then\b|i\b|we\b)"
    r"|heute|morgen|gerade|erstmal|diese woche|bis (?:\w+tag|\d|morgen)|f\u00fcr (?:jetzt|heute)"
    r"|hoy|ma\u00f1ana|hasta el"
    r"|aujourd'hui|demain|pour l'instant)\b|\u4eca\u65e5|\u4eca\u56de|\u3068\u308a\u3042\u3048\u305a|\u4eca\u5929",
    re.IGNORECASE,
)
"""That it holds for now."""
_NOW = re.compile(r"(?<!from )\bnow\b", re.IGNORECASE)
"""In a rule: for now. In a choice: from now on."""
_REPROACH = re.compile(
    r"\b(?:should|could|would|must|need)(?:n'?t| not)?(?: \w+)? have (?!to\b|an?\b|the\b|at\b|no\b|\w+s\b)\w+"
    r"|\bh\u00e4tte(?:n|st|t)?\b|\bdeber\u00edas haber\b|\baurais d\u00fb\b",
    re.IGNORECASE,
)
"""What should have been done: it is too late for a rule."""
_HEADING = re.compile(
    r"(?:please |here are |these are |remember |note |follow |some |a few |the |our |my |these )*"
    r"(?:(?:house|ground|coding|project|team|repo|general|basic|git|style) )?(?:rules|conventions|guidelines"
    r"|preferences)"
    r"(?: (?:for|in|of) (?:this|the|our|my) (?:repo|repository|project|codebase|team|code))?(?: here)?(?: to"
    r" follow)?:",
    re.IGNORECASE,
)
"""Of a list of rules."""

_SHORTEST, _LONGEST = 10, 240
"""Characters of a sentence that lays something down."""

_FEWEST_WORDS = 3
_CHOICE_SENTENCES = 2
"""A choice is made at the beginning; what follows is how to go about it."""


def laid_down_in(prompt: str) -> list[str]:
    """The sentences of ``prompt`` that lay down how things are done from now on, each once, in order."""
    return list(dict.fromkeys(sentence for sentence, is_rule in _judged(own_sentences(prompt)) if is_rule))


def only_lays_down(prompt: str) -> bool:
    """Whether ``prompt`` states rules and nothing else: mostly the first sentence tells that it does not."""
    said = own_sentences(prompt) if own_parts(prompt) == [prompt] else []
    return bool(said) and all(is_rule for _, is_rule in _judged(said))


def _judged(said: list[str]) -> Iterator[tuple[str, bool]]:
    """Each of ``said`` and whether it is a rule, as all are that follow the heading of a list of rules."""
    is_listed = False
    for sentence in said:
        is_heading = _HEADING.fullmatch(sentence) is not None
        is_listed = is_listed or is_heading
        yield sentence, not is_heading and _is_rule(sentence, is_listed=is_listed)


def _is_rule(sentence: str, *, is_listed: bool) -> bool:
    bare = unquoted(sentence)
    if not may_last(sentence) or _NOW.search(sentence):
        return False
    return is_listed or odds_of(bare).is_rule or other_languages.is_rule(bare)


def may_last(sentence: str) -> bool:
    """Whether ``sentence`` may be a rule or a choice: it is as long as one, asks nothing, and is not of this hour."""
    if not max(len(sentence), letters(sentence)) >= _SHORTEST or len(sentence) > _LONGEST:
        return False
    is_short = sentence.isascii() and len(words(sentence)) < _FEWEST_WORDS  # other scripts may have no blanks
    return not (is_short or asks(sentence) or _THIS_HOUR.search(sentence) or _REPROACH.search(sentence))


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
