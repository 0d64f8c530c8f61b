"""The context block of the whole memory: as much about the things a message names as can be read in time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

import attrs
import pytest
import trio

from kiro_learn.config import Config, GraphConfig, RecallConfig
from kiro_learn.errors import StorageBusy
from kiro_learn.model.event import TextBody
from kiro_learn.model.graph import EntityType, GraphItem, GraphKind, Preference, Validity
from kiro_learn.model.retrieval import Retrieval
from kiro_learn.pipelines.recall.context import Context, ContextBuilder, ContextRequest
from kiro_learn.pipelines.recall.recall_trace import CUT_OFF
from kiro_learn.ports.storage.graph import GraphWalk, Reached
from kiro_learn.retrieval.graph.block import Trigger
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event
from kiro_learn.testing.models import HashEmbedder
from kiro_learn.testing.storage import InMemoryStorage, transact_one
from tests.unit.services.in_daemon import in_daemon
from tests.unit.storage import contract_graph as graph

KIRA = graph.entity(1, "Kira", namespace=NAMESPACE, type=EntityType.PROJECT)
VERCEL = graph.entity(2, "Vercel", namespace=NAMESPACE)


def fact(number: int, object_: str, **values: Any) -> Any:
    return graph.fact(number, KIRA, object_, last_confirmed_at=values.pop("confirmed_at", now()), **values)


def now() -> datetime:
    return datetime.fromisoformat("2026-01-05T12:00:00+00:00")


def preference(number: int, **values: Any) -> Preference:
    made: Preference = graph.preference(number, namespace=NAMESPACE, last_confirmed_at=now(), **values)
    return made


async def put(storage: InMemoryStorage, *items: GraphItem) -> None:
    await transact_one(storage, lambda transaction: transaction.put_graph_items(items))


def told(
    scenario: Callable[[Services], Awaitable[None]],
    *items: GraphItem,
    storage: InMemoryStorage | None = None,
    **parts: Any,
) -> None:
    kept = storage or InMemoryStorage()

    async def filled(services: Services) -> None:
        await put(kept, *items)
        await scenario(services)

    in_daemon(filled, storage=kept, **parts)


async def context(services: Services, message: str, **values: Any) -> Context:
    return await services.contexts.context(NAMESPACE, ContextRequest(message=message, **values))


def test_what_a_message_names_is_told_with_its_facts() -> None:
    async def scenario(services: Services) -> None:
        found = await context(services, "where does Kira run?")
        assert found.text == "### Known Context\n- Kira runs on Vercel (confidence: 1)"
        assert found.trigger is Trigger.SESSION_START
        assert found.entities == {KIRA.item_id: "Kira"}
        assert found.tokens <= found.budget

    told(scenario, KIRA, fact(1, "Vercel"))


def test_it_means_what_the_message_before_named() -> None:
    async def scenario(services: Services) -> None:
        found = await context(services, "and where does it run?", history=("Tell me about Kira",))
        assert "Kira runs on Vercel" in found.text
        assert (await context(services, "and where is lunch?", history=("Tell me about Kira",))).text == ""

    told(scenario, KIRA, fact(1, "Vercel"))


def test_as_of_a_date_what_held_then_is_told() -> None:
    past = Validity(observed_at=now(), valid_from=now() - timedelta(days=300), valid_until=now() - timedelta(days=100))
    current = Validity(observed_at=now(), valid_from=now() - timedelta(days=100))

    async def scenario(services: Services) -> None:
        found = await context(services, "where did Kira run as of 2025-06-01?")
        assert "Netlify" in found.text
        assert "Vercel" not in found.text
        now_ = (await context(services, "where does Kira run now?")).text
        assert "Netlify" not in now_
        before = (await context(services, "what was Kira running on before?")).text
        assert "Kira runs on Netlify (confidence: 1, until 2025-09-27)" in before

    told(scenario, KIRA, fact(1, "Netlify", validity=past), fact(2, "Vercel", validity=current))


def test_a_fact_that_faded_is_not_told() -> None:
    async def scenario(services: Services) -> None:
        found = (await context(services, "where does Kira run?")).text
        assert "Vercel (confidence: 0.5)" in found
        assert "Netlify" not in found

    faded = fact(1, "Netlify", confirmed_at=now() - timedelta(days=1_000))
    told(scenario, KIRA, faded, fact(2, "Vercel", confirmed_at=now() - timedelta(days=120)))


def test_preferences_come_first_the_strongest_of_them_first() -> None:
    async def scenario(services: Services) -> None:
        found = await context(services, "where does Kira run?")
        assert found.text.splitlines()[:3] == ["### Preferences", "- tools.editor: vim", "- tools.shell: fish"]

    weak = preference(2, key="shell", value="fish", strength=0.2)
    told(scenario, KIRA, fact(1, "Vercel"), weak, preference(1, value="vim", strength=0.9))


def test_a_memory_of_a_preference_is_not_told_beside_it() -> None:
    async def scenario(services: Services) -> None:
        for number, text in ((1, "Always use Vim."), (2, "Always use Vim for the changelog of the project.")):
            await services.remember.put(a_record(number, text))
        found = await context(services, "always use what, Vim?")
        assert [line.partition("] ")[2] for line in found.text.splitlines() if "ago]" in line or "now]" in line] == [
            "Always use Vim for the changelog of the project."
        ]

    told(scenario, preference(1, value="always use vim"))


def test_a_time_that_is_named_keeps_the_memories_of_that_time() -> None:
    async def scenario(services: Services) -> None:
        for number, days in ((1, 0), (2, 3), (3, 40)):
            made = a_record(number, f"Deployed version {number}", f"the deploy number {number}")
            await services.remember.put(attrs.evolve(made, created_at=now() - timedelta(days=days)))
        found = (await context(services, "what did we deploy 3 days ago?")).text
        assert "Deployed version 2" in found
        assert "Deployed version 3" not in found

    told(scenario)


def test_a_time_at_which_something_else_happened_hides_nothing_that_was_learned_before() -> None:
    async def scenario(services: Services) -> None:
        for number, days in ((1, 0), (2, 40)):
            made = a_record(number, f"Made the login {number} work", f"the login of shop {number}")
            await services.remember.put(attrs.evolve(made, created_at=now() - timedelta(days=days)))
        found = (await context(services, "since yesterday the login fails, why?")).text
        assert "login 1 work" in found
        assert "login 2 work" in found

    told(scenario)


def test_a_memory_is_as_old_as_what_was_said_however_late_it_was_learned() -> None:
    async def scenario(services: Services) -> None:
        said = attrs.evolve(an_event(1), valid_time=now() - timedelta(days=3))
        await services.capture.take(said)
        await services.remember.put(attrs.evolve(a_record(1, "Deployed version 2"), created_at=now()))
        assert "- [3 days ago] Deployed version 2" in (await context(services, "what did we deploy 3 days ago?")).text
        assert "Deployed" not in (await context(services, "what did we deploy today?")).text

    told(scenario)


def test_a_message_that_asks_to_remember_gets_what_it_asks_for_and_nothing_newer() -> None:
    async def scenario(services: Services) -> None:
        for number, title in ((1, "Broke the login"), (2, "Painted the fence")):
            await services.remember.put(a_record(number, title, f"{title} one day"))
        found = (await context(services, "remember when we broke the login?")).text
        assert "Broke the login" in found
        assert "fence" not in found
        everything = (await context(services, "what did we do last time?")).text
        assert "fence" in everything

    told(scenario)


def test_what_was_told_is_left_out_and_costs_nothing() -> None:
    async def scenario(services: Services) -> None:
        ids = frozenset({fact(1, "Vercel").item_id, preference(1).item_id})
        assert (await context(services, "where does Kira run?", told=ids)).text == ""

    told(scenario, KIRA, fact(1, "Vercel"), preference(1))


class BrokenWalk(InMemoryStorage):
    """A store whose walk of the graph fails after ``seconds``."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    async def walk_graph(self, walk: GraphWalk) -> list[Reached]:
        await trio.sleep(self._seconds)
        raise StorageBusy("another process holds the lock")


