"""The facts read from prompts and commands without a model: precision comes before recall."""

from __future__ import annotations

import json

import pytest

from kiro_learn.learning.graph.without_model import drafts_of_events, object_type_of
from kiro_learn.model.graph import Entity, EntityType, SourceType
from kiro_learn.privacy.scrub import scrub_text
from tests.unit.learning.graph.graphs import Graph, said
from tests.unit.learning.graph.reading import AGENT, read, stated, wished
from tests.unit.learning.histories import prompt, snapshot, tool

STATED = [
    ("we use biome now not eslint", ("app", "uses", "Biome")),
    ("wir nutzen pnpm, kein npm", ("app", "uses", "pnpm")),
    ("On utilise Vite, pas Webpack.", ("app", "uses", "Vite")),
    ("usiamo uv, non poetry", ("app", "uses", "uv")),
    ("We use Postgres 15 as the database.", ("app", "uses", "Postgres 15")),
    ("The project is using Redis now.", ("app", "uses", "Redis")),
    ("btw, we use `pnpm`", ("app", "uses", "pnpm")),
    ("We use Node.js because it is fast.", ("app", "uses", "Node.js")),
    ("We switched from npm to pnpm last week.", ("app", "uses", "pnpm")),
    ("We replaced Jest with Vitest.", ("app", "uses", "Vitest")),
    ("Please note that the port is 8080.", ("app", "listens_on_port", "8080")),
    ("The app listens on port 3000", ("app", "listens_on_port", "3000")),
    ("The API server is running on port 9090!", ("API server", "listens_on_port", "9090")),
    ("Our default branch is now `release`.", ("app", "default_branch", "release")),
    ("we renamed the default branch to main", ("app", "default_branch", "main")),
]


@pytest.mark.parametrize(("sentence", "expected"), STATED)
def test_a_plain_statement_is_a_fact(sentence: str, expected: tuple[str, str, str]) -> None:
    assert stated(sentence) == [expected]


def test_several_objects_are_several_facts() -> None:
    assert [each[2] for each in stated("We use Postgres, Redis and Kafka.")] == ["Postgres", "Redis", "Kafka"]


@pytest.mark.parametrize(
    ("sentence", "key"),
    [
        ("Always run the linter before every commit.", "run linter commit"),
        ("Never commit to main!", "commit main"),
        ("You must never edit `schema.sql`", "edit schema.sql"),
        ("From now on always use pnpm.", "pnpm"),
        ("don\u2019t ever force-push", "force-push"),
        ("Change of plans: always use pnpm.", "pnpm"),
        ("Never use npm in this repo", "npm"),
    ],
)
def test_an_order_for_the_work_that_names_no_occasion_is_a_wish(sentence: str, key: str) -> None:
    assert wished(sentence) == [key]


