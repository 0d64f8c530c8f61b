"""What a model says for the graph is taken where a person's prompt bears it out, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.learning.extraction.framing import FramedBatch
from kiro_learn.learning.extraction.instructions import prompt_for
from kiro_learn.learning.extraction.parsing import parse
from kiro_learn.learning.graph.fragments import GRAPH, MOST_FRAGMENTS, drafts_in
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot
from kiro_learn.model.event import EventKind, TextBody
from kiro_learn.model.graph import EntityType, PreferenceCategory, SourceType
from kiro_learn.model.graph_drafts import GraphDrafts
from tests.unit.storage.builders import event, event_id

PROMPT = (
    "Kira uses Redis for sessions & <caches>. I want tabs, never spaces. To release: bump the version, push the tag."
)
ANSWER = "We should use Kafka, and Kira uses Celery."
SNAPSHOT = BufferSnapshot(
    (
        BufferedEvent(event(2, kind=EventKind.PROMPT, body=TextBody(PROMPT)), 1, 0),
        BufferedEvent(event(3, kind=EventKind.SESSION_SUMMARY, body=TextBody(ANSWER)), 2, 0),
    )
)
BATCH = FramedBatch("", ((event_id(1),), (event_id(2),), (event_id(3),)), context_count=1)
FACT = '<fact subject="Kira" subject_type="project" predicate="uses" object="Redis" events="2"/>'


def drafts(inside: str) -> GraphDrafts:
    return drafts_in(f"<skip/>\n<graph>{inside}</graph>", BATCH, SNAPSHOT)


def test_a_fact_that_a_prompt_states_is_taken() -> None:
    (fact,) = drafts(FACT).facts
    assert (fact.subject, fact.subject_type, fact.predicate, fact.object) == (
        "Kira",
        EntityType.PROJECT,
        "uses",
        "Redis",
    )
    assert (fact.source.event_id, fact.source.said_at) == (event_id(2), event(2).valid_time)
    assert (fact.confidence, fact.source_type) == (0.8, SourceType.STATED)


def test_what_is_denied_replaced_or_corrected_says_so() -> None:
    replaced = FACT.replace("events", 'replaces="Memcached" corrected="yes" events')
    (fact,) = drafts(replaced).facts
    assert (fact.replaces, fact.was_never_true, fact.source_type) == ("Memcached", True, SourceType.CORRECTED)
    (fact,) = drafts(FACT.replace("events", 'denied="yes" events')).facts
    assert fact.is_denied


@pytest.mark.parametrize(
    "inside",
    [
        FACT.replace("Redis", "Celery"),  # only the agent said it
        FACT.replace('events="2"', 'events="3"'),  # cites the agent
        FACT.replace('events="2"', 'events="1"'),  # cites what was learned before
        FACT.replace('events="2"', 'events="9"'),
        FACT.replace('events="2"', ""),
        FACT.replace("uses", "has"),  # says nothing
        FACT.replace("Redis", ""),
        FACT.replace("Kira", "a b c d e f g h i"),
        '<preference category="mood" key="x" events="2">tabs</preference>',
        '<preference category="formatting" key="indent" events="2">use semicolons everywhere please</preference>',
        '<procedure name="Release" events="2"><step>call the boss first</step></procedure>',
        '<entity name="Celery" type="tool" events="2">a queue</entity>',
        '<entity name="Redis" type="gadget" events="2">a store</entity>',
    ],
)
def test_what_no_prompt_bears_out_is_left_out(inside: str) -> None:
    assert drafts(inside) == GraphDrafts(entities=[], facts=[], procedures=[], preferences=[])


def test_each_kind_is_read() -> None:
    found = drafts(
        '<entity name="Redis" type="tool" aliases="sessions; nothing said" events="2">keeps &lt;caches&gt;</entity>'
        '<preference category="formatting" key="indent" events="2">tabs, never spaces</preference>'
        '<procedure name="Release" events="2"><step>bump the version</step><step>push the tag</step></procedure>'
    )
    assert [(each.name, each.aliases, each.description) for each in found.entities] == [
        ("Redis", ("sessions",), "keeps <caches>")
    ]
    assert [(each.category, each.key, each.value) for each in found.preferences] == [
        (PreferenceCategory.FORMATTING, "indent", "tabs, never spaces")
    ]
    assert [each.steps for each in found.procedures] == [("bump the version", "push the tag")]


def test_a_graph_changes_nothing_about_the_records_of_an_answer() -> None:
    record = '<memory_record type="decision" events="2"><title>t</title><summary>s</summary></memory_record>'
    assert parse(f"{record}<graph>{FACT}</graph>", BATCH) == parse(record, BATCH)
    assert parse(f"<skip/><graph>{FACT}</graph>", BATCH) == []


def test_a_flood_is_cut() -> None:
    assert len(drafts(FACT * 500).facts) == MOST_FRAGMENTS


PARTS = (FACT, "<fact", 'object="', "<entity ", ">", "</graph>", "<step>", "\x00", "&amp;", 'events="2"')
PIECES = st.lists(st.sampled_from(PARTS))


@given(st.text() | PIECES.map("".join))
def test_any_answer_is_read(inside: str) -> None:
    found: Any = drafts(inside)
    assert len(found.sources) <= MOST_FRAGMENTS


@pytest.mark.parametrize("tag", ["think", "thinking", "reasoning"])
def test_what_a_model_only_thought_is_no_graph(tag: str) -> None:
    thought = f"<{tag}>Perhaps <graph>{FACT}</graph>? No.</{tag}>"
    assert drafts_in(f"{thought}<skip/>", BATCH, SNAPSHOT) == GraphDrafts()
    assert len(drafts_in(f"{thought}<skip/><graph>{FACT}</graph>", BATCH, SNAPSHOT).facts) == 1


def test_the_end_of_a_prompt_asks_for_the_graph_again() -> None:
    assert "<graph>" in prompt_for(BATCH, GRAPH).partition("That was the batch")[2]
    assert "<graph>" not in prompt_for(BATCH)
    assert GRAPH.characters == len(prompt_for(BATCH, GRAPH)) - len(prompt_for(BATCH))
