"""The writes of the graph in a transaction."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

import apsw

from kiro_learn.adapters.sqlite import graph_statements as statements
from kiro_learn.adapters.sqlite.connections import in_transaction
from kiro_learn.adapters.sqlite.damage import DamagedRows
from kiro_learn.adapters.sqlite.graph_reads import find_entities, get_evidence, get_items, put_vectors
from kiro_learn.adapters.sqlite.graph_rows import folded, from_evidence, from_item, items_in, kind_of_item, kinds_of
from kiro_learn.adapters.sqlite.records import number_of
from kiro_learn.errors import StorageError
from kiro_learn.model.graph import (
    Entity,
    Evidence,
    Fact,
    GraphItem,
    GraphItemId,
    GraphKind,
    Relationship,
    reworded_among,
)
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.answers import Change, GraphChanged


def put_items(connection: apsw.Connection, items: Sequence[GraphItem]) -> None:
    """See ``GraphWrites.put_graph_items``."""
    numbers = {namespace: number_of(connection, namespace)[0] for namespace in {item.namespace for item in items}}
    for item in sorted(items, key=lambda item: not isinstance(item, Entity)):  # others refer to entities
        _put_item(connection, item, numbers[item.namespace])


def _put_item(connection: apsw.Connection, item: GraphItem, number: int) -> None:
    kind = kind_of_item(item)
    values = from_item(item, namespace_number=number)
    try:
        done = connection.execute(statements.PUT_ITEM[kind], values).get
    except apsw.ConstraintError as error:
        raise StorageError(f"the graph refuses {item.item_id}: {_reason(error)}") from error
    if done is None:
        raise StorageError(f"the graph refuses {item.item_id}: it is of another project")
    if isinstance(item, Entity):
        _put_names(connection, item, number)


def _reason(error: apsw.ConstraintError) -> str:
    """Which constraint failed, found in the error's message: apsw says it nowhere else."""
    reasons = {
        "FOREIGN KEY": "an entity that it names is not there",
        "UNIQUE": "another one has its name and type",
    }
    return next((reason for sign, reason in reasons.items() if sign in str(error)), "a value is out of bounds")


def _put_names(connection: apsw.Connection, entity: Entity, number: int) -> None:
    connection.execute(statements.DELETE_NAMES, {"id": entity.item_id})
    for name in {folded(each) for each in (entity.name, *entity.aliases)}:
        connection.execute(statements.PUT_NAME, {"number": number, "name": name, "id": entity.item_id})


def delete_items(connection: apsw.Connection, item_ids: Collection[GraphItemId]) -> set[int]:
    """Delete items with all that depends on them; returns the numbers of the namespaces that had any."""
    numbers = _numbers_of(connection, item_ids)
    for item_id, kind in kinds_of(item_ids):
        connection.execute(statements.DELETE_ITEM[kind], {"id": item_id})
    return numbers


def forget_events(connection: apsw.Connection, event_ids: Collection[EventId]) -> set[int]:
    """Delete the events' evidence, and items without other evidence; returns as ``delete_items``."""
    values = {"event_ids": json.dumps(list(event_ids))}
    doomed = [GraphItemId(item_id) for (item_id,) in connection.execute(statements.ITEMS_OF_EVENTS_ALONE, values)]
    connection.execute(statements.DELETE_EVIDENCE_OF, values)
    return delete_items(connection, doomed) if doomed else set()


def _numbers_of(connection: apsw.Connection, item_ids: Collection[GraphItemId]) -> set[int]:
    return {
        number
        for item_id, kind in kinds_of(item_ids)
        for (number,) in connection.execute(statements.NUMBER_OF_ITEM[kind], {"id": item_id})
    }


