from __future__ import annotations

import pytest

from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retrieval import LexicalRanking
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.retrieval.query.syntax import inverse_document_frequency
from kiro_learn.testing.storage import delete_records, put_record, search_records, transact_one
from tests.unit.storage.builders import MINE, OTHERS, at, record, record_id
from tests.unit.storage.contract import promise


async def rank(
    storage: StorageBackend,
    query: str,
    *,
    namespace: Namespace = MINE,
    limit: int = 10,
    term_cap: int = 32,
    with_neighbors: bool = False,
) -> LexicalRanking:
    return await storage.rank_by_words(SearchParams(namespace, query, limit, term_cap, with_neighbors))


async def find(storage: StorageBackend, query: str, *, limit: int = 10) -> list[RecordId]:
    return [hit.record_id for hit in (await rank(storage, query, limit=limit)).hits]


@promise
async def a_record_is_found_by_any_of_its_texts_whatever_the_ending(storage: StorageBackend) -> None:
    await put_record(
        storage,
        record(
            1,
            "Migrating the users",
            summary="pooled connections",
            facts=("retries are bounded",),
            concepts=("idempotence",),
            files_touched=("src/spool.py",),
            files_read=("docs/ledger.md",),
            files_modified=("src/queue.py",),
        ),
    )
    for word in ("migrations", "USER", "pooling", "bounds", "idempotence", "spool", "ledger", "src/queue.py"):
        assert await find(storage, word) == [record_id(1)], word
    assert await find(storage, "absent") == []


@promise
async def the_rarer_word_and_the_shorter_record_rank_higher(storage: StorageBackend) -> None:
    await put_record(storage, record(1, "common words all around this place"))
    await put_record(storage, record(2, "common"))
    await put_record(storage, record(3, "rare"))
    for number in range(4, 9):
        await put_record(storage, record(number, "filler"))
    assert await find(storage, "common rare") == [record_id(3), record_id(2), record_id(1)]


@promise
async def ties_go_to_the_newest_then_to_the_smaller_id(storage: StorageBackend) -> None:
    for number, minute in ((3, 1), (1, 1), (2, 5)):
        await put_record(storage, record(number, "same", created_at=at(minute)))
    assert await find(storage, "same") == [record_id(2), record_id(1), record_id(3)]
    assert await find(storage, "same", limit=2) == [record_id(2), record_id(1)]


@promise
async def scores_are_positive_and_the_ideal_counts_the_unseen_most(storage: StorageBackend) -> None:
    for number in range(1, 11):
        await put_record(storage, record(number, "seen" if number == 1 else "other"))
    ranking = await rank(storage, "seen unseen")
    assert ranking.hits[0].score > 0
    assert ranking.ideal_score == pytest.approx(inverse_document_frequency(1, 10) + inverse_document_frequency(0, 10))


@promise
async def a_query_without_words_finds_nothing(storage: StorageBackend) -> None:
    await put_record(storage, record(1))
    for query in ("", "  \n", "?! --"):
        assert await rank(storage, query) == LexicalRanking((), 0.0)


@promise
async def operators_quotes_and_code_are_taken_literally(storage: StorageBackend) -> None:
    await put_record(storage, record(1, "call foo.bar(x) NEAR the * end"))
    for query in ("foo.bar()", 'NEAR( "x', "end* OR", "^call", "{foo} - bar", "AND NOT foo"):
        assert await find(storage, query) == [record_id(1)], query
    for phrase in ("bar.foo", "title:foo"):
        assert await find(storage, phrase) == [], phrase


@promise
async def what_the_index_refuses_is_looked_for_as_it_stands(storage: StorageBackend) -> None:
    await put_record(storage, record(1, "before A\0b after"))
    await put_record(storage, record(2, summary="and a\0B again"))
    await put_record(storage, record(3, "a b", summary="a%b a_b"))
    await put_record(storage, record(4, "other"))
    await put_record(storage, record(5, "other"))
    ranking = await rank(storage, "a\0b")
    score = inverse_document_frequency(2, 5)
    assert [(hit.record_id, hit.score) for hit in ranking.hits] == [(record_id(2), score), (record_id(1), score)]
    assert (ranking.ideal_score, ranking.terms, ranking.is_index_damaged) == (score, ("a\0b",), False)


@promise
async def an_index_that_is_rebuilt_finds_what_it_found(storage: StorageBackend) -> None:
    for number in range(1, 8):
        await put_record(storage, record(number, "word other" if number < 3 else "other"))
    await delete_records(storage, [record_id(2)])
    before = await rank(storage, "word", with_neighbors=True)
    after: int | None = 0
    while after is not None:
        after = await transact_one(
            storage,
            lambda tx, after=after: tx.rebuild_words(MINE, after=after, most=2),  # type: ignore[misc]  # bound at once
        )
    assert await rank(storage, "word", with_neighbors=True) == before
    assert await transact_one(storage, lambda tx: tx.rebuild_words(OTHERS, after=0, most=2)) is None


