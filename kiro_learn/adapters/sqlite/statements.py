"""Every SQL statement, by name, with the index that serves it.

Rules of this file: values are bound, never written into the text. The one thing that cannot be bound is a table's
name; ``records_fts_<number>`` is made by ``for_namespace`` from an integer and from nothing else.
"""

from __future__ import annotations

# --- namespaces: few rows, found by their UNIQUE index or their number -----------------------------------------------

PUT_NAMESPACE = """
    INSERT INTO namespaces (namespace, embedding_model)
    SELECT :namespace, number FROM embedding_models WHERE is_current = 1
    RETURNING number, last_record
"""

NAMESPACE_NUMBER = "SELECT number, last_record FROM namespaces WHERE namespace = :namespace"

# One row a project.
NAMESPACE_NUMBERS = "SELECT namespace, number, last_record FROM namespaces ORDER BY number"

NEXT_RECORD = "UPDATE namespaces SET last_record = last_record + 1 WHERE number = :number RETURNING last_record"

# --- events ----------------------------------------------------------------------------------------------------------

# By the primary key. Only a known id is forgiven: OR IGNORE would forgive a missing value too.
PUT_EVENT = """
    INSERT INTO events (
        event_id, parent_event_id, session_id, actor_id, namespace, schema_version, kind, body_json, valid_time,
        transaction_time, source_json, content_hash, project_path)
    VALUES (
        :event_id, :parent_event_id, :session_id, :actor_id, :namespace, :schema_version, :kind, :body_json,
        :valid_time, :transaction_time, :source_json, :content_hash, :project_path)
    ON CONFLICT (event_id) DO NOTHING
"""

# A range of events_of_namespace, and each row in it.
REPORTED = """
    SELECT 1
      FROM events AS e
     WHERE e.namespace = :namespace AND e.valid_time BETWEEN :after AND :before
       AND e.event_id >= :first_id AND e.session_id = :session_id AND e.kind = :kind
       AND CASE WHEN e.kind <> 'tool_use' THEN e.body_json = :body_json
                WHEN json_valid(e.body_json)
                THEN json_extract(e.body_json, '$.data.tool_name') = json_extract(:body_json, '$.data.tool_name')
                     AND json_extract(e.body_json, '$.data.tool_input') = json_extract(:body_json, '$.data.tool_input')
           END
     LIMIT 1
"""

EVENT_COLUMNS = """
    CAST(e.event_id AS BLOB), CAST(e.parent_event_id AS BLOB), CAST(e.session_id AS BLOB), CAST(e.actor_id AS BLOB),
    CAST(e.namespace AS BLOB), e.schema_version, CAST(e.kind AS BLOB), CAST(e.body_json AS BLOB),
    CAST(e.valid_time AS BLOB), CAST(e.source_json AS BLOB), CAST(e.content_hash AS BLOB), CAST(e.project_path AS BLOB)
"""
# Texts as bytes, here and in RECORD_COLUMNS: rows.py decodes them, and can name a row whose text is not UTF-8.


# By the primary key.
GET_EVENT = f"SELECT {EVENT_COLUMNS} FROM events AS e WHERE e.event_id = :event_id"  # noqa: S608  # a constant of ours

# Backwards along events_of_namespace, without a sort; the reader stops it when it has enough.
EVENTS_OF_NAMESPACE = f"""
    SELECT {EVENT_COLUMNS}
      FROM events AS e
     WHERE e.namespace = :namespace AND (e.valid_time, e.event_id) < (:valid_time, :event_id)
     ORDER BY e.valid_time DESC, e.event_id DESC
"""  # noqa: S608  # a constant of ours

# Backwards along events_by_time, without a sort; the reader stops it when it has enough.
EVENTS_OF_ALL = f"""
    SELECT {EVENT_COLUMNS}
      FROM events AS e
     WHERE (e.valid_time, e.event_id) < (:valid_time, :event_id)
     ORDER BY e.valid_time DESC, e.event_id DESC
"""  # noqa: S608  # a constant of ours

# A range of events_of_session, of which the table itself is not read.
COUNT_EVENTS_OF_NAMESPACE = "SELECT count(*) FROM events WHERE namespace = :namespace"

# The smallest index from end to end.
COUNT_EVENTS_OF_ALL = "SELECT count(*) FROM events"

# --- buffer ----------------------------------------------------------------------------------------------------------

PUT_BUFFERED = """
    INSERT INTO buffer (namespace_number, event_id, size_bytes) VALUES (:number, :event_id, :size_bytes)
"""

# At a position of an entry that the compaction replaces.
PUT_COMPACTED = """
    INSERT INTO buffer (position, namespace_number, size_bytes, event_count, event_id, compaction_json, stands_for_json)
    VALUES (:position, :number, :size_bytes, :event_count, :event_id, :compaction_json, :stands_for_json)
"""

# Along buffer_of_namespace; the reader stops it when it has enough. A compaction has the arrival of the first event
# that it stands for.
BUFFERED_EVENTS = f"""
    SELECT b.position, b.size_bytes, CAST(b.compaction_json AS BLOB), CAST(b.stands_for_json AS BLOB), e.rowid,
           {EVENT_COLUMNS}
      FROM buffer AS b JOIN events AS e ON e.event_id = coalesce(
               b.event_id, CASE WHEN json_valid(b.stands_for_json) THEN json_extract(b.stands_for_json, '$[0]') END)
     WHERE b.namespace_number = :number AND b.is_parked = 0
     ORDER BY b.position
"""  # noqa: S608  # a constant of ours

# A range of buffer_of_namespace.
WAITING_SOURCES = """
    SELECT b.position, coalesce(b.stands_for_json, json_array(b.event_id))
      FROM buffer AS b
     WHERE b.namespace_number = :number AND b.is_parked = 0 AND b.position <= :through
     ORDER BY b.position
"""

# A range of buffer_of_namespace, of which the table itself is not read; the reader stops it when it has enough.
PARKED_SIZES = """
    SELECT position, size_bytes FROM buffer WHERE namespace_number = :number AND is_parked = 1 ORDER BY position
"""

# A range of buffer_of_namespace.
SET_PARKED = """
    UPDATE buffer
       SET is_parked = :is_parked
     WHERE namespace_number = :number AND is_parked = 1 - :is_parked AND position <= :through
"""

# Twice along events_of_session, whose entries are in order of arrival (rowid) within a session's kind.
EARLIER_PROMPTS = f"""
    SELECT e.rowid, {EVENT_COLUMNS}
      FROM events AS e
     WHERE e.namespace = :namespace AND e.session_id = :session_id AND e.kind = 'prompt' AND e.rowid < :before
       AND e.expired_at IS NULL
       AND e.rowid > (SELECT coalesce(max(s.rowid), 0)
                        FROM events AS s
                       WHERE s.namespace = :namespace AND s.session_id = :session_id AND s.kind = 'session_summary'
                         AND s.rowid < :before)
       AND NOT EXISTS (SELECT 1
                         FROM namespaces AS n JOIN forgotten AS f ON f.namespace_number = n.number
                        WHERE n.namespace = :namespace AND f.event_id = e.event_id)
     ORDER BY e.rowid DESC
     LIMIT :limit
"""  # noqa: S608  # a constant of ours

# A few steps back in the session's events, as in EARLIER_PROMPTS.
PROMPTS_BEFORE = f"""
    SELECT {EVENT_COLUMNS}
      FROM events AS s JOIN events AS e ON e.namespace = s.namespace AND e.session_id = s.session_id
     WHERE s.event_id = :event_id AND e.kind = 'prompt' AND e.rowid < s.rowid AND e.expired_at IS NULL
     ORDER BY e.rowid DESC
     LIMIT :limit
"""  # noqa: S608  # a constant of ours

