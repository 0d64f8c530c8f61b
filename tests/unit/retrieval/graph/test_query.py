from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kiro_learn.model.graph import EntityType
from kiro_learn.retrieval.graph.query import Intent, analyzed, entities_meant, intent_of
from tests.unit.storage.contract_graph import entity

NOW = datetime(2026, 2, 14, 12, 0, tzinfo=UTC)
KIRA = entity(1, "Kira", aliases=("Kira app",))
GO = entity(2, "Go")
BILLING = entity(3, "billing service")
BILLING_TEAM = entity(4, "billing", type=EntityType.ORGANIZATION)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Can you deploy the Kira app like we did last time?", ("deploy", "kira", "app")),
        ("don't deploy", ("deploy",)),
        ("What's in vercel.json and C++?", ("vercel.json", "c")),
        ("can you do it the same way as this time?", ("way",)),
        ("Kira's port", ("kira", "port")),
        ("", ()),
    ],
)
def test_keywords_are_what_means_something(text: str, expected: tuple[str, ...]) -> None:
    assert analyzed(text, now=NOW).keywords == expected


def meant(text: str, *entities: Any) -> set[str]:
    query = analyzed(text, now=NOW)
    known = entities or (KIRA, GO, BILLING, BILLING_TEAM)
    return {each.name for each in known if each.item_id in entities_meant(query, known)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("deploy Kira?", {"Kira"}),
        ("what is kira's port", {"Kira"}),
        ("the KIRA APP is down", {"Kira"}),
        ("restart the billing service, please", {"billing service"}),
        ("ask billing", {"billing"}),
        ("write it in Go", {"Go"}),
        ("go on with the tests", set()),
        ("Go on with the tests", set()),
        ("nothing known here", set()),
    ],
)
def test_entities_are_found_by_their_names(text: str, expected: set[str]) -> None:
    assert meant(text) == expected


def test_of_one_name_all_are_meant_and_of_many_those_mentioned_most() -> None:
    same = [entity(number, "Kira", type=type_) for number, type_ in enumerate(EntityType, start=1)]
    busy = [entity(number, "Kira", type=each.type, mention_count=number) for number, each in
            enumerate(same, start=1)]  # fmt: skip
    query = analyzed("ask Kira", now=NOW)
    assert len(entities_meant(query, same[:2])) == 2
    assert entities_meant(query, busy) == tuple(each.item_id for each in reversed(busy[-3:]))


def test_names_beyond_the_looked_at_words_cost_nothing() -> None:
    query = analyzed("word " * 100_000 + "Kira", now=NOW)
    assert len(query.names()) < 1_000
    assert KIRA.item_id in entities_meant(query, [KIRA])


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Can you deploy the Kira app like we did last time?", Intent.DO_TASK),
        ("please fix the login", Intent.DO_TASK),
        ("Remember when we broke prod?", Intent.RECALL_EPISODE),
        ("when did we switch to Valkey?", Intent.RECALL_EPISODE),
        ("what did we use as of March?", Intent.ASK_HISTORY),
        ("what was the port before?", Intent.ASK_HISTORY),
        ("what did we use before?", Intent.ASK_HISTORY),
        ("where did the app use to run", Intent.ASK_HISTORY),
        ("what was our old database?", Intent.ASK_HISTORY),
        ("did we ever use MySQL?", Intent.ASK_HISTORY),
        ("what do I run before a commit?", Intent.ASK_FACT),
        ("what was the last error?", Intent.ASK_FACT),
        ("do I prefer tabs?", Intent.ASK_PREFERENCE),
        ("No, the port is 9090", Intent.CORRECT),
        ("what is the status of the release", Intent.ASK_CURRENT_STATE),
        ("Which port does it use?", Intent.ASK_FACT),
        ("we use Postgres", Intent.STATE_FACT),
        ("src/app.py", Intent.OTHER),
    ],
)
def test_what_a_message_wants(text: str, intent: Intent) -> None:
    assert intent_of(text) is intent