@pytest.mark.parametrize(("seconds", "problem"), [(0, "lock"), (9, "late")])
def test_a_strategy_that_fails_or_is_late_is_left_out_and_named(seconds: float, problem: str) -> None:
    async def scenario(services: Services) -> None:
        began = trio.current_time()
        found = await context(services, "is Kira on Vercel?")
        assert trio.current_time() - began <= 0.5
        assert "Kira runs on Vercel" in found.text  # found by its words
        (reason,) = [each for each in found.degraded if each.startswith("graph walk")]
        assert problem in reason

    told(scenario, KIRA, fact(1, "Vercel"), storage=BrokenWalk(seconds))


def test_the_same_question_is_answered_again_from_the_cache_until_something_changes() -> None:
    storage = InMemoryStorage()

    async def scenario(services: Services) -> None:
        first = await context(services, "where does Kira run?")
        assert await context(services, "where does Kira run?") is first
        assert await context(services, "where does Kira run?", profile="literal") is not first
        await services.graph_items.forget(NAMESPACE, fact(1, "Vercel").item_id)
        assert (await context(services, "where does Kira run?")).text == ""
        await services.remember.put(a_record(1, "Where Kira runs", "Kira runs in the cellar"))
        found = await context(services, "where does Kira run?")
        assert "Where Kira runs" in found.text
        await trio.sleep(61)
        assert await context(services, "where does Kira run?") is not found

    told(scenario, KIRA, fact(1, "Vercel"), storage=storage)


