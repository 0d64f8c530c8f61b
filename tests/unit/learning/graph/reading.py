"""What is learned from prompts without a model: the drafts of one, and the graph after several."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from kiro_learn.learning.graph.without_model import drafts_of_events
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot
from kiro_learn.model.draft import GraphDrafts
from kiro_learn.model.event import Event, EventKind, TextBody
from tests.unit.learning.graph.graphs import Graph, day
from tests.unit.storage.builders import event

AGENT = "agent: "


def read(prompt: str, *earlier: Event, number: int = 1, at: float = 1) -> tuple[GraphDrafts, tuple[Event, Event]]:
    """The drafts of one prompt, said after ``earlier`` in its session, and the prompt's and its answer's events."""
    is_agent = prompt.startswith(AGENT)
    kind = EventKind.SESSION_SUMMARY if is_agent else EventKind.PROMPT
    said = event(number, kind=kind, body=TextBody(prompt.removeprefix(AGENT)), valid_time=day(at))
    said = attrs.evolve(said, source=attrs.evolve(said.source, project_path="/home/ann/app"))
    answer = event(100 + number, kind=EventKind.SESSION_SUMMARY, body=TextBody("Understood, noted."))
    entries = [BufferedEvent(each, place, 0) for place, each in enumerate((*earlier, said, answer), start=1)]
    drafts = drafts_of_events(BufferSnapshot(tuple(entries)))
    mine = GraphDrafts(
        facts=[fact for fact in drafts.facts if fact.source.event_id == said.event_id],
        preferences=[wish for wish in drafts.preferences if wish.source.event_id == said.event_id],
    )
    return mine, (said, answer)


def learned(dialog: Iterable[tuple[float, str]]) -> Graph:
    """The graph after a session of (day, prompt): each prompt is a batch of its own, read after the earlier ones."""
    graph = Graph()
    earlier: tuple[Event, ...] = ()
    for number, (at, prompt) in enumerate(dialog, start=1):
        drafts, earlier = read(prompt, *earlier, number=number, at=at)
        graph.learn(*drafts.facts, *drafts.preferences)
    return graph


def stated(prompt: str) -> list[tuple[str, str, str]]:
    """The facts of a prompt, each by its subject, predicate and object."""
    return [(fact.subject, fact.predicate, fact.object) for fact in read(prompt)[0].facts]


def wished(prompt: str) -> list[str]:
    """The keys of a prompt's preferences."""
    return [wish.key for wish in read(prompt)[0].preferences]
