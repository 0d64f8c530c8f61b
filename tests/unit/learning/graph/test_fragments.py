"""A model's items for the graph are accepted only if a person's prompt confirms them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.learning.extraction.framing import FramedBatch
from kiro_learn.learning.extraction.parsing import parse
from kiro_learn.learning.extraction.splitting import prompt_for
from kiro_learn.learning.graph.fragments import GRAPH, MOST_FRAGMENTS, Refusal, proposals_in
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot
from kiro_learn.model.draft import GraphDrafts
from kiro_learn.model.event import EventKind, JsonBody, Source, TextBody
from kiro_learn.model.graph import EntityType, PreferenceCategory, SourceType
from tests.unit.storage.builders import event, event_id

PROMPT = (
    "Kira uses Redis for sessions & <caches>, not Memcached. I want tabs, never spaces. "
    "To release: bump the version, push the tag."
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
    return proposals_in(f"<skip/>\n<graph>{inside}</graph>", BATCH, SNAPSHOT).drafts


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
    (fact,) = drafts(FACT.replace("Redis", "Memcached").replace("events", 'denied="yes" events')).facts
    assert fact.is_denied
    assert drafts(FACT.replace("events", 'denied="yes" events')).facts == []


def test_what_a_fact_takes_the_place_of_is_named_by_the_person() -> None:
    (fact,) = drafts(FACT.replace("events", 'replaces="Celery" events')).facts
    assert fact.replaces is None


@pytest.mark.parametrize(
    "inside",
    [
        FACT.replace("Redis", "Celery"),  # only the agent said it
        FACT.replace('events="2"', 'events="3"'),  # cites the agent
        FACT.replace('events="2"', 'events="1"'),  # cites an event that was learned before
        FACT.replace('events="2"', 'events="9"'),
        FACT.replace('events="2"', ""),
        FACT.replace("uses", "has"),  # the predicate says nothing
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


def said_by(*texts: str, project: str = "/home/ann/shop-api") -> tuple[FramedBatch, BufferSnapshot]:
    """A batch and a snapshot of these prompts, which are numbered from 1."""
    source = Source(surface="api", version="1", client_id="test", project_path=project)
    prompts = [event(number, body=TextBody(text), source=source) for number, text in enumerate(texts, start=1)]
    entries = tuple(BufferedEvent(each, place, 0) for place, each in enumerate(prompts, start=1))
    return FramedBatch("", tuple((each.event_id,) for each in prompts)), BufferSnapshot(entries)


def facts_of(element: str, *texts: str) -> list[tuple[str, str, str]]:
    batch, snapshot = said_by(*texts)
    found = proposals_in(f"<skip/><graph>{element}</graph>", batch, snapshot).drafts.facts
    return [(fact.subject, fact.predicate, fact.object) for fact in found]


def uses(object_: str, subject: str = "the project", predicate: str = "uses", events: str = "1") -> str:
    said = f'predicate="{predicate}" object="{object_}" events="{events}"'
    return f'<fact subject="{subject}" subject_type="project" {said}/>'


@pytest.mark.parametrize("text", ["Bob wrote:\n> The shop uses Redis", "The shop uses Redis. Just kidding!"])
def test_a_prompt_bears_out_nothing_that_it_quotes_or_takes_back(text: str) -> None:
    assert facts_of(uses("Redis", subject="shop"), text) == []
    assert facts_of(uses("Redis", subject="shop"), "The shop uses Redis.") != []


def test_of_several_prompts_the_one_that_says_it_speaks_for_it() -> None:
    batch, snapshot = said_by("Please go on.", "We use Redis here.")
    (fact,) = proposals_in(f"<skip/><graph>{uses('Redis', events='1 2')}</graph>", batch, snapshot).drafts.facts
    assert fact.source.event_id == event_id(2)


@pytest.mark.parametrize(
    ("object_", "text"),
    [
        ("Go", "We use good algorithms, going on."),
        ("R", "We use our own runner."),
        ("Node 1", "We use Node 12 everywhere."),
        ("version 3", "We use version 3.12 of it."),
    ],
)
def test_a_name_within_another_word_is_not_said(object_: str, text: str) -> None:
    assert facts_of(uses(object_), text) == []


@pytest.mark.parametrize("object_", ["Redis", "redis", "Redis cluster", "@types/node", "C++", "レディス"])
def test_a_name_beside_signs_is_said(object_: str) -> None:
    assert facts_of(uses(object_), f'We use "{object_}", (and {object_}\'s tools).') == [("shop-api", "uses", object_)]


@pytest.mark.parametrize(
    "text",
    [
        "Should we use Kafka for this?",
        "Maybe we could go with Kafka here.",
        "What if we used Kafka? Then nothing is lost.",
        "Would Kafka do? If we had Kafka, we would use it.",
        "I'm leaning towards Kafka here.",
        "We plan to move to Kafka.",
        "The queue needs to be moved to Kafka.",
        "The queue should be on Kafka.",
        "For the queue we need Kafka, or?",
        "For the queue we use Kafka, right?",
        "We are on Kafka, aren't we?",
    ],
)
def test_what_is_only_asked_or_imagined_is_no_fact(text: str) -> None:
    assert facts_of(uses("Kafka"), text) == []


def test_what_one_sentence_states_is_a_fact_though_another_asks() -> None:
    assert facts_of(uses("Kafka"), "We use Kafka. Should we use Kafka streams as well?") == [
        ("shop-api", "uses", "Kafka")
    ]


def test_a_paste_states_nothing() -> None:
    plan = "Implement the following plan: the app uses Kafka. " + "Then it does this and that. " * 60
    assert facts_of(uses("Kafka"), plan) == []


@pytest.mark.parametrize(
    "subject", ["shop-api", "ShopAPI", "Shop API", "the project", "this repo", "We", "our project"]
)
def test_the_project_has_the_name_of_its_folder(subject: str) -> None:
    assert facts_of(uses("Redis", subject), "We use Redis.") == [("shop-api", "uses", "Redis")]


def test_another_spelling_of_the_project_becomes_an_alias() -> None:
    batch, snapshot = said_by("ShopAPI uses Redis.")
    answer = f"<skip/><graph>{uses('Redis', 'ShopAPI')}</graph>"
    found = proposals_in(answer, batch, snapshot).drafts.entities
    assert [(each.name, each.type, each.aliases) for each in found] == [("shop-api", EntityType.PROJECT, ("ShopAPI",))]


@pytest.mark.parametrize("subject", ["the user", "I", "User", "the person"])
def test_the_person_has_one_name(subject: str) -> None:
    element = uses("tmux", subject, "likes").replace('"project"', '"person"')
    assert facts_of(element, "I like tmux.") == [("the user", "likes", "tmux")]


def test_a_subject_that_no_prompt_names_is_left_out() -> None:
    assert facts_of(uses("Redis", "the billing worker"), "We use Redis.") == []
    assert facts_of(uses("Redis", "the billing worker"), "Our billing workers use Redis.") != []


@pytest.mark.parametrize(
    ("predicate", "object_", "is_taken"),
    [
        ("listens_on_port", "9090", True),
        ("listens_on_port", "the proxy", False),
        ("requires_version", "Python 3.11", True),
        ("requires_version", "https or http", False),
        ("has_version", "v2.4", True),
        ("has_version", "the newest", False),
        ("default_branch", "main", True),
        ("default_branch", "the old one", False),
    ],
)
def test_a_value_has_the_form_of_its_predicate(predicate: str, object_: str, is_taken: bool) -> None:
    assert bool(facts_of(uses(object_, predicate=predicate), f"It is {object_}, as I said.")) is is_taken


ASKED = {
    "tool_name": "AskUserQuestion",
    "tool_input": {
        "questions": [
            {
                "question": "Where should the session store run, on Memcached?",
                "header": "Store",
                "options": [
                    {"label": "Redis", "description": "As Sidekiq does"},
                    {"label": "Memcached", "description": "Without a disk"},
                ],
            }
        ]
    },
    "tool_response": {"answers": {"Where should the session store run, on Memcached?": "Redis"}},
}


@pytest.mark.parametrize(("object_", "is_taken"), [("Redis", True), ("Memcached", False), ("Sidekiq", False)])
def test_what_a_person_answered_to_a_tool_is_said(object_: str, is_taken: bool) -> None:
    asked = event(1, kind=EventKind.TOOL_USE, body=JsonBody(ASKED))
    snapshot = BufferSnapshot((BufferedEvent(asked, 1, 0),))
    element = uses(object_, "session store", "runs_on")
    found = proposals_in(f"<skip/><graph>{element}</graph>", FramedBatch("", ((asked.event_id,),)), snapshot).drafts
    assert bool(found.facts) is is_taken


REFUSED = {
    "tool_name": "Bash",
    "tool_input": {"command": "npm install"},
    "tool_response": "Stop, and wait for the user to tell you how to proceed, the user said: always use pnpm here",
}


@pytest.mark.parametrize(("body", "wish", "is_taken"), [(ASKED, "Redis", False), (REFUSED, "always use pnpm", True)])
def test_what_was_chosen_for_one_feature_is_no_standing_wish(body: Any, wish: str, is_taken: bool) -> None:
    asked = event(1, kind=EventKind.TOOL_USE, body=JsonBody(body))
    snapshot = BufferSnapshot((BufferedEvent(asked, 1, 0),))
    element = f'<preference category="tools" key="what" events="1">{wish}</preference>'
    found = proposals_in(f"<skip/><graph>{element}</graph>", FramedBatch("", ((asked.event_id,),)), snapshot).drafts
    assert bool(found.preferences) is is_taken


def test_refused_fragments_are_counted_with_their_reasons() -> None:
    inside = (
        FACT + FACT.replace("uses", "has") + FACT.replace("Redis", "Celery") + FACT.replace('events="2"', 'events="3"')
    )
    found = proposals_in(f"<skip/><graph>{inside}</graph>", BATCH, SNAPSHOT)
    assert len(found.drafts.facts) == 1
    assert found.refusals == {
        ("fact", Refusal.PREDICATE): 1,
        ("fact", Refusal.NOT_SAID): 1,
        ("fact", Refusal.NO_PROMPT): 1,
    }


def test_the_end_of_a_prompt_asks_for_the_graph_again() -> None:
    assert "<graph>" in prompt_for(BATCH, GRAPH).partition("That was the batch")[2]
    assert "<graph>" not in prompt_for(BATCH)
    assert GRAPH.characters == len(prompt_for(BATCH, GRAPH)) - len(prompt_for(BATCH))


def test_a_description_in_other_words_than_the_persons_is_left_out() -> None:
    batch, snapshot = said_by("We use Redis, which keeps our sessions.")
    told = '<entity name="Redis" type="tool" events="1">keeps the sessions</entity>'
    made_up = '<entity name="Redis" type="tool" events="1">an in-memory database under the BSD license</entity>'
    found = proposals_in(f"<skip/><graph>{told}{made_up}</graph>", batch, snapshot).drafts.entities
    assert [each.description for each in found] == ["keeps the sessions", ""]


@pytest.mark.parametrize("tag", ["think", "thinking", "reasoning"])
def test_what_a_model_only_thought_is_no_graph(tag: str) -> None:
    thought = f"<{tag}>Perhaps <graph>{FACT}</graph>? No.</{tag}>"
    assert proposals_in(f"{thought}<skip/>", BATCH, SNAPSHOT).drafts == GraphDrafts()
    assert len(proposals_in(f"{thought}<skip/><graph>{FACT}</graph>", BATCH, SNAPSHOT).drafts.facts) == 1
