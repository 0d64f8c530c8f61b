"""Caches of an index make no difference: each answer is that of FTS5's own bm25 at that moment."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any

import apsw
from hypothesis import example, given
from hypothesis import strategies as st

from kiro_learn.adapters.sqlite.storage import SqliteStorage
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord, ObservationType
from kiro_learn.model.retrieval import Hit
from kiro_learn.ports.storage.answers import NEIGHBOR_DISTANCE, SearchParams
from kiro_learn.ports.storage.interface import Work
from kiro_learn.retrieval.query.syntax import match_expression
from properties.sqlite_files import with_sqlite
from properties.stories import EVENT_IDS, NAMESPACES

MINE = NAMESPACES[0]
START = datetime(2026, 1, 5, tzinfo=UTC)
TREES = ("oak", "elm", "fir", "ash", "yew", "bay", "fig", "box")
RARE_TO_COMMON = [word for count, word in enumerate(TREES, 1) for _ in range(count)]

FTS5 = """
    SELECT r.record_id, -bm25(records_fts_1) AS score
      FROM records_fts_1 JOIN memory_records AS r ON r.number = records_fts_1.rowid
     WHERE records_fts_1 MATCH ?
     ORDER BY score DESC, r.created_at DESC, r.record_id
     LIMIT ?
"""

some_words = st.one_of(st.lists(st.sampled_from(RARE_TO_COMMON), min_size=1, max_size=6).map(" ".join), st.just("-"))
puts = st.lists(st.tuples(some_words, some_words), min_size=1, max_size=6)
chapters = st.lists(st.one_of(puts, puts, st.sampled_from(["delete", "replace", "undo", "renew"])), max_size=8)
queries = st.lists(st.sampled_from([*RARE_TO_COMMON, "oak-elm", "fig.box"]), min_size=1, max_size=6, unique=True).map(
    " ".join
)


def record(number: int, title: str, summary: str) -> MemoryRecord:
    return MemoryRecord(
        record_id=RecordId(f"mr_{number:026}"),
        namespace=MINE,
        strategy="test",
        title=title,
        summary=summary,
        observation_type=ObservationType.PATTERN,
        source_event_ids=(EVENT_IDS[0],),
        created_at=START + timedelta(minutes=number % 3),
    )


class Story:
    """A namespace that grows and shrinks. ``works`` turns each chapter into works."""

    def __init__(self) -> None:
        self.alive: list[MemoryRecord] = []
        self.replaced: list[tuple[MemoryRecord, MemoryRecord]] = []
        self.count = 0

    def works(self, chapter: Any) -> list[Work[Any]]:
        if not isinstance(chapter, str):
            return [self._put(title, summary) for title, summary in chapter]
        if chapter == "undo":
            return self._undo() if self.replaced else []
        entangled = {each.record_id for pair in self.replaced for each in pair}
        free = [each for each in self.alive if each.record_id not in entangled]
        if not free:
            return []
        self.alive.remove(free[0])
        return self._replace(free[0]) if chapter == "replace" else self._delete(free[0], renew=chapter == "renew")

    def _delete(self, first: MemoryRecord, *, renew: bool) -> list[Work[Any]]:
        """``renew``: put another record of the same length at once."""
        put = [self._put(first.summary, first.title)] if renew else []
        return [lambda tx: tx.delete_memory_record([first.record_id]), *put]

    def _undo(self) -> list[Work[Any]]:
        came, went = self.replaced.pop()
        self.alive[self.alive.index(came)] = went
        return [lambda tx: tx.undo_replacement(came.record_id)]

    def _replace(self, first: MemoryRecord) -> list[Work[Any]]:
        put = self._put("yew", first.title)
        came = self.alive[-1]
        self.replaced.append((came, first))
        replacement = Replacement(
            replacement_id=f"0{self.count:025}",
            namespace=MINE,
            replaced=(first,),
            replacing=(came.record_id,),
            reason=ReplacementReason.MERGED,
            replaced_at=START,
        )
        return [put, lambda tx: tx.replace_memory_records(replacement)]

    def _put(self, title: str, summary: str) -> Work[Any]:
        self.count += 1
        put = record(self.count, title, summary)
        self.alive.append(put)
        return lambda tx: tx.put_memory_record(put)


def neighbor_expression(words: Sequence[str]) -> str:
    """An expression for documents that hold two consecutive ``words`` close together."""
    return " OR ".join(f"NEAR({one} {two}, {NEIGHBOR_DISTANCE})" for one, two in pairwise(words))


def as_fts5_ranks(connection: apsw.Connection, expression: str, limit: int) -> list[tuple[Any, ...]]:
    return connection.execute(FTS5, (expression, limit)).fetchall() if expression else []


def told(ranking: Sequence[Hit]) -> list[tuple[Any, ...]]:
    return [(hit.record_id, hit.score) for hit in ranking]


def has_phrases(query: str) -> bool:
    """Whether a word is a phrase: FTS5 counts the first word of a pair although the phrase is not there."""
    return "-" in query or "." in query


@example(story=[[("-", "-"), ("-", "-")]], asked=["oak"], limit=1)
@example(story=[[("-", "-"), ("-", "-")], "delete", "delete"], asked=["oak"], limit=1)
@given(story=chapters, asked=st.lists(queries, min_size=1, max_size=3), limit=st.integers(1, 6))
def test_words_rank_as_fts5_ranks_them(story: list[Any], asked: list[str], limit: int) -> None:
    async def live(store: SqliteStorage) -> None:
        namespace = Story()
        for chapter in [[("oak", "elm fir")], *story]:
            await store.transact(namespace.works(chapter))
            for query in asked:
                found = await store.rank_by_words(SearchParams(MINE, query, limit, with_neighbors=True))
                words = query.split()
                rank = partial(as_fts5_ranks, expression=match_expression(words), limit=limit)
                assert told(found.hits) == await store.readers.read(rank)
                assert not found.is_index_damaged
                if not has_phrases(query):
                    rank = partial(as_fts5_ranks, expression=neighbor_expression(words), limit=namespace.count)
                    hits = {hit.record_id for hit in found.hits}
                    near = [pair for pair in await store.readers.read(rank) if pair[0] in hits]
                    assert told(found.neighbors) == near

    with_sqlite(live)
