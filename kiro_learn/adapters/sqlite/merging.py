"""Renames a project, and moves all of one into another: whatever names the one names the other afterwards.

A record's number has that of its project in its upper half, and its words stand in its project's index, so each record
gets a new number and is entered anew. Of two entities of one name and type, one takes over what is said of the other.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw
import attrs

from kiro_learn.adapters.sqlite import merging_statements as statements
from kiro_learn.adapters.sqlite import word_reads
from kiro_learn.adapters.sqlite.damage import DamagedRows
from kiro_learn.adapters.sqlite.damaged_row import DamagedRow
from kiro_learn.adapters.sqlite.embeddings import embedding_put_back
from kiro_learn.adapters.sqlite.readers import reading
from kiro_learn.adapters.sqlite.records import next_number, number_of, put_words
from kiro_learn.adapters.sqlite.rows import Row, Values, from_cluster, to_record
from kiro_learn.adapters.sqlite.statements import CREATE_INDEX, PARK_CLUSTER, PROJECTS, for_namespace
from kiro_learn.adapters.sqlite.statistics import list_parked_clusters
from kiro_learn.errors import InvalidRequest
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import EVENTS_WITH_FOLDER, Namespace
from kiro_learn.ports.storage.answers import Change, GraphChanged, RecordRemoved

AT_THE_END = (
    statements.MOVE_RELATIONSHIPS,
    statements.MOVE_FACTS,
    statements.MOVE_PROCEDURES,
    statements.MOVE_PREFERENCES,
    statements.MOVE_VECTORS,
    statements.MOVE_REPLACEMENTS,
    statements.MOVE_BUFFER,
    statements.MOVE_TOLD,
    statements.MOVE_FORGOTTEN,
    statements.MOVE_RUNS,
    statements.MOVE_PAUSES,
    statements.ADD_USAGE,
    statements.DROP_USAGE,
)


JOINING = (
    statements.JOIN_ENTITY,
    statements.JOIN_FACTS,
    statements.JOIN_FROM,
    statements.JOIN_TO,
    statements.JOIN_EVIDENCE,
    statements.JOIN_NAMES,
    statements.DELETE_JOINED,
)


def list_merged(connection: apsw.Connection) -> dict[Namespace, Namespace]:
    return {Namespace(str(source)): Namespace(str(target)) for source, target in connection.execute(statements.MERGED)}


def list_project_names(connection: apsw.Connection) -> dict[Namespace, str]:
    return {Namespace(str(namespace)): str(name) for namespace, name in connection.execute(statements.NAMES)}


class ProjectReads:
    """The part of the store that ``ports.storage.projects`` describes."""

    list_merged = reading(list_merged)
    list_project_names = reading(list_project_names)


class ProjectWrites:
    """The part of a transaction that ``ports.storage.projects`` describes."""

    _connection: apsw.Connection
    changes: list[Change]

    def rename_project(self, namespace: Namespace, name: str | None) -> None:
        others = {each for key, each in list_project_names(self._connection).items() if key != namespace}
        if name in others:
            raise InvalidRequest([("$.name", "expected a name that no other project has")])
        values: Values = {"number": number_of(self._connection, namespace)[0], "name": name}
        self._connection.execute(statements.RENAME, values)

    def begin_merge(self, source: Namespace, target: Namespace) -> None:
        target = self.in_use(target)
        place = self._place(source, target)
        if source == target:
            raise InvalidRequest([("$.into", "expected another project")])
        if self._connection.execute(statements.MODELS, place).get != 1:
            expected = "expected projects that are embedded by the same model; one is still embedded again"
            raise InvalidRequest([("$.into", expected)])
        self._connection.execute(statements.SET_FOLDER, {"number": place["target"], "folder": self._folder_of(target)})
        self._connection.execute(statements.BEGIN_MERGE, place)

    def merge_some(self, source: Namespace, *, limit: int) -> int:
        place = self._place(source, self.in_use(source)) | {"limit": limit}
        for move in (self._move_records, self._move_replaced, self._move_entities, self._move_events):
            count = move(place)
            if count:
                return count
        return self._move_rest(place)

    def in_use(self, namespace: Namespace) -> Namespace:
        """The project that ``namespace`` was merged into, or itself."""
        found = self._connection.execute(statements.TARGET, {"namespace": namespace}).get
        return namespace if found is None else Namespace(str(found))

    def _place(self, source: Namespace, target: Namespace) -> Values:
        numbers = [number_of(self._connection, each)[0] for each in (source, target)]
        return {"source": numbers[0], "target": numbers[1], "source_name": source, "target_name": target}

    def _folder_of(self, namespace: Namespace) -> str | None:
        rows: list[Row] = self._connection.execute(PROJECTS, {"events_with_folder": EVENTS_WITH_FOLDER}).fetchall()
        return next((str(row[4]) for row in rows if row[0] == namespace and row[4]), None)

    def _move_records(self, place: Values) -> int:
        rows: list[Row] = self._connection.execute(statements.SOME_RECORDS, place).fetchall()
        target = Namespace(str(place["target_name"]))
        for number, *row in rows:
            new = self._renumber(statements.MOVE_RECORD, number, place)
            word_reads.delete_words(self._connection, number)
            record_id = RecordId((row[1] or b"").decode("utf-8", "replace"))
            self.changes.append(RecordRemoved(Namespace(str(place["source_name"])), record_id))
            try:
                record = attrs.evolve(to_record(tuple(row)), namespace=target)
            except DamagedRow:  # its words are not there either
                continue
            self.changes.append(put_words(self._connection, new, record))
            self.changes += embedding_put_back(self._connection, new, record)
        return len(rows)

    def _move_replaced(self, place: Values) -> int:
        rows: list[Row] = self._connection.execute(statements.SOME_REPLACED, place).fetchall()
        for (number,) in rows:
            self._renumber(statements.MOVE_REPLACED, number, place)
        return len(rows)

    def _renumber(self, statement: str, old: int, place: Values) -> int:
        target = Namespace(str(place["target_name"]))
        number, last_record = number_of(self._connection, target)
        if last_record == 0:
            self._connection.execute(for_namespace(CREATE_INDEX, number))
        new = next_number(self._connection, number)
        moved: Values = {"old": old, "new": new, "target": number}
        self._connection.execute(statement, moved)
        self._connection.execute(statements.MOVE_EMBEDDINGS, moved)
        return new

    def _move_entities(self, place: Values) -> int:
        rows: list[Row] = self._connection.execute(statements.SOME_ENTITIES, place).fetchall()
        for entity_id, twin in rows:
            values = place | {"id": entity_id, "twin": twin}
            self._execute((statements.MOVE_ENTITY, statements.MOVE_ENTITY_NAMES) if twin is None else JOINING, values)
        return len(rows)

    def _move_events(self, place: Values) -> int:
        found: list[Row] = self._connection.execute(statements.SOME_EVENTS, place).fetchall()
        ids = json.dumps([event_id for (event_id,) in found])
        self._connection.execute(statements.MOVE_EVENTS, {"target_name": place["target_name"], "ids": ids})
        return len(found)

    def _move_rest(self, place: Values) -> int:
        source, target = (Namespace(str(place[name])) for name in ("source_name", "target_name"))
        for cluster in list_parked_clusters(self._connection, DamagedRows(), source):
            records = tuple(attrs.evolve(record, namespace=target) for record in cluster.records)
            moved = attrs.evolve(cluster, namespace=target, records=records)
            self._connection.execute(PARK_CLUSTER, from_cluster(moved))
        self._execute(AT_THE_END, place)
        self.changes += [GraphChanged(source), GraphChanged(target)]
        return 0

    def _execute(self, moves: Sequence[str], values: Values) -> None:
        for statement in moves:
            self._connection.execute(statement, values)
