"""Sentences that tell how things stand right now: where the work is, what runs, what comes next.

They are true for an hour. A memory of nothing else would only stand in the way of those that still hold next month; its
events are kept. Chosen by reading what four histories yield, so tuned on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kiro_learn.learning.extraction.extractive.prose import sentences

_LEAD = r"[\W_]*+(?:(?:and|so|ok|okay|yes|yep|also|but|then|now|here|good)\b[\W_]*+)*+"

_PLACE = r"(?:(?:we|you|i)(?:'re| are|'m| am) )?(?:now |back |still |already )?on [`*\w./-]+"
"""Which branch is checked out."""

_SUBJECT = r"(?:all|everything|both|it|that|the [\w`*/.-]++(?: [\w`*/.-]++){0,5}|[\w`*./#-]++(?: [\w`*./#-]++){0,3})"
_STANDS = (
    r"(?:running|up to date|up and|working|green|clean|pushed|committed|merged|done|complete|finished"
    r"|live(?! (?:for|in|under|with)\b)|pass(?:ing|ed)|ready|in progress|underway|staged|saved|building|deployed|open"
    r"|pending|waiting|in sync|up\b)"
)
_STATE = rf"{_SUBJECT}?(?:(?:'s| is| are| was| were)(?: still| now| also| all| already| back)?|(?:'s)?) {_STANDS}\b"
"""That something runs, passes, waits or is done."""

_STEP = (
    r"(?:done|pushed|committed|merged|pulled|switched to|created branch|branched|restarted|stopped|killed"
    r"|conflicts resolved|pr (?:is|#\d+|created|opened)|working tree|clean working tree|nothing (?:to|left|else)"
    r"|\d+ commits?|down to \d+)\b"
)
"""The step that was just taken."""

_NEXT = (
    r"(?:next up|up next|ready (?:when|to|for)|what(?:'s| is) next|want me|shall i|should i|would you like|let me know"
    r"|please (?!note)\w+|go ahead|standing by|waiting (?:for|on)|once (?:merged|you)|got it|understood|no problem"
    r"|sounds good"
    r"|i(?:'ll| will) (?:wait|let you|check|be|continue|report|start|now|keep|proceed)"
    r"|i(?:'m| am) (?:waiting|ready|now|still|going))\b"
)
"""What is about to be done, or waited for."""

_ASIDE = (
    r"(?:(?:that|this)(?:'s| was| is) (?:(?:just|only|also) the|the (?:earlier|first|second|third|last|old|background))"
    r"(?: [\w`*./-]++){0,6}? (?:task|run|notification|build|server|command|process)\b"
    r"|(?:the |your |a )?(?:new |latest )?(?:otp|pin|one-time (?:code|password)|login code)(?: is|:) *+\d"
    r"|\d{4,8} for \S++$)"
)
"""What became of something in the background, and a number that opens a door once."""

_HANDED_BACK = (
    r"(?:(?:please |now |you can now |just )*+(?:try (?:\w+ing|it|again|the [\w`*./-]++(?: [\w`*./-]++)? again)"
    r"|log ?in (?:and|again|then)|reply with)\b|(?:the )?next steps?(?: is)?:? *+`?/|(?:todo|plan|report) saved:)"
)
"""What the person is to do now, or may type next."""

_MOMENT = re.compile(rf"{_LEAD}(?:{_PLACE}|{_STATE}|{_STEP}|{_NEXT}|{_ASIDE}|{_HANDED_BACK})", re.IGNORECASE)
_DETAIL = re.compile(r"(?: \u2014|:) [^`]{0,200}+`|\b(?:because|since|so that|whose|which|instead)\b", re.IGNORECASE)
"""A clause behind it that names something, or says why: there the sentence goes on to say what lasts."""

_LONGEST = 200
"""Characters. A longer sentence says more than that."""


def is_of_the_moment(texts: Iterable[str]) -> bool:
    """Whether every sentence of ``texts`` only tells how things stand; not if there is none."""
    told = [sentence for text in texts for sentence in sentences(text) if any(map(str.isalnum, sentence))]
    return bool(told) and all(map(tells_how_things_stand, told))


def tells_how_things_stand(sentence: str) -> bool:
    """Whether that is all that ``sentence`` does: then it is neither worth a memory, nor a title of one."""
    return len(sentence) <= _LONGEST and _MOMENT.match(sentence) is not None and _DETAIL.search(sentence) is None