# By the primary key.
COUNT_WAITING = """
    SELECT count(*) FROM json_each(:numbers) AS asked CROSS JOIN buffer AS b ON b.position = asked.value
     WHERE b.namespace_number = :number AND b.is_parked = 0
"""

# A range of buffer_of_namespace.
CLEAR_BUFFER = "DELETE FROM buffer WHERE namespace_number = :number AND is_parked = 0 AND position <= :through"

BUFFER_SIZE_COLUMNS = """
    coalesce(sum(b.event_count) FILTER (WHERE b.is_parked = 0), 0),
    coalesce(sum(b.size_bytes) FILTER (WHERE b.is_parked = 0), 0),
    coalesce(sum(b.event_count) FILTER (WHERE b.is_parked = 1), 0)
"""

# A range of buffer_of_namespace, of which the table itself is not read.
BUFFER_SIZE = f"""
    SELECT {BUFFER_SIZE_COLUMNS} FROM buffer AS b WHERE b.namespace_number = :number
"""  # noqa: S608  # a constant of ours

# All of buffer_of_namespace: as much as waits, which the thresholds keep small, and what is parked.
BUFFER_SIZES = f"""
    SELECT min(n.namespace), {BUFFER_SIZE_COLUMNS}
      FROM buffer AS b JOIN namespaces AS n ON n.number = b.namespace_number
     GROUP BY b.namespace_number
"""  # noqa: S608  # a constant of ours

# --- events to be learned again --------------------------------------------------------------------------------------

# By the primary key.
ARRIVAL = "SELECT rowid FROM events WHERE event_id = :event_id AND namespace = :namespace"

# A range of events_of_namespace; the lists of what is in the buffer and of what was forgotten are made once. What has
# lost its content by age is left out.
# The rowids are sorted, since no index has them in order: a relearning run can wait for it, and writing an event cannot
# wait for one more index.
SETTLED_ARRIVALS = """
    SELECT e.rowid
      FROM events AS e
     WHERE e.namespace = :namespace AND e.valid_time >= :since AND e.rowid > :after AND e.expired_at IS NULL
       AND e.event_id NOT IN (
               SELECT s.value
                 FROM namespaces AS n JOIN buffer AS b ON b.namespace_number = n.number,
                      json_each(CASE WHEN json_valid(b.stands_for_json) THEN b.stands_for_json
                                     ELSE json_array(b.event_id) END) AS s
                WHERE n.namespace = :namespace)
       AND e.event_id NOT IN (
               SELECT f.event_id
                 FROM namespaces AS n JOIN forgotten AS f ON f.namespace_number = n.number
                WHERE n.namespace = :namespace)
     ORDER BY e.rowid
"""

# By the rowid.
EVENT_BY_ARRIVAL = f"SELECT {EVENT_COLUMNS} FROM events AS e WHERE e.rowid = :arrival"  # noqa: S608  # a constant of ours

# --- memory records --------------------------------------------------------------------------------------------------

# By the unique index of record_id.
FIND_RECORD = """
    SELECT r.number, r.namespace_number, n.namespace
      FROM memory_records AS r JOIN namespaces AS n ON n.number = r.namespace_number
     WHERE r.record_id = :record_id
"""

PUT_RECORD = """
    INSERT INTO memory_records (
        number, namespace_number, record_id, created_at, strategy, observation_type, knowledge_type, importance, origin,
        stale_at, title, summary, facts_json, concepts_json, files_touched_json, files_read_json, files_modified_json,
        source_event_ids_json, capture_type, captured_text, details_json, content_hash, branch, pinned_at)
    VALUES (
        :number, :namespace_number, :record_id, :created_at, :strategy, :observation_type, :knowledge_type, :importance,
        :origin, :stale_at, :title, :summary, :facts_json, :concepts_json, :files_touched_json, :files_read_json,
        :files_modified_json, :source_event_ids_json, :capture_type, :captured_text, :details_json, :content_hash,
        :branch, :pinned_at)
"""

RECORD_COLUMNS = """
    CAST(n.namespace AS BLOB), CAST(r.record_id AS BLOB), CAST(r.created_at AS BLOB), CAST(r.strategy AS BLOB),
    CAST(r.observation_type AS BLOB), CAST(r.knowledge_type AS BLOB), r.importance, CAST(r.origin AS BLOB),
    CAST(r.stale_at AS BLOB), CAST(r.title AS BLOB), CAST(r.summary AS BLOB), CAST(r.facts_json AS BLOB),
    CAST(r.concepts_json AS BLOB), CAST(r.files_touched_json AS BLOB), CAST(r.files_read_json AS BLOB),
    CAST(r.files_modified_json AS BLOB), CAST(r.source_event_ids_json AS BLOB), CAST(r.capture_type AS BLOB),
    CAST(r.captured_text AS BLOB), CAST(r.details_json AS BLOB), CAST(r.branch AS BLOB),
    CAST(r.pinned_at AS BLOB)
"""

# For each of a list, by the unique index of record_id. In one go: ten of them took eight times as long.
GET_RECORDS = f"""
    SELECT {RECORD_COLUMNS}
      FROM json_each(:record_ids) AS asked
      JOIN memory_records AS r ON r.record_id = asked.value
      JOIN namespaces AS n ON n.number = r.namespace_number
"""  # noqa: S608  # a constant of ours

# For each of a list, by the unique index of record_id, then its first event by the primary key of events. In one go:
# two hundred of them took five times as long.
# Each event by its key alone: while a server has counted no events, it would read all those of the project instead.
RANKING_FEATURES = """
    SELECT r.record_id, r.title, r.summary, r.facts_json, r.concepts_json, e.session_id, e.valid_time
      FROM json_each(:record_ids) AS asked
      JOIN memory_records AS r ON r.record_id = asked.value
      JOIN namespaces AS n ON n.number = r.namespace_number
      LEFT JOIN events AS e
        ON e.event_id = CASE WHEN json_valid(r.source_event_ids_json)
                             THEN json_extract(r.source_event_ids_json, '$[0]') END
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
RECORDS_OF_NAMESPACE = f"""
    SELECT {RECORD_COLUMNS}
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace
     ORDER BY r.created_at DESC, r.record_id DESC
     LIMIT :limit OFFSET :offset
"""  # noqa: S608  # a constant of ours

# A range of records_of_namespace, of which the table itself is not read.
RECORD_IDS_ENDING = """
    SELECT r.record_id
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace AND substr(r.record_id, length(r.record_id) - length(:ending) + 1) = :ending
     ORDER BY r.created_at DESC, r.record_id DESC
     LIMIT :limit
"""

# Backwards along records_by_time, without a sort.
RECORDS_OF_ALL = f"""
    SELECT {RECORD_COLUMNS}
      FROM memory_records AS r JOIN namespaces AS n ON n.number = r.namespace_number
     ORDER BY r.created_at DESC, r.record_id DESC
     LIMIT :limit OFFSET :offset
