"""Attempts that were given up: an answer or the person says what is wrong with one, and the person takes it back.

Such a memory is worth more than most about what worked. Nothing in the project shows the attempt, so an agent would
repeat it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from kiro_learn.learning.extraction.extractive.chatter import own_words
from kiro_learn.learning.extraction.extractive.durable import may_last
from kiro_learn.learning.extraction.extractive.facts import files_in
from kiro_learn.learning.extraction.extractive.own_text import own_sentences
from kiro_learn.learning.extraction.extractive.turns import Turn, without_logs
from kiro_learn.learning.extraction.extractive.vocabulary import cut_at_word, sentences
from kiro_learn.retrieval.query.prose import asks

_WORSE = re.compile(
    r"\b(?:slower|worse|heavier|costlier|bigger|larger than|more (?:memory|expensive|complicated)|less accurate"
    r"|not (?:any )?(?:better|faster|smaller|worth|possible|supported|compatible|exposed|available)|n[o']t help"
    r"|no (?:gain|improvement|difference|benefit|speed-?up|support|way)\b|hardly|barely|makes? (?:it|things) worse"
    r"|(?:does|do|is|are|was|were|can)(?: not|n't)|cannot|overhead|grows? by|no counterpart|drawback|downside"
    r"|catch is|risky|langsamer|schlechter|teurer|größer|haken|nachteil|riskant|bringt (?:nichts|wenig)"
    r"|kein(?:e|en)? (?:gewinn|vorteil|unterschied))\b",
    re.IGNORECASE,
)
"""Words by which an answer says that the attempt is no good."""
_GIVES_UP = re.compile(
    r"\b(?:not worth|isn'?t worth|(?:revert|undo|drop|scrap|forget|abandon|shelve)(?: it| that| this| the\b"
    r"|\b(?=[.,;!]|$))|(?:we|i|let'?s|let us)(?:'ll| will)? (?:stay|stick)|back to (?:the )?(?:old|original|previous)\b"
    r"|(?:leave|keep) (?:it|the \w+|things) (?:out|as (?:it|they) (?:was|were|is|are))|no gain|then (?:no|not)\b"
    r"|lohnt (?:sich )?nicht|lass(?:en wir)? das|das lassen wir|nimm (?:es|das) (?:wieder )?raus|zurück zu"
    r"|wir bleiben)",
    re.IGNORECASE,
)
"""Words by which a person gives the attempt up."""
_TRIED = re.compile(
    r"\b(?:try|tried|test|experiment|measure|benchmark|compare|see (?:if|whether|how)|what if|could (?:we|you|it)|would"
    r"|switch|replace|swap|move to|use|upgrade|probier\w*|ausprobier\w*|versuch\w*|miss|teste?)\b",
    re.IGNORECASE,
)
"""Words by which a person asks for an attempt."""
_STILL_WANTED = re.compile(
    r"\b(?:try (?:again|another|something)|instead|fix|wrong|broken|still|but (?:first|now))\b", re.IGNORECASE
)
"""Words that drop an attempt only because the work was bad. It will be done in another way."""
_LEFT_CHARACTERS = 200
_ANSWER_SENTENCES = 8


def given_up(turns: Iterable[Turn]) -> frozenset[int]:
    """The numbers of the answers that say why an attempt is no good, and after which the person drops it."""
    return frozenset(
        turn.previous.answer.number
        for turn in turns
        if turn.previous
        and turn.previous.answer
        and _leaves(turn)
        and _TRIED.search(without_logs(turn.previous.question)[:_LEFT_CHARACTERS])
        and _says_worse(turn.previous.answer.text)
    )


def kept_instead(prompt: str) -> str:
    """The sentence of a prompt that gives an attempt up in which it says what stays; else the empty text."""
    return next((each for each in own_sentences(prompt)[:3] if may_last(each) and _STAYS.search(each)), "")


_STAYS = re.compile(r"\b(?:we|let'?s)(?:'ll| will)? (?:stay|stick|keep)\b|\bwir (?:bleiben|behalten)\b", re.IGNORECASE)


def _leaves(turn: Turn) -> bool:
    said = without_logs(turn.question)[:_LEFT_CHARACTERS]
    return _GIVES_UP.search(said) is not None and _STILL_WANTED.search(said) is None


def _says_worse(answer: str) -> bool:
    return any(_WORSE.search(sentence) for sentence in sentences(answer)[:_ANSWER_SENTENCES])


# Attempts of the person: "I tried dask for this, but it was slower than pandas, so we don't need to try it again".

_LONGEST_TOLD = 400
"""The most characters of a prompt that tells of an attempt. A longer one says more than that."""
_FEWEST_WORDS = 2
"""The fewest words of its own that name what was tried, and what was wrong with it."""

_I_TRIED = re.compile(
    r"\W*(?:(?:and|but|so|ok|okay|hm+|btw|by the way|also|well|ah|oh|yes|no|fyi|for the record)\b[\s,:]*)*+"
    r"(?:(?:(?:i|we)(?:'ve| have)?(?: (?:also|already|once|even|just|did|actually|before|quickly|briefly)){0,3} )?"
    r"(?:tried|tested|benchmarked|evaluated|experimented with)"
    r"|(?:i|we) did(?: also| already| once| even)? (?:try|test|benchmark|evaluate|experiment with)"
    r"|(?:i|we) gave(?= \S{1,40}(?: \S{1,40})? a (?:try|go|shot|chance)\b))"
    r" (?!(?:to|it|that|this|again|your)\b)\S",
    re.IGNORECASE,
)
"""The beginning of a sentence in which a person says that they tried something."""
_SO_NO = re.compile(
    r"\b(?:so|hence|therefore|thus|then),? (?:no|not|never)\b"
    r"(?! (?:idea|clue|luck|way|problem|wonder|need|worries|sure|yet|for now|now|today)\b)"
    r"|[,;\u2014.-]\s*(?:no|nope)\W*$|\bnot worth\b|\blet'?s not\b|\bforget (?:it|about)\b"
    r"|\b(?:dropped it|gave (?:it )?up|ruled (?:it )?out|back to (?!work\b|you\b)\w)"
    r"|\b(?:we|i|you|please|so|better) (?:do not|don't|won't|will not|shouldn't|should not|needn't|need not|never)"
    r"(?: need to| have to| want to)? (?:use|try|take|want|go|bother|repeat|add|need|touch|switch|adopt)\b"
    r"|\b(?:stay|staying|stick|sticking) (?:with|on|to)\b|\bno (?:option|go)\b|\bnot (?:for us|an option|usable)\b",
    re.IGNORECASE,
)
"""Words by which they turn it down."""
_ONLY_NOW = re.compile(r"\b(?:for now|right now|yet|until|till|at the moment|this time)\b", re.IGNORECASE)


def turned_down_in(prompt: str) -> str:
    """What the author of ``prompt`` tried and turned down, with the reason; or the empty text."""
    if len(prompt) > _LONGEST_TOLD:
        return ""
    said = own_sentences(prompt)
    told = (each for one, two in pairwise([*said, ""]) for each in (one, f"{one} {two}") if not asks(each))
    return next((each for each in told if _turns_down(each)), "")


def _turns_down(text: str) -> bool:
    tried = _I_TRIED.match(text)
    ended = _SO_NO.search(text, tried.end()) if tried else None
    if tried is None or ended is None or _ONLY_NOW.search(text, ended.start()):
        return False
    return len(own_words(text[tried.end() - 1 : ended.start()])) >= _FEWEST_WORDS


# Changes that a person takes back, with the reason: "nope, asynq cant do cluster mode. back to what it was".
#
# What was chosen before is no decision any more. With its reason it is a rejected attempt, without one it is nothing.

_UNDOES = re.compile(
    r"(?:(?:please|pls|just|so|and|can you|could you|let'?s|lets|go|then)\s+)*"
    r"(?:(?:put|take|change|switch|turn|move|set|bring|pull) (?:it|that|them|this|those)(?: all)? (?:back|out)"
    r"|(?:undo|revert|roll ?back|restore)(?: (?:it|that|this|them|those)(?: change)?| the change)?"
    r"|back to (?:what|how|the way) (?:it|they|that|things) (?:was|were)"
    r"|(?:mach|nimm) (?:es|das) (?:wieder )?(?:r\u00fcckg\u00e4ngig|raus))"
    r"(?: (?:again|please|pls|now|then|to (?:what|how|the way) (?:it|they|that) (?:was|were)))*\W*",
    re.IGNORECASE,
)
"""A clause that only takes a change back."""
_AGAINST = re.compile(
    r"(?:(?:no{1,4}|nope|hm{1,4}|wait|oh|ah|actually|sorry|ok(?:ay)?|ugh|damn|argh|well|but|and|then)\b\W{0,4})+",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"(?<![.,;:!])[.,;:!]++(?:\s++|$)")
_REDO = re.compile(r"\bredo\b", re.IGNORECASE)
"""Undo is a feature then."""
_LONGEST_REPLY, _MOST_CLAUSES, _REASON_CHARACTERS = 300, 2, 120


def undone(turns: Iterable[Turn]) -> dict[int, str]:
    """The numbers of the answers whose change the next prompt of the session takes back, each with the reason or ""."""
    found = ((turn.previous, _reason_against(turn.question)) for turn in turns)
    return {
        before.answer.number: reason
        for before, reason in found
        if before and before.answer and reason is not None and files_in(before.tools, "").modified
    }


def _reason_against(prompt: str) -> str | None:
    """The reason of a prompt that takes a change back, or ""; None if it takes nothing back."""
    if len(prompt) > _LONGEST_REPLY or asks(prompt) or _REDO.search(prompt):
        return None
    clauses = [each[found.end() :] if (found := _AGAINST.match(each)) else each for each in _CLAUSE_END.split(prompt)]
    if not any(map(_UNDOES.fullmatch, clauses)):
        return None
    said = [each.strip() for each in clauses if not _UNDOES.fullmatch(each) and len(own_words(each)) >= _FEWEST_WORDS]
    return cut_at_word(", ".join(said[:_MOST_CLAUSES]), _REASON_CHARACTERS)
