"""What of a prompt its writer means: neither lines that quote another, nor what the next words take back."""

from __future__ import annotations

import re
from collections.abc import Iterable

_QUOTE = re.compile(r"^[ \t]{0,3}>.*$", re.MULTILINE)
_BOUNDARY = r"(?:^|[.!?,;:(\u2014\n-])[ \t]{0,3}"
_BEFORE = (
    r"(?:(?:no|nope|wait|sorry|oops|actually|well|hmm|haha|lol|correction|my (?:bad|mistake))\b[ \t,.:;!-]{0,4}){0,3}"
)
_ELSEWHERE = (
    r"(?:that|this|it)(?:'s| is| was) (?:about |for |from |in )?(?:the |an)?(?:other|different|wrong) "
    r"(?:repo(?:sitory)?|project|app|service|codebase)\b"
)
_MISSAID = (
    r"(?:scratch|strike) that\b|(?:forget|ignore) what i (?:just )?(?:said|wrote)\b|i take (?:that|it|this) back\b"
    r"|i (?:misspoke|mistyped)\b"
)
TAKES_BACK = re.compile(rf"{_BEFORE}(?:(?P<all>{_ELSEWHERE})|{_MISSAID})", re.IGNORECASE)
"""How a prompt begins that takes back the one before it: ``all`` of it, or else what it said last. "That's wrong" is
none: it may mean what an agent said."""
_PLAYS = re.compile(
    r"\b(?:role[- ]?play|pretend|act as if|imagine (?:that|we|you)|in character|play the (?:role|part))\b",
    re.IGNORECASE,
)
_ENDS_PLAY = re.compile(
    r"\b(?:end of (?:the |this )?(?:role|play|game|scene|story)|out of character|back to (?:work|reality|normal)"
    r"|stop (?:pretending|playing)|(?:speak|talk|answer) normally|none of (?:it|this|that) is)\b",
    re.IGNORECASE,
)
_TAKEN_BACK = (
    rf"(?:{_ELSEWHERE}|{_MISSAID}|"
    r"(?:i(?:'m| am| was) )?(?:just |only )?(?:kidding|joking)\b|jk\b|wait,? no\b"
    r"|(?:scratch|strike|ignore|forget) (?:that|it|this)\b|i (?:meant|mean)\b"
    r"|(?:that|this|it)(?:'s| is| was|'s been| has been) "
    r"(?:a (?:lie|joke)|wrong|false|outdated|obsolete|(?:not|no longer) (?:true|right|correct|the case))\b"
    r"|(?:not (?:true|really|any ?more|any longer)|never ?mind|(?:we|i) (?:don't|do not|didn't|won't)|wrong|nope|no)"
    r"[ \t]{0,3}(?:[.!,;)\n]|$))"
)
_RETRACTION = re.compile(_BOUNDARY + f"(?P<taken_back>{_BEFORE}{_TAKEN_BACK})", re.IGNORECASE)
_GOES_ON = re.compile(r"(?:,|\b(?:no|meant|mean))$", re.IGNORECASE)
_DENIED = re.compile(r"[^.!?\n]{0,200}?\bnot[ \t]+(?:(?:on|in|with|at|the)[ \t]+)?[`'\"]?(?P<denied>[\w.+#/-]*\w)")
"""What the sentence that goes on behind a retraction says that it is not: "No, the port is 9090, not 8080"."""
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")


def is_played(before: Iterable[str]) -> bool:
    """Whether one of the prompts before another, the newest first, begins to play a part that none after it ends."""
    for prompt in before:
        if _ENDS_PLAY.search(prompt):
            return False
        if _PLAYS.search(prompt):
            return True
    return False


def said_in_earnest(prompt: str) -> str:
    """``prompt`` without its quoted lines, and without each sentence that the next words take back.

    "We use Redis. Just kidding!" states nothing, and neither does a line that begins with ">", as in a mail. A
    retraction that names what it denies takes back nothing that does not say it.
    """
    text = _QUOTE.sub("", prompt.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    kept: list[str] = []
    done = 0
    for retraction in _RETRACTION.finditer(text):
        said = text[done : retraction.start("taken_back")]
        ends = [match.end() for match in _SENTENCE_END.finditer(said.rstrip(" \t\n.!?,;:(-\u2014"))]
        start = ends[-1] if ends else 0
        denied = _DENIED.match(text, retraction.end()) if _GOES_ON.search(retraction[0]) else None
        if denied is not None and denied["denied"].lower() not in said[start:].lower():
            continue
        kept.append(said[:start])
        kept.append("\n")
        done = retraction.start("taken_back")
    return "".join((*kept, text[done:]))
