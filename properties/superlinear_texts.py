"""Texts for which a regular expression or a parser may take more than linear time."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs

# typeshed knows neither, and mypy finds them only where it reads a package that imports both.
codes: Any = import_module("re._constants")
_parser: Any = import_module("re._parser")

PACKAGE = Path(__file__).parents[1] / "kiro_learn"

SECONDS_PER_CHARACTER = 4e-6
"""The most processor time for a character. Most readers here take a hundredth of it."""
SECONDS_AT_LEAST = 0.05
"""A shorter time is never called slow, since the machine has other work."""

FIRST_LOOK = 2_000
"""The length at which all texts are tried. The slowest ones are then tried with more characters."""
GROWING = (16_384, 131_072, 1_048_576)
_SLOWEST = 2

_EXAMPLES = 6
"""The number of ways in which alternatives of a pattern are chosen."""
_EXAMPLE_CHARACTERS = 160
_CHOICES = "a 0<\"'-_.A/\\\n=:;>`*#()|x9z\x1b["

Words = Callable[[str], object]


@attrs.frozen
class Repeated:
    """A family of texts: a beginning, then ``again`` as often as it fits, then an end that nothing matches."""

    beginning: str
    again: str
    end: str

    def of_length(self, count: int) -> str:
        room = count - len(self.beginning) - len(self.end)
        return self.beginning + (self.again * (room // len(self.again) + 1))[:room] + self.end


def repetitions_of(prefixes: Sequence[str]) -> list[Repeated]:
    """Repetitions of each prefix, of each of its last characters, and of its last character after the prefix."""
    found: dict[Repeated, None] = {}
    for prefix in prefixes:
        for end in ("", "\0"):
            for again in (prefix, prefix[-1:], prefix[-2:], prefix[-3:]):
                found[Repeated("", again, end)] = None
            for again in (prefix[-1:], " "):
                found[Repeated(prefix, again, end)] = None
    return list(found)


def few_repetitions_of(prefixes: Sequence[str]) -> list[Repeated]:
    """Repetitions of each prefix, and of its last character after it: for readers that are slower than one pattern."""
    return [family for prefix in prefixes for family in (Repeated("", prefix, ""), Repeated(prefix, prefix[-1:], "\0"))]


def slow_text(read: Words, families: Sequence[Repeated], *, multiple: float = SECONDS_PER_CHARACTER) -> str:
    """A description of the text for which ``read`` takes too long; empty if none was found."""
    timed = sorted(families, key=lambda family: -_seconds(read, family.of_length(FIRST_LOOK)))
    for family in timed[:_SLOWEST]:
        for count in GROWING:
            seconds, most = _seconds(read, family.of_length(count)), SECONDS_AT_LEAST + count * multiple
            if seconds > most:  # once more: garbage of earlier tests may have been collected meanwhile
                seconds = min(seconds, _seconds(read, family.of_length(count)))
            if seconds > most:
                return f"{seconds:.2f} s for {count:,} characters of {family!r}"
    return ""


def _seconds(read: Words, text: str) -> float:
    began = time.process_time()
    read(text)
    return time.process_time() - began


# --- the regular expressions of the package --------------------------------------------------------------------------


@attrs.frozen
class Found:
    """A compiled pattern, its name and its use."""

    name: str
    """The module and the global, without ``kiro_learn.``, and the pattern's number in the global."""
    pattern: re.Pattern[Any]
    is_anchored: bool
    """Whether it is only matched at the beginning of a text, and never searched for."""


def patterns() -> list[Found]:
    """All patterns in globals of the package's modules, each once."""
    found: dict[re.Pattern[Any], Found] = {}
    for module in pkgutil.walk_packages([str(PACKAGE)], "kiro_learn."):
        if not module.name.endswith("__main__"):
            for each in _patterns_of(importlib.import_module(module.name)):
                found.setdefault(each.pattern, each)
    return list(found.values())


def _patterns_of(module: Any) -> Iterator[Found]:
    source = inspect.getsource(module)
    for name, value in vars(module).items():
        held = list(_held_by(value, name))
        if not held:
            continue
        uses = set(re.findall(rf"\b{name}\.(match|fullmatch|search|sub|finditer|findall|split)\b", source))
        for number, (place, pattern) in enumerate(held):
            # The values of namings are matched as a whole. Their module does that one by one, not by the global's name.
            is_anchored = place == "value" or (bool(uses) and uses <= {"match", "fullmatch"})
            yield Found(f"{module.__name__.removeprefix('kiro_learn.')}:{name}[{number}]", pattern, is_anchored)


def _held_by(value: Any, place: str) -> Iterator[tuple[str, re.Pattern[Any]]]:
    if isinstance(value, re.Pattern):
        yield place, value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _held_by(each, place)
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _held_by(each, place)
    elif attrs.has(type(value)):
        for field in attrs.fields(type(value)):
            yield from _held_by(getattr(value, field.name, None), field.name)


def reader_of(found: Found, *, is_anchored: bool) -> Words:
    """A function that finds all matches of the pattern in a text, or only the one at its beginning."""
    pattern = found.pattern
    encode = str.encode if isinstance(pattern.pattern, bytes) else str
    if is_anchored or found.is_anchored:
        return lambda text: pattern.match(encode(text)) and pattern.fullmatch(encode(text))
    return lambda text: sum(1 for _ in pattern.finditer(encode(text)))


def prefixes_of(pattern: re.Pattern[Any]) -> list[str]:
    """All beginnings of some texts that ``pattern`` was written for."""
    source = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    tree = _parser.parse(source, pattern.flags)
    found: dict[str, None] = {}
    for choice in range(_EXAMPLES):
        example = "".join(_example(tree, choice))[:_EXAMPLE_CHARACTERS]
        found.update(dict.fromkeys(example[:count] for count in range(1, len(example) + 1)))
    return list(found) or ["a"]


def _example(tree: Any, choice: int) -> Iterator[str]:
    for code, argument in tree:
        if code is codes.LITERAL:
            yield chr(argument)
        elif code in {codes.NOT_LITERAL, codes.ANY}:
            yield "b"
        elif code is codes.IN:
            yield _character(argument, choice)
        elif code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
            least, _, inner = argument
            for _ in range(max(1, min(least, 40))):
                yield from _example(inner, choice)
        elif code is codes.BRANCH:
            yield from _example(argument[1][choice % len(argument[1])], choice)
        elif code is codes.SUBPATTERN:
            yield from _example(argument[3], choice)
        elif code is codes.ATOMIC_GROUP or (code is codes.ASSERT and argument[0] < 0):
            yield from _example(argument if code is codes.ATOMIC_GROUP else argument[1], choice)


def _character(items: Any, choice: int) -> str:
    fitting = [character for character in _CHOICES if _is_in(character, items)]
    if fitting:
        return fitting[choice % len(fitting)]
    code, argument = items[-1]
    return chr(argument[0] if code is codes.RANGE else argument)


def _is_in(character: str, items: Any) -> bool:
    is_negated = items[0][0] is codes.NEGATE
    return is_negated != any(_fits(character, code, argument) for code, argument in items)


def _fits(character: str, code: Any, argument: Any) -> bool:
    if code is codes.LITERAL:
        return bool(ord(character) == argument)
    if code is codes.RANGE:
        return bool(argument[0] <= ord(character) <= argument[1])
    if code is codes.CATEGORY:
        letter = {"SPACE": "s", "DIGIT": "d", "WORD": "w"}[str(argument).rpartition("_")[2]]
        return re.match(f"\\{letter.upper() if '_NOT_' in str(argument) else letter}", character) is not None
    return False
