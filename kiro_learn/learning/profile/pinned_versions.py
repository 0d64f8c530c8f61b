"""The versions that a project pins for tools that install them: .nvmrc, .python-version, .tool-versions, mise.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.learning.profile.commands import Folder, table, version
from kiro_learn.model.profile import ProfileFact, Slot

FILES = {
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


def facts(folder: Folder) -> Iterator[ProfileFact]:
    """A language with the version that is pinned."""
    for path, language in FILES.items():
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
