"""The reason in a commit's message, as a memory of its own sentences; made without a model."""

from __future__ import annotations

import re
from typing import Literal

import attrs

MOST_TITLE, MOST_SUMMARY, MOST_FACT = 160, 1_200, 400
MOST_FACTS = 5
LEAST_WORDS = 12
"""The least words of a paragraph that counts as a reason without a word for one; shorter ones only repeat the
subject."""

MERGES = "merges"
BOTS = "commits of bots"
BUMPS = "commits of new versions or dependencies"
NO_REASON = "commits that say no reason"
BARE_REVERTS = "reverts without a reason"

_BOT = re.compile(
    r"\[bot\]|\b(?:dependabot|renovate|greenkeeper|github-actions|pre-commit-ci|snyk-bot|allcontributors|mergify)\b",
    re.IGNORECASE,
)
_BUMP = re.compile(
    r"(?:build|chore|fix|ci)\(deps|(?:bump|upgrade|update) (?:version|dependenc|\S{1,60} (?:from|to) v?\d)"
    r"|(?:chore: )?(?:release|version|prepare|begin|start|tag)\b.{0,20}\bv?\d+\.\d|v?\d+\.\d+[\w.+-]{0,20}\Z"
    r"|(?:auto-?generated|regenerate|update (?:changelog|snapshots?|lock ?files?|translations?|contributors))\b",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"(?P<type>[a-z]{2,10})(?:\((?P<scope>[^)]{1,40})\))?!?: ", re.IGNORECASE)
_FIXES = frozenset({"fix", "bugfix", "hotfix"})
LEAST_TITLE_WORDS = 3
"""The least words of a subject after its prefix; shorter ones do not say what they are about."""
_NUMBER = re.compile(r" \(#\d{1,9}\)\Z")
_REVERT = re.compile(
    r"(?:(?:Revert|Reapply) |(?i:revert)(?:\([^)]{1,40}\))?!?: )\"(?P<quoted>.{1,300})\"\Z"
    r"|(?i:revert)(?:\([^)]{1,40}\))?!?: (?P<bare>.{1,300})\Z"
)
_REVERTS = re.compile(
    r"This reverts commit [0-9a-f]{7,64}(?:, reversing changes[^.\n]{0,80}| \([^)\n]{0,80}\))?\.?", re.IGNORECASE
)
_ESCAPE = re.compile(
    r"\x1b\[[0-9;?]{0,20}[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]"
)
_TRAILER = re.compile(r"(?P<name>[A-Za-z][A-Za-z-]{1,30}|BREAKING CHANGE)(?:: | #)(?P<value>\S.{0,400})")
_KEPT_TRAILERS = frozenset({"fixes", "closes", "resolves", "refs", "see", "bug", "issue", "reverts", "related"})
_BREAKING = re.compile(r"BREAKING[ -]CHANGE:?")
_OF_A_FIX = r"instead of|rather than|in favou?r of|decided|we chose|on purpose|deliberately|trade-?off"
_CHOICE = re.compile(rf"\b(?:because|so that|the reason|{_OF_A_FIX})\b", re.IGNORECASE)
_CHOICE_OF_A_FIX = re.compile(rf"\b(?:{_OF_A_FIX})\b", re.IGNORECASE)
"""Without "because" and "so that": in a fix these name a cause, not a choice."""
_WHY = re.compile(
    r"\b(?:since|otherwise|in order to|to avoid|prevents?|due to|as a result|leads? to|caus(?:es?|ed)|broke|breaks"
    r"|fail(?:s|ed)|no longer|turns? out|turned out|work ?around|without this|which means|needs? to|must|unless)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z\"'`(])")
_NO_PROSE = re.compile(r"(?:\s{4}|\t|>|\$ |```|\||https?://\S+\Z|(?:[-*+]|\d+[.)]) \[[ x]\])")
_ITEM = re.compile(r"\s{0,3}(?:[-*+]|\d{1,2}[.)]) ")


@attrs.frozen
class Reasoned:
    """The memory of a commit."""

    title: str
    summary: str
    facts: tuple[str, ...]
    kind: Literal["decision", "rejected", "discovery"]


