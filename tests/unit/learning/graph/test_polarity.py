"""What a sentence affirms, denies and declares ended, in the languages of the tables."""

from __future__ import annotations

import pytest

from kiro_learn.learning.graph.without_model import PERSON, OwnWords
from tests.unit.learning.graph.graphs import source


def told(text: str) -> OwnWords:
    return OwnWords(source(1), text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Wir nutzen PostgreSQL als Datenbank.", "PostgreSQL"),
        ("La app se despliega en Heroku.", "Heroku"),
        ("We use uv not pip", "uv"),
        ("We don't use npm but pnpm.", "pnpm"),
        ("Seit Mai nutzen wir Redis.", "Redis"),
        ("We have no tests yet, the app is written in Elixir.", "Elixir"),
        ("There is no Docker, we run Podman.", "Podman"),
        ("We can't upgrade because we use Node 16", "Node 16"),
        ("Usiamo Vite, non Webpack", "Vite"),
        ("我们使用Redis。", "Redis"),
        ("As I already said, we use Redis", "Redis"),
    ],
)
def test_a_clause_states_what_another_denies_nothing_of(text: str, name: str) -> None:
    assert told(text).states(name, "uses", "the project")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("We use uv not pip", "pip"),
        ("Docker is not used", "Docker"),
        ("We don't use Redis, Postgres or Kafka.", "Kafka"),
        ("Мы не используем tox", "tox"),
        ("we will use Kafka", "Kafka"),
        ("Redis isn't used anywhere", "Redis"),
        ("我们不使用Docker", "Docker"),
        ("When the client signs we use Oracle", "Oracle"),
        ("Usiamo Vite, non Webpack", "Webpack"),
        ("Nobody uses Jira here", "Jira"),
        ("We moved from Heroku to Fly.io", "Heroku"),
        ("Wir nutzen Docker nicht", "Docker"),
        ("use pnpm instead of npm", "npm"),
        ("We considered Kafka, but it is too heavy", "Kafka"),
        ('He wrote "we use Kafka here" in a mail', "Kafka"),
        ("Bob thinks we use Oracle", "Oracle"),
        ("Rewrite the docs so they say that we use Oracle.", "Oracle"),
        ("I'd rather die than use Oracle", "Oracle"),
        ("The old app uses Oracle, ours does not.", "Oracle"),
        ("Get rid of Redis", "Redis"),
        ("Compare Azure and AWS for us", "Azure"),
        ("we tried Azure and hated it", "Azure"),
        ("Azure is out of the question", "Azure"),
        ("Port 8080 is taken by Jenkins.", "8080"),
        ("Run the mock on port 8080 for a minute.", "8080"),
        ("The port might be 8080.", "8080"),
        ("Vielleicht nutzen wir Redis.", "Redis"),
        ("Wir sollten Redis nutzen.", "Redis"),
        ("Ob wir Redis nutzen, weiß ich nicht.", "Redis"),
        ("Redis ist raus.", "Redis"),
        ("Quizás usamos Redis.", "Redis"),
        ("Deberíamos usar Redis.", "Redis"),
        ("Nada de Redis", "Redis"),
        ("On devrait utiliser Redis.", "Redis"),
        ("Plus de Redis chez nous.", "Redis"),
        ("Drop Oracle from the compose file", "Oracle"),
        ("Kill whatever listens on port 8080.", "8080"),
        ("The tutorial uses Oracle", "Oracle"),
        ("Oracle was suggested by the consultant", "Oracle"),
        ("Hätten wir Kafka, wäre es einfacher.", "Kafka"),
    ],
)
def test_what_is_asked_supposed_planned_or_denied_is_not_stated(text: str, name: str) -> None:
    assert not told(text).states(name, "uses", "the project")


@pytest.mark.parametrize(
    "text",
    [
        "We stopped using Redis",
        "Redis ist raus",
        "On n'utilise plus Redis",
        "Redisはもう使っていません",
        "we got rid of Redis",
        "We moved from Redis to Valkey",
        "use Valkey instead of Redis",
    ],
)
def test_words_of_ending_end_what_they_name(text: str) -> None:
    assert told(text).ends("Redis")


@pytest.mark.parametrize(
    "text",
    [
        "Redis is not slow",
        "kein Problem mit Redis",
        "I changed the Redis config",
        "We don't use Redis for sessions",
        "Redis says connection refused, not my fault",
        "I removed a comment from the Redis module",
        "Remove the Redis logs",
        "Should we stop using Redis?",
        "If we got rid of Redis, it would be faster",
        "We moved from Memcached to Redis",
    ],
)
def test_other_words_end_nothing(text: str) -> None:
    assert not told(text).ends("Redis")


def test_one_is_averse_only_to_what_one_denies() -> None:
    assert told("I really dislike Docker").states("Docker", "dislikes", PERSON)
    assert not told("I really like Docker").states("Docker", "dislikes", PERSON)
    assert not told("I don't like Docker").states("Docker", "likes", PERSON)
