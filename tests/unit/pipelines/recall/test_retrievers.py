"""The finder knows retrievers by their contract only."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import attrs

from kiro_learn.config import RecallConfig
from kiro_learn.errors import StorageError
from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Hit, Ranking, SearchMode
from kiro_learn.pipelines.recall.finder import Finder, Findings
from kiro_learn.pipelines.recall.retrievers import Retriever, RetrieverAnswer, RetrieverKind, RetrieverQuery
from kiro_learn.pipelines.stopwatch import Stopwatch
from kiro_learn.retrieval.query.question import Query
from kiro_learn.testing.daemon import NAMESPACE
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage


@attrs.frozen
class Listed:
    hits: tuple[Hit, ...] = ()


@attrs.frozen
class Shelf:
    """A retriever that finds the record it was given, or fails."""

    kind: RetrieverKind
    found: str | None

    def can_answer(self, query: Query) -> bool:
        return bool(query.words)

    async def ask(self, query: RetrieverQuery) -> RetrieverAnswer:
        if self.found is None:
            raise StorageError("it is locked")
        hits = tuple(Hit(RecordId(name), datetime(2026, 1, 5, tzinfo=UTC), 1.0) for name in self.found)
        return RetrieverAnswer(Listed(hits[: query.depth]), "there may be more" if len(self.found) > 2 else None)


def findings(*retrievers: Retriever, query: str = "why") -> Findings:
    finder = Finder(retrievers, InMemoryStorage(), RecallConfig(fusion="rrf"))
    return simulate(
        lambda: finder.find(NAMESPACE, Query.of_text(query), limit=9, patience_seconds=1.0, stopwatch=Stopwatch())
    )


def found(hits: Sequence[Hit]) -> str:
    return "".join(hit.record_id for hit in hits)


def first(names: str | None) -> Shelf:
    return Shelf(RetrieverKind(Ranking.WORDS, "first", SearchMode.LEXICAL, Listed()), names)


def second(names: str | None) -> Shelf:
    return Shelf(RetrieverKind(Ranking.MEANING, "second", SearchMode.SEMANTIC, Listed()), names)


def test_what_each_finds_is_fused_and_kept_by_its_name() -> None:
    told = findings(first("ab"), second("b"))
    assert found(told.hits) == "ba"
    assert {name: found(each.hits) for name, each in told.evidence.items()} == {"words": "ab", "meaning": "b"}
    assert (told.asked, told.degraded) == ((Ranking.WORDS, Ranking.MEANING), ())


def test_one_that_cannot_answer_is_left_out_and_says_why() -> None:
    told = findings(first("ab"), second(None))
    assert found(told.hits) == "ab"
    assert told.degraded == ("second: it is locked",)


def test_one_that_found_a_part_says_that_there_may_be_more() -> None:
    assert findings(first("abc"), second("b")).degraded == ("there may be more",)


def test_a_mode_asks_its_own_retriever_alone() -> None:
    finder = Finder((first("ab"), second("c")), InMemoryStorage(), RecallConfig())
    query, mode = Query.of_text("why"), SearchMode.SEMANTIC
    told = simulate(lambda: finder.rank(NAMESPACE, query, depth=9, mode=mode, patience_seconds=1.0))
    assert (found(told.evidence[Ranking.MEANING].hits), told.asked) == ("c", (Ranking.MEANING,))


def test_one_that_has_nothing_to_look_for_is_not_asked() -> None:
    assert findings(first("ab"), second("c"), query="").asked == ()
