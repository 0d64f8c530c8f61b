"""What a person wants to be done always, or never: orders for the work that name no occasion, in their own words."""

from __future__ import annotations

import re

from kiro_learn.learning.graph.gazetteer import WORK_WORDS, is_known
from kiro_learn.learning.graph.wish_keys import key_of, words_of
from kiro_learn.model.draft import PreferenceDraft, Source
from kiro_learn.model.graph import MAX_OBJECT, PreferenceCategory, SourceType

STRENGTH = 0.8

_ORDERED = """
    add amend answer ask assert avoid begin break build bump bypass cache call catch change check close comment
    commit copy create delete deploy disable document edit ensure escape explain expose force force-push format
    generate handle hardcode ignore import include install keep leak link lint load log make merge migrate mix mock
    modify move name open pin prefer print publish push put raise read rebase refactor regenerate release remove
    rename reset restart return review run set show sign skip sort split squash start stop store suggest tag test
    throw touch trust update upgrade use validate verify wait wrap write
"""
"""What people order about a project: the same words with other verbs tell what somebody does or feels."""
_ORDER = re.compile(
    r"(?i)(?:(?:please|and|also|but|ok|note|remember|(?:in|for) this (?:repo|project|codebase))[,:]? (?:that )?)*"
    r"(?:from now on,? )?(?:(?:you|we|agents|everyone) (?:should|must) )?(?:please )?"
    r"(?:always|never|(?:do not|don'?t) ever) (?:ever )?"
    rf"(?P<what>(?:{'|'.join(_ORDERED.split())})\b(?: .+)?)",
)
_TAKEN_BACK = re.compile(
    r"(?i)(?:you (?:don't|do not|no longer) (?:have|need) to|(?:there is |there's )?no need to|(?:please )?stop) "
    r"(?:always )?(?P<what>[^,;:]{4,120}?) (?:any ?more|any longer|from now on)",
)
_NO_ORDER = re.compile(
    r"(?i)[?\"\u201c\u201d\u00ab]|=>|==|\w\("
    r"|\b(?:said|says?|told|wrote|asks|asked|would|could|example|pretend|imagine|story|character|this time|for now"
    r"|just now|right now|today|yet|here|in this (?:pr|commit|file|case)|yourself|yourselves|people|someone|each other"
    r"|life)\b|\b(?:always|never|ever) (?:[a-z-]+ (?:it|them|him|her|this|these|those)"
    r"|(?!check|ensure|verify|assert)[a-z-]+ that)\b",
)
"""A question, a quotation, a story, an order for once or for what another sentence names, and what somebody does."""
_CODE = re.compile(r"`|\w_\w|\w/\w+\.\w|\w\.(?:py|ts|tsx|js|go|rs|md|toml|json|ya?ml)\b|--\w")


def wish_in(sentence: str, source: Source) -> PreferenceDraft | None:
    """The preference that ``sentence`` states or takes back; None for most sentences."""
    text = " ".join(sentence.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split()).lstrip("-*> ").rstrip(".! ")
    ordered = _ORDER.fullmatch(text)
    match = ordered or _TAKEN_BACK.fullmatch(text)
    if match is None or _NO_ORDER.search(text):
        return None
    words = words_of(match["what"])
    key = key_of(match["what"])
    names_tool = any(map(is_known, words))
    if not key or not (names_tool or WORK_WORDS.intersection(map(str.lower, words)) or _CODE.search(text)):
        return None
    return PreferenceDraft(
        category=PreferenceCategory.TOOLS if names_tool else PreferenceCategory.WORKFLOW,
        key=key,
        value=text[:MAX_OBJECT],
        strength=STRENGTH,
        source_type=SourceType.STATED,
        is_denied=ordered is None,
        source=source,
    )
