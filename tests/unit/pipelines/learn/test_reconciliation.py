"""Records that say the same are merged, by a model's judgement or by rule; on a learner, in simulated time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import attrs
import numpy as np
import pytest

from kiro_learn.config import Config, ReconciliationConfig
from kiro_learn.errors import EmbeddingError, StorageError
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import namespace_of
from kiro_learn.model.record import MemoryRecord, embedded_text
from kiro_learn.model.vectors import Matrix, Vector
from kiro_learn.pipelines.learn.learning_run import put_candidate
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event
from kiro_learn.testing.models import HashEmbedder, ScriptedLlm, hashed_words
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage, put_record, transact_one
from tests.unit.pipelines.learn.learning_rig import (
    BuiltInLearner,
    JudgingModel,
    Rig,
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


@pytest.mark.parametrize(
    "learner", [partial(JudgingModel, lambda prompt: a_merge(shown_ids(prompt), CACHE)), BuiltInLearner]
)
def test_a_merge_keeps_the_pin_of_what_it_replaces(learner: Callable[[], ScriptedLlm]) -> None:
    async def scenario() -> None:
        async with a_rig(learner()) as rig:
            await rig.learn(CACHE)
            (known,) = await rig.records()
            await transact_one(rig.storage, lambda tx: tx.set_pinned([known.record_id], known.created_at))
            await rig.learn(CACHE)
            (merged,) = await rig.records()
            assert (merged.pinned_at, merged.record_id != known.record_id) == (known.created_at, True)

    simulate(scenario)


@pytest.mark.parametrize("model", [JudgingModel(merge_all), BuiltInLearner()])
def test_a_stored_record_beyond_our_limits_is_told_as_one_with_what_says_the_same(model: ScriptedLlm) -> None:
    """An upgraded database has such records: a long concept, an empty file name, a compaction among the events."""
    compaction = "compact_01ARZ3NDEKTSV4RRFFQ69G5FAV"

    async def scenario() -> list[MemoryRecord]:
        async with a_rig(model) as rig:
            stored = unchecked_evolve(
                a_record(900, CACHE, CACHE), concepts=("c" * 150,), source_event_ids=(compaction,), origin=None
            )
            stored = unchecked_evolve(stored, facts=("f" * 600,))
            (candidate,) = await rig.learner.extractor.with_vectors([stored])
            await transact_one(rig.storage, lambda tx: put_candidate(tx, candidate))
            await rig.learn(CACHE)
            return list(await rig.records())

    (record,) = simulate(scenario)
    assert compaction in record.source_event_ids


def test_an_event_with_an_id_of_the_first_kiro_learn_is_learned() -> None:
    compaction = EventId("compact_01ARZ3NDEKTSV4RRFFQ69G5FAV")

    async def scenario() -> list[MemoryRecord]:
        async with a_rig(BuiltInLearner()) as rig:
            event = unchecked_evolve(an_event(1, text=CACHE), event_id=compaction, session_id="")
            await transact_one(rig.storage, lambda tx: tx.put_event(event, size_bytes=9, buffered=True))
            await rig.learn()
            return list(await rig.records())

    (record,) = simulate(scenario)
    assert record.source_event_ids == (compaction,)


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


def put_vectors(record_id: RecordId, whole: Vector, window: Vector, transaction: StorageTransaction) -> None:
    transaction.put_embedding(record_id, np.stack([whole, window]))


def test_neighbors_are_the_nearest_of_the_same_project_above_the_threshold() -> None:
    """Six stored records at known cosines to the candidate; two of them may be shown.

    Each has a window with the candidate's text, but only vectors of whole records decide.
    """
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
                await put_record(rig.storage, stored)
                await transact_one(rig.storage, partial(put_vectors, stored.record_id, vector, direction))
            await rig.learn(CACHE)
            return model.questions[0]

    question = simulate(scenario)
    places = [question.find(f'similarity="{similarity}"') for similarity in ("0.9500", "0.9000")]
    assert 0 < places[0] < places[1]
    assert question.count('similarity="') == 2


def test_a_record_that_makes_way_is_not_offered_to_the_next_cluster() -> None:
    """Both candidates are close to the stored record, but not to each other."""
    config = Config(reconciliation=ReconciliationConfig(intra_batch_similarity=0.95, neighbor_similarity=0.8))

    async def scenario() -> list[int]:
        model = JudgingModel(merge_all)
        async with a_rig(model, config=config) as rig:
            await rig.learn(CACHE)
            await rig.learn(ALSO_CACHE, STILL_CACHE)
            assert await rig.titles() == ["all of it", STILL_CACHE]
            return [len(shown_ids(question)) for question in model.questions]

    assert simulate(scenario) == [2]


def test_the_built_in_learner_merges_only_what_says_the_same_in_the_same_words() -> None:
    async def scenario() -> list[tuple[str, str]]:
        async with a_rig(BuiltInLearner()) as rig:
            await rig.learn(CACHE)
            await rig.learn(CACHE, ALSO_CACHE)
            return sorted((record.title, record.strategy) for record in await rig.records())

    assert simulate(scenario) == [(CACHE, "extractive-reconciled"), (ALSO_CACHE, "scripted")]


def test_when_the_store_cannot_tell_the_neighbors_the_run_goes_on_without() -> None:
    async def scenario() -> list[str]:
        storage = InMemoryStorage()
        async with a_rig(JudgingModel(merge_all), storage=storage) as rig:
            await rig.learn(CACHE)

            def break_reading(_prompt: str) -> str:
                storage.fail_next_read(StorageError("the disk is sick"))
                return keep_separate("")

            model = rig.learner.extractor.llms.current(NAMESPACE)
            assert isinstance(model, JudgingModel)
            model.judge = break_reading
            await rig.learn(ALSO_CACHE, UNRELATED + " " + ALSO_CACHE)
            return await rig.titles()

    assert simulate(scenario) == sorted([CACHE, ALSO_CACHE, UNRELATED + " " + ALSO_CACHE])


class ForgetfulEmbedder(HashEmbedder):
    """An embedder that fails on the judge's text."""

    async def embed(self, texts: Sequence[str]) -> Matrix:
        if any("all of it" in text for text in texts):
            raise EmbeddingError("out of sorts")
        return await super().embed(texts)


