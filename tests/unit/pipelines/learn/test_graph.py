"""Additions of a learning run to the graph: by rule, and from the part of a model's answer that is for the graph."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
import trio

from kiro_learn.config import Config, GraphConfig
from kiro_learn.model.event import EventKind, JsonBody, TextBody
from kiro_learn.model.graph import GraphKind
from kiro_learn.pipelines.learn import graph
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, an_event
from kiro_learn.testing.models import ScriptedLlm
from tests.unit.services.in_daemon import in_daemon

GRAPH = '<graph><fact subject="Kira" subject_type="project" predicate="stored_in" object="MinIO" events="1"/></graph>'
SAID = "Kira keeps its files in MinIO. We use Redis for the sessions."


def facts_after(answer: str, *, learn: bool) -> set[tuple[str, str]]:
    prompts: list[str] = []
    found: set[tuple[str, str]] = set()

    def script(prompt: str) -> str:
        prompts.append(prompt)
        return answer

    async def scenario(services: Services) -> None:
        await services.capture.take(an_event(1, kind=EventKind.PROMPT, body=TextBody(SAID)))
        await services.capture.take(an_event(2, kind=EventKind.SESSION_SUMMARY, body=TextBody("Noted.")))
        await services.learn.flush("a" * 64)
        await trio.sleep(1)
        items: Any = (await services.graph_items.list(NAMESPACE, GraphKind.FACT, limit=9)).items
        found.update((fact.predicate, fact.object) for fact in items)

    in_daemon(scenario, llm=ScriptedLlm(script), config=Config(graph=GraphConfig(learn=learn)))
    assert ("<graph>" in prompts[0]) == learn
    return found


def test_a_model_and_the_rules_are_both_heard() -> None:
    assert facts_after(f"<skip/>{GRAPH}", learn=True) == {("stored_in", "MinIO"), ("uses", "Redis")}


def test_a_model_that_says_nothing_for_the_graph_leaves_the_rules() -> None:
    assert facts_after("<skip/>", learn=True) == {("uses", "Redis")}


def test_nothing_is_asked_and_nothing_learned_where_the_graph_is_off() -> None:
    assert facts_after(f"<skip/>{GRAPH}", learn=False) == set()


def test_a_command_whose_words_are_no_texts_costs_nothing() -> None:
    """Agents pass on whatever JSON a model wrote."""
    given = json.dumps({"command": ["pnpm", 1, None, {"a": []}]})
    body = JsonBody({"tool_name": "shell", "tool_input": given, "tool_response": "ok"})
    assert learned_of(body) == {("uses", "pnpm")}


def test_a_project_whose_folder_has_a_long_name_is_learned_of() -> None:
    """A folder's name may have 255 bytes, an entity's name 200 characters."""
    found = learned_of(TextBody("We use Redis for the sessions."), project_path="/home/ada/" + "p" * 255)
    assert found == {("uses", "Redis")}


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("_drafts_of", "reading was ended by an unexpected TypeError"),
        ("plan_graph", "a write was ended by an unexpected TypeError"),
    ],
)
def test_a_defect_in_the_graph_costs_no_memory_and_is_named(
    place: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error is caught where events are read and in the transaction, where it would end the writer."""

    def broken(*_: object, **__: object) -> None:
        raise TypeError("with contents")

    monkeypatch.setattr(graph, place, broken)

    async def scenario(services: Services) -> None:
        for number in range(8):  # more often than a supervised actor may crash
            await services.capture.take(an_event(2 * number, body=TextBody(SAID)))
            await services.capture.take(
                an_event(2 * number + 1, kind=EventKind.SESSION_SUMMARY, body=TextBody("Noted."))
            )
            flushed = await services.learn.flush("a" * 64)
            assert (flushed.event_count, flushed.record_count) == (2, 2)
        assert {run.problem for run in (await services.health.status()).runs} == {f"the graph was not learned: {said}"}

    in_daemon(scenario, config=Config(graph=GraphConfig(learn=True)))


@pytest.mark.parametrize("is_flushed_between", [True, False])
@pytest.mark.parametrize(
    ("said", "holding", "retired"),
    [
        (("The port is 8080.", "That's wrong, the port is 9090, not 8080"), {"9090"}, {"8080"}),
        (("The port is 8080.", "correction, that was the other repo"), set(), {"8080"}),
        (("The port is 8080.", "Correction, that was the other repo. The port is 4001."), {"4001"}, {"8080"}),
        (("The port is 8080. We use Redis.", "Scratch that."), {"8080"}, {"Redis"}),
        (("The port is 8080.", "Please go on.", "That was the other repo."), {"8080"}, set()),
        (("Let's do a role play.", "We use MySQL.", "End of the role play.", "We use Redis."), {"Redis"}, set()),
        (("Pretend we had a fleet.", "Nice.", "The port is 8080."), set(), set()),
    ],
)
def test_what_is_taken_back_was_never_true_and_what_is_played_says_nothing(
    said: tuple[str, ...], holding: set[str], retired: set[str], *, is_flushed_between: bool
) -> None:
    found: dict[str, bool] = {}

    async def scenario(services: Services) -> None:
        for number, text in enumerate(said):
            await services.capture.take(an_event(2 * number, body=TextBody(text)))
            await services.capture.take(
                an_event(2 * number + 1, kind=EventKind.SESSION_SUMMARY, body=TextBody("Noted."))
            )
            if is_flushed_between:
                await services.learn.flush("a" * 64)
        await services.learn.flush("a" * 64)
        listed = await services.graph_items.list(NAMESPACE, GraphKind.FACT, limit=9, only_current=False)
        items: Any = listed.items
        found.update({fact.object: fact.is_current for fact in items if fact.is_current or fact.validity.retired_at})

    in_daemon(scenario, config=Config(graph=GraphConfig(learn=True)))
    assert found == dict.fromkeys(holding, True) | dict.fromkeys(retired, False)


def learned_of(body: TextBody | JsonBody, **source: str) -> set[tuple[str, str]]:
    """The facts learned from one event and an answer to it, which must be learned as a memory too."""
    found: set[tuple[str, str]] = set()
    kind = EventKind.PROMPT if isinstance(body, TextBody) else EventKind.TOOL_USE

    async def scenario(services: Services) -> None:
        answer = an_event(2, kind=EventKind.SESSION_SUMMARY, body=TextBody("Noted."))
        for told in (an_event(1, kind=kind, body=body), answer):
            await services.capture.take(attrs.evolve(told, source=attrs.evolve(told.source, **source)))
        assert (await services.learn.flush("a" * 64)).event_count == 2
        items: Any = (await services.graph_items.list(NAMESPACE, GraphKind.FACT, limit=9)).items
        found.update((fact.predicate, fact.object) for fact in items)

    in_daemon(scenario, config=Config(graph=GraphConfig(learn=True)))
    return found
