"""A model that learns little from much erases nothing: binding records stay, and a person confirms a bad ratio."""

from __future__ import annotations

import attrs

from kiro_learn.model.event import TextBody
from kiro_learn.model.record import KnowledgeType, MemoryRecord, Origin
from kiro_learn.services.learn import TooLittle
from kiro_learn.testing.daemon import simulated_daemon
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.services.relearning_rig import PROJECT, Model, a_past, a_turn, settle, titles, weak_record

RULES = ("Always use pnpm here, never npm", "Never commit to main directly, open a pull request")


def one_line(_prompt: str) -> str:
    """The only record that this model ever learns."""
    return (
        '<memory_record type="session_summary"><title>Work was done</title><summary>On the shop.</summary>'
        "</memory_record>"
    )


def rule(number: int, text: str) -> MemoryRecord:
    return attrs.evolve(
        weak_record(number), title=text, summary=text, origin=Origin.USER, knowledge_type=KnowledgeType.CONSTRAINT
    )


async def four_memories_and_two_rules() -> InMemoryStorage:
    storage = await a_past(4)
    for number, text in enumerate(RULES, start=4):
        await settle(storage, a_turn(number), [rule(number, text)])
    return storage


def test_rules_stay_where_a_model_has_one_line_for_all() -> None:
    async def scenario() -> None:
        storage = await four_memories_and_two_rules()
        async with simulated_daemon(storage=storage, llm=Model(one_line)) as services:
            relearned = await services.relearn.relearn(PROJECT, since=None)
            assert (relearned.records, relearned.replaced, relearned.protected) == (1, 4, 2)
            assert await titles(storage) == sorted([*RULES, "Work was done"])

    simulate(scenario)


def test_a_rule_is_replaced_by_a_record_that_holds_it() -> None:
    def learned(_prompt: str) -> str:
        return (
            '<memory_record type="decision"><title>Use pnpm, not npm</title><summary>The user wants it.</summary>'
            "</memory_record>"
        )

    async def scenario() -> None:
        storage = InMemoryStorage()
        await settle(storage, a_turn(0), [rule(0, RULES[0])])
        async with simulated_daemon(storage=storage, llm=Model(learned)) as services:
            relearned = await services.relearn.relearn(PROJECT, since=None)
            assert (relearned.replaced, relearned.protected) == (1, 0)
            assert await titles(storage) == ["Use pnpm, not npm"]

    simulate(scenario)


def test_a_batch_that_would_keep_far_less_changes_nothing_and_says_what_would_go() -> None:
    async def scenario() -> None:
        storage = await a_past(6)
        before = await titles(storage)
        async with simulated_daemon(storage=storage, llm=Model(one_line)) as services:
            relearned = await services.relearn.relearn(PROJECT, since=None)
            assert (relearned.replaced, relearned.records, relearned.left) == (0, 0, 6)
            assert relearned.stopped_because == "6 memories would be replaced by 1"
            assert relearned.too_little == TooLittle(going=tuple(before), coming=("Work was done",))
            assert await titles(storage) == before

    simulate(scenario)


def test_it_is_done_once_somebody_has_agreed() -> None:
    async def scenario() -> None:
        storage = await a_past(6)
        async with simulated_daemon(storage=storage, llm=Model(one_line)) as services:
            relearned = await services.relearn.relearn(PROJECT, since=None, accept_few=True)
            assert (relearned.replaced, relearned.records, relearned.too_little) == (6, 1, None)
            assert await titles(storage) == ["Work was done"]

    simulate(scenario)


def test_a_preview_names_what_may_go_and_what_is_protected() -> None:
    async def scenario() -> None:
        storage = await four_memories_and_two_rules()
        async with simulated_daemon(storage=storage, llm=Model(one_line)) as services:
            preview = await services.relearn.preview(PROJECT, since=None)
            assert [each.title for each in preview.memories if each.is_protected] == list(RULES)
            assert [each.title for each in preview.memories if not each.is_protected] == [
                f"weak {number}" for number in range(4)
            ]
            assert await titles(storage) == sorted([*RULES, *(f"weak {number}" for number in range(4))])

    simulate(scenario)


async def a_rule_beside_what_was_learned() -> InMemoryStorage:
    """A turn whose prompt is a rule, with the rule and another memory that were learned from it without a model."""
    storage, (prompt, answer) = InMemoryStorage(), a_turn(0)
    stated = attrs.evolve(rule(1, RULES[0]), source_event_ids=(prompt.event_id,))
    await settle(storage, [attrs.evolve(prompt, body=TextBody(RULES[0])), answer], [weak_record(0), stated])
    return storage


def test_a_rule_that_was_there_before_is_not_counted_where_it_is_put_back_beside_a_models_words() -> None:
    async def scenario() -> None:
        storage = await a_rule_beside_what_was_learned()
        async with simulated_daemon(storage=storage, llm=Model(one_line)) as services:
            relearned = await services.relearn.relearn(PROJECT, since=None)
            assert (relearned.records, relearned.replaced, relearned.left) == (1, 1, 0)
            assert (await storage.list_runs(9))[0].record_count == 1
            assert await titles(storage) == [RULES[0], "Work was done"]

    simulate(scenario)


def test_a_rule_that_is_put_back_is_no_reason_to_drop_what_the_model_passed_over() -> None:
    async def scenario() -> None:
        storage = await a_rule_beside_what_was_learned()
        async with simulated_daemon(storage=storage, llm=Model(lambda _prompt: "<skip/>")) as services:
            relearned = await services.relearn.relearn(PROJECT, since=None)
            assert (relearned.records, relearned.replaced, relearned.stopped_because) == (0, 0, None)
            assert await titles(storage) == [RULES[0], "weak 0"]

    simulate(scenario)


def test_a_rule_that_is_put_back_makes_up_for_nothing_that_would_go() -> None:
    async def scenario() -> None:
        storage = await a_rule_beside_what_was_learned()
        await settle(storage, [], [weak_record(number, 0) for number in range(2, 6)])
        async with simulated_daemon(storage=storage, llm=Model(one_line)) as services:
            relearned = await services.relearn.relearn(PROJECT, since=None)
            assert relearned.stopped_because == "5 memories would be replaced by 1"
            assert relearned.too_little is not None
            assert relearned.too_little.coming == ("Work was done",)

    simulate(scenario)