def test_another_topic_is_noticed_and_what_it_refers_to_is_not_guessed() -> None:
    history = ("Kira deploys invoices", "Kira deploys invoices again")

    async def scenario(services: Services) -> None:
        found = await context(services, "it tastes like noodles from yesterday's kitchen", history=history)
        assert found.trigger is Trigger.TOPIC_CHANGE
        assert found.entities == {}
        same = await context(services, "it deploys invoices again, Kira deploys", history=history)
        assert same.trigger is Trigger.ENTITY

    told(scenario, KIRA, fact(1, "Vercel"))


GRAPH = Config(recall=RecallConfig(prompts="all", pipeline="graph"), graph=GraphConfig(learn=True))


def test_with_the_graph_pipeline_a_prompt_is_answered_by_it() -> None:
    async def answer(services: Services, text: str) -> Retrieval:
        return await services.recall.answer(NAMESPACE, TextBody(text), session_id="s")

    async def scenario(services: Services) -> None:
        await services.remember.put(a_record(1, "Where Kira runs", "Kira runs in the cellar"))
        await trio.sleep(1)
        found = await answer(services, "where does Kira run?")
        assert "### Known Context" in found.context
        assert found.record_ids == (a_record(1).record_id,)
        again = await answer(services, "where does Kira run, then?")
        assert again.record_ids == ()
        services.recall.take_back(NAMESPACE, "s", found)
        assert (await answer(services, "so where does Kira run?")).record_ids == found.record_ids
        (report, *_) = services.retrievals.latest(namespace=NAMESPACE, limit=9)
        assert report.records[0].shown

    told(scenario, KIRA, fact(1, "Vercel"), config=GRAPH)


def test_a_block_has_no_more_bytes_than_it_may() -> None:
    async def scenario(services: Services) -> None:
        found = await services.recall.answer(NAMESPACE, TextBody("where does Kira run?"))
        assert 0 < len(found.context.encode()) <= 300

    config = attrs.evolve(GRAPH, recall=attrs.evolve(GRAPH.recall, context_bytes=300))
    told(scenario, KIRA, *(fact(number, "ü" * 60 + str(number)) for number in range(9)), config=config)


