"""The learners that get a batch: the built-in one, and a model behind the same contract.

A model is also shown the memories that are near to the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain

import attrs
import structlog

from kiro_learn.config import LearningConfig
from kiro_learn.errors import EmbeddingError, LlmError, StorageError, UnusableAnswer
from kiro_learn.learning.extraction.framing import FramedBatch, Utterance, parts_of
from kiro_learn.learning.extraction.parsing import parse
from kiro_learn.learning.extraction.splitting import (
    HEALTH_CHECK,
    INSTRUCTIONS_CHARACTERS,
    KNOWN_CHARACTERS,
    MOST_KNOWN,
    NOTHING_KNOWN,
    NOTHING_MORE,
    Known,
    More,
    Portion,
    portion,
    prompt_for,
)
from kiro_learn.learning.graph.fragments import GRAPH, proposals_in
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.draft import NO_DRAFTS, RecordDraft
from kiro_learn.model.event import SESSION_STARTED, Event, EventKind
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import BUILT_IN_STRATEGY
from kiro_learn.pipelines.learn.asking import MeteredLlm, until_usable
from kiro_learn.pipelines.recall.retrievers import NearestRecords
from kiro_learn.ports.models import Drafted, Llm, TextEmbedder
from kiro_learn.ports.storage.records import RecordReads
from kiro_learn.retrieval.ranking.succession import replaced_by
from kiro_learn.runtime.admission import Offload

log = structlog.get_logger()


@attrs.frozen(eq=False)
class BuiltInLearner:
    """The learner without a model: it needs no network and makes the same drafts every time. It takes any batch whole.

    A full batch would block the event loop for too long, hence ``offload``.
    """

    offload: Offload

    @property
    def strategy(self) -> str:
        """``extractive``; see ``Learner.strategy``."""
        return BUILT_IN_STRATEGY

    @property
    def name(self) -> str:
        """The same as its strategy; see ``Learner.name``."""
        return BUILT_IN_STRATEGY

    async def drafts_of(self, snapshot: BufferSnapshot) -> Drafted:
        """See ``Learner.drafts_of``; takes the whole snapshot and raises none of the errors."""
        return Drafted(await self.offload(lambda: _drafts_of(snapshot)), snapshot)


def _drafts_of(snapshot: BufferSnapshot) -> list[RecordDraft]:
    # The learner's tables of words take 50 ms to load; the daemon's start need not wait for that.
    from kiro_learn.learning.extraction.extractive.learner import drafts_of  # noqa: PLC0415  # see above

    return drafts_of(snapshot)


# The memories near to a batch, which a model is shown before it learns the batch.

LEAST_SIMILARITY = 0.4
"""The least cosine of a text and a memory. On one subject it is 0.4 to 0.8, on different ones about 0.2."""
MOST_COMPARED = 24
"""The most texts of a batch that are compared: the longest, since a short text says little by itself."""
COMPARED_CHARACTERS = 1_000
"""The characters of a text that are compared: about as much as the embedding model reads at once."""
MOST_LOOKED_AT = 4 * MOST_KNOWN
"""The most memories that are read. One of them may say that another no longer holds, which is then left out."""


@attrs.frozen(eq=False)
class KnownMemories:
    """Compares what was said in a batch with the project's memories."""

    embedder: TextEmbedder
    indexes: NearestRecords
    storage: RecordReads
    offload: Offload

    async def near(self, namespace: Namespace, events: Sequence[Event]) -> Known:
        """The memories nearest to what was said; none if they cannot be found, which costs only a repetition."""
        if not self.embedder.is_ready:
            return NOTHING_KNOWN
        texts = await self.offload(partial(_said, events))
        found: dict[RecordId, float] = {}
        try:
            model = await self.embedder.learning_model(namespace)
            for parts in await self.embedder.embed_texts(texts, model):
                ranking = await self.indexes.rank(namespace, parts[0], MOST_KNOWN, wholes_only=True, model=model)
                for hit in ranking.hits:
                    found[hit.record_id] = max(hit.score, found.get(hit.record_id, LEAST_SIMILARITY))
            nearest = sorted(found, key=lambda each: (-found[each], each))
            nearest = [each for each in nearest if found[each] > LEAST_SIMILARITY][:MOST_LOOKED_AT]
            records = await self.storage.get_memory_records(nearest)
            over = frozenset[RecordId]().union(*(replaced_by(each, records) for each in records))
            return Known(tuple(each for each in records if each.record_id not in over)[:MOST_KNOWN])
        except (EmbeddingError, StorageError) as error:
            log.warning("learning.known_not_found", problem=str(error))
            return NOTHING_KNOWN


