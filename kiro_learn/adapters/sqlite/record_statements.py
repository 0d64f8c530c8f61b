"""SQL about memory records and replaced records. A comment before a statement names its index.

See ``statements.py`` for the rules of the SQL.
"""
# ruff: noqa: S608  # all texts are put together of our own names

from __future__ import annotations

from kiro_learn.adapters.sqlite.statements import as_bytes, insertion

# --- memory records --------------------------------------------------------------------------------------------------

# By the unique index of record_id.
FIND_RECORD = """
    SELECT r.number, r.namespace_number, n.namespace
      FROM memory_records AS r JOIN namespaces AS n ON n.number = r.namespace_number
     WHERE r.record_id = :record_id
"""

RECORD_FIELDS = (
    *("record_id", "created_at", "strategy", "observation_type", "knowledge_type", "importance", "origin", "stale_at"),
    *("title", "summary", "facts_json", "concepts_json", "files_touched_json", "files_read_json"),
    *("files_modified_json", "source_event_ids_json", "capture_type", "captured_text", "details_json", "branch"),
    "pinned_at",
)
"""The columns of a memory, in the order in which they are read and written."""
RECORD_COLUMNS = f"CAST(n.namespace AS BLOB), {as_bytes('r', RECORD_FIELDS, but={'importance'})}"
_OF_NAMESPACE = f"""
    SELECT {RECORD_COLUMNS}
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace"""
_OF_ALL = f"""
    SELECT {RECORD_COLUMNS}
      FROM memory_records AS r JOIN namespaces AS n ON n.number = r.namespace_number"""
_BEFORE = "(r.created_at, r.record_id) < (:created_at, :record_id)"
_NEWEST_FIRST = "ORDER BY r.created_at DESC, r.record_id DESC"
_FIRST_EVENT = "CASE WHEN json_valid(r.source_event_ids_json) THEN json_extract(r.source_event_ids_json, '$[0]') END"

PUT_RECORD = insertion("memory_records", "number", "namespace_number", *RECORD_FIELDS, "content_hash")


# For each of a list, by the unique index of record_id. In one query: ten queries took eight times as long.
GET_RECORDS = f"""
    SELECT {RECORD_COLUMNS}
      FROM json_each(:record_ids) AS asked
      JOIN memory_records AS r ON r.record_id = asked.value
      JOIN namespaces AS n ON n.number = r.namespace_number
"""

# For each of a list, by the unique index of record_id, then its first event by the primary key of events. In one query:
# two hundred queries took five times as long.
# ``|| ''`` has each event read by its key: a server without statistics would read all events of the project instead.
RANKING_FEATURES = f"""
    SELECT r.record_id, r.title, r.summary, r.facts_json, r.concepts_json, e.session_id, e.valid_time
      FROM json_each(:record_ids) AS asked
      JOIN memory_records AS r ON r.record_id = asked.value
      JOIN namespaces AS n ON n.number = r.namespace_number
      LEFT JOIN events AS e
        ON e.event_id = {_FIRST_EVENT}
       AND e.namespace || '' = n.namespace
"""

# For each of a list, by the unique index of record_id, then each of its events by the primary key of events.
TEACHERS = """
    SELECT r.record_id, e.actor_id
      FROM json_each(:record_ids) AS asked
      JOIN memory_records AS r ON r.record_id = asked.value
      CROSS JOIN json_each(
          CASE WHEN json_valid(r.source_event_ids_json) THEN r.source_event_ids_json ELSE '[]' END) AS cited
      JOIN events AS e ON e.event_id = cited.value
"""

# Backwards along records_of_namespace, without a sort.
RECORDS_OF_NAMESPACE = f"{_OF_NAMESPACE} {_NEWEST_FIRST} LIMIT :limit OFFSET :offset"

# A range of records_of_namespace; the table itself is not read.
RECORD_IDS_ENDING = f"""
    SELECT r.record_id
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace AND substr(r.record_id, length(r.record_id) - length(:ending) + 1) = :ending
     {_NEWEST_FIRST}
     LIMIT :limit
"""

# Backwards along records_by_time, without a sort.
RECORDS_OF_ALL = f"{_OF_ALL} {_NEWEST_FIRST} LIMIT :limit OFFSET :offset"

