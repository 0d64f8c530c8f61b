"""What says the same becomes one: judged by a model, or by the rule; in simulated time, on a learner and its crew."""

from __future__ import annotations

from functools import partial

import attrs
import numpy as np
import pytest
import structlog
import trio

from kiro_learn.config import Config, LlmConfig, ReconciliationConfig
from kiro_learn.errors import EmbeddingError, LlmError, StorageError
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import namespace_of
from kiro_learn.model.record import MemoryRecord
from kiro_learn.storage.interface import SearchParams, StorageTransaction
from kiro_learn.testing.embedding import HashEmbedder, hashed_words
from kiro_learn.testing.household import NAMESPACE, a_record
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage
from kiro_learn.vectors import Vector
from tests.unit.actors.learning_rig import (
    BuiltInLearner,
    JudgingModel,
    a_merge,
    a_rig,
    keep_separate,
    merge_all,
    shown_ids,
)

CACHE = "the cache is keyed by commit and kept on disk"
ALSO_CACHE = "the cache is keyed by commit and kept on ssd"
STILL_CACHE = "the cache is keyed by commit and kept on tape"
UNRELATED = "releases happen every second Tuesday after lunch"
OTHERS = namespace_of("ada", "b" * 64)


def refuse(_prompt: str) -> str:
    raise LlmError("out of sorts")


def test_duplicates_inside_one_batch_are_judged_though_nothing_is_stored() -> None:
    async def scenario() -> list[str]:
        async with a_rig(JudgingModel(merge_all)) as rig:
            await rig.learn(CACHE, ALSO_CACHE, UNRELATED)
            return await rig.titles()

    assert simulate(scenario) == ["all of it", UNRELATED]


def test_what_a_merge_replaced_is_gone_from_every_search_and_kept_in_the_history() -> None:
    async def scenario() -> None:
        async with a_rig(JudgingModel(merge_all)) as rig:
            await rig.learn(CACHE, UNRELATED)
            (untouched,) = [record for record in await rig.records() if record.title == UNRELATED]
            await rig.learn(ALSO_CACHE)
            (merged,) = [record for record in await rig.records() if record.title == "all of it"]
            by_words = await rig.storage.rank_by_words(SearchParams(NAMESPACE, "cache commit", 10))
            by_meaning = await rig.learner.reconciler.indexes.rank(NAMESPACE, hashed_words(CACHE), 10)
            (replacement,) = await rig.history()

            assert by_words.hits == ()
            assert {hit.record_id for hit in by_meaning.hits} == {merged.record_id, untouched.record_id}
            assert await rig.embedded_ids() == {merged.record_id, untouched.record_id}
            assert sorted(record.title for record in replacement.replaced) == [CACHE, ALSO_CACHE]
            assert replacement.replacing == (merged.record_id,)
            assert untouched in await rig.records()
            assert merged.strategy == "llm-reconciled"
            assert merged.source_event_ids == (event_id(3), event_id(1)), "members first, then neighbors"

    simulate(scenario)


def event_id(number: int) -> str:
    return f"00{number:024d}"


def test_a_member_that_the_judge_did_not_cite_is_kept_as_itself() -> None:
    async def scenario() -> list[str]:
        model = JudgingModel(lambda prompt: a_merge(shown_ids(prompt)[:2]))
        async with a_rig(model) as rig:
            await rig.learn(CACHE, ALSO_CACHE, STILL_CACHE)
            return await rig.titles()

    assert simulate(scenario) == ["all of it", STILL_CACHE]


@pytest.mark.parametrize(
    "answer", [keep_separate(""), a_merge(["mr_unknown", "mr_stranger"]), "They look alike.", "<merge></merge>"]
)
def test_without_a_usable_merge_every_member_is_a_record_and_nothing_is_replaced(answer: str) -> None:
    async def scenario() -> None:
        async with a_rig(JudgingModel(lambda _prompt: answer)) as rig:
            await rig.learn(CACHE)
            learned = await rig.learn(ALSO_CACHE, STILL_CACHE)

            assert await rig.titles() == sorted([CACHE, ALSO_CACHE, STILL_CACHE])
            assert await rig.history() == []
            assert learned.record_count == 2

    simulate(scenario)


def test_the_judge_is_asked_only_about_what_has_company() -> None:
    async def scenario() -> list[list[str]]:
        model = JudgingModel(keep_separate)
        async with a_rig(model) as rig:
            await rig.learn(CACHE, UNRELATED)
            await rig.learn(ALSO_CACHE, "lint with ruff")
            return [shown_ids(question) for question in model.questions]

    ((candidate, neighbor),) = simulate(scenario)
    assert candidate != neighbor


