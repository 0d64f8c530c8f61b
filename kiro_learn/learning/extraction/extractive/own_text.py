"""Finds the sentences of a prompt that are its author's own: no paste, no quotation, no text to be worked on."""

from __future__ import annotations

import re

from kiro_learn.learning.extraction.extractive.vocabulary import sentences

_PASTED_LENGTH = 1_500
"""The most characters of an own prompt. Of a longer one only the ends are the user's, the rest is a paste."""
_OWN_LENGTH = 400
"""The first or last paragraph of a paste belongs to the paste if it has this many characters."""

_MARKED = re.compile(r"[*#|`{}<>\[\]]|^[ \t]{0,8}[-\u2022\d]", re.MULTILINE)
"""Signs of a document, or of code."""
_TAKES = re.compile(
    r"\b(?:below|following|this|these|create|write|add|insert|save|translate|summari[sz]e|here)\b", re.IGNORECASE
)
"""Words of a first paragraph that hands over all of the rest."""

_FULL_STOP = re.compile(r"(?<=[a-z]{3}[.!]) +(?=[a-z`])|(?<=\b[Nn][Oo][.!]) +(?=[^\W\d])")
"""The end of a sentence after which a small letter may begin another; "no." abbreviates only before a number."""

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
"""Words before a colon that announce a text of somebody else, or a text to be written."""
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
"""The beginning of a sentence that reports what others say."""
_QUOTED = re.compile(
    "\"[^\"\n]{8,400}\"|[\u201c\u201e][^\u201c\u201d\u201e\n]{8,400}[\u201c\u201d]|(?<![\\w'])'[^'\n]{8,400}'(?!\\w)"
)
_QUOTING = re.compile(r"[ \t]{0,8}>")
_COMMENT = re.compile(r"[ \t]{0,8}(?://|#|/\*|--|<!--)\s")


_LINE = r"\n[ \t]{0,8}[-*_]{3,}[ \t]*(?=\n|\Z)"
_NOT_TYPED = re.compile(
    r"^[ \t]{0,8}(?P<fence>```|~~~).*?(?:^[ \t]{0,8}(?P=fence)[^\n]*|\Z)"
    rf"|(?<=[?:])[ \t\n]{{0,20}}{_LINE}.*?(?:{_LINE}|\Z)"
    r"|^[ \t]{0,8}[-*][ \t]{1,4}\[ \][^\n]*",
    re.DOTALL | re.MULTILINE,
)
"""A code block, text below a question and a dividing line up to the next one, and an open item of a list of tasks."""
_PLAN = re.compile(
    r"(?:please |now |ok,? )*(?:implement|execute|carry out|follow|do) (?:the|this|my|our)(?: following)? plan"
    r"[^\n]{0,40}:[ \t]*\n",
    re.IGNORECASE,
)
"""The beginning of a prompt that hands over a plan, which an agent mostly wrote."""

TAKES_BACK = re.compile(
    r"(?:^|[,.;:!\u2013\u2014-])\s*(?:(?:ah|oh|hm+|uh|oops|ups)\b[,.!]?\s*)*+"
    r"(?:(?:no\b[,.!]?\s*(?:wait|sorry)|sorry|wait(?=\s*[,.!])|scratch that)\b[,.!:]?\s*)+(?:no\b[,.!]?\s*)?"
    r"(?:i meant?\b[,:]?\s*)?(?!(?:about|again|but|for|i|i'm|if|my|that|to|until|we|you)\b)(?=\w)",
    re.IGNORECASE,
)
"""Words by which an author takes back what they said just before: ", no sorry, I mean"."""


def own_sentences(prompt: str) -> list[str]:
    """The sentences of ``prompt`` that are its author's own. A small letter may begin one, as people type."""
    own: list[str] = []
    if _PLAN.match(prompt):
        return own
    for part in own_parts(prompt):
        for sentence in sentences(_NOT_TYPED.sub("\n", part)):
            if _QUOTING.match(sentence) or _COMMENT.match(sentence):
                continue
            head = _COLON.split(sentence, maxsplit=1)[0]
            if head != sentence and _REPORT.search(head) and not _BY_MYSELF.search(head):
                break  # the rest belongs to that text too
            own += [said for said in map(tidy, _FULL_STOP.split(sentence)) if not is_reported(said)]
    return _with_corrections(own)


def _with_corrections(said: list[str]) -> list[str]:
    """The sentences ``said``, each with the next one if that takes it back: by itself it would hold on."""
    joined: list[str] = []
    for sentence in said:
        if joined and not joined[-1].endswith("?") and TAKES_BACK.match(sentence):
            joined[-1] = f"{joined[-1]} {sentence}"
        else:
            joined.append(sentence)
    return joined


