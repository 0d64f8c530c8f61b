"""Makes the profile of a project from the texts of its files, and says which files are read.

The files of tasks and of pinned versions are read here, since they belong to no single language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from kiro_learn.learning.profile import compiled, places, scripting
from kiro_learn.learning.profile.commands import FileText, Folder, facts_of_tasks, is_plain, table, version
from kiro_learn.learning.profile.places import IMAGES
from kiro_learn.model.graph import Fact, SourceType
from kiro_learn.model.profile import COMMANDS, ProfileFact, ProjectProfile, Slot, WantedFiles

MOST_FACTS = 80
"""The most facts of one project."""

_RUNTIMES = ("Node.js", "Erlang", ".NET SDK", "Terraform")
"""Tools that come after the languages that a project is written in."""

_BESIDE = frozenset({Slot.INSTALL, Slot.ADD})
"""Slots in which the usual command of a package manager stays next to a task of the project."""

_LANGUAGES: tuple[Callable[[Folder], Iterator[ProfileFact]], ...] = (
    scripting.ruby,
    scripting.php,
    scripting.elixir,
    compiled.rust,
    compiled.go,
    compiled.gradle,
    compiled.maven,
    scripting.javascript,
    scripting.deno,
    scripting.python,
    compiled.dotnet,
)
_MANIFESTS = frozenset(
    {
        *("package.json", "deno.json", "deno.jsonc", "pyproject.toml", "setup.py", "Pipfile", "requirements.txt"),
        *("Cargo.toml", "go.mod", "Gemfile", "pom.xml", "build.gradle", "build.gradle.kts", "composer.json", "mix.exs"),
        "global.json",
    }
)
_LOCKS = frozenset(
    {
        *("pnpm-lock.yaml", "yarn.lock", "bun.lockb", "bun.lock", "package-lock.json", "npm-shrinkwrap.json"),
        *("uv.lock", "poetry.lock", "pdm.lock", "hatch.toml"),
    }
)
_VERSION_FILES = {
    ".nvmrc": "Node.js",
    ".node-version": "Node.js",
    ".python-version": "Python",
    ".ruby-version": "Ruby",
    ".java-version": "Java",
    ".go-version": "Go",
    ".php-version": "PHP",
}
WANTED = WantedFiles(
    read=frozenset(
        {
            *_MANIFESTS,
            *("requirements-dev.txt", "requirements/dev.txt", "dev-requirements.txt", "Gemfile.lock", "Dockerfile"),
            *("gradle/wrapper/gradle-wrapper.properties", "justfile", "Justfile", ".justfile", "Makefile", "makefile"),
            *("GNUmakefile", "Taskfile.yml", "Taskfile.yaml", ".tool-versions", "mise.toml", ".mise.toml"),
            *("rust-toolchain.toml", ".gitlab-ci.yml", places.CONFIG, places.REMOTE_HEAD, places.PACKED),
            *_VERSION_FILES,
            *places.COMPOSE_FILES,
        }
    ),
    noticed=frozenset(
        {
            *_LOCKS,
            *("tsconfig.json", "tsconfig.base.json", "setup.cfg", "pytest.ini", "tox.ini", "noxfile.py", "ruff.toml"),
            *(".ruff.toml", ".flake8", ".pre-commit-config.yaml", "mypy.ini", "pyrightconfig.json", "manage.py"),
            *("alembic.ini", "clippy.toml", ".clippy.toml", "rustfmt.toml", ".rustfmt.toml", "src/main.rs", "main.go"),
            *(".golangci.yml", ".golangci.yaml", ".golangci.toml", "mvnw", "gradlew", "Rakefile", ".rubocop.yml"),
            *("bin/dev", "artisan", ".formatter.exs"),
            *places.CI_FILES,
            *places.PLATFORM_FILES,
            *places.BRANCH_FILES,
        }
        - {".gitlab-ci.yml"}
    ),
    suffixes=(".csproj", ".sln"),
    listed=((".github/workflows", (".yml", ".yaml")),),
    below=_MANIFESTS,
    below_noticed=frozenset(
        {*_LOCKS, "tsconfig.json", "manage.py", "pytest.ini", "mvnw", "gradlew", "src/main.rs", "main.go", "artisan"}
    ),
)


def profile_of(files: Mapping[str, str]) -> ProjectProfile:
    """What ``files`` say of their project, by path; empty if a project is built by none of them.

    Args:
      files: the texts of the ``WANTED`` files that are there. Files that are only noticed have empty texts.
    """
    folder = Folder({path: _plain(text) for path, text in files.items()})
    tasks = list(_tasks_of(folder))
    at_top = list(_of_languages(folder, {fact.slot for fact in tasks}))
    below = [] if at_top else [fact for prefix in _folders_below(files) for fact in _below(folder, prefix)]
    if not (at_top or below or tasks):
        return ProjectProfile()
    said = [*_pinned_versions(folder), *tasks, *at_top, *below, *places.facts(folder), *places.facts_of_git(folder)]
    facts = _each_once([*said, *places.commands_of_ci(folder)])
    return ProjectProfile.ordered(sorted(facts, key=lambda fact: fact.value.startswith(_RUNTIMES))[:MOST_FACTS])


def _plain(text: str) -> str:
    """``text`` without the byte order mark and the line ends of Windows."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _of_languages(folder: Folder, worded: set[Slot]) -> Iterator[ProfileFact]:
    """The facts from the files of each language.

    A usual command of a tool is left out if the project words its own command for the same slot: in these files, or in
    the ``worded`` slots.
    """
    for read in _LANGUAGES:
        facts = list(read(folder))
        own = worded | {fact.slot for fact in facts if fact.slot in COMMANDS and not fact.is_usual}
        yield from (fact for fact in facts if not (fact.is_usual and fact.slot in own - _BESIDE))


