"""Let vectors of several models stand side by side, and each project say whose are searched.

The vectors of before are the bundled model's (1) and stay where they are, in ``memory_records``: ``embedding``, and
``passage_codes`` of its passages. Those of any other stand in a table of their own: a row a model and record, with the
vector, or why there can be none, or neither while the record waits for it; and with the passages', once they are made.
The triggers enter what waits in a project that such a model serves, and take out the rows of a record once it is
neither alive nor kept in the history; so a record that comes back has its vectors still.
"""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    23,
    "embedding_models",
    """
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
    ALTER TABLE namespaces ADD COLUMN embedding_model INTEGER NOT NULL DEFAULT 1;
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
    CREATE TRIGGER await_embedding AFTER INSERT ON memory_records
        WHEN (SELECT embedding_model FROM namespaces WHERE number = NEW.namespace_number) <> 1
    BEGIN
        INSERT OR IGNORE INTO model_embeddings (model_number, number)
        SELECT embedding_model, NEW.number FROM namespaces WHERE number = NEW.namespace_number;
    END;
    CREATE TRIGGER drop_embeddings AFTER DELETE ON memory_records
        WHEN NOT EXISTS (SELECT 1 FROM replaced_records WHERE number = OLD.number)
    BEGIN
        DELETE FROM model_embeddings
         WHERE model_number IN (SELECT number FROM embedding_models) AND number = OLD.number;
    END;
    CREATE TRIGGER drop_embeddings_of_replaced AFTER DELETE ON replaced_records
        WHEN NOT EXISTS (SELECT 1 FROM memory_records WHERE number = OLD.number)
    BEGIN
        DELETE FROM model_embeddings
         WHERE model_number IN (SELECT number FROM embedding_models) AND number = OLD.number;
    END;
    """,
)
