"""Attempts that were given up: an answer says what came of the attempt, and the person drops it.

Such a memory is worth more than most about what worked. Nothing in the project shows the attempt, so an agent would
repeat it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kiro_learn.learning.extraction.extractive.durable import may_last
from kiro_learn.learning.extraction.extractive.own_text import own_sentences
from kiro_learn.learning.extraction.extractive.turns import Turn, without_logs
from kiro_learn.learning.extraction.extractive.vocabulary import sentences

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
