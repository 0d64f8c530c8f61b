"""A model's records replace the ones learned without a model, and that can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import attrs
import pytest
import trio

from kiro_learn.config import Config, GraphConfig, LearningConfig, LlmConfig
from kiro_learn.errors import BudgetSpent, ModelSick, NoModel, UnknownProject
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.event import TextBody
from kiro_learn.model.graph import Fact, GraphItem, GraphKind
from kiro_learn.model.record import JUDGED_STRATEGY, MODEL_STRATEGY, MemoryRecord
from kiro_learn.pipelines.learn.reconciliation import RULE_STRATEGY
from kiro_learn.ports.storage.graph import GraphList
from kiro_learn.services.learn import Preview, ProjectRelearned, WeakMemory
from kiro_learn.testing.daemon import NAMESPACE, a_record, simulated_daemon
from kiro_learn.testing.simulation import EPOCH, simulate
from kiro_learn.testing.storage import InMemoryStorage, put_record, transact_one
from tests.unit.services.relearning_rig import (
    PROJECT,
    BuiltIn,
    Model,
    a_past,
    a_turn,
    broken,
    each_answer,
    record_of,
    settle,
    titles,
    weak_record,
)

STORED_IN_MINIO = (
    '<graph><fact subject="Kira" subject_type="project" predicate="stored_in" object="MinIO" events="1"/></graph>'
)


def test_what_a_model_learns_takes_the_place_of_what_it_tells_of() -> None:
    async def scenario() -> None:
        storage = await a_past(3)
        async with simulated_daemon(storage=storage, llm=Model()) as services:
            relearned = await services.relearn.relearn(PROJECT, since=None)
            assert relearned == ProjectRelearned(
                events=6, records=3, replaced=3, protected=0, batches=1, left=0, stopped_because=None, too_little=None
            )
            assert await titles(storage) == ["better answer 0", "better answer 1", "better answer 2"]
            (change,) = await services.history.of(await record_of(storage, "better answer 1"))
            assert change.reason is ReplacementReason.RELEARNED
            assert [record.title for record in change.replaced] == ["weak 1"]
            assert (await storage.list_runs(9))[0].record_count == 3

    simulate(scenario)


def test_undoing_one_brings_back_what_it_replaced_and_nothing_else() -> None:
    async def scenario() -> list[str]:
        storage = await a_past(3)
        async with simulated_daemon(storage=storage, llm=Model()) as services:
            await services.relearn.relearn(PROJECT, since=None)
            await services.history.undo(await record_of(storage, "better answer 1"))
            return await titles(storage)

    assert simulate(scenario) == ["better answer 0", "better answer 2", "weak 1"]


def test_asked_again_there_is_nothing_to_do_and_no_model_is_asked() -> None:
    async def scenario() -> tuple[int, int, int]:
        storage, model = await a_past(3), Model()
        async with simulated_daemon(storage=storage, llm=model) as services:
            await services.relearn.relearn(PROJECT, since=None)
            again = await services.relearn.relearn(PROJECT, since=None)
            return again.batches, again.left, len(model.asked)

    assert simulate(scenario) == (0, 0, 1)


def test_what_a_preview_says_is_what_happens() -> None:
    async def scenario() -> None:
        storage, model = await a_past(3), Model()
        config = Config(llm=LlmConfig(daily_calls=7))
        async with simulated_daemon(storage=storage, llm=model, config=config) as services:
            preview = await services.relearn.preview(PROJECT, since=None)
            memories = tuple(
                WeakMemory(record_id=weak_record(number).record_id, title=f"weak {number}", is_protected=False)
                for number in range(3)
            )
            assert preview == Preview(
                records=3, events=6, calls=1, calls_left=7, model="big model", stays_here=False, memories=memories
            )
            assert model.asked == []
            relearned = await services.relearn.relearn(PROJECT, since=None)
            assert (relearned.replaced, relearned.events, relearned.batches) == (3, 6, 1)

    simulate(scenario)


@pytest.mark.parametrize("act", ["preview", "relearn"])
def test_it_is_refused_without_a_model(act: str) -> None:
    async def scenario() -> None:
        async with simulated_daemon(storage=await a_past(1), llm=BuiltIn()) as services:
            with pytest.raises(NoModel, match="no model is set up"):
                await getattr(services.relearn, act)(PROJECT, since=None)
            with pytest.raises(UnknownProject):
                await getattr(services.relearn, act)("nobody", since=None)

    simulate(scenario)


def test_a_model_that_failed_too_often_is_left_alone() -> None:
    async def scenario() -> None:
        storage = await a_past(1)
        async with simulated_daemon(storage=storage, llm=Model(broken), stand_in=BuiltIn()) as services:
            for _ in range(3):
                assert (await services.relearn.relearn(PROJECT, since=None)).stopped_because == "out of sorts"
            with pytest.raises(ModelSick, match="big model fails: out of sorts"):
                await services.relearn.relearn(PROJECT, since=None)
            assert await titles(storage) == ["weak 0"]
            assert [run.problem for run in await storage.list_runs(9)] == ["out of sorts"] * 3

    simulate(scenario)


def test_it_stops_when_the_calls_of_the_day_are_used_up_and_goes_on_when_asked_on_another() -> None:
    async def scenario() -> None:
        storage = await a_past(4)
        config = Config(llm=LlmConfig(daily_calls=2), learning=LearningConfig(extraction_bytes=90))
        async with simulated_daemon(storage=storage, llm=Model(), config=config) as services:
            first = await services.relearn.relearn(PROJECT, since=None)
            assert (first.batches, first.replaced, first.left) == (2, 2, 2)
            assert "2 times today" in str(first.stopped_because)
            with pytest.raises(BudgetSpent):
                await services.relearn.preview(PROJECT, since=None)
            await trio.sleep(86_400)
            second = await services.relearn.relearn(PROJECT, since=None)
            assert (second.batches, second.replaced, second.left) == (2, 2, 0)
            assert second.stopped_because is None

    simulate(scenario)


def test_only_what_was_learned_without_a_model_is_touched() -> None:
    strategies = [MODEL_STRATEGY, JUDGED_STRATEGY, "mcp_observation", "import", "test"]

    async def scenario() -> None:
        storage, model = InMemoryStorage(), Model()
        for number, strategy in enumerate(strategies):
            record = attrs.evolve(weak_record(number), strategy=strategy)
            await settle(storage, a_turn(number), [record])
        async with simulated_daemon(storage=storage, llm=model) as services:
            before = await titles(storage)
            relearned = await services.relearn.relearn(PROJECT, since=None)
            assert (relearned.batches, relearned.left, model.asked) == (0, 0, [])
            assert await titles(storage) == before

    simulate(scenario)


def merged(number: int, *members: int) -> Replacement:
    """A replacement by which the rule merged the records of several turns."""
    return Replacement(
        replacement_id=f"02{number:024d}",
        namespace=NAMESPACE,
        reason=ReplacementReason.MERGED,
        replaced_at=EPOCH,
        replacing=(a_record(number).record_id,),
        replaced=tuple(weak_record(member) for member in members),
    )


async def with_merge(storage: InMemoryStorage, number: int, *members: int) -> None:
    record = attrs.evolve(weak_record(number, *members), strategy=RULE_STRATEGY)
    await put_record(storage, record)
    await transact_one(storage, lambda tx: tx.replace_memory_records(merged(number, *members)))


def test_what_the_rule_merged_is_learned_again_with_all_that_it_was_merged_from() -> None:
    async def scenario() -> None:
        storage, model = await a_past(3), Model()
        await with_merge(storage, 9, 0, 2)
        config = Config(learning=LearningConfig(extraction_bytes=180))
        async with simulated_daemon(storage=storage, llm=model, config=config) as services:
            relearned = await services.relearn.relearn(PROJECT, since=None)
            assert model.shown == ["prompt 0", "answer 0", "prompt 2", "answer 2", "prompt 1", "answer 1"]
            assert (relearned.batches, relearned.replaced, relearned.left) == (2, 2, 0)
            await services.history.undo(await record_of(storage, "better answer 0"))
            assert await titles(storage) == ["better answer 1", "weak 9"]
            await services.history.undo(await record_of(storage, "weak 9"))
            assert await titles(storage) == ["better answer 1", "weak 0", "weak 2"]

    simulate(scenario)


def test_what_the_rule_merged_into_a_persons_own_words_is_left_alone() -> None:
    async def scenario() -> None:
        storage, model = InMemoryStorage(), Model()
        await settle(storage, [*a_turn(0), *a_turn(1)])
        await settle(storage, [], [weak_record(0), attrs.evolve(weak_record(1), strategy="mcp_observation")])
        await with_merge(storage, 9, 0, 1)
        async with simulated_daemon(storage=storage, llm=model) as services:
            relearned = await services.relearn.relearn(PROJECT, since=None)
            assert (relearned.left, model.asked, await titles(storage)) == (0, [], ["weak 9"])

    simulate(scenario)


def test_where_the_model_finds_nothing_nothing_is_dropped() -> None:
    async def scenario() -> tuple[ProjectRelearned, list[str]]:
        storage = await a_past(2)
        async with simulated_daemon(storage=storage, llm=Model(lambda _prompt: "<skip/>")) as services:
            return await services.relearn.relearn(PROJECT, since=None), await titles(storage)

    relearned, left = simulate(scenario)
    assert relearned == ProjectRelearned(
        events=4, records=0, replaced=0, protected=0, batches=1, left=2, stopped_because=None, too_little=None
    )
    assert left == ["weak 0", "weak 1"]


def test_only_turns_that_a_weak_memory_tells_of_are_shown_to_the_model() -> None:
    """So no forgotten memory comes back, and a turn that a model has learned is not learned twice."""

    async def scenario() -> None:
        storage, model = await a_past(4), Model()
        await settle(storage, a_turn(4), [attrs.evolve(weak_record(4), strategy=MODEL_STRATEGY)])
        async with simulated_daemon(storage=storage, llm=model) as services:
            await services.forget.forget(weak_record(1).record_id)
            await services.relearn.relearn(PROJECT, since=None)
            assert model.shown == [text for n in (0, 2, 3) for text in (f"prompt {n}", f"answer {n}")]
            assert await titles(storage) == ["better answer 0", "better answer 2", "better answer 3", "weak 4"]

    simulate(scenario)


def test_what_happened_before_the_given_time_stays_as_it_was() -> None:
    async def scenario() -> None:
        storage, model = await a_past(3), Model()
        async with simulated_daemon(storage=storage, llm=model) as services:
            relearned = await services.relearn.relearn(PROJECT, since=EPOCH + timedelta(seconds=3))
            assert (relearned.replaced, relearned.left) == (1, 2)
            assert await titles(storage) == ["better answer 2", "weak 0", "weak 1"]

    simulate(scenario)


def test_what_is_learned_again_is_as_old_as_what_it_replaces() -> None:
    """So an old decision does not look newer than later statements, and a file changed since is noted."""

    async def scenario() -> None:
        storage = await a_past(3)
        async with simulated_daemon(storage=storage, llm=Model()) as services:
            await trio.sleep(timedelta(days=2).total_seconds())
            await services.relearn.relearn(PROJECT, since=None)
            page = await storage.list_memory_records(namespace=NAMESPACE, limit=9, offset=0)
            learned = {record.title: record.created_at for record in page.items}
            assert learned == {f"better answer {number}": weak_record(number).created_at for number in range(3)}

    simulate(scenario)


def facts_learned_again(weak: Sequence[MemoryRecord]) -> list[GraphItem]:
    """The graph's items after a prompt about the place of files was learned again, to replace ``weak``."""

    async def scenario() -> list[GraphItem]:
        storage, (prompt, answer) = InMemoryStorage(), a_turn(0)
        said = attrs.evolve(prompt, body=TextBody("Kira keeps its files in MinIO."))
        await settle(storage, [said, answer], weak)
        model = Model(lambda asked: each_answer(asked) + STORED_IN_MINIO)
        config = Config(graph=GraphConfig(learn=True))
        async with simulated_daemon(storage=storage, llm=model, config=config) as services:
            await services.relearn.relearn(PROJECT, since=None)
        return await storage.list_graph_items(GraphList(namespace=NAMESPACE, kind=GraphKind.FACT, limit=9))

    return simulate(scenario)


def test_what_a_model_reads_again_for_the_graph_is_kept_with_the_records() -> None:
    """The project was learned by rule before there was a model."""
    (found,) = facts_learned_again([weak_record(0)])
    assert isinstance(found, Fact)
    assert (found.subject, found.predicate, found.object) == ("Kira", "stored_in", "MinIO")


def test_where_much_would_be_replaced_by_little_the_graph_learns_nothing() -> None:
    assert facts_learned_again([weak_record(number, 0) for number in range(9)]) == []
