"""Vectors of records and of their passages, and the models that made them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.statistics import EmbeddingCounts
from kiro_learn.model.vectors import (
    BUNDLED_MODEL,
    Codes,
    KnownModel,
    ModelIdentity,
    ModelsInUse,
    Parts,
    ReembeddingCounts,
)
from kiro_learn.ports.storage.answers import EmbeddingTable


class EmbeddingReads(Protocol):
    """Reads of vectors, and of records that lack one."""

    async def list_embeddings(self, namespace: Namespace) -> EmbeddingTable:
        """All vectors of the model that serves it, oldest record first; a damaged one is logged and left out."""

    async def list_unembedded(self, limit: int, *, leave_out: Collection[Namespace] = ()) -> list[MemoryRecord]:
        """Records that wait for a vector of the model that serves their project and were not set aside, newest first.

        ``leave_out``: projects whose records are not wanted. Where more wait than ``limit``, those that came last may
        stand for the newest: a store need not sort all that waits for each batch.
        """

    async def list_without_passages(self, limit: int, *, leave_out: Collection[Namespace] = ()) -> list[MemoryRecord]:
        """Records that have a vector of the model that serves their project, and none put for their passages, alike."""

    async def get_passages(
        self, record_ids: Sequence[RecordId], model: ModelIdentity = BUNDLED_MODEL
    ) -> dict[RecordId, Codes]:
        """What ``model`` made of the passages of these records, as it was put; records without any are left out."""

    async def count_embeddings(self, namespace: Namespace | None) -> EmbeddingCounts:
        """By the model that serves each project."""

    async def get_models(self) -> ModelsInUse:
        """The current embedding model, and the earlier ones that still serve projects."""

    async def list_behind(self, limit: int) -> list[MemoryRecord]:
        """Records without a vector of the current model, in projects that another one serves.

        One project after the other, the newest record of each first.
        """

    async def count_reembedded(self) -> ReembeddingCounts:
        """How far the projects that an earlier model serves are embedded by the current one."""


class EmbeddingWrites(Protocol):
    """New vectors, and changes of the model."""

    def put_embedding(self, record_id: RecordId, embedding: Parts, model: ModelIdentity = BUNDLED_MODEL) -> None:
        """Keep the vectors that ``model`` made of a record, bit for bit. One set aside no longer is.

        An unknown record is left unknown; vectors of a model that is not the current one and does not serve the
        record's project are not kept.

        Raises:
          DimensionMismatch: there is none, or they have not as many components as the model's.
        """

    def put_passages(self, record_id: RecordId, codes: Codes, model: ModelIdentity = BUNDLED_MODEL) -> None:
        """Keep the vectors that ``model`` made of a record's passages, whatever it had before of this model.

        Kept where ``put_embedding`` would keep its vectors. ``codes``: (passages, dimension); no rows if it has none.
        """

    def set_embedding_aside(self, record_id: RecordId, reason: str, model: ModelIdentity = BUNDLED_MODEL) -> None:
        """Stop listing the record among those that wait for a vector of ``model``, and say why.

        One that has its vector stays.
        """

    def adopt_model(self, model: KnownModel) -> None:
        """All records are to get vectors of ``model`` from now on; those of projects to come do at once.

        Other projects are searched by what they have, until ``switch_model``, which is tried for each right now.
        Vectors of models that no project is searched by any more are dropped, but for the bundled one's.
        """

    def switch_model(self, namespace: Namespace) -> None:
        """Have the project searched by the current model's vectors, in one step.

        Nothing happens while one of its records has no such vector and was not set aside, unless it has no vector of
        the model before either.
        """
