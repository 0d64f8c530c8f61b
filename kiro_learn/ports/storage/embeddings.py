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
        """All vectors of the serving model, oldest record first; a damaged one is logged and left out."""

    async def list_unembedded(self, limit: int, *, leave_out: Collection[Namespace] = ()) -> list[MemoryRecord]:
        """Records that lack a vector of their project's serving model and were not set aside, newest first.

        ``leave_out``: projects whose records are not wanted. If more wait than ``limit``, a store may take those that
        came last for the newest, so that it need not sort all of them for each batch.
        """

    async def list_without_passages(self, limit: int, *, leave_out: Collection[Namespace] = ()) -> list[MemoryRecord]:
        """Records with a vector of their project's serving model but no vectors of their passages, listed in the same
        way.
        """

    async def get_passages(
        self, record_ids: Sequence[RecordId], model: ModelIdentity = BUNDLED_MODEL
    ) -> dict[RecordId, Codes]:
        """The vectors that ``model`` made of these records' passages, as put; records without any are left out."""

    async def count_embeddings(self, namespace: Namespace | None) -> EmbeddingCounts:
        """Counts of records with and without a vector, by the model that serves each project."""

    async def get_models(self) -> ModelsInUse:
        """The current embedding model, and the earlier ones that still serve projects."""

    async def list_behind(self, limit: int) -> list[MemoryRecord]:
        """Records without a vector of the current model, in projects that an earlier model serves.

        One project after the other, the newest record of each first.
        """

    async def count_reembedded(self) -> ReembeddingCounts:
        """How many records of the projects that an earlier model serves have a vector of the current one."""


class EmbeddingWrites(Protocol):
    """Putting vectors, and changing the model."""

    def put_embedding(self, record_id: RecordId, embedding: Parts, model: ModelIdentity = BUNDLED_MODEL) -> None:
        """Keep the vectors that ``model`` made of a record, bit for bit. If the record was set aside, it no longer is.

        Nothing is kept for an unknown record, or of a model that is neither the current one nor serves the record's
        project.

        Raises:
          DimensionMismatch: there are no vectors, or their length is not the model's.
        """

    def put_passages(self, record_id: RecordId, codes: Codes, model: ModelIdentity = BUNDLED_MODEL) -> None:
        """Keep the vectors that ``model`` made of a record's passages, in place of those it had of this model.

        They are kept under the conditions of ``put_embedding``. ``codes``: (passages, dimension); no rows if the record
        has no passages.
        """

    def set_embedding_aside(self, record_id: RecordId, reason: str, model: ModelIdentity = BUNDLED_MODEL) -> None:
        """Stop listing the record among those that wait for a vector of ``model``, and say why.

        A record that has its vector is not changed.
        """

    def adopt_model(self, model: KnownModel) -> None:
        """Make ``model`` the current one: from now on all records are to get its vectors, and it serves new projects at
        once.

        Each other project keeps its serving model until ``switch_model`` succeeds for it, which is tried right now.
        Vectors of models that serve no project any more are dropped, except those of the bundled model.
        """

    def switch_model(self, namespace: Namespace) -> None:
        """Let the current model serve the project, in one step.

        Nothing happens while a record of the project lacks the current model's vector and was not set aside, unless no
        record has a vector of the earlier model either.
        """