NOTHING = {
    "a question": ["Do we use Redis?", "We use Redis, right?", "Should we always run the linter?", "Is the port 8080?"],
    "a condition": [
        "If we use Redis it is faster.",
        "We use Redis if the cache is on.",
        "We use Redis unless it is a test.",
        "When we use Redis it fails.",
        "Suppose the port is 8080.",
    ],
    "a plan": ["We will use Redis.", "We want to use Redis.", "We use Redis, but plan to drop it.", "Let's use Redis."],
    "a negation that is not read": [
        "We don't really use Redis.",
        "We don't use Redis for sessions.",
        "We never use Redis.",
        "We use Redis nowhere, and never did.",
        "We removed Redis from the test setup.",
        "It is not true that we use Redis.",
        "We stopped using Redis in the frontend",
    ],
    "a quotation": [
        'The README says "we use Redis".',
        '"We use Redis."',
        'He wrote "we are done. We use Redis. Always run the linter. Bye."',
        "\u201cWe use Redis. The port is 8080.\u201d",
        "'We use Redis.'",
        "The README says:\nWe use Redis.\nAlways run the linter.",
        "> We use Redis.\n> Always run the linter.",
        "Bob said: always run the linter.",
        "The article says we use Redis.",
    ],
    "a part that is played": [
        "Pretend to be a DBA. We use Redis. Never commit to main.",
        "You are a pirate with a server. We use Redis. Always run the tests.",
        "Let's role-play. The port is 8080.",
        "In this story the hackers meet. We use Redis.",
        "Imagine a shop. The default branch is main.",
        "Translate this to German. We use Redis.",
    ],
    "a paste": [
        "# Setup\n\nWe use Redis.\n\nAlways run the linter.",
        "```\nWe use Redis.\nAlways run the linter.\n```",
        "From: Bob\nSubject: cache\n\nWe use Redis.",
        "<readme>\nWe use Redis.\nNever commit to main.\n</readme>",
        "We use Redis. " + "It does one more thing. " * 70,
        "| a | b |\n|---|---|\n| We use Redis. | 1 |",
    ],
    "a text of others, or one to write": [
        "Hi Ann,\n\nWe use Oracle in our data center. Always deploy on Fridays.\n\nBest regards,\nDana",
        "Can you answer this ticket?\n\nWe use SQLite and it crashes.\nNever delete the database file.\n\nThanks!",
        "**Describe the bug**\nWe use SQLite.\n\n**To Reproduce**\nAlways start the server with an empty database",
        "Write a short story about a dev team. We use Redis. Always commit to main.",
        "Write a README. We use Redis, Postgres and Kafka.",
        "Answer as Linus Torvalds. We use Git. Never break userspace code.",
        "Please add this sentence to the docs. We use Redis.",
        "Tweet this. We dropped Redis. Never use queues in prod.",
    ],
    "another project, or a part of this one": [
        "we use Redis in the other project",
        "We use Redis in our competitor's product",
        "usamos Docker, pero solo en CI",
        "We use npm and pnpm alternately, which is bad",
        "On utilise Redis, si le client signe",
        "We use Jest, right",
        "We use React, he claims.",
    ],
    "something else": [
        "We use it for tests.",
        "We use Kafka Streams.",
        "We use make_request for this.",
        "We go to production.",
        "The default branch is protected.",
        "Nothing listens on port 8080.",
        "The other server runs on port 80.",
        "I use Vim, and I live in Oslo.",
        "Use Redis for the cache.",
        "Just kidding, we use Redis. Just kidding!",
    ],
    "what people say to each other": [
        "Never give up!",
        "Never ever again will I touch this config file",
        "Always the same failing tests!",
        "Never again a merge on Friday",
        "Always believe in yourself.",
        "Never had a chance to see it in the tests.",
        "You always write the best tests.",
        "Always stores its state in a file.",
        "Always run it before a commit.",
        "Never use emojis here.",
        "Always use the new server this time.",
        "Always run the tests in this session",
        "Always use npm for this task",
        "Never push to main this week",
        "Never push to main on Friday",
        "Always test in production, lol",
        "Never mind the tests.",
    ],
}


@pytest.mark.parametrize(
    "text", [pytest.param(each, id=f"{kind}: {each[:40]}") for kind, texts in NOTHING.items() for each in texts]
)
def test_what_is_no_plain_statement_says_nothing(text: str) -> None:
    assert (stated(text), wished(text)) == ([], [])


def test_a_list_of_ones_own_rules_is_read() -> None:
    assert wished("Our rules:\n- Always run the linter.\n- Never commit to main.") == ["run linter", "commit main"]


def test_nothing_that_an_agent_says_is_learned() -> None:
    drafts, _ = read(f"{AGENT}We use Redis. Always run the linter.")
    assert (drafts.facts, drafts.preferences) == ([], [])


def test_nothing_with_a_secret_is_learned() -> None:
    secret = "".join(("gh", "p_", "a1B2" * 9))
    kept = scrub_text(f"Always use the token {secret} in tests.")
    assert secret not in kept
    assert wished(kept) == []
    assert wished("Always use the token in tests.") == ["token tests"]