def test_a_prompt_is_answered_in_time_when_the_model_hangs() -> None:
    model = HashEmbedder()

    async def scenario(services: Services) -> None:
        model.gate = trio.Event()
        with trio.fail_after(0.501):
            found = await services.recall.answer(NAMESPACE, TextBody("where does Kira run?"))
        model.gate.set()
        assert "Kira runs on Vercel" in found.context

    told(scenario, KIRA, fact(1, "Vercel"), config=GRAPH, model=model)


def test_a_graph_that_fails_is_named_and_leaves_the_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    async def search_for(*_arguments: object, **_named: object) -> None:
        await trio.lowlevel.checkpoint()
        raise StorageBusy("another process holds the lock")

    async def scenario(services: Services) -> None:
        await services.remember.put(a_record(1, "Where Kira runs", "Kira runs in the cellar"))
        monkeypatch.setattr(ContextBuilder, "search_for", search_for)
        found = await services.recall.answer(NAMESPACE, TextBody("where does Kira run?"))
        assert found.record_ids == (a_record(1).record_id,)
        (problem,) = found.degraded
        assert problem.startswith("graph: ")
        assert (await services.health.status()).recall.partial == 1

    told(scenario, config=GRAPH)


def test_a_graph_that_cannot_be_told_leaves_the_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    def told_of(*_arguments: object, **_named: object) -> None:
        raise ValueError("no such section")

    async def scenario(services: Services) -> None:
        await services.remember.put(a_record(1, "Where Kira runs", "Kira runs in the cellar"))
        monkeypatch.setattr(ContextBuilder, "told", told_of)
        found = await services.recall.answer(NAMESPACE, TextBody("where does Kira run?"))
        assert found.record_ids == (a_record(1).record_id,)
        assert [problem.partition(":")[0] for problem in found.degraded] == ["graph"]

    told(scenario, config=GRAPH)


def test_a_prompt_without_an_answer_is_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    async def search_for(*_arguments: object, **_named: object) -> None:
        await trio.sleep(9)

    async def scenario(services: Services) -> None:
        monkeypatch.setattr(ContextBuilder, "search_for", search_for)
        found = await services.recall.answer(NAMESPACE, TextBody("where does Kira run?"))
        assert (found.context, len(found.degraded)) == ("", 1)
        (report,) = services.retrievals.latest(namespace=NAMESPACE, limit=9)
        assert (report.degraded, report.silent_because) == (found.degraded, CUT_OFF)
        assert (await services.health.status()).recall.partial == 1

    told(scenario, config=GRAPH)


@pytest.mark.parametrize("form", ["excerpts", "documented"])
def test_the_graph_is_told_below_the_memories_that_are_told_without_it(form: Literal["excerpts", "documented"]) -> None:
    contexts: list[str] = []

    async def scenario(services: Services) -> None:
        await services.remember.put(a_record(1, "Where Kira runs", "Kira runs in the cellar"))
        await trio.sleep(1)
        contexts.append((await services.recall.answer(NAMESPACE, TextBody("where does Kira run?"))).context)

    alone = Config(recall=RecallConfig(format=form))
    for config in (alone, attrs.evolve(alone, recall=attrs.evolve(alone.recall, pipeline="graph"))):
        told(scenario, KIRA, fact(1, "Vercel"), config=config)

    memories, both = contexts
    assert "cellar" in memories
    assert both == f"{memories.rstrip()}\n\n### Known Context\n- Kira runs on Vercel (confidence: 1)"


def test_every_kind_can_be_told_and_each_line_has_its_reason() -> None:
    things: Sequence[GraphItem] = (
        KIRA,
        fact(1, "Vercel"),
        preference(1),
        graph.procedure(1, namespace=NAMESPACE, name="Deploy Kira", confidence=0.8),
    )

    async def scenario(services: Services) -> None:
        found = await context(services, "deploy Kira")
        kinds = {item.item_id[:2] for item in found.items}
        assert kinds == {GraphKind.FACT, GraphKind.PREFERENCE, GraphKind.PROCEDURE}
        assert all(item.parts for item in found.items)

    told(scenario, *things)