class WornOutEmbedder(HashEmbedder):
    """An embedder that accepts only two texts."""

    def __init__(self) -> None:
        super().__init__()
        self._left = 2

    async def embed(self, texts: Sequence[str]) -> Matrix:
        self._left -= len(texts)
        if self._left < 0:
            raise EmbeddingError("worn out")
        return await super().embed(texts)


def test_what_is_learned_again_word_for_word_needs_no_vector_of_its_own() -> None:
    """Embedding takes a hundred times as long as the rest of such a merge."""

    async def scenario() -> list[str]:
        async with a_rig(BuiltInLearner(), model=WornOutEmbedder()) as rig:
            await rig.learn(CACHE)
            await rig.learn(CACHE)
            (record,) = await rig.records()
            assert await rig.embedded_ids() == {record.record_id}
            return [record.strategy]

    assert simulate(scenario) == ["extractive-reconciled"]


def test_a_merged_record_without_a_vector_is_kept_and_waits_for_one() -> None:
    async def scenario() -> list[MemoryRecord]:
        async with a_rig(JudgingModel(merge_all), model=ForgetfulEmbedder()) as rig:
            await rig.learn(CACHE, ALSO_CACHE)
            assert await rig.titles() == ["all of it"]
            return await rig.storage.list_unembedded(10)

    assert [record.title for record in simulate(scenario)] == ["all of it"]


class SickEmbedder(HashEmbedder):
    """An embedder that is loaded, but fails on every text."""

    async def embed(self, texts: Sequence[str]) -> Matrix:
        await super().embed(texts)
        raise EmbeddingError("out of sorts")


def test_without_vectors_nothing_is_judged_and_nothing_dropped() -> None:
    async def scenario() -> tuple[list[str], int, int]:
        model = JudgingModel(merge_all)
        async with a_rig(model, model=SickEmbedder()) as rig:
            await rig.learn(CACHE, ALSO_CACHE)
            return sorted(await rig.titles()), len(model.questions), len(await rig.embedded_ids())

    assert simulate(scenario) == (sorted([CACHE, ALSO_CACHE]), 0, 0)


def test_the_same_twice_in_one_answer_is_one_whichever_learner_judges() -> None:
    async def scenario(rig: Rig, model: JudgingModel) -> tuple[list[str], int]:
        await rig.learn(CACHE, CACHE, CACHE)
        return await rig.titles(), len(model.questions)

    async def without_vectors() -> tuple[list[str], int]:
        model = JudgingModel(merge_all)
        async with a_rig(model, model=SickEmbedder()) as rig:
            return await scenario(rig, model)

    async def without_reconciliation() -> tuple[list[str], int]:
        model = JudgingModel(merge_all)
        async with a_rig(model, config=Config(reconciliation=ReconciliationConfig(enabled=False))) as rig:
            return await scenario(rig, model)

    assert simulate(without_vectors) == simulate(without_reconciliation) == ([CACHE], 0)


def test_every_vector_is_of_the_text_that_stands_for_the_record() -> None:
    """So embedding a record again later changes nothing, even for a merged one."""

    async def scenario() -> None:
        async with a_rig(JudgingModel(merge_all)) as rig:
            await rig.learn(CACHE, ALSO_CACHE, UNRELATED)
            table = await rig.storage.list_embeddings(NAMESPACE)
            records = await rig.storage.get_memory_records(table.record_ids)
            assert len(records) == 2
            for record, vector in zip(records, table.vectors, strict=True):
                assert np.array_equal(vector, hashed_words(embedded_text(record)))

    simulate(scenario)


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
            await rig.learn(CACHE, ALSO_CACHE)
            await rig.learn(CACHE)
            assert (sorted(await rig.titles()), model.questions) == (sorted([CACHE, CACHE, ALSO_CACHE]), [])

    simulate(scenario)
