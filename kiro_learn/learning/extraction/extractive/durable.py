"""Sentences in which a person lays down how things are done from now on, or chooses between ways to go on."""

from __future__ import annotations

import re

from kiro_learn.learning.acts.cues import cues_in
from kiro_learn.learning.extraction.extractive import other_languages
from kiro_learn.learning.extraction.extractive.vocabulary import sentences, words
from kiro_learn.model.wording import letters
from kiro_learn.retrieval.query.prose import asks


def _any_of(*patterns: str) -> str:
    return f"(?:{'|'.join(patterns)})"


_LEAD_WORDS = _any_of("please", "and", "but", "also", "ok", "okay", "no", "remember", "note", "btw", "hey", "here")
_LEAD_PHRASES = _any_of("in this (?:repo|project|codebase)", "for this project")
_LEAD = rf"(?:(?:{_LEAD_WORDS}|{_LEAD_PHRASES})[,:]? (?:that )?)*"

_RULE = re.compile(
    _LEAD
    + _any_of(
        r"(?:always|never) (?!mind|heard|seen|a\b|the\b|been)[a-z]+",
        r"(?:you|we|i want you to|agents|everyone|tests|commits) (?:should |must )?(?:always|never) [a-z]+",
        r"(?:do not|don'?t) ever [a-z]+",
        r"(?:from now on|going forward|as a rule|by convention|in (?:the )?future)\b",
        r"(?:our|the team|my|the project's) (?:convention|rule|policy|standard|preference) is\b",
        r"(?:i|we)(?: (?:always|generally|usually))? prefer (?!option|number|the (?:first|second|last)|\d|#)[a-z]+",
        r"we (?:do not|don'?t|never|only) (?:use|allow|want|commit|push|support|ship|write|add|mock|deploy|merge)\b",
        r"we (?:always )?use \S+(?: \S+){0,5}?,? (?:not|never|instead of|rather than)\b",
        r"(?:use|run|write|put|prefer) \S+(?: \S+){0,5}?,? never\b",
        r"remember (?:to|that)\b",
        r"(?:do not|don'?t) forget to [a-z]+",
        r"(?:write|add|make|create|give)(?: me)? (?:an?|the) (?:\w+ ){0,2}rule (?:that|to|which) [a-z]+",
        r"(?:make|be) sure (?:that )?(?:to |you )(?:always|never)\b",
        r"it(?:'s| is) (?:important|required|mandatory) (?:that|to)\b",
    ),
    re.IGNORECASE,
)
"""How a sentence begins that states a rule."""

_INNER_RULE = re.compile(
    r"(?:[,;:] |\b(?:and|so|but|we|you|must|should) )(?:always|never) "
    r"(?:use|commit|push|run|write|add|put|call|import|edit|touch|change|delete|do|mock|merge|log|store|skip|force|deploy"
    r"|assume|cache|disable|expose|format|hard-?code|install|open|print|rebase|release|rely|remove|rename|send|squash|test|trust)\b"
    r"|[,;:] we (?:do not|don'?t|never|only|always) "
    r"(?:use|allow|commit|push|support|ship|write|add|mock|deploy|merge)\b"
    r"|\bfrom now on\b|\bi (?:\w+ )?never want\b|\b(?:should|must) (?:not|never) be \w+ ever\b",
    re.IGNORECASE,
)
"""A rule in the middle of a sentence: fewer verbs, since "it always fails" is none."""

_SHOUTED_RULE = re.compile(r"(?:^|[a-z] )(?:NEVER|ALWAYS) [a-z]+")
"""In capitals among small letters: who writes so means it for good."""

