from __future__ import annotations

import attrs
import pytest

from kiro_learn.learning.graph.rules import drafts_of_events
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot
from kiro_learn.model.event import Event, EventKind, TextBody
from tests.unit.learning.graph.correction_dialogs import DATED, SEEN, UNSEEN, Dialog
from tests.unit.learning.graph.graphs import Graph, day
from tests.unit.storage.builders import event

AGENT = "agent: "


def learned(dialog: Dialog) -> Graph:
    """Each utterance is a batch of its own, after what was said before it in the session."""
    graph = Graph()
    earlier: tuple[Event, ...] = ()
    for number, (at, text) in enumerate(dialog.said, start=1):
        is_agent = text.startswith(AGENT)
        said = event(
            number,
            kind=EventKind.SESSION_SUMMARY if is_agent else EventKind.PROMPT,
            body=TextBody(text.removeprefix(AGENT)),
            valid_time=day(at),
        )
        said = attrs.evolve(said, source=attrs.evolve(said.source, project_path="/home/ann/app"))
        answer = event(100 + number, kind=EventKind.SESSION_SUMMARY, body=TextBody("Understood, noted."))
        entries = [BufferedEvent(each, place, 0) for place, each in enumerate([*earlier, said, answer], start=1)]
        drafts = drafts_of_events(BufferSnapshot(tuple(entries)))
        facts = [fact for fact in drafts.facts if fact.source.event_id == said.event_id]
        graph.learn(*facts)
        earlier = (said, answer)
    return graph


@pytest.mark.parametrize("dialog", [*SEEN, *DATED, *UNSEEN], ids=lambda dialog: dialog.name)
def test_what_holds_is_what_was_said_last(dialog: Dialog) -> None:
    graph = learned(dialog)
    assert graph.now(dialog.predicate) == dialog.now
    assert {at: graph.on(at, dialog.predicate) for at in dialog.on} == dict(dialog.on)
