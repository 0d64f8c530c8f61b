"""The sentences of a prompt that its author says: no paste, no quotation, no text that is to be worked on."""

from __future__ import annotations

import re

from kiro_learn.learning.extraction.extractive.vocabulary import sentences

_PASTED_LENGTH = 1_500
"""Characters. A longer prompt is a paste; its "always" and "never" are not the user's, but for its two ends."""
_OWN_LENGTH = 400
"""Characters of the first and of the last paragraph of a paste, from which on they belong to it."""

_MARKED = re.compile(r"[*#|`{}<>\[\]]|^[ \t]{0,8}[-\u2022\d]", re.MULTILINE)
"""Of a document, or of code."""
_TAKES = re.compile(
    r"\b(?:below|following|this|these|create|write|add|insert|save|translate|summari[sz]e|here)\b", re.IGNORECASE
)
"""The first paragraph of a prompt that hands over all of the rest."""

_FULL_STOP = re.compile(r"(?<=[a-z]{3}[.!]) +(?=[a-z])|(?<=\b[Nn][Oo][.!]) +(?=[^\W\d])")
"""Behind which a small letter may begin a sentence; "no." is an abbreviation before a number only."""

_COLON = re.compile(r":(?=\s|$)")
_REPORT = re.compile(
    r"\b(?:translat|summari[sz]|explain|rewrit|rephras|paraphras|proofread|spell-?check|quot)\w{0,4}\b"
    r"|\b(?:says?|saying|wrote|writes|reads?|states?|claims?|replied|answered|shows?|prints?|printed|logs?|logged)\b"
    r"|\b(?:write|writing|draft|drafting|compose|add|put|insert|send|post|fix|improve|correct|check|review|document)\b"
    r"[^:\n]{0,60}\b(?:e-?mail|letter|message|mail|tweet|post|readme|text|comment|docstring|paragraph|sentence|line"
    r"|note|doc|docs|copy|wording|label|tooltip|banner|heading|title|string|announcement|reply|answer|prompt)s?\b"
    r"|\b(?:prompt|instructions)\b[^:\n]{0,30}$"
    r"|(?<!commit )\b(?:e-?mail|letter|message|mail|tweet|readme|error|output|log|warning|docs?|article|license|comment"
    r"|text|terms|policy|contract|spec|ticket|issue|description|the (?:rule|principle|saying|proverb|phrase))s?$",
    re.IGNORECASE,
)
"""Before a colon: what follows is somebody else's, or is to be written."""
_BY_MYSELF = re.compile(
    r"\b(?:i|we) (?:already |have |just |'ve )*(?:said|say|told|wrote)\b|\bas i said\b", re.IGNORECASE
)
_REPORTED = re.compile(
    r"(?:(?:and|but|so|well|hm+),? )?(?:my|the|our|a|an|his|her|this|that|some|he|she|they|somebody|someone|people|it)"
    r"\b(?: [\w'-]+){0,3}? (?:says?|said|wrote|writes|claims?|claimed|thinks?|believes?|complain(?:s|ed)|told me|asked"
    r"|reports?|reported|suggests?|suggested|recommends?|recommended)\b"
    r"|(?!i\b|we\b|you\b|always\b|never\b)[\w-]+ (?:says|said|told (?:me|us)|claims|claimed)\b",
    re.IGNORECASE,
)
"""How a sentence begins that tells what others say."""
_QUOTED = re.compile(
    "\"[^\"\n]{8,400}\"|[\u201c\u201e][^\u201c\u201d\u201e\n]{8,400}[\u201c\u201d]|(?<![\\w'])'[^'\n]{8,400}'(?!\\w)"
)
_QUOTING = re.compile(r"[ \t]{0,8}>")
_COMMENT = re.compile(r"[ \t]{0,8}(?://|#|/\*|--|<!--)\s")


def own_sentences(prompt: str) -> list[str]:
    """Those of ``prompt`` that its author says, also where a small letter begins one, as people type."""
    own: list[str] = []
    for part in own_parts(prompt):
        for sentence in sentences(part):
            if _QUOTING.match(sentence) or _COMMENT.match(sentence):
                continue
            head = _COLON.split(sentence, maxsplit=1)[0]
            if head != sentence and _REPORT.search(head) and not _BY_MYSELF.search(head):
                break  # and all that follows is of that text
            own += [said for said in map(tidy, _FULL_STOP.split(sentence)) if not is_reported(said)]
    return own


def own_parts(prompt: str) -> list[str]:
    """``prompt``; of one that is long, what was typed around the paste."""
    if len(prompt) <= _PASTED_LENGTH:
        return [prompt]
    head, is_first, _ = prompt[:_OWN_LENGTH].partition("\n\n")
    _, is_last, tail = prompt[-_OWN_LENGTH:].rpartition("\n\n")
    is_own = is_last and not _MARKED.search(tail) and not _TAKES.search(head)
    return [*([head] if is_first else []), *([tail] if is_own else [])]


def is_reported(sentence: str) -> bool:
    """Whether ``sentence`` tells what somebody else said."""
    return _REPORTED.match(sentence) is not None


def unquoted(sentence: str) -> str:
    """``sentence`` without what it quotes; a name in quotation marks stays."""
    return _QUOTED.sub('""', sentence)


def tidy(sentence: str) -> str:
    """Without the mark of a list, and with a typewriter's apostrophes."""
    return sentence.replace("\u2019", "'").lstrip("-*\u2022> \t")
