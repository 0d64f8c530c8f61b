"""Finds what is remembered already and is near to a batch, before a model is asked to learn it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import attrs
import structlog

from kiro_learn.errors import EmbeddingError, StorageError
from kiro_learn.learning.extraction.framing import Utterance, parts_of
from kiro_learn.learning.extraction.known import MOST_KNOWN, NOTHING_KNOWN, Known
from kiro_learn.model.event import Event
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.pipelines.recall.retrievers import NearestRecords
from kiro_learn.ports.models import TextEmbedder
from kiro_learn.ports.storage.records import RecordReads

log = structlog.get_logger()

LEAST_SIMILARITY = 0.4
"""Cosine of what was said and a memory; those of one subject have .4 to .8, of others about .2."""
MOST_COMPARED = 24
"""Texts of a batch, the longest: what is short says little by itself."""
COMPARED_CHARACTERS = 1_000
"""Of a text: about as much as the embedding model reads at once."""


@attrs.frozen(eq=False)
class KnownMemories:
    """Compares what was said in a batch with the project's memories."""

    embedder: TextEmbedder
    indexes: NearestRecords
    storage: RecordReads

    async def near(self, namespace: Namespace, events: Sequence[Event]) -> Known:
        """The memories nearest to what was said; none if that cannot be told, which costs a repetition only."""
        texts = sorted(filter(None, _said(events)), key=len, reverse=True)[:MOST_COMPARED]
        if not texts or not self.embedder.is_ready:
            return NOTHING_KNOWN
        found: dict[RecordId, float] = {}
        try:
            model = await self.embedder.learning_model(namespace)
            for parts in await self.embedder.embed_texts(texts, model):
                ranking = await self.indexes.rank(namespace, parts[0], MOST_KNOWN, wholes_only=True, model=model)
                for hit in ranking.hits:
                    found[hit.record_id] = max(hit.score, found.get(hit.record_id, LEAST_SIMILARITY))
            nearest = sorted(found, key=lambda each: (-found[each], each))
            nearest = [each for each in nearest if found[each] > LEAST_SIMILARITY][:MOST_KNOWN]
            return Known(tuple(await self.storage.get_memory_records(nearest)))
        except (EmbeddingError, StorageError) as error:
            log.warning("learning.known_not_found", problem=str(error))
            return NOTHING_KNOWN


def _said(events: Sequence[Event]) -> Iterator[str]:
    """The beginning of what was said in each event; what tools were given and showed is no statement."""
    for part in chain.from_iterable(map(parts_of, events)):
        if isinstance(part, Utterance):
            yield part.text[:COMPARED_CHARACTERS].strip()
