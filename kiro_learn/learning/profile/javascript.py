"""JavaScript and TypeScript: package.json, and the lock file that says which package manager is used."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.learning.profile.dependencies import NPM, frameworks
from kiro_learn.learning.profile.named_tasks import facts_of_tasks
from kiro_learn.learning.profile.texts import FileText, Folder, named, table, version, version_range
from kiro_learn.model.profile import ProfileFact, Slot

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