def _folders_below(files: Mapping[str, str]) -> list[str]:
    parts = (path.rpartition("/") for path in files)
    return sorted({f"{folder}/" for folder, _, name in parts if folder and "/" not in folder and name in _MANIFESTS})


def _below(folder: Folder, prefix: str) -> Iterator[ProfileFact]:
    """The facts from the folder ``prefix``, read as at the top, each with the folder's name."""
    for fact in _of_languages(Folder(folder.files, prefix), set()):
        yield _held_in(fact, prefix.rstrip("/"))


def _held_in(fact: ProfileFact, name: str) -> ProfileFact:
    value = f"cd {name} && {fact.value}" if fact.slot in COMMANDS else f"{fact.value} ({name})"
    return ProfileFact(slot=fact.slot, value=value, path=fact.path, line=fact.line, is_usual=fact.is_usual)


def _each_once(said: Iterable[ProfileFact]) -> list[ProfileFact]:
    """Each statement once. A command of CI counts only for a slot of which nothing else is known."""
    facts: dict[tuple[Slot, str], ProfileFact] = {}
    for fact in said:
        facts.setdefault((fact.slot, fact.value), fact)
    kept = [fact for fact in facts.values() if not (fact.slot in COMMANDS and _is_of_ci(fact))]
    filled = {fact.slot for fact in kept}
    of_ci = {fact.slot: fact for fact in reversed(facts.values()) if fact.slot not in filled}
    return [*kept, *of_ci.values()]


def _is_of_ci(fact: ProfileFact) -> bool:
    return fact.path.startswith(".github/") or fact.path == ".gitlab-ci.yml"


# Statements of people about a project, in the slots of its profile: present and past ones.

_SLOTS = {
    "written_in": Slot.LANGUAGE,
    "built_with": Slot.FRAMEWORK,
    "stored_in": Slot.SERVICE,
    "deployed_on": Slot.PLATFORM,
    "runs_on": Slot.PLATFORM,
    "listens_on_port": Slot.PORT,
    "default_branch": Slot.BRANCH,
}
_MANAGERS = frozenset(
    {
        *("npm", "pnpm", "yarn", "bun", "pip", "uv", "poetry", "conda", "pipenv"),
        *("cargo", "gradle", "maven", "bundler", "composer"),
    }
)
_SERVICES = frozenset(name.casefold() for name in IMAGES.values())
_VERSION = re.compile(r" v?\d.*")


def with_stated(profile: ProjectProfile, facts: Iterable[Fact]) -> ProjectProfile:
    """``profile`` with the facts that people stated of the project.

    A fact put by hand stands before those of the files, a fact that was only stated after them. If the profile has a
    thing of the same name already, the files' word stays. Acts and guesses of an agent are no statements.
    """
    known = {(fact.slot, _name(fact)) for fact in profile.facts}
    told = [
        (fact.source_type is SourceType.CORRECTED, each)
        for fact in facts
        for each in _of(fact)
        if (each.slot, _name(each)) not in known
    ]
    if not told:
        return profile
    by_hand = [each for is_by_hand, each in told if is_by_hand]
    stated = [each for is_by_hand, each in told if not is_by_hand]
    return ProjectProfile.ordered([*by_hand, *profile.facts, *stated])


def past_of(facts: Iterable[Fact]) -> list[ProfileFact]:
    """The facts of the project that held once, the one that ended last first."""
    found = [each for fact in facts if fact.validity.retired_at is None for each in _of(fact) if each.until is not None]
    return sorted(found, key=lambda each: (each.until, each.value), reverse=True)


def _of(fact: Fact) -> Iterator[ProfileFact]:
    """The fact in its slot. Nothing for a fact that is no statement, has no slot, or has no plain value."""
    slot = _SLOTS.get(fact.predicate)
    if fact.predicate == "uses":
        name = fact.object.casefold()
        slot = Slot.MANAGER if name in _MANAGERS else Slot.SERVICE if name in _SERVICES else Slot.FRAMEWORK
    if slot is not None and fact.source_type.rank >= SourceType.STATED.rank and is_plain(fact.object):
        until = fact.validity.valid_until
        yield ProfileFact(slot=slot, value=fact.object, said_at=fact.last_confirmed_at, until=until)


