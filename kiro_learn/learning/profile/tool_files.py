"""Tasks that a project names itself, and the versions that it pins for tools that install them.

Tasks are of Makefile, justfile and Taskfile; versions of .nvmrc, .python-version, .tool-versions and mise.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.learning.profile.commands import FileText, Folder, facts_of_tasks, table, version
from kiro_learn.model.profile import ProfileFact, Slot

_MAKE = re.compile(r"([A-Za-z][\w./-]{0,50}(?:\s+[A-Za-z][\w./-]{0,50}){0,5})\s*::?(?![=:])")
_JUST = re.compile(r"@?([A-Za-z][\w-]{0,50})(?:[ \t]++[^:=\n]{0,200}+)?:(?!=)")
_TASK = re.compile(r" {2}([A-Za-z][\w:-]{0,50}):\s*(?:#.*)?")


def tasks(folder: Folder) -> Iterator[ProfileFact]:
    """The tasks whose names say what they are for. That a Makefile can install says nothing of packages."""
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
    """Each task by its name, with the line on which it stands first."""
    found: dict[str, int] = {}
    for number, line in enumerate(file.text.splitlines(), 1):
        if match := form.match(line):
            for name in match[1].split():
                found.setdefault(name, number)
    return found


VERSION_FILES = {
    ".nvmrc": "Node.js",
    ".node-version": "Node.js",
    ".python-version": "Python",
    ".ruby-version": "Ruby",
    ".java-version": "Java",
    ".go-version": "Go",
    ".php-version": "PHP",
}
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


def versions(folder: Folder) -> Iterator[ProfileFact]:
    """A language with the version that is pinned."""
    for path, language in VERSION_FILES.items():
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
    """``temurin-17.0.9+9`` is 17.0.9."""
    found = re.search(r"\d", given) if isinstance(given, str) else None
    return version(given[found.start() :]) if found and isinstance(given, str) else ""