# A range of records_of_namespace; the table itself is not read.
COUNT_RECORDS_OF_NAMESPACE = """
    SELECT count(*)
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace
"""

# A range of records_of_namespace; the table itself is not read.
COUNT_RECORDS_OF_NUMBER = "SELECT count(*) FROM memory_records WHERE namespace_number = :number"

# The smallest index from end to end.
COUNT_RECORDS_OF_ALL = "SELECT count(*) FROM memory_records"

# A range of records_by_content_hash, from its newest end; then the first event of each by the primary key.
LIST_ALIKE = f"""
    SELECT {RECORD_COLUMNS}, CAST(e.session_id AS BLOB)
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
      LEFT JOIN events AS e
        ON e.event_id = {_FIRST_EVENT}
     WHERE n.namespace = :namespace AND r.content_hash = :hash
       AND r.created_at > :after AND r.created_at < :before
     {_NEWEST_FIRST}
     LIMIT :limit
"""

IS_WANTED = f"""
    (:types IS NULL
     OR coalesce(r.capture_type, r.knowledge_type, r.observation_type) IN (SELECT value FROM json_each(:types)))
    AND r.created_at >= :since AND r.created_at < :until
    AND (:is_stale IS NULL OR (r.stale_at IS NOT NULL) = :is_stale)
    AND (:branch IS NULL OR r.branch = :branch)
    AND (:is_pinned IS NULL OR (r.pinned_at IS NOT NULL) = :is_pinned)
    AND (:strategy IS NULL OR r.strategy = :strategy)
    AND (:session IS NULL
         OR EXISTS (SELECT 1
                      FROM events AS said
                     WHERE said.event_id = {_FIRST_EVENT}
                       AND said.namespace = (SELECT namespace FROM namespaces WHERE number = r.namespace_number)
                       AND said.session_id = :session))
    AND (:concept IS NULL
         OR EXISTS (SELECT 1
                      FROM json_each(CASE WHEN json_valid(r.concepts_json) THEN r.concepts_json END) AS concept
                     WHERE concept.value = :concept COLLATE NOCASE))
    AND (:file IS NULL
         OR EXISTS (SELECT 1
                      FROM (SELECT r.files_touched_json AS files UNION ALL SELECT r.files_read_json
                            UNION ALL SELECT r.files_modified_json) AS cited,
                           json_each(CASE WHEN json_valid(cited.files) THEN cited.files END) AS file
                     WHERE file.value = :file OR substr(file.value, length(file.value) - length(:file)) = '/' || :file))
"""

# Backwards along records_of_namespace, without a sort; the reader stops it when it has enough.
RECORDS_BEFORE = f"{_OF_NAMESPACE} AND {_BEFORE} AND {IS_WANTED} {_NEWEST_FIRST}"

# Backwards along records_by_time, without a sort; the reader stops it when it has enough.
RECORDS_OF_ALL_BEFORE = f"{_OF_ALL} WHERE {_BEFORE} AND {IS_WANTED} {_NEWEST_FIRST}"

# Backwards along records_pinned, which is short, without a sort; the reader stops it when it has enough.
PINNED_BEFORE = f"""
    SELECT {RECORD_COLUMNS}
      FROM memory_records AS r INDEXED BY records_pinned JOIN namespaces AS n ON n.number = r.namespace_number
     WHERE r.pinned_at IS NOT NULL AND (:namespace IS NULL OR n.namespace = :namespace)
       AND {_BEFORE} AND {IS_WANTED}
     {_NEWEST_FIRST}
"""

# Backwards along records_of_knowledge, without a sort; the reader stops it when it has enough.
KNOWLEDGE_BEFORE = f"""
    SELECT {RECORD_COLUMNS}
      FROM namespaces AS n JOIN memory_records AS r INDEXED BY records_of_knowledge ON r.namespace_number = n.number
     WHERE n.namespace = :namespace AND r.knowledge_type IS NOT NULL
       AND {_BEFORE} AND {IS_WANTED}
     {_NEWEST_FIRST}
"""

