"""What an agent is about to do, as keys: its commands with their subcommands, its files, the kinds of change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

import attrs

from kiro_learn.learning.acts.vocabulary import DONE, FILED, LAUNCHERS, SHELLS, WITH_A_VALUE, WRAPPERS
from kiro_learn.learning.extraction.extractive.tools import changed_files, command_in

MOST_CHARACTERS = 4_000
"""Of a command line that is read: what follows is mostly a document that it writes."""

MOST_COMMANDS = 20
"""Of one line."""

MOST_NAMED = 3
"""Words of a command that name it: "gh pr create"."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|\'[^\']*+\'|&&|\|\||[;|&\n(){}]|[^\s"\';|&(){}]++|["\']')
_SEPARATORS = frozenset({"&&", "||", ";", "|", "&", "\n", "(", ")", "{", "}"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*")

_GIVEN_A_LINE = re.compile(r"-[a-z]{0,5}c")
_CALLED = re.compile(r"create_(?:pull|merge)_request")


@attrs.frozen
class Act:
    """One call of a tool that is about to be made."""

    keys: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    """Of its commands."""


def act_of(tool: str, given: Any, project_path: str) -> Act:
    """The act that a call of ``tool`` is, as it is ``given`` what any agent gives it."""
    keys: set[str] = set()
    words: set[str] = set()
    for command in commands_in(command_in(tool, given)):
        keys.update(_command_keys(command))
        words.update(command)
    for file in changed_files(tool, given, project_path):
        keys.update(_file_keys(file))
    if _CALLED.search(tool):
        keys.add("kind pull request")
    return Act(frozenset(keys), frozenset(words))


def commands_in(line: str) -> Iterator[tuple[str, ...]]:
    """The words of each command in ``line``, its program first, without what only wraps it: a shell neither."""
    for command in _commands(line):
        inner = _line_for_a_shell(command)
        yield from _commands(inner) if inner else (command,)


def _line_for_a_shell(command: Sequence[str]) -> str:
    """What a command hands a shell to run; empty if it is no shell, or is handed a script."""
    match command:
        case [shell, option, first, *rest] if shell in SHELLS and _GIVEN_A_LINE.fullmatch(option):
            return first[1:-1] if first[0] in "\"'" else " ".join((first, *rest))
        case _:
            return ""


def _commands(line: str) -> Iterator[tuple[str, ...]]:
    words: list[str] = []
    count = 0
    for token in (*_TOKEN.findall(line[:MOST_CHARACTERS]), ";"):
        if token not in _SEPARATORS:
            words.append(token)
        elif words:
            command = _unwrapped(words)
            words = []
            count += 1
            if command:
                yield command
            if count == MOST_COMMANDS:
                return


def _unwrapped(words: Sequence[str]) -> tuple[str, ...]:
    rest = list(words)
    while rest:
        if _ASSIGNMENT.fullmatch(rest[0]) or rest[0] in WRAPPERS:
            del rest[0]
        elif tuple(rest[:2]) in LAUNCHERS and len(rest) > len(rest[:2]):
            del rest[:2]
        else:
            break
    return (PurePosixPath(rest[0]).name, *rest[1:]) if rest else ()


def named_in(command: Sequence[str]) -> list[str]:
    """The program and the words behind it that may be its subcommands: at most three."""
    named = [command[0]]
    is_value = False
    for word in command[1:]:
        if is_value or word.startswith("-"):
            is_value = not is_value and word in WITH_A_VALUE
        elif re.fullmatch(r"[a-z][\w:-]*", word):
            named.append(word)
        else:
            break
        if len(named) == MOST_NAMED:
            break
    return named


def _command_keys(command: Sequence[str]) -> Iterator[str]:
    named = named_in(command)
    for count in range(1, len(named) + 1):
        yield f"run {' '.join(named[:count])}"
    line = " ".join((*named[:1], *(word for word in command[1:])))
    short = " ".join((*named, *command[1:])) if len(named) > 1 else line
    yield from (key for key, done in DONE if done.match(line) or done.match(short))


def _file_keys(file: str) -> Iterator[str]:
    path = PurePosixPath(file)
    parts = path.parts
    for start in range(len(parts)):
        yield f"file {'/'.join(parts[start:])}"
    for start in range(len(parts) - 1):
        for end in range(start + 1, len(parts)):
            yield f"folder {'/'.join(parts[start:end])}"
    name = path.name
    while "." in name:
        name = name.partition(".")[2]
        yield f"ending {name.lower()}"
    yield from (key for key, filed in FILED if filed.search(file))
