"""A forgotten memory is brought back by no relearning, no run and no undo."""

from __future__ import annotations

import attrs
import pytest
import trio

from kiro_learn.errors import UnknownRecord
from kiro_learn.model.event import EventKind
from kiro_learn.model.namespace import namespace_of
from kiro_learn.model.record import MemoryRecord
from kiro_learn.testing.daemon import a_record, an_event, simulated_daemon
from kiro_learn.testing.models import ScriptedLlm
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.services.relearning_rig import PROJECT, Model, a_turn, each_answer, settle, titles, weak_record


def told(title: str, events: str = "") -> str:
    return (
        f'<memory_record type="discovery" events="{events}"><title>{title}</title><summary>it is</summary>'
        "</memory_record>"
    )


def test_a_turn_of_two_records_of_which_one_was_forgotten_is_not_learned_again() -> None:
    async def scenario() -> tuple[list[str], list[str], int]:
        storage, model = InMemoryStorage(), Model()
        other = attrs.evolve(weak_record(7, 0), title="another of the same turn")
        await settle(storage, a_turn(0), [weak_record(0), other])
        await settle(storage, a_turn(1), [weak_record(1)])
        async with simulated_daemon(storage=storage, llm=model) as services:
            await services.forget.forget(other.record_id)
            relearned = await services.relearn.relearn(PROJECT, since=None)
            return model.shown, await titles(storage), relearned.left

    assert simulate(scenario) == (["prompt 1", "answer 1"], ["better answer 1", "weak 0"], 1)


def test_of_a_turn_the_model_is_shown_what_no_forgotten_record_tells_of() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        storage, model = InMemoryStorage(), Model(each_answer)
        prompt, answer = a_turn(0)
        of_prompt = attrs.evolve(weak_record(7), title="of the prompt", source_event_ids=(prompt.event_id,))
        of_answer = attrs.evolve(weak_record(0), source_event_ids=(answer.event_id,))
        await settle(storage, (prompt, answer), [of_prompt, of_answer])
        async with simulated_daemon(storage=storage, llm=model) as services:
            await services.forget.forget(of_prompt.record_id)
            await services.relearn.relearn(PROJECT, since=None)
        return [text for text in model.asked if "prompt 0" in text], model.shown

    assert simulate(scenario) == ([], ["answer 0"])


def test_a_run_that_was_under_way_does_not_bring_it_back() -> None:
    """The prompt had a record before its answer came, and is shown to the learner again with the answer."""

    async def scenario() -> list[str]:
        storage = InMemoryStorage()
        learner = ScriptedLlm(lambda _prompt: told("of the prompt", "1") + told("of the answer", "2"))
        prompt, answer = a_turn(0)
        async with simulated_daemon(storage=storage, llm=learner) as services:
            await settle(storage, [prompt], [attrs.evolve(a_record(5), source_event_ids=(prompt.event_id,))])
            learner.gate = trio.Event()
            await services.capture.take(answer)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(services.learn.flush, PROJECT)
                await trio.sleep(1)
                await services.forget.forget(a_record(5).record_id)
                learner.gate.set()
        return await titles(storage)

    assert simulate(scenario) == ["of the answer"]


def test_a_prompt_that_was_forgotten_is_not_shown_with_its_answer() -> None:
    async def scenario() -> list[str]:
        storage = InMemoryStorage()
        asked: list[str] = []
        prompt, answer = a_turn(0)
        await settle(storage, [prompt], [attrs.evolve(a_record(5), source_event_ids=(prompt.event_id,))])

        def learn(shown: str) -> str:
            asked.append(shown)
            return "<skip/>"

        learner = ScriptedLlm(learn)
        async with simulated_daemon(storage=storage, llm=learner) as services:
            await services.forget.forget(a_record(5).record_id)
            await services.capture.take(answer)
            await services.learn.flush(PROJECT)
        return [shown for shown in asked if "prompt 0" in shown]

    assert simulate(scenario) == []


@pytest.mark.parametrize("said", ["Rotate the key weekly", "rotate the **key** Weekly"])
def test_the_same_words_from_other_events_are_not_learned(said: str) -> None:
    async def scenario() -> list[str]:
        storage = InMemoryStorage()
        learner = ScriptedLlm(lambda _prompt: told(said) + told("something new"))
        forgotten = a_record(50, "Rotate the key weekly", "it is")
        async with simulated_daemon(storage=storage, llm=learner) as services:
            await services.remember.put(forgotten)
            await services.forget.forget(forgotten.record_id)
            await services.capture.take(an_event(1, kind=EventKind.NOTE, text="some note"))
            assert (await services.learn.flush(PROJECT)).record_count == 1
        return await titles(storage)

    assert simulate(scenario) == ["something new"]