def _name(fact: ProfileFact) -> str:
    return _VERSION.sub("", fact.value).casefold()


# Tasks that a project names, and versions that it pins for tools that install them.
#
# The tasks come from Makefile, justfile and Taskfile; the versions from .nvmrc, .python-version, .tool-versions and
# mise.toml.

_MAKE = re.compile(r"([A-Za-z][\w./-]{0,50}(?:\s+[A-Za-z][\w./-]{0,50}){0,5})\s*::?(?![=:])")
_JUST = re.compile(r"@?([A-Za-z][\w-]{0,50})(?:[ \t]++[^:=\n]{0,200}+)?:(?!=)")
_TASK = re.compile(r" {2}([A-Za-z][\w:-]{0,50}):\s*(?:#.*)?")


def _tasks_of(folder: Folder) -> Iterator[ProfileFact]:
    """The tasks whose names show their slot. An ``install`` in a Makefile says nothing about packages."""
    if file := folder.file("justfile", "Justfile", ".justfile"):
        lines = _lines(file, _JUST)
        yield from facts_of_tasks(file, lines, lines.__getitem__, "just {}".format)
    if file := folder.file("Makefile", "makefile", "GNUmakefile"):
        lines = {name: line for name, line in _lines(file, _MAKE).items() if name != "install"}
        yield from facts_of_tasks(file, lines, lines.__getitem__, "make {}".format)
    if file := folder.file("Taskfile.yml", "Taskfile.yaml"):
        start = file.line_of(r"^tasks:")
        lines = {name: line for name, line in _lines(file, _TASK).items() if start and line > start}
        yield from facts_of_tasks(file, lines, lines.__getitem__, "task {}".format, but=frozenset({Slot.INSTALL}))


def _lines(file: FileText, form: re.Pattern[str]) -> dict[str, int]:
    """Each task by its name, with its first line."""
    found: dict[str, int] = {}
    for number, line in enumerate(file.text.splitlines(), 1):
        if match := form.match(line):
            for name in match[1].split():
                found.setdefault(name, number)
    return found


_TOOLS = {
    "nodejs": "Node.js",
    "node": "Node.js",
    "python": "Python",
    "ruby": "Ruby",
    "elixir": "Elixir",
    "erlang": "Erlang",
    "golang": "Go",
    "go": "Go",
    "rust": "Rust",
    "java": "Java",
    "php": "PHP",
    "deno": "Deno",
    "bun": "Bun",
    "kotlin": "Kotlin",
    "terraform": "Terraform",
}
_LINE = re.compile(r"([a-z]+)\s+(\S{1,30})(?:\s.*)?")
_NAMED = re.compile(r"(?:v|ruby-|go|lts/)?(\d[\w.]{0,20}|[a-z]{4,12})(?=\s|$)")
_CHANNEL = re.compile(r"[\w.-]{1,30}")


def _pinned_versions(folder: Folder) -> Iterator[ProfileFact]:
    """The languages with their pinned versions."""
    for path, language in _VERSION_FILES.items():
        file = folder.file(path)
        match = _NAMED.match(file.text.strip()) if file else None
        if file and match:
            yield from file.facts(Slot.LANGUAGE, f"{language} {match[1]}", 1)
    yield from _of_asdf(folder)
    if file := folder.file("mise.toml", ".mise.toml"):
        for tool, given in table(file.toml(), "tools").items():
            if tool in _TOOLS and (found := _pinned(given)):
                yield from file.facts(Slot.LANGUAGE, f"{_TOOLS[tool]} {found}", file.line_of(rf"^\s*{tool}\s*="))
    if file := folder.file("rust-toolchain.toml"):
        channel = table(file.toml(), "toolchain").get("channel")
        if isinstance(channel, str) and _CHANNEL.fullmatch(channel):
            yield from file.facts(Slot.LANGUAGE, f"Rust {channel}", file.line_of(r"^\s*channel\s*="))


def _of_asdf(folder: Folder) -> Iterator[ProfileFact]:
    file = folder.file(".tool-versions")
    for number, line in enumerate(file.text.splitlines() if file else (), 1):
        match = _LINE.fullmatch(line.strip())
        if file and match and match[1] in _TOOLS and (found := _pinned(match[2])):
            yield from file.facts(Slot.LANGUAGE, f"{_TOOLS[match[1]]} {found}", number)


def _pinned(given: object) -> str:
    """The version in a pin: ``temurin-17.0.9+9`` gives 17.0.9."""
    found = re.search(r"\d", given) if isinstance(given, str) else None
    return version(given[found.start() :]) if found and isinstance(given, str) else ""
