"""Makes the context block for a message from the whole memory: records, entities, facts, procedures and preferences.

Three strategies search at once, under one deadline: by words, by meaning, and along the graph from the entities that
the message names. Their results are ranked together and shown within a budget of tokens. A strategy that fails or is
late is left out, and ``degraded`` names it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import PurePath

import attrs
import trio

from kiro_learn.config import RecallConfig
from kiro_learn.learning.consolidation import CompactedConversation, Message, compact
from kiro_learn.learning.extraction.extractive.chatter import asks_nothing
from kiro_learn.model.graph import Fact, GraphKind
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retrieval import ContextHits, ContextStrategy
from kiro_learn.pipelines.recall.candidates import with_candidates
from kiro_learn.pipelines.recall.context_search import ContextSearch, Gathered
from kiro_learn.pipelines.recall.excerpting import PassageTelling
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.retrieval.graph.block import (
    RELEVANT_HISTORY,
    SECTIONS,
    Told,
    Trigger,
    block_of,
    is_compaction_due,
    lines_of,
    preference_lines,
)
from kiro_learn.retrieval.graph.budget import (
    PROFILES,
    SHARES,
    Category,
    Line,
    TokenSlots,
    fitted,
    ranked,
    token_budget,
    without_likenesses,
)
from kiro_learn.retrieval.graph.query import GraphQuery, Intent, analyzed
from kiro_learn.retrieval.query.time_ranges import in_local_zone
from kiro_learn.runtime.admission import Offload

__all__ = ["CompactedConversation", "Context", "ContextBuilder", "ContextItem", "ContextRequest", "Message"]

SEARCH_SHARE = 0.8
"""The share of the time budget that searching may take."""
COUNTED, COUNTED_MESSAGES = 20_000, 200
"""The tokens of a conversation are counted in its newest 20,000 characters, from its newest 200 messages."""
KEPT_COUNTS = 4_096
"""Lines whose token count is cached: counting all lines that may be shown takes a tenth of the answer's time."""
BYTES_PER_TOKEN = 4.0
"""A rough figure for English text. A block with too many tokens is chosen again with fewer bytes."""
WITHIN, MOST_TRIES = 0.95, 4
DEEP_TOKENS = 6_000
"""The most tokens for a message that asks to remember."""
OF_GRAPH = 1 - SHARES[Category.EPISODE]
"""The share of a block that is not for memories."""


@attrs.frozen(kw_only=True)
class ContextRequest:
    """A message, and what the agent of its writer knows."""

    message: str
    history: tuple[str, ...] = ()
    """The earlier messages, oldest first."""
    folder: str | None = None
    """The folder of the project, if it is known; its last part is the project's name."""
    slots: TokenSlots = attrs.Factory(TokenSlots)
    """The parts of the agent's window. If its ``history`` is 0, the tokens of the conversation are counted."""
    history_slot: int = 80_000
    """Tokens that the conversation may have; at three quarters of that a compaction is due."""
    most_tokens: int | None = None
    """The most tokens of the block; None: the value of the settings, or more for a message that asks to remember."""
    most_bytes: int | None = None
    """The most bytes of the block in UTF-8."""
    profile: str = "resolved"
    """The name of a profile in ``retrieval.graph.budget.PROFILES``."""
    told: frozenset[str] = frozenset()
    """Ids of items that need not be shown again."""
    tells_memories: bool = True
    """False: memories are not searched, and their share of tokens and bytes is left for the caller."""
    tells_passages: bool = False
    """True: memories are shown with the passages that answer the message; False: by one line each."""


@attrs.frozen
class ContextItem:
    """One thing that the block shows, and why."""

    item_id: str
    text: str
    tokens: int
    score: float
    parts: Mapping[str, float] = attrs.field(factory=dict)
    """The shares of the score: what each strategy adds, then the factor of each boost. A candidate has ``beside``
    alone, the score of the fact above it; a preference has ``strength`` alone."""


