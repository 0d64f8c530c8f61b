"""A query that the search syntax takes means the same as in FTS5. Any other is refused with the place of the error."""

from __future__ import annotations

from typing import Any

import apsw
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.adapters.sqlite import index_statements
from kiro_learn.adapters.sqlite.statements import for_namespace
from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.errors import QuerySyntaxError
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.storage.records import SyntaxSearch
from kiro_learn.retrieval.query.syntax import compile_query
from kiro_learn.testing.storage import put_record
from properties.sqlite_files import with_sqlite
from properties.stories import NAMESPACES, records

MINE, OTHERS = NAMESPACES[:2]
WORDS = ["pool", "pools", "retry", "cache", "migration", "size", "x", "unknown"]
COLUMNS = {"title": "title", "text": "facts", "narrative": "summary", "concepts": "concepts"}

words = st.sampled_from(WORDS)
phrases = st.lists(words, min_size=1, max_size=3).map(lambda them: '"' + " ".join(them) + '"')
terms = st.builds(lambda term, star: term + star, st.one_of(words, phrases), st.sampled_from(["", "", "*", " *"]))
joined = st.one_of(terms, terms, st.lists(terms, min_size=2, max_size=3).map(" + ".join))
initial = st.builds(lambda mark, phrase: mark + phrase, st.sampled_from(["", "", "^"]), joined)
in_column = st.builds(lambda column, phrase: f"{column}:{phrase}", st.sampled_from(sorted(COLUMNS)), initial)
lists = st.lists(st.one_of(initial, in_column), min_size=1, max_size=3).map(" ".join)
operators = st.sampled_from(["AND", "OR", "NOT"])


def combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = st.builds(lambda column, each: f"{column}({each})", st.sampled_from(["", "", "title:", "text : "]), inner)
    return st.builds(lambda one, sign, other: f"{one} {sign} {other}", st.one_of(inner, group), operators, group)


valid = st.recursive(lists, combined, max_leaves=6)
garbage = st.text(alphabet="ab \"():*^+-{}.,'\\/AND ORNT\0\n\ud800é", max_size=30)
stories = st.lists(records(of=st.just(MINE)), min_size=1, max_size=6, unique_by=lambda record: record.record_id)

BY_HAND = """
    SELECT r.record_id, -bm25(records_fts_1) AS score
      FROM records_fts_1 JOIN memory_records AS r ON r.number = records_fts_1.rowid
     WHERE records_fts_1 MATCH ?
     ORDER BY score DESC, r.created_at DESC, r.record_id
"""


def in_fts5s_words(query: str) -> str:
    """The query as a person would write it for a table with our columns."""
    for ours, theirs in COLUMNS.items():
        query = query.replace(f"{ours}:", f"{theirs}:").replace(f"{ours} :", f"{theirs} :")
    return "{title summary facts concepts} : (" + query + ")"


@given(story=stories, query=valid)
def test_syntax_search_is_fts5(story: list[MemoryRecord], query: str) -> None:
    """The records, scores and order are those of FTS5 on the same text."""

    def by_hand(connection: apsw.Connection) -> list[tuple[Any, ...]]:
        return connection.execute(BY_HAND, (in_fts5s_words(query),)).fetchall()

    search = SyntaxSearch(namespace=MINE, expression=compile_query(query), limit=100)

    async def scenario(store: SqliteStorage) -> None:
        for record in story:
            await put_record(store, record)
        found = await store.search_syntax(search)
        assert [(hit.record_id, hit.score) for hit in found.hits] == await store.readers.read(by_hand)

    with_sqlite(scenario)


@given(query=st.one_of(garbage, valid.flatmap(lambda text: st.integers(0, len(text)).map(lambda end: text[:end]))))
def test_whatever_comes_is_an_expression_or_is_refused_with_its_place(query: str) -> None:
    """FTS5 takes every expression, and every refusal names a place in the query."""
    refusal: QuerySyntaxError | None = None
    try:
        expression = compile_query(query)
    except QuerySyntaxError as error:
        refusal = error
    if refusal is not None:
        assert 0 <= refusal.position <= len(query)
        assert refusal.problem
        return
    connection = apsw.Connection(":memory:")
    connection.execute(for_namespace(index_statements.CREATE_INDEX, 1))
    connection.execute("SELECT bm25(records_fts_1) FROM records_fts_1(?)", (expression,)).fetchall()


@given(story=stories, query=st.one_of(garbage, valid))
def test_no_query_reaches_another_project_or_column(story: list[MemoryRecord], query: str) -> None:
    """No query finds text of another project, or text that is only in a file's name."""
    try:
        expression = compile_query(query)
    except QuerySyntaxError:
        return

    async def scenario(store: SqliteStorage) -> None:
        for record in story:
            await put_record(store, record)
        assert (await store.search_syntax(SyntaxSearch(namespace=OTHERS, expression=expression, limit=9))).hits == ()
        hidden = compile_query("hidden OR hidden* OR files")
        assert (await store.search_syntax(SyntaxSearch(namespace=MINE, expression=hidden, limit=9))).hits == ()

    with_sqlite(scenario)
