"""The picture of what is remembered: memories, what they are about, and what joins these."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from datetime import datetime

import attrs

from kiro_learn.model.namespace import Namespace

MOST_NODES = 5_000
LINKS_A_NODE = 2
"""Most links, for each node that there may be."""


class NodeKind(enum.StrEnum):
    """What a node stands for; the values name what is shown."""

    PROJECT = "projects"
    MEMORY = "memories"
    CONCEPT = "concepts"
    ENTITY = "entities"
    FILE = "files"


@attrs.frozen(kw_only=True)
class PictureAsked:
    """Which picture is wanted."""

    namespace: Namespace | None
    """None: over all projects."""
    show: frozenset[NodeKind]
    limit: int
    """Most nodes, 4 or more; so many of the newest memories are looked at."""


@attrs.frozen(kw_only=True)
class PictureNode:
    """One thing in the picture."""

    id: str
    """Of a memory or an entity its own, of a project its namespace, of others ``concept:NAME`` or ``file:PATH``."""
    kind: NodeKind
    label: str
    type: str | None = None
    """Of a memory: what it is, as lists say; of an entity its type."""
    namespace: Namespace | None = None
    """Of what belongs to one project."""
    at: datetime | None = None
    """When a memory was made, or an entity last mentioned."""


@attrs.frozen(kw_only=True)
class PictureLink:
    """What joins two nodes, each by its place among them."""

    source: int
    target: int
    says: str | None = None
    """The predicate between two entities; None: a memory joins them, or is one of them."""
    count: int = 1
    """Of the memories that join them."""


@attrs.frozen(kw_only=True)
class GraphPicture:
    """Nodes and links, and of each kind how many did not fit."""

    nodes: Sequence[PictureNode]
    links: Sequence[PictureLink]
    left_out: Mapping[str, int]
