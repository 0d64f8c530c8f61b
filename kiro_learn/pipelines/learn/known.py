"""Finds what is remembered already and is near to a batch, before a model is asked to learn it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain

import attrs
import structlog

from kiro_learn.errors import EmbeddingError, StorageError
from kiro_learn.learning.extraction.framing import Utterance, parts_of
from kiro_learn.learning.extraction.splitting import MOST_KNOWN, NOTHING_KNOWN, Known
from kiro_learn.model.event import Event, EventKind
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.pipelines.recall.retrievers import NearestRecords
from kiro_learn.ports.models import TextEmbedder
from kiro_learn.ports.storage.records import RecordReads
from kiro_learn.runtime.admission import Offload

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
    offload: Offload

    async def near(self, namespace: Namespace, events: Sequence[Event]) -> Known:
        """The memories nearest to what was said; none if that cannot be told, which costs a repetition only."""
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
            nearest = [each for each in nearest if found[each] > LEAST_SIMILARITY][:MOST_KNOWN]
            return Known(tuple(await self.storage.get_memory_records(nearest)))
        except (EmbeddingError, StorageError) as error:
            log.warning("learning.known_not_found", problem=str(error))
            return NOTHING_KNOWN


def _said(events: Sequence[Event]) -> list[str]:
    """The beginnings of the longest things that were said; what tools were given and showed is no statement."""
    said = chain.from_iterable(parts_of(event) for event in events if event.kind is not EventKind.TOOL_USE)
    texts = (part.text[:COMPARED_CHARACTERS].strip() for part in said if isinstance(part, Utterance))
    return sorted(filter(None, texts), key=len, reverse=True)[:MOST_COMPARED]
