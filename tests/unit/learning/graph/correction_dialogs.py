"""Dialogs in which something is stated, changed, denied or taken back, and what follows. Days count from 2026-01-01.

Written before the rules were tried on them; ``UNSEEN`` was not looked at while rules were changed. What "migrated"
expects was changed when dates in sentences began to be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs


@attrs.frozen(kw_only=True)
class Dialog:
    """What a person says on which day, and what holds after it."""

    name: str
    said: Sequence[tuple[float, str]]
    predicate: str
    now: set[str]
    on: Mapping[float, set[str]] = attrs.Factory(dict)
    """What held on a day, by what is known at the end."""
    subject: str = "app"


SEEN = (
    Dialog(name="stated", said=[(1, "We use Postgres for everything.")], predicate="uses", now={"Postgres"}),
    Dialog(
        name="switched",
        said=[(1, "We use Redis as the cache."), (9, "We switched from Redis to Valkey.")],
        predicate="uses",
        now={"Valkey"},
        on={5: {"Redis"}, 10: {"Valkey"}},
    ),
    Dialog(
        name="denied",
        said=[(1, "We use Celery."), (9, "We don't use Celery any more.")],
        predicate="uses",
        now=set(),
        on={5: {"Celery"}},
    ),
    Dialog(
        name="denied and taken up again",
        said=[(1, "We use Kafka."), (5, "We no longer use Kafka."), (9, "We're using Kafka again.")],
        predicate="uses",
        now={"Kafka"},
        on={3: {"Kafka"}, 7: set()},
    ),
    Dialog(
        name="taken back at once",
        said=[(1, "We use Postgres. We use Kafka. Just kidding!"), (2, "Good. We use Celery, no we don't.")],
        predicate="uses",
        now={"Postgres"},
    ),
    Dialog(
        name="quoted",
        said=[(1, "Bob wrote:\n> We use Kafka for the queue.\nWe use Postgres.")],
        predicate="uses",
        now={"Postgres"},
    ),
    Dialog(
        name="replaced",
        said=[(1, "We use npm."), (5, "We replaced npm with pnpm.")],
        predicate="uses",
        now={"pnpm"},
        on={3: {"npm"}},
    ),
    Dialog(
        name="was replaced",
        said=[(1, "We use npm."), (5, "npm was replaced by pnpm.")],
        predicate="uses",
        now={"pnpm"},
        on={3: {"npm"}},
    ),
    Dialog(
        name="dropped for another",
        said=[(1, "We use npm."), (5, "We dropped npm in favor of pnpm.")],
        predicate="uses",
        now={"pnpm"},
        on={3: {"npm"}},
    ),
    Dialog(
        name="not used since",
        said=[(1, "We use Celery."), (5, "We haven't used Celery since the rewrite.")],
        predicate="uses",
        now=set(),
    ),
    Dialog(
        name="never used",
        said=[(1, "We use Celery."), (2, "Actually, we never used Celery.")],
        predicate="uses",
        now=set(),
        on={1.5: set()},
    ),
    Dialog(
        name="was wrong",
        said=[(1, "We use Redis."), (2, "I was wrong, we don't use Redis.")],
        predicate="uses",
        now=set(),
        on={1.5: set()},
    ),
    Dialog(
        name="in the month of May",
        said=[(1, "We use npm."), (5, "We switched from npm to pnpm in May.")],
        predicate="uses",
        now={"pnpm"},
    ),
    Dialog(
        name="port was changed",
        said=[(1, "The port is 8080."), (5, "The port was changed to 9090.")],
        predicate="listens_on_port",
        now={"9090"},
        on={3: {"8080"}},
    ),
    Dialog(
        name="port is not but",
        said=[(1, "The port is 8080."), (5, "The port is not 8080 but 9090.")],
        predicate="listens_on_port",
        now={"9090"},
        on={3: {"9090"}},
    ),
    Dialog(
        name="port denied",
        said=[(1, "The port is 8080."), (5, "The port isn't 8080 any more.")],
        predicate="listens_on_port",
        now=set(),
        on={3: {"8080"}},
    ),
    Dialog(
        name="moved back",
        said=[(1, "I live in Rome."), (5, "I moved to Oslo."), (9, "I moved back to Rome.")],
        predicate="lives_in",
        now={"Rome"},
        on={3: {"Rome"}, 7: {"Oslo"}},
        subject="the user",
    ),
    Dialog(
        name="laid off",
        said=[(1, "I work at Initech."), (5, "I was laid off by Initech.")],
        predicate="works_at",
        now=set(),
        on={3: {"Initech"}},
        subject="the user",
    ),
    Dialog(
        name="liked no longer",
        said=[(1, "I love Docker."), (5, "I don't love Docker any more.")],
        predicate="likes",
        now=set(),
        on={3: {"Docker"}},
        subject="the user",
    ),
    Dialog(
        name="maintained no longer",
        said=[(1, "Alice maintains the billing service."), (5, "Alice no longer maintains the billing service.")],
        predicate="maintains",
        now=set(),
        on={3: {"billing service"}},
        subject="Alice",
    ),
    Dialog(
        name="replaces",
        said=[(1, "We use Jest for the tests."), (4, "Vitest replaced Jest.")],
        predicate="uses",
        now={"Vitest"},
        on={2: {"Jest"}},
    ),
    Dialog(
        name="removed from a part",
        said=[(1, "We use Sentry."), (4, "We removed Sentry from the frontend.")],
        predicate="uses",
        now={"Sentry"},
    ),
    Dialog(
        name="a competitor's",
        said=[(1, "We use Sentry."), (4, "Our competitor stopped using Sentry.")],
        predicate="uses",
        now={"Sentry"},
    ),
    Dialog(
        name="moved from",
        said=[(1, "I live in Lyon."), (4, "I've moved from Lyon to Nantes.")],
        predicate="lives_in",
        now={"Nantes"},
        on={2: {"Lyon"}},
        subject="the user",
    ),
    Dialog(
        name="a person's own switch",
        said=[(1, "I use Vim."), (4, "I switched from Vim to Zed.")],
        predicate="uses",
        now={"Zed"},
        on={2: {"Vim"}},
        subject="the user",
    ),
    Dialog(
        name="deployed no longer",
        said=[(1, "We deploy to Heroku."), (4, "We don't deploy to Heroku any more.")],
        predicate="deployed_on",
        now=set(),
        on={2: {"Heroku"}},
    ),
    Dialog(
        name="used to deploy",
        said=[(1, "We deploy to Heroku."), (4, "We used to deploy to Heroku.")],
        predicate="deployed_on",
        now=set(),
    ),
    Dialog(
        name="branch renamed",
        said=[(1, "The default branch is develop."), (4, "We renamed the default branch to main.")],
        predicate="default_branch",
        now={"main"},
        on={2: {"develop"}},
    ),
    Dialog(
        name="now written in",
        said=[(1, "Our backend is written in Python."), (4, "Our backend is now written in Rust.")],
        predicate="written_in",
        now={"Rust", "Python"},
    ),
    Dialog(
        name="finally gone",
        said=[(1, "We use Webpack."), (4, "We finally got rid of Webpack.")],
        predicate="uses",
        now=set(),
        on={2: {"Webpack"}},
    ),
    Dialog(
        name="turns out",
        said=[(1, "We use Webpack."), (4, "Turns out we don't use Webpack.")],
        predicate="uses",
        now=set(),
    ),
    Dialog(
        name="one and not the other",
        said=[(1, "We use Webpack."), (4, "No, we use Vite, not Webpack.")],
        predicate="uses",
        now={"Vite"},
        on={2: {"Vite"}},
    ),
    Dialog(
        name="only planned",
        said=[(1, "We use Webpack."), (4, "We're thinking about dropping Webpack.")],
        predicate="uses",
        now={"Webpack"},
    ),
    Dialog(
        name="hated no longer",
        said=[(1, "I hate YAML."), (4, "I don't hate YAML any more.")],
        predicate="dislikes",
        now=set(),
        on={2: {"YAML"}},
        subject="the user",
    ),
    Dialog(
        name="hosted no longer",
        said=[(1, "Our site is hosted on Netlify."), (4, "Our site is no longer hosted on Netlify.")],
        predicate="runs_on",
        now=set(),
        on={2: {"Netlify"}},
    ),
    Dialog(
        name="port changed",
        said=[(1, "The port is 8080."), (9, "The port is now 9090.")],
        predicate="listens_on_port",
        now={"9090"},
        on={5: {"8080"}},
    ),
    Dialog(
        name="port corrected",
        said=[(1, "The port is 8080."), (2, "No, the port is 9090, not 8080.")],
        predicate="listens_on_port",
        now={"9090"},
        on={1.5: {"9090"}},
    ),
    Dialog(
        name="moved house",
        said=[(1, "I live in Rome."), (40, "I moved to Oslo.")],
        predicate="lives_in",
        subject="the user",
        now={"Oslo"},
        on={20: {"Rome"}},
    ),
    Dialog(
        name="new job",
        said=[(1, "I work at Initech."), (40, "I work for Globex now.")],
        predicate="works_at",
        subject="the user",
        now={"Globex"},
        on={20: {"Initech"}},
    ),
    Dialog(
        name="dislike after like",
        said=[(1, "I like Docker."), (5, "I hate Docker.")],
        predicate="likes",
        subject="the user",
        now=set(),
        on={3: {"Docker"}},
    ),
    Dialog(
        name="used to",
        said=[(5, "We used to use Heroku.")],
        predicate="uses",
        now=set(),
        on={3: {"Heroku"}},
    ),
    Dialog(
        name="two things, one dropped",
        said=[(1, "We use Postgres and Redis."), (5, "We dropped Redis.")],
        predicate="uses",
        now={"Postgres"},
        on={3: {"Postgres", "Redis"}},
    ),
    Dialog(
        name="asked, not stated",
        said=[(1, "We use Jest."), (5, "Do we use Vitest?")],
        predicate="uses",
        now={"Jest"},
    ),
    Dialog(
        name="considered, not done",
        said=[(1, "Our app runs on Vercel."), (5, "We should move to Netlify at some point.")],
        predicate="runs_on",
        now={"Vercel"},
    ),
    Dialog(
        name="hypothetical",
        said=[(1, "If we used Bun, the tests would be faster.")],
        predicate="uses",
        now=set(),
    ),
    Dialog(
        name="somebody else's",
        said=[(1, "The article says we use Mongo, er, they use MongoDB.")],
        predicate="uses",
        now=set(),
    ),
    Dialog(
        name="branch renamed",
        said=[(1, "The default branch is master."), (9, "Our default branch is now main.")],
        predicate="default_branch",
        now={"main"},
        on={5: {"master"}},
    ),
    Dialog(
        name="version raised",
        said=[(1, "We require Python 3.9."), (9, "We require Python 3.11 now.")],
        predicate="requires_version",
        now={"Python 3.11"},
        on={5: {"Python 3.9"}},
    ),
    Dialog(
        name="corrected tool",
        said=[(1, "We use MySQL."), (2, "Actually we use MariaDB.")],
        predicate="uses",
        now={"MySQL", "MariaDB"},
    ),
    Dialog(
        name="stopped using",
        said=[(1, "We're using Jenkins."), (3, "We stopped using Jenkins.")],
        predicate="uses",
        now=set(),
    ),
    Dialog(
        name="not true of another",
        said=[(1, "We use Sentry."), (3, "We don't use Datadog.")],
        predicate="uses",
        now={"Sentry"},
    ),
    Dialog(
        name="denied twice",
        said=[(1, "We use Travis."), (3, "We don't use Travis."), (5, "We don't use Travis any more.")],
        predicate="uses",
        now=set(),
        on={2: {"Travis"}},
    ),
    Dialog(
        name="said again",
        said=[(1, "We use Flask."), (3, "We use Flask."), (5, "we use flask")],
        predicate="uses",
        now={"Flask"},
    ),
    Dialog(
        name="name",
        said=[(1, "My name is Ann."), (2, "No, my name is Anna.")],
        predicate="has_name",
        subject="the user",
        now={"Anna"},
    ),
    Dialog(
        name="there and back",
        said=[(1, "I live in Rome."), (10, "I moved to Oslo."), (20, "I moved to Rome.")],
        predicate="lives_in",
        subject="the user",
        now={"Rome"},
        on={5: {"Rome"}, 15: {"Oslo"}},
    ),
    Dialog(
        name="quoted",
        said=[(1, '"We use Oracle" is a lie in that README.')],
        predicate="uses",
        now=set(),
    ),
    Dialog(
        name="imported late",
        said=[(40, "I moved to Oslo."), (1, "I live in Rome.")],
        predicate="lives_in",
        subject="the user",
        now={"Oslo"},
        on={20: {"Rome"}},
    ),
    Dialog(
        name="a part's own port",
        said=[(1, "The port is 8080."), (2, "The admin server listens on port 9000.")],
        predicate="listens_on_port",
        now={"8080", "9000"},
    ),
    Dialog(
        name="switched twice",
        said=[(1, "We use npm."), (5, "We switched from npm to Yarn."), (9, "We moved from Yarn to pnpm.")],
        predicate="uses",
        now={"pnpm"},
        on={3: {"npm"}, 7: {"Yarn"}},
    ),
    Dialog(
        name="an order is no fact",
        said=[(1, "Use Redis for the sessions.")],
        predicate="uses",
        now=set(),
    ),
    Dialog(
        name="an agent's claim is no fact",
        said=[(1, "agent: We use Cassandra."), (2, "ok, go on with the tests please")],
        predicate="uses",
        now=set(),
    ),
)

DATED = (
    Dialog(
        name="switched on a date",
        said=[(1, "We use Redis as the cache."), (40, "We switched from Redis to Valkey on 2026-01-21.")],
        predicate="uses",
        now={"Valkey"},
        on={15: {"Redis"}, 25: {"Valkey"}},
    ),
    Dialog(
        name="moved last month",
        said=[(1, "I live in Rome."), (70, "I moved to Oslo last month.")],
        predicate="lives_in",
        subject="the user",
        now={"Oslo"},
        on={20: {"Rome"}, 45: {"Oslo"}},
    ),
    Dialog(
        name="dropped yesterday",
        said=[(1, "We use Celery."), (9, "We dropped Celery yesterday.")],
        predicate="uses",
        now=set(),
        on={7.5: {"Celery"}, 8.5: set()},
    ),
    Dialog(
        name="today begins nothing",
        said=[(5, "We use Jest today.")],
        predicate="uses",
        now={"Jest"},
        on={3: {"Jest"}},
    ),
)
"""The sentence says when."""

UNSEEN = (
    Dialog(
        name="migrated",
        said=[(1, "We use Webpack."), (9, "We've migrated from Webpack to Vite last week.")],
        predicate="uses",
        now={"Vite"},
        on={-5: {"Webpack"}, 5: {"Vite"}},  # the week before day 9 ends with day 3
    ),
    Dialog(
        name="got rid of",
        said=[(1, "We rely on Elasticsearch."), (9, "We got rid of Elasticsearch.")],
        predicate="uses",
        now=set(),
        on={5: {"Elasticsearch"}},
    ),
    Dialog(name="wish", said=[(1, "I want to use Deno one day.")], predicate="uses", subject="the user", now=set()),
    Dialog(name="plan", said=[(1, "We plan to use Kubernetes.")], predicate="uses", now=set()),
    Dialog(
        name="server moved",
        said=[(1, "The backend runs on Heroku."), (9, "The backend no longer runs on Heroku.")],
        predicate="runs_on",
        now=set(),
    ),
    Dialog(
        name="language",
        said=[(1, "This project is written in Go."), (5, "Is it written in Rust?")],
        predicate="written_in",
        now={"Go"},
    ),
    Dialog(
        name="like",
        said=[(1, "I don't like Jira."), (9, "I like Jira now.")],
        predicate="dislikes",
        subject="the user",
        now=set(),
        on={5: {"Jira"}},
    ),
    Dialog(
        name="wrong port",
        said=[(1, "The server listens on port 5000."), (2, "Sorry, the server listens on port 5001.")],
        predicate="listens_on_port",
        now={"5001"},
    ),
    Dialog(name="sarcasm in a question", said=[(1, "So we use Perl now?!")], predicate="uses", now=set()),
    Dialog(
        name="moved from one to another",
        said=[(1, "We use CircleCI."), (9, "We moved from CircleCI over to Buildkite.")],
        predicate="uses",
        now={"Buildkite"},
    ),
)
