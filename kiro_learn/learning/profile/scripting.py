"""JavaScript, TypeScript, Ruby, PHP and Elixir: their manifests and lock files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.learning.profile.commands import FileText, Folder, facts_of_tasks, named, table, version, version_range
from kiro_learn.learning.profile.places import GEMS, HEX, NPM, PACKAGIST, frameworks
from kiro_learn.model.profile import ProfileFact, Slot

_GEM = re.compile(r"^[ \t]*gem\s+[\"']([\w.-]+)[\"'](?:\s*,\s*[\"']([^\"']{0,40})[\"'])?", re.MULTILINE)
_LOCKED_GEM = re.compile(r"^ {4}([\w.-]+) \((\d[\w.-]*)\)$", re.MULTILINE)
_RUBY = re.compile(r"^[ \t]*ruby\s+[\"']([^\"']{1,30})[\"']", re.MULTILINE)
_ELIXIR = re.compile(r"^[ \t]*elixir:\s*\"([^\"]{1,30})\"", re.MULTILINE)
_HEX = re.compile(r"\{:(\w+),\s*\"([^\"]{0,40})\"")


def ruby(folder: Folder) -> Iterator[ProfileFact]:
    """What Gemfile and Gemfile.lock say."""
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
    """What composer.json says."""
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
    """What mix.exs says."""
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


# JavaScript and TypeScript: package.json, and the lock file that says which package manager is used.

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
"""Scripts of these names are run by ``run``: managers have verbs of their own that are called so."""


def facts(folder: Folder) -> Iterator[ProfileFact]:
    """What package.json and the lock files beside it say."""
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
    elif not managers:
        yield from file.facts(Slot.INSTALL, "npm install", is_usual=True)
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
    """What deno.json says."""
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
    """The manager that package.json names; else each that has a lock file."""
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
