"""What a message asks of the graph: its keywords, the entities it names, its intent and its time."""

from __future__ import annotations

import enum
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from itertools import islice

import attrs

from kiro_learn.model.graph import MAX_NAME, Entity, EntityType, GraphItemId
from kiro_learn.retrieval.query.prose import is_stop_word
from kiro_learn.retrieval.query.question import Query
from kiro_learn.retrieval.query.syntax import terms
from kiro_learn.retrieval.query.time_ranges import TimeRange, held_until, time_range_in

LOOKED_AT = 10_000
"""How many characters at each end of a message are read."""
MOST_KEYWORDS = 32
SHORT_NAME = 3
"""A name with fewer letters is meant only if it is spelled in exactly the same way."""
MOST_OF_A_NAME = 3
"""The most entities that one name may mean: those mentioned most."""

_PHRASES = re.compile(
    r"\b(?:like|as) (?:i|we|you|they) (?:did|do|said)\b|\b(?:last|this|next|every|each) time\b"
    r"|\bremember (?:when|how|that)\b|\bdo you (?:remember|recall)\b|\bgo ahead\b|\bi(?:'d| would) like\b",
    re.IGNORECASE,
)
"""Phrases whose words are no search terms."""
_REFERS_BACK = re.compile(r"\b(?:it|its|that|this|they|them|there|he|she|him|her)\b", re.IGNORECASE)
_OURS = re.compile(r"\b(?:we|us|our|ours|(?:the|this) (?:project|app|repo|codebase))\b", re.IGNORECASE)
_DID_WE = re.compile(r"\b(?:did (?:we|i|you)|(?:we|i|you) did)\b", re.IGNORECASE)


@attrs.frozen(kw_only=True)
class GraphQuery:
    """What a message asks of the graph."""

    text: str
    """The text that is compared by meaning; in a long message only the question."""
    keywords: tuple[str, ...]
    """The keywords in small letters, in the order in which they appear."""
    spans: tuple[Span, ...]
    """The spans that may be the name of an entity, the longest first."""
    intent: Intent
    time_range: TimeRange | None = None
    asks_what_was_done: bool = False
    """Whether it asks what the person or the agent did. Then only the time that it names is meant."""
    refers_back: bool = False
    """Whether it has a word like "it", which may mean something said before."""
    project: str = ""
    """The name of the project, in small letters, if the message asks about it without naming it ("what did we use
    before?").
    """

    def names(self) -> set[str]:
        """All possible names of entities, in small letters."""
        return {span.name for span in self.spans} | ({self.project} if self.project else set())


def analyzed(text: str, *, now: datetime, project: str = "") -> GraphQuery:
    """The query in ``text``. ``now`` must be aware, in the zone of the person who wrote it.

    Args:
      project: the name of the project in which ``text`` was written.
    """
    ends = _both_ends(text, LOOKED_AT)
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


def _both_ends(text: str, characters: int) -> str:
    return text if len(text) <= 2 * characters else f"{text[:characters]}\n{text[-characters:]}"


