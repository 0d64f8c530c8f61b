"""Answers that only say which value the thing of the turn before has now: "30s, the list is slow" - "Changed to 30 s."

The value alone says nothing a month later. So the memory names the thing by the request of the turn before.
"""

from __future__ import annotations

import re

from kiro_learn.learning.extraction.extractive.chatter import own_words
from kiro_learn.learning.extraction.extractive.turns import Turn, without_logs
from kiro_learn.learning.extraction.extractive.vocabulary import words

_PROMPT_CHARACTERS = 160
"""The most characters of a prompt that corrects a value. A longer prompt has a subject of its own."""

_NODS = (
    r"\W*+(?:(?:done|ok|okay|sure|fixed|got it|right|you're right|makes sense|sorry(?: about that)?|understood"
    r"|good (?:catch|point))\b[\s.,:;!\u2013\u2014-]*+)*+"
)
_SET = re.compile(
    rf"{_NODS}(?:(?:i|we)(?:'ve| have)? |it |that )?(?:now |also |just )*+(?:(?:(?:is|was|has been) )?"
    r"(?:adjusted|bumped|changed|decreased|extended|increased|lowered|made|moved|raised|reduced|set|shortened|switched"
    r"|updated)(?= )|(?:it's |it is |that's |is )?(?=now ))([^\n;]{1,100})",
    re.IGNORECASE,
)
"""The beginning of an answer that says that a value was set. Group 1 says to what."""

_LEANS = re.compile(
    r"(?: (?:it |them |that |this |both )?(?:back |down |up )?(?:from \S+(?: \S+)? )?(?:to|at)|now) (?:\*\*)?"
    r"(?=[\d`]|v\d|[a-z]{2}-)",
    re.IGNORECASE,
)
"""What such an answer says if it does not name the thing: "changed to 30 seconds", "raised it from 10 to 30"."""

_VALUE = re.compile(r"(?:\b(?:to|at|by|now)|=|:) ?(?:\*\*)?(?:`([^`\n]{1,60})`|(\w[\w.,:-]{0,40}))", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_AGREES = re.compile(r"\W*(?:fine|go|good|k|ok|okay|sure|ya|yea|yeah|yep|yes|yup)\b", re.IGNORECASE)
_LEAST_CHARACTERS, _LEAST_WORDS = 2, 2


def corrects_value(turn: Turn) -> bool:
    """Whether the prompt of ``turn`` gives another value for a thing, and the answer says that it is set."""
    asked = without_logs(turn.question).strip()
    if len(asked) < _LEAST_CHARACTERS:  # one digit is mostly the number of an option
        return False
    named = {*words(asked), *_NUMBER.findall(asked)}
    values = (code or plain for code, plain in _VALUE.findall(_said_to(turn)))
    return any(not named.isdisjoint((*own_words(value), *_NUMBER.findall(value))) for value in values)


def corrected_request(turn: Turn) -> str:
    """The request before ``turn`` whose value ``turn`` corrects without naming it; else the empty text.

    If the turn before is a correction too, or only agrees to something, the request is the one before that.
    """
    before = turn.previous
    if before is None or before.answer is None or not before.prompts or not corrects_value(turn):
        return ""
    if not _LEANS.match(_said_to(turn)):
        return ""
    request = corrected_request(before) or before.prompts[-1].text
    if not _names_a_thing(request) and before.previous and before.previous.prompts:
        request = before.previous.prompts[-1].text
    return request if _names_a_thing(request) else ""


def _names_a_thing(request: str) -> bool:
    """Whether ``request`` does more than agree to something or choose from it: "yep pg. keep 72h" names no thing."""
    return _AGREES.match(request) is None and len(own_words(request)) >= _LEAST_WORDS


def _said_to(turn: Turn) -> str:
    """What the answer says that the value is set to; empty if it says something else."""
    if turn.answer is None or not 0 < len(turn.question) <= _PROMPT_CHARACTERS:
        return ""
    found = _SET.match(turn.answer.text.replace("\u2019", "'"))
    return found[1] if found else ""
