"""The graph of ``InMemoryStorage``: the contract of ``ports.storage.graph``, kept in dicts.

Its search by words knows whole words only, and ranks by how many of them an item has.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import TypeVar

import numpy as np

from kiro_learn.errors import StorageError
from kiro_learn.model.graph import (
    Entity,
    Evidence,
    Fact,
    GraphItem,
    GraphItemId,
    GraphKind,
    Preference,
    Procedure,
    Relationship,
    kind_of,
)
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.vectors import Vector
from kiro_learn.ports.storage.graph import GraphList, GraphVectors, GraphWalk, GraphWords, Reached
from kiro_learn.testing.memory_state import State

I = TypeVar("I", Entity, Fact, Relationship)  # noqa: E741  # an item
T = TypeVar("T", Fact, Relationship)


def folded(name: str) -> str:
    return " ".join(name.casefold().split())


def put_items(state: State, items: Sequence[GraphItem]) -> None:
    for item in sorted(items, key=lambda item: not isinstance(item, Entity)):
        _refuse(state, item)
        before = state.graph_items.get(item.item_id)
        if before is not None and _text_of(before) != _text_of(item):
            state.graph_vectors.pop(item.item_id, None)
        state.graph_items[item.item_id] = item


def _refuse(state: State, item: GraphItem) -> None:
    before = state.graph_items.get(item.item_id)
    if before is not None and before.namespace != item.namespace:
        raise StorageError(f"the graph refuses {item.item_id}: it is of another project")
    if isinstance(item, Entity):
        others = (each for each in _of(state, item.namespace, Entity) if each.item_id != item.item_id)
        if any((folded(each.name), each.type) == (folded(item.name), item.type) for each in others):
            raise StorageError(f"the graph refuses {item.item_id}: another one has its name and type")
    if not set(_ends(item)) <= state.graph_items.keys():
        raise StorageError(f"the graph refuses {item.item_id}: an entity that it names is not there")


def _ends(item: GraphItem) -> tuple[GraphItemId, ...]:
    """The entities that it names."""
    if isinstance(item, Fact):
        return (item.entity_id,)
    return (item.source_id, item.target_id) if isinstance(item, Relationship) else ()


def find_entities(state: State, namespace: Namespace, names: Collection[str]) -> list[Entity]:
    wanted = {folded(name) for name in names}
    found = (each for each in _of(state, namespace, Entity) if wanted & set(map(folded, (each.name, *each.aliases))))
    return sorted(found, key=lambda entity: entity.item_id)


def find_items(state: State, namespace: Namespace, kind: GraphKind, about: Collection[GraphItemId]) -> list[GraphItem]:
    found = (item for item in _of_kind(state, namespace, kind))
    if kind in {GraphKind.FACT, GraphKind.RELATIONSHIP}:
        return [item for item in found if set(about) & set(_ends(item))]
    return list(found)


def delete_items(state: State, item_ids: Collection[GraphItemId]) -> None:
    doomed = set(item_ids)
    for item_id in item_ids:
        doomed |= {item.item_id for item in state.graph_items.values() if item_id in _ends(item)}
    for item_id in doomed:
        state.graph_items.pop(item_id, None)
        state.graph_vectors.pop(item_id, None)
        state.forget_told(item_id)
    state.graph_evidence = {key: each for key, each in state.graph_evidence.items() if key[0] not in doomed}


def forget_forgotten(state: State) -> None:
    """Delete what was learned from forgotten events alone."""
    gone = {event_id for _, event_id, _ in state.forgotten}
    touched = {item_id for item_id, event_id in state.graph_evidence if event_id in gone}
    state.graph_evidence = {key: each for key, each in state.graph_evidence.items() if key[1] not in gone}
    left = {item_id for item_id, _ in state.graph_evidence}
    delete_items(state, touched - left)


def _of(state: State, namespace: Namespace, value_type: type[I]) -> Iterator[I]:
    for item in state.graph_items.values():
        if isinstance(item, value_type) and item.namespace == namespace:
            yield item


def _of_kind(state: State, namespace: Namespace, kind: GraphKind) -> list[GraphItem]:
    found = (each for each in state.graph_items.values() if each.namespace == namespace)
    return sorted((each for each in found if kind_of(each.item_id) is kind), key=lambda item: item.item_id)


def is_current(item: GraphItem) -> bool:
    if isinstance(item, Fact | Procedure | Preference):
        return item.is_current
    return item.validity.is_current if isinstance(item, Relationship) else True


def _holds(item: GraphItem, as_of: datetime | None) -> bool:
    if as_of is None or not isinstance(item, Fact | Relationship | Preference):
        return is_current(item)
    return item.validity.holds(as_of) and not (isinstance(item, Fact) and item.is_candidate)


def _text_of(item: GraphItem) -> str:
    """What is searched by words, and embedded."""
    if isinstance(item, Entity):
        return "\n".join((item.name, item.description, *item.aliases))
    if isinstance(item, Fact):
        return f"{item.subject}\n{item.predicate}\n{item.object}"
    if isinstance(item, Procedure):
        return "\n".join((item.name, item.trigger, *item.steps))
    return ""


def search_words(state: State, search: GraphWords) -> dict[GraphKind, list[GraphItemId]]:
    wanted = [_words(word) for word in dict.fromkeys(search.words) if _words(word)]
    found: dict[GraphKind, list[GraphItemId]] = {}
    for kind, limit in search.limits.items():
        counts: dict[GraphItemId, int] = {}
        for item in _of_kind(state, search.namespace, kind):
            text = f" {' '.join(_words(_text_of(item)))} "
            count = sum(f" {' '.join(word)} " in text for word in wanted)
            if count and _holds(item, search.as_of):
                counts[item.item_id] = count
        found[kind] = sorted(counts, key=lambda item_id: (-counts[item_id], item_id))[:limit]
    return found


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def walk(state: State, walk_: GraphWalk) -> list[Reached]:
    known = {entity.item_id: entity for entity in _of(state, walk_.namespace, Entity)}
    frontier = [known[seed] for seed in dict.fromkeys(walk_.seeds) if seed in known]
    entities: dict[GraphItemId, Reached] = {}
    facts: list[Reached] = []
    for depth in range(walk_.depth + 1):
        frontier = frontier[: max(0, walk_.most_entities - len(entities))]
        edges: list[Relationship] = []
        near_facts: list[Fact] = []
        for entity in frontier:
            near = _surest(state, walk_, Relationship, entity.item_id)
            near = [edge for edge in near if edge.confidence > walk_.min_confidence]
            entities[entity.item_id] = Reached(entity, depth, len(near))
            edges += near[: walk_.per_node]
            near_facts += _surest(state, walk_, Fact, entity.item_id)[: walk_.per_node]
        room = max(0, walk_.most_facts - len(facts))
        facts += [Reached(fact, depth) for fact in sorted(near_facts, key=_sureness)[:room]]
        ends = dict.fromkeys(end for edge in sorted(edges, key=_sureness) for end in (edge.source_id, edge.target_id))
        frontier = [known[end] for end in ends if end not in entities]
    return sorted((*entities.values(), *facts), key=lambda each: (each.depth, *_sureness(each.item)))


def _sureness(item: GraphItem) -> tuple[float, GraphItemId]:
    return -(item.confidence if isinstance(item, Fact | Relationship) else 1.0), item.item_id


def _surest(state: State, walk_: GraphWalk, value_type: type[T], about: GraphItemId) -> list[T]:
    found = (each for each in _of(state, walk_.namespace, value_type) if about in _ends(each))
    return sorted((each for each in found if _holds(each, walk_.as_of)), key=_sureness)


def list_candidates(state: State, namespace: Namespace, about: Collection[GraphItemId], limit: int) -> list[Fact]:
    found = (each for each in _of(state, namespace, Fact) if each.entity_id in about and each.is_candidate)
    return sorted((each for each in found if each.validity.is_current), key=_sureness)[:limit]


def put_vectors(state: State, digest: str, vectors: Sequence[tuple[GraphItemId, Vector]]) -> None:
    for item_id, vector in vectors:
        if item_id in state.graph_items:
            state.last_graph_vector += 1
            state.graph_vectors[item_id] = (state.last_graph_vector, digest, vector)


def list_without_vector(state: State, digest: str, limit: int) -> list[GraphItem]:
    found: list[GraphItem] = []
    for kind in (GraphKind.ENTITY, GraphKind.FACT, GraphKind.PROCEDURE):
        for item in state.graph_items.values():
            _, known, _ = state.graph_vectors.get(item.item_id, (0, "", None))
            if kind_of(item.item_id) is kind and is_current(item) and known != digest:
                found.append(item)
    return found[:limit]


def load_vectors(state: State, namespace: Namespace, digest: str, after: int) -> GraphVectors:
    mine = sorted(
        (
            (number, item_id, vector)
            for item_id, (number, made_by, vector) in state.graph_vectors.items()
            if made_by == digest and state.graph_items[item_id].namespace == namespace
        ),
        key=lambda each: each[0],
    )
    new = [each for each in mine if each[0] > after]
    return GraphVectors(
        item_ids=tuple(item_id for _, item_id, _ in new),
        rows=np.stack([vector for *_, vector in new]) if new else np.empty((0, 0), np.float32),
        through=new[-1][0] if new else after,
        total=len(mine),
    )


def list_items(state: State, query: GraphList) -> list[GraphItem]:
    found = reversed(_of_kind(state, query.namespace, query.kind))
    kept = [item for item in found if _is_listed(state, item, query)]
    return kept[: query.limit]


def _held(state: State, item: GraphItem, as_of: datetime) -> bool:
    if isinstance(item, Entity):
        return item.first_seen <= as_of
    if not isinstance(item, Procedure):
        return _holds(item, as_of)
    follower = state.graph_items.get(item.superseded_by) if item.superseded_by else None
    is_unfollowed = isinstance(follower, Procedure) and follower.created_at > as_of
    return item.created_at <= as_of and (item.is_current or is_unfollowed)


def _is_listed(state: State, item: GraphItem, query: GraphList) -> bool:
    fits = is_current(item) or not query.only_current
    return (
        (fits if query.as_of is None else _held(state, item, query.as_of))
        and (query.about is None or query.about in _ends(item))
        and (query.before is None or item.item_id < query.before)
        and query.text.lower() in _named(item).lower()
    )


def _named(item: GraphItem) -> str:
    if isinstance(item, Entity):
        return "\n".join((item.name, *item.aliases))
    if isinstance(item, Fact):
        return f"{item.subject}\n{item.predicate}\n{item.object}"
    if isinstance(item, Procedure):
        return f"{item.name}\n{item.trigger}"
    if isinstance(item, Preference):
        return f"{item.key}\n{item.value}"
    return item.type


def get_evidence(state: State, item_ids: Collection[GraphItemId]) -> dict[GraphItemId, tuple[Evidence, ...]]:
    found: dict[GraphItemId, list[Evidence]] = {item_id: [] for item_id in item_ids}
    for (item_id, _), evidence in state.graph_evidence.items():
        if item_id in found:
            found[item_id].append(evidence)
    return {key: tuple(sorted(each, key=lambda e: (e.observed_at, e.event_id))) for key, each in found.items()}
