"""One retrieval: which rankings are asked, what the agent gets to read, and why; and what became of what was told.

Rules of this file: a report has ids, lengths, scores and times; never a word of a query or of a memory.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from datetime import datetime
from operator import attrgetter
from typing import Literal, NewType, TypeAlias

import attrs

from kiro_learn.model.graph import GraphItemId
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.profile import Slot

BRANCH_FACTOR = 1.25
"""By which the score of what was learned on the branch that is checked out is multiplied. The first hit of a prompt is
mostly further than that ahead of what has nothing to do with it."""

MOST_EFFECT = 0.15
"""A memory's score is at most this much higher or lower for what became of it."""

SAID_WEIGHT = 3
"""What somebody says of a memory counts as much as so many times that it was seen to be used."""

EVIDENCE = 3
"""That much of it is needed for half of the effect: one time may be chance."""


class Feedback(enum.StrEnum):
    """One thing that became of a memory."""

    HELPED = "helped"
    """Somebody says so."""
    WRONG = "wrong"
    """Somebody says so."""
    USED = "used"
    """Its names turned up in what the agent did then, more than those of memories that were not told."""
    IGNORED = "ignored"
    """They did not: it was told, and no more is known."""
    OBJECTED = "objected"
    """It was used, or named, and the person said "no", "wrong", "that was changed"."""


@attrs.frozen(kw_only=True)
class FeedbackCounts:
    """How often each became of one memory, or of all."""

    helped: int = 0
    wrong: int = 0
    used: int = 0
    ignored: int = 0
    objected: int = 0

    def plus(self, feedback: Feedback) -> FeedbackCounts:
        """With one more."""
        return attrs.evolve(self, **{feedback.value: getattr(self, feedback.value) + 1})

    @property
    def factor(self) -> float:
        """By which its score is multiplied. That it was told, and nothing followed, changes nothing."""
        good = SAID_WEIGHT * self.helped + self.used
        bad = SAID_WEIGHT * self.wrong + self.objected
        return 1 + MOST_EFFECT * (good - bad) / (good + bad + EVIDENCE)


# What a session was told.

BriefId = NewType("BriefId", str)

BRIEF = BriefId("brief")
"""Stands for a session's brief: it was told, whatever of it the session may be told again."""


def told_slot(slot: Slot) -> BriefId:
    """Stands for what a session was told of a slot of its project's profile."""
    return BriefId(f"profile {slot}")


PAST = BriefId("profile before")
"""Stands for what held of a session's project and ended."""

ToldId: TypeAlias = RecordId | GraphItemId | BriefId
"""Of a record, of an item of the graph, of the brief or of a slot of the profile."""


@attrs.frozen(kw_only=True)
class ToldItem:
    """A record, an item of the graph or a brief that an agent's session was told, and by which of its prompts."""

    namespace: Namespace
    session_id: str
    item_id: ToldId
    prompt_number: int
    """The session's first prompt is 1; of what was told several times, the last."""


class SearchMode(enum.StrEnum):
    """Which rankings a search asks: all of them, fused, or one alone; or the index of words by an expression."""

    HYBRID = "hybrid"
    LEXICAL = "lexical"
    SEMANTIC = "semantic"
    SYNTAX = "syntax"


class Ranking(enum.StrEnum):
    """A way of finding a memory."""

    WORDS = "words"
    MEANING = "meaning"


class ContextStrategy(enum.StrEnum):
    """A way of finding what a context block tells."""

    WORDS = "words"
    MEANING = "meaning"
    NAMES = "names"
    """Entities that the message names, or means."""
    GRAPH = "graph"
    """What lies near those."""
    PREFERENCES = "preferences"


@attrs.frozen(kw_only=True)
class ContextHits:
    """Which strategies found something for one context block. No contents."""

    found: frozenset[ContextStrategy]
    expected: frozenset[ContextStrategy]
    """Those that were asked and could have found something, as what the others found shows: the project has entities;
    for ``NAMES``, one has a word of the message; for ``GRAPH``, one is named, and an edge leads from it."""
    is_partial: bool
    """A part of the search failed or was late."""


@attrs.frozen
class Retrieval:
    """The block that an agent gets to read, and how it was made."""

    context: str = ""
    """The block, ready to be put before the prompt; empty means nothing is worth saying."""
    record_ids: tuple[RecordId, ...] = ()
    """Of the memories in it."""
    latency_ms: float = 0.0
    degraded: tuple[str, ...] = ()
    found: tuple[FoundRecord, ...] = ()
    """Best first, whether it is in the block or not."""
    told_ids: tuple[ToldId, ...] = ()
    """Of all that is in a block of the whole memory, items of the graph included."""