"""  # noqa: S608  # a constant of ours

# A range of records_of_namespace, of which the table itself is not read.
COUNT_RECORDS_OF_NAMESPACE = """
    SELECT count(*)
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace
"""

# A range of records_of_namespace, of which the table itself is not read.
COUNT_RECORDS_OF_NUMBER = "SELECT count(*) FROM memory_records WHERE namespace_number = :number"

# The smallest index from end to end.
COUNT_RECORDS_OF_ALL = "SELECT count(*) FROM memory_records"

# A range of records_by_content_hash, from its newest end; then the first event of each by the primary key.
LIST_ALIKE = f"""
    SELECT {RECORD_COLUMNS}, CAST(e.session_id AS BLOB)
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
      LEFT JOIN events AS e
        ON e.event_id = CASE WHEN json_valid(r.source_event_ids_json)
                             THEN json_extract(r.source_event_ids_json, '$[0]') END
     WHERE n.namespace = :namespace AND r.content_hash = :hash
       AND r.created_at > :after AND r.created_at < :before
     ORDER BY r.created_at DESC, r.record_id DESC
     LIMIT :limit
"""  # noqa: S608  # a constant of ours

IS_WANTED = """
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
                     WHERE said.event_id = CASE WHEN json_valid(r.source_event_ids_json)
                                                THEN json_extract(r.source_event_ids_json, '$[0]') END
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
RECORDS_BEFORE = f"""
    SELECT {RECORD_COLUMNS}
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace AND (r.created_at, r.record_id) < (:created_at, :record_id) AND {IS_WANTED}
     ORDER BY r.created_at DESC, r.record_id DESC
"""  # noqa: S608  # a constant of ours

# Backwards along records_by_time, without a sort; the reader stops it when it has enough.
RECORDS_OF_ALL_BEFORE = f"""
    SELECT {RECORD_COLUMNS}
      FROM memory_records AS r JOIN namespaces AS n ON n.number = r.namespace_number
     WHERE (r.created_at, r.record_id) < (:created_at, :record_id) AND {IS_WANTED}
     ORDER BY r.created_at DESC, r.record_id DESC
"""  # noqa: S608  # a constant of ours

# Backwards along records_pinned, which are few, without a sort; the reader stops it when it has enough.
PINNED_BEFORE = f"""
    SELECT {RECORD_COLUMNS}
      FROM memory_records AS r INDEXED BY records_pinned JOIN namespaces AS n ON n.number = r.namespace_number
     WHERE r.pinned_at IS NOT NULL AND (:namespace IS NULL OR n.namespace = :namespace)
       AND (r.created_at, r.record_id) < (:created_at, :record_id) AND {IS_WANTED}
     ORDER BY r.created_at DESC, r.record_id DESC
"""  # noqa: S608  # a constant of ours

# Backwards along records_of_knowledge, without a sort; the reader stops it when it has enough.
KNOWLEDGE_BEFORE = f"""
    SELECT {RECORD_COLUMNS}
      FROM namespaces AS n JOIN memory_records AS r INDEXED BY records_of_knowledge ON r.namespace_number = n.number
     WHERE n.namespace = :namespace AND r.knowledge_type IS NOT NULL
       AND (r.created_at, r.record_id) < (:created_at, :record_id) AND {IS_WANTED}
     ORDER BY r.created_at DESC, r.record_id DESC
"""  # noqa: S608  # a constant of ours

# All of records_of_knowledge; what is sorted is two numbers and two short texts, before the rows are read whole.
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
"""  # noqa: S608  # a constant of ours

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
"""  # noqa: S608  # made of constants

# Along records_of_namespace, without a sort.
RECORDS_AFTER = f"""
    SELECT {RECORD_COLUMNS}
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace AND (r.created_at, r.record_id) > (:created_at, :record_id)
     ORDER BY r.created_at, r.record_id
     LIMIT :limit
"""  # noqa: S608  # a constant of ours

# Backwards along records_by_capture_type, then each record's event by the primary key, until one fits.
CHECKPOINT = f"""
    SELECT {RECORD_COLUMNS}
      FROM namespaces AS n CROSS JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace AND r.capture_type = 'checkpoint'
       AND (:session_id IS NULL
            OR EXISTS (SELECT 1 FROM events AS e
                        WHERE e.event_id = CASE WHEN json_valid(r.source_event_ids_json)
                                                THEN json_extract(r.source_event_ids_json, '$[0]') END
                          AND e.namespace = :namespace AND e.session_id = :session_id))
     ORDER BY r.created_at DESC, r.record_id DESC
     LIMIT 1
"""  # noqa: S608  # a constant of ours

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

# A range of records_by_branch, of which the table itself is not read.
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

# By the rowid; the vector goes before the row it belongs to.
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

# The number only tells what came first: of those that are left, the newest has the largest.
PUT_REPLACEMENT = """
    INSERT INTO replacements (replacement_id, namespace_number, reason, replaced_at)
    VALUES (:replacement_id, :namespace_number, :reason, :replaced_at)
    RETURNING number
"""

PUT_REPLACING = """
    INSERT INTO replacing_records (replacement_number, place, record_id) VALUES (:replacement, :place, :record_id)
"""

WHOLE_RECORD_COLUMNS = """
    number, namespace_number, record_id, created_at, strategy, observation_type, knowledge_type, importance, origin,
    stale_at, embedding_set_aside, title, summary, facts_json, concepts_json, files_touched_json, files_read_json,
    files_modified_json, source_event_ids_json, embedding, capture_type, captured_text, details_json, content_hash,
    distilled_at, branch, pinned_at
"""

# By the rowid.
KEEP_REPLACED = f"""
    INSERT INTO replaced_records (replacement_number, {WHOLE_RECORD_COLUMNS})
    SELECT :replacement, {WHOLE_RECORD_COLUMNS} FROM memory_records WHERE number = :number
"""  # noqa: S608  # a constant of ours

# Along replaced_with.
PUT_BACK_REPLACED = f"""
    INSERT INTO memory_records ({WHOLE_RECORD_COLUMNS})
    SELECT {WHOLE_RECORD_COLUMNS} FROM replaced_records WHERE replacement_number = :replacement
"""  # noqa: S608  # a constant of ours

# Along replaced_with, in order of record_id.
REPLACED_RECORDS = f"""
    SELECT r.number, {RECORD_COLUMNS}
      FROM replaced_records AS r JOIN namespaces AS n ON n.number = r.namespace_number
     WHERE r.replacement_number = :replacement
     ORDER BY r.record_id
"""  # noqa: S608  # a constant of ours

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

# By the rowid, if replaced_with has nothing of it. The rows of replacing_records go with it.
DELETE_EMPTY_REPLACEMENT = """
    DELETE FROM replacements
     WHERE number = :replacement
       AND NOT EXISTS (SELECT 1 FROM replaced_records WHERE replacement_number = :replacement)
"""

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

# By the unique indexes of record_id. Columns of one row, which may be damaged elsewhere.
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

# --- embeddings: the bundled model's (1) in memory_records, those of others in model_embeddings ----------------------

# By the unique index of digest.
PUT_MODEL = """
    INSERT INTO embedding_models (digest, name, dimension, folder)
    VALUES (:digest, :name, :dimension, :folder)
    ON CONFLICT (digest) DO UPDATE SET name = excluded.name, folder = excluded.folder
    RETURNING number
"""

SET_CURRENT_MODEL = "UPDATE embedding_models SET is_current = CASE WHEN number = :model THEN 1 ELSE 0 END"

CURRENT_MODEL = "SELECT number, digest, name, dimension, folder FROM embedding_models WHERE is_current = 1"

# By the rowid, and the unique index of namespaces.
SERVING_MODEL = """
    SELECT m.number, m.digest, m.name, m.dimension
      FROM namespaces AS n JOIN embedding_models AS m ON m.number = n.embedding_model
     WHERE n.namespace = :namespace
"""

NAMESPACES_BEHIND = """
    SELECT n.number, n.namespace, m.digest, m.name, m.dimension, m.folder
      FROM embedding_models AS c CROSS JOIN namespaces AS n CROSS JOIN embedding_models AS m
     WHERE c.is_current = 1 AND n.embedding_model <> c.number AND m.number = n.embedding_model
"""