# All of records_of_knowledge. Two numbers and two short texts are sorted before whole rows are read.
RULES_FIRST = f"""
    SELECT {RECORD_COLUMNS}
      FROM (SELECT k.number,
                   CASE WHEN k.knowledge_type <> 'constraint' THEN 2
                        WHEN json_extract(CASE WHEN json_valid(k.details_json) THEN k.details_json END, '$.severity')
                             IS 'hard' THEN 0
                        ELSE 1 END AS place
              FROM namespaces AS n JOIN memory_records AS k INDEXED BY records_of_knowledge
                   ON k.namespace_number = n.number
             WHERE n.namespace = :namespace AND k.knowledge_type IS NOT NULL
             ORDER BY place, k.created_at DESC, k.record_id DESC
             LIMIT :limit OFFSET :offset) AS chosen
      CROSS JOIN memory_records AS r ON r.number = chosen.number
      JOIN namespaces AS n ON n.number = r.namespace_number
     ORDER BY chosen.place, r.created_at DESC, r.record_id DESC
"""

# For each of a list, by the unique index of record_id.
KNOWLEDGE_AMONG = """
    SELECT r.record_id
      FROM json_each(:record_ids) AS asked CROSS JOIN memory_records AS r ON r.record_id = asked.value
     WHERE r.knowledge_type IS NOT NULL
"""

FITTING_AMONG = f"""
    SELECT r.record_id
      FROM json_each(:record_ids) AS asked CROSS JOIN memory_records AS r ON r.record_id = asked.value
     WHERE {IS_WANTED}
"""

# Along records_of_namespace, without a sort.
RECORDS_AFTER = f"""{_OF_NAMESPACE}
       AND (r.created_at, r.record_id) > (:created_at, :record_id)
     ORDER BY r.created_at, r.record_id
     LIMIT :limit
"""

# Backwards along records_by_capture_type, then each record's event by the primary key, until one fits.
CHECKPOINT = f"""
    SELECT {RECORD_COLUMNS}
      FROM namespaces AS n CROSS JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace AND r.capture_type = 'checkpoint'
       AND (:session_id IS NULL
            OR EXISTS (SELECT 1 FROM events AS e
                        WHERE e.event_id = {_FIRST_EVENT}
                          AND e.namespace = :namespace AND e.session_id = :session_id))
     {_NEWEST_FIRST}
     LIMIT 1
"""

# For each of a list, by the unique index of record_id.
SET_STALE = """
    UPDATE memory_records SET stale_at = :stale_at
     WHERE record_id IN (SELECT value FROM json_each(:record_ids))
"""

# For each of a list, by the unique index of record_id; a pin keeps its time.
SET_PINNED = """
    UPDATE memory_records SET pinned_at = :pinned_at
     WHERE record_id IN (SELECT value FROM json_each(:record_ids)) AND (pinned_at IS NULL) = (:pinned_at IS NOT NULL)
"""

# Along replaced_with, and along the primary key of replacing_records; then each by the unique index of record_id.
HAND_ON_PINS = """
    UPDATE memory_records
       SET pinned_at = (SELECT min(w.pinned_at) FROM replaced_records AS w WHERE w.replacement_number = :replacement)
     WHERE pinned_at IS NULL
       AND record_id IN (SELECT c.record_id FROM replacing_records AS c WHERE c.replacement_number = :replacement)
"""

# A range of records_by_branch; the table itself is not read.
OPEN_BRANCHES = """
    SELECT r.branch, min(r.created_at)
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace AND r.branch IS NOT NULL
     GROUP BY r.branch
"""

# A range of records_by_branch, and of replaced_by_branch.
NOTE_MERGED = """
    UPDATE memory_records SET branch = NULL WHERE namespace_number = :number AND branch = :branch
"""
NOTE_MERGED_OF_REPLACED = """
    UPDATE replaced_records SET branch = NULL WHERE namespace_number = :number AND branch = :branch
"""

# By the unique index of record_id.
SET_FILE_DIGESTS = "UPDATE memory_records SET file_digests_json = :digests WHERE record_id = :record_id"

# Each of a list, by the unique index of record_id.
FILE_DIGESTS = """
    SELECT r.record_id, r.file_digests_json
      FROM json_each(:record_ids) AS asked CROSS JOIN memory_records AS r ON r.record_id = asked.value
     WHERE json_valid(r.file_digests_json)
"""

