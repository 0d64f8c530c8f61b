"""One search in every mode: its order is explained, and a filter only removes records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs
import pytest
import trio

from kiro_learn.config import Config, RecallConfig
from kiro_learn.errors import EmbeddingError
from kiro_learn.model.namespace import namespace_of
from kiro_learn.model.record import MemoryRecord, RecordFilter
from kiro_learn.model.retrieval import Ranking, SearchMode
from kiro_learn.model.vectors import Matrix
from kiro_learn.pipelines.recall import finder
from kiro_learn.retrieval.ranking import calibrated
from kiro_learn.services.placing import Wanted
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record
from kiro_learn.testing.models import HashEmbedder
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.services.in_daemon import in_daemon

OTHERS = tuple(namespace_of("ada", letter * 64) for letter in "bcd")
QUERY = "zebra stripes"


@pytest.fixture
def _shallow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make rankings shallow, so that a few records are more than a ranking examines."""
    monkeypatch.setattr(calibrated, "LEAST_DEPTH", 3)
    monkeypatch.setattr(calibrated, "DEPTH_MULTIPLIER", 1)


async def remember(services: Services, *records: MemoryRecord) -> None:
    await services.remember.put_all(list(records))
    await services.learn.backfill()


def zebras(count: int) -> list[MemoryRecord]:
    return [a_record(number, f"zebra {number}", "stripes " * (number % 7 + 1)) for number in range(count)]


@pytest.mark.parametrize("fusion", ["calibrated", "rrf"])
def test_the_score_of_either_fusion_is_the_sum_of_its_parts(fusion: Literal["calibrated", "rrf"]) -> None:
    async def scenario(services: Services) -> None:
        await remember(services, *zebras(9))
        found = await services.search.search(NAMESPACE, QUERY, limit=5)
        assert len(found.memories) == 5
        for each in found.memories:
            assert sum(each.parts.values()) == pytest.approx(each.score)
            assert {"words", "meaning"} <= each.parts.keys()

    in_daemon(scenario, config=Config(recall=RecallConfig(fusion=fusion)))


@pytest.mark.parametrize("fusion", ["calibrated", "rrf"])
def test_where_nothing_could_be_weighed_the_words_are_the_whole_score(
    fusion: Literal["calibrated", "rrf"], monkeypatch: pytest.MonkeyPatch
) -> None:
    def overflow(*_: object, **__: object) -> None:
        raise FloatingPointError

    async def scenario(services: Services) -> None:
        await remember(services, *zebras(3))
        monkeypatch.setattr(finder, "fuse_calibrated", overflow)
        monkeypatch.setattr(finder, "fuse", overflow)
        found = await services.search.search(NAMESPACE, QUERY, limit=5)
        assert found.degraded == ("fusion: FloatingPointError",)
        assert [each.parts for each in found.memories] == [{"words": each.score} for each in found.memories]

    in_daemon(scenario, config=Config(recall=RecallConfig(fusion=fusion)))


@pytest.mark.usefixtures("_shallow")
@pytest.mark.parametrize("mode", SearchMode)
@pytest.mark.parametrize("by_signals", [False, True])
def test_what_fits_is_found_however_many_others_fit_the_query_better(mode: SearchMode, *, by_signals: bool) -> None:
    rare = attrs.evolve(
        a_record(500, "Widgets", f"a long text about something else with one {QUERY} in the midst of it"),
        concepts=("rare",),
    )

    async def scenario(services: Services) -> None:
        await remember(services, rare, *zebras(12))
        for limit in (1, 2):
            wanted = Wanted(limit=limit, mode=mode, filter=RecordFilter(concept="rare"), by_signals=by_signals)
            found = await services.search.among([NAMESPACE], QUERY, wanted)
            assert found.records == (rare,)

    in_daemon(scenario)


@pytest.mark.parametrize("mode", SearchMode)
@pytest.mark.parametrize("by_signals", [False, True])
def test_a_page_is_cut_from_the_whole_order(mode: SearchMode, *, by_signals: bool) -> None:
    async def scenario(services: Services) -> None:
        await remember(services, *zebras(12))
        wanted = Wanted(limit=12, mode=mode, by_signals=by_signals)
        whole = await services.search.among([NAMESPACE], QUERY, wanted)
        page = await services.search.among([NAMESPACE], QUERY, attrs.evolve(wanted, limit=4, offset=3))
        assert page.records == whole.records[3:7]

    in_daemon(scenario)


class Counting(HashEmbedder):
    """An embedder that counts the texts it embeds."""

    count = 0

    async def embed(self, texts: Sequence[str]) -> Matrix:
        self.count += len(texts)
        return await super().embed(texts)


class Late(HashEmbedder):
    """An embedder that takes ``seconds``."""

    seconds = 0.0

    async def embed(self, texts: Sequence[str]) -> Matrix:
        await trio.sleep(self.seconds)
        return await super().embed(texts)


@pytest.mark.usefixtures("_shallow")
def test_a_query_is_embedded_once_for_all_projects_and_depths() -> None:
    model = Counting()

    async def scenario(services: Services) -> None:
        projects = (NAMESPACE, *OTHERS)
        for place, namespace in enumerate(projects):
            await remember(services, *(a_record(place * 9 + each, "zebra", namespace=namespace) for each in range(5)))
        before = model.count
        wanted = Wanted(limit=2, filter=RecordFilter(concept="rare"))
        assert (await services.search.among(projects, QUERY, wanted)).records == ()
        assert model.count == before + 1

    in_daemon(scenario, model=model)


def test_of_several_projects_the_best_of_each_come_first() -> None:
    async def scenario(services: Services) -> None:
        for place, namespace in enumerate((NAMESPACE, OTHERS[0])):
            await remember(services, *(a_record(place * 9 + each, "zebra", namespace=namespace) for each in range(3)))
        found = await services.search.among([NAMESPACE, OTHERS[0]], QUERY, Wanted(limit=4))
        assert [each.namespace for each in found.records] == [NAMESPACE, OTHERS[0]] * 2
        assert all(each.found_by == (Ranking.WORDS, Ranking.MEANING) for each in found.memories)

    in_daemon(scenario)


@pytest.mark.parametrize("by_signals", [False, True])
def test_words_that_are_late_leave_what_the_meaning_found(*, by_signals: bool) -> None:
    storage = InMemoryStorage()

    async def scenario(services: Services) -> None:
        await remember(services, *zebras(3))
        storage.words_seconds = 100
        began = trio.current_time()
        found = await services.search.among([NAMESPACE], QUERY, Wanted(limit=3, by_signals=by_signals))
        assert (len(found.records), found.degraded) == (3, ("words: late",))
        assert trio.current_time() - began == pytest.approx(5)
        with pytest.raises(trio.TooSlowError):
            await services.search.search(NAMESPACE, QUERY, limit=3, mode=SearchMode.LEXICAL)

    in_daemon(scenario, storage=storage)


def test_a_vector_that_is_late_leaves_the_words() -> None:
    model = Late()

    async def scenario(services: Services) -> None:
        await remember(services, *zebras(3))
        model.seconds, began = 100, trio.current_time()
        found = await services.search.search(NAMESPACE, QUERY, limit=3)
        assert (len(found.records), found.degraded) == (3, ("vectors: late",))
        assert trio.current_time() - began == pytest.approx(2)
        with pytest.raises(EmbeddingError, match="vectors: late"):
            await services.search.search(NAMESPACE, QUERY, limit=3, mode=SearchMode.SEMANTIC)

    in_daemon(scenario, model=model)
