-- What goes with a row, and what waits with it: as SQLite's triggers of the same names do.

CREATE OR REPLACE FUNCTION await_embedding() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO model_embeddings (model_number, number)
    SELECT embedding_model, NEW.number FROM namespaces WHERE number = NEW.namespace_number AND embedding_model <> 1
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER await_embedding AFTER INSERT ON memory_records
    FOR EACH ROW EXECUTE FUNCTION await_embedding();

CREATE OR REPLACE FUNCTION record_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM memory_records WHERE number = OLD.number)
       AND NOT EXISTS (SELECT 1 FROM replaced_records WHERE number = OLD.number) THEN
        DELETE FROM model_embeddings
         WHERE model_number IN (SELECT number FROM embedding_models) AND number = OLD.number;
    END IF;
    IF TG_TABLE_NAME = 'memory_records' THEN
        DELETE FROM memory_feedback WHERE record_id = OLD.record_id;
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER record_gone AFTER DELETE ON memory_records FOR EACH ROW EXECUTE FUNCTION record_gone();
CREATE OR REPLACE TRIGGER record_gone AFTER DELETE ON replaced_records FOR EACH ROW EXECUTE FUNCTION record_gone();

CREATE OR REPLACE FUNCTION item_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM graph_evidence WHERE item_id = OLD.id;
    DELETE FROM graph_vectors WHERE item_id = OLD.id;
    IF TG_TABLE_NAME <> 'graph_relationships' THEN
        DELETE FROM session_told WHERE item_id = OLD.id;
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER item_gone AFTER DELETE ON graph_entities FOR EACH ROW EXECUTE FUNCTION item_gone();
CREATE OR REPLACE TRIGGER item_gone AFTER DELETE ON graph_relationships FOR EACH ROW EXECUTE FUNCTION item_gone();
CREATE OR REPLACE TRIGGER item_gone AFTER DELETE ON graph_facts FOR EACH ROW EXECUTE FUNCTION item_gone();
CREATE OR REPLACE TRIGGER item_gone AFTER DELETE ON graph_procedures FOR EACH ROW EXECUTE FUNCTION item_gone();
CREATE OR REPLACE TRIGGER item_gone AFTER DELETE ON graph_preferences FOR EACH ROW EXECUTE FUNCTION item_gone();

-- A vector of a text that changed is none of the new one.
CREATE OR REPLACE FUNCTION vector_old() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM graph_vectors WHERE item_id = OLD.id;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER vector_old AFTER UPDATE ON graph_entities FOR EACH ROW
    WHEN ((OLD.name, OLD.description, OLD.aliases_text) <> (NEW.name, NEW.description, NEW.aliases_text))
    EXECUTE FUNCTION vector_old();
CREATE OR REPLACE TRIGGER vector_old AFTER UPDATE ON graph_facts FOR EACH ROW
    WHEN ((OLD.subject, OLD.predicate, OLD.object) <> (NEW.subject, NEW.predicate, NEW.object))
    EXECUTE FUNCTION vector_old();
CREATE OR REPLACE TRIGGER vector_old AFTER UPDATE ON graph_procedures FOR EACH ROW
    WHEN ((OLD.name, OLD.trigger, OLD.steps_text) <> (NEW.name, NEW.trigger, NEW.steps_text))
    EXECUTE FUNCTION vector_old();

-- What each commit changed, for the other daemons (others.py), and what mirrors of words have to read again (words.py).
-- Writers take turns, so that a row with a lower place is never seen after one with a higher.
CREATE TABLE IF NOT EXISTS commits (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    daemon text NOT NULL,
    changes text NOT NULL
);
CREATE TABLE IF NOT EXISTS words_changed (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    number bigint NOT NULL
);
ALTER TABLE words_changed ADD COLUMN IF NOT EXISTS at timestamptz NOT NULL DEFAULT now();

CREATE OR REPLACE FUNCTION words_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'memory_records' THEN
        INSERT INTO words_changed (kind, number)
        SELECT TG_TABLE_NAME, number FROM unnest(ARRAY[OLD.number, NEW.number]) AS changed (number)
         WHERE number IS NOT NULL;
    ELSE
        INSERT INTO words_changed (kind, number) SELECT TG_TABLE_NAME, coalesce(NEW.seq, OLD.seq);
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER words_change AFTER INSERT OR DELETE OR UPDATE OF number ON memory_records
    FOR EACH ROW EXECUTE FUNCTION words_change();
CREATE OR REPLACE TRIGGER words_change AFTER INSERT OR DELETE OR UPDATE OF name, description, aliases_text
    ON graph_entities FOR EACH ROW EXECUTE FUNCTION words_change();
CREATE OR REPLACE TRIGGER words_change AFTER INSERT OR DELETE OR UPDATE OF subject, predicate, object
    ON graph_facts FOR EACH ROW EXECUTE FUNCTION words_change();
CREATE OR REPLACE TRIGGER words_change AFTER INSERT OR DELETE OR UPDATE OF name, trigger, steps_text
    ON graph_procedures FOR EACH ROW EXECUTE FUNCTION words_change();
