"""Results explain their rank, and a search of one project stays in it."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import attrs
import pytest
import trio

from kiro_learn.config import Config, EmbeddingConfig, SearchConfig
from kiro_learn.errors import EmbeddingError, InvalidRequest, QuerySyntaxError
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import namespace_of
from kiro_learn.model.observation import KnowledgeItem, Observation
from kiro_learn.model.record import KnowledgeType, RecordFilter
from kiro_learn.model.retrieval import Ranking, SearchMode
from kiro_learn.ports.storage.records import SyntaxRanking, SyntaxSearch
from kiro_learn.services.placing import Wanted
from kiro_learn.services.search import FEW_WORDS, LONG_SEARCHES_AT_ONCE, Found
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import a_record
from kiro_learn.testing.models import HashEmbedder
from kiro_learn.testing.simulation import EPOCH
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.services.in_daemon import in_daemon


async def observe(services: Services, title: str, text: str = "", **values: Any) -> RecordId:
    observation = Observation(**{"project": "my-api", "title": title, "text": text} | values)
    return (await services.observe.observe(observation)).record_id


async def of_last_week(services: Services, title: str, summary: str) -> RecordId:
    namespace = namespace_of("ada", "my-api")
    record = attrs.evolve(a_record(1, title, summary, namespace=namespace), created_at=EPOCH - timedelta(days=7))
    await services.remember.put(record)
    return record.record_id


async def learn(services: Services, title: str, content: str) -> RecordId:
    item = KnowledgeItem(project="my-api", knowledge_type=KnowledgeType.DECISION, title=title, content=content)
    return (await services.observe.add_knowledge(item)).record_id


async def by_name(
    services: Services, project: str, query: str, *, across_projects: bool = False, **wanted: Any
) -> Found:
    asked = Wanted(**wanted, by_signals=True)
    return (await services.project_search.by_name(project, query, asked, across_projects=across_projects)).found


WORDS, MEANING = (Ranking.WORDS,), (Ranking.MEANING,)

by_syntax = partial(by_name, mode=SearchMode.SYNTAX)
by_meaning = partial(by_name, mode=SearchMode.SEMANTIC)
hybrid = partial(by_name, mode=SearchMode.HYBRID)


def known(signal: float | None) -> float:
    assert signal is not None
    return signal


def test_syntax_finds_in_columns_by_phrases_and_prefixes() -> None:
    async def scenario(services: Services) -> None:
        titled = await observe(services, "Authentication", "middleware")
        other = await observe(services, "Middleware", "authentication with a JWT token")
        for query, expected in (
            ("authentication", {titled, other}),
            ("title:auth*", {titled}),
            ('"JWT token"', {other}),
            ("authentication NOT jwt", {titled}),
            ("text:middleware OR narrative:token", {titled, other}),
        ):
            found = await by_syntax(services, "my-api", query, limit=9)
            assert {each.record.record_id for each in found.memories} == expected, query
        first = (await by_syntax(services, "my-api", "authentication", limit=1)).memories[0]
        assert (first.found_by, first.signals.fts5, first.score > 0) == (WORDS, 1.0, True)

    in_daemon(scenario)


def test_syntax_search_keeps_to_type_and_dates() -> None:
    async def scenario(services: Services) -> None:
        read = await observe(services, "zebra one", type="file-read")
        await trio.sleep(100)
        written = await observe(services, "zebra two", type="file-write")
        decided = await learn(services, "zebra three", "we decided")
        middle = EPOCH + timedelta(seconds=50)
        for wanted, expected in (
            (RecordFilter(types=("file-write",)), {written}),
            (RecordFilter(types=("decision",)), {decided}),
            (RecordFilter(since=middle), {written, decided}),
            (RecordFilter(until=middle), {read}),
        ):
            for found in (
                await by_syntax(services, "my-api", "zebra", limit=9, filter=wanted),
                await by_syntax(services, "my-api", "zebra (", limit=9, filter=wanted, is_lenient=True),
                await hybrid(services, "my-api", "zebra", limit=9, filter=wanted),
            ):
                assert {each.record.record_id for each in found.memories} == expected

    in_daemon(scenario)


def test_a_query_that_does_not_parse_is_refused_or_looked_up_as_words() -> None:
    async def scenario(services: Services) -> None:
        known = await observe(services, "zebra")
        with pytest.raises(QuerySyntaxError):
            await by_syntax(services, "my-api", "zebra AND (", limit=9)
        found = await by_syntax(services, "my-api", "zebra AND (", limit=9, is_lenient=True)
        assert [each.record.record_id for each in found.memories] == [known]
        assert found.problem is not None
        assert found.problem.position == 11

    in_daemon(scenario)


def test_a_lenient_question_that_no_record_holds_whole_finds_those_with_some_of_its_words() -> None:
    async def scenario(services: Services) -> None:
        known = await observe(services, "zebra")
        for query, is_lenient, expected in (
            ("where is the zebra?", True, [known]),
            ("where is the zebra?", False, []),
            ("giraffe AND zebra", True, []),
            ('"grey zebra"', True, []),
            ("zebraf*", True, []),
        ):
            found = await by_syntax(services, "my-api", query, limit=9, is_lenient=is_lenient)
            assert [each.record.record_id for each in found.memories] == expected, query
            assert found.problem is None

    in_daemon(scenario)


def test_with_a_damaged_index_syntax_search_finds_by_words_and_says_so() -> None:
    storage = InMemoryStorage()

    async def scenario(services: Services) -> None:
        known = await observe(services, "zebra")
        storage.damage_words((await services.queries.record(known)).namespace)
        found = await by_syntax(services, "my-api", "zebra*", limit=9)
        assert [each.record.record_id for each in found.memories] == [known]
        assert found.degraded

    in_daemon(scenario, storage=storage)


def test_a_search_that_takes_too_long_is_given_up() -> None:
    storage = InMemoryStorage()
    storage.words_seconds = 100

    async def scenario(services: Services) -> None:
        await observe(services, "zebra")
        with pytest.raises(trio.TooSlowError):
            await hybrid(services, "my-api", "zebra", limit=9)

    in_daemon(scenario, storage=storage)


def test_a_hybrid_result_is_the_weighted_mean_of_its_signals() -> None:
    async def scenario(services: Services) -> None:
        both = await of_last_week(services, "zebra crossing", "stripes")
        await observe(services, "unrelated", "words")
        await trio.sleep(10)
        found = await hybrid(services, "my-api", "zebra crossing", limit=9)
        best = found.memories[0]
        signals = best.signals
        assert (best.record.record_id, best.found_by) == (both, WORDS + MEANING)
        assert signals.recency == pytest.approx(0.5, abs=1e-3)
        assert signals.project_match == 1.0
        semantic, fts5 = known(signals.semantic), known(signals.fts5)
        assert 0 < semantic <= 1
        assert 0 < fts5 <= 1
        expected = 0.45 * semantic + 0.35 * fts5 + 0.10 * signals.recency + 0.10
        assert best.score == pytest.approx(expected)

    in_daemon(scenario)


def test_a_record_that_only_the_words_found_has_its_cosine_too() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "zebra", " ".join(f"word{number}" for number in range(60)))
        for number in range(250):
            await observe(services, f"crossing crossing {number}")
        await trio.sleep(1_000)
        found = await hybrid(services, "my-api", "zebra crossing", limit=100)
        assert all(known(each.signals.semantic) > 0 for each in found.memories)

    in_daemon(scenario)


def test_knowledge_counts_three_times() -> None:
    async def scenario(services: Services) -> None:
        decided = await learn(services, "about zebras", "zebra stripes")
        seen = await observe(services, "zebra", "zebra")
        await trio.sleep(10)
        first, second = (hit for hit in (await hybrid(services, "my-api", "zebra", limit=2)).memories)
        assert (first.record.record_id, second.record.record_id) == (decided, seen)
        signals = first.signals
        base = 0.45 * known(signals.semantic) + 0.35 * known(signals.fts5) + 0.10 * signals.recency + 0.10
        assert first.score == pytest.approx(3 * base)

    in_daemon(scenario)


def test_other_projects_are_searched_only_when_asked_and_count_half() -> None:
    async def scenario(services: Services) -> None:
        mine = await observe(services, "zebra", "here")
        theirs = await observe(services, "zebra", "there", project="/home/ada/shop")
        await observe(services, "zebra", "elsewhere", project="/actor/bob/project/x/")
        await trio.sleep(100)
        alone = await hybrid(services, "my-api", "zebra", limit=9)
        assert [each.record.record_id for each in alone.memories] == [mine]
        across = await hybrid(services, "my-api", "zebra", limit=9, across_projects=True)
        found = {each.record.record_id: each for each in across.memories}
        assert found.keys() == {mine, theirs}
        assert (found[mine].signals.project_match, found[theirs].signals.project_match) == (1.0, 0.5)

    in_daemon(scenario)


def test_meaning_finds_from_a_threshold_on_over_all_vectors() -> None:
    async def scenario(services: Services) -> None:
        oldest = await observe(services, "zebra crossing")
        for number in range(300):
            await observe(services, f"other{number} thing{number}")
        await trio.sleep(1_000)
        found = await by_meaning(services, "my-api", "zebra crossing", limit=5)
        assert found.memories[0].record.record_id == oldest
        assert all(each.score >= 0.3 for each in found.memories)
        assert found.memories[0].score == pytest.approx(found.memories[0].signals.semantic, abs=1e-6)
        everything = await by_meaning(services, "my-api", "zebra crossing", limit=100, least_cosine=-1)
        assert len(everything.memories) == 100
        assert everything.memories[0].found_by == MEANING

    in_daemon(scenario)


def test_without_vectors_hybrid_says_so_and_meaning_refuses() -> None:
    async def scenario(services: Services) -> None:
        known = await observe(services, "zebra")
        found = await hybrid(services, "my-api", "zebra", limit=5)
        assert [(each.record.record_id, each.found_by) for each in found.memories] == [(known, WORDS)]
        with pytest.raises(EmbeddingError):
            await by_meaning(services, "my-api", "zebra", limit=5)

    in_daemon(scenario, config=Config(embedding=EmbeddingConfig(enabled=False)))


def test_a_model_that_fails_leaves_the_words() -> None:
    model = HashEmbedder()

    async def scenario(services: Services) -> None:
        known = await observe(services, "zebra")
        await trio.sleep(100)
        model.fail_next = EmbeddingError("broken")
        found = await hybrid(services, "my-api", "zebra", limit=5)
        assert [each.record.record_id for each in found.memories] == [known]
        assert any(reason.startswith("vectors") for reason in found.degraded)

    in_daemon(scenario, model=model)


def test_weights_are_settings() -> None:
    weights = SearchConfig(semantic_weight=0, fts5_weight=0, recency_weight=1, project_weight=0)

    async def scenario(services: Services) -> None:
        await of_last_week(services, "zebra zebra zebra", "zebra")
        newer = await observe(services, "a zebra among many other words")
        found = await hybrid(services, "my-api", "zebra", limit=5)
        assert found.memories[0].record.record_id == newer
        assert found.memories[0].score == pytest.approx(1.0, abs=1e-3)

    in_daemon(scenario, config=Config(search=weights))


def test_a_project_is_named_in_several_ways() -> None:
    async def scenario(services: Services) -> None:
        known = await observe(services, "zebra", project="/home/ada/shop")
        (project,) = await services.project_names.projects()
        for name in ("shop", "/home/ada/shop", project.project_id, project.namespace):
            found = await by_syntax(services, name, "zebra", limit=5)
            assert [each.record.record_id for each in found.memories] == [known], name
        await observe(services, "zebra", project="/home/bea/shop")
        await trio.sleep(60)
        with pytest.raises(InvalidRequest, match="several projects are called shop"):
            await by_syntax(services, "shop", "zebra", limit=5)
        found = await by_syntax(services, "/home/ada/unknown", "zebra", limit=5)
        assert found.memories == ()

    in_daemon(scenario)


def test_a_type_is_found_however_many_records_of_other_types_fit_better() -> None:
    async def scenario(services: Services) -> None:
        decided = await learn(
            services, "Widgets", "a long text, about something else, with one zebra in the midst of it"
        )
        for number in range(120):
            await observe(services, f"zebra {number}", f"zebra zebra {number}", type="file-write")
        wanted = RecordFilter(types=("decision",))
        for found in (
            await hybrid(services, "my-api", "zebra", limit=9, filter=wanted),
            await by_syntax(services, "my-api", "zebra (", limit=9, filter=wanted, is_lenient=True),
        ):
            assert [each.record.record_id for each in found.memories] == [decided]

    in_daemon(scenario)


def test_a_filter_changes_no_score() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "zebra", type="file-write")
        read = await observe(services, "a zebra and other animals of the plains", type="file-read")
        await services.learn.backfill()
        scores = []
        for wanted in (RecordFilter(), RecordFilter(types=("file-read",))):
            found = await hybrid(services, "my-api", "zebra", limit=9, filter=wanted)
            scores += [each.score for each in found.memories if each.record.record_id == read]
        assert scores == pytest.approx([scores[0]] * 2)

    in_daemon(scenario)


class CountingStorage(InMemoryStorage):
    """A store that notes the most searches by syntax at a time; each takes a second."""

    now = most = 0

    async def search_syntax(self, search: SyntaxSearch) -> SyntaxRanking:
        self.now += 1
        self.most = max(self.most, self.now)
        await trio.sleep(1)
        self.now -= 1
        return await super().search_syntax(search)


@pytest.mark.parametrize(("words", "at_once"), [(FEW_WORDS, 6), (FEW_WORDS + 1, LONG_SEARCHES_AT_ONCE)])
def test_long_searches_by_syntax_leave_the_store_to_others(words: int, at_once: int) -> None:
    storage = CountingStorage()

    async def scenario(services: Services) -> None:
        await observe(services, "zebra")
        async with trio.open_nursery() as nursery:
            for _ in range(6):
                nursery.start_soon(lambda: by_syntax(services, "my-api", "z* " * words, limit=9))
        assert storage.most == at_once

    in_daemon(scenario, storage=storage)


async def searches(services: Services, query: str, **wanted: Any) -> dict[str, Found]:
    """The results of each of the three searches."""
    return {
        "syntax": await by_syntax(services, "my-api", query, **wanted),
        "meaning": await by_meaning(services, "my-api", query, **wanted, least_cosine=-1),
        "hybrid": await hybrid(services, "my-api", query, **wanted),
    }


def ids(found: Found) -> list[RecordId]:
    return [each.record.record_id for each in found.memories]


def test_each_search_keeps_to_types_and_dates() -> None:
    async def scenario(services: Services) -> None:
        read = await observe(services, "zebra one", type="file-read")
        await trio.sleep(100)
        written = await observe(services, "zebra two", type="file-write")
        decided = await learn(services, "zebra three", "we decided")
        await services.learn.backfill()
        middle = EPOCH + timedelta(seconds=50)
        for wanted, expected in (
            (RecordFilter(types=("file-write", "decision")), {written, decided}),
            (RecordFilter(types=("file-read",), since=middle), set()),
            (RecordFilter(since=middle), {written, decided}),
            (RecordFilter(until=middle), {read}),
        ):
            for name, found in (await searches(services, "zebra", limit=9, filter=wanted)).items():
                assert set(ids(found)) == expected, name

    in_daemon(scenario)


def test_each_search_passes_over_as_many_of_the_best_as_its_offset_says() -> None:
    async def scenario(services: Services) -> None:
        for number in range(7):
            await observe(services, f"zebra {number}", "stripes " * number)
        await services.learn.backfill()
        whole = await searches(services, "zebra", limit=7)
        for offset in (0, 3, 6, 7, 1_000_000):
            for name, found in (await searches(services, "zebra", limit=3, offset=offset)).items():
                assert ids(found) == ids(whole[name])[offset : offset + 3], name

    in_daemon(scenario)


def test_each_search_asks_other_projects_if_told_so() -> None:
    async def scenario(services: Services) -> None:
        mine = [await observe(services, f"zebra {number}") for number in range(2)]
        theirs = [await observe(services, f"zebra {number}", project="/home/ada/shop") for number in range(2)]
        await observe(services, "zebra", project="/actor/bob/project/x/")
        await services.learn.backfill()
        for name, found in (await searches(services, "zebra", limit=9, across_projects=True)).items():
            assert set(ids(found)) == {*mine, *theirs}, name
            if name == "syntax":  # the scores of two projects cannot be compared
                assert [each.record.record_id in mine for each in found.memories] == [True, False] * 2

    in_daemon(scenario)


def test_a_record_has_the_same_signals_in_each_search() -> None:
    async def scenario(services: Services) -> None:
        for number in range(5):
            await observe(services, f"zebra crossing {number}", "stripes " * number)
            await observe(services, f"crossing {number}", "words " * number)
        await services.learn.backfill()
        known_signals: dict[tuple[RecordId, str], float] = {}
        compared = 0
        for name, found in (await searches(services, "zebra crossing", limit=9)).items():
            for each in found.memories:
                for signal, value in attrs.asdict(each.signals).items():
                    if value is not None:
                        place = (each.record.record_id, signal)
                        compared += place in known_signals
                        assert known_signals.setdefault(place, value) == pytest.approx(value, abs=1e-9), (name, signal)
        assert compared >= 30

    in_daemon(scenario)


def test_signals_that_were_not_computed_are_not_known() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "zebra crossing")
        await services.learn.backfill()
        found = await searches(services, "zebra", limit=9)
        assert found["syntax"].memories[0].signals.semantic is None
        assert known(found["syntax"].memories[0].signals.fts5) > 0
        assert known(found["meaning"].memories[0].signals.fts5) > 0
        expression = await by_syntax(services, "my-api", "zeb*", limit=9)
        assert expression.memories[0].signals.fts5 is None

    in_daemon(scenario)


def test_with_embedding_off_hybrid_says_what_is_missing_and_knows_no_nearness() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "zebra")
        found = await hybrid(services, "my-api", "zebra", limit=5)
        assert found.degraded == ("vectors: [embedding] enabled is false",)
        assert found.memories[0].signals.semantic is None
        namespace = (await services.project_names.resolve("my-api")).namespace
        for mode, reasons in ((SearchMode.HYBRID, found.degraded), (SearchMode.LEXICAL, ())):
            assert (await services.search.search(namespace, "zebra", limit=5, mode=mode)).degraded == reasons

    in_daemon(scenario, config=Config(embedding=EmbeddingConfig(enabled=False)))


def test_knowledge_about_something_else_pushes_nothing_out() -> None:
    async def scenario(services: Services) -> None:
        wanted = await observe(services, "zebra crossing", "a place where the road belongs to walkers")
        for number in range(40):
            await learn(services, f"Decision {number}", f"thing{number} is made of part{number}, and a crossing")
        await services.learn.backfill()
        found = await hybrid(services, "my-api", "zebra crossing for walkers", limit=10)
        assert (ids(found)[0], found.is_nothing_near) == (wanted, False)
        assert all(each.score <= 1 for each in found.memories)

    in_daemon(scenario)


def test_a_search_that_finds_nothing_near_says_so() -> None:
    async def scenario(services: Services) -> None:
        for number in range(20):
            await learn(services, f"Decision {number}", f"thing{number} is made of part{number}")
        await services.learn.backfill()
        far = await hybrid(services, "my-api", "xyzzy plugh", limit=10)
        assert far.is_nothing_near
        assert all(each.score < 0.5 for each in far.memories)
        nowhere = await hybrid(services, "/home/ada/empty", "xyzzy", limit=10)
        assert not nowhere.is_nothing_near

    in_daemon(scenario)
