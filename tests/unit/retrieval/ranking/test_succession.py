"""A later statement of a person or an agent ends another memory's choice, or only mentions it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kiro_learn.model.ids import RecordId
from kiro_learn.retrieval.ranking.confidence import overturned_among
from kiro_learn.retrieval.ranking.succession import as_said, is_replacing, replacing, statement_replacing

OLD, NEW = RecordId("old"), RecordId("new")
MOMENTS = {OLD: datetime(2026, 1, 5, tzinfo=UTC), NEW: datetime(2026, 1, 6, tzinfo=UTC)}


def overturns(new: str, old: str) -> bool:
    """Whether ``new``, which was said later, overturns ``old``, if there are no other memories."""
    return overturned_among([OLD], {OLD: old.lower(), NEW: new.lower()}, MOMENTS) == {NEW: (OLD,)}


ENDS = [
    ("Always use Black for formatting", "We switched to ruff format because it is 30 times faster"),
    ("Use Jest for all tests", "We're on vitest now"),
    ("Always use npm here", "We moved over to pnpm, installs take half the time"),
    ("We use RabbitMQ as the message broker", "Kafka instead of RabbitMQ"),
    ("We use RabbitMQ as the message broker", "All queues moved over to Kafka; RabbitMQ is gone from the compose file"),
    ("RabbitMQ carries the orders", "Kafka replaced RabbitMQ"),
    ("RabbitMQ carries the orders", "RabbitMQ was replaced by Kafka, since it lost messages"),
    ("RabbitMQ carries the orders", "The old RabbitMQ brokers were shut down"),
    ("RabbitMQ carries the orders", "We got rid of RabbitMQ"),
    ("RabbitMQ carries the orders", "Orders go through Kafka\nasked: no rabbitmq please, it loses messages"),
    ("Always format with Black", "We migrated from Black to ruff format."),
    (
        "Always use Black for formatting",
        "We switched from Black to ruff format last week, because it is 30 times faster",
    ),
    ("Always deploy with make deploy", "make deploy is gone, deploy with ./ship now"),
    ("Always use Jest for tests", "We're on vitest now, jest is gone"),
    ("We use zustand here, not redux", "we'll move from zustand to jotai, because its atoms are smaller"),
    ("We use zustand here, not redux", "Change of plans: from now on always use jotai, zustand is gone"),
    ("We use zustand here, not redux", "We do not use zustand any more"),
    ("We use zustand here, not redux", "We don't need zustand anymore"),
    ("Always squash before a merge", "we no longer squash. never squash before a merge, we want the history"),
    ("We accept PayPal, Stripe and SEPA", "We dropped support for PayPal: chargebacks cost too much"),
    ("The docs are built with Sphinx", "Switched to MkDocs and away from Sphinx"),
    ("Percy compares the screenshots of the shop", "Percy was too expensive: Playwright does it now"),
    ("We use Wwise 2023.1 instead of FMOD since Mara knows it", "Back to FMOD 2.02, the Wwise plugin was dropped"),
    ("Celery is replaced by procrastinate on Postgres", "Procrastinate is dropped, we go back to Celery"),
    ("Let's replace Kafka with NATS", "We went back to Kafka, its clients are better"),
    ("The nightly build runs on Jenkins", "Jenkins is no longer used"),
    ("Money is rounded by ROUND_HALF_EVEN", "Rounding is ROUND_HALF_UP now in invoices/models.py"),
    ("Rounding is ROUND_HALF_EVEN", "asked: That's wrong, the accountant says ROUND_HALF_UP. Fix it"),
    ("The API listens on port 8080", "The API listens on 9000 now; compose.yml is changed"),
    ("We deploy to eu-north-1", "No, that is wrong: it is eu-west-1"),
    ("Sessions are stored in Redis", "Sessions are stored in Postgres now"),
    ("Wir nehmen RabbitMQ", "Wir nehmen Kafka statt RabbitMQ"),
    ("Wir nehmen RabbitMQ", "Kafka, nicht mehr RabbitMQ"),
    ("We use Mongo for the event store", "We moved the event store from Mongo to Postgres last month"),
    ("We use Terraform for infrastructure", "Terraform is out, we use Pulumi"),
    ("CI runs on CircleCI", "We left CircleCI, everything runs on GitHub Actions"),
    ("CI runs on CircleCI", "CI runs on GitHub Actions now"),
    ("Feature flags live in LaunchDarkly", "LaunchDarkly got too expensive, we use Unleash"),
    ("Logs go to Splunk", "Logs go to Loki now, Splunk is being retired"),
    ("Always write tests with Mocha", "Mocha was swapped for Vitest"),
    ("Always write tests with Mocha", "We swapped Mocha out for Vitest"),
    ("Use Yarn for installs", "Yarn is history, use bun"),
    ("We deploy with Helm", "We don't deploy with Helm anymore, it's Kustomize"),
    ("We deploy with Helm", "Helm has been replaced with Kustomize"),
    ("Use Moment for dates", "We've replaced Moment by date-fns"),
    ("Use Moment for dates", "date-fns replaces Moment"),
    ("Sessions are kept in Redis", "Sessions are in Postgres, no longer in Redis"),
    ("Sessions are kept in Redis", "We store sessions in Postgres rather than Redis now"),
    ("Always use tabs", "We switched from tabs to spaces"),
    ("The timeout is 30 seconds", "The timeout is 60 seconds now"),
    ("Use the staging cluster for demos", "The staging cluster was shut down"),
    ("We use GraphQL for the public API", "We dropped GraphQL and went with REST, because caching was a pain"),
    ("We use GraphQL for the public API", "GraphQL is deprecated here; write REST endpoints"),
    ("Docs are written in AsciiDoc", "We're done with AsciiDoc, docs are Markdown"),
    (
        "Passwords are hashed with bcrypt",
        "Let's use argon2 for passwords instead of bcrypt, because bcrypt cuts at 72 bytes.",
    ),
    ("Use npm", "Use pnpm from now on, not npm"),
    ("Deploys happen on Friday", "Deploys happen on Tuesday now"),
    ("Let's use Svelte for the dashboard", "Svelte didn't work out; we went back to React"),
    ("We chose Auth0 over Cognito", "We're moving off Auth0 to Keycloak"),
    ("Error tracking is Sentry", "We cancelled Sentry, errors go to Honeybadger"),
    ("Error tracking is Sentry", "Sentry has been turned off"),
    ("Always format with Black", "Black is no longer our formatter, ruff format is"),
    ("Lint with eslint", "eslint made way for biome"),
    ("Tasks run on Celery", "We ripped out Celery, tasks run on Dramatiq"),
    ("Tasks run on Celery", "procrastinate took the place of Celery"),
    ("The VAT rate is 19 percent", "That's not right, the VAT rate is 20 percent"),
    ("Refunds take 5 days", "No, refunds take 7 days"),
    ("The region is eu-west-1", "asked: wrong, we are in eu-north-1"),
    ("Always use MobX for state", "MobX had to go, we are on Redux Toolkit"),
    ("Images are stored on S3", "We moved images from S3 to R2 because egress is free"),
    ("We picked FastAPI over Flask", "FastAPI is gone, the service is written in Go now"),
    ("Use Cypress for e2e tests", "We have replaced Cypress with Playwright"),
    ("Use Cypress for e2e tests", "Let's drop Cypress: Playwright is twice as fast"),
    ("Use Cypress for e2e tests", "Don't use Cypress any more, use Playwright"),
    ("Releases go out on Mondays", "Releases go out on Thursdays now"),
    ("Deploy with fly deploy", "fly deploy is dead, use ./deploy.sh"),
    ("We cache responses in Varnish", "Varnish was removed last sprint, the CDN does it"),
    ("We cache responses in Varnish", "asked: remove varnish, the CDN caches now\nVarnish is removed."),
    ("Let's use Prisma for the database layer", "We abandoned Prisma and write SQL by hand"),
    ("Secrets are in Vault", "Secrets are in AWS Secrets Manager instead of Vault"),
    ("We support Python 3.8", "We dropped Python 3.8"),
    ("Always use Enzyme", "Enzyme is deprecated, write new tests with Testing Library"),
    ("Queue jobs in Sidekiq", "Sidekiq has been superseded by Solid Queue"),
    ("The session lifetime is 24 hours", "The session lifetime is 12 hours now, auditors want it"),
    ("Prices are floats", "asked: that's wrong, prices are integers in cents\nPrices are integers in cents."),
    ("Let's keep RabbitMQ", "We switched from RabbitMQ to SQS"),
    ("I've added Sentry, which reports each crash", "We dropped Sentry, it cost too much"),
    ("I've built the cache with Redis", "We replaced Redis with Valkey"),
    ("We added Prisma, which the admin needs; it is in package.json", "Prisma is gone, we write SQL by hand"),
]
HOLDS = [
    ("Always use npm here", "We could switch to pnpm"),
    ("Always use npm here", "We switched to vitest because it is fast"),
    ("Use pnpm, not npm", "We switched to pnpm last week"),
    # The choice is confirmed, or only might end.
    (
        "Celery is replaced by procrastinate 2.15 on Postgres",
        "I would not: tasks were lost twice with Celery on Redis.\nasked: agreed, stay with procrastinate",
    ),
    ("Let's replace Kafka with NATS", "I'd stay with NATS: Kafka's brokers cost 900 EUR a month"),
    ("Let's replace Kafka with NATS", "Should we drop NATS and go back to Kafka?"),
    ("RabbitMQ carries the orders", "We looked at replacing RabbitMQ and decided against it"),
    ("RabbitMQ carries the orders", "We decided not to replace RabbitMQ"),
    ("RabbitMQ carries the orders", "Never remove RabbitMQ"),
    ("RabbitMQ carries the orders", "We could drop RabbitMQ if it loses messages again"),
    ("RabbitMQ carries the orders", "We keep RabbitMQ instead of moving to Kafka"),
    ("RabbitMQ carries the orders", "Kafka was removed. RabbitMQ runs everywhere"),
    ("RabbitMQ carries the orders", "RabbitMQ is used instead of Kafka"),
    ("We use Kafka, RabbitMQ is gone", "The RabbitMQ volumes were removed"),
    ("Kafka instead of RabbitMQ", "RabbitMQ was removed from the compose file"),
    # Something about the choice changes.
    (
        "Let's use argon2 for passwords instead of bcrypt, because bcrypt cuts at 72 bytes",
        "Let's raise argon2's memory to 64 MiB, because the pentest asked for it",
    ),
    (
        "Passwords are hashed by argon2 in auth.py now instead of bcrypt",
        "argon2 uses 64 MiB in auth.py now instead of 19 MiB",
    ),
    ("RabbitMQ carries the orders", "RabbitMQ runs with three nodes instead of one"),
    ("RabbitMQ carries the orders", "Removed the retry header of RabbitMQ"),
    ("RabbitMQ carries the orders", "RabbitMQ's management port was changed to 15673"),
    ("RabbitMQ carries the orders", "RabbitMQ moved to a larger machine"),
    ("RabbitMQ carries the orders", "The RabbitMQ image was switched from alpine to debian"),
    ("Sessions are kept in Redis", "Dropped the Redis index on user ids"),
    ("Sessions are kept in Redis", "Redis was too small, it has 4 GB now"),
    (
        "Sessions are stored in the Postgres table sessions now",
        "Sessions in the Postgres table sessions live 12 hours now",
    ),
    (
        "Sessions are stored in the Postgres table sessions now",
        "The Postgres table sessions has a partial index now instead of a full one",
    ),
    ("Store the sessions in Postgres, not in Redis, because Redis is not backed up", "Redis was removed"),
    ("The tests are in tests", "The tests are slow now"),
    ("The API listens on port 8080", "The viewer listens on port 8081 now"),
    ("We use Postgres", "The Postgres driver is asyncpg now instead of psycopg"),
    # A part of what was made changes.
    (
        "I've added a pg-up target that runs docker compose up -d --wait pg-test",
        "I've replaced --wait with a loop over pg_isready in scripts/wait-pg.sh\nasked: dont use --wait",
    ),
    (
        "I've added the Lambda rotate-key with runtime = python3.9, which runs on the 1st of each month",
        "I've replaced python3.9 with python3.12 in infra/rotate.tf",
    ),
    ("We created a nightly job which uploads dumps with rclone", "Replaced rclone with restic in backup.sh"),
    ("Added a release workflow that signs with cosign; it runs on tags", "cosign was swapped for minisign"),
    ("I've set up a mail queue with retries(5) on Sidekiq", "Sidekiq was replaced with GoodJob"),
    # Something else ends.
    ("Sessions are kept in Redis", "Redis is gone from the rate limiter"),
    ("The cart uses zustand", "We no longer use zustand for the theme"),
    ("RabbitMQ carries the orders", "rabbitmqctl was removed from the path"),
    ("RabbitMQ carries the orders", "The footer was removed"),
    ("We use Postgres", "We use Postgres 16 now instead of 15"),
    ("Sessions are kept in Redis", "Redis keys now have a prefix instead of a plain id"),
    ("Sessions are kept in Redis", "We moved Redis from eu-west-1 to eu-north-1"),
    ("Sessions are kept in Redis", "Raise the Redis memory to 2 GB, it was too small"),
    ("Sessions are kept in Redis", "The Redis password was removed from the repo"),
    ("Sessions are kept in Redis", "Redis replaced Memcached, and stays"),
    ("We use Kafka", "Let's not replace Kafka"),
    ("We use Kafka", "Kafka stays, NATS was dropped"),
    ("We use Kafka", "Reviewed the bus: we're sticking with Kafka instead of NATS"),
    ("We use Kafka", "No change: Kafka it is"),
    ("We use Kafka", "We won't move away from Kafka"),
    ("We use Kafka", "We don't want to drop Kafka"),
    ("We use Kafka", "Nobody should remove Kafka"),
    ("We use Kafka", "asked: why did we think of dropping Kafka?"),
    ("We use Kafka", "If we dropped Kafka, orders would be lost"),
    ("We use Kafka", "Moved the Kafka config from bus.py to settings.py"),
    ("We use Kafka", "Kafka topics were renamed from orders to orders.v2"),
    ("We use Kafka", "The Kafka consumer no longer crashes on empty messages"),
    ("We use Kafka", "Kafka was upgraded from 3.6 to 3.7"),
    ("We use Kafka", "Kafka was slow because of the disk; it has an SSD now"),
    ("We use Kafka", "Kafka is the bus, RabbitMQ is gone"),
    ("We use Kafka", "Confirmed: Kafka instead of RabbitMQ"),
    ("We use Kafka", "asked: keep Kafka, drop RabbitMQ"),
    ("We use Kafka", "We removed the Kafka UI"),
    ("We use Kafka", "We removed Kafka Connect"),
    ("We use Kafka", "The tests use a fake instead of Kafka"),
    ("We use Kafka", "In tests we don't use Kafka"),
    ("Use procrastinate instead of Celery", "Celery is gone from requirements.txt"),
    ("Use procrastinate instead of Celery", "Celery was slow, procrastinate is fast"),
    ("Use pnpm, never npm", "npm is gone from the Dockerfile"),
    ("Let's use argon2 for passwords", "argon2's parallelism was changed from 1 to 4"),
    ("Let's use argon2 for passwords", "We lowered argon2 iterations, logins were too slow"),
    ("Always format with Black", "Black's line length is 100 now instead of 88"),
    ("Always format with Black", "Black runs in pre-commit instead of CI now"),
    ("Always format with Black", "Black moved from the Makefile to pre-commit"),
    ("Invoices are PDF", "The PDF footer was removed"),
    ("The API listens on port 8080", "The API listens on port 8080 now"),
    ("The API uses FastAPI", "The API uses uvicorn now"),
    ("Tests run in CI", "Tests run in parallel now"),
    ("The rate limiter counts in Redis", "Sessions are in Postgres instead of Redis"),
    ("Deploys are done by GitHub Actions", "Linting is done by pre-commit now"),
    ("Never push to main", "The main menu was removed"),
    ("Store money as Decimal", "Store money as Decimal(12, 2) now"),
    ("We accept PayPal", "PayPal refunds no longer need an approval"),
    ("We accept PayPal", "Stopped using the PayPal sandbox"),
    ("We use feature flags", "Removed the dark-mode feature flag"),
    ("Backups are kept for 30 days", "Backups are no longer kept on the app server"),
    ("Use Cypress for e2e tests", "Cypress runs in headless mode now instead of headed"),
    ("Use Cypress for e2e tests", "We moved the Cypress tests from e2e/ to tests/e2e"),
    ("Use Cypress for e2e tests", "Should we replace Cypress with Playwright?"),
    ("Use Cypress for e2e tests", "I'd rather not replace Cypress"),
    ("Use Cypress for e2e tests", "After the review we continue with Cypress instead of switching to Playwright"),
    ("Use Cypress for e2e tests", "Cypress 13 replaces Cypress 12"),
    ("Use Cypress for e2e tests", "Upgraded Cypress from 12 to 13"),
    ("Use Cypress for e2e tests", "The Cypress videos were removed from CI artifacts"),
    ("Use Cypress for e2e tests", "Thinking about dropping Cypress, to be decided next week"),
    ("Use Cypress for e2e tests", "asked: what if we dropped Cypress?\nThat would cost two weeks."),
    ("Use Cypress for e2e tests", "Cypress stays after all; Playwright was rejected"),
    ("Images are stored on S3", "S3 objects are private now instead of public"),
    ("Images are stored on S3", "The S3 bucket moved from us-east-1 to eu-west-1"),
    ("Images are stored on S3", "Old backups were deleted from S3"),
    ("Images are stored on S3", "S3 is no longer slow since we use CloudFront"),
    ("Let's use Prisma for the database layer", "Prisma's query logging was switched off"),
    ("Let's use Prisma for the database layer", "We went with Prisma instead of TypeORM"),
    ("Let's use Prisma for the database layer", "Dropped the Prisma middleware for soft deletes"),
    ("We replaced Moment with date-fns", "The last Moment import is gone"),
    ("We replaced Moment with date-fns", "Removed moment from package.json"),
    ("We replaced Moment with date-fns", "date-fns formats use yyyy instead of YYYY"),
    ("Secrets are in Vault", "Vault tokens now expire after 1 hour instead of 24"),
    ("Queue jobs in Sidekiq", "Sidekiq's concurrency went from 5 to 10"),
    ("Queue jobs in Sidekiq", "The mailer job no longer goes through Sidekiq"),
    ("Queue jobs in Sidekiq", "Sidekiq is not dead, it only restarts at night"),
    ("Queue jobs in Sidekiq", "Sidekiq was down yesterday, it is back"),
    ("Never use any in TypeScript", "Removed any from the generated types"),
    ("Always squash before a merge", "Squash is done by the bot now"),
    ("The API rate limit is 100 per minute", "The upload rate limit is 20 per minute now"),
    ("Use Redis for locks", "Redis was replaced by Postgres for sessions"),
    ("We agreed to keep Celery", "Celery's beat schedule was moved from code to the database"),
]


@pytest.mark.parametrize(("old", "new"), ENDS)
def test_what_ends_the_very_thing_that_was_chosen_overturns_it(old: str, new: str) -> None:
    assert overturns(new, old)


@pytest.mark.parametrize(("old", "new"), HOLDS)
def test_what_confirms_it_or_changes_something_about_it_does_not(old: str, new: str) -> None:
    assert not overturns(new, old)


def test_a_text_that_states_what_it_replaces_overturns_exactly_that() -> None:
    new = f"meals are paid weekly\n{replacing('Travel is paid at once')}".lower()
    assert overturns(new, "Travel is paid at once\nSince March.")
    assert statement_replacing("travel is  paid at once") in new
    assert statement_replacing("travel is paid at once, in euros") not in new


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ('Replaces "npm ci" by "pnpm i" in CI', "Replaces \u201cnpm ci\u201d by \u201cpnpm i\u201d in CI"),
        ('Replaces "Never push', "Replaces Never push"),
        ('It replaces "npm ci"', 'It replaces "npm ci"'),
    ],
)
def test_what_somebody_said_states_no_replacement(said: str, kept: str) -> None:
    assert as_said(said) == kept
    assert not is_replacing(as_said(said))


def test_a_figure_is_the_name_of_nothing_that_ends() -> None:
    old = "With a shift of 2 days the WAPE is 0.229, since the order is made at 14:00"
    assert not overturns("Holidays as a feature: WAPE 0.209 instead of 0.229", old)