def put_vector(record_id: RecordId, vector: Vector, transaction: StorageTransaction) -> None:
    transaction.put_embedding(record_id, vector)


def test_neighbors_are_the_nearest_of_the_same_project_above_the_threshold() -> None:
    """Seven stored records at known cosines to the candidate; two of them may be shown."""
    config = Config(reconciliation=ReconciliationConfig(neighbor_count=2, neighbor_similarity=0.8))
    direction = hashed_words(f"{CACHE} {CACHE}")
    aside = np.zeros_like(direction)
    aside[np.flatnonzero(direction == 0)[0]] = 1

    async def scenario() -> str:
        model = JudgingModel(keep_separate)
        async with a_rig(model, config=config) as rig:
            for number, cosine in enumerate([0.79, 0.85, 0.95, 0.9, 0.5, 0.99]):
                namespace = OTHERS if cosine == 0.99 else NAMESPACE
                stored = attrs.evolve(a_record(number, f"at {cosine}"), namespace=namespace)
                vector = (cosine * direction + (1 - cosine**2) ** 0.5 * aside).astype(np.float32)
                await rig.storage.put_memory_record(stored)
                await rig.storage.with_transaction(partial(put_vector, stored.record_id, vector))
            await rig.learn(CACHE)
            return model.questions[0]

    question = simulate(scenario)
    places = [question.find(f'similarity="{similarity}"') for similarity in ("0.9500", "0.9000")]
    assert 0 < places[0] < places[1]
    assert question.count('similarity="') == 2


def test_a_record_that_makes_way_is_not_offered_to_the_next_cluster() -> None:
    """Both candidates are close to what is stored, but not to each other."""
    config = Config(reconciliation=ReconciliationConfig(intra_batch_similarity=0.95, neighbor_similarity=0.8))

    async def scenario() -> list[int]:
        model = JudgingModel(merge_all)
        async with a_rig(model, config=config) as rig:
            await rig.learn(CACHE)
            await rig.learn(ALSO_CACHE, STILL_CACHE)
            assert await rig.titles() == ["all of it", STILL_CACHE]
            return [len(shown_ids(question)) for question in model.questions]

    assert simulate(scenario) == [2]


def test_an_answer_that_is_no_verdict_is_asked_for_once_more() -> None:
    answers = iter(["Well.", keep_separate("")])

    async def scenario() -> tuple[int, int]:
        model = JudgingModel(lambda _prompt: next(answers))
        async with a_rig(model) as rig:
            await rig.learn(CACHE, ALSO_CACHE)
            return len(model.questions), rig.breaker.failure_count

    assert simulate(scenario) == (2, 0)


class SleepyJudge(JudgingModel):
    """Never answers what it is asked to judge."""

    async def complete(self, prompt: str) -> str:
        answer = await super().complete(prompt)
        if "<reconciliation_request>\n" in prompt:
            await trio.sleep_forever()
        return answer


def test_a_judge_that_takes_too_long_is_not_asked_again() -> None:
    async def scenario() -> tuple[float, int, list[str]]:
        async with a_rig(SleepyJudge(keep_separate)) as rig:
            await rig.learn(CACHE, ALSO_CACHE)
            return trio.current_time(), rig.breaker.failure_count, await rig.titles()

    took, failure_count, titles = simulate(scenario)
    assert took == pytest.approx(30)
    assert (failure_count, titles) == (1, [CACHE, ALSO_CACHE])


PAIRS = [(f"{word} " * 6 + "one", f"{word} " * 6 + "two") for word in ("amber", "birch", "cedar", "dogwood", "elm")]
TEXTS = [text for pair in PAIRS for text in pair]


def test_a_breaker_that_opens_on_the_way_lets_the_rest_through_unjudged() -> None:
    """Five clusters and a judge that hangs: three times 30 seconds, not five times."""

    async def scenario() -> None:
        model = SleepyJudge(keep_separate)
        async with a_rig(model) as rig:
            await rig.learn(*TEXTS)
            assert trio.current_time() == pytest.approx(90)
            assert (len(model.questions), rig.breaker.is_open) == (3, True)
            assert await rig.titles() == sorted(TEXTS)

    simulate(scenario)