NAMESPACE_BEHIND = """
    SELECT n.number
      FROM namespaces AS n JOIN embedding_models AS c ON c.number <> n.embedding_model
     WHERE n.namespace = :namespace AND c.is_current = 1
"""

SET_SERVING_MODEL = "UPDATE namespaces SET embedding_model = :model WHERE number = :number"

# By the primary key, a range of each model.
DROP_UNUSED_EMBEDDINGS = """
    DELETE FROM model_embeddings
     WHERE model_number IN (
         SELECT number FROM embedding_models
          WHERE is_current = 0 AND number NOT IN (SELECT embedding_model FROM namespaces))
"""

# Along records_of_namespace.
AWAIT_EMBEDDINGS = """
    INSERT OR IGNORE INTO model_embeddings (model_number, number)
    SELECT :model, number FROM memory_records WHERE namespace_number = :number
"""

# By the unique indexes of record_id and digest. Columns of one row, which may be damaged elsewhere.
EMBEDDED_RECORD = """
    SELECT r.number, n.namespace, CAST(r.created_at AS BLOB), m.number, m.number = n.embedding_model
      FROM memory_records AS r
      JOIN namespaces AS n ON n.number = r.namespace_number
      JOIN embedding_models AS m ON m.digest = :digest
     WHERE r.record_id = :record_id AND (m.number = n.embedding_model OR m.is_current = 1)
"""

# By the rowid.
PUT_EMBEDDING = """
    UPDATE memory_records SET embedding = :embedding, embedding_set_aside = NULL WHERE number = :number
"""

# By the primary key.
PUT_MODEL_EMBEDDING = """
    INSERT INTO model_embeddings (model_number, number, embedding) VALUES (:model, :number, :embedding)
    ON CONFLICT (model_number, number) DO UPDATE SET embedding = excluded.embedding, set_aside = NULL
"""

# By the rowid.
SET_ASIDE = "UPDATE memory_records SET embedding_set_aside = :reason WHERE number = :number AND embedding IS NULL"

# By the primary key.
SET_MODEL_EMBEDDING_ASIDE = """
    INSERT INTO model_embeddings (model_number, number, set_aside) VALUES (:model, :number, :reason)
    ON CONFLICT (model_number, number) DO UPDATE SET set_aside = excluded.set_aside
     WHERE model_embeddings.embedding IS NULL
"""

# By the rowid, then by the primary key.
SERVING_EMBEDDING = """
    SELECT m.digest, m.name, m.dimension, coalesce(e.embedding, CASE m.number WHEN 1 THEN r.embedding END)
      FROM memory_records AS r
      JOIN namespaces AS n ON n.number = r.namespace_number
      JOIN embedding_models AS m ON m.number = n.embedding_model
      LEFT JOIN model_embeddings AS e ON e.model_number = m.number AND e.number = r.number
     WHERE r.number = :number
"""

# Along records_of_namespace, without a sort of the vectors.
EMBEDDINGS = """
    SELECT r.record_id, r.created_at, r.embedding
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace AND r.embedding IS NOT NULL
     ORDER BY r.created_at, r.record_id
"""

# Along records_of_namespace, then each by the primary key.
MODEL_EMBEDDINGS = """
    SELECT r.record_id, r.created_at, e.embedding
      FROM namespaces AS n
      CROSS JOIN memory_records AS r ON r.namespace_number = n.number
      CROSS JOIN model_embeddings AS e ON e.model_number = n.embedding_model AND e.number = r.number
     WHERE n.namespace = :namespace AND e.embedding IS NOT NULL
     ORDER BY r.created_at, r.record_id
"""

BUNDLED_MODEL_SERVES = "SELECT 1 FROM namespaces WHERE embedding_model = 1 LIMIT 1"

# Backwards along records_without_embedding, which holds just these rows; the reader stops it when it has enough.
UNEMBEDDED = f"""
    SELECT {RECORD_COLUMNS}
      FROM memory_records AS r JOIN namespaces AS n ON n.number = r.namespace_number
     WHERE r.embedding IS NULL AND r.embedding_set_aside IS NULL AND n.embedding_model = 1
       AND n.namespace NOT IN (SELECT value FROM json_each(:leave_out))
     ORDER BY r.created_at DESC, r.record_id DESC
"""  # noqa: S608  # a constant of ours

# Backwards along model_embeddings_awaited, which holds just these rows; then each record by the rowid. The reader stops
# it when it has enough.
AWAITED_EMBEDDINGS = f"""
    SELECT {RECORD_COLUMNS}
      FROM model_embeddings AS e
      CROSS JOIN memory_records AS r ON r.number = e.number
      CROSS JOIN namespaces AS n ON n.number = r.namespace_number AND n.embedding_model = e.model_number
     WHERE e.embedding IS NULL AND e.set_aside IS NULL
       AND n.namespace NOT IN (SELECT value FROM json_each(:leave_out))
     ORDER BY e.number DESC
"""  # noqa: S608  # a constant of ours

# By the rowid.
PUT_PASSAGES = "UPDATE memory_records SET passage_codes = :codes WHERE number = :number"

# By the primary key.
PUT_MODEL_PASSAGES = """
    INSERT INTO model_embeddings (model_number, number, passage_codes) VALUES (:model, :number, :codes)
    ON CONFLICT (model_number, number) DO UPDATE SET passage_codes = excluded.passage_codes
"""

# The model by the unique index of digest; for each of a list by that of record_id, then by the primary key.
PASSAGES = """
    SELECT r.record_id, CASE m.number WHEN 1 THEN r.passage_codes ELSE e.passage_codes END
      FROM embedding_models AS m
      CROSS JOIN json_each(:record_ids) AS asked
      CROSS JOIN memory_records AS r ON r.record_id = asked.value
      LEFT JOIN model_embeddings AS e ON e.model_number = m.number AND e.number = r.number
     WHERE m.digest = :digest
"""

# Backwards along records_without_passages, which holds just these rows; the reader stops it when it has enough.
WITHOUT_PASSAGES = f"""
    SELECT {RECORD_COLUMNS}
      FROM memory_records AS r JOIN namespaces AS n ON n.number = r.namespace_number
     WHERE r.passage_codes IS NULL AND r.embedding IS NOT NULL AND n.embedding_model = 1
       AND n.namespace NOT IN (SELECT value FROM json_each(:leave_out))
     ORDER BY r.created_at DESC, r.record_id DESC
"""  # noqa: S608  # a constant of ours

# Backwards along model_embeddings_without_passages, which holds just these rows; then each record by the rowid. The
# reader stops it when it has enough.
WITHOUT_MODEL_PASSAGES = f"""
    SELECT {RECORD_COLUMNS}
      FROM model_embeddings AS e
      CROSS JOIN memory_records AS r ON r.number = e.number
      CROSS JOIN namespaces AS n ON n.number = r.namespace_number AND n.embedding_model = e.model_number
     WHERE e.passage_codes IS NULL AND e.embedding IS NOT NULL
       AND n.namespace NOT IN (SELECT value FROM json_each(:leave_out))
     ORDER BY e.number DESC
"""  # noqa: S608  # a constant of ours

LACKS_EMBEDDING = """
    NOT (:model = 1 AND (r.embedding IS NOT NULL OR r.embedding_set_aside IS NOT NULL))
    AND e.embedding IS NULL AND e.set_aside IS NULL
"""

