"""A project whose memories were learned without a model, and a daemon with a model."""

from __future__ import annotations

import re
from collections.abc import Iterable

import attrs

from kiro_learn.errors import LlmError
from kiro_learn.model.event import Event, EventKind
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace, project_id_in
from kiro_learn.model.record import BUILT_IN_STRATEGY, MODEL_STRATEGY, MemoryRecord
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event
from kiro_learn.testing.models import Script, ScriptedLlm
from kiro_learn.testing.storage import InMemoryStorage, put_event, put_record

PROJECT = project_id_in(NAMESPACE)

_EVENT = re.compile(r'<event number="(\d+)"(?P<attributes>[^>]*)>.*?<text>(?P<text>.*?)</text>', re.DOTALL)


def shown_texts(prompt: str) -> list[str]:
    """The texts of the events in a prompt, without the events that are only context."""
    found = _EVENT.finditer(prompt)
    return [event["text"] for event in found if 'context="true"' not in event["attributes"]]


def each_answer(prompt: str) -> str:
    """A model's output with one record for each answer, which cites the answer and the event before it."""
    numbers = [int(event[1]) for event in _EVENT.finditer(prompt) if event["text"].startswith("answer")]
    texts = [text for text in shown_texts(prompt) if text.startswith("answer")]
    return (
        "".join(
            f'<memory_record type="discovery" events="{number - 1} {number}"><title>better {text}</title>'
            f"<summary>what {text} taught</summary></memory_record>"
            for number, text in zip(numbers, texts, strict=True)
        )
        or "<skip/>"
    )


def broken(_prompt: str) -> str:
    """A script that fails."""
    raise LlmError("out of sorts")


class Model(ScriptedLlm):
    """A model that notes the prompts it was asked to learn, and merges nothing when it is asked to judge."""

    strategy = MODEL_STRATEGY
    name = "big model"

    def __init__(self, script: Script = each_answer) -> None:
        self.asked: list[str] = []
        self.judged: list[str] = []
        self._learn = script
        super().__init__(self._answer)

    def _answer(self, prompt: str) -> str:
        if "<reconciliation_request>\n" in prompt:
            self.judged.append(prompt)
            return "<keep_separate/>"
        self.asked.append(prompt)
        return self._learn(prompt)

    @property
    def shown(self) -> list[str]:
        """The texts of all events that the model was asked to learn, in order."""
        return [text for prompt in self.asked for text in shown_texts(prompt)]


class BuiltIn(ScriptedLlm):
    """The built-in learner, by a script."""

    strategy = BUILT_IN_STRATEGY

    def __init__(self) -> None:
        super().__init__(each_answer)


def a_turn(number: int, *, session: str = "s", namespace: Namespace = NAMESPACE) -> tuple[Event, Event]:
    """A prompt and its answer: event ``2 * number`` and the next one."""
    prompt = an_event(2 * number, text=f"prompt {number}", session=session, namespace=namespace)
    answer = an_event(
        2 * number + 1,
        kind=EventKind.SESSION_SUMMARY,
        text=f"answer {number}",
        session=session,
        namespace=namespace,
    )
    return prompt, answer


def weak_record(number: int, *turns: int, namespace: Namespace = NAMESPACE) -> MemoryRecord:
    """A record learned without a model from ``turns``, by default from turn ``number``."""
    sources = tuple(event.event_id for turn in turns or (number,) for event in a_turn(turn))
    return attrs.evolve(
        a_record(number, f"weak {number}", namespace=namespace), strategy=BUILT_IN_STRATEGY, source_event_ids=sources
    )


async def settle(storage: InMemoryStorage, events: Iterable[Event], records: Iterable[MemoryRecord] = ()) -> None:
    """Store events and the records learned from them, as if learned long ago."""
    for event in events:
        await put_event(storage, event)
    for record in records:
        await put_record(storage, record)


async def a_past(turn_count: int, *, namespace: Namespace = NAMESPACE) -> InMemoryStorage:
    """A store with turns, and a record of the built-in learner for each turn."""
    storage = InMemoryStorage()
    for number in range(turn_count):
        await settle(storage, a_turn(number, namespace=namespace), [weak_record(number, namespace=namespace)])
    return storage


async def titles(storage: InMemoryStorage, namespace: Namespace | None = NAMESPACE) -> list[str]:
    """The titles of the live records, sorted."""
    page = await storage.list_memory_records(namespace=namespace, limit=1000, offset=0)
    return sorted(record.title for record in page.items)


async def record_of(storage: InMemoryStorage, title: str) -> RecordId:
    page = await storage.list_memory_records(namespace=None, limit=1000, offset=0)
    (found,) = (record.record_id for record in page.items if record.title == title)
    return found
