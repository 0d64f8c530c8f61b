"""What a person lays out without a rule or a reason: the steps by which something is done, and what something becomes.

It holds whatever the answer says, and also where that did not help.
"""

from __future__ import annotations

import re

from kiro_learn.learning.extraction.extractive.vocabulary import on_one_line, sentences
from kiro_learn.retrieval.query.prose import asks

_LONGEST = 600
"""Characters of a prompt: a longer one is a plan or a paste."""

_MOST_CHARACTERS = 300
_DOING = (
    r"(?:back ?up|build|bump|cut|deploy|generate|install|migrate|onboard|promote|provision|publish|release|restore"
    r"|roll ?back|roll ?out"
    r"|rotate|run|seed|set up|ship|sign|sync|tag|test|update|upgrade)"
)
_STEPS = re.compile(
    r"(?:\b(?:(?!(?:the|these|down|following)\b)[\w-]{1,30} )?(?:steps|procedure|checklist|runbook|order)\b"
    r"[^.:\n]{0,60}"
    rf"|\b(?:to|when (?:we|you)|how (?:we|to)) {_DOING}\b[^.:\n]{{0,60}}"
    rf"|\b(?:a|the|every|each|our) (?:\w{{1,30}} )?{_DOING}\b[^.:\n]{{0,30}}):\s{{1,3}}"
    r"(\S[^\n]{0,300}(?:\n[ \t]{0,8}(?:[-*]|\d{1,2}[.)])[^\n]{1,200}){0,12})",
    re.IGNORECASE,
)
"""A thing to do, a colon, and what it consists of."""

_HOW = re.compile(
    r"\W*+(?:(?:and|so|btw|fyi|note|ok|yes)\b[\s,:]*+)*+"
    rf"(?:(?:we|our team|the team) (?:always |usually |only )?{_DOING}\b[^?]{{0,80}}?"
    r"\b(?:by|from|through|using|via|with|every|twice|after)\b"
    r"|(?:the|our|a|an|each|every) \S{1,40}(?: \S{1,40}){0,3}? (?:triggers|deploys|publishes|releases|kicks off|starts"
    r"|creates|builds|uploads|(?:is|are) (?:built|created|deployed|done|generated|published|released|tagged|uploaded)"
    r" (?:by|from|in|on|with))\b)",
    re.IGNORECASE,
)
"""How a sentence begins that tells how something is done."""

_ITEM = re.compile(r"[,;\n]|\bthen\b|->|\u2192")
_FEWEST_CUTS = 2
"""Between steps: fewer than three are no list."""

_BECOMES = re.compile(
    r"\bfrom [^\s,]{1,40}[^?]{0,60}? to [^\s,]|\b(?:change|rename|move|switch|replace|migrate|set|bump|raise"
    r"|lower)\b[^?]{1,80}? (?:by|to|with) \S"
    r"|\b(?:instead of|rather than|not anymore|no longer)\b|\b(?:should|must|has to|have to) (?:be|become|have|use)\b"
    r"|\b(?:use|keep) [^\s,]",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\d|`|\w[._/\\@#-]\w|[a-z][A-Z]|[A-Z]{2}|(?<=[a-z,;] )[A-Z][a-z]")


def steps_in(prompt: str) -> str:
    """The steps that ``prompt`` lists for a thing to do, or its statement of how that is done; or the empty text."""
    if len(prompt) > _LONGEST or asks(prompt):
        return ""
    listed = _STEPS.search(prompt)
    if listed and "?" not in listed.group() and len(_ITEM.findall(listed.group(1))) >= _FEWEST_CUTS:
        return on_one_line(listed.group())[:_MOST_CHARACTERS]
    told = (sentence for sentence in sentences(prompt) if not asks(sentence))
    return next((sentence for sentence in told if _HOW.match(sentence)), "")


def order_in(prompt: str) -> str:
    """The sentence of ``prompt`` that says what something becomes, by name; or the empty text."""
    if len(prompt) > _LONGEST:
        return ""
    told = (sentence for sentence in sentences(prompt) if not asks(sentence) and len(sentence) <= _MOST_CHARACTERS)
    return next((sentence for sentence in told if _BECOMES.search(sentence) and _NAMED.search(sentence)), "")