# Project after project, backwards along records_of_namespace, each record by the primary key of model_embeddings; the
# reader stops it when it has enough.
BEHIND = f"""
    SELECT {RECORD_COLUMNS}
      FROM namespaces AS n
      CROSS JOIN memory_records AS r ON r.namespace_number = n.number
      LEFT JOIN model_embeddings AS e ON e.model_number = :model AND e.number = r.number
     WHERE n.embedding_model <> :model AND {LACKS_EMBEDDING}
     ORDER BY n.number, r.created_at DESC, r.record_id DESC
"""  # noqa: S608  # a constant of ours

# Along records_of_namespace from its oldest record, which is embedded last.
IS_BEHIND = f"""
    SELECT 1
      FROM memory_records AS r
      LEFT JOIN model_embeddings AS e ON e.model_number = :model AND e.number = r.number
     WHERE r.namespace_number = :number AND {LACKS_EMBEDDING}
     ORDER BY r.created_at, r.record_id
     LIMIT 1
"""  # noqa: S608  # a constant of ours

# Along records_of_namespace until one has a vector.
IS_SERVED = """
    SELECT 1
      FROM namespaces AS n
      CROSS JOIN memory_records AS r ON r.namespace_number = n.number
      LEFT JOIN model_embeddings AS e ON e.model_number = n.embedding_model AND e.number = r.number
     WHERE n.number = :number AND (e.embedding IS NOT NULL OR (n.embedding_model = 1 AND r.embedding IS NOT NULL))
     LIMIT 1
"""

EMBEDDING_COUNT_COLUMNS = """
    count(*),
    count(*) FILTER (WHERE e.embedding IS NOT NULL OR (n.embedding_model = 1 AND r.embedding IS NOT NULL)),
    count(*) FILTER (WHERE e.set_aside IS NOT NULL OR (n.embedding_model = 1 AND r.embedding_set_aside IS NOT NULL))
"""

# A range of records_of_namespace and each row's head.
COUNT_EMBEDDINGS_OF_NAMESPACE = f"""
    SELECT {EMBEDDING_COUNT_COLUMNS}
      FROM namespaces AS n
      JOIN memory_records AS r ON r.namespace_number = n.number
      LEFT JOIN model_embeddings AS e ON e.model_number = n.embedding_model AND e.number = r.number
     WHERE n.namespace = :namespace
"""  # noqa: S608  # a constant of ours

# The whole table: it is asked for by a person who looks at a status, not by a prompt.
COUNT_EMBEDDINGS_OF_ALL = f"""
    SELECT {EMBEDDING_COUNT_COLUMNS}
      FROM memory_records AS r
      JOIN namespaces AS n ON n.number = r.namespace_number
      LEFT JOIN model_embeddings AS e ON e.model_number = n.embedding_model AND e.number = r.number
"""  # noqa: S608  # a constant of ours

# As many as there are in the projects that are behind.
COUNT_REEMBEDDED = f"""
    SELECT count(*), count(*) FILTER (WHERE NOT ({LACKS_EMBEDDING}))
      FROM namespaces AS n
      CROSS JOIN memory_records AS r ON r.namespace_number = n.number
      LEFT JOIN model_embeddings AS e ON e.model_number = :model AND e.number = r.number
     WHERE n.embedding_model <> :model
"""  # noqa: S608  # a constant of ours

# --- words: one index per namespace ----------------------------------------------------------------------------------

CREATE_INDEX = """
    CREATE VIRTUAL TABLE records_fts_{number} USING fts5 (
        title, summary, facts, concepts, files,
        content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
    )
"""

PUT_WORDS = """
    INSERT INTO records_fts_{number} (rowid, title, summary, facts, concepts, files)
    VALUES (:number, :title, :summary, :facts, :concepts, :files)
"""

HAS_TABLE = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = :name"

# Of an index whose deletions are marks: what is marked goes with the part that it is in, 256 pages at a time.
MERGE_WORDS = "INSERT INTO records_fts_{number} (records_fts_{number}, rank) VALUES ('merge', -256)"

# One row a project.
MERGED_NUMBERS = "SELECT number, merged_into FROM namespaces WHERE merged_into IS NOT NULL"

DELETE_WORDS = "DELETE FROM records_fts_{number} WHERE rowid = :number"

# By the index of words: as bm25 itself counts a phrase.
DOCUMENT_FREQUENCY = "SELECT count(*) FROM records_fts_{number} WHERE records_fts_{number} MATCH :expression"

# The same, of one document.
IS_FOUND = f"{DOCUMENT_FREQUENCY} AND rowid = :number"

# By the index of words, then each record by the rowid; what matches is sorted by its score.
SEARCH_SYNTAX = f"""
    SELECT r.record_id, r.created_at, -bm25(records_fts_{{number}}) AS score
      FROM records_fts_{{number}} CROSS JOIN memory_records AS r ON r.number = records_fts_{{number}}.rowid
     WHERE records_fts_{{number}} MATCH :expression AND {IS_WANTED}
     ORDER BY score DESC, r.created_at DESC, r.record_id
     LIMIT :limit
"""  # noqa: S608  # a constant of ours

# Whatever comes first, so that it ends there, however many match.
SEARCH_SYNTAX_ANY = f"""
    SELECT r.record_id, r.created_at, 0.0
      FROM records_fts_{{number}} CROSS JOIN memory_records AS r ON r.number = records_fts_{{number}}.rowid
     WHERE records_fts_{{number}} MATCH :expression AND {IS_WANTED}
     LIMIT :limit
"""  # noqa: S608  # a constant of ours

# By the index of words.
SCORES_OF_EXPRESSION = """
    SELECT rowid, -bm25(records_fts_{number}) FROM records_fts_{number} WHERE records_fts_{number} MATCH :expression
"""

# One record in which FTS5 keeps its totals, by its rowid.
INDEX_TOTALS = "SELECT block FROM records_fts_{number}_data WHERE id = 1"

# By its key: of which parts the index consists.
INDEX_STRUCTURE = "SELECT block FROM records_fts_{number}_data WHERE id = 10"

# All of the table of lengths, which is the smallest that FTS5 keeps.
INDEX_LENGTHS = "SELECT id & 0xffffffff, sz FROM records_fts_{number}_docsize ORDER BY id"

# A view of the index of words, for this connection only.
OPEN_VOCABULARY = """
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary_{number}
     USING fts5vocab('main', 'records_fts_{number}', 'instance')
"""

# By the index of words. One text of all keys is handed over in a third of the time of as many rows. The columns with
# most words are compared first.
OCCURRENCES = """
    SELECT json_group_array(
               ((doc & 0xffffffff) << 32)
               | (CASE col
                      WHEN 'summary' THEN 1 WHEN 'facts' THEN 2 WHEN 'title' THEN 0 WHEN 'concepts' THEN 3 ELSE 4
                  END << 28)
               | "offset")
      FROM temp.vocabulary_{number}
     WHERE term = :token
"""

# A range of rowids.
RECORDS_BETWEEN = f"""
    SELECT r.number, {RECORD_COLUMNS}
      FROM memory_records AS r JOIN namespaces AS n ON n.number = r.namespace_number
     WHERE r.number > :after AND r.number <= :last
     ORDER BY r.number
"""  # noqa: S608  # a constant of ours

# The same, the first of them.
FIRST_RECORDS_BETWEEN = f"{RECORDS_BETWEEN} LIMIT :limit"

# For each of a list, by the rowid.
RECORDS_OF_NUMBERS = """
    SELECT r.number, r.record_id, r.created_at
      FROM json_each(:numbers) AS asked JOIN memory_records AS r ON r.number = asked.value
"""

