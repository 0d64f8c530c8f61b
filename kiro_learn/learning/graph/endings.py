"""Sentences that say that something is gone from the project, and perhaps what there is now."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.learning.graph.gazetteer import known_at_start
from kiro_learn.learning.graph.names import name_in, words_of_name
from kiro_learn.learning.graph.statement import PROJECT, Statement
from kiro_learn.model.graph import EntityType

NOT_NEEDED = re.compile(r"\b(?:don't|do not|no longer)\s+(?:need|want)\b", re.IGNORECASE)
"""Says something, though "need" and "want" alone do not."""

_NAME = r"[^\s,;:()\"'`]{1,40}(?:\s[^\s,;:()\"'`]{1,40}){0,4}"
_OLD = rf"(?P<old>{_NAME})"
_NEW = rf"(?P<new>{_NAME})"
_ADVERBS = r"(?:(?:finally|just|now|already|also|recently|completely|all|long)\s+){0,2}"
_ANY_MORE = r"(?=[^,;.]{0,60}\s(?:any\s?more|any\s+longer)\b)"
_WHERE = r"(?!\s[^,;]{1,60}\s(?:from|(?:in|for)\s+(?:the|our|this|my))\s)"
"""What is removed from a file, or for one thing, is still there for others."""
_GONE = (
    re.compile(
        rf"(?:(?:our|the)\s+)?{_OLD}\s+(?:is|was|are|were|has\s+been|have\s+been|got)\s+{_ADVERBS}"
        r"(?:gone|history|retired|dropped|removed|decommissioned|ripped\s+out|thrown\s+out|phased\s+out|uninstalled)\b"
        r"(?!\s+(?:from|in|for|on)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:we|i)(?:'ve|\s+have)?\s+{_ADVERBS}(?:got\s+rid\s+of|dropped|removed|ripped\s+out|threw\s+out|ditched|retired"
        r"|uninstalled|abandoned|axed|purged|phased\s+out|kicked\s+out|decommissioned|said\s+goodbye\s+to"
        rf"|moved\s+(?:off|away\s+from)|migrated\s+(?:off|away\s+from)|switched\s+away\s+from){_WHERE}\s+{_OLD}",
        re.IGNORECASE,
    ),
    re.compile(rf"we(?:'ve|\s+have)?\s+{_ADVERBS}killed\s+(?:off\s+)?{_OLD}", re.IGNORECASE),
    re.compile(
        rf"(?:we|i)\s+(?:no\s+longer\s+(?:need|have|want|require)|(?:don't|do\s+not)\s+(?:need|have|want|require){_ANY_MORE})"
        rf"\s+{_OLD}",
        re.IGNORECASE,
    ),
    re.compile(rf"no\s+more\s+{_OLD}(?=\s+(?:in|here|please|pls)\b|[.,;!]|$)", re.IGNORECASE),
)
"""Being off, down or dead passes."""
_INSTEAD = re.compile(
    r"[^,;]{0,40}[,;]\s*(?:(?:and|so|now)\s+)*(?:it'?s|it\s+is|everything(?:'s|\s+is)?"
    r"|we(?:'re|\s+are)?(?:\s+(?:only|just|now))?(?:\s+(?:use|using|on))?)"
    rf"\s+(?:(?:all|only|just|now|on|in|using|with)\s+){{0,3}}{_NEW}",
    re.IGNORECASE,
)
"""What there is now, behind what is gone: "Jest is gone, it's all Vitest now"."""


def endings_in(text: str) -> Iterator[Statement]:
    """That the project uses something no longer, and what it uses instead."""
    gone = next(filter(None, (form.match(text) for form in _GONE)), None)
    if gone is None:
        return
    names = [_whole_name(part) for part in re.split(r"\s+(?:and|&)\s+", gone["old"])]
    old = [name for name in names if name is not None]
    instead = _INSTEAD.match(text, gone.end())
    new = None if instead is None else name_in(instead["new"])
    if len(old) < len(names):
        return
    for name in old:
        is_replaced = new is not None and new not in old
        yield Statement(
            subject=PROJECT,
            subject_type=EntityType.PROJECT,
            predicate="uses",
            object=new if new is not None and is_replaced else name,
            replaces=name if is_replaced else None,
            is_denied=not is_replaced,
        )


def _whole_name(phrase: str) -> str | None:
    """A known name with nothing behind it: a container of Redis may go where Redis stays."""
    words = words_of_name(phrase)
    name = known_at_start(words) if words else None
    return name if name is not None and len(name.split()) == len(words) else None
