-- Today's schema, but for the table of events, which the first kiro-learn made and which stays as it is.

-- Projects, numbered: the upper half of a record's rowid, and the name of its project's index of words.
-- last_record is the last number that a record of the project was given. It only grows, so that an index that forgot
-- one record can never mistake another one for it.
CREATE TABLE namespaces (
    number INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 2147483647),
    namespace TEXT NOT NULL UNIQUE,
    last_record INTEGER NOT NULL DEFAULT 0 CHECK (last_record BETWEEN 0 AND 4294967295),
    embedding_model INTEGER NOT NULL DEFAULT 1
) STRICT;

-- number is declared, since VACUUM may change an undeclared rowid. The wide columns come last: a row's early columns
-- are read without its overflow pages.
CREATE TABLE memory_records (
    number INTEGER PRIMARY KEY,
    namespace_number INTEGER NOT NULL REFERENCES namespaces (number) CHECK (namespace_number = number >> 32),
    record_id TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    strategy TEXT NOT NULL,
    observation_type TEXT NOT NULL
        CHECK (observation_type IN ('tool_use', 'decision', 'error', 'discovery', 'pattern', 'session_summary')),
    knowledge_type TEXT CHECK (knowledge_type IN ('constraint', 'decision', 'heuristic', 'rejected')),
    importance INTEGER CHECK (importance BETWEEN 1 AND 10),
    origin TEXT CHECK (origin IN ('user', 'assistant', 'tool', 'import', 'api')),
    stale_at TEXT,
    embedding_set_aside TEXT,
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    facts_json TEXT NOT NULL,
    concepts_json TEXT NOT NULL DEFAULT '[]',
    files_touched_json TEXT NOT NULL DEFAULT '[]',
    files_read_json TEXT NOT NULL DEFAULT '[]',
    files_modified_json TEXT NOT NULL DEFAULT '[]',
    source_event_ids_json TEXT NOT NULL,
    embedding BLOB,
    passage_codes BLOB,
    capture_type TEXT,
    captured_text TEXT,
    details_json TEXT,
    content_hash TEXT,
    file_digests_json TEXT,
    distilled_at TEXT
) STRICT;
CREATE INDEX records_by_time ON memory_records (created_at, record_id);
CREATE INDEX records_of_namespace ON memory_records (namespace_number, created_at, record_id);
CREATE INDEX records_without_embedding ON memory_records (created_at, record_id)
    WHERE embedding IS NULL AND embedding_set_aside IS NULL;
CREATE INDEX records_without_passages ON memory_records (created_at, record_id)
    WHERE passage_codes IS NULL AND embedding IS NOT NULL;
CREATE INDEX records_by_content_hash ON memory_records (namespace_number, content_hash, created_at, record_id)
    WHERE content_hash IS NOT NULL;
CREATE INDEX records_of_knowledge ON memory_records (namespace_number, created_at, record_id)
    WHERE knowledge_type IS NOT NULL;
CREATE INDEX records_by_capture_type ON memory_records (namespace_number, capture_type, created_at, record_id)
    WHERE capture_type IS NOT NULL;

CREATE TABLE learning_runs (
    run_id TEXT PRIMARY KEY,
    namespace TEXT NOT NULL,
    strategy TEXT NOT NULL,
    started_at TEXT NOT NULL,
    finished_at TEXT NOT NULL,
    event_count INTEGER NOT NULL,
    record_count INTEGER NOT NULL,
    problem TEXT
) STRICT;
CREATE INDEX learning_runs_by_time ON learning_runs (started_at, run_id);