# A range of rowids: all of a namespace, for want of an index of its words.
TEXTS_OF_NUMBER = """
    SELECT r.record_id, r.created_at, r.title, r.summary, r.facts_json, r.captured_text, r.concepts_json,
           r.files_touched_json, r.files_read_json, r.files_modified_json
      FROM memory_records AS r
     WHERE r.number > :number << 32 AND r.number < (:number + 1) << 32
"""

# Reads nothing, and is refused where one of FTS5's own tables is gone.
HAS_WHOLE_INDEX = """
    SELECT 1
      FROM records_fts_{number}_data, records_fts_{number}_idx,
           records_fts_{number}_docsize, records_fts_{number}_config
     LIMIT 0
"""

# Has FTS5 write what it keeps in memory until the end of the transaction.
FLUSH_WORDS = "INSERT INTO records_fts_{number} (records_fts_{number}) VALUES ('flush')"

# What FTS5 reads before it does anything, even before it drops a table.
MEND_CONFIGURATION = """
    CREATE TABLE IF NOT EXISTS records_fts_{number}_config (k PRIMARY KEY, v) WITHOUT ROWID;
    INSERT OR REPLACE INTO records_fts_{number}_config (k, v) VALUES ('version', 4)
"""

DROP_INDEX = "DROP TABLE IF EXISTS records_fts_{number}"

# What is left of an index that FTS5 does not know any more.
DROP_REST_OF_INDEX = """
    DROP TABLE IF EXISTS records_fts_{number}_data;
    DROP TABLE IF EXISTS records_fts_{number}_idx;
    DROP TABLE IF EXISTS records_fts_{number}_content;
    DROP TABLE IF EXISTS records_fts_{number}_docsize;
    DROP TABLE IF EXISTS records_fts_{number}_config
"""

# By the rowid.
IS_INDEXED = "SELECT 1 FROM records_fts_{number}_docsize WHERE id = :number"

# --- statistics: asked for by a person who looks at a page -----------------------------------------------------------

# Ranges of events_of_session and records_of_namespace, one pair per namespace; the last moment, and the newest path
# that is known, backwards along events_of_namespace.
_IS_PROJECT = """
           (EXISTS (SELECT 1 FROM events AS e WHERE e.namespace = n.namespace)
            OR EXISTS (SELECT 1 FROM memory_records AS r WHERE r.namespace_number = n.number)
            OR EXISTS (SELECT 1 FROM graph_facts AS f WHERE f.namespace_number = n.number)
            OR EXISTS (SELECT 1 FROM graph_preferences AS p WHERE p.namespace_number = n.number)
            OR EXISTS (SELECT 1 FROM graph_procedures AS w WHERE w.namespace_number = n.number))
"""

PROJECTS = f"""
    SELECT n.namespace,
           (SELECT count(*) FROM events AS e WHERE e.namespace = n.namespace) AS event_count,
           (SELECT count(*) FROM memory_records AS r WHERE r.namespace_number = n.number),
           (SELECT max(e.valid_time) FROM events AS e WHERE e.namespace = n.namespace),
           (SELECT coalesce(sum(b.event_count), 0) FROM buffer AS b WHERE b.namespace_number = n.number),
           coalesce(n.folder, (SELECT newest.project_path
              FROM (SELECT e.project_path FROM events AS e
                     WHERE e.namespace = n.namespace
                     ORDER BY e.valid_time DESC, e.event_id DESC LIMIT :events_with_folder) AS newest
             WHERE newest.project_path IS NOT NULL LIMIT 1)),
           n.name
      FROM namespaces AS n
     WHERE {_IS_PROJECT}
     ORDER BY event_count DESC, n.namespace
"""  # noqa: S608  # a constant of this file

_RECORD_BYTES = """octet_length(r.title) + octet_length(r.summary) + octet_length(r.facts_json)
                           + coalesce(octet_length(r.captured_text), 0) + coalesce(octet_length(r.embedding), 0)"""

PROJECT_SIZES = f"""
    SELECT *
      FROM (SELECT n.namespace,
                   (SELECT coalesce(sum(octet_length(e.body_json)), 0) FROM events AS e WHERE e.namespace = n.namespace)
                   + (SELECT coalesce(sum({_RECORD_BYTES} + coalesce(octet_length(r.passage_codes), 0)), 0)
                        FROM memory_records AS r WHERE r.namespace_number = n.number)
                   + (SELECT coalesce(sum({_RECORD_BYTES}), 0)
                        FROM replaced_records AS r WHERE r.namespace_number = n.number) AS size_bytes
              FROM namespaces AS n) AS sizes
     WHERE size_bytes > 0
"""  # noqa: S608  # a constant of this file

# A range of events_of_session, of which the table itself is not read.
EVENT_KINDS_OF_NAMESPACE = "SELECT kind, count(*) FROM events WHERE namespace = :namespace GROUP BY kind"

EVENT_KINDS_OF_ALL = "SELECT kind, count(*) FROM events GROUP BY kind"

# A range of records_of_namespace and each row's head.
TYPES_OF_NAMESPACE = """
    SELECT r.observation_type, count(*)
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace
     GROUP BY r.observation_type
"""

TYPES_OF_ALL = "SELECT observation_type, count(*) FROM memory_records GROUP BY observation_type"

CONCEPTS_OF_NAMESPACE = """
    SELECT count(DISTINCT c.value)
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number,
           json_each(CASE WHEN json_valid(r.concepts_json) THEN r.concepts_json ELSE '[]' END) AS c
     WHERE n.namespace = :namespace
"""

CONCEPTS_OF_ALL = """
    SELECT count(DISTINCT c.value)
      FROM memory_records AS r,
           json_each(CASE WHEN json_valid(r.concepts_json) THEN r.concepts_json ELSE '[]' END) AS c
"""

COUNT_PROJECTS = f"SELECT count(*) FROM namespaces AS n WHERE {_IS_PROJECT}"  # noqa: S608  # a constant of this file
COUNT_PROJECT = f"{COUNT_PROJECTS} AND n.namespace = :namespace"

# Backwards along events_of_namespace, and each row's head; the reader stops it when it has enough sessions.
SESSIONS_OF_NAMESPACE = """
    SELECT e.namespace, e.session_id, e.valid_time, e.event_id
      FROM events AS e
     WHERE e.namespace = :namespace AND (e.valid_time, e.event_id) < (:valid_time, :event_id)
     ORDER BY e.valid_time DESC, e.event_id DESC
"""

# Backwards along events_by_time, and each row's head; the reader stops it when it has enough sessions.
SESSIONS_OF_ALL = """
    SELECT e.namespace, e.session_id, e.valid_time, e.event_id
      FROM events AS e
     WHERE (e.valid_time, e.event_id) < (:valid_time, :event_id)
     ORDER BY e.valid_time DESC, e.event_id DESC
"""

# A range of events_of_session, and each row. The last place is a moment, which is written in one length, and an id.
SESSION = """
    SELECT min(e.valid_time), max(e.valid_time || ' ' || e.event_id), count(*),
           count(*) FILTER (WHERE e.kind = 'prompt'), min(e.event_id)
      FROM events AS e
     WHERE e.namespace = :namespace AND e.session_id = :session_id
"""

# Ranges of events_of_session, of which the table itself is not read; then one row.
OPENING_EVENT = f"""
    SELECT {EVENT_COLUMNS}
      FROM events AS e
     WHERE e.rowid = coalesce(
               (SELECT min(p.rowid) FROM events AS p
                 WHERE p.namespace = :namespace AND p.session_id = :session_id AND p.kind = 'prompt'),
               (SELECT min(p.rowid) FROM events AS p WHERE p.namespace = :namespace AND p.session_id = :session_id))
"""  # noqa: S608  # a constant of ours

