"""Asks the strategies of a context block, all at once, and keeps what each of them found."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import attrs
import trio

from kiro_learn.model.graph import Entity, Fact, GraphItem, GraphItemId, GraphKind, Preference
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord, RecordFilter, newest_first
from kiro_learn.model.retrieval import Ranking, RankingFeatures
from kiro_learn.model.vectors import Codes
from kiro_learn.pipelines.recall.candidates import (
    Candidate,
    CandidateQuestion,
    as_of,
    confidence_now,
    happened,
    has_held,
    holds,
    strength_now,
)
from kiro_learn.pipelines.recall.finder import Finder, Findings
from kiro_learn.pipelines.recall.retrievers import OptionalResult
from kiro_learn.pipelines.stopwatch import Stopwatch
from kiro_learn.ports.indexes import NearestGraphItems
from kiro_learn.ports.models import QueryEmbedder
from kiro_learn.ports.storage.graph import GraphList, GraphWalk, GraphWords, Reached
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.storage.records import RecordQuery
from kiro_learn.retrieval.graph.block import (
    CLEARLY_ANOTHER,
    SAME_TOPIC,
    Thing,
    Trigger,
    is_another_topic,
    recent_text,
    trigger_of,
)
from kiro_learn.retrieval.graph.budget import FUSED, LEAST_COSINE, Found
from kiro_learn.retrieval.graph.query import GraphQuery, Intent, analyzed, entities_meant
from kiro_learn.retrieval.query.question import Query
from kiro_learn.retrieval.query.syntax import has_words
from kiro_learn.retrieval.ranking.calibrated import REFINED_COUNT, vectors_of

RECORD_COUNT = 20
"""The most records that are taken from each ranking."""
WORD_LIMITS = {GraphKind.FACT: 10, GraphKind.ENTITY: 10, GraphKind.PROCEDURE: 5}
NEAR_LIMITS = {GraphKind.FACT: 20, GraphKind.ENTITY: 20, GraphKind.PROCEDURE: 20}
RECENT_COUNT = 5
LISTED = 100
"""The most preferences that are read."""
MOST_PAST = 500
"""The most facts of an entity that are read where the message asks for its history."""
DEFAULT_IMPORTANCE = 5


@attrs.define(eq=False)
class Gathered:
    """What the strategies have found so far; a part that is missing is late."""

    words: OptionalResult[dict[GraphKind, list[GraphItemId]]] = attrs.Factory(lambda: OptionalResult("graph words", {}))
    near: OptionalResult[dict[GraphKind, list[GraphItemId]]] = attrs.Factory(
        lambda: OptionalResult("graph vectors", {})
    )
    read: OptionalResult[dict[GraphItemId, GraphItem]] = attrs.Factory(lambda: OptionalResult("graph items", {}))
    walked: OptionalResult[list[Reached]] = attrs.Factory(lambda: OptionalResult("graph walk", []))
    findings: OptionalResult[Findings | None] = attrs.Factory(lambda: OptionalResult("records", None))
    listed: OptionalResult[list[MemoryRecord]] = attrs.Factory(lambda: OptionalResult("recent records", []))
    records: OptionalResult[list[MemoryRecord]] = attrs.Factory(lambda: OptionalResult("record texts", []))
    origins: OptionalResult[dict[RecordId, RankingFeatures]] = attrs.Factory(lambda: OptionalResult("record dates", {}))
    """The ranking features of ``records``, which say when each was said."""
    passages: OptionalResult[dict[RecordId, Codes]] = attrs.Factory(
        lambda: OptionalResult("passages", {}, is_asked=False)
    )
    """The vectors of the passages of ``records``."""
    preferences: OptionalResult[list[Preference]] = attrs.Factory(lambda: OptionalResult("preferences", []))
    past: OptionalResult[list[GraphItem]] = attrs.Factory(lambda: OptionalResult("past facts", []))
    candidates: OptionalResult[list[Candidate]] = attrs.Factory(
        lambda: OptionalResult("candidates", [], is_asked=False)
    )
    topic: OptionalResult[bool] = attrs.Factory(lambda: OptionalResult("topic", False))
    named: tuple[GraphItemId, ...] = ()
    """The entities that the message names or means."""
    facts: tuple[Fact, ...] = ()
    """The facts among what was found that hold, or held at the time asked about; set once all strategies were asked."""

    def degraded(self) -> tuple[str, ...]:
        """The reasons why parts are missing."""
        parts = (each for each in attrs.astuple(self, recurse=False) if isinstance(each, OptionalResult))
        partial = () if self.findings.result is None else self.findings.result.degraded
        return (*partial, *(problem for part in parts for problem in part.reasons()))

    def trigger(self, query: GraphQuery, *, has_history: bool) -> Trigger:
        """Why memories are looked up."""
        return trigger_of(
            query.intent, has_history=has_history, is_new_topic=self.topic.result, names_entities=bool(self.named)
        )

    def names(self) -> dict[str, str]:
        """The names of the entities in ``named``, by id."""
        found = {each.item.item_id: each.item for each in self.walked.result}
        return {item_id: each.name for item_id in self.named if isinstance(each := found.get(item_id), Entity)}

    def things(self) -> list[Thing]:
        """All items and records that were found."""
        reached = [each.item for each in self.walked.result]
        return [*reached, *self.read.result.values(), *self.past.result, *self.records.result]

    def found(self, query: GraphQuery, now: datetime) -> list[Found]:
        """All that was found, with the figures that rank it."""
        ranks = self.ranks()
        reached = {each.item.item_id: each for each in self.walked.result}
        items = [*(each.item for each in self.walked.result), *self.read.result.values(), *self.past.result]
        found = [
            _graph_found(item, ranks.get(item.item_id, {}), reached, now)
            for item in {item.item_id: item for item in items}.values()
        ]
        dated = [(record, self._happened_at(record)) for record in self.records.result]
        return found + [
            _record_found(record, ranks.get(record.record_id, {}), at) for record, at in dated if _is_in_time(at, query)
        ]

    def _happened_at(self, record: MemoryRecord) -> datetime:
        """When the first event of ``record`` was said, maybe long before it was learned; else when it was made."""
        origin = self.origins.result.get(record.record_id)
        return record.created_at if origin is None or origin.said_at is None else origin.said_at

    def ranks(self) -> dict[str, dict[str, int]]:
        """The rank of each thing in the list of each strategy, from 1."""
        findings = self.findings.result
        lists: list[tuple[str, Sequence[str]]] = [
            *(("keyword", item_ids) for item_ids in self.words.result.values()),
            *(("semantic", item_ids) for item_ids in self.near.result.values()),
            ("keyword", [] if findings is None else _ids(findings, Ranking.WORDS)),
            ("semantic", [] if findings is None else _ids(findings, Ranking.MEANING)),
            (FUSED, [] if findings is None else _fused_ids(findings)),
            ("recent", [record.record_id for record in self.listed.result]),
            ("history", [item.item_id for item in self.past.result]),
        ]
        ranks: dict[str, dict[str, int]] = {}
        for strategy, item_ids in lists:
            for rank, item_id in enumerate(item_ids, start=1):
                ranks.setdefault(item_id, {})[strategy] = rank
        return ranks


def _ended_last(fact: Fact) -> tuple[bool, datetime]:
    """A sort key: facts that hold, by when they were observed; then facts that ended, by their end."""
    until = fact.validity.valid_until
    return (until is not None, fact.validity.observed_at if until is None else until)


def _ids(findings: Findings, ranking: Ranking) -> list[RecordId]:
    return _hits(findings, ranking)[:RECORD_COUNT]


def _hits(findings: Findings, ranking: Ranking) -> list[RecordId]:
    """The records that ``ranking`` found, best first; of the ranking by meaning only those that are near."""
    evidence = findings.evidence.get(ranking)
    least = LEAST_COSINE if ranking is Ranking.MEANING else float("-inf")
    return [] if evidence is None else [hit.record_id for hit in evidence.hits if hit.score >= least]


def _fused_ids(findings: Findings) -> list[RecordId]:
    """The records in the order of the hybrid search, but only those that a single ranking found well enough."""
    found = {*_hits(findings, Ranking.WORDS), *_hits(findings, Ranking.MEANING)}
    return [hit.record_id for hit in findings.hits if hit.record_id in found]


def _graph_found(item: GraphItem, ranks: dict[str, int], reached: dict[GraphItemId, Reached], now: datetime) -> Found:
    at, entity_id = reached.get(item.item_id), item.entity_id if isinstance(item, Fact) else item.item_id
    entity = reached.get(entity_id)
    return Found(
        item_id=item.item_id,
        ranks=ranks,
        depth=None if at is None else at.depth,
        degree=0 if entity is None else entity.degree,
        importance=item.importance if isinstance(item, Entity) else None,
        confidence=confidence_now(item, now),
    )


def _record_found(record: MemoryRecord, ranks: dict[str, int], happened_at: datetime) -> Found:
    return Found(
        item_id=record.record_id,
        ranks=ranks,
        happened_at=happened_at,
        importance=record.importance or DEFAULT_IMPORTANCE,
    )


def _is_in_time(at: datetime, query: GraphQuery) -> bool:
    """Whether a memory of ``at`` may be told: within a strict period of the message, or a little before or after it.

    "Since yesterday the login fails" names a period too, but the answer was learned before it. So the period is a limit
    only if it is strict, or if the message asks what was done; else its memories are just one more list.
    """
    named = happened(query)
    if named is None or not (named.is_strict or query.asks_what_was_done):
        return True
    return named.widened().covers(at)


@attrs.frozen(eq=False)
class ContextSearch:
    """Runs the strategies on the store and on the finder of records."""

    _finder: Finder
    _storage: StorageBackend
    _embedder: QueryEmbedder
    _nearest: NearestGraphItems
    _embeds: bool

    async def gather(
        self,
        namespace: Namespace,
        query: GraphQuery,
        history: Sequence[str],
        gathered: Gathered,
        *,
        now: datetime,
    ) -> None:
        """Ask all strategies at once; each puts what it finds into ``gathered`` as soon as it has it."""
        gathered.near.is_asked = self._embeds and has_words(query.text)
        gathered.topic.is_asked = self._embeds and bool(recent_text(history))
        gathered.past.is_asked = query.intent is Intent.ASK_HISTORY and as_of(query) is None
        with_records = gathered.findings.is_asked
        gathered.records.is_asked = gathered.origins.is_asked = with_records
        gathered.listed.is_asked = with_records and (not query.keywords or happened(query) is not None)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._look_for_items, namespace, query, gathered)
            nursery.start_soon(self._walk, namespace, query, history, gathered, now)
            nursery.start_soon(self._find_records, namespace, query, gathered)
            nursery.start_soon(gathered.preferences.run, lambda: self._preferences(namespace, now))
        await self._look_for_candidates(namespace, query, gathered, now)

    async def _look_for_candidates(
        self, namespace: Namespace, query: GraphQuery, gathered: Gathered, now: datetime
    ) -> None:
        """Look for candidates, if the message asks for what the facts say that were found."""
        facts = (each for each in gathered.things() if isinstance(each, Fact))
        gathered.facts = tuple(fact for fact in facts if holds(fact, as_of(query)))
        question = CandidateQuestion(query, gathered.named, now)
        about = {fact.entity_id for fact in gathered.facts if question.is_asked(fact)}
        gathered.candidates.is_asked = bool(about)
        await gathered.candidates.run(lambda: question.ask(self._storage, namespace, about))

    async def _look_for_items(self, namespace: Namespace, query: GraphQuery, gathered: Gathered) -> None:
        words = GraphWords(namespace=namespace, words=query.keywords, limits=WORD_LIMITS, as_of=as_of(query))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(gathered.words.run, lambda: self._storage.search_graph_words(words))
            nursery.start_soon(gathered.near.run, lambda: self._nearest.nearest(namespace, query.text, NEAR_LIMITS))
        found = (*gathered.words.result.values(), *gathered.near.result.values())
        ids = [item_id for item_ids in found for item_id in item_ids]

        async def read() -> dict[GraphItemId, GraphItem]:
            items = await self._storage.get_graph_items(namespace, ids)
            return {item_id: item for item_id, item in items.items() if holds(item, as_of(query))}

        await gathered.read.run(read)

    async def _walk(
        self, namespace: Namespace, query: GraphQuery, history: Sequence[str], gathered: Gathered, now: datetime
    ) -> None:
        before = analyzed(history[-1], now=now) if history else None
        said_before = () if before is None else before.names()

        async def entities() -> list[Entity]:
            return await self._storage.find_named_entities(namespace, {*query.names(), *said_before})

        async def walk() -> list[Reached]:
            known = await entities()
            gathered.named = entities_meant(query, known)
            earlier = () if before is None else entities_meant(before, known)
            shares = bool(set(gathered.named) & set(earlier))
            await gathered.topic.run(lambda: self._is_another_topic(query.text, history, shares=shares))
            if not gathered.named and query.refers_back and not gathered.topic.result:
                gathered.named = earlier
            if not gathered.named:
                return []
            return await self._storage.walk_graph(
                GraphWalk(namespace=namespace, seeds=gathered.named, depth=query.intent.depth, as_of=as_of(query))
            )

        await gathered.walked.run(walk)
        await gathered.past.run(lambda: self._past_facts(namespace, gathered.named))

    async def _past_facts(self, namespace: Namespace, named: Sequence[GraphItemId]) -> list[GraphItem]:
        found: list[GraphItem] = []
        for item_id in named:
            asked = GraphList(
                namespace=namespace, kind=GraphKind.FACT, limit=MOST_PAST, only_current=False, about=item_id
            )
            found += await self._storage.list_graph_items(asked)
        facts = [item for item in found if isinstance(item, Fact) and has_held(item)]
        facts.sort(key=_ended_last, reverse=True)
        return [*facts]

    async def _is_another_topic(self, message: str, history: Sequence[str], *, shares: bool) -> bool:
        near = await self._similarity(message, recent_text(history))
        was_low = False
        if CLEARLY_ANOTHER <= near < SAME_TOPIC and recent_text(history[:-1]):
            was_low = await self._similarity(history[-1], recent_text(history[:-1])) < SAME_TOPIC
        return is_another_topic(message, similarity=near, shares_an_entity=shares, was_low_before=was_low)

    async def _similarity(self, one: str, other: str) -> float:
        return float(await self._embedder.embed_query(one) @ await self._embedder.embed_query(other))

    async def _find_records(self, namespace: Namespace, query: GraphQuery, gathered: Gathered) -> None:
        async def find() -> Findings:
            patience = trio.current_effective_deadline() - trio.current_time()
            # Passages are chosen as in the hybrid search, so from the memories that this search finds for a prompt.
            as_prompt = gathered.passages.is_asked
            by_keywords = Query(query.text, " ".join(query.keywords))
            return await self._finder.find(
                namespace,
                Query.of_prompt(query.text) if as_prompt else by_keywords,
                limit=RECORD_COUNT,
                beyond=REFINED_COUNT - RECORD_COUNT if as_prompt else 0,
                with_successors=as_prompt,
                patience_seconds=patience,
                stopwatch=Stopwatch(),
            )

        async with trio.open_nursery() as nursery:
            nursery.start_soon(gathered.findings.run, find)
            nursery.start_soon(gathered.listed.run, lambda: self._listed(namespace, query))
        found = gathered.findings.result
        ids: list[RecordId] = []
        if found is not None:
            ids = [*_ids(found, Ranking.WORDS), *_ids(found, Ranking.MEANING), *_fused_ids(found)]
        known = {record.record_id: record for record in gathered.listed.result}
        wanted = [record_id for record_id in dict.fromkeys(ids) if record_id not in known]

        async def read() -> list[MemoryRecord]:
            return newest_first([*known.values(), *await self._storage.get_memory_records(wanted)])

        await gathered.records.run(read)
        read_ids = [record.record_id for record in gathered.records.result]
        await gathered.origins.run(lambda: self._storage.get_ranking_features(read_ids))
        if found is not None:
            model = vectors_of(found.evidence).model
            await gathered.passages.run(lambda: self._storage.get_passages(read_ids, model))

    async def _listed(self, namespace: Namespace, query: GraphQuery) -> list[MemoryRecord]:
        """The newest memories of the period that the message names, or of all time."""
        named = happened(query)
        wanted = RecordFilter() if named is None else RecordFilter(since=named.start, until=named.end)
        count = RECENT_COUNT if named is None else RECORD_COUNT
        return await self._storage.list_records(RecordQuery(namespace=namespace, limit=count, filter=wanted))

    async def _preferences(self, namespace: Namespace, now: datetime) -> list[Preference]:
        """The preferences of the whole project, each with the strength that it has by now."""
        asked = GraphList(namespace=namespace, kind=GraphKind.PREFERENCE, limit=LISTED)
        listed = await self._storage.list_graph_items(asked)
        found = [item for item in listed if isinstance(item, Preference) and not item.path]
        return [attrs.evolve(each, strength=strength_now(each, now)) for each in found]