def test_what_a_person_puts_again_is_kept() -> None:
    async def scenario() -> list[str]:
        storage = InMemoryStorage()
        record: MemoryRecord = a_record(1, "Rotate the key weekly")
        async with simulated_daemon(storage=storage) as services:
            await services.remember.put(record)
            await services.forget.forget(record.record_id)
            await services.remember.put(record)
        return await titles(storage)

    assert simulate(scenario) == ["Rotate the key weekly"]


def test_a_vector_that_comes_late_brings_nothing_back() -> None:
    async def scenario() -> tuple[list[str], int]:
        storage = InMemoryStorage()
        await settle(storage, [], [a_record(1), a_record(2)])
        async with simulated_daemon(storage=storage) as services:
            await services.forget.forget(a_record(1).record_id)
            await services.learn.backfill()
        return await titles(storage), (await storage.count_embeddings(None)).total

    assert simulate(scenario) == (["record 2"], 1)


def test_a_relearning_that_says_the_same_words_commits_all_but_these() -> None:
    async def scenario() -> tuple[list[str], int]:
        storage = InMemoryStorage()
        forgotten = a_record(50, "Rotate the key weekly", "it is")
        await settle(storage, [*a_turn(0), *a_turn(1)], [weak_record(0), weak_record(1), forgotten])
        learned = told("Rotate the key weekly", "1 2") + told("something new", "3 4")
        async with simulated_daemon(storage=storage, llm=Model(lambda _prompt: learned)) as services:
            await services.forget.forget(forgotten.record_id)
            relearned = await services.relearn.relearn(PROJECT, since=None)
        return await titles(storage), relearned.replaced

    assert simulate(scenario) == (["something new", "weak 0"], 1)


RULE = "Rotate the signing key every single week"


async def three_with_the_same_words(storage: InMemoryStorage) -> tuple[MemoryRecord, MemoryRecord, MemoryRecord]:
    """A rule, a memory of the rule's turn, and a later memory that quotes the rule; an unrelated one is stored too."""
    rule = a_record(1, RULE, f"{RULE}.")
    turn = attrs.evolve(a_record(2, "The key is old", f"Asked: {RULE}. Why?"), source_event_ids=rule.source_event_ids)
    later = a_record(3, "Keys", "Somebody asked.", namespace=rule.namespace)
    later = attrs.evolve(later, facts=(f"{RULE} \u2192 agreed",))
    await settle(storage, [], [rule, turn, later, a_record(4, "Rotate the logs every week", "They fill the disk.")])
    return rule, turn, later


def test_what_holds_the_same_words_is_named_and_stays() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        rule, turn, later = await three_with_the_same_words(storage)
        async with simulated_daemon(storage=storage) as services:
            assert await services.forget.same_words(rule.record_id) == (turn, later)
            done = await services.forget.forget(rule.record_id)
            assert (done.record_ids, done.same_words) == ((rule.record_id,), (turn, later))
        assert len(await titles(storage)) == 3

    simulate(scenario)


def test_what_holds_the_same_words_goes_too_if_that_is_asked_for() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        rule, turn, later = await three_with_the_same_words(storage)
        async with simulated_daemon(storage=storage) as services:
            done = await services.forget.forget(rule.record_id, with_same_words=True)
            assert (done.record_ids, done.same_words) == ((rule.record_id, turn.record_id, later.record_id), ())
        assert await titles(storage) == ["Rotate the logs every week"]

    simulate(scenario)


def test_another_projects_memories_are_neither_named_nor_taken() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        mine, other = a_record(1, RULE), a_record(2, RULE, namespace=namespace_of("ada", "b" * 64))
        await settle(storage, [], [mine, other])
        async with simulated_daemon(storage=storage) as services:
            done = await services.forget.forget(mine.record_id, with_same_words=True)
            assert done.record_ids == (mine.record_id,)
            with pytest.raises(UnknownRecord):
                await services.forget.forget(mine.record_id, with_same_words=True)

    simulate(scenario)