# Ranges of events_of_session; then all records of their projects along records_of_namespace, and each row.
MEMORIES_OF_SESSIONS = """
    WITH said AS MATERIALIZED (
        SELECT e.event_id, e.namespace, e.session_id
          FROM json_each(:sessions) AS asked
          CROSS JOIN events AS e
             ON e.namespace = json_extract(asked.value, '$[0]') AND e.session_id = json_extract(asked.value, '$[1]'))
    SELECT said.namespace, said.session_id, count(DISTINCT r.number)
      FROM memory_records AS r INDEXED BY records_of_namespace,
           json_each(CASE WHEN json_valid(r.source_event_ids_json) THEN r.source_event_ids_json END) AS cited
      CROSS JOIN said ON said.event_id = cited.value
     WHERE r.namespace_number IN (
               SELECT n.number FROM json_each(:sessions) AS asked
                CROSS JOIN namespaces AS n ON n.namespace = json_extract(asked.value, '$[0]'))
     GROUP BY said.namespace, said.session_id
"""

# All records of a project along records_of_namespace, and each row.
MEMORIES_OF_EVENTS = """
    SELECT cited.value, r.record_id, r.title
      FROM namespaces AS n CROSS JOIN memory_records AS r INDEXED BY records_of_namespace
           ON r.namespace_number = n.number,
           json_each(CASE WHEN json_valid(r.source_event_ids_json) THEN r.source_event_ids_json END) AS cited
     WHERE n.namespace = :namespace AND cited.value IN (SELECT value FROM json_each(:event_ids))
"""

# A range of events_of_session, sorted by what is short, before the rows are read whole.
EVENTS_OF_SESSION = f"""
    SELECT {EVENT_COLUMNS}
      FROM (SELECT s.rowid AS arrival
              FROM events AS s INDEXED BY events_of_session
             WHERE s.namespace = :namespace AND s.session_id = :session_id
               AND (s.valid_time, s.event_id) > (:valid_time, :event_id)
             ORDER BY s.valid_time, s.event_id
             LIMIT :limit) AS chosen
      CROSS JOIN events AS e ON e.rowid = chosen.arrival
     ORDER BY e.valid_time, e.event_id
"""  # noqa: S608  # a constant of ours

# For each of a list, by the primary key.
GET_EVENTS = f"""
    SELECT {EVENT_COLUMNS}
      FROM json_each(:event_ids) AS asked CROSS JOIN events AS e ON e.event_id = asked.value
     ORDER BY e.valid_time, e.event_id
"""  # noqa: S608  # a constant of ours

# By session_told_by_item; then the last prompt of each session along events_of_session.
TOLD_SESSIONS = """
    SELECT n.namespace, t.session_id, t.prompt_number,
           (SELECT e.valid_time FROM events AS e
             WHERE e.namespace = n.namespace AND e.session_id = t.session_id AND e.kind = 'prompt'
             ORDER BY e.rowid DESC LIMIT 1)
      FROM session_told AS t CROSS JOIN namespaces AS n ON n.number = t.namespace_number
     WHERE t.item_id = :record_id
     ORDER BY t.number DESC
"""

# A range of records_of_namespace and each row's head.
ACTIVITY = """
    SELECT count(*), count(*) FILTER (WHERE r.created_at >= :since), count(r.capture_type), count(r.knowledge_type),
           count(r.stale_at)
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace
"""

# A range of records_of_namespace and each row's head.
ACTIVITY_BY_TYPE = """
    SELECT coalesce(r.capture_type, r.knowledge_type, r.observation_type) AS type, count(*) AS record_count
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace
     GROUP BY type
     ORDER BY record_count DESC, type
"""

# A range of records_of_namespace, of which the table itself is not read.
ACTIVITY_BY_DAY = """
    SELECT substr(r.created_at, 1, 10) AS day, count(*)
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE n.namespace = :namespace AND r.created_at >= :since
     GROUP BY day
     ORDER BY day
"""

# A range of what sessions were told, of which items of the graph are left out.
# Each record by the unique index of record_id, its events by the primary key.
ECONOMICS = """
    WITH told AS (
        SELECT t.item_id, count(*) AS times
          FROM session_told AS t
         WHERE t.namespace_number = (SELECT number FROM namespaces WHERE namespace = :namespace)
         GROUP BY t.item_id)
    SELECT coalesce(sum(told.times), 0),
           coalesce(sum(told.times
                        * (octet_length(r.title) + octet_length(r.summary) + octet_length(r.facts_json))), 0),
           coalesce(sum(told.times * (
               coalesce(octet_length(r.captured_text), 0)
               + (SELECT coalesce(sum(coalesce(e.expired_bytes, octet_length(e.body_json))), 0)
                    FROM json_each(CASE WHEN json_valid(r.source_event_ids_json) THEN r.source_event_ids_json
                                        ELSE '[]' END) AS cited
                    CROSS JOIN events AS e ON e.event_id = cited.value))), 0)
      FROM told CROSS JOIN memory_records AS r ON r.record_id = told.item_id
"""

# Ranges of records_by_time, of events_by_time with each row's head, of the primary key of llm_usage; and all that
# sessions were told, which the session ledger bounds, with the prompts of these sessions by events_of_session.
DAYS = """
    WITH chosen AS (SELECT n.number, n.namespace FROM namespaces AS n
                     WHERE :namespace IS NULL OR n.namespace = :namespace),
    told AS (
        SELECT c.namespace, t.session_id, max(t.prompt_number, 1) AS place, count(*) AS times
          FROM session_told AS t JOIN chosen AS c ON c.number = t.namespace_number
         WHERE t.item_id LIKE 'mr_%'
         GROUP BY c.namespace, t.session_id, place),
    prompts AS (
        SELECT e.namespace, e.session_id, e.valid_time,
               row_number() OVER (PARTITION BY e.namespace, e.session_id ORDER BY e.event_id) AS place
          FROM (SELECT DISTINCT namespace, session_id FROM told) AS s
         CROSS JOIN events AS e ON e.namespace = s.namespace AND e.session_id = s.session_id AND e.kind = 'prompt')
    SELECT 'learned', substr(r.created_at, 1, 10) AS day, count(*)
      FROM memory_records AS r CROSS JOIN chosen AS c ON c.number = r.number >> 32
     WHERE r.created_at >= :since
     GROUP BY day
    UNION ALL
    SELECT 'told', substr(p.valid_time, 1, 10) AS day, sum(t.times)
      FROM told AS t
      JOIN prompts AS p ON p.namespace = t.namespace AND p.session_id = t.session_id AND p.place = t.place
     WHERE p.valid_time >= :since
     GROUP BY day
    UNION ALL
    SELECT 'prompts', substr(e.valid_time, 1, 10) AS day, count(*)
      FROM events AS e
     WHERE e.valid_time >= :since AND e.kind = 'prompt' AND (:namespace IS NULL OR e.namespace = :namespace)
     GROUP BY day
    UNION ALL
    SELECT 'sessions', substr(e.valid_time, 1, 10) AS day, count(DISTINCT e.session_id)
      FROM events AS e
     WHERE e.valid_time >= :since AND (:namespace IS NULL OR e.namespace = :namespace)
     GROUP BY day
    UNION ALL
    SELECT 'calls', u.day, sum(u.call_count)
      FROM llm_usage AS u
     WHERE u.day >= substr(:since, 1, 10) AND (:namespace IS NULL OR u.namespace = :namespace)
     GROUP BY u.day
    UNION ALL
    SELECT 'failures', u.day, sum(u.failure_count)
      FROM llm_usage AS u
     WHERE u.day >= substr(:since, 1, 10) AND (:namespace IS NULL OR u.namespace = :namespace)
     GROUP BY u.day
"""

