"""The outcome of a piece of writing, and the changes of records that indexes have to follow."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, TypeAlias, TypeVar

import attrs

from kiro_learn.errors import KiroLearnError
from kiro_learn.model.graph import GraphItemId
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.vectors import BUNDLED_MODEL, ModelIdentity, Parts

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
    """Items of a project's graph were put or deleted."""

    namespace: Namespace
    reworded: tuple[GraphItemId, ...] = ()
    """Those of them that were there, and of which something else is told now."""


Change: TypeAlias = RecordStored | RecordEmbedded | RecordRemoved | ModelSwitched | GraphChanged


@attrs.frozen
class Committed(Generic[T]):
    """The work is durable."""

    value: T
    changes: tuple[Change, ...]
    """Its changes of records, in order, for the indexes to follow."""


@attrs.frozen
class Refused:
    """The work raised ``error``, which is ours whatever it was, and changed nothing."""

    error: KiroLearnError


Outcome: TypeAlias = Committed[Any] | Refused