def test_a_time_in_a_sentence_says_since_when() -> None:
    (fact,) = read("We use Redis since 2026-01-02.", at=9)[0].facts
    assert str(fact.valid_from) == "2026-01-02 00:00:00+00:00"
    (fact,) = read("We use Redis today.", at=9)[0].facts
    assert fact.valid_from is None


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pnpm test", ["pnpm"]),
        ("cd web && npx vitest run", ["Vitest"]),
        ("sudo docker ps", ["Docker"]),
        ("echo pnpm", []),
        ("git status", []),
    ],
)
def test_a_known_tool_that_ran_is_used(command: str, expected: list[str]) -> None:
    facts = drafts_of_events(snapshot([prompt(1, "go on"), tool(2, "Bash", {"command": command}, "ok")])).facts
    assert [fact.object for fact in facts] == expected
    assert all(fact.source_type is SourceType.OBSERVED and fact.confidence < 1 for fact in facts)


@pytest.mark.parametrize("output", ["bash: pnpm: command not found", json.dumps({"is_error": True}), "exit code 1"])
def test_a_tool_that_failed_is_not(output: str) -> None:
    events = [prompt(1, "go on"), tool(2, "Bash", {"command": "pnpm test"}, output)]
    assert drafts_of_events(snapshot(events)).facts == []


def test_a_tool_counts_once_a_batch_and_only_if_a_shell_ran_it() -> None:
    ran = [tool(number, "Bash", {"command": "pnpm test"}, "ok") for number in (2, 3)]
    read_only = tool(4, "Read", {"command": "yarn"}, "ok")
    facts = drafts_of_events(snapshot([prompt(1, "go on"), *ran, read_only])).facts
    assert [fact.object for fact in facts] == ["pnpm"]


def test_what_is_liked_is_a_tool_only_where_it_is_known_as_one() -> None:
    graph = Graph()
    graph.learn(*(said(1, "likes", object_) for object_ in ("Docker", "hiking", "Paris", "finding new ways")))
    types = {entity.name: entity.type for entity in graph.all(Entity)}
    assert types == {"Kira": EntityType.PROJECT, "Docker": EntityType.TOOL, "hiking": EntityType.CONCEPT}
    assert graph.now("likes") == {"Docker", "hiking", "Paris", "finding new ways"}
    assert graph.edges() == {("Kira", "likes", "Docker"), ("Kira", "likes", "hiking")}


TOOL, CONCEPT, OTHER = EntityType.TOOL, EntityType.CONCEPT, EntityType.OTHER


@pytest.mark.parametrize(
    ("object_", "type_"),
    [
        ("Docker", TOOL),
        ("Docker containers", TOOL),
        ("kubo", TOOL),
        ("entire.io", TOOL),
        ("Release Please", TOOL),
        ("Postgres 16", TOOL),
        ("the Service Bus", TOOL),
        ("push hook", CONCEPT),
        ("the job queue", CONCEPT),
        ("Free-form markdown", CONCEPT),
        ("root of the repo", None),
        ("Plan + minimal context", None),
        ("the entire cli in the path", None),
        (".agent/skills", OTHER),
        ("frontend/assets/agents/", OTHER),
        ("~/.claude/projects", OTHER),
        ("https://example.com/a", OTHER),
        (".env", OTHER),
        ("settings.toml", OTHER),
        ("sql", TOOL),
        ("Three.js", TOOL),
        ("--local-dev", OTHER),
        ("LOCAL_DEV_MODE", OTHER),
        ("10.0.0.7", OTHER),
        ("10.0.0.7:8080", OTHER),
    ],
)
def test_what_is_used_is_a_tool_where_it_is_written_as_names_of_tools_are(
    object_: str, type_: EntityType | None
) -> None:
    assert object_type_of("uses", object_) is type_


@pytest.mark.parametrize(
    ("predicate", "object_", "type_"),
    [
        ("maintains", "the search service", EntityType.PROJECT),
        ("created", ".entire/.gitignore", OTHER),
        ("created", "what we now use for all our reports", None),
        ("lives_in", "New York", EntityType.LOCATION),
        ("works_at", "the Acme Company of Ohio", EntityType.ORGANIZATION),
        ("listens_on_port", "8080", None),
    ],
)
def test_the_object_of_another_predicate_is_of_its_type(predicate: str, object_: str, type_: EntityType | None) -> None:
    assert object_type_of(predicate, object_) is type_
