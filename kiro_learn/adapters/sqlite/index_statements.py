"""SQL about the vectors and the words of records. A comment before a statement names its index.

See ``statements.py`` for the rules of the SQL.
"""
# ruff: noqa: S608  # all texts are put together of our own names

from __future__ import annotations

from kiro_learn.adapters.sqlite.record_statements import IS_WANTED, RECORD_COLUMNS

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

# By the unique indexes of record_id and digest. Other columns of the row may be damaged.
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


def _waiting(condition: str) -> str:
    """Records that wait for the bundled model, newest first; the reader stops it when it has enough."""
    return f"""
    SELECT {RECORD_COLUMNS}
      FROM memory_records AS r JOIN namespaces AS n ON n.number = r.namespace_number
     WHERE {condition} AND n.embedding_model = 1
       AND n.namespace NOT IN (SELECT value FROM json_each(:leave_out))
     ORDER BY r.created_at DESC, r.record_id DESC
    """


def _waiting_for_model(condition: str) -> str:
    """Records that wait for another model of their project, each by the rowid; the reader stops it too."""
    return f"""
    SELECT {RECORD_COLUMNS}
      FROM model_embeddings AS e
      CROSS JOIN memory_records AS r ON r.number = e.number
      CROSS JOIN namespaces AS n ON n.number = r.namespace_number AND n.embedding_model = e.model_number
     WHERE {condition} AND n.namespace NOT IN (SELECT value FROM json_each(:leave_out))
     ORDER BY e.number DESC
    """


# Each goes backwards along an index that holds just its rows: records_without_embedding, records_without_passages,
# model_embeddings_awaited and model_embeddings_without_passages.
UNEMBEDDED = _waiting("r.embedding IS NULL AND r.embedding_set_aside IS NULL")
WITHOUT_PASSAGES = _waiting("r.passage_codes IS NULL AND r.embedding IS NOT NULL")
AWAITED_EMBEDDINGS = _waiting_for_model("e.embedding IS NULL AND e.set_aside IS NULL")
WITHOUT_MODEL_PASSAGES = _waiting_for_model("e.passage_codes IS NULL AND e.embedding IS NOT NULL")

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
"""

# Along records_of_namespace from its oldest record, which is embedded last.
IS_BEHIND = f"""
    SELECT 1
      FROM memory_records AS r
      LEFT JOIN model_embeddings AS e ON e.model_number = :model AND e.number = r.number
     WHERE r.namespace_number = :number AND {LACKS_EMBEDDING}
     ORDER BY r.created_at, r.record_id
     LIMIT 1
"""

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
"""

# The whole table: for a person who looks at a status, not for a prompt.
COUNT_EMBEDDINGS_OF_ALL = f"""
    SELECT {EMBEDDING_COUNT_COLUMNS}
      FROM memory_records AS r
      JOIN namespaces AS n ON n.number = r.namespace_number
      LEFT JOIN model_embeddings AS e ON e.model_number = n.embedding_model AND e.number = r.number
"""

# All records of the projects that an earlier model serves.
COUNT_REEMBEDDED = f"""
    SELECT count(*), count(*) FILTER (WHERE NOT ({LACKS_EMBEDDING}))
      FROM namespaces AS n
      CROSS JOIN memory_records AS r ON r.namespace_number = n.number
      LEFT JOIN model_embeddings AS e ON e.model_number = :model AND e.number = r.number
     WHERE n.embedding_model <> :model
"""


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

# FTS5 only marks deleted rows. A merge of parts removes the marked rows, 256 pages at a time.
MERGE_WORDS = "INSERT INTO records_fts_{number} (records_fts_{number}, rank) VALUES ('merge', -256)"

# One row a project.
MERGED_NUMBERS = "SELECT number, merged_into FROM namespaces WHERE merged_into IS NOT NULL"

DELETE_WORDS = "DELETE FROM records_fts_{number} WHERE rowid = :number"

# By the index of words, as bm25 itself counts a phrase.
DOCUMENT_FREQUENCY = "SELECT count(*) FROM records_fts_{number} WHERE records_fts_{number} MATCH :expression"

