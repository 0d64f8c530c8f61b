"""The log of retrievals shows where time was spent, which memories helped, and which no longer help."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import attrs
import trio

from kiro_learn.config import Config, EmbeddingConfig, RecallConfig
from kiro_learn.errors import EmbeddingError
from kiro_learn.model.event import TextBody
from kiro_learn.model.namespace import namespace_of
from kiro_learn.model.retrieval import Ranking, Report
from kiro_learn.services.retrieval_log import KEPT, MUTE_AFTER, RetrievalLog, StrategyRate
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event, simulated_daemon
from kiro_learn.testing.models import HashEmbedder
from kiro_learn.testing.simulation import EPOCH, simulate
from kiro_learn.testing.storage import InMemoryStorage

QUESTION = TextBody("why does the token cache expire early")
SECRET = "why does the token cache expire early: clock skew"
STAGES = {"turn", "profile", "words", "embed", "vectors", "features", "fusion", "passages", "records", "render"}


async def remember_two(services: Services) -> None:
    await services.remember.put(a_record(1, "The token cache expires early", SECRET))
    await services.remember.put(a_record(2, "Colours of the footer", "grey on grey"))
    await trio.sleep(1)


def report_of(
    spoil: Callable[[InMemoryStorage, HashEmbedder], None] = lambda *_: None,
    *,
    before: Callable[[Services], Awaitable[None]] = remember_two,
    config: Config | None = None,
) -> Report:
    """The log's report on one prompt, asked after ``spoil``."""
    storage, model = InMemoryStorage(), HashEmbedder()

    async def scenario() -> Report:
        async with simulated_daemon(storage=storage, model=model, config=config) as services:
            await before(services)
            spoil(storage, model)
            await services.recall.answer(NAMESPACE, QUESTION, session_id="s-1")
            for gate in (storage.read_gate, model.gate):
                if gate is not None:
                    gate.set()
            (report,) = services.retrievals.latest(namespace=None, limit=10)
            return report

    return simulate(scenario)


def test_a_retrieval_is_told_by_ids_lengths_scores_and_times() -> None:
    report = report_of()

    assert (report.namespace, report.session_id) == (NAMESPACE, "s-1")
    assert report.query_characters == len(QUESTION.content)
    first = report.records[0]
    assert (first.record_id, first.strategy, first.shown) == (a_record(1).record_id, "test", True)
    assert report.records[0].found_by == (Ranking.WORDS, Ranking.MEANING)
    assert report.left_out == {"cut": 1}
    assert report.stages_ms.keys() == STAGES
    assert report.context_bytes > 0
    assert (report.degraded, report.silent_because) == ((), None)


def test_neither_the_prompt_nor_a_memory_is_in_the_book() -> None:
    written = str(attrs.asdict(report_of()))

    assert not any(word in written for word in ("cache", "expire", "skew"))


def test_a_late_stage_shows_its_time_and_its_name() -> None:
    def hold(_storage: InMemoryStorage, model: HashEmbedder) -> None:
        model.gate = trio.Event()

    report = report_of(hold)

    assert report.degraded == ("vectors: late",)
    assert report.stages_ms["embed"] == 400
    assert "vectors" not in report.stages_ms
    assert report.records[0].found_by == (Ranking.WORDS,)


def test_a_store_that_hangs_is_where_the_time_went() -> None:
    def hold(storage: InMemoryStorage, _model: HashEmbedder) -> None:
        storage.read_gate = trio.Event()

    report = report_of(hold)

    assert report.degraded == ("words: late", "passages: late", "records: late")
    assert (report.stages_ms["words"], report.stages_ms["passages"], report.stages_ms["records"]) == (400, 50, 50)
    assert report.silent_because == "it was cut off"


def test_a_failing_stage_shows_the_reason() -> None:
    def spoil(_storage: InMemoryStorage, model: HashEmbedder) -> None:
        model.fail_next = EmbeddingError("out of sorts")

    assert report_of(spoil).degraded == ("vectors: out of sorts",)


def test_an_unexpected_error_shows_its_kind_and_not_its_words() -> None:
    def spoil(storage: InMemoryStorage, _model: HashEmbedder) -> None:
        storage.fail_next_read(ValueError("clock skew"))

    assert "clock skew" not in str(report_of(spoil).degraded)
    assert "ValueError" in str(report_of(spoil).degraded)


def test_silence_says_why() -> None:
    async def nothing(_services: Services) -> None:
        await trio.sleep(1)

    async def something_else(services: Services) -> None:
        await services.remember.put(a_record(2, "Colours of the footer", "grey on grey"))
        await trio.sleep(1)

    assert report_of(before=nothing).silent_because == "nothing was found"
    irrelevant = report_of(before=something_else)
    assert (irrelevant.silent_because, irrelevant.left_out) == ("nothing was relevant", {"floor": 1})
    assert report_of(config=Config(recall=RecallConfig(budget_seconds=0.01))).silent_because is None


