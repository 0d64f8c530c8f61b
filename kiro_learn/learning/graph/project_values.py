"""Sentences that state a value of the project that is no name: a port, a branch, a version, a licence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.learning.graph.gazetteer import known_at_start
from kiro_learn.learning.graph.statement import PROJECT, Statement
from kiro_learn.model.graph import EntityType

_PORT = re.compile(
    r"(?:now\s+|about\s+)?(?P<article>(?:our|the|this)\s+)?(?P<what>(?:\w+\s+){0,3})"
    r"(?:(?:is\s+(?:now\s+)?(?:listening|running)|(?:now\s+)?(?:listens?|runs?))\s+on\s+port|port\s+is(?:\s+now)?|port\s+(?:(?:has|was|is|got)\s+)?(?:been\s+)?(?:changed|moved|set)\s+to"
    r"|port,\s+it'?s|port\s+(?:is\s+not|isn't|is\s+no\s+longer)\s+(?P<wrong>\d{2,5}),?\s+(?:but|it's|it\s+is))"
    r"\s+(?:now\s+)?(?P<object>\d{2,5})\b(?:,?\s+not\s+(?P<old>\d{2,5}))?",
    re.IGNORECASE,
)
_NO_PORT = re.compile(
    r"(?:(?:our|the|this)\s+)?port\s+(?:is\s+not|isn't|is\s+no\s+longer)\s+(?P<object>\d{2,5})(?:\s+any\s?(?:more|longer))?\s*[.!]?$",
    re.IGNORECASE,
)
_BRANCH = re.compile(
    r"(?:(?:(?:our|the)\s+)?default\s+branch\s+(?:is|was\s+(?:renamed|changed)\s+to)|(?:our|the)\s+main\s+branch\s+(?:is|was\s+(?:renamed|changed)\s+to)"
    r"|we(?:'ve|\s+have)?\s+(?:renamed|changed|switched)\s+(?:(?:our|the)\s+(?:default|main)\s+branch|master|trunk)\s+to)\s+(?:now\s+)?[\"'`]?(?P<object>[\w./-]{1,60})[\"'`]?",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"(?:we|the (?:project|app|code)|this (?:project|repo)|it)\s+(?:requires?|targets?|supports? only)\s+"
    r"(?P<object>(?:python|node|go|java|rust|ruby|php)\s+v?\d[\w.+]*)",
    re.IGNORECASE,
)
_LICENSE = re.compile(
    r"(?:(?:[Tt]he |[Tt]his |[Oo]ur )?(?:project|repo|code|it)\s+is\s+(?:now\s+)?(?:re)?licensed\s+under"
    r"|[Ww]e(?:'ve|\s+have)?\s+(?:just\s+)?relicensed\s+(?:it\s+|the\s+project\s+)?(?:to|under))\s+(?:the\s+)?"
    r"(?P<object>[A-Z][\w.+-]*)"
)


def project_values_in(text: str) -> Iterator[Statement]:
    """Values of the project that are no names: a port, a branch, a version, a licence."""
    denied = _NO_PORT.match(text)
    if denied is not None:
        yield Statement(
            subject=PROJECT,
            subject_type=EntityType.PROJECT,
            predicate="listens_on_port",
            object=denied["object"],
            is_denied=True,
        )
        return
    for pattern, predicate in (
        (_PORT, "listens_on_port"),
        (_BRANCH, "default_branch"),
        (_VERSION, "requires_version"),
        (_LICENSE, "licensed_under"),
    ):
        match = pattern.match(text)
        part = PROJECT if match is None or pattern is not _PORT else _part_of(match)
        if match is not None and part is not None:
            old = match.groupdict().get("old") or match.groupdict().get("wrong")
            yield Statement(
                subject=part,
                subject_type=EntityType.PROJECT,
                predicate=predicate,
                object=match["object"].rstrip("."),
                replaces=old,
                is_correction=old is not None,
            )
            return


_NO_PART = frozenset({"is", "now", "app", "it", "port"})
_SERVES = frozenset(
    {"server", "api", "app", "backend", "frontend", "service", "worker", "gateway", "proxy", "dashboard"}
)
_NO_NAME = frozenset(
    {
        "the",
        "our",
        "this",
        "that",
        "a",
        "an",
        "is",
        "was",
        "says",
        "shows",
        "means",
        "and",
        "or",
        "not",
        "no",
        "my",
        "your",
        "each",
        "every",
        "another",
        "other",
        "some",
        "any",
        "which",
        "old",
        "new",
    }
)


def _part_of(match: re.Match[str]) -> str | None:
    """A part of the project that has a port of its own, as ``API server``; PROJECT where none is named.

    None: what stands before the port is no name. A part has an article ("the API server") or is known ("Redis"); other
    words are the beginning of a longer sentence ("I see the port is 80").
    """
    words = match["what"].split()
    words = [word for word in words if word.lower() not in _NO_PART]
    if not words:
        return PROJECT
    is_named = match["article"] or words[-1].lower() in _SERVES or known_at_start(words) is not None
    return " ".join(words) if is_named and not _NO_NAME.intersection(map(str.lower, words)) else None
