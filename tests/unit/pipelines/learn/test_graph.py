"""What a learning run adds to the graph: by rule, and by what a model's answer says beside its memories."""

from __future__ import annotations

from typing import Any

import trio

from kiro_learn.config import Config, GraphConfig
from kiro_learn.model.event import EventKind, TextBody
from kiro_learn.model.graph import GraphKind
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, an_event
from kiro_learn.testing.llm import ScriptedLlm
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
        items: Any = (await services.api.graph_items.list(NAMESPACE, GraphKind.FACT, limit=9)).items
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