@promise
async def a_capped_query_keeps_the_words_that_find_something(storage: StorageBackend) -> None:
    for number in range(1, 5):
        await put_record(storage, record(number, "common rare" if number == 1 else "common"))
    unknown = " ".join(f"unknown{number}" for number in range(9))
    ranking = await rank(storage, f"{unknown} common rare", term_cap=1)
    assert [hit.record_id for hit in ranking.hits] == [record_id(1)]


@promise
async def what_was_deleted_is_not_found_nor_counted(storage: StorageBackend) -> None:
    for number in range(1, 9):
        await put_record(storage, record(number, "word" if number < 3 else "other"))
    before = await rank(storage, "word")
    await put_record(storage, record(9, "word word"))
    await delete_records(storage, [record_id(9)])
    assert await rank(storage, "word") == before


@promise
async def the_words_that_were_looked_up_are_named(storage: StorageBackend) -> None:
    await put_record(storage, record(1, "common rare"))
    await put_record(storage, record(2, "common"))
    assert (await rank(storage, "is the common rare unknown", term_cap=2)).terms == ("common", "rare")


@promise
async def words_that_stand_together_as_in_the_query_are_found_if_asked_for(storage: StorageBackend) -> None:
    titles = ("connection pool", "pool of each open connection", "pool a b c d e f connection", "pool", "other")
    for number, title in enumerate(titles, start=1):
        await put_record(storage, record(number, title, summary=f"connection {number}" if number == 4 else "-"))
    near = (await rank(storage, "connection pool", with_neighbors=True)).neighbors
    assert {hit.record_id for hit in near} == {record_id(1), record_id(2)}
    assert all(hit.score > 0 for hit in near)
    assert len((await rank(storage, "connection pool", limit=1, with_neighbors=True)).neighbors) == 1
    assert (await rank(storage, "connection pool")).neighbors == ()
    assert (await rank(storage, "pool", with_neighbors=True)).neighbors == ()


@promise
async def only_hits_are_searched_for_words_that_stand_together(storage: StorageBackend) -> None:
    await put_record(storage, record(1, "pool", summary="pool"))
    await put_record(storage, record(2, "connection pool", summary="long " * 30))
    for number in range(3, 9):
        await put_record(storage, record(number, "other", summary="connection" if number == 3 else "-"))
    for limit, near in ((1, []), (2, []), (3, [record_id(2)])):
        ranking = await rank(storage, "connection pool", limit=limit, with_neighbors=True)
        assert [hit.record_id for hit in ranking.neighbors] == near


@promise
async def a_namespace_that_was_emptied_has_no_ideal(storage: StorageBackend) -> None:
    await put_record(storage, record(1, "word"))
    await delete_records(storage, [record_id(1)])
    assert await rank(storage, "word") == LexicalRanking((), 0.0)


@promise
async def others_change_neither_hits_nor_scores(storage: StorageBackend) -> None:
    for number in range(1, 5):
        await put_record(storage, record(number, "pool size" if number == 1 else "pool"))
    before = await rank(storage, "pool size")
    for number in range(5, 30):
        await put_record(storage, record(number, "size", namespace=OTHERS))
    assert await rank(storage, "pool size") == before
    assert (await rank(storage, "pool", namespace=OTHERS)).hits == ()


@promise
async def a_search_returns_the_ranked_records_whole(storage: StorageBackend) -> None:
    await put_record(storage, record(1, "pool"))
    await put_record(storage, record(2, "pool pool"))
    found = await search_records(storage, SearchParams(MINE, "pool", 5))
    assert [item.record_id for item in found] == await find(storage, "pool")
    assert found[0] in {record(1, "pool"), record(2, "pool pool")}


@promise
async def a_word_is_found_inside_a_clause_of_a_script_without_spaces(storage: StorageBackend) -> None:
    await put_record(
        storage, record(1, "\u4f7f\u7528\u5e03\u9686\u8fc7\u6ee4\u5668", summary="\u8bef\u5224\u7387\u8bbe\u4e3a0.1%")
    )
    await put_record(
        storage,
        record(
            2,
            "\u672c\u756a\u74b0\u5883\u306ePostgreSQL\u306f\u6bce\u9031\u6728\u66dc\u65e5",
            facts=("\ub85c\uadf8\ub294 21\uc77c",),
        ),
    )
    for word in (
        "\u5e03\u9686\u8fc7\u6ee4\u5668",
        "\u8bef\u5224\u7387",
        "\u5e03\u9686\u8fc7\u6ee4\u5668\u7684\u8bef\u5224\u7387\u662f\u591a\u5c11\uff1f",
    ):
        assert await find(storage, word) == [record_id(1)], word
    for word in ("postgresql", "\u6728\u66dc\u65e5", "\ub85c\uadf8", "PostgreSQL\u3067\u3059\u304b"):
        assert await find(storage, word) == [record_id(2)], word
