"""Renames a project, and merges one project into another: all its rows belong to the other one afterwards.

The upper half of a record's number is its project's number, and its words are in its project's index. So each record
gets a new number and is indexed anew. If both projects have an entity of the same name and type, one of the two takes
over the other's facts and relationships. See ``statements.py`` for the rules of the SQL.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw
import attrs

from kiro_learn.adapters.sqlite import word_reads
from kiro_learn.adapters.sqlite.damage import DamagedRow, DamagedRows, Row
from kiro_learn.adapters.sqlite.embeddings import embedding_put_back
from kiro_learn.adapters.sqlite.index_statements import CREATE_INDEX
from kiro_learn.adapters.sqlite.record_statements import RECORD_COLUMNS
from kiro_learn.adapters.sqlite.records import next_number, number_of, put_words
from kiro_learn.adapters.sqlite.rows import Values, from_cluster, to_record
from kiro_learn.adapters.sqlite.statements import PARK_CLUSTER, USAGE_COUNTS, USAGE_FIELDS, added, for_namespace
from kiro_learn.adapters.sqlite.statistics import list_parked_clusters, list_projects
from kiro_learn.errors import InvalidRequest
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.storage.answers import Change, GraphChanged, RecordRemoved

# One row a project.
RENAME = "UPDATE namespaces SET name = :name WHERE number = :number"
NAMES = "SELECT namespace, name FROM namespaces WHERE name IS NOT NULL"
SET_FOLDER = "UPDATE namespaces SET folder = coalesce(folder, :folder) WHERE number = :number"
MERGED = """
    SELECT s.namespace, t.namespace
      FROM namespaces AS s JOIN namespaces AS t ON t.number = s.merged_into
"""

# By the unique index.
TARGET = """
    SELECT t.namespace FROM namespaces AS s JOIN namespaces AS t ON t.number = s.merged_into
     WHERE s.namespace = :namespace
"""

# By the rowid, and one row a project.
BEGIN_MERGE = "UPDATE namespaces SET merged_into = :target WHERE number = :source OR merged_into = :source"
MODELS = "SELECT count(DISTINCT embedding_model) FROM namespaces WHERE number IN (:source, :target)"

# A range of events_of_namespace; the table itself is not read.
SOME_EVENTS = "SELECT event_id FROM events WHERE namespace = :source_name LIMIT :limit"

# For each of a list, by the primary key.
MOVE_EVENTS = "UPDATE events SET namespace = :target_name WHERE event_id IN (SELECT value FROM json_each(:ids))"

# A range of records_of_namespace.
SOME_RECORDS = f"""
    SELECT r.number, {RECORD_COLUMNS}
      FROM memory_records AS r JOIN namespaces AS n ON n.number = r.namespace_number
     WHERE r.namespace_number = :source
     LIMIT :limit
"""  # noqa: S608  # our own constant

# All rows of the table, but only while two projects are merged.
SOME_REPLACED = "SELECT number FROM replaced_records WHERE namespace_number = :source LIMIT :limit"

# By the rowid.
MOVE_RECORD = "UPDATE memory_records SET number = :new, namespace_number = :target WHERE number = :old"
MOVE_REPLACED = "UPDATE replaced_records SET number = :new, namespace_number = :target WHERE number = :old"

# A range of the primary key for each model.
MOVE_EMBEDDINGS = """
    UPDATE model_embeddings SET number = :new
     WHERE model_number IN (SELECT number FROM embedding_models) AND number = :old
"""

# Along graph_entities_of_namespace; each by its unique index.
SOME_ENTITIES = """
    SELECT s.id, t.id
      FROM graph_entities AS s
      LEFT JOIN graph_entities AS t
        ON t.namespace_number = :target AND t.folded_name = s.folded_name AND t.type = s.type
     WHERE s.namespace_number = :source
     LIMIT :limit