_CHOICE_LEAD = _any_of(
    "yes", "yeah", "yep", "ok", "okay", "no", "hmm", "i think", "actually", "good", "great", "then", "and", "so"
)
_CHOICE = re.compile(
    rf"(?:(?:{_CHOICE_LEAD}|thinking again)[,:. ]+)*"
    + _any_of(
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
        r"don't (?!(?:run|write|do|start|implement|forget|worry)\b)\w+",
        r"(?:keep|use) (?!(?:in mind|going|at it|on|it up)\b)\w+",
        r"(?:\w+ ){1,4}(?:is|are) too? much\b",
        r"we tried \S[^?]{0,80}?(?:[,;:]| but\b)",
        r"(?:it|this|that) should(?:n't| not| only| be)\b",
    ),
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"(?:(?:and|but|so|ok|hmm|yes|no),? )*"
    + _any_of(
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
    + _any_of(
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

_WHY = re.compile(
    r"\b(?:because|since (?!\d|yesterday|last|then|the (?:last|update))|due to|so that|otherwise|the reason|too \w+"
    r"|turned out|instead of|rather than|weil|statt|parce que|au lieu de|porque|en vez de|em vez de)\b"
    r"|から|ので|ため|理由|ではなく|因为"
    r"|, so (?:we|it|that|the)\b",
    re.IGNORECASE,
)
"""Why something was chosen, or over what."""
_WHY_BEHIND = re.compile(r"^.{12,}\w(?:: [^\W_]|, (?:it|our|the|they|we) \w)[^:@]{8,}")
"""A colon, or a comma, and a clause behind it."""
_DONT = re.compile(r"(?:please )?(?:do not|don't)\b", re.IGNORECASE)

_FULL_STOP = re.compile(r"(?<=[a-z]{3}[.!]) +(?=[a-z])")
_OF_THE_MOMENT = re.compile(
    r"\b(?:yet|now|today|tomorrow|this|that|these|those|it(?!'s\b| is\b)|until|later|anything|for the moment)\b",
    re.IGNORECASE,
)
_SAID_BEFORE = re.compile(
    r"\bagain\b|\btold you\b|\basked you\b|\bi said\b|\byou keep\b|\bhow many times\b", re.IGNORECASE
)

_SHORTEST, _LONGEST = 12, 240
"""Characters of a sentence that lays something down."""

_FEWEST_WORDS = 3
_CHOICE_SENTENCES = 2
"""A choice is made at the beginning; what follows is how to go about it."""

_PASTED_LENGTH = 1_500
"""Characters. A longer prompt is a paste; its "always" and "never" are not the user's."""


def rules_in(prompt: str) -> list[str]:
    """The sentences of ``prompt`` that lay down something lasting."""
    if len(prompt) > _PASTED_LENGTH:
        return []
    return [sentence for sentence in _sentences(prompt) if _is_rule(sentence)]


def corrections_in(prompt: str) -> list[str]:
    """The sentences of ``prompt`` in which a person corrects how something is done, and which name the act.

    One that speaks of the moment ("don't commit this yet") is none, unless it says that it was said before.
    """
    if len(prompt) > _PASTED_LENGTH:
        return []
    return [sentence for sentence in _sentences(prompt) if _is_correction(sentence)]


def _sentences(prompt: str) -> list[str]:
    """Those of ``prompt``, also where a small letter begins one, as people type."""
    return [_tidy(part) for sentence in sentences(prompt) for part in _FULL_STOP.split(sentence)]


def _is_correction(sentence: str) -> bool:
    if not _SHORTEST <= len(sentence) <= _LONGEST or sentence.endswith("?") or not _CORRECTION.match(sentence):
        return False
    if _OF_THE_MOMENT.search(sentence) and not _SAID_BEFORE.search(sentence):
        return False
    return bool(cues_in(sentence))


def choice_in(prompt: str) -> str:
    """The sentence of ``prompt`` that decides between ways to go on, or the empty text."""
    if len(prompt) > _PASTED_LENGTH:
        return ""
    first = (sentence for sentence in map(_tidy, sentences(prompt)[:_CHOICE_SENTENCES]) if len(sentence) <= _LONGEST)
    return next((sentence for sentence in first if _is_choice(sentence)), "")


def _is_choice(sentence: str) -> bool:
    return (_CHOICE.match(sentence) is not None and not _QUESTION.match(sentence)) or other_languages.is_choice(
        sentence
    )


def reasoned_choice_in(prompt: str) -> str:
    """The sentence of ``prompt`` that decides and says why, in it or in the next one; or the empty text."""
    chosen = choice_in(prompt)
    said = [_tidy(sentence) for sentence in sentences(prompt)] if chosen else []
    if chosen not in said or any(map(asks, said)):
        return ""
    if _DONT.match(chosen) and _OF_THE_MOMENT.search(chosen):
        return ""
    if _WHY.search(chosen) or _WHY_BEHIND.search(chosen):
        return chosen
    told = " ".join(said[said.index(chosen) :][:2])
    return told if _WHY.search(told) else ""


def only_lays_down(prompt: str) -> bool:
    """Whether ``prompt`` states rules and nothing else."""
    said = _sentences(prompt) if len(prompt) <= _PASTED_LENGTH else []
    return bool(said) and all(map(_is_rule, said))


def _is_rule(sentence: str) -> bool:
    if not max(len(sentence), letters(sentence)) >= _SHORTEST or len(sentence) > _LONGEST:
        return False
    is_short = sentence.isascii() and len(words(sentence)) < _FEWEST_WORDS  # other scripts may have no blanks
    if is_short or asks(sentence) or _QUESTION.match(sentence):
        return False
    said = (_RULE.match(sentence), _INNER_RULE.search(sentence), _SHOUTED_RULE.search(sentence))
    return any(said) or other_languages.is_rule(sentence)


def _tidy(sentence: str) -> str:
    return sentence.replace("\u2019", "'").lstrip("-*> \t")
