"""SQL of all that is kept: read in the order in which it was put, and put back.

Rules of this file: values are bound. Each read walks one table along its rowid or primary key; the reader stops it when
it has enough for now.
"""
# ruff: noqa: S608  # every text that is put together here is made of names of ours

from __future__ import annotations

from kiro_learn.adapters.sqlite.graph_statements import EVIDENCE_COLUMNS as _EVIDENCE
from kiro_learn.adapters.sqlite.statements import EVENT_COLUMNS, RECORD_COLUMNS

ALL_NAMESPACES = """
    SELECT CAST(namespace AS BLOB), CAST(name AS BLOB), CAST(folder AS BLOB) FROM namespaces ORDER BY number
"""

ALL_MERGED = """
    SELECT CAST(s.namespace AS BLOB), CAST(t.namespace AS BLOB)
      FROM namespaces AS s CROSS JOIN namespaces AS t ON t.number = s.merged_into
     ORDER BY s.number
"""

ALL_PAUSES = """
    SELECT CAST(namespace AS BLOB), CAST(session_id AS BLOB), CAST(since AS BLOB)
      FROM pauses ORDER BY namespace, session_id
"""

ALL_EVENTS = f"""
    SELECT {EVENT_COLUMNS}, CAST(e.transaction_time AS BLOB), CAST(e.expired_at AS BLOB), e.expired_bytes
      FROM events AS e
     ORDER BY e.rowid
"""

ALL_WAITING = "SELECT is_parked, CAST(coalesce(stands_for_json, json_array(event_id)) AS BLOB) FROM buffer"

ALL_REPLACED = f"""
    SELECT {RECORD_COLUMNS}, CAST(r.distilled_at AS BLOB), p.number, CAST(p.replacement_id AS BLOB),
           CAST(p.reason AS BLOB), CAST(p.replaced_at AS BLOB)
      FROM replacements AS p
      CROSS JOIN replaced_records AS r ON r.replacement_number = p.number
      CROSS JOIN namespaces AS n ON n.number = r.namespace_number
     ORDER BY p.number, r.record_id
"""

# The sessions by the primary key of events.
ALL_RECORDS = f"""
    SELECT {RECORD_COLUMNS}, CAST(r.distilled_at AS BLOB), CAST(r.file_digests_json AS BLOB), (
               SELECT CAST(json_group_array(e.session_id) AS BLOB)
                 FROM json_each(iif(json_valid(r.source_event_ids_json), r.source_event_ids_json, '[]')) AS s
                CROSS JOIN events AS e ON e.event_id = s.value)
      FROM memory_records AS r CROSS JOIN namespaces AS n ON n.number = r.namespace_number
     ORDER BY r.number
"""

ALL_EVIDENCE = f"SELECT {', '.join(_EVIDENCE)} FROM graph_evidence ORDER BY item_id, event_id"

ALL_FORGOTTEN = """
    SELECT n.namespace, f.event_id, lower(hex(f.digest))
      FROM forgotten AS f CROSS JOIN namespaces AS n ON n.number = f.namespace_number
     ORDER BY f.namespace_number, f.event_id, f.digest
"""

# One row; a name that another project has here stays with that.
RESTORE_PROJECT = """
    UPDATE namespaces
       SET name = coalesce(name, iif(EXISTS (SELECT 1 FROM namespaces WHERE name = :name), NULL, :name)),
           folder = coalesce(folder, :folder)
     WHERE number = :number
"""

# By the unique index of namespace; each of the others by an index of the namespace.
IS_MERGED = "SELECT merged_into IS NOT NULL FROM namespaces WHERE number = :source"
HOLDS_SOMETHING = """
    SELECT EXISTS (SELECT 1 FROM events WHERE namespace = :source_name)
        OR EXISTS (SELECT 1 FROM memory_records WHERE namespace_number = :source)
"""
RESTORE_PAUSE = """
    INSERT INTO pauses (namespace, session_id, since) VALUES (:namespace, :session_id, :since)
    ON CONFLICT (namespace, session_id) DO NOTHING
"""

RESTORE_EVENT = """
    INSERT INTO events (
        event_id, parent_event_id, session_id, actor_id, namespace, schema_version, kind, body_json, valid_time,
        transaction_time, source_json, content_hash, project_path, expired_at, expired_bytes)
    VALUES (
        :event_id, :parent_event_id, :session_id, :actor_id, :namespace, :schema_version, :kind, :body_json,
        :valid_time, :transaction_time, :source_json, :content_hash, :project_path, :expired_at, :expired_bytes)
    ON CONFLICT (event_id) DO NOTHING
"""

RESTORE_WAITING = """
    INSERT INTO buffer (namespace_number, is_parked, event_id, size_bytes)
    VALUES (:number, :is_parked, :event_id, :size_bytes)
"""

# By the unique index of replacement_id.
REPLACEMENT_NUMBER = """
    SELECT p.number, n.namespace
      FROM replacements AS p JOIN namespaces AS n ON n.number = p.namespace_number
     WHERE p.replacement_id = :replacement_id
"""

RESTORE_REPLACED = """
    INSERT INTO replaced_records (
        number, replacement_number, namespace_number, record_id, created_at, strategy, observation_type, knowledge_type,
        importance, origin, stale_at, title, summary, facts_json, concepts_json, files_touched_json, files_read_json,
        files_modified_json, source_event_ids_json, capture_type, captured_text, details_json, content_hash,
        distilled_at, branch, pinned_at)
    VALUES (
        :number, :replacement, :namespace_number, :record_id, :created_at, :strategy, :observation_type,
        :knowledge_type, :importance, :origin, :stale_at, :title, :summary, :facts_json, :concepts_json,
        :files_touched_json, :files_read_json, :files_modified_json, :source_event_ids_json, :capture_type,
        :captured_text, :details_json, :content_hash, :distilled_at,
        :branch, :pinned_at)
"""

# By the unique index of record_id.
RESTORE_NOTES = """
    UPDATE memory_records SET distilled_at = :distilled_at, file_digests_json = :digests WHERE record_id = :record_id
"""

RESTORE_EVIDENCE = f"""
    INSERT INTO graph_evidence ({", ".join(_EVIDENCE)})
    VALUES ({", ".join(f":{column}" for column in _EVIDENCE)})
    ON CONFLICT (item_id, event_id) DO NOTHING
"""

# Each of the three by the unique index.
RESTORE_PARKED = """
    INSERT INTO parked_clusters (cluster_id, namespace, records_json, problem, attempt_count, retry_at)
    VALUES (:cluster_id, :namespace, :records_json, :problem, :attempt_count, :retry_at)
    ON CONFLICT (cluster_id) DO NOTHING
"""

RESTORE_TOLD = """
    INSERT INTO session_told (namespace_number, session_id, item_id, prompt_number)
    VALUES (:number, :session_id, :item_id, :prompt_number)
    ON CONFLICT (namespace_number, session_id, item_id) DO NOTHING
"""

RESTORE_FORGOTTEN = """
    INSERT INTO forgotten (namespace_number, event_id, digest) VALUES (:number, :event_id, :digest)
    ON CONFLICT DO NOTHING
"""