@attrs.frozen(kw_only=True)
class FoundRecord:
    """A memory in a report: found, and good enough to be read."""

    record_id: RecordId
    score: float
    """As the fusion gave it: comparable within one retrieval only."""
    strategy: str
    """Which learner it is from."""
    found_by: tuple[Ranking, ...]
    shown: bool
    """Whether the agent was told."""
    told_before: bool = False
    """Left out, since its session was told it before."""
    why: str = "told"
    """``told``, ``named`` (in a line below the block, since it had no room), or the reason of ``Report.left_out``."""
    is_of_branch: bool = False
    """Whether it was learned on the branch that is checked out, for which its score was raised."""
    became: Feedback | None = None
    """What followed, once that is known."""


class Occasion(enum.StrEnum):
    """On what a session is told memories."""

    PROMPT = "prompt"
    START = "start"
    ACT = "act"
    """A tool is used that a rule or a trap is about."""


@attrs.frozen(kw_only=True)
class Report:
    """How one retrieval went, for the retrieval log: ids, counts and times."""

    retrieval_id: str
    """A ULID."""
    at: datetime
    namespace: Namespace
    session_id: str | None
    event_id: EventId | None
    """Of the prompt, the start or the act, if an agent reported it."""
    agent: str | None
    """That asked, by the name of its hook."""
    occasion: Occasion = Occasion.PROMPT
    """At a start and on an act nothing is asked: what was told then has no score, no time and no text."""
    query_characters: int
    asked: tuple[Ranking, ...]
    """The rankings that should have answered."""
    records: tuple[FoundRecord, ...]
    """Best first; after them those that were told before."""
    unread: tuple[FoundRecord, ...] = ()
    """Of what was found and not read, the best."""
    passages: dict[RecordId, tuple[int, ...]] = attrs.Factory(dict)
    """Of each memory in the block, in its order, which of its passages were told; nothing of another format's block."""
    named: tuple[RecordId, ...] = ()
    """Those that are only named, below the block, in this order."""
    profile_bytes: int = 0
    """Of the line that the project's profile has in the block."""
    confidence: float | None = None
    """How sure it was that what was found helps; None if nothing was weighed."""
    needed: float | None = None
    """Below which confidence nothing is told."""
    left_out: dict[str, int]
    """Found and not told, by reason: ``floor`` (nothing was relevant), ``cut`` (far behind the best), ``told_before``
    (its session was told it before, or one that says as much), ``gone`` (forgotten meanwhile, or damaged), ``behind``
    (a better order left no place for it), ``repeat`` (says what another one says), ``room`` (the block was full)."""
    context_bytes: int
    latency_ms: float
    stages_ms: dict[str, float]
    degraded: tuple[str, ...]
    silent_because: str | None
    """None if something was told."""

    @property
    def outcome(self) -> Literal["told", "silent", "partial"]:
        """``partial`` if a stage failed or was late, whatever was told."""
        if self.degraded:
            return "partial"
        return "told" if self.context_bytes else "silent"

    def is_helped_by(self, ranking: Ranking) -> bool:
        """Whether it found one of the memories that were told."""
        return any(record.shown and ranking in record.found_by for record in self.records)


# One entry of a ranking, and what a ranking weighs beside its scores: where a record comes from and how it reads.


@attrs.frozen
class Hit:
    """A record that one way of searching found, and how well it fits there: higher is better.

    What ``score`` measures is said by the ranking that the hit is in; scores of two rankings do not compare.
    """

    record_id: RecordId
    created_at: datetime
    score: float


@attrs.frozen
class LexicalRanking:
    """Records that share words with a query, best first; ties by newest, then by id."""

    hits: tuple[Hit, ...]
    """``score``: bm25 negated, higher is better; by the fallback, the inverse document frequencies of what is there."""
    ideal_score: float
    """Sum of the inverse document frequencies of the terms that were looked up (``term_cap`` of them at most), those
    unseen in the namespace at the largest: what a record of average length that holds each once would score. 0 from
    a namespace without records and for a query without terms."""
    terms: tuple[str, ...] = ()
    """Those that were looked up, in the query's order."""
    neighbors: tuple[Hit, ...] = ()
    """If asked for: those of ``hits`` in which two consecutive ones of ``terms`` stand within NEIGHBOR_DISTANCE words
    of each other, in the same order, by the bm25 of these pairs."""
    is_index_damaged: bool = False
    """The index of words cannot be read: these are the records that contain the words, as parts of others too."""


def best_first(hits: Iterable[Hit]) -> list[Hit]:
    """``hits`` by (score descending, created_at descending, record_id ascending); how they came does not matter."""
    by_id = sorted(hits, key=attrgetter("record_id"))
    return sorted(by_id, key=attrgetter("score", "created_at"), reverse=True)  # equal ones stay in id order


@attrs.frozen
class RankingFeatures:
    """A record's text, and the place in a session at which its first event was said."""

    text: str
    """Title, summary, facts and concepts, a line each, in lower case: all it is for is to look for words in it."""
    session_id: str | None = None
    """None: its first event is not stored in its namespace, as with what was imported."""
    said_at: datetime | None = None
    """Of the same event; None without a session."""
