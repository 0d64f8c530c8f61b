"""Reads the manifests and lock files of Python, JavaScript, TypeScript, Ruby, PHP and Elixir."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.learning.profile.commands import (
    FileText,
    Folder,
    facts_of_tasks,
    named,
    table,
    texts,
    version,
    version_range,
)
from kiro_learn.learning.profile.places import GEMS, HEX, NPM, PACKAGIST, PYPI, frameworks
from kiro_learn.model.profile import ProfileFact, Slot

_GEM = re.compile(r"^[ \t]*gem\s+[\"']([\w.-]+)[\"'](?:\s*,\s*[\"']([^\"']{0,40})[\"'])?", re.MULTILINE)
_LOCKED_GEM = re.compile(r"^ {4}([\w.-]+) \((\d[\w.-]*)\)$", re.MULTILINE)
_RUBY = re.compile(r"^[ \t]*ruby\s+[\"']([^\"']{1,30})[\"']", re.MULTILINE)
_ELIXIR = re.compile(r"^[ \t]*elixir:\s*\"([^\"]{1,30})\"", re.MULTILINE)
_HEX = re.compile(r"\{:(\w+),\s*\"([^\"]{0,40})\"")


def ruby(folder: Folder) -> Iterator[ProfileFact]:
    """The facts from Gemfile and Gemfile.lock."""
    file = folder.file("Gemfile")
    if file is None:
        return
    stated = _RUBY.search(file.text)
    found = version_range(stated[1]) if stated else ""
    yield from file.facts(Slot.LANGUAGE, named("Ruby", found), file.line_of(r"^\s*ruby\s") if found else 0)
    gems = {match[1]: version(match[2]) for match in _GEM.finditer(file.text)}
    lock = folder.file("Gemfile.lock")
    locked = dict(_LOCKED_GEM.findall(lock.text)) if lock else {}
    versions = {name: locked.get(name, asked) for name, asked in gems.items()}
    yield from frameworks(file, versions, GEMS, lambda name: file.line_of(rf"gem\s+[\"']{re.escape(name)}[\"']"))
    yield from file.facts(Slot.MANAGER, "Bundler")
    yield from file.facts(Slot.INSTALL, "bundle install", is_usual=True)
    yield from file.facts(Slot.ADD, "bundle add NAME", is_usual=True)
    if "rspec" in gems or "rspec-rails" in gems:
        yield from file.facts(Slot.TEST, "bundle exec rspec", is_usual=True)
    elif "rails" in gems:
        yield from file.facts(Slot.TEST, "bin/rails test", is_usual=True)
    elif folder.has("Rakefile") and "minitest" in gems:
        yield from file.facts(Slot.TEST, "bundle exec rake test", is_usual=True)
    if any(name.partition("-")[0] == "rubocop" for name in gems) or folder.has(".rubocop.yml"):
        yield from file.facts(Slot.LINT, "bundle exec rubocop", is_usual=True)
    if "rails" in gems:
        dev = folder.file("bin/dev")
        yield from (dev or file).facts(Slot.RUN, "bin/dev" if dev else "bin/rails server", is_usual=True)
        yield from file.facts(Slot.MIGRATE, "bin/rails db:migrate", is_usual=True)


def php(folder: Folder) -> Iterator[ProfileFact]:
    """The facts from composer.json."""
    file = folder.file("composer.json")
    if file is None:
        return
    content = file.json()
    required = {**table(content, "require-dev"), **table(content, "require")}
    asked = version_range(required.get("php"))
    yield from file.facts(Slot.LANGUAGE, named("PHP", asked), file.line_of(r'"php"\s*:') if asked else 0)
    versions = {name: version(text) for name, text in required.items()}
    yield from frameworks(file, versions, PACKAGIST, lambda name: file.line_of(rf'"{re.escape(name)}"\s*:'))
    yield from file.facts(Slot.MANAGER, "Composer")
    yield from file.facts(Slot.INSTALL, "composer install", is_usual=True)
    yield from file.facts(Slot.ADD, "composer require NAME", is_usual=True)
    start = file.line_of(r'"scripts"\s*:')
    yield from facts_of_tasks(
        file,
        table(content, "scripts"),
        lambda name: file.line_of(rf'"{re.escape(name)}"\s*:', after=start),
        "composer {}".format,
    )
    if artisan := folder.file("artisan"):
        yield from artisan.facts(Slot.TEST, "php artisan test", is_usual=True)
        yield from artisan.facts(Slot.RUN, "php artisan serve", is_usual=True)
        yield from artisan.facts(Slot.MIGRATE, "php artisan migrate", is_usual=True)
    elif "pestphp/pest" in required:
        yield from file.facts(Slot.TEST, "vendor/bin/pest", is_usual=True)
    elif "phpunit/phpunit" in required:
        yield from file.facts(Slot.TEST, "vendor/bin/phpunit", is_usual=True)
    if "laravel/pint" in required:
        yield from file.facts(Slot.FORMAT, "vendor/bin/pint", is_usual=True)
    if not {"phpstan/phpstan", "larastan/larastan", "nunomaduro/larastan"}.isdisjoint(required):
        yield from file.facts(Slot.TYPES, "vendor/bin/phpstan analyse", is_usual=True)


def elixir(folder: Folder) -> Iterator[ProfileFact]:
    """The facts from mix.exs."""
    file = folder.file("mix.exs")
    if file is None:
        return
    stated = _ELIXIR.search(file.text)
    asked = version_range(stated[1]) if stated else ""
    yield from file.facts(Slot.LANGUAGE, named("Elixir", asked), file.line_of(r"^\s*elixir:") if asked else 0)
    versions = {name: version(text) for name, text in _HEX.findall(file.text)}
    yield from frameworks(file, versions, HEX, lambda name: file.line_of(rf"\{{:{name},"))
    yield from file.facts(Slot.MANAGER, "Mix")
    yield from file.facts(Slot.INSTALL, "mix deps.get", is_usual=True)
    yield from file.facts(Slot.BUILD, "mix compile", is_usual=True)
    yield from file.facts(Slot.TEST, "mix test", is_usual=True)
    if "credo" in versions:
        yield from file.facts(Slot.LINT, "mix credo", is_usual=True)
    if formats := folder.file(".formatter.exs"):
        yield from formats.facts(Slot.FORMAT, "mix format", is_usual=True)
    if "dialyxir" in versions:
        yield from file.facts(Slot.TYPES, "mix dialyzer", is_usual=True)
    if "phoenix" in versions:
        yield from file.facts(Slot.RUN, "mix phx.server", is_usual=True)
    if "ecto_sql" in versions:
        yield from file.facts(Slot.MIGRATE, "mix ecto.migrate", is_usual=True)


# JavaScript and TypeScript: package.json, and the lock file that shows the package manager.

_LOCKS = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "Yarn",
    "bun.lockb": "Bun",
    "bun.lock": "Bun",
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
}
_MANAGERS = {"npm": "npm", "pnpm": "pnpm", "yarn": "Yarn", "bun": "Bun"}
_ADDS = {
    "npm": "npm install NAME",
    "pnpm": "pnpm add NAME",
    "Yarn": "yarn add NAME",
    "Bun": "bun add NAME",
    "Deno": "deno add NAME",
}
_PACKAGE_MANAGER = re.compile(r"(npm|pnpm|yarn|bun)@(\d[\w.-]{0,30})(?:\+.*)?")
_OWN_VERBS = frozenset({"deploy", "publish", "install", "setup", "start", "run", "bundle", "up", "release", "types"})
"""Scripts with these names need ``run``, because managers have commands of the same names."""


def javascript(folder: Folder) -> Iterator[ProfileFact]:
    """The facts from package.json and the lock files next to it."""
    file = folder.file("package.json")
    if file is None:
        return
    package = file.json()
    versions = _versions(package)
    yield from _language(folder, file, versions)
    node = table(package, "engines").get("node")
    if range_of_node := version_range(node):
        yield from file.facts(Slot.LANGUAGE, f"Node.js {range_of_node}", file.line_of(r'"node"\s*:'))
    yield from frameworks(file, versions, NPM, lambda name: file.line_of(rf'"{re.escape(name)}"\s*:'))
    managers = list(_managers(folder, file, package))
    yield from (fact for fact, _ in managers)
    manager = managers[0][1] if len({name for _, name in managers}) == 1 else ""
    if manager:
        verb = manager.lower()
        yield from file.facts(Slot.INSTALL, f"{verb} install", is_usual=True)
        yield from file.facts(Slot.ADD, _ADDS[manager], is_usual=True)
    start = file.line_of(r'"scripts"\s*:')
    scripts = [name for name, text in table(package, "scripts").items() if isinstance(text, str)]
    yield from facts_of_tasks(
        file,
        scripts,
        lambda name: file.line_of(rf'"{re.escape(name)}"\s*:', after=start - 1),
        lambda name: _call(manager, name),
        but=frozenset({Slot.INSTALL}),
    )


def deno(folder: Folder) -> Iterator[ProfileFact]:
    """The facts from deno.json."""
    file = folder.file("deno.json", "deno.jsonc")
    if file is None:
        return
    yield from file.facts(Slot.LANGUAGE, "TypeScript (Deno)")
    yield from file.facts(Slot.MANAGER, "Deno")
    yield from file.facts(Slot.ADD, _ADDS["Deno"], is_usual=True)
    tasks = table(file.json(), "tasks")
    yield from facts_of_tasks(
        file, tasks, lambda name: file.line_of(rf'"{re.escape(name)}"\s*:'), lambda name: f"deno task {name}"
    )
    yield from file.facts(Slot.TEST, "deno test", is_usual=True)


def _versions(package: dict[str, object]) -> dict[str, str]:
    parts = ("devDependencies", "dependencies")
    return {name: version(text) for part in parts for name, text in table(package, part).items()}


def _language(folder: Folder, file: FileText, versions: dict[str, str]) -> Iterator[ProfileFact]:
    config = folder.file("tsconfig.json", "tsconfig.base.json")
    if "typescript" in versions:
        value = named("TypeScript", versions["typescript"])
        yield from file.facts(Slot.LANGUAGE, value, file.line_of(r'"typescript"\s*:'))
    elif config is not None:
        yield from config.facts(Slot.LANGUAGE, "TypeScript")
    else:
        yield from file.facts(Slot.LANGUAGE, "JavaScript")


def _managers(folder: Folder, file: FileText, package: dict[str, object]) -> Iterator[tuple[ProfileFact, str]]:
    """The manager that package.json names; else each manager that has a lock file."""
    given = package.get("packageManager")
    stated = _PACKAGE_MANAGER.fullmatch(given) if isinstance(given, str) else None
    if stated:
        name = _MANAGERS[stated[1]]
        line = file.line_of(r'"packageManager"\s*:')
        yield from ((fact, name) for fact in file.facts(Slot.MANAGER, f"{name} {stated[2]}", line))
        return
    told: set[str] = set()
    for path, name in _LOCKS.items():
        lock = folder.file(path)
        if lock is not None and name not in told:
            told.add(name)
            yield from ((fact, name) for fact in lock.facts(Slot.MANAGER, name))


def _call(manager: str, script: str) -> str:
    if manager in {"", "npm"}:
        return f"npm {script}" if script in {"test", "start"} else f"npm run {script}"
    verb = manager.lower()
    if manager == "Bun":
        return f"bun run {script}"
    return f"{verb} run {script}" if script in _OWN_VERBS - {"start"} else f"{verb} {script}"


# Python: pyproject.toml, the lock file that shows the manager, requirements, and the tools' own files.

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]{0,100}\])?\s*([^;#]{0,80})")
_PYTHON_MANAGERS = {
    "uv": ("uv.lock", "uv sync", "uv add NAME", "uv run "),
    "Poetry": ("poetry.lock", "poetry install", "poetry add NAME", "poetry run "),
    "PDM": ("pdm.lock", "pdm install", "pdm add NAME", "pdm run "),
    "Pipenv": ("Pipfile", "pipenv install --dev", "pipenv install NAME", "pipenv run "),
    "Hatch": ("hatch.toml", "hatch env create", "", "hatch run "),
}
"""For each manager: the file that shows it, the commands that install and add, and the prefix of other commands."""

_OF_BUILDS = {"Hatch": {"version", "build", "metadata"}, "PDM": {"version", "build"}}
"""Settings for building packages only. Projects that install packages by another manager have them too."""

_REQUIREMENTS = ("requirements.txt", "requirements-dev.txt", "requirements/dev.txt", "dev-requirements.txt")


def python(folder: Folder) -> Iterator[ProfileFact]:
    """The facts from the files of a Python project."""
    project = folder.file("pyproject.toml")
    file = project or folder.file("setup.py", "setup.cfg", "Pipfile", *_REQUIREMENTS)
    if file is None:
        return
    content = project.toml() if project else {}
    yield from _python_language(file, content)
    required = _required(folder, project, content)
    versions = {name: found for name, (_, found, _) in required.items()}
    for each in dict.fromkeys(source for source, _, _ in required.values()):
        mine = {name: found for name, found in versions.items() if required[name][0] is each}
        yield from frameworks(each, mine, PYPI, lambda name: required[name][2] or _line_of(required[name][0], name))
    manager, fact = _python_manager(folder, file, content)
    yield from fact
    prefix = _PYTHON_MANAGERS[manager][3] if manager in _PYTHON_MANAGERS else ""
    yield from _python_installing(folder, file, manager)
    if project is not None:
        yield from _python_tasks(project, content)
    yield from _python_tools(folder, file, content, versions, prefix)
    yield from _django(folder, versions, prefix)


def _python_language(file: FileText, content: dict[str, object]) -> Iterator[ProfileFact]:
    stated = version_range(table(content, "project").get("requires-python"))
    poetry = version_range(table(content, "tool", "poetry", "dependencies").get("python"))
    if stated or poetry:
        line = file.line_of(r"^\s*requires-python\s*=" if stated else r"^\s*python\s*=")
        yield from file.facts(Slot.LANGUAGE, f"Python {stated or poetry}", line)
    else:
        yield from file.facts(Slot.LANGUAGE, "Python")


def _required(
    folder: Folder, project: FileText | None, content: dict[str, object]
) -> dict[str, tuple[FileText, str, int]]:
    """For each package: the file that names it, its version, and its line, which is 0 for pyproject.toml."""
    found: dict[str, tuple[FileText, str, int]] = {}
    if project is not None:
        for name, text in _of_pyproject(content):
            found.setdefault(name.lower(), (project, version(text), 0))
    for path in _REQUIREMENTS:
        if file := folder.file(path):
            for number, line_text in enumerate(file.text.splitlines(), 1):
                if match := _REQUIREMENT.match(line_text):
                    found.setdefault(match[1].lower(), (file, version(match[2]), number))
    return found


def _line_of(file: FileText, package: str) -> int:
    return file.line_of(rf"(?i)^\s*(?:[\w-]+\s*=\s*\[\s*)?[\"']?{re.escape(package)}\b")


def _of_pyproject(content: dict[str, object]) -> Iterator[tuple[str, str]]:
    project = table(content, "project")
    lists = [project.get("dependencies"), *table(project, "optional-dependencies").values()]
    lists += [*table(content, "dependency-groups").values(), table(content, "tool", "uv").get("dev-dependencies")]
    for text in (text for each in lists for text in texts(each)):
        if match := _REQUIREMENT.match(text):
            yield match[1], match[2]
    poetry = table(content, "tool", "poetry")
    groups = [table(group, "dependencies") for group in table(poetry, "group").values()]
    for listed in (table(poetry, "dependencies"), table(poetry, "dev-dependencies"), *groups):
        for name, given in listed.items():
            yield name, str(given.get("version", "") if isinstance(given, dict) else given)


def _python_manager(folder: Folder, file: FileText, content: dict[str, object]) -> tuple[str, list[ProfileFact]]:
    for name, (lock, *_) in _PYTHON_MANAGERS.items():
        if found := folder.file(lock):
            return name, list(found.facts(Slot.MANAGER, name))
    for name in _PYTHON_MANAGERS:
        settings, of_builds = table(content, "tool", name.lower()), _OF_BUILDS.get(name, set())
        is_named = name.lower() in table(content, "tool") and not of_builds
        if is_named or settings.keys() - of_builds:
            line = file.line_of(rf"^\s*\[tool\.{name.lower()}\b")
            return name, list(file.facts(Slot.MANAGER, name, line))
    return "pip", list(file.facts(Slot.MANAGER, "pip", is_usual=True))


def _python_installing(folder: Folder, file: FileText, manager: str) -> Iterator[ProfileFact]:
    if manager in _PYTHON_MANAGERS:
        _, install, add, _ = _PYTHON_MANAGERS[manager]
        yield from file.facts(Slot.INSTALL, install, is_usual=True)
        if add:
            yield from file.facts(Slot.ADD, add, is_usual=True)
        return
    required = folder.file(*reversed(_REQUIREMENTS[1:]), _REQUIREMENTS[0])
    if required is not None:
        name = required.path.removeprefix(folder.prefix)
        yield from required.facts(Slot.INSTALL, f"pip install -r {name}", is_usual=True)
    else:
        yield from file.facts(Slot.INSTALL, "pip install -e .", is_usual=True)


def _python_tasks(file: FileText, content: dict[str, object]) -> Iterator[ProfileFact]:
    """The tasks that the project names, by the tools that run them."""
    runners = {
        "poe": table(content, "tool", "poe", "tasks"),
        "pdm run": table(content, "tool", "pdm", "scripts"),
        "hatch run": table(content, "tool", "hatch", "envs", "default", "scripts"),
        "task": table(content, "tool", "taskipy", "tasks"),
    }
    start = file.line_of(r"^\s*\[tool\..*(?:tasks|scripts)\]")
    for runner, tasks in runners.items():
        yield from facts_of_tasks(
            file,
            tasks,
            lambda name: file.line_of(rf"^\s*\"?{re.escape(name)}\"?\s*=", after=start),
            f"{runner} {{}}".format,
        )


def _python_tools(
    folder: Folder, file: FileText, content: dict[str, object], versions: dict[str, str], prefix: str
) -> Iterator[ProfileFact]:
    """The usual calls of tools that test, lint and check. Files, settings or packages show the tools."""
    tools = table(content, "tool")

    def of(slot: Slot, call: str, tool: str, *files: str, by: str = prefix) -> Iterator[ProfileFact]:
        said_by = folder.file(*files) if files else None
        if said_by is None and (tool in tools or tool in versions):
            said_by = file
        if said_by is not None:
            line = said_by.line_of(rf"^\s*\[tool\.{tool}\b") if said_by is file else 0
            yield from said_by.facts(slot, f"{by}{call}", line, is_usual=True)

    yield from of(Slot.TEST, "pytest", "pytest", "pytest.ini")
    yield from of(Slot.TEST, "tox", "tox", "tox.ini", by="")
    yield from of(Slot.TEST, "nox", "nox", "noxfile.py", by="")
    yield from of(Slot.LINT, "ruff check", "ruff", "ruff.toml", ".ruff.toml")
    yield from of(Slot.LINT, "flake8", "flake8", ".flake8")
    yield from of(Slot.LINT, "pre-commit run --all-files", "pre-commit", ".pre-commit-config.yaml")
    yield from of(Slot.FORMAT, "black .", "black")
    if "format" in table(tools, "ruff"):
        yield from file.facts(Slot.FORMAT, f"{prefix}ruff format", file.line_of(r"^\s*\[tool\.ruff\.format\b"))
    has_files = "files" in table(tools, "mypy") or "packages" in table(tools, "mypy")
    yield from of(Slot.TYPES, "mypy" if has_files else "mypy .", "mypy", "mypy.ini")
    yield from of(Slot.TYPES, "pyright", "pyright", "pyrightconfig.json")


def _django(folder: Folder, versions: dict[str, str], prefix: str) -> Iterator[ProfileFact]:
    if manage := folder.file("manage.py"):
        call = f"{prefix}python manage.py"
        yield from manage.facts(Slot.RUN, f"{call} runserver", is_usual=True)
        yield from manage.facts(Slot.MIGRATE, f"{call} migrate", is_usual=True)
        if "pytest" not in versions:
            yield from manage.facts(Slot.TEST, f"{call} test", is_usual=True)
    elif alembic := folder.file("alembic.ini"):
        yield from alembic.facts(Slot.MIGRATE, f"{prefix}alembic upgrade head", is_usual=True)