CREATE TABLE hook_sessions (
    key TEXT PRIMARY KEY,
    session_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Records that were replaced stand in a table of their own, so that no query of live records can find one.
CREATE TABLE replacements (
    number INTEGER PRIMARY KEY,
    replacement_id TEXT NOT NULL UNIQUE,
    namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
    reason TEXT NOT NULL CHECK (reason IN ('merged', 'relearned')),
    replaced_at TEXT NOT NULL
) STRICT;

CREATE TABLE replacing_records (
    replacement_number INTEGER NOT NULL REFERENCES replacements (number) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    record_id TEXT NOT NULL UNIQUE,
    PRIMARY KEY (replacement_number, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE replaced_records (
    number INTEGER PRIMARY KEY,
    replacement_number INTEGER NOT NULL REFERENCES replacements (number),
    namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
    record_id TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    strategy TEXT NOT NULL,
    observation_type TEXT NOT NULL,
    knowledge_type TEXT,
    importance INTEGER,
    origin TEXT,
    stale_at TEXT,
    embedding_set_aside TEXT,
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    facts_json TEXT NOT NULL,
    concepts_json TEXT NOT NULL,
    files_touched_json TEXT NOT NULL,
    files_read_json TEXT NOT NULL,
    files_modified_json TEXT NOT NULL,
    source_event_ids_json TEXT NOT NULL,
    embedding BLOB,
    capture_type TEXT,
    captured_text TEXT,
    details_json TEXT,
    content_hash TEXT,
    distilled_at TEXT
) STRICT;
CREATE INDEX replaced_with ON replaced_records (replacement_number, record_id);

CREATE TABLE parked_clusters (
    cluster_id TEXT PRIMARY KEY,
    namespace TEXT NOT NULL,
    records_json TEXT NOT NULL,
    problem TEXT NOT NULL,
    attempt_count INTEGER NOT NULL,
    retry_at TEXT NOT NULL
) STRICT;
CREATE INDEX parked_clusters_of_namespace ON parked_clusters (namespace, cluster_id);

-- AUTOINCREMENT: a position is never given twice, so clearing up to one cannot clear what came later.
-- A row without an event is a compaction of several.
CREATE TABLE buffer (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
    is_parked INTEGER NOT NULL DEFAULT 0 CHECK (is_parked IN (0, 1)),
    size_bytes INTEGER NOT NULL,
    event_count INTEGER NOT NULL DEFAULT 1,
    event_id TEXT UNIQUE REFERENCES events (event_id),
    compaction_json TEXT,
    stands_for_json TEXT,
    CHECK ((event_id IS NULL) = (compaction_json IS NOT NULL)),
    CHECK ((event_id IS NULL) = (stands_for_json IS NOT NULL))
) STRICT;
CREATE INDEX buffer_of_namespace ON buffer (namespace_number, is_parked, position, size_bytes, event_count);

CREATE TABLE llm_usage (
    day TEXT NOT NULL,
    namespace TEXT NOT NULL,
    call_count INTEGER NOT NULL,
    failure_count INTEGER NOT NULL,
    characters_in INTEGER NOT NULL,
    characters_out INTEGER NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (day, namespace)
) STRICT, WITHOUT ROWID;

-- What was forgotten, by the events it was learned from and a digest of its words, so that it is not learned again.
CREATE TABLE forgotten (
    namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
    event_id TEXT NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (namespace_number, event_id, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX forgotten_by_digest ON forgotten (namespace_number, digest);

-- Model 1 is the bundled one; its vectors stand in memory_records, those of other models in model_embeddings.
CREATE TABLE embedding_models (
    number INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    dimension INTEGER NOT NULL CHECK (dimension BETWEEN 1 AND 1024),
    folder TEXT,
    is_current INTEGER NOT NULL DEFAULT 0 CHECK (is_current IN (0, 1))
) STRICT;
INSERT INTO embedding_models (number, digest, name, dimension, is_current)
VALUES (1, '2629555df6019644b84e0c0f2dab4f597cdf35ab5110299857576b7824524815', 'all-MiniLM-L6-v2', 384, 1);

-- A row without a vector and without a reason waits to be embedded.
CREATE TABLE model_embeddings (
    model_number INTEGER NOT NULL REFERENCES embedding_models (number),
    number INTEGER NOT NULL,
    set_aside TEXT,
    embedding BLOB,
    passage_codes BLOB,
    PRIMARY KEY (model_number, number),
    CHECK (embedding IS NULL OR set_aside IS NULL)
) STRICT;
CREATE INDEX model_embeddings_awaited ON model_embeddings (number, model_number)
    WHERE embedding IS NULL AND set_aside IS NULL;
CREATE INDEX model_embeddings_without_passages ON model_embeddings (number, model_number)
    WHERE passage_codes IS NULL AND embedding IS NOT NULL;

-- What each session was told: ids of memories and of items of the graph.
CREATE TABLE session_told (
    number INTEGER PRIMARY KEY,
    namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
    session_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    prompt_number INTEGER NOT NULL,
    UNIQUE (namespace_number, session_id, item_id)
) STRICT;
CREATE INDEX session_told_by_item ON session_told (item_id);

-- The graph. seq stands beside the id for the full-text tables: VACUUM may renumber rows that declare no number.
CREATE TABLE graph_entities (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
    name TEXT NOT NULL,
    folded_name TEXT NOT NULL,
    type TEXT NOT NULL
        CHECK (type IN ('person', 'organization', 'project', 'concept', 'location', 'tool', 'event', 'other')),
    description TEXT NOT NULL,
    aliases_json TEXT NOT NULL,
    aliases_text TEXT NOT NULL,
    importance INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 10),
    mention_count INTEGER NOT NULL,
    first_seen TEXT NOT NULL,
    last_referenced TEXT NOT NULL,
    UNIQUE (namespace_number, folded_name, type)
) STRICT;
CREATE INDEX graph_entities_of_namespace ON graph_entities (namespace_number, id);

CREATE TABLE graph_entity_names (
    namespace_number INTEGER NOT NULL,
    folded_name TEXT NOT NULL,
    entity_id TEXT NOT NULL REFERENCES graph_entities (id) ON DELETE CASCADE ON UPDATE CASCADE,
    PRIMARY KEY (namespace_number, folded_name, entity_id)
) WITHOUT ROWID, STRICT;
CREATE INDEX graph_names_of_entity ON graph_entity_names (entity_id);

CREATE TABLE graph_relationships (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
    source_id TEXT NOT NULL REFERENCES graph_entities (id) ON DELETE CASCADE,
    target_id TEXT NOT NULL REFERENCES graph_entities (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    valid_from TEXT,
    valid_until TEXT,
    observed_at TEXT NOT NULL,
    retired_at TEXT
) STRICT;
CREATE INDEX graph_relationships_from ON graph_relationships (source_id);
CREATE INDEX graph_relationships_to ON graph_relationships (target_id);
CREATE INDEX graph_relationships_of_namespace ON graph_relationships (namespace_number, id);

CREATE TABLE graph_facts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
    entity_id TEXT NOT NULL REFERENCES graph_entities (id) ON DELETE CASCADE,
    subject TEXT NOT NULL,
    predicate TEXT NOT NULL,
    object TEXT NOT NULL,
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    source_type TEXT NOT NULL CHECK (source_type IN ('inferred', 'observed', 'stated', 'corrected')),
    is_candidate INTEGER NOT NULL,
    superseded_by TEXT,
    last_confirmed_at TEXT NOT NULL,
    valid_from TEXT,
    valid_until TEXT,
    observed_at TEXT NOT NULL,
    retired_at TEXT
) STRICT;
CREATE INDEX graph_facts_of_entity ON graph_facts (entity_id);
CREATE INDEX graph_facts_of_namespace ON graph_facts (namespace_number, id);

CREATE TABLE graph_procedures (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
    name TEXT NOT NULL,
    trigger TEXT NOT NULL,
    steps_json TEXT NOT NULL,
    steps_text TEXT NOT NULL,
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    source_type TEXT NOT NULL CHECK (source_type IN ('inferred', 'observed', 'stated', 'corrected')),
    success_count INTEGER NOT NULL,
    failure_count INTEGER NOT NULL,
    last_used TEXT,
    last_outcome TEXT CHECK (last_outcome IN ('success', 'failure', 'partial', 'pending')),
    version INTEGER NOT NULL,
    superseded_by TEXT,
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX graph_procedures_of_namespace ON graph_procedures (namespace_number, id);

CREATE TABLE graph_preferences (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
    category TEXT NOT NULL
        CHECK (category IN ('communication', 'formatting', 'workflow', 'tools', 'scheduling', 'other')),
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    strength REAL NOT NULL CHECK (strength BETWEEN 0 AND 1),
    evidence_count INTEGER NOT NULL,
    source_type TEXT NOT NULL CHECK (source_type IN ('inferred', 'observed', 'stated', 'corrected')),
    superseded_by TEXT,
    last_confirmed_at TEXT NOT NULL,
    valid_from TEXT,
    valid_until TEXT,
    observed_at TEXT NOT NULL,
    retired_at TEXT
) STRICT;
CREATE INDEX graph_preferences_of_namespace ON graph_preferences (namespace_number, id);

-- What each event says of an item: that it holds, ended or never held, since when, and who says so.
CREATE TABLE graph_evidence (
    item_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    observed_at TEXT NOT NULL,
    weight REAL NOT NULL,
    says TEXT NOT NULL DEFAULT 'holds' CHECK (says IN ('holds', 'ended', 'never')),
    source_type TEXT NOT NULL DEFAULT 'stated' CHECK (source_type IN ('inferred', 'observed', 'stated', 'corrected')),
    place INTEGER NOT NULL DEFAULT 0,
    valid_from TEXT,
    valid_until TEXT,
    PRIMARY KEY (item_id, event_id)
) WITHOUT ROWID, STRICT;
CREATE INDEX graph_evidence_of_event ON graph_evidence (event_id);

-- The words of the graph. secure-delete leaves no word of a deleted item; triggers keep these tables in step.
CREATE VIRTUAL TABLE graph_entities_fts USING fts5 (
    name, description, aliases_text,
    content = 'graph_entities', content_rowid = 'seq', tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO graph_entities_fts (graph_entities_fts, rank) VALUES ('secure-delete', 1);

CREATE VIRTUAL TABLE graph_facts_fts USING fts5 (
    subject, predicate, object,
    content = 'graph_facts', content_rowid = 'seq', tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO graph_facts_fts (graph_facts_fts, rank) VALUES ('secure-delete', 1);

CREATE VIRTUAL TABLE graph_procedures_fts USING fts5 (
    name, trigger, steps_text,
    content = 'graph_procedures', content_rowid = 'seq', tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO graph_procedures_fts (graph_procedures_fts, rank) VALUES ('secure-delete', 1);

-- One vector of each entity, fact and procedure; triggers drop it when the item goes or its text changes.
CREATE TABLE graph_vectors (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    item_id TEXT NOT NULL UNIQUE,
    namespace_number INTEGER NOT NULL REFERENCES namespaces (number),
    model_digest TEXT NOT NULL,
    vector BLOB NOT NULL
) STRICT;
CREATE INDEX graph_vectors_of_namespace ON graph_vectors (namespace_number, model_digest, seq);

CREATE TRIGGER await_embedding AFTER INSERT ON memory_records
    WHEN (SELECT embedding_model FROM namespaces WHERE number = NEW.namespace_number) <> 1
BEGIN
    INSERT OR IGNORE INTO model_embeddings (model_number, number) SELECT embedding_model, NEW.number FROM namespaces
     WHERE number = NEW.namespace_number;
END;
CREATE TRIGGER drop_embeddings AFTER DELETE ON memory_records
    WHEN NOT EXISTS (SELECT 1 FROM replaced_records WHERE number = OLD.number)
BEGIN
    DELETE FROM model_embeddings WHERE model_number IN (SELECT number FROM embedding_models) AND number = OLD.number;
END;
CREATE TRIGGER drop_embeddings_of_replaced AFTER DELETE ON replaced_records
    WHEN NOT EXISTS (SELECT 1 FROM memory_records WHERE number = OLD.number)
BEGIN
    DELETE FROM model_embeddings WHERE model_number IN (SELECT number FROM embedding_models) AND number = OLD.number;
END;
CREATE TRIGGER graph_entities_gone AFTER DELETE ON graph_entities
BEGIN
    DELETE FROM graph_evidence WHERE item_id = old.id;
END;
CREATE TRIGGER graph_relationships_gone AFTER DELETE ON graph_relationships
BEGIN
    DELETE FROM graph_evidence WHERE item_id = old.id;
END;
CREATE TRIGGER graph_facts_gone AFTER DELETE ON graph_facts
BEGIN
    DELETE FROM graph_evidence WHERE item_id = old.id;
END;
CREATE TRIGGER graph_procedures_gone AFTER DELETE ON graph_procedures
BEGIN
    DELETE FROM graph_evidence WHERE item_id = old.id;
END;
CREATE TRIGGER graph_preferences_gone AFTER DELETE ON graph_preferences
BEGIN
    DELETE FROM graph_evidence WHERE item_id = old.id;
END;
CREATE TRIGGER graph_entities_put AFTER INSERT ON graph_entities
BEGIN
    INSERT INTO graph_entities_fts (rowid, name, description, aliases_text)
    VALUES (new.seq, new.name, new.description, new.aliases_text);
END;
CREATE TRIGGER graph_entities_out AFTER DELETE ON graph_entities
BEGIN
    INSERT INTO graph_entities_fts (graph_entities_fts, rowid, name, description, aliases_text)
    VALUES ('delete', old.seq, old.name, old.description, old.aliases_text);
END;
CREATE TRIGGER graph_entities_set AFTER UPDATE OF name, description, aliases_text ON graph_entities
BEGIN
    INSERT INTO graph_entities_fts (graph_entities_fts, rowid, name, description, aliases_text)
    VALUES ('delete', old.seq, old.name, old.description, old.aliases_text);
    INSERT INTO graph_entities_fts (rowid, name, description, aliases_text)
    VALUES (new.seq, new.name, new.description, new.aliases_text);
END;
CREATE TRIGGER graph_facts_put AFTER INSERT ON graph_facts
BEGIN
    INSERT INTO graph_facts_fts (rowid, subject, predicate, object)
    VALUES (new.seq, new.subject, new.predicate, new.object);
END;
CREATE TRIGGER graph_facts_out AFTER DELETE ON graph_facts
BEGIN
    INSERT INTO graph_facts_fts (graph_facts_fts, rowid, subject, predicate, object)
    VALUES ('delete', old.seq, old.subject, old.predicate, old.object);
END;
CREATE TRIGGER graph_facts_set AFTER UPDATE OF subject, predicate, object ON graph_facts
BEGIN
    INSERT INTO graph_facts_fts (graph_facts_fts, rowid, subject, predicate, object)
    VALUES ('delete', old.seq, old.subject, old.predicate, old.object);
    INSERT INTO graph_facts_fts (rowid, subject, predicate, object)
    VALUES (new.seq, new.subject, new.predicate, new.object);
END;
CREATE TRIGGER graph_procedures_put AFTER INSERT ON graph_procedures
BEGIN
    INSERT INTO graph_procedures_fts (rowid, name, trigger, steps_text)
    VALUES (new.seq, new.name, new.trigger, new.steps_text);
END;
CREATE TRIGGER graph_procedures_out AFTER DELETE ON graph_procedures
BEGIN
    INSERT INTO graph_procedures_fts (graph_procedures_fts, rowid, name, trigger, steps_text)
    VALUES ('delete', old.seq, old.name, old.trigger, old.steps_text);
END;
CREATE TRIGGER graph_procedures_set AFTER UPDATE OF name, trigger, steps_text ON graph_procedures
BEGIN
    INSERT INTO graph_procedures_fts (graph_procedures_fts, rowid, name, trigger, steps_text)
    VALUES ('delete', old.seq, old.name, old.trigger, old.steps_text);
    INSERT INTO graph_procedures_fts (rowid, name, trigger, steps_text)
    VALUES (new.seq, new.name, new.trigger, new.steps_text);
END;
CREATE TRIGGER graph_entities_vector_gone AFTER DELETE ON graph_entities
BEGIN
    DELETE FROM graph_vectors WHERE item_id = old.id;
END;
CREATE TRIGGER graph_entities_vector_old AFTER UPDATE OF name, description, aliases_text ON graph_entities
    WHEN old.name <> new.name OR old.description <> new.description OR old.aliases_text <> new.aliases_text
BEGIN
    DELETE FROM graph_vectors WHERE item_id = old.id;
END;
CREATE TRIGGER graph_facts_vector_gone AFTER DELETE ON graph_facts
BEGIN
    DELETE FROM graph_vectors WHERE item_id = old.id;
END;
CREATE TRIGGER graph_facts_vector_old AFTER UPDATE OF subject, predicate, object ON graph_facts
    WHEN old.subject <> new.subject OR old.predicate <> new.predicate OR old.object <> new.object
BEGIN
    DELETE FROM graph_vectors WHERE item_id = old.id;
END;
CREATE TRIGGER graph_procedures_vector_gone AFTER DELETE ON graph_procedures
BEGIN
    DELETE FROM graph_vectors WHERE item_id = old.id;
END;
CREATE TRIGGER graph_procedures_vector_old AFTER UPDATE OF name, trigger, steps_text ON graph_procedures
    WHEN old.name <> new.name OR old.trigger <> new.trigger OR old.steps_text <> new.steps_text
BEGIN
    DELETE FROM graph_vectors WHERE item_id = old.id;
END;
CREATE TRIGGER graph_entities_told_gone AFTER DELETE ON graph_entities
BEGIN
    DELETE FROM session_told WHERE item_id = old.id;
END;
CREATE TRIGGER graph_facts_told_gone AFTER DELETE ON graph_facts
BEGIN
    DELETE FROM session_told WHERE item_id = old.id;
END;
CREATE TRIGGER graph_procedures_told_gone AFTER DELETE ON graph_procedures
BEGIN
    DELETE FROM session_told WHERE item_id = old.id;
END;
CREATE TRIGGER graph_preferences_told_gone AFTER DELETE ON graph_preferences
BEGIN
    DELETE FROM session_told WHERE item_id = old.id;
END;
