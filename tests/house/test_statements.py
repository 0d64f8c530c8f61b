"""Every statement is explained on a new database: none scans a table or an index without a reason."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import apsw
import pytest

from kiro_learn.adapters.sqlite import (
    eraser,
    export,
    forgetting_statements,
    graph_statements,
    index_statements,
    merging,
    observation_reads,
    record_statements,
    retention,
    sessions,
    statements,
    statistics,
)
from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import migrate
from tests.unit.storage.builders import DAWN

FRAGMENTS = {
    "BUFFER_SIZE_COLUMNS",
    "EMBEDDING_COUNT_COLUMNS",
    "EVENT_COLUMNS",
    "IS_WANTED",
    "LACKS_EMBEDDING",
    "RECORD_COLUMNS",
    "WHOLE_RECORD_COLUMNS",
}

SCANS = {
    "HAS_WHOLE_INDEX": "no row of any of them, for its LIMIT 0",
    "AWAITED_EMBEDDINGS": "a partial index, of just the rows that are wanted; and json_each, a loop over a list",
    "ALL_MERGED": "all of it is wanted; one row a project",
    "ALL_PAUSES": "all of it is wanted",
    "PROJECT_SIZES": "all of it is wanted, on the page that shows it",
    "HOLDS_SOMETHING": "of two searches by an index",
    "RESTORE_PROJECT": "one row a project",
    "BEHIND": "one row a project; stopped by its reader",
    "BUNDLED_MODEL_SERVES": "one row a project",
    "COUNT_REEMBEDDED": "a page of statistics, while there is something to embed again",
    "FEEDBACK": "all of it once, as the daemon starts",
    "FILE_DIGESTS": "json_each, a loop over a list",
    "COUNT_WAITING": "json_each, a loop over a list",
    "TEACHERS": "json_each, loops over lists",
    "CURRENT_MODEL": "one row an embedding model",
    "DROP_UNUSED_EMBEDDINGS": "one row an embedding model, one row a project",
    "NAMESPACES_BEHIND": "one row an embedding model, one row a project",
    "NAMESPACE_BEHIND": "one row an embedding model",
    "PUT_NAMESPACE": "one row an embedding model",
    "SET_CURRENT_MODEL": "one row an embedding model",
    "RANKING_FEATURES": "json_each, which is a loop over a list",
    "BUFFER_SIZES": "all that waits, which the thresholds keep small, and what is parked",
    "CONCEPTS_OF_ALL": "a page of statistics; and json_each, which is a loop over a list",
    "CONCEPTS_OF_NAMESPACE": "json_each, which is a loop over a list",
    "COUNT_EMBEDDINGS_OF_ALL": "a page of statistics",
    "COUNT_RECORDS_OF_ANY": "one row a project, and the index of its records",
    "DAYS": "all that sessions were told, which is bounded; and one row a project",
    "FEEDBACK_SUMS": "a page of statistics",
    "SESSION_COUNTS": "a page of statistics",
    "COUNT_EVENTS_OF_ALL": "SQLite counts rows by walking the smallest index",
    "COUNT_PROJECTS": "one row a project",
    "COUNT_RECORDS_OF_ALL": "SQLite counts rows by walking the smallest index",
    "EVENT_KINDS_OF_ALL": "a page of statistics",
    "ORDINARY_TABLES": "a virtual table, of the schema",
    "PARKED_CLUSTERS_OF_ALL": "all that could not be committed, which is tried again until it is nothing",
    "NAMESPACE_NUMBERS": "one row a project",
    "PROJECTS": "one row a project",
    "QUICK_CHECK": "a virtual table, of one row where nothing is damaged",
    "INTEGRITY_CHECK": "a virtual table, of one row where nothing is damaged",
    "RECORDS_OF_ALL": "along the index from its newest end; stopped by its limit",
    "REPLACEMENTS_BEFORE": "what it has found itself so far",
    "RUNS": "along the index from its newest end; stopped by its limit",
    "PICTURE_RECORDS_OF_ALL": "along the index from its newest end; stopped by its limit",
    "PICTURE_ENTITIES": "all entities, of which those that are mentioned most are wanted",
    **dict.fromkeys(
        ("ALL_EVENTS", "ALL_EVIDENCE", "ALL_FORGOTTEN", "ALL_NAMESPACES", "ALL_RECORDS", "ALL_REPLACED", "ALL_WAITING"),
        "all of it is wanted, in the order in which it stands; its reader stops between two rows",
    ),
    **dict.fromkeys(
        ("COUNT_EXPIRABLE", "EXPIRE_EVENTS", "HAS_EXPIRED", "LIST_EXPIRABLE"), "json_each, which is a loop over a list"
    ),
    **dict.fromkeys(
        (
            "BUFFER_AGAIN",
            "CITED_EVENTS",
            "DELETE_EVENTS",
            "DOOM",
            "EVENTS_AMONG_STORED",
            "EVENTS_OF_RECORDS",
            "IS_ERASED",
            "ITEMS_WITH_SECRET",
            "LIVE_AMONG",
            "MARK_EVENTS",
            "REPLACED_AMONG",
            "SELECT_EVENTS",
            "SELECT_RECORDS",
            "IS_STEP_FORGOTTEN",
            "SESSIONS_OF_EVENTS",
            "STEPS_OF_EVENTS",
            "UNBUFFER_EVENTS",
            "UNDOOM",
        ),
        "json_each, which is a loop over a list",
    ),
    "COMPACTIONS_OF_EVENTS": "all that waits, which the thresholds keep small, and what is parked; and json_each",
    "ADD_USAGE": "one row a project and day, once, when projects are merged",
    "DROP_USAGE": "one row a project and day, once, when projects are merged",
    "BEGIN_MERGE": "one row a project",
    "MERGED": "one row a project",
    "MERGED_NUMBERS": "as above",
    "NAMES": "one row a project",
    "MOVE_EVENTS": "json_each, which is a loop over a list",
    "MOVE_ROWS_REPLACEMENTS": "one row a replacement, once, when projects are merged",
    "MOVE_RUNS": "one row a learning run, once, when projects are merged",
    "SUCCESSORS": "ids of what was replaced, where one that somebody names is unknown; and what it has found so far",
    "SOME_REPLACED": "all that was replaced, while projects are merged; stopped by its limit",
    "PAUSES": "all of it is wanted; people make few",
    "FORGOTTEN": "all of it is wanted, once for each copy of the store",
    "WORDS_OF_ALL": "all records of a copy, once",
    "FORGET_HOOK_SESSION": "one row an agent that names no session, while something is forgotten",
    "FORGET_RUNS": "one row a learning run, once, when a project is forgotten",
    "FORGET_USAGE": "one row a project and day, once, when a project is forgotten",
    "HAS_FORGOTTEN": "the one row of EXISTS",
    "HAS_FORGOTTEN_OR_MERGED": "the one row of EXISTS",
    "HAS_EVENTS_OF_SESSION": "the one row of EXISTS",
    "SELECT_REPLACED": "all that was replaced, once, when a person asks; and json_each, a loop over a list",
    "EVENTS_OF_ITEM_AND_ITS_OWN": "no table: the id that was given",
    "HALF_EMPTY": "a virtual table: SQLite calls reading all pages a scan",
    "REPLACED_BEFORE": "one row a replacement, once a day",
    "SETTLED_ARRIVALS": "json_each, which is a loop over a list",
    "PUT_TOLD": "json_each, which is a loop over a list",
    "TOLD": "all of it is wanted, once; its number of rows is bounded",
    "TYPES_OF_ALL": "a page of statistics",
    "UNEMBEDDED": "a partial index, of just the rows that are wanted",
    "GET_RECORDS": "json_each, which is a loop over a list",
    "PASSAGES": "json_each, which is a loop over a list",
    "WITHOUT_PASSAGES": "a partial index, of just the rows that are wanted; and json_each, a loop over a list",
    "WITHOUT_MODEL_PASSAGES": "a partial index, of just the rows that are wanted; and json_each, a loop over a list",
    "HAS_FORGOTTEN_EVENT": "json_each, which is a loop over a list",
    "HAS_FORGOTTEN_WORDS": "the one row of EXISTS",
    "HAS_FORGOTTEN_WORDS_OF_EVENT": "json_each, which is a loop over a list",
    "PUT_FORGOTTEN": "json_each, which is a loop over a list",
    "HAS_TABLE": "the schema, of which it is part",
    "INDEX_LENGTHS": "all lengths are wanted, once",
    "OCCURRENCES": "a virtual table: FTS5 looks the token up, which SQLite calls a scan",
    "RECORDS_OF_NUMBERS": "json_each, which is a loop over a list",
    "DOCUMENT_FREQUENCY": "a virtual table: FTS5 looks the word up, which SQLite calls a scan",
    "IS_FOUND": "a virtual table: FTS5 looks the words up in one row, which SQLite calls a scan",
    "KNOWLEDGE_AMONG": "json_each, which is a loop over a list",
    "KNOWLEDGE_BEFORE": "json_each, which is a loop over a list",
    **dict.fromkeys(
        ("RECORDS_BEFORE", "RECORDS_OF_ALL_BEFORE", "GET_EVENTS", "MEMORIES_OF_EVENTS"),
        "json_each, which is a loop over a list",
    ),
    "EVENTS_OF_SESSION": "the rows that its subquery chose, a page of them",
    "MEMORIES_OF_SESSIONS": "json_each, a loop over a list; and the events of those sessions",
    "RULES_FIRST": "the rows that its subquery chose, 50 at most",
    "FITTING_AMONG": "json_each, which is a loop over a list",
    "PINNED_BEFORE": "json_each, which is a loop over a list",
    "SET_PINNED": "json_each, which is a loop over a list",
    "SET_STALE": "json_each, which is a loop over a list",
    "ECONOMICS": "what one project was told, grouped; and json_each, a loop over a list",
    "SEARCH_SYNTAX": "a virtual table: FTS5 looks the words up, which SQLite calls a scan",
    "SEARCH_SYNTAX_ANY": "a virtual table: FTS5 looks the words up, which SQLite calls a scan",
    "DELETE_WORDS": "a virtual table: FTS5 looks the rowid up, which SQLite calls a scan",
}

SORTS = {
    "MODELS": "two rows",
    "BUFFER_AGAIN": "the events of one compaction, by arrival",
    "SESSIONS_OF_EVENTS": "the sessions of the events that go, each once",
    "CONCEPTS_OF_ALL": "counts what is distinct",
    "CONCEPTS_OF_NAMESPACE": "counts what is distinct",
    "EVENT_KINDS_OF_ALL": "groups by four kinds",
    "EVENT_KINDS_OF_NAMESPACE": "groups by four kinds",
    "ORDINARY_TABLES": "the names of a schema",
    "PROJECTS": "one row a project, by a count; and each project's folders, by time",
    "REPLACEMENTS_BEFORE": "what one record replaced, by number",
    **dict.fromkeys(("COUNT_EXPIRABLE", "LIST_EXPIRABLE"), "groups a project's sessions, once a day; by time"),
    "SETTLED_ARRIVALS": "the rowids of one project",
    "ACTIVITY_BY_DAY": "groups by day",
    "DAYS": "groups by day, and the prompts of the sessions that are remembered",
    "SESSION_COUNTS": "groups sessions by project, each once",
    "ACTIVITY_BY_TYPE": "groups by type, by a count",
    "EVENTS_OF_SESSION": "the events of one session, by their time; then those of a page",
    "GET_EVENTS": "the events that one memory cites, 200 at most",
    "MEMORIES_OF_SESSIONS": "the sessions of a page, each once",
    "ECONOMICS": "groups what one project was told by record",
    "SEARCH_SYNTAX": "all that matches, by score",
    "RULES_FIRST": "the knowledge of one project, by what sort it is; then the rows that were chosen",
    "TYPES_OF_ALL": "groups by six types",
    "TYPES_OF_NAMESPACE": "groups by six types",
    "PICTURE_ENTITIES": "entities by their mentions",
    "EVIDENCE": "the few events of the items that are asked for, by time",
    "EVENTS_OF_ITEM_AND_ITS_OWN": "the events of an item that is forgotten, each once",
    "ITEMS_OF_EVENTS_ALONE": "items of the events that are forgotten, each once",
}

WITH_STATEMENTS = (
    statements,
    record_statements,
    index_statements,
    statistics,
    sessions,
    observation_reads,
    forgetting_statements,
    eraser,
    export,
    merging,
    retention,
)
"""The modules with SQL, except that of the graph."""
BEGINS_A_STATEMENT = re.compile(r"\s*[A-Z]+\s")


def statements_in(module: ModuleType) -> dict[str, str]:
    """The statements of a module; for a dictionary of statements, one for each key."""
    found: dict[str, Any] = {}
    of_module: dict[str, Any] = vars(module)
    for name, value in of_module.items():
        if name.isupper() and not name.startswith("_") and name not in FRAGMENTS:
            if isinstance(value, dict):
                found |= {f"{name}_{getattr(key, 'name', str(key))}".upper(): text for key, text in value.items()}
            else:
                found[name] = value
    return {name: text for name, text in found.items() if isinstance(text, str) and BEGINS_A_STATEMENT.match(text)}


OF_THE_GRAPH = statements_in(graph_statements)
CONSTANTS = {name: text for module in WITH_STATEMENTS for name, text in statements_in(module).items()} | OF_THE_GRAPH
WALKS = {"FACTS_OF", "FACTS_OF_AT", "CANDIDATES_OF", "EDGES_OF", "EDGES_OF_AT"}
SEARCHES = {name for name in OF_THE_GRAPH if name.startswith("SEARCH_")}
SORTS |= dict.fromkeys(WALKS, "the facts or edges of the entities of one step, by confidence")
SORTS |= dict.fromkeys(SEARCHES, "all that matches, by score")
SCANS |= {
    name: "every item has its vector looked up, while there is something to embed"
    for name in OF_THE_GRAPH
    if name.startswith("WITHOUT_VECTOR_")
}
SCANS |= {name: "all of it is wanted" for name in OF_THE_GRAPH if name.startswith("ALL_ITEMS_")}
SCANS |= dict.fromkeys(SEARCHES, "a virtual table: FTS5 looks the words up, which SQLite calls a scan")
SCANS |= {name: "json_each, which is a loop over a list" for name, text in OF_THE_GRAPH.items() if "json_each" in text}

EXPLAINED = sorted(
    set(CONSTANTS) - {"CREATE_INDEX", "OPEN_VOCABULARY", "MEND_CONFIGURATION", "DROP_INDEX", "DROP_REST_OF_INDEX"}
)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> apsw.Connection:
    connection = apsw.Connection(str(tmp_path_factory.mktemp("explain") / "fresh.db"))
    migrate(connection, MIGRATIONS, utc_now=lambda: DAWN)
    connection.execute(statements.for_namespace(index_statements.CREATE_INDEX, 1))
    connection.execute(statements.for_namespace(index_statements.OPEN_VOCABULARY, 1))
    return connection


def plan(database: apsw.Connection, statement: str) -> list[str]:
    text = statements.for_namespace(statement, 1)
    values = dict.fromkeys(re.findall(r":([a-z_]+)", text))
    return [str(row[3]) for row in database.execute(f"EXPLAIN QUERY PLAN {text}", values)]


@pytest.mark.parametrize("name", EXPLAINED)
def test_no_statement_scans_or_sorts_without_a_reason(name: str, database: apsw.Connection) -> None:
    steps = plan(database, CONSTANTS[name])
    for does, reasons, what in (
        (any(step.startswith("SCAN") for step in steps), SCANS, "SCANS"),
        (any("TEMP B-TREE" in step for step in steps), SORTS, "SORTS"),
    ):
        assert name in reasons or not does, (
            f"{name} {what.lower()}: give it an index, or write the reason why it may into {what}\n{steps}"
        )
        assert does or name not in reasons, f"{name} no longer {what.lower()}: take its reason out of {what}\n{steps}"


@pytest.mark.parametrize("name", ["COUNT_EXPIRABLE", "LIST_EXPIRABLE"])
def test_only_events_of_the_sessions_that_were_learned_from_are_looked_at(name: str, database: apsw.Connection) -> None:
    """An index by time would read all old events of the project for each session."""
    steps = plan(database, CONSTANTS[name])
    assert [step for step in steps if step.startswith("SEARCH e ")] == [
        "SEARCH e USING INDEX events_of_session (namespace=? AND session_id=?)"
    ]


def test_no_index_is_kept_that_no_statement_reads(database: apsw.Connection) -> None:
    made = database.execute("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
    names = {str(name) for (name,) in made}
    steps = [step for name in EXPLAINED for step in plan(database, CONSTANTS[name])]
    assert {name for name in names if not any(f"INDEX {name}" in step for step in steps)} == set()


def test_the_reasons_are_those_of_statements_that_exist() -> None:
    assert SCANS.keys() | SORTS.keys() <= CONSTANTS.keys()


def test_only_an_integer_becomes_part_of_a_statement() -> None:
    with pytest.raises(ValueError, match="format code 'd'"):
        statements.for_namespace(index_statements.DELETE_WORDS, "1; DROP TABLE events")  # type: ignore[arg-type]  # on purpose


def test_sql_stands_nowhere_else_in_the_adapter() -> None:
    room = Path(statements.__file__).parent
    stems = {module.__name__.rpartition(".")[2] for module in (*WITH_STATEMENTS, graph_statements)}
    for path in room.glob("*.py"):
        if path.stem not in stems:
            found = re.findall(r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM) ", path.read_text(encoding="utf-8"))
            assert found in ([], ["SELECT"] if path.name == "connections.py" else []), path
