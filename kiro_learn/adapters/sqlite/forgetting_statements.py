"""SQL about forgetting by a selection, and about what was forgotten; see ``statements.py`` for the rules of the SQL."""
# ruff: noqa: S608  # all texts are put together of constants of this file

from __future__ import annotations


def _holds(*columns: str) -> str:
    """A condition: one of the columns has one of the secret's spellings."""
    found = " OR ".join(f"instr({column}, s.value)" for column in columns)
    return f"EXISTS (SELECT 1 FROM json_each(:secrets) AS s WHERE {found})"


_RECORD_TEXTS = tuple(
    f"r.{name}"
    for name in (
        "title",
        "summary",
        "facts_json",
        "concepts_json",
        "files_touched_json",
        "files_read_json",
        "files_modified_json",
        "captured_text",
        "details_json",
    )
)

# A range of events_of_namespace, and each row.
SELECT_EVENTS = f"""
    SELECT e.event_id, e.session_id
      FROM events AS e
     WHERE e.namespace = :namespace AND e.valid_time >= :since AND e.valid_time < :until
       AND (:session IS NULL OR e.session_id = :session)
       AND (:source IS NULL
            OR json_extract(CASE WHEN json_valid(e.source_json) THEN e.source_json END, '$.surface') = :source)
       AND (:secrets IS NULL OR {_holds("e.body_json", "e.source_json", "e.project_path", "e.session_id")})
"""

# Those of a list, by the primary key.
EVENTS_OF_RECORDS = """
    SELECT e.event_id, e.session_id
      FROM json_each(:record_ids) AS asked CROSS JOIN memory_records AS r ON r.record_id = asked.value,
           json_each(CASE WHEN json_valid(r.source_event_ids_json) THEN r.source_event_ids_json END) AS cited
      CROSS JOIN events AS e ON e.event_id = cited.value
"""

# Each by the unique index of record_id, if it is in one of these projects.
LIVE_AMONG = """
    SELECT r.record_id
      FROM json_each(:record_ids) AS asked CROSS JOIN memory_records AS r ON r.record_id = asked.value
     WHERE r.namespace_number IN (SELECT value FROM json_each(:numbers))
"""
REPLACED_AMONG = """
    SELECT r.record_id
      FROM json_each(:record_ids) AS asked CROSS JOIN replaced_records AS r ON r.record_id = asked.value
     WHERE r.namespace_number IN (SELECT value FROM json_each(:numbers))
"""

# Each by the primary key.
EVENTS_AMONG_STORED = """
    SELECT e.event_id, e.session_id
      FROM json_each(:event_ids) AS asked CROSS JOIN events AS e ON e.event_id = asked.value
"""

# The whole table, once for each copy of the store.
FORGOTTEN = "SELECT event_id, digest FROM forgotten"

# All records of a copy, once.
WORDS_OF_ALL = """
    SELECT record_id, title, summary, source_event_ids_json FROM memory_records
     UNION ALL
    SELECT record_id, title, summary, source_event_ids_json FROM replaced_records
"""

_CITES_ONE = """EXISTS (
    SELECT 1 FROM json_each(CASE WHEN json_valid(r.source_event_ids_json) THEN r.source_event_ids_json END) AS cited
     WHERE cited.value IN (SELECT value FROM json_each(:event_ids)))
"""
_CITES_NONE = """NOT EXISTS (
    SELECT 1 FROM json_each(CASE WHEN json_valid(r.source_event_ids_json) THEN r.source_event_ids_json END) AS cited
     WHERE EXISTS (SELECT 1 FROM events AS e WHERE e.event_id = cited.value))
"""
# Records that are selected without their events: of whole projects, by time alone, by origin, or by the secret.
_BY_ITSELF = f"""(
    :is_whole
    OR (:is_of_time AND r.created_at >= :since AND r.created_at < :until AND {_CITES_NONE})
    OR (:source_alone AND r.origin = :source)
    OR (:secret_alone AND {_holds(*_RECORD_TEXTS)}))
"""

# All records of a project, each row.
SELECT_RECORDS = f"""
    SELECT r.record_id FROM memory_records AS r INDEXED BY records_of_namespace
     WHERE r.namespace_number = :number AND ({_CITES_ONE} OR {_BY_ITSELF})
"""

# As SELECT_RECORDS, for replaced records.
SELECT_REPLACED = f"""
    SELECT r.record_id FROM replaced_records AS r
     WHERE r.namespace_number = :number AND ({_CITES_ONE} OR {_BY_ITSELF})
"""

