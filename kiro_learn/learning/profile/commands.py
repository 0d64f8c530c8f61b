"""Commands that ran: what each was for, its words without its arguments, and how often it did well.

What a project is built and tested with is best known by what worked. A command counts as another one only by the words
that say what is run: ``npm test -- src/cart.test.ts`` is ``npm test``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import attrs

from kiro_learn.learning.extraction.extractive.tools import command_in
from kiro_learn.learning.extraction.framing import ToolCall, parts_of
from kiro_learn.learning.profile.named_tasks import slot_of
from kiro_learn.model.event import Event, EventKind, JsonBody
from kiro_learn.model.profile import ProfileFact, ProjectProfile, Runs, Slot

LEAST_SUCCEEDED = 2
"""How often a command that no file names must have done well before it is told."""

_WORDS = {
    Slot.INSTALL: """
        npm install; npm ci; npm i; pnpm install; pnpm i; yarn install; bun install; uv sync; poetry install;
        pdm install; pip install -r; pip install -e; cargo fetch; go mod download; bundle install; composer
        install; mix deps.get; dotnet restore
    """,
    Slot.BUILD: """
        cargo build; go build; gradle build; gradlew build; gradlew assemble; mvn package; mvnw package; mvn
        verify; mvnw verify; mix compile; dotnet build; swift build; docker build
    """,
    Slot.TEST: """
        pytest; tox; nox; cargo test; cargo nextest run; go test; gradle test; gradlew test; mvn test; mvnw
        test; rspec; rails test; bin/rails test; mix test; dotnet test; vendor/bin/phpunit; vendor/bin/pest; php
        artisan test; vitest; jest; deno test; bun test; swift test; ctest; manage.py test
    """,
    Slot.LINT: """
        ruff check; flake8; pre-commit run; cargo clippy; golangci-lint run; go vet; rubocop; mix credo; eslint;
        biome check; biome lint
    """,
    Slot.FORMAT: """
        ruff format; black; cargo fmt; gofmt; go fmt; mix format; prettier; dotnet format; vendor/bin/pint
    """,
    Slot.TYPES: """
        mypy; pyright; tsc; cargo check; mix dialyzer; vendor/bin/phpstan analyse
    """,
    Slot.RUN: """
        cargo run; go run; mix phx.server; bin/dev; bin/rails server; rails server; php artisan serve; docker
        compose up; docker-compose up; dotnet run; manage.py runserver
    """,
    Slot.MIGRATE: """
        mix ecto.migrate; bin/rails db:migrate; rails db:migrate; alembic upgrade head; php artisan migrate;
        manage.py migrate; prisma migrate dev; prisma migrate deploy
    """,
    Slot.DEPLOY: """
        fly deploy; flyctl deploy; vercel --prod; vercel deploy --prod; netlify deploy --prod; wrangler deploy;
        firebase deploy; kamal deploy; cdk deploy; serverless deploy; railway up; gcloud app deploy; git push
        heroku; eb deploy; sam deploy; helm upgrade; skaffold run; pulumi up
    """,
}
_SLOTS = {" ".join(each.split()): slot for slot, words in _WORDS.items() for each in words.split(";")}
_MOST_WORDS = max(len(each.split()) for each in _SLOTS)
_BEFORE = re.compile(
    r"(?:(?:uv|poetry|pdm|hatch|pipenv) run |bundle exec |npx |pnpm exec |yarn |bunx |\./)?(?:python3? (?:-m )?)?"
)
"""What stands before a command, and changes nothing of what it is for."""

_TASK = re.compile(
    r"(?:(npm|pnpm|yarn|bun)(?: run)? (?!run\b)|make |just |task |composer (?:run )?|poe |(?:pdm|hatch) run "
    r"|deno task )"
    r"([A-Za-z][\w:.-]{0,50})"
)
_FOLDER = re.compile(r"^\s*cd\s+(?:\"[^\"]{0,300}\"|'[^']{0,300}'|[^\s&;|]{1,300})\s*(?:&&|;)\s*")
_SETTING = re.compile(r"(?:env )?(?:[A-Z_][A-Z0-9_]{0,60}+=[^\s&;|]{0,200}+\s++)++")
_END = re.compile(r"\s(?:2?>|\||&&|;)|[;|&]")
_OPTIONS = re.compile(r"^((?:\./)?(?:mvnw?|gradlew?))(?: -\S+)+")
_MANAGERS = ("npm", "pnpm", "yarn", "bun")

MOST_COMMAND = 2_000
"""Characters of a command that are looked at."""


def slot_of_command(command: str) -> Slot | None:
    """What a command is for; None where its words do not say."""
    found = base_of(command)
    return found[1] if found else None


def base_of(command: str) -> tuple[str, Slot] | None:
    """The words of a command that say what is run, and what for; None where they do not say."""
    inside = _FOLDER.sub("", command[:MOST_COMMAND]).strip()
    first = _END.split(_SETTING.sub("", inside, count=1), maxsplit=1)[0]
    text = _OPTIONS.sub(r"\1", " ".join(first.split()))
    before = _BEFORE.match(text)
    start = before[0] if before else ""
    for prefix in dict.fromkeys((start, "")):
        words = text.removeprefix(prefix).split(" ")
        for count in range(min(_MOST_WORDS, len(words)), 0, -1):
            said = " ".join(words[:count])
            if said in _SLOTS:
                return f"{prefix}{said}", _SLOTS[said]
    task = _TASK.match(text)
    slot = slot_of(task[2]) if task else None
    return (task[0], slot) if task and slot else None


@attrs.frozen
class Ran:
    """The commands that ran in some events, by their words, with what each is for."""

    runs: Mapping[tuple[str, Slot], Runs]

    @classmethod
    def of(cls, events: Iterable[Event]) -> Ran:
        """The commands of ``events``, newest first."""
        found: dict[tuple[str, Slot], Runs] = {}
        for event in events:
            if event.kind is EventKind.TOOL_USE and (ran := _ran(event)):
                key, has_failed = ran
                before = found.get(key, Runs(0, 0, event.valid_time, event.event_id))
                found[key] = attrs.evolve(
                    before, succeeded=before.succeeded + (not has_failed), failed=before.failed + has_failed
                )
        return cls(found)

    def add_to(self, profile: ProjectProfile) -> ProjectProfile:
        """``profile`` with how often its commands ran, those that did well most often first in their slot; and with
        commands that ran, where no file names one for their slot. An empty profile stays empty.
        """
        if not profile.facts or not self.runs:
            return profile
        counted = [attrs.evolve(fact, runs=self.runs.get((_bare(fact.value), fact.slot))) for fact in profile.facts]
        counted.sort(key=lambda fact: -fact.runs.succeeded if fact.runs else 0)
        slots = {fact.slot for fact in counted}
        more = [
            ProfileFact(slot=slot, value=command, runs=runs)
            for (command, slot), runs in sorted(self.runs.items(), key=lambda pair: -pair[1].succeeded)
            if slot not in slots and runs.succeeded >= LEAST_SUCCEEDED and _suits(command, profile)
        ]
        return ProjectProfile.ordered([*counted, *more])


def _bare(command: str) -> str:
    found = base_of(command)
    return found[0] if found else command


def _suits(command: str, profile: ProjectProfile) -> bool:
    """Not the command of a package manager that the files name no longer."""
    first = command.partition(" ")[0]
    managers = {value.partition(" ")[0].lower() for value in profile.values(Slot.MANAGER)}
    return first not in _MANAGERS or managers.isdisjoint(_MANAGERS) or first in managers


def _ran(event: Event) -> tuple[tuple[str, Slot], bool] | None:
    """The command of an event, and whether it failed; how it ended is looked at only where it has a slot."""
    data = event.body.data if isinstance(event.body, JsonBody) else None
    if not isinstance(data, dict):
        return None
    name = data.get("tool_name")
    found = base_of(command_in(name, data.get("tool_input"))) if isinstance(name, str) else None
    if found is None:
        return None
    calls = (part for part in parts_of(event) if isinstance(part, ToolCall))
    return found, any(call.has_failed for call in calls)