class GraphWrites:
    """The part of a transaction that ``ports.storage.graph`` describes."""

    connection: apsw.Connection
    changes: list[Change]
    forgotten_in: set[int]

    def put_graph_items(self, items: Sequence[GraphItem]) -> None:
        changes: list[Change] = []
        for namespace in sorted({item.namespace for item in items}):
            mine = [item for item in items if item.namespace == namespace]
            before = get_items(
                self.connection,
                namespace=namespace,
                item_ids=[item.item_id for item in mine],
                damaged=DamagedRows(),
            )
            changes.append(GraphChanged(namespace, reworded_among(mine, before)))
        put_items(self.connection, items)
        self.changes += changes

    def put_graph_evidence(self, evidence: Sequence[Evidence]) -> None:
        self.connection.executemany(statements.PUT_EVIDENCE, [from_evidence(each) for each in evidence])

    def delete_graph_evidence(self, keys: Collection[tuple[GraphItemId, EventId]]) -> None:
        rows = [{"item_id": item_id, "event_id": event_id} for item_id, event_id in keys]
        self.connection.executemany(statements.DELETE_EVIDENCE, rows)

    def find_entities(self, namespace: Namespace, names: Collection[str]) -> list[Entity]:
        return find_entities(self.connection, namespace=namespace, names=names, damaged=DamagedRows())

    def read_graph_item(self, namespace: Namespace, item_id: GraphItemId) -> GraphItem | None:
        found = get_items(self.connection, namespace=namespace, item_ids=[item_id], damaged=DamagedRows())
        return found.get(item_id)

    def find_graph_items(self, namespace: Namespace, kind: GraphKind) -> list[GraphItem]:
        return self._found(kind, statements.FIND_ITEMS[kind], namespace)

    def find_facts(
        self,
        namespace: Namespace,
        *,
        objects: Collection[str],
        about: Collection[GraphItemId] | None = None,
        predicates: Collection[str] = (),
    ) -> list[Fact]:
        if about is None:
            return self._found(GraphKind.FACT, statements.FIND_FACTS_THAT_NAME, namespace, objects=objects)
        asked = {"objects": objects, "about": about, "predicates": predicates}
        return self._found(GraphKind.FACT, statements.FIND_FACTS, namespace, **asked)

    def find_relationships(
        self,
        namespace: Namespace,
        sources: Collection[GraphItemId],
        *,
        types: Collection[str],
        targets: Collection[GraphItemId],
        whole_types: Collection[str] = (),
    ) -> list[Relationship]:
        asked = {"sources": sources, "types": types, "targets": targets, "of_any": whole_types}
        return self._found(GraphKind.RELATIONSHIP, statements.FIND_RELATIONSHIPS, namespace, **asked)

    def _found(self, kind: GraphKind, statement: str, namespace: Namespace, **lists: Collection[str]) -> list[Any]:
        """The items of ``kind`` that ``statement`` finds."""
        values = {"namespace": namespace, **{name: json.dumps(sorted(each)) for name, each in lists.items()}}
        return list(items_in(kind, self.connection.execute(statement, values), DamagedRows()))

    def find_graph_events(self, event_ids: Collection[EventId]) -> set[EventId]:
        values = {"event_ids": json.dumps(sorted(event_ids))}
        return {EventId(event_id) for (event_id,) in self.connection.execute(statements.EVENTS_AMONG, values)}

    def find_graph_evidence(self, item_ids: Collection[GraphItemId]) -> dict[GraphItemId, tuple[Evidence, ...]]:
        return get_evidence(self.connection, item_ids=item_ids, damaged=DamagedRows())

    put_graph_vectors = in_transaction(put_vectors)

    def delete_graph_items(self, item_ids: Collection[GraphItemId]) -> None:
        self._note_gone_from(delete_items(self.connection, item_ids))

    def forget_graph_of(self, event_ids: Collection[EventId]) -> None:
        """See ``forget_events``."""
        if event_ids:
            self._note_gone_from(forget_events(self.connection, event_ids))

    def _note_gone_from(self, numbers: set[int]) -> None:
        self.changes += [GraphChanged(namespace) for namespace in self._names_of(numbers)]
        self.forgotten_in |= numbers

    def forget_graph_item(self, namespace: Namespace, item_id: GraphItemId) -> bool:
        if namespace not in self._names_of(_numbers_of(self.connection, {item_id})):
            return False
        known = self.connection.execute(statements.EVENTS_OF_ITEM_AND_ITS_OWN, {"id": item_id}).fetchall()
        self.delete_graph_items([item_id])
        rows = [{"id": item_id, "event_id": event_id, "observed_at": observed_at} for event_id, observed_at in known]
        self.connection.executemany(statements.PUT_EVENT_OF_FORGOTTEN, rows)
        return True

    def _names_of(self, numbers: Collection[int]) -> list[Namespace]:
        rows = self.connection.execute(statements.NAMESPACES_OF, {"numbers": json.dumps(sorted(numbers))})
        return [Namespace(namespace) for (namespace,) in rows]