# By the rowid. The vector is removed before its row.
CLEAR_EMBEDDING = "UPDATE memory_records SET embedding = NULL WHERE number = :number"

DELETE_RECORD = "DELETE FROM memory_records WHERE number = :number"


# --- replaced records -----------------------------------------------------------------------------------------------

# By the unique indexes of record_id.
FIND_EVERYWHERE = """
    SELECT number FROM memory_records WHERE record_id = :record_id
     UNION ALL
    SELECT number FROM replaced_records WHERE record_id = :record_id
"""

# By the unique index of replacement_id.
FIND_REPLACEMENT = "SELECT number FROM replacements WHERE replacement_id = :replacement_id"

# The number only gives the order: the newest of the replacements that are left has the largest.
PUT_REPLACEMENT = """
    INSERT INTO replacements (replacement_id, namespace_number, reason, replaced_at)
    VALUES (:replacement_id, :namespace_number, :reason, :replaced_at)
    RETURNING number
"""

PUT_REPLACING = """
    INSERT INTO replacing_records (replacement_number, place, record_id) VALUES (:replacement, :place, :record_id)
"""

WHOLE_RECORD_COLUMNS = ", ".join(
    ("number", "namespace_number", *RECORD_FIELDS, "content_hash", "embedding", "embedding_set_aside", "distilled_at")
)

# By the rowid.
KEEP_REPLACED = f"""
    INSERT INTO replaced_records (replacement_number, {WHOLE_RECORD_COLUMNS})
    SELECT :replacement, {WHOLE_RECORD_COLUMNS} FROM memory_records WHERE number = :number
"""

# Along replaced_with.
PUT_BACK_REPLACED = f"""
    INSERT INTO memory_records ({WHOLE_RECORD_COLUMNS})
    SELECT {WHOLE_RECORD_COLUMNS} FROM replaced_records WHERE replacement_number = :replacement
"""

# Along replaced_with, in order of record_id.
REPLACED_RECORDS = f"""
    SELECT r.number, {RECORD_COLUMNS}
      FROM replaced_records AS r JOIN namespaces AS n ON n.number = r.namespace_number
     WHERE r.replacement_number = :replacement
     ORDER BY r.record_id
"""

# By the unique index of record_id.
CAME_WITH = "SELECT replacement_number FROM replacing_records WHERE record_id = :record_id"

# Along the primary key of replacing_records.
REPLACING = "SELECT record_id FROM replacing_records WHERE replacement_number = :replacement ORDER BY place"

# Along the primary key of replacing_records, then each by the unique index of record_id: the first that was replaced.
FIRST_GONE = """
    SELECT c.record_id, w.replacement_number
      FROM replacing_records AS c CROSS JOIN replaced_records AS w ON w.record_id = c.record_id
     WHERE c.replacement_number = :replacement
     ORDER BY c.place
     LIMIT 1
"""

# By the rowid.
REPLACEMENT = """
    SELECT p.replacement_id, n.namespace, p.reason, p.replaced_at
      FROM replacements AS p JOIN namespaces AS n ON n.number = p.namespace_number
     WHERE p.number = :replacement
"""

# By the unique index of replacing_records.record_id, and from each replacement along replaced_with.
REPLACEMENTS_BEFORE = """
    WITH RECURSIVE led (number) AS (
        SELECT c.replacement_number FROM replacing_records AS c WHERE c.record_id = :record_id
         UNION
        SELECT c.replacement_number
          FROM led
          CROSS JOIN replaced_records AS w ON w.replacement_number = led.number
          CROSS JOIN replacing_records AS c ON c.record_id = w.record_id)
    SELECT number FROM led ORDER BY number DESC
"""

# By the unique index of record_id.
FORGET_REPLACED = "DELETE FROM replaced_records WHERE record_id = :record_id RETURNING replacement_number"

# Along replaced_with.
FORGET_REPLACED_WITH = "DELETE FROM replaced_records WHERE replacement_number = :replacement RETURNING record_id"

# By the rowid, if replaced_with has no row of it. Its rows of replacing_records are deleted with it.
DELETE_EMPTY_REPLACEMENT = """
    DELETE FROM replacements
     WHERE number = :replacement
       AND NOT EXISTS (SELECT 1 FROM replaced_records WHERE replacement_number = :replacement)
"""