_ITEM_TEXTS = {
    "graph_entities": ("i.name", "i.description", "i.aliases_json"),
    "graph_relationships": ("i.type",),
    "graph_facts": ("i.subject", "i.predicate", "i.object"),
    "graph_procedures": ("i.name", "i.trigger", "i.steps_json"),
    "graph_preferences": ("i.key", "i.value"),
}
_ITEMS = {table: f"SELECT i.id FROM {table} AS i WHERE i.namespace_number = :number" for table in _ITEM_TEXTS}

# All items of a project's graph, each row.
ITEMS_WITH_SECRET = " UNION ALL ".join(f"{_ITEMS[table]} AND {_holds(*texts)}" for table, texts in _ITEM_TEXTS.items())

# Along the indexes by namespace.
ITEMS_OF_PROJECT = f"{' UNION ALL '.join(_ITEMS.values())} LIMIT :limit"

# For each of a list, by the primary key.
DOOM = "INSERT OR IGNORE INTO doomed (kind, id) SELECT :kind, value FROM json_each(:ids)"

# For each of a list, by the primary key. The empty digest stands for the event itself.
MARK_EVENTS = """
    INSERT OR IGNORE INTO forgotten (namespace_number, event_id, digest)
    SELECT n.number, e.event_id, x''
      FROM json_each(:ids) AS asked CROSS JOIN events AS e ON e.event_id = asked.value
      CROSS JOIN namespaces AS n ON n.namespace = e.namespace
"""

# Each by the primary key.
IS_ERASED = """
    SELECT EXISTS (
        SELECT 1
          FROM json_each(:event_ids) AS asked
          CROSS JOIN namespaces AS n ON n.namespace = :namespace
          CROSS JOIN forgotten AS f ON f.namespace_number = n.number AND f.event_id = asked.value AND f.digest = x'')
        OR EXISTS (SELECT 1 FROM namespaces WHERE namespace = :namespace AND merged_into IS NOT NULL)
"""

# Ranges of the primary key.
DOOMED = "SELECT id FROM doomed WHERE kind = :kind ORDER BY id LIMIT :limit"
COUNT_DOOMED = "SELECT count(*) FROM doomed WHERE kind = :kind"
UNDOOM = "DELETE FROM doomed WHERE kind = :kind AND id IN (SELECT value FROM json_each(:ids))"

# All of the buffer, which the thresholds of learning keep small.
COMPACTIONS_OF_EVENTS = """
    SELECT b.position, b.namespace_number, b.stands_for_json
      FROM buffer AS b
     WHERE json_valid(b.stands_for_json)
       AND EXISTS (SELECT 1 FROM json_each(b.stands_for_json) AS s
                    WHERE s.value IN (SELECT value FROM json_each(:ids)))
"""

# By the primary key.
DELETE_BUFFERED = "DELETE FROM buffer WHERE position = :position"

# The events of a list that stay, by the primary key, in the order of arrival.
BUFFER_AGAIN = """
    INSERT INTO buffer (namespace_number, event_id, size_bytes)
    SELECT :number, e.event_id, octet_length(e.body_json)
      FROM json_each(:ids) AS asked CROSS JOIN events AS e ON e.event_id = asked.value
     WHERE NOT EXISTS (SELECT 1 FROM doomed AS d WHERE d.kind = 'event' AND d.id = e.event_id)
       AND NOT EXISTS (SELECT 1 FROM buffer AS b WHERE b.event_id = e.event_id)
     ORDER BY e.rowid
"""

# By the unique index of event_id.
UNBUFFER_EVENTS = "DELETE FROM buffer WHERE event_id IN (SELECT value FROM json_each(:ids))"

# For each of a list, by the primary key.
STEPS_OF_EVENTS = """
    SELECT e.event_id, e.namespace, e.session_id, e.kind, e.body_json, e.valid_time
      FROM json_each(:ids) AS asked CROSS JOIN events AS e ON e.event_id = asked.value
"""

# By the unique index of namespaces.
PUT_FORGOTTEN_STEP = """
    INSERT OR IGNORE INTO forgotten (namespace_number, event_id, digest)
    SELECT n.number, :event_id, :digest FROM namespaces AS n WHERE n.namespace = :namespace
"""

# The first of a range of the primary key.
HAS_FORGOTTEN = """
    SELECT EXISTS (
        SELECT 1 FROM namespaces AS n CROSS JOIN forgotten AS f ON f.namespace_number = n.number
         WHERE n.namespace = :namespace)
"""

