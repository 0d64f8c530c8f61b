from __future__ import annotations

import pytest

from kiro_learn.learning.graph.own_words import PERSON
from kiro_learn.learning.graph.statement import PROJECT
from kiro_learn.learning.graph.statements import statements_in

STATED = [
    ("We use Postgres for the main store.", (PROJECT, "uses", "Postgres")),
    ("We're using Redis now.", (PROJECT, "uses", "Redis")),
    ("Our app runs on Vercel.", (PROJECT, "runs_on", "Vercel")),
    ("The project is written in Rust.", (PROJECT, "written_in", "Rust")),
    ("The backend is deployed to Fly.io", (PROJECT, "deployed_on", "Fly.io")),
    ("I live in Oslo.", (PERSON, "lives_in", "Oslo")),
    ("I work at Globex Corp", (PERSON, "works_at", "Globex Corp")),
    ("I'm living in Oslo with my dog", (PERSON, "lives_in", "Oslo")),
    ("Well, I currently live in New York", (PERSON, "lives_in", "New York")),
    ("I'm based in Berlin.", (PERSON, "lives_in", "Berlin")),
    ("I've lived in Oslo for five years", (PERSON, "lives_in", "Oslo")),
    ("I'm working for the Red Cross", (PERSON, "works_at", "Red Cross")),
    ("I just started working at Globex this month", (PERSON, "works_at", "Globex")),
    ("I work at GitHub", (PERSON, "works_at", "GitHub")),
    ("I work as a nurse at a clinic.", (PERSON, "works_as", "nurse")),
    ("I'm working as a tax advisor", (PERSON, "works_as", "tax advisor")),
    ("I'm a backend developer.", (PERSON, "works_as", "backend developer")),
    ("I am a senior software engineer at Globex", (PERSON, "works_as", "senior software engineer")),
    ("We've been using Redis", (PROJECT, "uses", "Redis")),
    ("The backend was written in Go", (PROJECT, "written_in", "Go")),
    ("Also, we use Redis.", (PROJECT, "uses", "Redis")),
    ("My name is Ann Miller.", (PERSON, "has_name", "Ann Miller")),
    ("my name is Ann", (PERSON, "has_name", "Ann")),
    ("I hate Docker", (PERSON, "dislikes", "Docker")),
    ("I don't like Webpack.", (PERSON, "dislikes", "Webpack")),
    ("I love Neovim!", (PERSON, "likes", "Neovim")),
    ("I use Zed", (PERSON, "uses", "Zed")),
    ("The port is 8080.", (PROJECT, "listens_on_port", "8080")),
    ("The API server listens on port 9090", ("API server", "listens_on_port", "9090")),
    ("The mock server listens on port 9090", ("mock server", "listens_on_port", "9090")),
    ("Redis listens on port 6379", ("Redis", "listens_on_port", "6379")),
    ("Please note that the port is 8080.", (PROJECT, "listens_on_port", "8080")),
    ("Turns out the port is 8080.", (PROJECT, "listens_on_port", "8080")),
    ("Remember: we use Redis.", (PROJECT, "uses", "Redis")),
    ("The default branch is trunk", (PROJECT, "default_branch", "trunk")),
    ("We require Python 3.11", (PROJECT, "requires_version", "Python 3.11")),
    ("The project is licensed under the MIT license", (PROJECT, "licensed_under", "MIT")),
    ("Alice maintains the billing service.", ("Alice", "maintains", "billing service")),
    ("Bob is responsible for releases", ("Bob", "responsible_for", "releases")),
    ("Bob works on Kira", ("Bob", "works_on", "Kira")),
    ("Ann Miller wrote our parser", ("Ann Miller", "created", "parser")),
    ("We use Postgres 15 as the database", (PROJECT, "uses", "Postgres 15")),
]


