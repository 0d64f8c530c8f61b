"""Commands that ran, tasks by their names, and the texts of a project's files."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from xml.etree import ElementTree as ET

import attrs

from kiro_learn.learning.extraction.extractive.facts import command_in
from kiro_learn.learning.extraction.framing import ToolCall, parts_of
from kiro_learn.model.event import Event, EventKind, JsonBody
from kiro_learn.model.profile import ProfileFact, ProjectProfile, Runs, Slot

# Commands that ran: the purpose of each, its words without its arguments, and how often it did well.
#
# Commands that worked show best how a project is built and tested. Two commands are the same if the words that say what
# runs are the same: ``npm test -- src/cart.test.ts`` is ``npm test``.

LEAST_SUCCEEDED = 2
"""How often a command that no file names must have done well before a profile has it."""

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
"""Words before a command that do not change its purpose."""

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
"""How many characters of a command are read."""


def slot_of_command(command: str) -> Slot | None:
    """The purpose of a command; None if its words do not show it."""
    found = base_of(command)
    return found[1] if found else None


def base_of(command: str) -> tuple[str, Slot] | None:
    """The words of a command that say what runs, and its purpose; None if they do not show it."""
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
    """The commands that ran in some events: the runs of each, by its words and its purpose."""

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
        """``profile`` with the runs of its commands, and with more commands that ran.

        In each slot the commands that did well most often come first. A command that ran is added only if no file names
        one for its slot. An empty profile stays empty.
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
    """False for the command of a package manager that the files no longer name."""
    first = command.partition(" ")[0]
    managers = {value.partition(" ")[0].lower() for value in profile.values(Slot.MANAGER)}
    return first not in _MANAGERS or managers.isdisjoint(_MANAGERS) or first in managers


def _ran(event: Event) -> tuple[tuple[str, Slot], bool] | None:
    """The command of an event, and whether it failed. The result is read only if the command has a slot."""
    data = event.body.data if isinstance(event.body, JsonBody) else None
    if not isinstance(data, dict):
        return None
    name = data.get("tool_name")
    found = base_of(command_in(name, data.get("tool_input"))) if isinstance(name, str) else None
    if found is None:
        return None
    calls = (part for part in parts_of(event) if isinstance(part, ToolCall))
    return found, any(call.has_failed for call in calls)


# The slot of a task by its name, as people name scripts, targets and recipes: ``build``, ``test:unit``.

_WORDS_OF_TASK = {
    Slot.INSTALL: "setup bootstrap deps install",
    Slot.BUILD: "build compile dist bundle",
    Slot.TEST: "test tests spec",
    Slot.LINT: "lint eslint clippy rubocop",
    Slot.FORMAT: "format fmt prettier",
    Slot.TYPES: "typecheck type-check check-types types tsc mypy pyright",
    Slot.RUN: "dev start serve run server develop up watch",
    Slot.MIGRATE: "migrate migrations migration db:migrate db-migrate migrate-up",
    Slot.RELEASE: "release publish",
    Slot.DEPLOY: "deploy ship",
}
_SLOTS_OF_TASK = {
    word: (slot, place) for slot, words in _WORDS_OF_TASK.items() for place, word in enumerate(words.split())
}
NAME = re.compile(r"[A-Za-z][\w.:/-]{0,50}", re.ASCII)
_PART = re.compile(r"[:._/-]")


def slot_of(name: str) -> Slot | None:
    """The slot of a task of this name, or of the task that it is a variety of; None if the name shows none."""
    found = _SLOTS_OF_TASK.get(name) or _SLOTS_OF_TASK.get(_PART.split(name)[0])
    return found[0] if found else None


def facts_of_tasks(
    file: FileText,
    tasks: Iterable[str],
    line_of: Callable[[str], int],
    call: Callable[[str], str],
    *,
    but: frozenset[Slot] = frozenset(),
) -> Iterator[ProfileFact]:
    """For each slot the tasks with a name of that slot, the usual name first; else the shortest variety.

    Args:
      tasks: the names of all tasks.
      line_of: the line of a task in ``file``. It is called only for tasks that get a fact, since it reads the file each
      time.
      call: the command that runs a task.
      but: slots that get no task.
    """
    named = [(name, slot_of(name)) for name in tasks if NAME.fullmatch(name)]
    for slot in _WORDS_OF_TASK:
        names = [name for name, found in named if found is slot]
        exact = sorted((name for name in names if name in _SLOTS_OF_TASK), key=lambda name: _SLOTS_OF_TASK[name][1])
        chosen = exact or sorted(names, key=lambda name: (len(name), name))[:1]
        for name in () if slot in but else chosen:
            yield from file.facts(slot, call(name), line_of(name))


# The texts of a project's files, found by name, with line numbers.
#
# Rules of this part: a text may be anything. A text that no parser can read gives no fact. A value that is not a plain
# word, a version or a command is left out.

