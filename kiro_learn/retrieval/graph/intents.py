"""What a message wants, told by rules: it decides what is looked for, how far, and whether recent things come first."""

from __future__ import annotations

import enum
import re


class Intent(enum.StrEnum):
    """What a message wants."""

    RECALL_EPISODE = "recall_episode"
    DO_TASK = "do_task"
    ASK_FACT = "ask_fact"
    ASK_CURRENT_STATE = "ask_current_state"
    ASK_HISTORY = "ask_history"
    ASK_PREFERENCE = "ask_preference"
    CORRECT = "correct"
    STATE_FACT = "state_fact"
    OTHER = "other"

    @property
    def depth(self) -> int:
        """How far a walk goes from what the message names."""
        return 2 if self in {Intent.DO_TASK, Intent.RECALL_EPISODE} else 1

    @property
    def asks_what_holds(self) -> bool:
        """What is not sure may be worth knowing too."""
        return self in {Intent.ASK_FACT, Intent.ASK_CURRENT_STATE, Intent.ASK_HISTORY}

    @property
    def ignores_recency(self) -> bool:
        """What is old may be just what is asked for."""
        return self in {Intent.ASK_HISTORY, Intent.RECALL_EPISODE}


_VERBS = (
    r"add|apply|build|bump|change|check|clean|commit|configure|convert|copy|create|debug|delete|deploy|do|document|draft"
    r"|enable|disable|explain|extend|extract|fix|generate|implement|improve|install|investigate|lint|look|make|merge"
    r"|migrate|move|optimi[sz]e|port|prepare|publish|push|rebase|refactor|release|remove|rename|replace|reset|restart"
    r"|revert|review|rewrite|roll back|run|set|set up|ship|show|simplify|split|start|stop|test|try|tune|undo|update"
    r"|upgrade|use|verify|wire|write"
)
_ASKED_TO = (
    r"(?:(?:can|could|would|will) you|please|let'?s|now|then|ok(?:ay)?,?|i(?:'d| would) like you to|go ahead and)"
)
_ASKED = r"\b(?:what|which|where|who|how)"
_EARLIER = r"(?:before|previously|earlier|formerly|originally|back then|until|till|in the past|at (?:first|the time))"
_PATTERNS = {
    Intent.RECALL_EPISODE: (
        r"\bremember (?:when|how|that|the time)\b",
        r"\bdo you (?:remember|recall)\b",
        r"\bwhen did (?:we|i|you)\b",
        r"\bwhat did (?:we|i|you) (?:do|decide|change|try|say|talk)\b",
        r"\b(?:what|how) (?:happened|went)\b",
    ),
    Intent.ASK_HISTORY: (
        r"\bas of\b",
        r"\b(?:we|i|you|they|it|he|she|who|which|what|that|(?:the|our|my) \w+) used to\b[^.!]{0,100}\?",
        rf"{_ASKED} did (?:we|i|you|they|it|the \w+) use to\b",
        rf"{_ASKED} (?:\w+ ){{0,3}}(?:was|were|did|had|have|has)\b[^.!?]{{0,80}}\b{_EARLIER}\b",
        rf"{_ASKED} (?:was|were) (?:our|the|my|its|your) (?:old|previous|former|earlier|original) \w",
        r"^(?:did|have|had|has) (?:we|i|you|they|it|the \w+) (?:ever|previously)\b[^.!]{0,100}\?",
        r"\bpreviously\b[^.!]{0,100}\?",
        r"\bhistory of\b",
    ),
    Intent.ASK_PREFERENCE: (
        r"\b(?:do|would) (?:i|we) (?:prefer|like|want)\b",
        r"\b(?:my|our) (?:preference|preferred|usual|favou?rite)",
        r"\bhow do (?:i|we) (?:like|usually|normally)\b",
    ),
    Intent.CORRECT: (
        r"^(?:no|nope|wrong)\b[,.!]?\s",
        r"^(?:actually|sorry)\b",
        r"\bthat'?s (?:wrong|not right|incorrect)\b",
        r"\bi (?:said|meant)\b",
        r"\bnot like that\b",
    ),
    Intent.DO_TASK: (rf"^(?:{_ASKED_TO}\s+){{0,3}}(?:{_VERBS})\b(?!\s+(?:we|you|they|i|it)\b)",),
    Intent.ASK_CURRENT_STATE: (
        r"\b(?:what|where|which|how|is|are)\b[^.!]{0,80}\b(?:now|currently|at the moment|status|these days)\b",
    ),
    Intent.ASK_FACT: (
        r"^(?:what|which|who|whose|where|when|why|how|is|are|does|do|did|has|have|was|were)\b",
        r"\?\s{0,9}$",
    ),
    Intent.STATE_FACT: (r"^(?:we|i|our|my|the|this)\b[^?]{3,200}$",),
}
"""From the most telling to the least."""
_COMPILED = {
    intent: re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE) for intent, patterns in _PATTERNS.items()
}

LOOKED_AT = 1_000
"""Characters at each end of a message in which what it wants is looked for."""


def intent_of(text: str) -> Intent:
    """The first that fits, from the most telling to the least."""
    ends = text if len(text) <= 2 * LOOKED_AT else f"{text[:LOOKED_AT]}\n{text[-LOOKED_AT:]}"
    plain = ends.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").strip()
    return next((intent for intent, pattern in _COMPILED.items() if pattern.search(plain)), Intent.OTHER)