def test_the_times_of_an_answer_are_those_of_the_daemons_clock() -> None:
    assert (report_of().at - EPOCH).total_seconds() >= 1


def test_the_book_keeps_the_last_ones_newest_first_and_those_of_one_project_apart() -> None:
    other = namespace_of("ada", "b" * 64)

    async def scenario() -> tuple[list[Report], list[Report]]:
        async with simulated_daemon() as services:
            await services.recall.answer(other, QUESTION)
            for number in range(KEPT + 5):
                await services.recall.answer(NAMESPACE, QUESTION, session_id=str(number))
            await services.recall.answer(other, TextBody("short"))
            return (
                services.retrievals.latest(namespace=None, limit=1000),
                services.retrievals.latest(namespace=other, limit=1000),
            )

    everything, of_other = simulate(scenario)

    assert len(everything) == KEPT
    assert [report.session_id for report in everything[1:4]] == ["204", "203", "202"]
    assert [report.query_characters for report in of_other] == [5]


def a_report(*, by: tuple[Ranking, ...] = (Ranking.WORDS,), strategy: str = "test", shown: bool = True) -> Report:
    async def scenario() -> Report:
        async with simulated_daemon() as services:
            await remember_two(services)
            await services.recall.answer(NAMESPACE, QUESTION)
            return services.retrievals.latest(namespace=None, limit=1)[0]

    report = simulate(scenario)
    record = attrs.evolve(report.records[0], found_by=by, strategy=strategy, shown=shown)
    return attrs.evolve(report, records=(record,), context_bytes=100 if shown else 0)


def test_rates_are_shares_of_the_retrievals_in_the_book() -> None:
    book = RetrievalLog()
    book.add(a_report(by=(Ranking.WORDS, Ranking.MEANING), strategy="extractive"))
    book.add(a_report(strategy="llm-summary"))
    book.add(a_report(strategy="extractive", shown=False))
    book.add(attrs.evolve(a_report(strategy="extractive"), degraded=("vectors: late",)))

    rates = book.rates(namespace=None)

    assert (rates.retrievals, rates.silent, rates.partial) == (4, 0.25, 0.25)
    assert rates.strategies == {"extractive": StrategyRate(0.75, 0.5), "llm-summary": StrategyRate(0.25, 0.25)}
    assert rates.rankings == {Ranking.WORDS: 1.0, Ranking.MEANING: 0.333}


def test_an_empty_book_has_no_shares() -> None:
    rates = RetrievalLog().rates(namespace=None)

    assert (rates.retrievals, rates.silent, rates.strategies, set(rates.rankings.values())) == (0, 0.0, {}, {0.0})


def test_a_ranking_that_no_longer_helps_is_called_mute() -> None:
    book = RetrievalLog()
    book.add(a_report(by=(Ranking.MEANING,)))
    helped_by_words = a_report(by=(Ranking.WORDS,))
    for _ in range(MUTE_AFTER - 1):
        book.add(helped_by_words)
    assert book.statistics().mute_rankings == ()

    book.add(helped_by_words)
    assert book.statistics().mute_rankings == (Ranking.MEANING,)

    book.add(a_report(shown=False))
    assert book.statistics().mute_rankings == (Ranking.MEANING,), "silence says nothing of either"

    book.add(a_report(by=(Ranking.MEANING,)))
    assert book.statistics().mute_rankings == ()


def test_a_model_that_is_broken_for_long_shows_in_the_status() -> None:
    class Broken(HashEmbedder):
        async def load(self) -> None:
            raise EmbeddingError("no such file")

    async def scenario(config: Config) -> tuple[Ranking, ...]:
        async with simulated_daemon(model=Broken(), config=config) as services:
            await remember_two(services)
            for _ in range(MUTE_AFTER):
                await services.recall.answer(NAMESPACE, QUESTION)
            return (await services.health.status()).recall.mute_rankings

    assert simulate(lambda: scenario(Config())) == (Ranking.MEANING,)
    switched_off = Config(embedding=EmbeddingConfig(enabled=False))
    assert simulate(lambda: scenario(switched_off)) == (), "it was not asked"


def test_a_prompt_is_booked_with_its_session() -> None:
    async def scenario() -> Report:
        async with simulated_daemon() as services:
            await services.prompt.take(an_event(1, session="s-7"))
            return services.retrievals.latest(namespace=None, limit=1)[0]

    assert simulate(scenario).session_id == "s-7"