# As DOCUMENT_FREQUENCY, for one document.
IS_FOUND = f"{DOCUMENT_FREQUENCY} AND rowid = :number"

# By the index of words, then each record by the rowid. The matches are sorted by score.
SEARCH_SYNTAX = f"""
    SELECT r.record_id, r.created_at, -bm25(records_fts_{{number}}) AS score
      FROM records_fts_{{number}} CROSS JOIN memory_records AS r ON r.number = records_fts_{{number}}.rowid
     WHERE records_fts_{{number}} MATCH :expression AND {IS_WANTED}
     ORDER BY score DESC, r.created_at DESC, r.record_id
     LIMIT :limit
"""

# The first matches in any order, so that the query ends early, however many match.
SEARCH_SYNTAX_ANY = f"""
    SELECT r.record_id, r.created_at, 0.0
      FROM records_fts_{{number}} CROSS JOIN memory_records AS r ON r.number = records_fts_{{number}}.rowid
     WHERE records_fts_{{number}} MATCH :expression AND {IS_WANTED}
     LIMIT :limit
"""

# By the rowid: the record in which FTS5 keeps its totals.
INDEX_TOTALS = "SELECT block FROM records_fts_{number}_data WHERE id = 1"

# By the rowid: the record of the index's parts.
INDEX_STRUCTURE = "SELECT block FROM records_fts_{number}_data WHERE id = 10"

# All of the table of lengths, the smallest table of FTS5.
INDEX_LENGTHS = "SELECT id & 0xffffffff, sz FROM records_fts_{number}_docsize ORDER BY id"

# A view of the index of words, for this connection only.
OPEN_VOCABULARY = """
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary_{number}
     USING fts5vocab('main', 'records_fts_{number}', 'instance')
"""

# By the index of words. One text with all keys takes a third of the time of as many rows. The CASE compares the columns
# with most words first.
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
"""

# As RECORDS_BETWEEN, the first ``:limit`` of them.
FIRST_RECORDS_BETWEEN = f"{RECORDS_BETWEEN} LIMIT :limit"

# For each of a list, by the rowid.
RECORDS_OF_NUMBERS = """
    SELECT r.number, r.record_id, r.created_at
      FROM json_each(:numbers) AS asked JOIN memory_records AS r ON r.number = asked.value
"""

# A range of rowids: all records of a namespace, if its index of words cannot be used.
TEXTS_OF_NUMBER = """
    SELECT r.record_id, r.created_at, r.title, r.summary, r.facts_json, r.captured_text, r.concepts_json,
           r.files_touched_json, r.files_read_json, r.files_modified_json
      FROM memory_records AS r
     WHERE r.number > :number << 32 AND r.number < (:number + 1) << 32
"""

# Reads no row, but fails if one of FTS5's own tables is gone.
HAS_WHOLE_INDEX = """
    SELECT 1
      FROM records_fts_{number}_data, records_fts_{number}_idx,
           records_fts_{number}_docsize, records_fts_{number}_config
     LIMIT 0
"""

# Makes FTS5 write now what it would keep in memory until the end of the transaction.
FLUSH_WORDS = "INSERT INTO records_fts_{number} (records_fts_{number}) VALUES ('flush')"

# The table that FTS5 reads before it does anything, even before it drops an index.
MEND_CONFIGURATION = """
    CREATE TABLE IF NOT EXISTS records_fts_{number}_config (k PRIMARY KEY, v) WITHOUT ROWID;
    INSERT OR REPLACE INTO records_fts_{number}_config (k, v) VALUES ('version', 4)
"""

DROP_INDEX = "DROP TABLE IF EXISTS records_fts_{number}"

# The remaining tables of an index that FTS5 no longer knows.
DROP_REST_OF_INDEX = """
    DROP TABLE IF EXISTS records_fts_{number}_data;
    DROP TABLE IF EXISTS records_fts_{number}_idx;
    DROP TABLE IF EXISTS records_fts_{number}_content;
    DROP TABLE IF EXISTS records_fts_{number}_docsize;
    DROP TABLE IF EXISTS records_fts_{number}_config
"""

# By the rowid.
IS_INDEXED = "SELECT 1 FROM records_fts_{number}_docsize WHERE id = :number"