# A row by the unique namespace, and a range of the primary key.
HAS_FORGOTTEN_OR_MERGED = """
    SELECT EXISTS (
        SELECT 1 FROM namespaces AS n CROSS JOIN forgotten AS f ON f.namespace_number = n.number
         WHERE n.namespace = :namespace)
        OR EXISTS (SELECT 1 FROM namespaces WHERE namespace = :namespace AND merged_into IS NOT NULL)
"""

# Each along forgotten_by_digest.
IS_STEP_FORGOTTEN = """
    SELECT EXISTS (
        SELECT 1
          FROM namespaces AS n
          CROSS JOIN json_each(:digests) AS step
          CROSS JOIN forgotten AS f ON f.namespace_number = n.number AND f.digest = unhex(step.value)
         WHERE n.namespace = :namespace)
"""

# For each of a list, by the primary key.
SESSIONS_OF_EVENTS = """
    SELECT DISTINCT e.namespace, e.session_id
      FROM json_each(:ids) AS asked CROSS JOIN events AS e ON e.event_id = asked.value
"""
DELETE_EVENTS = "DELETE FROM events WHERE event_id IN (SELECT value FROM json_each(:ids))"

# A range of events_of_session.
HAS_EVENTS_OF_SESSION = """
    SELECT EXISTS (SELECT 1 FROM events WHERE namespace = :namespace AND session_id = :session_id)
"""

# The table has a row for each process of an agent that names no session.
FORGET_HOOK_SESSION = "DELETE FROM hook_sessions WHERE session_id = :session_id"

# The rest of a project without events and records: by an index, or in a table with few rows for each project.
FORGET_RUNS = "DELETE FROM learning_runs WHERE namespace = :namespace"
FORGET_USAGE = "DELETE FROM llm_usage WHERE namespace = :namespace"
FORGET_PARKED = "DELETE FROM parked_clusters WHERE namespace = :namespace"
FORGET_TOLD_OF_PROJECT = "DELETE FROM session_told WHERE namespace_number = :number"
FORGET_NAME = "UPDATE namespaces SET name = NULL, folder = NULL WHERE number = :number"
NAMESPACE_OF_NUMBER = "SELECT namespace FROM namespaces WHERE number = :number"

# --- what was forgotten ----------------------------------------------------------------------------------------------

PUT_FORGOTTEN = """
    INSERT INTO forgotten (namespace_number, event_id, digest)
    SELECT :number, cited.value, :digest
      FROM json_each(CASE WHEN json_valid(:event_ids) THEN :event_ids ELSE '[]' END) AS cited
     WHERE cited.type = 'text'
    ON CONFLICT DO NOTHING
"""

CITED_EVENTS = """
    SELECT cited.value FROM json_each(CASE WHEN json_valid(:event_ids) THEN :event_ids ELSE '[]' END) AS cited
     WHERE cited.type = 'text'
"""

# Each by the primary key.
HAS_FORGOTTEN_EVENT = """
    SELECT EXISTS (
        SELECT 1
          FROM json_each(:event_ids) AS cited
          CROSS JOIN forgotten AS f ON f.namespace_number = :number AND f.event_id = cited.value)
"""

# Each by the primary key.
HAS_FORGOTTEN_WORDS_OF_EVENT = """
    SELECT EXISTS (
        SELECT 1
          FROM json_each(:event_ids) AS cited
          CROSS JOIN forgotten AS f
             ON f.namespace_number = :number AND f.event_id = cited.value AND f.digest = :digest)
"""

# By forgotten_by_digest.
HAS_FORGOTTEN_WORDS = """
    SELECT EXISTS (SELECT 1 FROM forgotten WHERE namespace_number = :number AND digest = :digest)
"""

# By the unique indexes of record_id. Other columns of the row may be damaged.
WORDS_AND_EVENTS = """
    SELECT namespace_number, CAST(title AS BLOB), CAST(summary AS BLOB), CAST(source_event_ids_json AS BLOB)
      FROM memory_records
     WHERE record_id = :record_id
     UNION ALL
    SELECT namespace_number, CAST(title AS BLOB), CAST(summary AS BLOB), CAST(source_event_ids_json AS BLOB)
      FROM replaced_records
     WHERE record_id = :record_id
"""

# Along replaced_with.
REPLACED_IDS = "SELECT record_id FROM replaced_records WHERE replacement_number = :replacement ORDER BY record_id"