"""

# By the unique index of id, or an index of their entity.
MOVE_ENTITY = "UPDATE graph_entities SET namespace_number = :target WHERE id = :id"
MOVE_ENTITY_NAMES = "UPDATE graph_entity_names SET namespace_number = :target WHERE entity_id = :id"
JOIN_FACTS = "UPDATE graph_facts SET entity_id = :twin WHERE entity_id = :id"
JOIN_FROM = "UPDATE graph_relationships SET source_id = :twin WHERE source_id = :id"
JOIN_TO = "UPDATE graph_relationships SET target_id = :twin WHERE target_id = :id"
JOIN_EVIDENCE = "UPDATE OR IGNORE graph_evidence SET item_id = :twin WHERE item_id = :id"
JOIN_NAMES = """
    INSERT OR IGNORE INTO graph_entity_names (namespace_number, folded_name, entity_id)
    SELECT :target, folded_name, :twin FROM graph_entity_names WHERE entity_id = :id
"""
JOIN_ENTITY = """
    UPDATE graph_entities AS t
       SET mention_count = t.mention_count + s.mention_count, importance = max(t.importance, s.importance),
           first_seen = min(t.first_seen, s.first_seen), last_referenced = max(t.last_referenced, s.last_referenced),
           description = iif(t.description = '', s.description, t.description)
      FROM graph_entities AS s
     WHERE t.id = :twin AND s.id = :id
"""

DELETE_JOINED = "DELETE FROM graph_entities WHERE id = :id"

# Along an index by namespace, or a table with few rows a project; once, at the end of a merge.
MOVE_ROWS = {
    table: f"UPDATE {table} SET namespace_number = :target WHERE namespace_number = :source"  # noqa: S608  # our own names
    for table in (
        *("graph_relationships", "graph_facts", "graph_procedures", "graph_preferences", "graph_vectors"),
        *("replacements", "buffer"),
    )
}
MOVE_TOLD = "UPDATE OR REPLACE session_told SET namespace_number = :target WHERE namespace_number = :source"
MOVE_FORGOTTEN = "UPDATE OR REPLACE forgotten SET namespace_number = :target WHERE namespace_number = :source"
MOVE_RUNS = "UPDATE learning_runs SET namespace = :target_name WHERE namespace = :source_name"
MOVE_PAUSES = "UPDATE OR REPLACE pauses SET namespace = :target_name WHERE namespace = :source_name"
ADD_USAGE = f"""
    INSERT INTO llm_usage ({", ".join(USAGE_FIELDS)})
    SELECT day, :target_name, {", ".join(USAGE_COUNTS)}
      FROM llm_usage WHERE namespace = :source_name
    ON CONFLICT (day, namespace) {added("llm_usage", USAGE_COUNTS)}
