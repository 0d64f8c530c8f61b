"""A model whose health is up to the test: it learns, compacts and judges, each as it is told to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kiro_learn.errors import LlmError
from kiro_learn.llm.interface import MODEL_STRATEGY
from kiro_learn.model.ids import EventId
from kiro_learn.services.desk import Desk
from kiro_learn.testing.household import NAMESPACE, an_event
from kiro_learn.testing.llm import Script, ScriptedLlm, a_record_per_event


def out_of_sorts(_prompt: str) -> str:
    raise LlmError("out of sorts")


def one_entry(_prompt: str) -> str:
    return "<compacted_entry>all of it</compacted_entry>"


def keep_separate(_prompt: str) -> str:
    return "<keep_separate/>"


class Patient(ScriptedLlm):
    """Answers each sort of prompt by a script of its own, which may be exchanged; remembers what it was asked for."""

    strategy = MODEL_STRATEGY
    name = "patient"

    def __init__(self, learn: Script = a_record_per_event, compact: Script = one_entry) -> None:
        super().__init__(self._answer)
        self.learn = learn
        self.compact = compact
        self.judge: Script = keep_separate
        self.asked: Counter[str] = Counter()

    def _answer(self, prompt: str) -> str:
        sort, script = "learning", self.learn
        if "<compaction_request>\n" in prompt:
            sort, script = "compaction", self.compact
        elif "<reconciliation_request>\n" in prompt:
            sort, script = "judging", self.judge
        self.asked[sort] += 1
        return script(prompt)


async def cited_events(desk: Desk) -> Counter[EventId]:
    """How many live records cite each event."""
    page = await desk.library.records(namespace=NAMESPACE, limit=1000, offset=0)
    return Counter(event_id for record in page.items for event_id in record.source_event_ids)


def once_each(numbers: Iterable[int]) -> Counter[EventId]:
    return Counter(an_event(number).event_id for number in numbers)