def entities_meant(query: GraphQuery, entities: Collection[Entity]) -> tuple[GraphItemId, ...]:
    """The entities that the message names. A longer name takes the words of a shorter one inside it.

    The project itself is meant too if the message asks about the past, or if it asks what "we" have and names nothing
    else.
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
    """Whether ``span`` means ``entity``. A short name, or one that is an ordinary word, must have the same letters."""
    name = bare(span.name)
    if len(name) >= SHORT_NAME and not is_stop_word(name):
        return True
    is_ordinary = span.begins and span.written[:1].isupper()
    return span.written in {entity.name, *entity.aliases} and not is_ordinary


# The intent of a message, by rules. It decides what is searched, how far, and whether recent things come first.


class Intent(enum.StrEnum):
    """What the writer of a message wants."""

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
        """How many edges a walk goes from the entities that the message names."""
        return 2 if self in {Intent.DO_TASK, Intent.RECALL_EPISODE} else 1

    @property
    def asks_what_holds(self) -> bool:
        """Whether the message asks for facts. Then unsure facts may be worth telling too."""
        return self in {Intent.ASK_FACT, Intent.ASK_CURRENT_STATE, Intent.ASK_HISTORY}

    @property
    def ignores_recency(self) -> bool:
        """Whether the message asks about the past. Then old things may be just the right ones."""
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
"""The patterns of each intent, from the most telling intent to the least."""
_COMPILED = {
    intent: re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE) for intent, patterns in _PATTERNS.items()
}

LOOKED_AT_FOR_INTENT = 1_000
"""How many characters at each end of a message are searched for its intent."""


def intent_of(text: str) -> Intent:
    """The first intent that fits, from the most telling to the least."""
    plain = _both_ends(text, LOOKED_AT_FOR_INTENT).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").strip()
    return next((intent for intent, pattern in _COMPILED.items() if pattern.search(plain)), Intent.OTHER)


# The spans of a message that may be the name of an entity: whole words, with or without the signs around them.
#
# Only text of the message itself is looked up, so ``env`` does not find ``.env``. Nothing inside a word is a name.
# However long a message is, the number of its spans is bounded.

MOST_WORDS = 120
"""The most words of a message that are searched for entities: half of them at its beginning, half at its end."""
LONGEST_NAME = 8
"""The most words of a name, as many as the graph learns."""
MOST_SPANS = 3_000
"""The most spans of a message, and so of lookups. Without signs, 120 words have 932; 3,000 take SQLite 5 ms."""
_MOST_SIGNS = 2
"""The most signs at either end of a one-word name, as in ``--force`` and ``foo()``. Longer names have one."""


@attrs.frozen
class Span:
    """A stretch of a message that may be a name."""

    start: int
    """The first character, as a place in the message. Characters that two names share belong to the longer name."""
    end: int
    words: int
    written: str
    begins: bool
    """Whether it begins a sentence. Then its capital letter says nothing."""

    @property
    def name(self) -> str:
        """The text in small letters, in the form in which it is looked up."""
        return self.written.casefold()


@attrs.frozen
class _Word:
    """A word of a message. Its places count the characters of the message."""

    at: int
    """The beginning of the word with all its signs."""
    until: int
    start: int
    """The beginning of the word without signs."""
    end: int
    begins: bool
    """Whether it begins a sentence."""
    is_possessive: bool

    def starts(self, signs: int) -> range:
        """The beginnings of the word without signs and with up to ``signs`` of them."""
        return range(self.start, max(self.at, self.start - signs) - 1, -1)

    def stops(self, signs: int) -> list[int]:
        """The ends of the word without signs, with up to ``signs`` of them, and before a possessive."""
        possessive = [self.end - 2] if self.is_possessive else []
        return [*range(self.end, min(self.until, self.end + signs) + 1), *possessive]


def bare(piece: str) -> str:
    """``piece`` without the signs at either end. It takes linear time."""
    start, end = _core(piece)
    return piece[start:end]


def _core(piece: str) -> tuple[int, int]:
    """The part of ``piece`` without signs. ``_``, ``+``, ``#`` and marks of a letter, as a vowel sign, are letters."""
    kept = [place for place, character in enumerate(piece) if character.isalnum() or _is_letter(character)]
    return (kept[0], kept[-1] + 1) if kept else (0, 0)


def _is_letter(character: str) -> bool:
    if character.isascii():
        return character in "_+#"
    return unicodedata.category(character) in {"Mn", "Mc"} and not "\ufe00" <= character <= "\ufe0f"


def spans_in(text: str) -> tuple[Span, ...]:
    """The spans that may be names, the longest first: by words, then by characters, then by place."""
    pieces = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split()
    half = MOST_WORDS // 2
    stretches = [pieces] if len(pieces) <= MOST_WORDS else [pieces[:half], pieces[-half:]]
    line = " ".join(piece for stretch in stretches for piece in stretch)
    found = list(islice(_spans(line, _words_of(stretches)), MOST_SPANS))
    return tuple(sorted(found, key=lambda span: (-span.words, span.start - span.end, span.start)))


def _words_of(stretches: Sequence[Sequence[str]]) -> list[list[_Word]]:
    """The words of each stretch. A piece with only signs is no word, and stays between two words."""
    found: list[list[_Word]] = []
    at = 0
    for stretch in stretches:
        words: list[_Word] = []
        begins = True
        for piece in stretch:
            start, end = _core(piece)
            if start < end:
                is_possessive = piece[start:end].endswith("'s")
                words.append(_Word(at, at + len(piece), at + start, at + end, begins, is_possessive))
            begins = piece[-1:] in {".", "!", "?", ":"}
            at += len(piece) + 1
        found.append(words)
    return found


def _spans(line: str, stretches: Sequence[Sequence[_Word]]) -> Iterator[Span]:
    """First the spans without signs around them, then those with signs: the least likely names come last."""
    for with_signs in (False, True):
        for words in stretches:
            for count in range(1, LONGEST_NAME + 1):
                most = (_MOST_SIGNS if count == 1 else 1) if with_signs else 0
                for first, last in zip(words, words[count - 1 :], strict=False):
                    if not with_signs or first.at < first.start or last.end < last.until:
                        yield from _of_run(line, first, last, count, most)


def _of_run(line: str, first: _Word, last: _Word, count: int, most_signs: int) -> Iterator[Span]:
    """The spans from ``first`` to ``last``. If signs are allowed, only the spans that have one."""
    for start in first.starts(most_signs):
        for end in last.stops(most_signs):
            is_new = most_signs == 0 or start < first.start or end > last.end
            if is_new and end - start <= MAX_NAME:
                span = Span(start, end, count, line[start:end], first.begins)
                yield span
                plain = span.written if span.written.isascii() else unicodedata.normalize("NFKC", span.written)
                if plain != span.written:
                    yield attrs.evolve(span, written=plain)
