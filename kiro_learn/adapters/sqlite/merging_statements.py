"""Every statement about renaming and merging projects; see ``statements.py`` for the rules of such a file."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.statements import RECORD_COLUMNS

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

# A range of events_of_namespace, of which the table itself is not read.
SOME_EVENTS = "SELECT event_id FROM events WHERE namespace = :source_name LIMIT :limit"

# For each of a list, by the primary key.
MOVE_EVENTS = "UPDATE events SET namespace = :target_name WHERE event_id IN (SELECT value FROM json_each(:ids))"

# A range of records_of_namespace.
SOME_RECORDS = f"""
    SELECT r.number, {RECORD_COLUMNS}
      FROM memory_records AS r JOIN namespaces AS n ON n.number = r.namespace_number
     WHERE r.namespace_number = :source
     LIMIT :limit
"""  # noqa: S608  # a constant of ours

# All that was replaced, while two projects are merged.
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
MOVE_RELATIONSHIPS = "UPDATE graph_relationships SET namespace_number = :target WHERE namespace_number = :source"
MOVE_FACTS = "UPDATE graph_facts SET namespace_number = :target WHERE namespace_number = :source"
MOVE_PROCEDURES = "UPDATE graph_procedures SET namespace_number = :target WHERE namespace_number = :source"
MOVE_PREFERENCES = "UPDATE graph_preferences SET namespace_number = :target WHERE namespace_number = :source"
MOVE_VECTORS = "UPDATE graph_vectors SET namespace_number = :target WHERE namespace_number = :source"
MOVE_REPLACEMENTS = "UPDATE replacements SET namespace_number = :target WHERE namespace_number = :source"
MOVE_BUFFER = "UPDATE buffer SET namespace_number = :target WHERE namespace_number = :source"
MOVE_TOLD = "UPDATE OR REPLACE session_told SET namespace_number = :target WHERE namespace_number = :source"
MOVE_FORGOTTEN = "UPDATE OR REPLACE forgotten SET namespace_number = :target WHERE namespace_number = :source"
MOVE_RUNS = "UPDATE learning_runs SET namespace = :target_name WHERE namespace = :source_name"
MOVE_PAUSES = "UPDATE OR REPLACE pauses SET namespace = :target_name WHERE namespace = :source_name"
ADD_USAGE = """
    INSERT INTO llm_usage (day, namespace, call_count, failure_count, characters_in, characters_out, seconds)
    SELECT day, :target_name, call_count, failure_count, characters_in, characters_out, seconds
      FROM llm_usage WHERE namespace = :source_name
    ON CONFLICT (day, namespace) DO UPDATE
       SET call_count = llm_usage.call_count + excluded.call_count,
           failure_count = llm_usage.failure_count + excluded.failure_count,
           characters_in = llm_usage.characters_in + excluded.characters_in,
           characters_out = llm_usage.characters_out + excluded.characters_out,
           seconds = llm_usage.seconds + excluded.seconds
"""
DROP_USAGE = "DELETE FROM llm_usage WHERE namespace = :source_name"
