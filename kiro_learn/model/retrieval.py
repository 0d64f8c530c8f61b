"""One retrieval: the rankings that were asked, the block for the agent, and the reasons; and feedback on told memories.

Rules of this file: a report holds ids, lengths, scores and times; never a word of a query or of a memory.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from datetime import datetime
from operator import attrgetter
from typing import Literal, NewType, TypeAlias

import attrs

from kiro_learn.model.event import NAMESPACE
from kiro_learn.model.graph import GraphItemId
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.profile import Slot

BRANCH_FACTOR = 1.25
"""The factor for the score of memories learned on the checked-out branch. The first hit of a prompt is mostly further
than that ahead of unrelated memories."""

MOST_EFFECT = 0.15
"""Feedback raises or lowers a memory's score by at most this share."""

SAID_WEIGHT = 3
"""A person's word about a memory counts as much as this many observed uses."""

EVIDENCE = 3
"""The amount of feedback that gives half of the effect: a single observation may be chance."""


class Feedback(enum.StrEnum):
    """One piece of feedback on a memory."""

    HELPED = "helped"
    """A person said that it helped."""
    WRONG = "wrong"
    """A person said that it was wrong."""
    USED = "used"
    """Its names occurred in what the agent did next, more often than names of memories that were not told."""
    IGNORED = "ignored"
    """It was told, and its names did not occur."""
    OBJECTED = "objected"
    """It was used, or named, and the person said "no", "wrong", "that was changed"."""


@attrs.frozen(kw_only=True)
class FeedbackCounts:
    """How often each kind of feedback was given on one memory, or on all."""

    helped: int = 0
    wrong: int = 0
    used: int = 0
    ignored: int = 0
    objected: int = 0

    def plus(self, feedback: Feedback) -> FeedbackCounts:
        """The same counts with this feedback added."""
        return attrs.evolve(self, **{feedback.value: getattr(self, feedback.value) + 1})

    @property
    def factor(self) -> float:
        """The factor for the memory's score. Being ignored changes nothing."""
        good = SAID_WEIGHT * self.helped + self.used
        bad = SAID_WEIGHT * self.wrong + self.objected
        return 1 + MOST_EFFECT * (good - bad) / (good + bad + EVIDENCE)


# The items that a session was told.

BriefId = NewType("BriefId", str)

BRIEF = BriefId("brief")
"""Stands for a session's brief: it was told, even if parts of it may be told again."""


def told_slot(slot: Slot) -> BriefId:
    """Stands for a slot of the project's profile that a session was told."""
    return BriefId(f"profile {slot}")


PAST = BriefId("profile before")
"""Stands for facts of a session's project that ended, which it was told."""

ToldId: TypeAlias = RecordId | GraphItemId | BriefId
"""The id of a record or of an item of the graph, or a stand-in for the brief or a slot of the profile."""


@attrs.frozen(kw_only=True)
class ToldItem:
    """A record, an item of the graph or a brief that an agent's session was told, and by which of its prompts."""

    namespace: Namespace = attrs.field(validator=NAMESPACE)
    session_id: str
    item_id: ToldId
    prompt_number: int
    """The session's first prompt is 1; of an item told several times, the last prompt counts."""


class SearchMode(enum.StrEnum):
    """The rankings that a search asks: all, fused, or a single one; or the index of words, by an expression."""

    HYBRID = "hybrid"
    LEXICAL = "lexical"
    SEMANTIC = "semantic"
    SYNTAX = "syntax"


class Ranking(enum.StrEnum):
    """A way of finding a memory."""

    WORDS = "words"
    MEANING = "meaning"


class ContextStrategy(enum.StrEnum):
    """A way of finding items for a context block."""

    WORDS = "words"
    MEANING = "meaning"
    NAMES = "names"
    """Entities that the message names, or means."""
    GRAPH = "graph"
    """Items near those entities."""
    PREFERENCES = "preferences"


@attrs.frozen(kw_only=True)
class ContextHits:
    """Which strategies found something for one context block; no contents."""

    found: frozenset[ContextStrategy]
    expected: frozenset[ContextStrategy]
    """Strategies that were asked and should have found something, as other findings show: the project has entities; for
    ``NAMES``, an entity has a word of the message; for ``GRAPH``, one is named and an edge leads from it."""
    is_partial: bool
    """Whether a part of the search failed or was late."""


@attrs.frozen
class Retrieval:
    """The block for an agent, and how it was made."""

    context: str = ""
    """The block, ready to be put before the prompt; empty if there is nothing worth saying."""
    record_ids: tuple[RecordId, ...] = ()
    """Ids of the memories in the block."""
    latency_ms: float = 0.0
    degraded: tuple[str, ...] = ()
    found: tuple[FoundRecord, ...] = ()
    """The memories that were found, best first, in the block or not."""
    told_ids: tuple[ToldId, ...] = ()
    """Ids of all that a block of the whole memory holds, including items of the graph."""