@attrs.frozen(kw_only=True)
class Context:
    """The block, and how it was made."""

    text: str = ""
    items: tuple[ContextItem, ...] = ()
    """The lines of the block, in its order."""
    tokens: int = 0
    budget: int = 0
    trigger: Trigger = Trigger.MESSAGE
    query: GraphQuery
    entities: Mapping[str, str] = attrs.field(factory=dict)
    """The names of the entities that the message names, by id."""
    is_compaction_due: bool = False
    degraded: tuple[str, ...] = ()
    told_before_count: int = 0
    """How many things were found that need not be shown again."""


@attrs.frozen(eq=False)
class Searched:
    """A message as it was understood, and what the strategies found for it."""

    request: ContextRequest
    query: GraphQuery
    now: datetime
    gathered: Gathered
    asks_nothing: bool
    """True if the message has text, but nothing in it can be answered, such as thanks."""


@attrs.frozen(eq=False)
class ContextBuilder:
    """Makes the block for a message."""

    search: ContextSearch
    _clock: ClockAndIds
    _config: RecallConfig
    _most_tokens: int
    _count_tokens: Callable[[str], int]
    _offload: Offload
    _keep_hits: Callable[[ContextHits], None]
    _count_line: Callable[[str], int] = attrs.field(init=False)

    @_count_line.default
    def _kept_counts(self) -> Callable[[str], int]:
        return lru_cache(KEPT_COUNTS)(self._count_tokens)

    async def compacted(self, messages: Sequence[Message], slot: int) -> CompactedConversation:
        """A conversation shortened to ``slot`` tokens; see ``learning.consolidation``."""
        return await self._offload(lambda: compact(messages, slot=slot, count=self._count_tokens))

    async def build(
        self, namespace: Namespace, request: ContextRequest, told_before: Callable[[], Collection[str]] = frozenset
    ) -> Context:
        """The block for a message; empty if the message asks for nothing. Never raises: ``degraded`` names failures.

        An empty message stands for the start of a session: it gets preferences, and the newest memories.

        Args:
          told_before: returns ids that need no telling again, besides those of the request. It is called after the
            search, and nothing is awaited after the call.
        """
        patience = self._config.budget_seconds * SEARCH_SHARE
        searched = await self.search_for(namespace, request, patience_seconds=patience)
        return self.told(searched, told_before())

    async def search_for(self, namespace: Namespace, request: ContextRequest, *, patience_seconds: float) -> Searched:
        """Search for a message with all strategies at once; one that is late is left out and named in ``degraded``."""
        now = self._clock.utc_now()
        project = PurePath(request.folder).name if request.folder else ""
        query = analyzed(request.message, now=in_local_zone(now), project=project)
        gathered = Gathered()
        gathered.findings.is_asked = request.tells_memories
        gathered.passages.is_asked = request.tells_passages
        is_idle = bool(request.message.strip()) and asks_nothing(request.message)
        searched = Searched(request, query, now, gathered, is_idle)
        if searched.asks_nothing:
            return searched
        # A prompt that waited for its turn may have no patience left: move_on_after refuses negative seconds.
        with trio.move_on_at(trio.current_time() + patience_seconds):
            await self.search.gather(namespace, query, request.history, gathered, now=now)
        if request.message.strip():
            self._keep_hits(hits_of(gathered, query))
        return searched

    def told(self, searched: Searched, told_before: Collection[str] = (), *, most_bytes: int | None = None) -> Context:
        """Make the block of what was found, within the tokens and bytes of its request.

        Args:
          told_before: ids that need no telling again, in addition to those of the request.
          most_bytes: the most bytes of the block, if its request names no number.
        """
        request = searched.request
        if request.most_bytes is None:
            request = attrs.evolve(request, most_bytes=most_bytes)
        query, gathered = searched.query, searched.gathered
        history_tokens = request.slots.history or self._estimated((*request.history, request.message))
        is_due = is_compaction_due(history_tokens, request.history_slot)
        if searched.asks_nothing:
            return Context(query=query, is_compaction_due=is_due)
        budget = self._budget(request, query, history_tokens)
        if not request.tells_memories:
            budget, request = int(budget * OF_GRAPH), _of_graph(request)
        found = self._ranked(gathered, query, request, searched.now)
        wishes = preference_lines(gathered.preferences.result)
        told = _told_already(request.told.union(told_before), gathered)
        left_out = {line.item_id for line in (*wishes, *(each.line for each in found))} & told
        chosen = self._chosen(found, wishes, gathered, budget, attrs.evolve(request, told=told))
        text = block_of([line for line, _ in chosen])
        return Context(
            text=text,
            items=tuple(item for _, item in chosen),
            tokens=self._count_tokens(text),
            budget=budget,
            query=query,
            trigger=gathered.trigger(query, has_history=bool(request.history)),
            entities=gathered.names(),
            is_compaction_due=is_due,
            degraded=gathered.degraded(),
            told_before_count=len(left_out),
        )

    def _estimated(self, texts: Sequence[str]) -> int:
        """The tokens of a conversation, estimated from its newest part: counting megabytes would block the loop."""
        characters = sum(map(len, texts))
        newest = "\n".join(text[-COUNTED:] for text in texts[-COUNTED_MESSAGES:])[-COUNTED:]
        return math.ceil(self._count_tokens(newest) * characters / len(newest)) if newest else 0

    def _budget(self, request: ContextRequest, query: GraphQuery, history_tokens: int) -> int:
        is_deep = query.intent is Intent.RECALL_EPISODE
        usual = max(self._most_tokens, DEEP_TOKENS) if is_deep else self._most_tokens
        most = usual if request.most_tokens is None else request.most_tokens
        return min(most, token_budget(attrs.evolve(request.slots, history=history_tokens)))

    def _ranked(self, gathered: Gathered, query: GraphQuery, request: ContextRequest, now: datetime) -> list[Told]:
        scored = ranked(
            gathered.found(query, now),
            PROFILES[request.profile],
            now=now,
            ignores_recency=query.intent.ignores_recency or query.time_range is not None,
        )
        return lines_of(
            scored,
            gathered.things(),
            named=gathered.named,
            wants_a_procedure=query.intent is Intent.DO_TASK,
            now=now,
        )

    def _chosen(
        self, found: Sequence[Told], wishes: Sequence[Line], gathered: Gathered, budget: int, request: ContextRequest
    ) -> list[tuple[Line, ContextItem]]:
        """The lines that fit into the budget, in the order of the block, each with its item."""
        most_bytes = request.most_bytes
        by_id = {each.line.item_id: each for each in found}
        new = [line for line in (*wishes, *(each.line for each in found)) if line.item_id not in request.told]
        lines = without_likenesses(new)
        kept = self._with_passages(lines, gathered, budget, request) if request.tells_passages else []
        kept = kept or fitted(lines, budget=budget, count=self._count_line)
        while most_bytes is not None and kept and len(block_of(kept).encode()) > most_bytes:
            kept.remove(min(kept, key=lambda line: line.score))
        kept.sort(key=lambda line: _place_of(line, by_id))
        beside = self._beside(kept, gathered, budget, request)
        return [(line, self._item(line, by_id)) for line in beside]

    def _with_passages(
        self, lines: Sequence[Line], gathered: Gathered, budget: int, request: ContextRequest
    ) -> list[Line]:
        """The lines of the graph that fit next to the share of the memories, then memories with their passages.

        Empty if no passage is worth telling: then each memory gets one line instead.
        """
        others = [line for line in lines if line.category is not Category.EPISODE]
        memories = [line for line in lines if line.category is Category.EPISODE]
        telling = PassageTelling(memories, gathered, request.message)
        kept = fitted(others, budget=int(budget * OF_GRAPH), count=self._count_line)
        text = f"{block_of(kept)}\n\n{RELEVANT_HISTORY}\n"
        tokens = budget - self._count_tokens(text)
        most_bytes = math.inf if request.most_bytes is None else request.most_bytes - len(text.encode())
        room = min(most_bytes, telling.bytes_worth(int(tokens * BYTES_PER_TOKEN)), tokens * BYTES_PER_TOKEN)
        for _ in range(MOST_TRIES):
            told = telling.told(int(room)) if room > 0 else []
            if not told:
                return []
            spent = self._count_tokens("\n".join(line.text for line in told))
            if spent <= tokens:
                return [*kept, *told]
            room *= WITHIN * tokens / spent
        return []

    def _beside(
        self, lines: Sequence[Line], gathered: Gathered, budget: int, request: ContextRequest
    ) -> Sequence[Line]:
        """``lines`` with the candidates that contradict one of them, if there is room."""
        most_bytes = request.most_bytes
        candidates = [each for each in gathered.candidates.result if each.fact.item_id not in request.told]

        def fits(longer: Sequence[Line]) -> bool:
            text = block_of(longer)
            return self._count_tokens(text) <= budget and (most_bytes is None or len(text.encode()) <= most_bytes)

        return with_candidates(lines, gathered.facts, candidates, fits=fits) if candidates else lines

    def _item(self, line: Line, by_id: Mapping[str, Told]) -> ContextItem:
        told = by_id.get(line.item_id)
        alone = {"strength" if line.category is Category.PREFERENCE else "beside": line.score}
        parts = alone if told is None else told.scored.parts
        return ContextItem(line.item_id, line.text, self._count_line(line.text), line.score, parts)


