"""Whether two rules that differ in a number set one thing to two values, or name two things by their numbers."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"\d[\d.]{0,20}(?<!\.)")
_BOUND = r"under|over|above|below|at most|at least|than|exactly|up to|within|max|min|maximum|minimum|limit"
_SETTING = (
    r"use|set|pin|keep|have|has|require|requires|need|needs|wait|limit|target|return|answer|respond|indent|wrap|default"
)
_AT_END = r"(?= ?(?:[,;.)](?:\s|$)|$| (?:in|for|on|as|to|when|before|after|of|per|from|everywhere|here|always|now)\b))"
"""The text after a number that does not count a noun."""
_SET = re.compile(rf"\b(?:{_SETTING})(?: [^\s\d,;.]{{1,30}}){{0,6}} [vV]?(\d[\w.]{{0,20}}%?){_AT_END}", re.IGNORECASE)
_MEASURED = re.compile(rf"\b(?:{_BOUND}|{_SETTING}|with|to|at) (\d[\w.]{{0,20}}%?)(?= [a-z]{{2}})", re.IGNORECASE)
_BOUNDED = re.compile(rf"\b(?:{_BOUND}) (\d[\w.]{{0,20}}%?)", re.IGNORECASE)
_LABELS = r"chapter|step|phase|section|issue|ticket|page|milestone|sprint|part|item|task|pr|adr|module|gadget|layer"
_LABELLED = re.compile(rf"(?:\b(?:{_LABELS}) ?|#)\d", re.IGNORECASE)
"""A number that is a label: it tells one thing of a kind from the others."""


def set_one_value(told: str, other: str) -> bool:
    """Whether two rules differ in one number each, and both numbers are values that something is set to."""
    mine, theirs = _NUMBER.findall(told), _NUMBER.findall(other)
    changed = [number for number in mine if number not in theirs], [number for number in theirs if number not in mine]
    if any(len(each) != 1 for each in changed) or _LABELLED.search(told) or _LABELLED.search(other):
        return False
    return all(number in _values_in(text) for (number,), text in zip(changed, (told, other), strict=True))


def _values_in(text: str) -> frozenset[str]:
    found = (each for pattern in (_SET, _MEASURED, _BOUNDED) for each in pattern.findall(text))
    return frozenset(number for each in found for number in _NUMBER.findall(each))
