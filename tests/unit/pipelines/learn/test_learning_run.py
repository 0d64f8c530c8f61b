"""A run happens wholly or not at all, and events that cannot be committed are learned later; in simulated time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
import structlog
import trio

from kiro_learn.config import Config, ReconciliationConfig
from kiro_learn.errors import LlmError, StorageError
from kiro_learn.model.ids import RecordId
from kiro_learn.ports.storage.answers import Outcome
from kiro_learn.ports.storage.interface import Work
from kiro_learn.testing.daemon import NAMESPACE
from kiro_learn.testing.simulation import EPOCH, simulate
from kiro_learn.testing.storage import InMemoryStorage, delete_records
from tests.unit.pipelines.learn.learning_rig import (
    JudgingModel,
    PickyStorage,
    Rig,
    a_rig,
    keep_separate,
    merge_all,
    shown_ids,
)

CACHE = "the cache is keyed by commit and kept on disk"
ALSO_CACHE = "the cache is keyed by commit and kept on ssd"
UNRELATED = "releases happen every second Tuesday after lunch"


class Witness(InMemoryStorage):
    """A store that notes its changes of records, and commits nothing while ``is_full``."""

    def __init__(self) -> None:
        super().__init__()
        self.committed: list[str] = []
        self.is_full = False

    async def transact(self, works: Sequence[Work[Any]]) -> list[Outcome]:
        if self.is_full:
            raise StorageError("the disk is full")
        outcomes = await super().transact(works)
        for outcome in outcomes:
            self.committed += [type(change).__name__ for change in getattr(outcome, "changes", ())]
        return outcomes


def test_until_the_commit_nothing_is_written() -> None:
    """The commit fails after extraction and judging: all events still wait, and are learned once."""

    async def scenario() -> None:
        storage = Witness()

        def judge(prompt: str) -> str:
            storage.is_full = True
            return merge_all(prompt)

        model = JudgingModel(judge)
        async with a_rig(model, storage=storage) as rig:
            with pytest.raises(StorageError, match="full"):
                await rig.learn(CACHE, ALSO_CACHE)
            assert (storage.committed, await rig.waiting_count(), await storage.list_runs(9)) == ([], 2, [])
            storage.is_full, model.judge = False, merge_all
            await rig.learn()
            assert (await rig.titles(), await rig.waiting_count()) == (["all of it"], 0)

    simulate(scenario)


def test_a_run_that_is_cancelled_while_the_judge_thinks_changes_nothing() -> None:
    async def scenario() -> None:
        model = JudgingModel(keep_separate)
        async with a_rig(model) as rig:
            model.gate = trio.Event()
            with trio.move_on_after(5):
                await rig.learn(CACHE)
            assert (await rig.records(), await rig.waiting_count()) == ((), 1)

    simulate(scenario)


def test_an_answer_that_fails_leaves_everything_waiting() -> None:
    class Mute(JudgingModel):
        async def complete(self, prompt: str) -> str:
            await trio.lowlevel.checkpoint()
            raise LlmError("out of sorts")

    async def scenario() -> int:
        async with a_rig(Mute(keep_separate)) as rig:
            with pytest.raises(LlmError):
                await rig.learn(CACHE)
            return await rig.waiting_count()

    assert simulate(scenario) == 1


def test_a_neighbor_that_was_forgotten_meanwhile_costs_the_merge_and_nothing_else() -> None:
    async def scenario() -> tuple[list[str], int, int]:
        storage = InMemoryStorage()
        model = JudgingModel(keep_separate)
        async with a_rig(model, storage=storage) as rig:
            await rig.learn(CACHE)

            async def forget(record_id: str) -> None:
                await delete_records(storage, [RecordId(record_id)])

            async with trio.open_nursery() as nursery:

                def forget_and_merge(prompt: str) -> str:
                    nursery.start_soon(forget, shown_ids(prompt)[-1])
                    return merge_all(prompt)

                model.judge = forget_and_merge
                await rig.learn(ALSO_CACHE, UNRELATED)
            return await rig.titles(), len(await storage.list_parked_clusters(None)), await rig.waiting_count()

    assert simulate(scenario) == (sorted([ALSO_CACHE, UNRELATED]), 0, 0)


def test_a_merge_that_is_refused_is_done_without() -> None:
    async def scenario() -> list[str]:
        async with a_rig(JudgingModel(merge_all), storage=PickyStorage(lambda title: title == "all of it")) as rig:
            await rig.learn(CACHE, ALSO_CACHE)
            assert await rig.history() == []
            return await rig.titles()

    assert simulate(scenario) == [CACHE, ALSO_CACHE]


def test_a_cluster_that_cannot_be_committed_is_parked_with_the_others_commit() -> None:
    async def scenario() -> None:
        storage = PickyStorage(lambda title: title == CACHE)
        async with a_rig(JudgingModel(keep_separate), storage=storage) as rig:
            learned = await rig.learn(CACHE, ALSO_CACHE, UNRELATED)
            (parked,) = await storage.list_parked_clusters(NAMESPACE)
            (run,) = await storage.list_runs(9)

            assert await rig.titles() == [UNRELATED]
            assert [record.title for record in parked.records] == [CACHE, ALSO_CACHE], "a cluster stays together"
            assert (parked.problem, parked.attempt_count) == ("the row is refused", 1)
            assert (learned.event_count, learned.record_count, run.record_count, run.problem) == (3, 1, 1, None)
            assert await rig.waiting_count() == 0, "what is parked is durable; its events need not wait"

    simulate(scenario)


def test_when_nothing_can_be_committed_the_books_say_why_and_nothing_is_lost() -> None:
    async def scenario() -> None:
        storage = PickyStorage(lambda _title: True)
        async with a_rig(JudgingModel(keep_separate), storage=storage) as rig:
            await rig.learn(CACHE, UNRELATED)
            (run,) = await storage.list_runs(9)
            assert (run.record_count, run.problem) == (0, "the row is refused")
            assert len(await storage.list_parked_clusters(NAMESPACE)) == 2

    simulate(scenario)


def test_what_is_parked_is_tried_again_after_pauses_that_double_and_then_kept() -> None:
    async def scenario() -> None:
        storage = PickyStorage(lambda _title: True)
        async with a_rig(JudgingModel(keep_separate), storage=storage) as rig:
            await rig.learn(CACHE)
            pauses = []
            for _ in range(4):
                (parked,) = await storage.list_parked_clusters(NAMESPACE)
                pauses.append(round((parked.retry_at - now_in(rig)).total_seconds()))
                await trio.sleep(pauses[-1] - 1)
                await rig.retry()
                assert await storage.list_parked_clusters(NAMESPACE) == [parked], "too early: nothing is tried"
                await trio.sleep(1)
                await rig.retry()
            assert pauses == [10, 20, 40, 80]

            storage.refuses = lambda _title: False
            await trio.sleep(160)
            assert (await rig.retry()).record_count == 1
            assert await rig.titles() == [CACHE]
            assert await storage.list_parked_clusters(NAMESPACE) == []

    simulate(scenario)


def now_in(rig: Rig) -> datetime:
    return rig.learner.clock.utc_now()


def test_the_pause_grows_to_a_day_and_no_further() -> None:
    async def scenario() -> list[timedelta]:
        storage = PickyStorage(lambda _title: True)
        async with a_rig(JudgingModel(keep_separate), storage=storage) as rig:
            await rig.learn(CACHE)
            for _ in range(20):
                await trio.sleep(86_400)
                await rig.retry()
            (parked,) = await storage.list_parked_clusters(NAMESPACE)
            return [parked.retry_at - now_in(rig)]

    assert simulate(scenario) == [timedelta(days=1)]


def test_what_comes_again_is_reconciled_with_what_was_learned_meanwhile() -> None:
    async def scenario() -> list[str]:
        storage = PickyStorage(lambda title: title == CACHE)
        async with a_rig(JudgingModel(merge_all), storage=storage) as rig:
            await rig.learn(CACHE)
            await rig.learn(ALSO_CACHE)
            storage.refuses = lambda _title: False
            await trio.sleep(10)
            await rig.retry()
            assert len(await rig.history()) == 1
            return await rig.titles()

    assert simulate(scenario) == ["all of it"]


def test_every_run_is_told_in_one_line_of_counts_and_times() -> None:
    async def scenario() -> float:
        model = JudgingModel(merge_all)
        async with a_rig(model) as rig:
            await rig.learn(CACHE, ALSO_CACHE, UNRELATED)
            return trio.current_time()

    with structlog.testing.capture_logs() as logs:
        simulate(scenario)
    (line,) = [line for line in logs if line["event"] == "learning.run_done"]
    counts = {name: value for name, value in line.items() if isinstance(value, int) and not isinstance(value, bool)}
    phases = sum(counts[f"{name}_ms"] for name in ("extraction", "clustering", "neighbor_lookup", "judge", "commit"))
    assert min(counts.values()) >= 0
    assert counts["duration_ms"] >= phases
    assert (line["event_count"], line["candidate_count"], line["cluster_count"]) == (3, 3, 2)
    assert (line["judge_call_count"], line["merge_count"], line["replaced_count"], line["record_count"]) == (1, 1, 2, 2)
    assert (line["kept_separate_count"], line["direct_count"], line["parked_count"]) == (0, 0, 0)
    assert CACHE not in str(line)


def test_switched_off_the_writes_are_one_record_and_one_vector_after_the_other() -> None:
    async def scenario() -> list[str]:
        storage = Witness()
        config = Config(reconciliation=ReconciliationConfig(enabled=False))
        async with a_rig(JudgingModel(merge_all), storage=storage, config=config) as rig:
            await rig.learn(CACHE, ALSO_CACHE)
            return storage.committed

    assert simulate(scenario) == ["RecordStored", "RecordEmbedded"] * 2


def test_a_run_that_finds_nothing_clears_what_it_read() -> None:
    class Bored(JudgingModel):
        async def complete(self, prompt: str) -> str:
            await trio.lowlevel.checkpoint()
            return "<skip/>"

    async def scenario() -> tuple[int, int, datetime]:
        async with a_rig(Bored(keep_separate)) as rig:
            learned = await rig.learn("Is it running?")
            (run,) = await rig.storage.list_runs(9)
            return await rig.waiting_count(), learned.record_count, run.started_at

    assert simulate(scenario) == (0, 0, EPOCH)