@pytest.mark.parametrize(("sentence", "expected"), STATED)
def test_a_plain_statement_is_a_fact(sentence: str, expected: tuple[str, str, str]) -> None:
    found = [(each.subject, each.predicate, each.object) for each in statements_in(sentence)]
    assert found == [expected]


NOTHING = """
Do we use Postgres?
If we used Redis, it would be faster.
We should use Redis.
Let's use Redis here.
Use Redis for the cache.
We could use Kafka.
I think we use Celery.
The article says we use Kafka.
"We use Postgres" is what the README claims
We use it for tests.
We use the same approach everywhere.
I like how this works
I would like you to use Docker.
I like it
You use Redis
It uses Postgres
We want to move to Kubernetes
We need to use Redis
We will use Redis
We are going to use Bun
We use a different way to make things
When we use Redis it fails
We make the tests pass
We go to production
I work for hours on this
I live in hope
This works on my machine
That created a problem
The user created an account
We can use Docker
Docker created a container
We use Postgres-like locks
We use make_request for this
I moved to TypeScript
I live in Kubernetes these days
I have lived in Rome
I'm working at home
I'm working for Friday
I work as fast as I can
I'm a big fan
I'm a terrible designer
I'm a former nurse
I'm a visual learner
I'm an engineer's daughter
I'm not a lawyer
I see the port is 8080.
Given that the port is 8080, fix it.
I guess the port is 8080.
The problem is the port is 8080.
Nothing listens on port 8080.
I was a teacher
I'm becoming a teacher
So we use Perl now?!
Commit created successfully
Session created checkpoints
Script wrote the file
Max works on weekends
Anna owns horses
We were using Redis
I was living in Oslo
Our app was hosted on Heroku
""".strip().splitlines()


@pytest.mark.parametrize("sentence", NOTHING)
def test_what_is_no_statement_makes_no_fact(sentence: str) -> None:
    assert statements_in(sentence) == []


def test_two_objects_are_two_facts() -> None:
    assert [each.object for each in statements_in("We use Postgres and Redis.")] == ["Postgres", "Redis"]


def test_a_switch_says_what_it_replaces() -> None:
    (found,) = statements_in("We switched from Redis to Valkey last week.")
    assert (found.object, found.replaces) == ("Valkey", "Redis")


@pytest.mark.parametrize(
    "sentence",
    ["We don't use Redis any more.", "We no longer use Redis", "We stopped using Redis.", "We dropped Redis"],
)
def test_a_denial_is_one(sentence: str) -> None:
    (found,) = statements_in(sentence)
    assert (found.predicate, found.object, found.is_denied) == ("uses", "Redis", True)


@pytest.mark.parametrize(
    ("sentence", "predicate", "expected"),
    [
        ("I no longer work at Globex", "works_at", "Globex"),
        ("I don't live in Oslo anymore.", "lives_in", "Oslo"),
        ("Unfortunately, I also lost my job at Door Dash this month.", "works_at", "Door Dash"),
        ("I quit my job at Globex", "works_at", "Globex"),
    ],
)
def test_a_job_or_a_home_that_was_left_is_denied(sentence: str, predicate: str, expected: str) -> None:
    (found,) = statements_in(sentence)
    assert (found.subject, found.predicate, found.object, found.is_denied) == (PERSON, predicate, expected, True)


def test_the_past_is_past() -> None:
    (found,) = statements_in("We used to use Heroku.")
    assert (found.object, found.is_past) == ("Heroku", True)


def test_a_correction_is_one_and_may_say_what_was_wrong() -> None:
    (found,) = statements_in("No, the port is 9090, not 8080")
    assert (found.object, found.replaces, found.is_correction) == ("9090", "8080", True)
    (found,) = statements_in("Actually we use MySQL.")
    assert (found.object, found.is_correction) == ("MySQL", True)


def test_a_long_sentence_takes_no_time() -> None:
    assert statements_in("we use " + "a " * 50_000) == []
    assert statements_in("our " * 50_000) == []
