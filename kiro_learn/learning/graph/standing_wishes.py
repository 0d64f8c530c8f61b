"""What a person wants to be done always, or never: orders for the work that name no occasion, in their own words."""

from __future__ import annotations

import re

from kiro_learn.learning.graph.gazetteer import WORK_WORDS, is_known
from kiro_learn.model.draft import PreferenceDraft, Source
from kiro_learn.model.graph import MAX_NAME, MAX_OBJECT, PreferenceCategory, SourceType

KEY_WORDS = 6
"""Of a wish that tell it from others."""
STRENGTH = 0.8

_ORDER = re.compile(
    r"(?i)(?:(?:please|and|also|but|ok|note|remember|(?:in|for) this (?:repo|project|codebase))[,:]? (?:that )?)*"
    r"(?:from now on,? )?(?:(?:you|we|agents|everyone) (?:should|must) )?(?:please )?"
    r"(?:always|never|(?:do not|don'?t) ever) (?:ever )?(?P<what>[a-z][a-z-]+(?: .+)?)",
)
_TAKEN_BACK = re.compile(
    r"(?i)(?:you (?:don't|do not|no longer) (?:have|need) to|(?:there is |there's )?no need to|(?:please )?stop) "
    r"(?:always )?(?P<what>[^,;:]{4,120}?) (?:any ?more|any longer|from now on)",
)
_NO_ORDER = re.compile(
    r"(?i)[?\"\u201c\u201d\u00ab]|=>|==|\w\("
    r"|\b(?:said|says|told|wrote|asks|asked|would|could|example|pretend|imagine|story|character|this time|for now"
    r"|just now|right now|today|yet|here|in this (?:pr|commit|file|case)|yourself|yourselves|people|someone|each other"
    r"|life)\b|\b(?:always|never|ever) (?:(?!(?:alias|canvas|focus|process|access|express|compress|pass|discuss)\b)"
    r"[a-z-]+s|(?!(?:need|embed|feed|seed|proceed|exceed)\b)[a-z-]+ed|mind|been|came|did|felt|found|gave|got|gone|had"
    r"|heard|knew|know|made|met|saw|seen|thought|took|was|were|went)\b|\b(?:always|never|ever)"
    r" (?:[a-z-]+ (?:it|them|him|her|this|these|those)|(?!check|ensure|verify|confirm|assert)[a-z-]+ that)\b",
)
"""A question, a quotation, a story, an order for once or for what another sentence names, and what somebody does."""
_CODE = re.compile(r"`|\w_\w|\w/\w+\.\w|\w\.(?:py|ts|tsx|js|go|rs|md|toml|json|ya?ml)\b|--\w")
_NO_KEY_WORDS = """
    a an the our my your we you i this that these on of for with in to from now all any every when before after be is
    and or but also always never ever should must please ok note remember project repo codebase use used using
"""
_NO_KEY = frozenset(_NO_KEY_WORDS.split())
_WORD = re.compile(r"[^\W_][\w.'#+/-]*")


def wish_in(sentence: str, source: Source) -> PreferenceDraft | None:
    """The preference that ``sentence`` states or takes back; None for most sentences."""
    text = " ".join(sentence.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split()).lstrip("-*> ").rstrip(".! ")
    ordered = _ORDER.fullmatch(text)
    match = ordered or _TAKEN_BACK.fullmatch(text)
    if match is None or _NO_ORDER.search(text):
        return None
    words = _words(match["what"])
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


def key_of(text: str) -> str:
    """The first words of a wish that tell what it is about; empty where it has none."""
    return " ".join([word for word in map(str.lower, _words(text)) if word not in _NO_KEY][:KEY_WORDS])[:MAX_NAME]


def _words(text: str) -> list[str]:
    return [word.rstrip(".'") for word in _WORD.findall(text)]