"""  # noqa: S608  # our own constants
DROP_USAGE = "DELETE FROM llm_usage WHERE namespace = :source_name"

AT_THE_END = (*MOVE_ROWS.values(), MOVE_TOLD, MOVE_FORGOTTEN, MOVE_RUNS, MOVE_PAUSES, ADD_USAGE, DROP_USAGE)
JOINING = (JOIN_ENTITY, JOIN_FACTS, JOIN_FROM, JOIN_TO, JOIN_EVIDENCE, JOIN_NAMES, DELETE_JOINED)


def list_merged(connection: apsw.Connection) -> dict[Namespace, Namespace]:
    return {Namespace(str(source)): Namespace(str(target)) for source, target in connection.execute(MERGED)}


def list_project_names(connection: apsw.Connection) -> dict[Namespace, str]:
    return {Namespace(str(namespace)): str(name) for namespace, name in connection.execute(NAMES)}


class ProjectWrites:
    """The part of a transaction that ``ports.storage.export`` describes."""

    connection: apsw.Connection
    changes: list[Change]

    def rename_project(self, namespace: Namespace, name: str | None) -> None:
        others = {each for key, each in list_project_names(self.connection).items() if key != namespace}
        if name in others:
            raise InvalidRequest([("$.name", "expected a name that no other project has")])
        values: Values = {"number": number_of(self.connection, namespace)[0], "name": name}
        self.connection.execute(RENAME, values)

    def note_folder(self, namespace: Namespace, folder: str) -> None:
        self.connection.execute(SET_FOLDER, {"number": number_of(self.connection, namespace)[0], "folder": folder})

    def begin_merge(self, source: Namespace, target: Namespace) -> None:
        target = self.in_use(target)
        place = self._place(source, target)
        if source == target:
            raise InvalidRequest([("$.into", "expected another project")])
        if self.connection.execute(MODELS, place).get != 1:
            expected = "expected projects that are embedded by the same model; one is still embedded again"
            raise InvalidRequest([("$.into", expected)])
        self.connection.execute(SET_FOLDER, {"number": place["target"], "folder": self._folder_of(target)})
        self.connection.execute(BEGIN_MERGE, place)

    def merge_some(self, source: Namespace, *, limit: int) -> int:
        place = self._place(source, self.in_use(source)) | {"limit": limit}
        for move in (self._move_records, self._move_replaced, self._move_entities, self._move_events):
            count = move(place)
            if count:
                return count
        return self._move_rest(place)

    def in_use(self, namespace: Namespace) -> Namespace:
        """The project that ``namespace`` was merged into, or itself."""
        found = self.connection.execute(TARGET, {"namespace": namespace}).get
        return namespace if found is None else Namespace(str(found))

    def _place(self, source: Namespace, target: Namespace) -> Values:
        numbers = [number_of(self.connection, each)[0] for each in (source, target)]
        return {"source": numbers[0], "target": numbers[1], "source_name": source, "target_name": target}

    def _folder_of(self, namespace: Namespace) -> str | None:
        projects = list_projects(self.connection, user_home=None)
        return next((each.folder for each in projects if each.namespace == namespace), None)

    def _move_records(self, place: Values) -> int:
        rows: list[Row] = self.connection.execute(SOME_RECORDS, place).fetchall()
        target = Namespace(str(place["target_name"]))
        for number, *row in rows:
            new = self._renumber(MOVE_RECORD, number, place)
            word_reads.delete_words(self.connection, number)
            record_id = RecordId((row[1] or b"").decode("utf-8", "replace"))
            self.changes.append(RecordRemoved(Namespace(str(place["source_name"])), record_id))
            try:
                record = unchecked_evolve(to_record(tuple(row)), namespace=target)
            except DamagedRow:  # it has no words in the index either
                continue
            self.changes.append(put_words(self.connection, new, record))
            self.changes += embedding_put_back(self.connection, new, record)
        return len(rows)

    def _move_replaced(self, place: Values) -> int:
        rows: list[Row] = self.connection.execute(SOME_REPLACED, place).fetchall()
        for (number,) in rows:
            self._renumber(MOVE_REPLACED, number, place)
        return len(rows)

    def _renumber(self, statement: str, old: int, place: Values) -> int:
        target = Namespace(str(place["target_name"]))
        number, last_record = number_of(self.connection, target)
        if last_record == 0:
            self.connection.execute(for_namespace(CREATE_INDEX, number))
        new = next_number(self.connection, number)
        moved: Values = {"old": old, "new": new, "target": number}
        self.connection.execute(statement, moved)
        self.connection.execute(MOVE_EMBEDDINGS, moved)
        return new

    def _move_entities(self, place: Values) -> int:
        rows: list[Row] = self.connection.execute(SOME_ENTITIES, place).fetchall()
        for entity_id, twin in rows:
            values = place | {"id": entity_id, "twin": twin}
            self._execute((MOVE_ENTITY, MOVE_ENTITY_NAMES) if twin is None else JOINING, values)
        return len(rows)

    def _move_events(self, place: Values) -> int:
        found: list[Row] = self.connection.execute(SOME_EVENTS, place).fetchall()
        ids = json.dumps([event_id for (event_id,) in found])
        self.connection.execute(MOVE_EVENTS, {"target_name": place["target_name"], "ids": ids})
        return len(found)

    def _move_rest(self, place: Values) -> int:
        source, target = (Namespace(str(place[name])) for name in ("source_name", "target_name"))
        for cluster in list_parked_clusters(self.connection, DamagedRows(), source):
            records = tuple(unchecked_evolve(record, namespace=target) for record in cluster.records)
            moved = attrs.evolve(cluster, namespace=target, records=records)
            self.connection.execute(PARK_CLUSTER, from_cluster(moved))
        self._execute(AT_THE_END, place)
        self.changes += [GraphChanged(source), GraphChanged(target)]
        return 0

    def _execute(self, moves: Sequence[str], values: Values) -> None:
        for statement in moves:
            self.connection.execute(statement, values)
