from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import pytest
import trio

from kiro_learn.config import Config, EmbeddingConfig
from kiro_learn.errors import EmbeddingError, StorageBusy
from kiro_learn.model.event import TextBody
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import embedded_text
from kiro_learn.model.retrieval import Hit, RankingFeatures, SearchMode
from kiro_learn.model.vectors import Matrix
from kiro_learn.pipelines.recall import finder
from kiro_learn.pipelines.recall.finder import Findings
from kiro_learn.pipelines.stopwatch import Stopwatch
from kiro_learn.retrieval.query.question import Query
from kiro_learn.retrieval.ranking.calibrated import vectors_of
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event, simulated_daemon
from kiro_learn.testing.models import WINDOW_WORDS, HashEmbedder, further_windows, hashed_words
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage

QUERY = "the parser drops a token"


class WithoutRankingFeatures(InMemoryStorage):
    """A store whose ranking features come late or cannot be read."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self._how = how

    async def get_ranking_features(self, record_ids: Sequence[RecordId]) -> dict[RecordId, RankingFeatures]:
        if self._how == "late":
            await trio.sleep(3600)
        if self._how == "busy":
            raise StorageBusy("another process holds the lock")
        return await super().get_ranking_features(record_ids)


def found(how: str, mode: SearchMode | None = None) -> Findings:
    """The findings by both rankings, or by the ranking of ``mode`` alone."""

    async def scenario() -> Findings:
        async with simulated_daemon(storage=WithoutRankingFeatures(how)) as services:
            for number in range(3):
                await services.capture.take(an_event(number, text=QUERY))
            await trio.sleep(60)
            finder, query = services.recall.finder, Query.of_text(QUERY)
            if mode is not None:
                return await finder.rank(NAMESPACE, query, depth=5, mode=mode, patience_seconds=0.4)
            return await finder.find(NAMESPACE, query, limit=5, patience_seconds=0.4, stopwatch=Stopwatch())

    findings: Findings = simulate(scenario)
    return findings


@pytest.mark.parametrize("how", ["late", "busy"])
def test_records_are_found_without_their_ranking_features_and_it_is_said(how: str) -> None:
    findings = found(how)
    assert {hit.record_id for hit in findings.hits} == {hit.record_id for hit in found("at hand").hits}
    assert [reason.partition(":")[0] for reason in findings.degraded] == ["features"]


class Watched(InMemoryStorage):
    """Notes when features are read. A search by words takes ``words_seconds``; the n-th reading has the n-th fate."""

    def __init__(self, words_seconds: float = 0.0, *fates: str) -> None:
        super().__init__()
        self.words_seconds = words_seconds
        self._fates = list(fates)
        self.asked: list[tuple[float, set[RecordId]]] = []

    async def get_ranking_features(self, record_ids: Sequence[RecordId]) -> dict[RecordId, RankingFeatures]:
        assert len(record_ids) == len(set(record_ids))
        self.asked.append((trio.current_time(), set(record_ids)))
        fate = self._fates.pop(0) if self._fates else "well"
        if fate == "late":
            await trio.sleep(3600)
        if fate == "busy":
            raise StorageBusy("another process holds the lock")
        return await super().get_ranking_features(record_ids)


class Timed(HashEmbedder):
    """An embedder that takes ``seconds``, then answers or fails."""

    seconds = 0.0
    fails = False

    async def embed(self, texts: Sequence[str]) -> Matrix:
        await trio.sleep(self.seconds)
        if self.fails:
            raise EmbeddingError("out of sorts")
        return await super().embed(texts)


@attrs.frozen
class Told:
    findings: Findings
    asked: list[tuple[float, set[RecordId]]]
    """Each reading of features: its time in seconds since the search began, and the records."""
    seconds: float
    stages_ms: dict[str, float]


def asked_of(storage: Watched, *, embed_seconds: float = 0.0, fails: bool = False) -> Told:
    """A search that finds one record by words, and by its vector another one that has none of the words."""
    model = Timed()

    async def scenario() -> Told:
        async with simulated_daemon(storage=storage, model=model) as services:
            await services.remember.put(a_record(1, "The parser drops", "a token"))
            await services.remember.put(a_record(2, "Colours", "dark red on light grey"))
            await trio.sleep(60)
            storage.asked.clear()
            model.seconds, model.fails = embed_seconds, fails
            began, stopwatch = trio.current_time(), Stopwatch()
            findings = await services.recall.finder.find(
                NAMESPACE,
                Query.of_text("parser token"),
                limit=5,
                patience_seconds=0.4,
                stopwatch=stopwatch,
            )
            asked = [(round(at - began, 3), record_ids) for at, record_ids in storage.asked]
            return Told(findings, asked, trio.current_time() - began, stopwatch.stages_ms)

    told: Told = simulate(scenario)
    return told


def test_texts_of_what_the_words_find_are_read_while_the_vectors_are_awaited() -> None:
    told = asked_of(Watched(), embed_seconds=0.2)
    first, second = a_record(1).record_id, a_record(2).record_id
    assert told.asked == [(0.0, {first}), (0.2, {second})]
    assert told.findings.degraded == ()
    assert "features" in told.stages_ms


def test_texts_of_what_the_vectors_find_are_read_while_the_words_are_awaited() -> None:
    told = asked_of(Watched(0.2))
    assert told.asked == [(0.0, {a_record(1).record_id, a_record(2).record_id})]
    assert told.findings.degraded == ()


@pytest.mark.parametrize("fates", [("busy", "well"), ("well", "busy"), ("late", "well"), ("well", "late")])
def test_without_some_of_the_texts_hits_are_weighed_without_any(fates: tuple[str, str]) -> None:
    """Otherwise a record would rank higher only because its text was read."""
    told = asked_of(Watched(0.0, *fates), embed_seconds=0.1)
    without = asked_of(Watched(0.0, "busy", "busy"), embed_seconds=0.1)
    assert told.findings.hits == without.findings.hits
    assert [reason.partition(":")[0] for reason in told.findings.degraded] == ["features"]


def test_no_answer_waits_for_texts_that_are_not_weighed() -> None:
    """The vectors fail before the features of the hits by words are read, which are then no longer needed."""
    told = asked_of(Watched(0.0, "late"), embed_seconds=0.1, fails=True)
    assert len(told.asked) == 1
    assert told.seconds == pytest.approx(0.1)
    assert told.findings.degraded == ("vectors: out of sorts",)
    assert "features" not in told.stages_ms


def test_what_only_the_end_of_a_long_record_says_is_found_by_meaning() -> None:
    """The whole way: a record is embedded in parts, stored, and ranked by its best part as well as by its whole."""
    filler = " ".join(f"w{number}" for number in range(WINDOW_WORDS))
    long = a_record(1, "Minutes", f"{filler} {QUERY}")
    whole, window = (
        float(hashed_words(text) @ hashed_words(QUERY))
        for text in (embedded_text(long), *further_windows(embedded_text(long)))
    )

    async def scenario() -> Findings:
        async with simulated_daemon() as services:
            await services.remember.put(long)
            await services.remember.put(
                a_record(2, "Colours of the parser", "dark red on light grey, but never blue or green text")
            )
            await trio.sleep(60)
            return await services.recall.finder.rank(
                NAMESPACE, Query.of_text(QUERY), depth=5, mode=SearchMode.SEMANTIC, patience_seconds=0.4
            )

    (first, second) = vectors_of(simulate(scenario).evidence).hits
    assert first.record_id == long.record_id
    assert first.score == pytest.approx((whole + window) / 2, abs=1e-6)
    assert window > second.score > whole


@pytest.mark.parametrize("mode", [SearchMode.LEXICAL, SearchMode.SEMANTIC])
def test_one_ranking_alone_needs_no_ranking_features(mode: SearchMode) -> None:
    assert found("busy", mode).degraded == ()


class Unsound(HashEmbedder):
    """An embedder that returns NaN for texts with the word "unsound"."""

    async def embed(self, texts: Sequence[str]) -> Matrix:
        vectors = await super().embed(texts)
        vectors[["unsound" in text for text in texts]] = np.nan
        return vectors


def told_by(query: str) -> tuple[list[str], tuple[str, ...]]:
    """The ids of the memories shown, out of three of which one is unsound, and the degraded stages."""

    async def scenario() -> tuple[list[str], tuple[str, ...]]:
        async with simulated_daemon(model=Unsound()) as services:
            for number, text in enumerate(("drops a token", "drops an unsound token", "drops a token too")):
                await services.remember.put(a_record(number, "The parser", text))
            await trio.sleep(60)
            told = await services.recall.answer(NAMESPACE, TextBody(query))
            return sorted(told.record_ids), told.degraded

    return simulate(scenario)


def test_a_vector_without_direction_costs_the_others_nothing() -> None:
    found, degraded = told_by("the parser drops a token")
    assert {a_record(0).record_id, a_record(2).record_id} <= set(found)
    assert degraded == ()


def test_a_query_without_direction_is_answered_by_words_and_it_is_said() -> None:
    found, degraded = told_by("the unsound parser drops a token")
    assert a_record(1).record_id in found
    assert degraded == ("vectors: the embedding model made a vector of no direction",)


def test_rankings_that_cannot_be_weighed_leave_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def overflow(*_: object, **__: object) -> tuple[Hit, ...]:
        raise FloatingPointError

    plain = found("at hand", SearchMode.LEXICAL)
    monkeypatch.setattr(finder, "fuse_calibrated", overflow)
    findings = found("at hand")
    assert findings.hits == plain.hits
    assert vectors_of(findings.evidence).standings is None, "so the floor is the one for words"
    assert findings.degraded == ("fusion: FloatingPointError",)


@pytest.mark.parametrize("query", [QUERY, ""])
def test_by_meaning_alone_nothing_can_be_searched_while_embedding_is_off(query: str) -> None:
    """An empty list would mean that nothing is remembered."""

    async def scenario() -> None:
        config = Config(embedding=EmbeddingConfig(enabled=False))
        async with simulated_daemon(config=config) as services:
            await services.search.search(NAMESPACE, query, limit=5)
            with pytest.raises(EmbeddingError, match=r"\[embedding\] enabled is false"):
                await services.search.search(NAMESPACE, query, limit=5, mode=SearchMode.SEMANTIC)

    simulate(scenario)
