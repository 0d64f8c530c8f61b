"""What a hint tells a person to do can be done: its command, its setting and its document are there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from kiro_learn.adapters.files.settings_file import KEYS
from kiro_learn.frontends.cli.app import PROGRAM, program

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "kiro_learn"
PROSE = {"again", "that", "command"}
"""Words that follow the program's name where it is no command."""
VALUE = "VALUE"


def said_in(path: Path) -> Iterator[tuple[int, str]]:
    """Every text of a module that is not a docstring; what is filled in later stands as a word."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and id(node) not in docstrings:
            yield (
                node.lineno,
                "".join(str(part.value) if isinstance(part, ast.Constant) else VALUE for part in node.values),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings | parts:
            yield node.lineno, re.sub(r"\{[a-z_]*\}", VALUE, node.value)


TEXTS = [
    pytest.param(text, id=f"{path.relative_to(PACKAGE)}:{line}")
    for path in sorted(PACKAGE.rglob("*.py"))
    for line, text in said_in(path)
    if re.search(rf"\b{PROGRAM} [a-z]|docs/|\[[a-z]+\] [a-z_]+", text)
]


def problem_of(command: click.Command, words: list[str]) -> str:
    """What is wrong with the words behind a command's name; empty if nothing is."""
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


@pytest.mark.parametrize("text", TEXTS)
def test_a_command_that_is_named_exists(text: str) -> None:
    for said in re.findall(rf"(?<![\w.-]){PROGRAM}((?: (?:--)?[\w-]+)+)", text):
        words = said.split()
        if words[0] in PROSE or words[0] == VALUE:
            continue
        known = set(program.list_commands(click.Context(program)))
        assert words[0] in known, f"there is no {PROGRAM} {words[0]}"
        named = program.get_command(click.Context(program), words[0])
        depth = 2 if isinstance(named, click.Group) else 1
        command_words = words[:depth] + [word for word in words[depth:] if word.startswith("--")]
        assert not problem_of(program, command_words)


@pytest.mark.parametrize("text", TEXTS)
def test_a_document_that_is_named_exists(text: str) -> None:
    for name in re.findall(r"docs/[\w-]+\.md", text):
        assert (ROOT / name).exists(), f"there is no {name}"


@pytest.mark.parametrize("text", TEXTS)
def test_a_setting_that_is_named_exists(text: str) -> None:
    known = {(key.section, key.name) for key in KEYS}
    sections = {section for section, _ in known}
    for section, name in re.findall(r"\[([a-z]+)\] ([a-z_]+)", text):
        assert section not in sections or (section, name) in known, f"there is no [{section}] {name}"


def test_the_hints_are_found_at_all() -> None:
    said = {str(each.values[0]) for each in TEXTS}
    assert any("kiro-learn start --port 0" in text for text in said)
    assert any("[llm] command" in text for text in said)