def _said(events: Sequence[Event]) -> list[str]:
    """The beginnings of the longest utterances. The input and output of tools say nothing, so they are left out."""
    said = chain.from_iterable(parts_of(event) for event in events if event.kind is not EventKind.TOOL_USE)
    texts = (part.text[:COMPARED_CHARACTERS].strip() for part in said if isinstance(part, Utterance))
    return sorted(filter(None, texts), key=len, reverse=True)[:MOST_COMPARED]


# A model behind the learner's contract: the batch as a prompt, the answer as drafts.


@attrs.frozen
class _Answered:
    """A usable answer, and the drafts in it."""

    text: str
    drafts: list[RecordDraft]


@attrs.frozen(eq=False, kw_only=True)
class ModelLearner:
    """Asks ``llm`` on behalf of one project, until an answer can be used."""

    llm: Llm
    namespace: Namespace
    calls: MeteredLlm
    offload: Offload
    config: LearningConfig
    prompt_characters: float
    """The most characters of one prompt."""
    known: KnownMemories | None = None
    """Finds the memories that are near to the batch; None: the model is shown none."""
    learns_graph: bool = False
    """Whether the answer may propose something for the graph too."""

    async def drafts_of(self, snapshot: BufferSnapshot) -> Drafted:
        """See ``Learner.drafts_of``. Asks until an answer can be used, at most ``extraction_attempts`` times.

        Raises:
          BudgetSpent: the model may not be asked any more today.
          LlmError: no attempt gave a usable answer.
          trio.TooSlowError: an attempt took longer than ``extraction_seconds``.
        """
        part = await self.portion_of(snapshot)
        if all(event.body == SESSION_STARTED for event in part.snapshot.events):
            return Drafted((), part.snapshot)
        known = NOTHING_KNOWN
        if self.known is not None:
            known = await self.known.near(self.namespace, part.snapshot.events)
        answered = await self._ask(part.batch, known)
        graph = NO_DRAFTS
        if self.learns_graph:
            proposed = await self.offload(partial(proposals_in, answered.text, part.batch, part.snapshot))
            graph = proposed.drafts
            if proposed.refusals:
                log.info("learning.fragments_refused", **proposed.refused_counts)
        drafts = [_after_known(draft, known, part.snapshot) for draft in answered.drafts]
        return Drafted(drafts, part.snapshot, graph)

    async def portion_of(self, snapshot: BufferSnapshot) -> Portion:
        """As much of the beginning of ``snapshot`` as fits into one prompt."""
        # Framing a full batch would block the event loop for too long.
        room = self.prompt_characters - INSTRUCTIONS_CHARACTERS - self._more.characters
        room -= KNOWN_CHARACTERS if self.known is not None else 0
        return await self.offload(lambda: portion(snapshot, room))

    @property
    def _more(self) -> More:
        return GRAPH if self.learns_graph else NOTHING_MORE

    async def check_health(self) -> None:
        """Ask a harmless question, once. Raises LlmError or trio.TooSlowError: there is no usable answer."""
        await self._attempt(prompt_for(HEALTH_CHECK), HEALTH_CHECK)

    async def _ask(self, batch: FramedBatch, known: Known) -> _Answered:
        """Ask until an answer can be used; a second attempt says what was wrong with the first."""

        async def attempt(before: LlmError | None) -> _Answered:
            problem = str(before) if isinstance(before, UnusableAnswer) else ""
            return await self._attempt(prompt_for(batch, self._more, known, problem), batch)

        return await until_usable(attempt, attempts=self.config.extraction_attempts, failed="learning.attempt_failed")

    async def _attempt(self, prompt: str, batch: FramedBatch) -> _Answered:
        answer = await self.calls.ask(self.namespace, self.llm, prompt, seconds=self.config.extraction_seconds)
        return _Answered(answer, await self.offload(partial(parse, answer, batch)))


def _after_known(draft: RecordDraft, known: Known, snapshot: BufferSnapshot) -> RecordDraft:
    """``draft`` with the effect of what it says about the memories that the model was shown."""
    events = snapshot.by_source
    said = [events[each].valid_time for each in draft.source_event_ids if each in events]
    return known.applied_to(draft, max(said)) if said else draft
