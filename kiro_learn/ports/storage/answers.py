"""The values that a store is asked with and answers with: part of the contract in ``ports/storage/interface.py``."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, TypeAlias, TypeVar

import attrs

from kiro_learn.errors import KiroLearnError
from kiro_learn.model.event import Event
from kiro_learn.model.graph import GraphItemId
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.vectors import BUNDLED_MODEL, Matrix, ModelIdentity, Parts

NEIGHBOR_DISTANCE = 5
"""The most words between two that still count as close together."""


@attrs.frozen
class SearchParams:
    """A search by words in one namespace."""

    namespace: Namespace
    query: str
    limit: int
    term_cap: int = 32
    with_neighbors: bool = False
    """Whether to find also the hits in which the query's words are close together."""


@attrs.frozen(eq=False)
class EmbeddingTable:
    """Every vector of a namespace, as it was put. The i-th record has the next row_counts[i] rows of ``vectors``."""

    record_ids: tuple[RecordId, ...]
    created_ats: tuple[datetime, ...]
    row_counts: tuple[int, ...]
    """At least 1 each."""
    vectors: Matrix
    model: ModelIdentity = BUNDLED_MODEL
    """The model that made the vectors."""


@attrs.frozen
class RecordPage:
    """A slice of the records, newest first, and how many there are in all."""

    items: tuple[MemoryRecord, ...]
    total: int
    damaged: tuple[str, ...] = ()
    """Ids of the records in this slice that cannot be read."""


@attrs.frozen
class EventPage:
    """A slice of the events, newest first, how many there are in all, and where the next slice starts."""

    items: tuple[Event, ...]
    total: int
    next_cursor: str | None
    damaged: tuple[str, ...] = ()
    """Ids of the events in this slice that cannot be read."""


# The outcome of a piece of writing, and the changes that the indexes have to follow.

T = TypeVar("T")


@attrs.frozen
class RecordStored:
    """A record was put; unless a RecordEmbedded follows, it has no vector yet."""

    namespace: Namespace
    record_id: RecordId


@attrs.frozen(eq=False)
class RecordEmbedded:
    """A record's vectors, of the model that serves its project, were put or replaced."""

    namespace: Namespace
    record_id: RecordId
    created_at: datetime
    parts: Parts
    model: ModelIdentity = BUNDLED_MODEL


@attrs.frozen
class RecordRemoved:
    """A record, its vector and its index entry are gone."""

    namespace: Namespace
    record_id: RecordId


@attrs.frozen
class ModelSwitched:
    """From now on a project is searched by the vectors of another embedding model."""

    namespace: Namespace
    model: ModelIdentity


@attrs.frozen
class GraphChanged:
    """Items of a project's graph were put, changed or deleted."""

    namespace: Namespace
    reworded: tuple[GraphItemId, ...] = ()
    """The changed items whose text for agents is a new one."""


Change: TypeAlias = RecordStored | RecordEmbedded | RecordRemoved | ModelSwitched | GraphChanged


@attrs.frozen
class Committed(Generic[T]):
    """The work is durable."""

    value: T
    changes: tuple[Change, ...]
    """The changes that the work made, in order, for the indexes to follow."""


@attrs.frozen
class Refused:
    """The work raised ``error`` and changed nothing. An error of another library was turned into one of ours."""

    error: KiroLearnError


Outcome: TypeAlias = Committed[Any] | Refused