@attrs.frozen(kw_only=True)
class FoundRecord:
    """A memory in a report that was found and good enough to be read."""

    record_id: RecordId
    score: float
    """The score after fusion, comparable within one retrieval only."""
    strategy: str
    """The learner that made it."""
    found_by: tuple[Ranking, ...]
    shown: bool
    """Whether it was told to the agent."""
    told_before: bool = False
    """Whether it was left out because its session had been told it before."""
    why: str = "told"
    """``told``, ``named`` (in a line below the block, for lack of room), or a reason of ``Report.left_out``."""
    is_of_branch: bool = False
    """Whether its score was raised because it was learned on the checked-out branch."""
    became: Feedback | None = None
    """The feedback on it, once that is known."""


class Occasion(enum.StrEnum):
    """The occasion on which a session is told memories."""

    PROMPT = "prompt"
    START = "start"
    ACT = "act"
    """The use of a tool that a rule or a trap is about."""


@attrs.frozen(kw_only=True)
class Report:
    """How one retrieval went, for the retrieval log: ids, counts and times."""

    retrieval_id: str
    """A ULID."""
    at: datetime
    namespace: Namespace
    session_id: str | None
    event_id: EventId | None
    """The event of the prompt, the start or the act, if an agent reported it."""
    agent: str | None
    """The agent that asked, by the name of its hook."""
    occasion: Occasion = Occasion.PROMPT
    """At a start and on an act nothing is searched, so memories told then have no score, no time and no text."""
    query_characters: int
    asked: tuple[Ranking, ...]
    """The rankings that should have answered."""
    records: tuple[FoundRecord, ...]
    """Best first; then those that had been told before."""
    unread: tuple[FoundRecord, ...] = ()
    """The best of the records that were found but not read."""
    passages: dict[RecordId, tuple[int, ...]] = attrs.Factory(dict)
    """For each memory in the block, in order, which of its passages were told; empty for blocks of another format."""
    named: tuple[RecordId, ...] = ()
    """Memories that are only named, below the block, in this order."""
    profile_bytes: int = 0
    """The bytes of the profile's line in the block."""
    confidence: float | None = None
    """How sure it was that the memories found would help; None if nothing was weighed."""
    needed: float | None = None
    """The least confidence at which anything is told."""
    left_out: dict[str, int]
    """How many were found but not told, by reason: ``floor`` (nothing was relevant), ``cut`` (far worse than the best),
    ``told_before`` (its session was told it, or one that says as much), ``gone`` (forgotten meanwhile, or damaged),
    ``behind`` (a better order left no place for it), ``repeat`` (says the same as another one), ``room`` (the block was
    full)."""
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
        """Whether this ranking found one of the memories that were told."""
        return any(record.shown and ranking in record.found_by for record in self.records)


# One entry of a ranking, and the features that a ranking weighs in addition to its scores.


@attrs.frozen
class Hit:
    """A record that one ranking found, and how well it fits: higher is better.

    Each ranking documents what its ``score`` measures; scores of two rankings cannot be compared.
    """

    record_id: RecordId
    created_at: datetime
    score: float


@attrs.frozen
class LexicalRanking:
    """Records that share words with a query, best first; ties by newest, then by id."""

    hits: tuple[Hit, ...]
    """``score``: bm25 negated, higher is better; in the fallback, the sum of the inverse document frequencies of its
    terms."""
    ideal_score: float
    """The score of a record of average length that holds each looked-up term once: the sum of their inverse document
    frequencies, the largest one for terms that the namespace lacks. At most ``term_cap`` terms are looked up. 0 if the
    namespace has no records or the query no terms."""
    terms: tuple[str, ...] = ()
    """The terms that were looked up, in the query's order."""
    neighbors: tuple[Hit, ...] = ()
    """If asked for: ``hits`` in which two consecutive ``terms`` stand in this order within NEIGHBOR_DISTANCE words, by
    the bm25 of these pairs."""
    is_index_damaged: bool = False
    """Whether the index of words cannot be read; then ``hits`` are the records that contain the words, also inside of
    others."""


def best_first(hits: Iterable[Hit]) -> list[Hit]:
    """``hits`` by (score descending, created_at descending, record_id ascending), in whatever order they came."""
    by_id = sorted(hits, key=attrgetter("record_id"))
    return sorted(by_id, key=attrgetter("score", "created_at"), reverse=True)  # equal ones stay in id order


@attrs.frozen
class RankingFeatures:
    """A record's text, and the place in a session at which its first event was said."""

    text: str
    """Title, summary, facts and concepts, a line each, in lower case; it is only searched for words."""
    session_id: str | None = None
    """None: its first event is not stored in its namespace, as for imported records."""
    said_at: datetime | None = None
    """When that event was said; None without a session."""