def own_parts(prompt: str) -> list[str]:
    """``prompt``; of a long one only the parts that were typed around the paste."""
    if len(prompt) <= _PASTED_LENGTH:
        return [prompt]
    head, is_first, _ = prompt[:_OWN_LENGTH].partition("\n\n")
    _, is_last, tail = prompt[-_OWN_LENGTH:].rpartition("\n\n")
    is_own = is_last and not _MARKED.search(tail) and not _TAKES.search(head)
    return [*([head] if is_first else []), *([tail] if is_own else [])]


def is_reported(sentence: str) -> bool:
    """Whether ``sentence`` reports what somebody else said."""
    return _REPORTED.match(sentence) is not None


def unquoted(sentence: str) -> str:
    """``sentence`` without quotations. A name in quotation marks stays."""
    return _QUOTED.sub('""', sentence)


def tidy(sentence: str) -> str:
    """``sentence`` without the mark of a list, and with a typewriter's apostrophes."""
    return sentence.replace("\u2019", "'").lstrip("-*\u2022> \t")


# Sentences that ask or imagine without a question mark: "we use serializable everywhere dont we".

_LEAD = r"\W*(?:(?:and|but|so|ok(?:ay)?|hey|hi|hm+|well|btw|oh|also)\b\W*)*+"
_ASKS_FIRST = re.compile(
    _LEAD + r"(?:(?:did|does|are|were|was|is|has|had|should|shall) (?:we|they|i|it|this|that|there|the|our|any)\b"
    r"|(?:do|have) (?:we|they|i)\b|(?:what|where|who|how)(?:'?s| is| are| was| were| do| does| did| if)\b"
    r"|why\b|how (?:to|many|much|long|come|can)\b|which (?:is|are|of)\b)",
    re.IGNORECASE,
)
_IMAGINES_FIRST = re.compile(
    _LEAD + r"(?:(?:i(?:'?m| am| was|'?ve been)? |was |been )?(?:just )?"
    r"(?:thinking (?:of|about|that)|wondering|considering|tempted to)\b"
    r"|(?:let'?s|let us) (?:say|assume|imagine|pretend|suppose)\b"
    r"|(?:say|suppose|supposing|imagine|assuming) (?:we|i|that)\b)",
    re.IGNORECASE,
)
_TAGGED = r"(?:we|they|it|i|you|u|he|she|there)"
_ASKS_LAST = re.compile(
    rf"(?:\b(?:do|does|did|is|are|was|were|have|has|can|could|will|would|should)n'?t {_TAGGED}"
    rf"|,\s*(?:do|does|did|is|are|was|were|have|has|can|could|will|would|should) {_TAGGED}"
    r"|\b(?:or not|or no|or what|or nah|wdyt|thoughts|opinions|any objections|(?:is it|would (?:it|that) be) worth it"
    r"|what do (?:you|u) (?:think|say)|does (?:that|this|it) make sense|you agree"
    r"|(?:what|how) (?:breaks|happens|came of it|came out of it|did that go|would that look like|hard is it))"
    r"|,\s*(?:right|correct|no|huh|eh|why|how so)"
    r"|\A\W*(?:we|they|it|there|prod|staging|the \w+)\b.{0,80}"
    r"(?<!\bthe)(?<!\bis)(?<!\bare)(?<!\bto)(?<!\bbe)(?<!\bnever)(?<!\bnot) right)"
    r"\W*\Z",
    re.IGNORECASE | re.DOTALL,
)


_ORDERS = re.compile(
    rf"\A{_LEAD}(?:always|never|from now on|please|do not|don'?t|make sure|remember)\b"
    r"|[,:;]\s*(?:please )?(?:always|never|don'?t|do not|use)\b|\b(?:must|should) (?:never|always)\b",
    re.IGNORECASE,
)
"""Words of an order: "should the API break, always bump the major version" asks nothing."""


def asks_by_form(sentence: str) -> bool:
    """Whether ``sentence`` asks or imagines something by its beginning or its end, with or without a question mark."""
    if _ORDERS.search(sentence):
        return False
    return any(form(sentence) for form in (_ASKS_FIRST.match, _IMAGINES_FIRST.match, _ASKS_LAST.search))


_FAREWELL = re.compile(
    r"\b(?:bye|ttyl|bbl|brb|afk|cya|gtg|gn|see (?:ya|you|u)(?! (?:can|need|should))|good ?night|gotta (?:go|run)"
    r"|signing off|heading (?:home|out)|(?:i'?m|im) (?:out|off)(?! of)|done for (?:today|the day)|lol|lmao|haha)\b",
    re.IGNORECASE,
)


def is_small_talk(sentence: str) -> bool:
    """Whether ``sentence`` says goodbye or jokes, and orders nothing."""
    return _FAREWELL.search(sentence) is not None and _ORDERS.search(sentence) is None
