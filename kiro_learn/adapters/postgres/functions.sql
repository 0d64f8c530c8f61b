-- Functions that SQLite has and PostgreSQL has not, or has under another sense, so that one statement serves both.
-- Daemons of several versions may share a database: one may be added, and none may come to mean something else.

DO $$ BEGIN CREATE TYPE json_item AS (value text COLLATE "C", type text COLLATE "C"); EXCEPTION WHEN duplicate_object THEN NULL; END $$;

CREATE OR REPLACE FUNCTION json_valid(body text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN body IS JSON;

-- PostgreSQL keeps no U+0000 in a text. U+FDD0 and U+FDD2 are kept in its place, and for U+FDD0 itself U+FDD0 and U+FDD1
-- (connection.py).
CREATE OR REPLACE FUNCTION json_of(body text) RETURNS json LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE strpos(body, '\u0000') WHEN 0 THEN body
           ELSE regexp_replace(body, '(?<!\\)((?:\\\\)*)\\u0000', '\1' || U&'\FDD0\FDD2', 'g') END::json;

CREATE OR REPLACE FUNCTION json_kind(item json) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE json_typeof(item) WHEN 'string' THEN 'text' ELSE json_typeof(item) END;

CREATE OR REPLACE FUNCTION json_type(body text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN json_kind(json_of(body));

-- The items of a list. Of NULL there are none.
CREATE OR REPLACE FUNCTION json_each(body text) RETURNS SETOF json_item LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE ROWS 20
BEGIN ATOMIC
    SELECT item #>> '{}', json_kind(item) FROM json_array_elements(json_of(body)) AS item;
END;

-- The items of the list at a path of one name.
CREATE OR REPLACE FUNCTION json_each(body text, path text) RETURNS SETOF json_item LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE ROWS 20
BEGIN ATOMIC
    SELECT item #>> '{}', json_kind(item)
      FROM json_array_elements(CASE json_typeof(json_of(body) -> substr(path, 3)) WHEN 'array'
                               THEN json_of(body) -> substr(path, 3) ELSE '[]' END) AS item;
END;

DO $$ BEGIN CREATE TYPE json_number AS (value bigint); EXCEPTION WHEN duplicate_object THEN NULL; END $$;

CREATE OR REPLACE FUNCTION json_numbers(body text) RETURNS SETOF json_number LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE ROWS 100
BEGIN ATOMIC
    SELECT (item #>> '{}')::bigint FROM json_array_elements(json_of(body)) AS item;
END;

-- '$.data.tool_name' and '$[0]' are paths.
CREATE OR REPLACE FUNCTION json_extract(body text, path text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN json_of(body) #>> string_to_array(btrim(translate(path, '[]', '.'), '$.'), '.');

CREATE OR REPLACE FUNCTION json_list(item text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN json_build_array(item)::text;

CREATE OR REPLACE FUNCTION json_list_end(items text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_to_json(items)::text;

CREATE OR REPLACE AGGREGATE json_list_of(text) (SFUNC = array_append, STYPE = text[], INITCOND = '{}', FINALFUNC = json_list_end);

CREATE OR REPLACE FUNCTION instr(body text, part text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN strpos(body, part) > 0;

CREATE OR REPLACE FUNCTION iif(condition boolean, yes text, no text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN condition THEN yes ELSE no END;

CREATE OR REPLACE FUNCTION hex(body bytea) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN upper(encode(body, 'hex'));

CREATE OR REPLACE FUNCTION unhex(body text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN decode(body, 'hex');

CREATE OR REPLACE FUNCTION max(one bigint, other bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN greatest(one, other);

CREATE OR REPLACE FUNCTION max(one text, other text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN greatest(one, other);

CREATE OR REPLACE FUNCTION min(one text, other text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN least(one, other);