# Of all projects, all of events_of_session, of which the table itself is not read.
SESSION_COUNTS = """
    SELECT e.namespace, count(DISTINCT e.session_id)
      FROM events AS e INDEXED BY events_of_session
     WHERE :namespace IS NULL OR e.namespace = :namespace
     GROUP BY e.namespace
"""

COUNT_RECORDS_OF_ANY = """
    SELECT count(*)
      FROM namespaces AS n JOIN memory_records AS r ON r.namespace_number = n.number
     WHERE :namespace IS NULL OR n.namespace = :namespace
"""

# What was told and judged, each record by the unique index of record_id.
FEEDBACK_SUMS = """
    SELECT coalesce(sum(f.helped), 0), coalesce(sum(f.wrong), 0), coalesce(sum(f.used), 0), coalesce(sum(f.ignored), 0),
           coalesce(sum(f.objected), 0)
      FROM memory_feedback AS f
      CROSS JOIN memory_records AS r ON r.record_id = f.record_id
      CROSS JOIN namespaces AS n ON n.number = r.namespace_number
     WHERE :namespace IS NULL OR n.namespace = :namespace
"""

# --- learning runs and model usage -----------------------------------------------------------------------------------

PUT_RUN = """
    INSERT OR REPLACE INTO learning_runs (
        run_id, namespace, strategy, started_at, finished_at, event_count, record_count, problem)
    VALUES (:run_id, :namespace, :strategy, :started_at, :finished_at, :event_count, :record_count, :problem)
"""

# Backwards along learning_runs_by_time, without a sort.
RUNS = """
    SELECT run_id, namespace, strategy, started_at, finished_at, event_count, record_count, problem
      FROM learning_runs
     ORDER BY started_at DESC, run_id DESC
     LIMIT :limit
"""

PUT_HOOK_SESSION = "INSERT OR REPLACE INTO hook_sessions (key, session_id) VALUES (:key, :session_id)"

GET_HOOK_SESSION = "SELECT session_id FROM hook_sessions WHERE key = :key"

# By the primary key.
PUT_PAUSE = "INSERT OR REPLACE INTO pauses (namespace, session_id, since) VALUES (:namespace, :session_id, :since)"
DELETE_PAUSE = "DELETE FROM pauses WHERE namespace = :namespace AND session_id = :session_id"

# All of them: few, since people make them.
PAUSES = "SELECT namespace, session_id, since FROM pauses ORDER BY namespace, session_id"

# Each by the unique index of its table, but the brief, which has none; in the order of the list. A row that is told
# again gets the highest number.
PUT_TOLD = """
    INSERT OR REPLACE INTO session_told (namespace_number, session_id, item_id, prompt_number)
    SELECT :number, :session_id, told.value, :prompt_number
      FROM json_each(:item_ids) AS told
     WHERE told.value = 'brief'
        OR EXISTS (SELECT 1 FROM memory_records AS r
                    WHERE r.record_id = told.value AND r.namespace_number = :number)
        OR EXISTS (SELECT 1 FROM graph_facts AS f WHERE f.id = told.value AND f.namespace_number = :number)
        OR EXISTS (SELECT 1 FROM graph_entities AS e WHERE e.id = told.value AND e.namespace_number = :number)
        OR EXISTS (SELECT 1 FROM graph_procedures AS p WHERE p.id = told.value AND p.namespace_number = :number)
        OR EXISTS (SELECT 1 FROM graph_preferences AS q WHERE q.id = told.value AND q.namespace_number = :number)
"""

# A range of the unique index.
CLEAR_TOLD = """
    DELETE FROM session_told
     WHERE namespace_number = (SELECT number FROM namespaces WHERE namespace = :namespace)
       AND session_id = :session_id
"""

# By session_told_by_item.
FORGET_TOLD = "DELETE FROM session_told WHERE item_id = :item_id"

# Along the rowid, so in the order in which they were told.
TOLD = """
    SELECT n.namespace, t.session_id, t.item_id, t.prompt_number
      FROM session_told AS t CROSS JOIN namespaces AS n ON n.number = t.namespace_number
     ORDER BY t.number
"""

# By the primary key.
ADD_LLM_USAGE = """
    INSERT INTO llm_usage (day, namespace, call_count, failure_count, characters_in, characters_out, seconds)
    VALUES (:day, :namespace, :call_count, :failure_count, :characters_in, :characters_out, :seconds)
    ON CONFLICT (day, namespace) DO UPDATE
       SET call_count = llm_usage.call_count + excluded.call_count,
           failure_count = llm_usage.failure_count + excluded.failure_count,
           characters_in = llm_usage.characters_in + excluded.characters_in,
           characters_out = llm_usage.characters_out + excluded.characters_out,
           seconds = llm_usage.seconds + excluded.seconds
"""

# A range of the primary key.
LLM_USAGE = """
    SELECT day, namespace, call_count, failure_count, characters_in, characters_out, seconds
      FROM llm_usage
     WHERE day >= :since
     ORDER BY day, namespace
"""

# --- what could not be committed -------------------------------------------------------------------------------------

PARK_CLUSTER = """
    INSERT OR REPLACE INTO parked_clusters (cluster_id, namespace, records_json, problem, attempt_count, retry_at)
    VALUES (:cluster_id, :namespace, :records_json, :problem, :attempt_count, :retry_at)
"""

# By the primary key.
UNPARK_CLUSTER = "DELETE FROM parked_clusters WHERE cluster_id = :cluster_id"

# Along parked_clusters_of_namespace.
PARKED_CLUSTERS_OF_NAMESPACE = """
    SELECT cluster_id, namespace, records_json, problem, attempt_count, retry_at
      FROM parked_clusters
     WHERE namespace = :namespace
     ORDER BY cluster_id
"""

# Along the primary key.
PARKED_CLUSTERS_OF_ALL = """
    SELECT cluster_id, namespace, records_json, problem, attempt_count, retry_at
      FROM parked_clusters
     ORDER BY cluster_id
"""


def for_namespace(statement: str, number: int) -> str:
    """``statement`` about the index of one namespace. Safe: ``:d`` writes an integer or raises."""
    return statement.replace("{number}", f"{number:d}")


# --- the file as a whole ---------------------------------------------------------------------------------------------

ORDINARY_TABLES = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name"

# Reads the whole table; it is asked once, of the copy that is made before an upgrade.
QUICK_CHECK = "SELECT quick_check FROM pragma_quick_check(:table)"

# The same, with each index compared with its table; of copies, which nobody waits for.
INTEGRITY_CHECK = "SELECT integrity_check FROM pragma_integrity_check(:table)"

# Of a record that is there.
ADD_FEEDBACK = """
    INSERT INTO memory_feedback (record_id, helped, wrong, used, ignored, objected)
    SELECT r.record_id, :helped, :wrong, :used, :ignored, :objected
      FROM memory_records AS r
     WHERE r.record_id = :record_id
    ON CONFLICT (record_id) DO UPDATE
       SET helped = memory_feedback.helped + excluded.helped,
           wrong = memory_feedback.wrong + excluded.wrong,
           used = memory_feedback.used + excluded.used,
           ignored = memory_feedback.ignored + excluded.ignored,
           objected = memory_feedback.objected + excluded.objected
    RETURNING record_id
"""

FEEDBACK = """
    SELECT record_id, helped, wrong, used, ignored, objected
      FROM memory_feedback
     ORDER BY record_id DESC
     LIMIT :limit
"""
