"""Embeds the graph's entities, facts and procedures, and finds those that are near to a query."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping

import attrs
import numpy as np
import structlog
import trio

from kiro_learn.actors.embedder import Embedder
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import DependencyError, EmbeddingError
from kiro_learn.model.graph import Entity, Fact, GraphItem, GraphItemId, GraphKind, Procedure, kind_of
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.vectors import Matrix, Vector
from kiro_learn.ports.storage.answers import Change, GraphChanged
from kiro_learn.ports.storage.graph import GraphReads
from kiro_learn.retrieval.graph.budget import LEAST_COSINE
from kiro_learn.runtime.admission import Offload
from kiro_learn.runtime.supervisor import Stop

log = structlog.get_logger()

FETCH_COUNT = 512
"""Items that one search for missing vectors takes: each search reads all items from the first one on."""
CHUNK_COUNT = 16
"""Items embedded between two commits."""
RETRY_SECONDS = 30.0
"""The pause before the next attempt after the store failed, or while there is no model."""
MOST_PROJECTS = 4
"""The most projects whose vectors are kept in memory."""
MOST_ROWS = 50_000
"""The newest items of a project that are compared with a query."""


@attrs.frozen(eq=False)
class _Rows:
    """The vectors of one project."""

    item_ids: tuple[GraphItemId, ...] = ()
    rows: Matrix = attrs.Factory(lambda: np.empty((0, 0), np.float32))
    through: int = 0


@attrs.define(eq=False)
class GraphEmbedder:
    """Embeds items without a vector. ``nearest`` first reads the vectors that were stored since its last call."""

    name = "graph embedder"

    _storage: GraphReads
    _writer: StorageActor
    _embedder: Embedder
    _enabled: bool
    _offload: Offload
    _wanted: trio.Event = attrs.field(factory=trio.Event, init=False)
    _stop: Stop = attrs.field(factory=Stop, init=False)
    _problem: str | None = attrs.field(default=None, init=False)
    _kept: OrderedDict[tuple[Namespace, str], _Rows] = attrs.field(factory=OrderedDict, init=False)

    def apply(self, change: Change) -> None:
        """Follow a commit: an item that was put may lack its vector."""
        if self._enabled and isinstance(change, GraphChanged):
            self._wanted.set()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        if self._enabled:
            self._wanted.set()
        task_status.started()
        with self._stop.ends_block():
            while True:
                with trio.move_on_after(RETRY_SECONDS if self._problem else math.inf):
                    await self._wanted.wait()
                self._wanted = trio.Event()
                await self._embed_all()

    def stop(self) -> None:
        """Stop at once: the next daemon embeds what is left, and nothing waits for it."""
        self._stop.throw()

    def abandon(self) -> None:
        """Do nothing: no caller waits for this actor."""

    async def _embed_all(self) -> None:
        try:
            await self._embedder.wait_settled()
            while items := await self._storage.list_graph_items_without_vector(self._digest(), limit=FETCH_COUNT):
                for start in range(0, len(items), CHUNK_COUNT):
                    await self._embed(items[start : start + CHUNK_COUNT])
            self._problem = None
        except DependencyError as error:
            problem = str(error)
            if problem != self._problem:
                log.warning("graph_embedder.failed", problem=problem)
            self._problem = problem

    def _digest(self) -> str:
        """The digest of the current model. Raises EmbeddingError: there is no model."""
        model = self._embedder.models.current
        if model is None:
            raise EmbeddingError("the embedding model is not ready")
        return model.digest

    async def _embed(self, items: list[GraphItem]) -> None:
        digest = self._digest()
        parts = await self._embedder.embed_texts([text_of(item) for item in items])
        vectors = [(item.item_id, rows[0]) for item, rows in zip(items, parts, strict=True)]
        await self._writer.write(lambda transaction: transaction.put_graph_vectors(digest, vectors))

    async def nearest(
        self, namespace: Namespace, query: str, limits: Mapping[GraphKind, int]
    ) -> dict[GraphKind, list[GraphItemId]]:
        """The items that are near to ``query`` in meaning, best first, at most ``limits`` of each kind.

        Raises:
          EmbeddingError: the query cannot be embedded now.
          StorageError: the vectors cannot be read.
        """
        digest = self._digest()
        vector = await self._embedder.embed_query(query)
        kept = await self._up_to_date(namespace, digest)
        return await self._offload(lambda: _near(kept, vector, limits))

    async def _up_to_date(self, namespace: Namespace, digest: str) -> _Rows:
        key = (namespace, digest)
        kept = self._kept.get(key, _Rows())
        new = await self._storage.load_graph_vectors(namespace, digest, after=kept.through)
        if new.total != len(kept.item_ids) + len(new.item_ids):  # some were deleted, or changed
            kept = _Rows()
            new = await self._storage.load_graph_vectors(namespace, digest, after=0)
        if new.item_ids:
            rows = np.concatenate([kept.rows, new.rows]) if kept.item_ids else new.rows
            kept = _Rows((*kept.item_ids, *new.item_ids), rows, new.through)
        self._kept[key] = kept
        self._kept.move_to_end(key)
        while len(self._kept) > MOST_PROJECTS:
            self._kept.popitem(last=False)
        return kept


def _near(kept: _Rows, vector: Vector, limits: Mapping[GraphKind, int]) -> dict[GraphKind, list[GraphItemId]]:
    found: dict[GraphKind, list[GraphItemId]] = {kind: [] for kind in limits}
    if not kept.item_ids or kept.rows.shape[1] != len(vector):  # damaged vectors may have a length of no model
        return found
    item_ids = kept.item_ids[-MOST_ROWS:]
    cosines = kept.rows[-MOST_ROWS:] @ vector
    for place in np.argsort(-cosines, kind="stable"):
        if cosines[place] < LEAST_COSINE or all(len(ids) == limits[kind] for kind, ids in found.items()):
            break
        kind = kind_of(item_ids[place])
        if kind in found and len(found[kind]) < limits[kind]:
            found[kind].append(item_ids[place])
    return found


def text_of(item: GraphItem) -> str:
    """The text of an item that is embedded."""
    if isinstance(item, Entity):
        return f"{item.name} {item.description}".strip()
    if isinstance(item, Fact):
        return item.text
    assert isinstance(item, Procedure), "no other kind is embedded"
    return " ".join((item.name, item.trigger, *item.steps))
