"""A person can do what a hint says: its command, its setting and its document exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import click

from kiro_learn.frontends.cli.app import PROGRAM, program
from kiro_learn.wire.settings import KEYS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "kiro_learn"
PROSE = {"again", "that", "command"}
"""Words after the program's name that are no command."""
VALUE = "VALUE"


NAMES = re.compile(rf"\b{PROGRAM} [a-z]|docs/|\[[a-z]+\] [a-z_]+")


def said_in(path: Path) -> Iterator[tuple[int, str]]:
    """Every text of a module that is not a docstring. Values that are filled in later appear as a word."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    hidden = docstrings | {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr) and id(node) not in docstrings:
            yield (
                node.lineno,
                "".join(str(part.value) if isinstance(part, ast.Constant) else VALUE for part in node.values),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in hidden:
            yield node.lineno, re.sub(r"\{[a-z_]*\}", VALUE, node.value)


@cache
def hints() -> dict[str, str]:
    """The texts that name a command, a document or a setting, by their place."""
    return {
        f"{path.relative_to(PACKAGE)}:{line}": text
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, text in said_in(path)
        if NAMES.search(text)
    }


def problem_of(command: click.Command, words: list[str]) -> str:
    """What is wrong with the words after a command's name; empty if nothing is."""
    for word in words:
        if isinstance(command, click.Group) and re.fullmatch(r"[a-z]+", word):
            found = command.get_command(click.Context(command), word)
            if found is None:
                return f"{command.name} has no {word}"
            command = found
        elif word.startswith("--"):
            options = {option for parameter in command.params for option in parameter.opts} | {"--help"}
            if word not in options:
                return f"{command.name} has no {word}"
    return ""


def faults(problems_of: Callable[[str], Iterator[str]]) -> list[str]:
    return [f"{place}: {problem}" for place, text in hints().items() for problem in problems_of(text)]


def test_a_command_that_is_named_exists() -> None:
    known = set(program.list_commands(click.Context(program)))

    def problems_of(text: str) -> Iterator[str]:
        for said in re.findall(rf"(?<![\w.-]){PROGRAM}((?: (?:--)?[\w-]+)+)", text):
            words = said.split()
            if words[0] in PROSE or words[0] == VALUE:
                continue
            if words[0] not in known:
                yield f"there is no {PROGRAM} {words[0]}"
                continue
            named = program.get_command(click.Context(program), words[0])
            depth = 2 if isinstance(named, click.Group) else 1
            command_words = words[:depth] + [word for word in words[depth:] if word.startswith("--")]
            yield from filter(None, [problem_of(program, command_words)])

    assert faults(problems_of) == []


def test_a_document_that_is_named_exists() -> None:
    def problems_of(text: str) -> Iterator[str]:
        named = re.findall(r"docs/[\w-]+\.md", text)
        yield from (f"there is no {name}" for name in named if not (ROOT / name).exists())

    assert faults(problems_of) == []


def test_a_setting_that_is_named_exists() -> None:
    known = {(key.section, key.name) for key in KEYS}
    sections = {section for section, _ in known}

    def problems_of(text: str) -> Iterator[str]:
        for section, name in re.findall(r"\[([a-z]+)\] ([a-z_]+)", text):
            if section in sections and (section, name) not in known:
                yield f"there is no [{section}] {name}"

    assert faults(problems_of) == []


def test_the_hints_are_found_at_all() -> None:
    said = set(hints().values())
    assert any("kiro-learn start --port 0" in text for text in said)
    assert any("[llm] command" in text for text in said)