def reason_in(message: str, author: str, *, is_merge: bool) -> Reasoned | str:
    """The memory of the reason in a commit's message, or why the commit is left out.

    A body has a reason if it has a word for one, or a long enough paragraph that is no list item.
    """
    lines = [_ESCAPE.sub("", line).rstrip() for line in message.replace("\r\n", "\n").split("\n")]
    subject, body = _NUMBER.sub("", lines[0].strip()), lines[1:]
    prefix = _PREFIX.match(subject)
    title = subject[prefix.end() :].strip() if prefix else subject
    if is_merge:
        return MERGES
    if _BOT.search(author):
        return BOTS
    if _BUMP.match(subject) or _BUMP.match(title):
        return BUMPS
    body, trailers = _split_trailers(body)
    paragraphs = _paragraphs(body)
    revert = _REVERT.match(subject) or _REVERT.match(title)
    if revert:
        paragraphs = [text for text in (_REVERTS.sub("", each).strip() for each in paragraphs) if text]
        title = f"Reverted: {_PREFIX.sub('', revert['quoted'] or revert['bare'], count=1)}"
        if not paragraphs:
            return BARE_REVERTS
    text = " ".join((title, *paragraphs))
    has_words = any(len(each.split()) >= LEAST_WORDS for each in paragraphs if not _ITEM.match(each))
    if not title or not (_CHOICE.search(text) or (paragraphs and (_WHY.search(text) or has_words))):
        return NO_REASON
    choice = _CHOICE_OF_A_FIX if prefix and prefix["type"].lower() in _FIXES else _CHOICE
    is_decision = choice.search(text) or _BREAKING.search("\n".join(lines))
    summary = _shortened(paragraphs, title)
    if prefix and not revert:
        title = _telling(title, prefix["scope"], paragraphs)
    kind: Literal["decision", "rejected", "discovery"] = "decision" if is_decision else "discovery"
    return Reasoned(title[:MOST_TITLE], summary, tuple(trailers[:MOST_FACTS]), "rejected" if revert else kind)


def _telling(title: str, scope: str | None, paragraphs: list[str]) -> str:
    """``title``, with its subject added if it is too short: the scope, or the first sentence of the reason."""
    if len(title.split()) >= LEAST_TITLE_WORDS:
        return title
    if scope:
        return f"{scope}: {title}"
    return f"{title}: {_SENTENCE.split(paragraphs[0])[0]}" if paragraphs else title


def _split_trailers(body: list[str]) -> tuple[list[str], list[str]]:
    """The body without its last lines that name people and tickets; and those of these lines that name tickets."""
    kept = list(body)
    trailers: list[str] = []
    while kept:
        line = kept[-1].strip()
        found = _TRAILER.fullmatch(line) if line else None
        if line and (found is None or found["name"].startswith("BREAKING")):
            break
        kept.pop()
        if found and found["name"].lower() in _KEPT_TRAILERS:
            trailers.insert(0, line[:MOST_FACT])
    return kept, trailers


def _paragraphs(body: list[str]) -> list[str]:
    """The prose of a body, one line for each paragraph and list item; without code, quotes and bare links."""
    paragraphs: list[list[str]] = [[]]
    for line in body:
        is_item = bool(_ITEM.match(line))
        if not line.strip() or (_NO_PROSE.match(line) and not is_item):
            paragraphs.append([])
        elif is_item:
            paragraphs.append([line.strip()])
        else:
            paragraphs[-1].append(line.strip())
    return [" ".join(each) for each in paragraphs if each]


def _shortened(paragraphs: list[str], title: str) -> str:
    """All of the prose, or its first sentence and those with a reason, as many as fit."""
    whole = "\n".join(paragraphs) or title
    if len(whole) <= MOST_SUMMARY:
        return whole
    sentences = [sentence for each in paragraphs for sentence in _SENTENCE.split(each)]
    chosen: list[str] = []
    room = MOST_SUMMARY
    for place, sentence in enumerate(sentences):
        if (place == 0 or _CHOICE.search(sentence) or _WHY.search(sentence)) and len(sentence) < room:
            chosen.append(sentence)
            room -= len(sentence) + 1
    return " ".join(chosen) or whole[:MOST_SUMMARY]