MOST_VALUE = 80
"""The most characters of a value. A longer value is left out."""

_PLAIN = re.compile(rf"(?=\S)[\w@./:+~^=*&%()#'|,\- !<>\[\]]{{1,{MOST_VALUE}}}(?<=\S)", re.ASCII)
"""A value without line ends, backquotes, quotation marks that open a string, and characters beyond ASCII."""

_TAG = re.compile(r"<[A-Za-z/!?|]")
_MANY_PARTS = re.compile(r"(?:\.[ \t]*(?:[\w-]{1,60}|\"[^\"\n]{0,60}\"|'[^'\n]{0,60}')[ \t]*){32}")
_DOCUMENT_TYPE = re.compile(r"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_VERSION = re.compile(r"\d+(?:\.\d+){0,3}(?:[-.]?(?:rc|alpha|beta|a|b)[.\d]+)?", re.IGNORECASE)
_RANGE = re.compile(r"(?:[\^~>=<! ]*+v?\d++(?:\.(?:\d++|x|\*))*+[ ,|]*+){1,4}")


def is_plain(value: str) -> bool:
    """Whether ``value`` may be told: a few words, a version or a command, on one line."""
    return _PLAIN.fullmatch(value) is not None and not _TAG.search(value)


@attrs.frozen
class FileText:
    """One file of the project. The text is empty if only the presence of the file counts."""

    path: str
    text: str

    def line_of(self, pattern: str, *, after: int = 0) -> int:
        """The number of the first line after line ``after`` that has ``pattern``; 0 if none has."""
        matches = re.compile(pattern).search
        lines = self.text.splitlines()
        return next((number for number, line in enumerate(lines, 1) if number > after and matches(line)), 0)

    def facts(self, slot: Slot, value: object, line: int = 0, *, is_usual: bool = False) -> Iterator[ProfileFact]:
        """The fact that this file gives ``value`` for ``slot``; none if ``value`` may not be told."""
        if isinstance(value, str) and is_plain(value):
            yield ProfileFact(slot=slot, value=value, path=self.path, line=line, is_usual=is_usual)

    def json(self) -> dict[str, Any]:
        """The content as a JSON object; empty if it is none."""
        return _object(json.loads, self.text)

    def toml(self) -> dict[str, Any]:
        """The content as TOML; empty if it is none, or if a key has so many parts that the parser takes long."""
        return {} if _MANY_PARTS.search(self.text) else _object(tomllib.loads, self.text)

    def xml(self) -> ET.Element | None:
        """The root of the content as XML; None if it is none. A document type is refused, so no entity can grow."""
        if _DOCUMENT_TYPE.search(self.text):
            return None
        try:
            root = ET.fromstring(self.text)  # noqa: S314  # without a document type there are no entities
        except (ET.ParseError, ValueError, RecursionError):
            return None
        for element in root.iter():
            element.tag = element.tag.rpartition("}")[2]
        return root


@attrs.frozen
class Folder:
    """The files that were found in one folder of the project, by their paths in it."""

    files: Mapping[str, str]
    prefix: str = ""
    """The path of the folder in the project, with a slash at its end."""

    def has(self, *names: str) -> bool:
        """Whether any of these files is there."""
        return any(f"{self.prefix}{name}" in self.files for name in names)

    def file(self, *names: str) -> FileText | None:
        """The first of these files that is there."""
        paths = (f"{self.prefix}{name}" for name in names)
        return next((FileText(path, self.files[path]) for path in paths if path in self.files), None)

    def files_in(self, folder: str, *suffixes: str) -> list[FileText]:
        """All files directly in ``folder`` whose names have one of these endings, by name."""
        start = f"{self.prefix}{folder}"
        found = (path for path in self.files if path.startswith(start) and "/" not in path[len(start) :])
        return [FileText(path, self.files[path]) for path in sorted(found) if path.endswith(suffixes)]


def _object(parse: Callable[[str], Any], text: str) -> dict[str, Any]:
    try:
        return table(parse(text))
    except (ValueError, RecursionError):  # a broken text, or one that is nested too deeply
        return {}


def table(value: object, *names: str) -> dict[str, Any]:
    """The table in ``value`` below these names; empty if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def texts(value: object) -> list[str]:
    """The texts in a list; empty if ``value`` is no list."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def version(value: object) -> str:
    """The first version in a text that begins with one or with a range: ``^18.2.0`` gives 18.2.0. Else empty."""
    if not isinstance(value, str) or len(value) > MOST_VALUE or not _RANGE.match(value.strip()):
        return ""
    found = _VERSION.search(value)
    return found[0] if found else ""


def version_range(value: object) -> str:
    """A range of versions as it is written, if it is one."""
    text = value.strip() if isinstance(value, str) and len(value) <= MOST_VALUE else ""
    return text if text and _RANGE.fullmatch(text) else ""


def named(name: str, found: str) -> str:
    """A name with its version if that is known."""
    return f"{name} {found}" if found else name
