"""What a message asks of the graph: its keywords, the entities it names, what it wants and which time it means."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from datetime import datetime

import attrs

from kiro_learn.model.graph import Entity, EntityType, GraphItemId
from kiro_learn.retrieval.graph.intents import Intent, intent_of
from kiro_learn.retrieval.graph.name_spans import Span, bare, spans_in
from kiro_learn.retrieval.query.question import Query
from kiro_learn.retrieval.query.stop_words import is_stop_word
from kiro_learn.retrieval.query.terms import terms
from kiro_learn.retrieval.query.time_ranges import TimeRange, held_until, time_range_in

LOOKED_AT = 10_000
"""Characters at each end of a message that are read at all."""
MOST_KEYWORDS = 32
SHORT_NAME = 3
"""A name with fewer letters is meant only where it is written exactly so."""
MOST_OF_A_NAME = 3
"""Entities that are meant by one name, the ones mentioned most."""

_PHRASES = re.compile(
    r"\b(?:like|as) (?:i|we|you|they) (?:did|do|said)\b|\b(?:last|this|next|every|each) time\b"
    r"|\bremember (?:when|how|that)\b|\bdo you (?:remember|recall)\b|\bgo ahead\b|\bi(?:'d| would) like\b",
    re.IGNORECASE,
)
"""Turns of phrase that ask for nothing by their words."""
_REFERS_BACK = re.compile(r"\b(?:it|its|that|this|they|them|there|he|she|him|her)\b", re.IGNORECASE)
_OURS = re.compile(r"\b(?:we|us|our|ours|(?:the|this) (?:project|app|repo|codebase))\b", re.IGNORECASE)
_DID_WE = re.compile(r"\b(?:did (?:we|i|you)|(?:we|i|you) did)\b", re.IGNORECASE)


@attrs.frozen(kw_only=True)
class GraphQuery:
    """What a message asks of the graph."""

    text: str
    """What is compared by meaning: the question in a long message."""
    keywords: tuple[str, ...]
    """In small letters, in order of appearance."""
    spans: tuple[Span, ...]
    """What may be the name of an entity, the longest first."""
    intent: Intent
    time_range: TimeRange | None = None
    asks_what_was_done: bool = False
    """By the person and the agent: then nothing outside of the time that it names is meant."""
    refers_back: bool = False
    """It has a word like "it", which may mean what was spoken of before."""
    project: str = ""
    """The name of the project, in small letters, where the message asks about it without naming it: "what did we use
    before?"."""

    def names(self) -> set[str]:
        """All that may be the name of an entity, in small letters."""
        return {span.name for span in self.spans} | ({self.project} if self.project else set())


def analyzed(text: str, *, now: datetime, project: str = "") -> GraphQuery:
    """What ``text`` asks; ``now`` is aware and in the zone of the person who wrote it.

    Args:
      project: the name of the project that it was written in.
    """
    ends = text if len(text) <= 2 * LOOKED_AT else f"{text[:LOOKED_AT]}\n{text[-LOOKED_AT:]}"
    plain = unicodedata.normalize("NFKC", ends).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    asked = Query.of_prompt(plain)
    bare = _PHRASES.sub(" ", asked.words)
    intent = intent_of(plain)
    asks_history = intent is Intent.ASK_HISTORY
    is_about_project = asks_history or (intent.asks_what_holds and _OURS.search(plain) is not None)
    keywords = dict.fromkeys(term.casefold().removesuffix("'s") for term in terms(bare))
    return GraphQuery(
        text=asked.meaning,
        keywords=tuple(word for word in keywords if not is_stop_word(word))[:MOST_KEYWORDS],
        spans=spans_in(ends),
        intent=intent,
        time_range=(held_until(plain, now=now) if asks_history else None) or time_range_in(plain, now=now),
        asks_what_was_done=intent.ignores_recency or _DID_WE.search(plain) is not None,
        refers_back=_REFERS_BACK.search(plain) is not None,
        project=project.casefold() if is_about_project else "",
    )


def entities_meant(query: GraphQuery, entities: Collection[Entity]) -> tuple[GraphItemId, ...]:
    """Those of ``entities`` that the message names; a longer name takes the words that a shorter one has in it.

    The project itself is meant too where it asks what was, and where it asks what "we" have and names nothing else.
    """
    by_name: dict[str, list[Entity]] = {}
    for entity in entities:
        for name in dict.fromkeys((entity.name, *entity.aliases)):
            by_name.setdefault(" ".join(name.split()).casefold(), []).append(entity)
    taken: set[int] = set()
    meant: dict[GraphItemId, None] = {}
    for span in query.spans:
        known = [each for each in by_name.get(span.name, ()) if _is_written(each, span)]
        places = range(span.start, span.end)
        if known and taken.isdisjoint(places):
            taken.update(places)
            best = sorted(known, key=_most_mentioned)
            meant |= dict.fromkeys(each.item_id for each in best[:MOST_OF_A_NAME])
    if query.project and (query.intent is Intent.ASK_HISTORY or not meant):
        ours = by_name.get(query.project, ())
        meant |= dict.fromkeys(each.item_id for each in ours if each.type is EntityType.PROJECT)
    return tuple(meant)


def _most_mentioned(entity: Entity) -> tuple[int, float, str]:
    return (-entity.mention_count, -entity.last_referenced.timestamp(), entity.item_id)


def _is_written(entity: Entity, span: Span) -> bool:
    """A short name, and one that is an ordinary word, are meant only where their letters are the same."""
    name = bare(span.name)
    if len(name) >= SHORT_NAME and not is_stop_word(name):
        return True
    is_ordinary = span.begins and span.written[:1].isupper()
    return span.written in {entity.name, *entity.aliases} and not is_ordinary
