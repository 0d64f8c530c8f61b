"""A decision that was amended is told with what amended it, the newer one first, at any size of the block."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations

import attrs
import pytest
import trio

from kiro_learn.config import Config, RecallConfig
from kiro_learn.model.correction import Correction
from kiro_learn.model.event import TextBody
from kiro_learn.model.record import KnowledgeType, MemoryRecord, Origin
from kiro_learn.model.retrieval import Retrieval
from kiro_learn.retrieval.ranking.succession import replacing
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event, simulated_daemon
from kiro_learn.testing.simulation import simulate

QUESTION = TextBody("which message broker carries the orders of the shop?")


def on_day(number: int, title: str, summary: str) -> MemoryRecord:
    record = a_record(number, title, summary)
    return attrs.evolve(record, created_at=record.created_at + timedelta(days=number))


OLD = on_day(1, "RabbitMQ carries the orders", "The message broker that carries the orders of the shop is RabbitMQ")
NEW = on_day(9, "Moved to Kafka", "RabbitMQ is gone, replaced by Kafka, since it lost messages under load")


async def other_records(services: Services) -> None:
    for number in range(20, 26):
        await services.remember.put(on_day(number, f"Part {number}", f"The footer of page {number} is grey"))
    await trio.sleep(1)


def asked(most_bytes: int, *records: MemoryRecord, prompt: TextBody = QUESTION) -> Retrieval:
    async def scenario() -> Retrieval:
        config = Config(recall=RecallConfig(context_bytes=most_bytes, task_bytes=most_bytes, brief_bytes=most_bytes))
        async with simulated_daemon(config=config) as services:
            for each in records or (OLD, NEW):
                await services.remember.put(each)
            await other_records(services)
            return await services.recall.answer(NAMESPACE, prompt)

    return simulate(scenario)


def test_both_are_told_the_newer_one_first_with_what_was_before() -> None:
    found = asked(4_000)
    assert found.record_ids[:2] == (NEW.record_id, OLD.record_id)
    assert f'was "RabbitMQ carries the orders" until {NEW.created_at:%Y-%m-%d}' in found.context


ALSO_OLD = on_day(2, "Orders wait in Memcached", "Orders of the shop that no message broker carries wait in Memcached")
OF_BOTH = attrs.evolve(
    on_day(9, "Kafka has all of it", "One message broker carries the orders of the shop: Kafka"),
    facts=(replacing(OLD.title), replacing(ALSO_OLD.title)),
)


@pytest.mark.parametrize("most_bytes", [400, 500, 600, 700, 800, 1_000, 2_000, 4_000])
def test_what_replaced_two_is_told_above_both_with_what_was_before(most_bytes: int) -> None:
    found = asked(most_bytes, ALSO_OLD, OLD, OF_BOTH)
    assert {OLD.record_id, ALSO_OLD.record_id}.isdisjoint(found.record_ids) or OF_BOTH.record_id in found.record_ids
    if most_bytes == 4_000:
        assert found.record_ids[0] == OF_BOTH.record_id
        assert {OLD.record_id, ALSO_OLD.record_id} <= {*found.record_ids}
        day = f"{OF_BOTH.created_at:%Y-%m-%d}"
        said = {f'was "{one.title}" and "{other.title}" until {day}' for one, other in permutations((OLD, ALSO_OLD))}
        assert any(each in found.context for each in said)
        assert "from before" not in found.context


def test_what_ended_one_by_its_words_and_states_that_it_replaced_another_is_told_with_both() -> None:
    """Only the prompt makes RabbitMQ a name here: without it, so many speak of it that it is the topic."""
    of_both = attrs.evolve(
        on_day(9, "RabbitMQ is gone", "Orders of the shop go through Kafka"), facts=(replacing(ALSO_OLD.title),)
    )
    others = [
        on_day(3 + each, f"RabbitMQ carries the orders of shop {each}", f"Queue {each} of RabbitMQ carries them")
        for each in range(5)
    ]
    found = asked(
        4_000, OLD, ALSO_OLD, of_both, *others, prompt=TextBody("does RabbitMQ carry the orders of the shop?")
    )
    day = f"{of_both.created_at:%Y-%m-%d}"
    said = {f'was "{one.title}" and "{other.title}" until {day}' for one, other in permutations((OLD, ALSO_OLD))}
    assert any(each in found.context for each in said), found.context


@pytest.mark.parametrize("most_bytes", [300, 400, 500, 700])
def test_the_older_one_is_never_told_alone(most_bytes: int) -> None:
    told = asked(most_bytes).record_ids
    assert OLD.record_id not in told or NEW.record_id in told


def test_what_a_person_corrected_says_what_it_was() -> None:
    async def scenario() -> Retrieval:
        async with simulated_daemon() as services:
            await services.remember.put(OLD)
            await other_records(services)
            corrected = Correction(
                title="Kafka carries the orders", summary="The message broker of the orders is Kafka"
            )
            await services.project_records.edit(str(NAMESPACE), OLD.record_id, corrected)
            await trio.sleep(1)
            return await services.recall.answer(NAMESPACE, QUESTION)

    found = simulate(scenario)
    assert 'was "RabbitMQ carries the orders" until ' in found.context


def a_rule(number: int, title: str) -> MemoryRecord:
    return attrs.evolve(on_day(number, title, title), knowledge_type=KnowledgeType.CONSTRAINT, origin=Origin.USER)


def test_an_overruled_rule_is_told_as_what_was_before_the_newer_one() -> None:
    old, new = (
        a_rule(1, "Always squash merges of the shop"),
        a_rule(9, "Never squash merges of the shop, we need bisect"),
    )

    async def scenario() -> tuple[Retrieval, Retrieval]:
        async with simulated_daemon() as services:
            await services.remember.put(old)
            await services.remember.put(new)
            await other_records(services)
            asked = TextBody("how did we want to squash merges of the shop?")
            both = await services.recall.answer(NAMESPACE, asked)
            brief = await services.session_context.context(NAMESPACE, folder=None)
            event = an_event(99)
            services.session_context.told(event, brief)
            return both, await services.recall.answer(NAMESPACE, asked, session_id="s")

    both, later = simulate(scenario)
    assert new.record_id in both.record_ids
    assert old.record_id not in both.record_ids
    assert f'was "Always squash merges of the shop" until {new.created_at:%Y-%m-%d}' in both.context
    assert old.record_id not in later.record_ids