def test_an_open_breaker_costs_one_run_without_a_judge_and_then_it_is_asked_again() -> None:
    async def scenario() -> None:
        model = JudgingModel(refuse)
        async with a_rig(model) as rig:
            await rig.learn(*TEXTS)
            asked = len(model.questions)
            await rig.learn(CACHE, ALSO_CACHE)
            assert (len(model.questions), rig.breaker.is_open) == (asked, False)
            model.judge = merge_all
            await rig.learn(STILL_CACHE)
            assert len(model.questions) == asked + 1
            assert "all of it" in await rig.titles()

    simulate(scenario)


def test_a_record_that_was_cited_and_is_unknown_is_passed_over_and_counted() -> None:
    async def scenario() -> list[str]:
        model = JudgingModel(lambda prompt: a_merge([*shown_ids(prompt), "mr_unknown"]))
        async with a_rig(model) as rig:
            await rig.learn(CACHE, ALSO_CACHE)
            return await rig.titles()

    with structlog.testing.capture_logs() as logs:
        assert simulate(scenario) == ["all of it"]
    (warning,) = [line for line in logs if line["event"] == "reconciliation.unknown_cited"]
    assert warning["unknown_count"] == 1


def test_the_built_in_learner_merges_only_what_says_the_same_in_the_same_words() -> None:
    async def scenario() -> list[tuple[str, str]]:
        async with a_rig(BuiltInLearner()) as rig:
            await rig.learn(CACHE)
            await rig.learn(CACHE, ALSO_CACHE)
            return sorted((record.title, record.strategy) for record in await rig.records())

    assert simulate(scenario) == [(CACHE, "extractive-reconciled"), (ALSO_CACHE, "scripted")]


def test_when_the_day_s_calls_are_used_up_the_rule_judges_and_the_breaker_does_not_mind() -> None:
    async def scenario() -> list[str]:
        model = JudgingModel(merge_all)
        async with a_rig(model, config=Config(llm=LlmConfig(daily_calls=1))) as rig:
            await rig.learn(CACHE, CACHE, ALSO_CACHE)
            assert (model.questions, rig.breaker.failure_count) == ([], 0)
            return await rig.titles()

    assert simulate(scenario) == [CACHE, ALSO_CACHE]


def test_when_the_store_cannot_tell_the_neighbors_the_run_goes_on_without() -> None:
    async def scenario() -> list[str]:
        storage = InMemoryStorage()
        async with a_rig(JudgingModel(merge_all), storage=storage) as rig:
            await rig.learn(CACHE)

            def break_reading(_prompt: str) -> str:
                storage.fail_next_read(StorageError("the disk is sick"))
                return keep_separate("")

            model = rig.learner.extractor.llms.current()
            assert isinstance(model, JudgingModel)
            model.judge = break_reading
            await rig.learn(ALSO_CACHE, UNRELATED + " " + ALSO_CACHE)
            return await rig.titles()

    assert simulate(scenario) == sorted([CACHE, ALSO_CACHE, UNRELATED + " " + ALSO_CACHE])


class ForgetfulEmbedder(HashEmbedder):
    """Fails on what the judge worded."""

    async def embed(self, texts: list[str]) -> object:  # type: ignore[override]  # as the port has it
        if any("all of it" in text for text in texts):
            raise EmbeddingError("out of sorts")
        return await super().embed(texts)


def test_a_merged_record_without_a_vector_is_kept_and_waits_for_one() -> None:
    async def scenario() -> list[MemoryRecord]:
        async with a_rig(JudgingModel(merge_all), model=ForgetfulEmbedder()) as rig:
            await rig.learn(CACHE, ALSO_CACHE)
            assert await rig.titles() == ["all of it"]
            return await rig.storage.list_unembedded(10)

    assert [record.title for record in simulate(scenario)] == ["all of it"]


def test_what_a_judge_words_is_redacted_as_everything_is() -> None:
    secret = "ghp_" + "a1B2" * 9

    async def scenario() -> str:
        async with a_rig(JudgingModel(lambda prompt: a_merge(shown_ids(prompt), f"token {secret}"))) as rig:
            await rig.learn(CACHE, ALSO_CACHE)
            (record,) = await rig.records()
            return record.summary

    assert secret not in simulate(scenario)


def test_switched_off_nothing_is_looked_at() -> None:
    async def scenario() -> None:
        model = JudgingModel(merge_all)
        async with a_rig(model, config=Config(reconciliation=ReconciliationConfig(enabled=False))) as rig:
            await rig.learn(CACHE, CACHE)
            await rig.learn(CACHE)
            assert (await rig.titles(), model.questions) == ([CACHE, CACHE, CACHE], [])

    simulate(scenario)