def _of_graph(request: ContextRequest) -> ContextRequest:
    """``request`` with the share of its bytes that is not for memories."""
    return (
        request if request.most_bytes is None else attrs.evolve(request, most_bytes=int(request.most_bytes * OF_GRAPH))
    )


def _told_already(ids: frozenset[str], gathered: Gathered) -> frozenset[str]:
    """``ids`` without the facts that a candidate contradicts, if that candidate is new: it is shown below its fact."""
    new = [each for each in gathered.candidates.result if each.fact.item_id not in ids]
    return ids - {fact.item_id for fact in gathered.facts if any(each.contradicts(fact) for each in new)}


def _place_of(line: Line, told: Mapping[str, Told]) -> tuple[float, ...]:
    """The key to sort by: sections in their order, then the order within a section (preferences keep theirs)."""
    place = told[line.item_id].place if line.item_id in told else ()
    return (SECTIONS.index(line.section), *place)


# Which strategies found something for a context block. Without this count, nobody would see that one never does.

LISTS = {"keyword": ContextStrategy.WORDS, "semantic": ContextStrategy.MEANING}
"""The strategies whose hits have a rank, by the name of their lists in the ranking."""


def hits_of(gathered: Gathered, query: GraphQuery) -> ContextHits:
    """The strategies that found something, and those that could have."""
    lists = {name for ranks in gathered.ranks().values() for name in ranks}
    found = {strategy for name, strategy in LISTS.items() if name in lists}
    if gathered.named:
        found.add(ContextStrategy.NAMES)
    if any(each.depth or isinstance(each.item, Fact) for each in gathered.walked.result):
        found.add(ContextStrategy.GRAPH)
    if gathered.preferences.result:
        found.add(ContextStrategy.PREFERENCES)
    return ContextHits(
        found=frozenset(found), expected=frozenset(_expected(gathered, query)), is_partial=bool(gathered.degraded())
    )


def _expected(gathered: Gathered, query: GraphQuery) -> set[ContextStrategy]:
    expected: set[ContextStrategy] = set()
    by_words, near = (bool(part.result.get(GraphKind.ENTITY)) for part in (gathered.words, gathered.near))
    has_entities = by_words or near or bool(gathered.named)
    if has_entities and query.keywords:
        expected.add(ContextStrategy.WORDS)
    if has_entities and gathered.near.is_asked:
        expected.add(ContextStrategy.MEANING)
    if by_words:
        expected.add(ContextStrategy.NAMES)
    walked = gathered.walked.result
    if gathered.named and (not walked or any(each.degree for each in walked)):
        expected.add(ContextStrategy.GRAPH)
    return expected
