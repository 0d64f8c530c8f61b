"""What a message asks of the graph: its keywords, the entities it names, what it wants and which time it means."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

import attrs

from kiro_learn.model.graph import Entity, GraphItemId
from kiro_learn.retrieval.graph.intents import Intent, intent_of
from kiro_learn.retrieval.query.question import Query
from kiro_learn.retrieval.query.stop_words import is_stop_word
from kiro_learn.retrieval.query.terms import terms
from kiro_learn.retrieval.query.time_ranges import TimeRange, time_range_in

LOOKED_AT = 10_000
"""Characters at each end of a message that are read at all."""
MOST_KEYWORDS = 32
MOST_WORDS = 120
"""Of a message in which entities are looked for: half of them at its beginning, half at its end."""
LONGEST_NAME = 3
"""Words of a name."""
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
_POSSESSIVE = re.compile(r"'s$|s'$")
_REFERS_BACK = re.compile(r"\b(?:it|its|that|this|they|them|there|he|she|him|her)\b", re.IGNORECASE)


@attrs.frozen
class Word:
    """A word of a message."""

    text: str
    """Without punctuation around it and without a possessive."""
    begins: bool
    """It begins a sentence, so its capital letter says nothing."""


@attrs.frozen(kw_only=True)
class GraphQuery:
    """What a message asks of the graph."""

    text: str
    """What is compared by meaning: the question in a long message."""
    keywords: tuple[str, ...]
    """In small letters, in order of appearance."""
    words: tuple[Word, ...]
    """Where entities are looked for."""
    intent: Intent
    time_range: TimeRange | None = None
    refers_back: bool = False
    """It has a word like "it", which may mean what was spoken of before."""

    def names(self) -> set[str]:
        """All that may be the name of an entity, in small letters."""
        return {name for _, _, name in _spans(self.words)}


def analyzed(text: str, *, now: datetime) -> GraphQuery:
    """What ``text`` asks; ``now`` is aware and in the zone of the person who wrote it."""
    ends = text if len(text) <= 2 * LOOKED_AT else f"{text[:LOOKED_AT]}\n{text[-LOOKED_AT:]}"
    plain = unicodedata.normalize("NFKC", ends).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    asked = Query.of_prompt(plain)
    bare = _PHRASES.sub(" ", asked.words)
    keywords = dict.fromkeys(term.casefold().removesuffix("'s") for term in terms(bare))
    return GraphQuery(
        text=asked.meaning,
        keywords=tuple(word for word in keywords if not is_stop_word(word))[:MOST_KEYWORDS],
        words=tuple(_words(plain)),
        intent=intent_of(plain),
        time_range=time_range_in(plain, now=now),
        refers_back=_REFERS_BACK.search(plain) is not None,
    )


def _words(text: str) -> Iterator[Word]:
    pieces = text.split()
    half = MOST_WORDS // 2
    kept = pieces if len(pieces) <= MOST_WORDS else [*pieces[:half], ".", *pieces[-half:]]
    begins = True
    for piece in kept:
        bare = _POSSESSIVE.sub("", _bare(piece))
        if bare:
            yield Word(bare, begins)
        begins = piece[-1:] in {".", "!", "?", ":"}


def _bare(piece: str) -> str:
    """``piece`` without the punctuation at either end, in time that grows with its length."""
    kept = [place for place, character in enumerate(piece) if character.isalnum() or character in "_+#"]
    return piece[kept[0] : kept[-1] + 1] if kept else ""


def _spans(words: Sequence[Word]) -> Iterator[tuple[int, int, str]]:
    """Runs of words, the longest first: where each begins and ends, and how it reads in small letters."""
    for length in range(LONGEST_NAME, 0, -1):
        for start in range(len(words) - length + 1):
            yield start, start + length, " ".join(word.text for word in words[start : start + length]).casefold()


def entities_meant(query: GraphQuery, entities: Collection[Entity]) -> tuple[GraphItemId, ...]:
    """Those of ``entities`` that the message names; a longer name takes the words that a shorter one has in it."""
    by_name: dict[str, list[Entity]] = {}
    for entity in entities:
        for name in dict.fromkeys((entity.name, *entity.aliases)):
            by_name.setdefault(" ".join(name.split()).casefold(), []).append(entity)
    taken: set[int] = set()
    meant: dict[GraphItemId, None] = {}
    for start, end, name in _spans(query.words):
        places = range(start, end)
        known = [each for each in by_name.get(name, ()) if _is_written(each, name, query.words[start:end])]
        if known and taken.isdisjoint(places):
            taken.update(places)
            best = sorted(known, key=_most_mentioned)
            meant |= dict.fromkeys(each.item_id for each in best[:MOST_OF_A_NAME])
    return tuple(meant)


def _most_mentioned(entity: Entity) -> tuple[int, float, str]:
    return (-entity.mention_count, -entity.last_referenced.timestamp(), entity.item_id)


def _is_written(entity: Entity, name: str, words: Sequence[Word]) -> bool:
    """A short name, and one that is an ordinary word, are meant only where their letters are the same."""
    if len(name) >= SHORT_NAME and not is_stop_word(name):
        return True
    written = " ".join(word.text for word in words)
    is_ordinary = words[0].begins and written[:1].isupper()
    return written in {entity.name, *entity.aliases} and not is_ordinary
