"""The acts that a rule or a trap is about, and the act that an agent is about to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Any

import attrs

from kiro_learn.learning.acts.vocabulary import (
    DONE,
    FILED,
    FOLDERS,
    LAUNCHERS,
    PROGRAMS,
    SAID,
    SHELLS,
    SUBCOMMANDS,
    WITH_A_VALUE,
    WORDS_OF_ENGLISH,
    WRAPPERS,
)
from kiro_learn.learning.extraction.extractive.facts import changed_files, command_in
from kiro_learn.learning.extraction.extractive.faults import trap_in
from kiro_learn.model.record import ASKED, KnowledgeType, MemoryRecord, Origin
from kiro_learn.retrieval.kept_texts import kept

# The acts that a rule or a trap is about.
#
# Rules of this part: a cue is structural (a command's program and subcommand, a file, its folder or ending, a kind of
# change). How alike two texts are plays no part. A rule that names no act has no cue.

MOST_KEPT = 4_096
"""How many rules have their commands kept in memory: twice as many as a call is looked up in."""
MOST_CUES = 12
"""The most cues of one rule: a rule that names more acts is a page."""

_TRAP_NAMED = 2
"""How many words name the command of a trap. A third word is mostly the argument of that day."""

LONGEST_RULE = 600
"""How many characters of a rule are searched for acts."""

_OCCASION = re.compile(
    r"\b(?:before|prior to|when(?:ever)?|while|after|each time|every time|on every|on each|for every|for each)\b"
    r"((?:[^,.;:\n]|[.:](?=\w))*)",
    re.IGNORECASE,
)
"""The words by which a rule says when it holds. The rest of the rule says what to do then."""
_CONDITION = re.compile(r"\b(?:without|unless|until|except)\b[^,.;:\n]*", re.IGNORECASE)
"""The clause of a rule that says what to do first. The act that the rule is about stands before it."""

_DENIED = re.compile(
    r"\b(?:never|not|don'?t|do not|avoid|stop|instead of|rather than|no|without|over)\b[^.,;`\n]{0,40}$", re.IGNORECASE
)
_PATH = re.compile(
    r"(?<![\w:/.@`*-])(?:\*?\.[a-z][a-z0-9]{0,5}(?= files?\b)|\*\.[a-z][\w.]{0,8}|(?:[\w.@-]+/)+[\w.@*-]*"
    r"|[\w-]+(?:\.[\w-]+)*\.(?:py|pyi|js|jsx|mjs|cjs|ts|tsx|go|rs|rb|java|kt|c|h|cc|cpp|hpp|cs|swift|php|sql|sh|md|mdx|json"
    r"|ya?ml|toml|lock|css|scss|html|vue|svelte|proto|graphql|tf|tfvars|dart|gradle|plist|ipynb|ini|cfg|env))(?![\w/])"
)
_NO_FOLDER = re.compile(r"(?:and/or|he/she|yes/no|on/off|read/write|client/server|CI/CD|I/O|n/a)", re.IGNORECASE)


@attrs.frozen
class Cue:
    """An act that a rule is about."""

    key: str
    needs: frozenset[str] = frozenset()
    """Words that the call must have."""
    lacks: frozenset[str] = frozenset()
    """Words that the call must not have: a call with one of them already obeys the rule."""
    place: str = ""
    """The only environment that the rule speaks of: the rule is not about a call that names another one."""

    def fits(self, act: Act) -> bool:
        """Whether ``act`` is what the rule is about."""
        is_elsewhere = bool(self.place and act.places) and self.place not in act.places
        return (
            self.key in act.keys and self.needs <= act.words and self.lacks.isdisjoint(act.words) and not is_elsewhere
        )


def cues_of(record: MemoryRecord) -> tuple[Cue, ...]:
    """The acts that a rule or a trap is about. A record of any other kind has none."""
    if record.knowledge_type is KnowledgeType.HEURISTIC and record.origin is Origin.TOOL:
        return _cues_of_trap(record.summary)
    if record.knowledge_type not in {KnowledgeType.CONSTRAINT, KnowledgeType.REJECTED}:
        return ()
    # What the agent answered to a rule was done once, so it is not read for cues.
    is_all = record.summary.startswith(ASKED) or record.title == record.summary
    text = record.title if is_all else f"{record.title}\n{record.summary}"
    captured = record.files_touched if record.capture_type else ()
    places = places_in(text)
    place = next(iter(places)) if len(places) == 1 else ""
    named = (attrs.evolve(cue, place=place) for cue in cues_in(text))
    cues = dict.fromkeys((*(Cue(f"file {file}") for file in captured), *named))
    return tuple(cues)[:MOST_CUES]


_PLACES = re.compile(
    r"(?<![a-z])(prod|stag|dev|preview|sandbox|qa|uat)(?:uction|ing|elopment)?(?![a-z])", re.IGNORECASE
)


def places_in(text: str) -> frozenset[str]:
    """The environments that ``text`` names."""
    return frozenset(found.lower() for found in _PLACES.findall(text))


def cues_in(rule: str) -> tuple[Cue, ...]:
    """The acts that the words of a rule name.

    If the rule names an occasion ("before you commit, …"), only the acts of the occasion count. Otherwise those of the
    whole rule count, except in a clause that says what to do first ("… without running the tests").
    """
    text = rule[:LONGEST_RULE]
    occasions = " . ".join(match.group(1) for match in _OCCASION.finditer(text))
    return _cues_in(occasions) or _cues_in(_CONDITION.sub(" ", text))


def _cues_in(text: str) -> tuple[Cue, ...]:
    commands, rest = _commands_named(text)
    files, rest = _files_named(rest)
    return tuple(dict.fromkeys((*commands, *files, *_kinds_named(rest))))[:MOST_CUES]


@kept(MOST_KEPT)
def commands_wanted_and_denied(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The commands that ``text`` says to use, and those that it says not to use, with their options."""
    wanted: set[str] = set()
    denied: set[str] = set()
    for match in _COMMAND.finditer(text):
        cue = _cue_of_command(match.group(1) or match.group(2), is_code=match.group(1) is not None)
        if cue is not None:
            is_denied = _DENIED.search(text[: match.start()]) is not None
            (denied if is_denied else wanted).add(" ".join((cue.key, *sorted(cue.needs))))
    return frozenset(wanted), frozenset(denied)


def _cues_of_trap(summary: str) -> tuple[Cue, ...]:
    trap = trap_in(summary)
    failed, worked = (next(commands_in(each.rstrip(" …")), ()) for each in trap) if trap else ((), ())
    if not failed or not worked:
        return ()
    needs, lacks = frozenset(failed) - frozenset(worked), frozenset(worked) - frozenset(failed)
    shared = takewhile(worked.__contains__, named_in(failed)[:_TRAP_NAMED])
    return (Cue(f"run {' '.join(shared) or failed[0]}", needs, frozenset() if needs else lacks),)


def _commands_named(text: str) -> tuple[list[Cue], str]:
    """Cues of commands in code, of known programs and of denied commands ("not npm"); and ``text`` without them."""
    found: list[tuple[Cue, bool, bool]] = []

    def take(match: re.Match[str]) -> str:
        is_code = match.group(1) is not None
        cue = _cue_of_command(match.group(1) or match.group(2), is_code=is_code)
        if cue is None:
            return match.group(1) if is_code else match.group()
        before = text[: match.start()]
        found.append((cue, _DENIED.search(before) is not None, _USED.search(before) is not None))
        return " "

    rest = _COMMAND.sub(take, text)
    has_denied = any(is_denied for _, is_denied, _ in found)
    cues = []
    for cue, is_denied, is_used in found:
        if is_denied:
            cues.append(cue)
        elif cue.needs:
            cues.append(Cue(cue.key, lacks=cue.needs))
        elif not has_denied and not (is_used and " " not in cue.key.removeprefix("run ")):
            cues.append(cue)  # in "use bun, never npm" the rule is about npm alone
    return cues, rest


_USED = re.compile(r"\b(?:us(?:e|es|ed|ing)|run|with|via|prefer|by)(?: the| only)? $", re.IGNORECASE)
_PLAIN = "|".join(sorted(map(re.escape, PROGRAMS - WORDS_OF_ENGLISH), key=len, reverse=True))
_COMMAND = re.compile(
    r"`([^`\n]{2,120})`|(?<![\w`/.-])("
    rf"(?:{_PLAIN})(?![\w/-]|\.\w)(?: +(?:-{{1,2}}[\w-]+|[a-z][a-z:-]*))?(?: +(?:-{{1,2}}[\w-]+|create|merge|edit))?"
    r"|go (?:test|build|get|vet|fmt)\b|make (?:test|lint|build|check|deploy|release)\b"
    rf"|(?:(?<=never )|(?<=never use )|(?<=not )|(?<=not use )|(?<=don't use )|(?<=instead of )|(?<=avoid ))"
    rf"(?:{'|'.join(sorted(WORDS_OF_ENGLISH))})(?= *(?:[,.;:]|$)| (?:for|to|here|in|on|with|any)\b))"
)


def _cue_of_command(span: str, *, is_code: bool) -> Cue | None:
    command = next(commands_in(span), ())
    if not command or (command[0] not in PROGRAMS and not (is_code and len(command) > 1)):
        return None
    named = named_in(command)
    if not re.fullmatch(r"[\w.-]+", named[0]) or (is_code and "." in named[0] and len(command) == 1):
        return None
    if not is_code and named[0] not in WORDS_OF_ENGLISH:
        known = SUBCOMMANDS.get(named[0])
        has_subcommand = known is not None and len(named) > 1 and named[1] in known
        named = named[: 2 if has_subcommand else 3 if named[0] in {"gh", "glab"} else 1]
    options = frozenset(word for word in command[1:] if word.startswith("-") and word != "-")
    return Cue(f"run {' '.join(named)}", needs=options)


def _files_named(text: str) -> tuple[list[Cue], str]:
    """The files, folders and endings of files in ``text``, and ``text`` without them."""
    cues: list[Cue] = []

    def take(match: re.Match[str]) -> str:
        key = _file_key(match.group().removeprefix("./").rstrip("."))
        if key is None:
            return match.group()
        cues.append(Cue(key))
        return " "

    return cues, _PATH.sub(take, text)


def _file_key(path: str) -> str | None:
    if _NO_FOLDER.fullmatch(path) or "//" in path:
        return None
    if path.startswith(("*.", ".")) and "/" not in path:
        return f"ending {path.lstrip('*').lstrip('.').lower()}"
    if "*" in path or path.endswith("/"):
        folder = path.partition("*")[0].rpartition("/")[0].strip("/")
        return f"folder {folder}" if folder else None
    if "." in PurePosixPath(path).name:
        return f"file {path}"
    return f"folder {path}" if path.count("/") > 1 or path.partition("/")[0] in FOLDERS else None


def _kinds_named(text: str) -> list[Cue]:
    found = []
    for key, said in SAID:
        text, count = said.subn(" ", text)
        if count:
            found.append(Cue(key))
    return found


# An act of an agent as keys: its commands with their subcommands, its files and its kinds of change.

MOST_CHARACTERS = 4_000
"""How many characters of a command line are read. What follows is mostly a document that the command writes."""

MOST_COMMANDS = 20
"""The most commands that are read from one line."""

MOST_NAMED = 3
"""How many words name a command: three, as in "gh pr create"."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|\'[^\']*+\'|&&|\|\||[;|&\n(){}]|[^\s"\';|&(){}]++|["\']')
_SEPARATORS = frozenset({"&&", "||", ";", "|", "&", "\n", "(", ")", "{", "}"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*")

_GIVEN_A_LINE = re.compile(r"-[a-z]{0,5}c")
_AS_ROOT = re.compile(r"(?:^|[;&|({\n'\"])[ \t]{0,8}sudo\b")
"""``sudo`` only wraps a command, but a rule may be about it."""
_CALLED = re.compile(r"create_(?:pull|merge)_request")


@attrs.frozen
class Act:
    """One call of a tool that is about to be made."""

    keys: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    """The words of the call's commands."""
    places: frozenset[str] = frozenset()
    """The environments that the call names."""


def act_of(tool: str, given: Any, project_path: str) -> Act:
    """The act that a call of ``tool`` makes; ``given`` are the arguments, in the form that any agent uses."""
    keys: set[str] = set()
    words: set[str] = set()
    line = command_in(tool, given)[:MOST_CHARACTERS]
    if _AS_ROOT.search(line):
        keys.add("run sudo")
    for command in commands_in(line):
        keys.update(_command_keys(command))
        words.update(command)
    for file in changed_files(tool, given, project_path):
        keys.update(_file_keys(file))
    if _CALLED.search(tool):
        keys.add("kind pull request")
    return Act(frozenset(keys), frozenset(words), places_in(line))


def commands_in(line: str) -> Iterator[tuple[str, ...]]:
    """The words of each command in ``line``, its program first, without wrappers and shells around it."""
    for command in _commands(line):
        inner = _line_for_a_shell(command)
        yield from _commands(inner) if inner else (command,)


def _line_for_a_shell(command: Sequence[str]) -> str:
    """The line that a command gives to a shell. Empty if it is no shell, or if the shell gets a script."""
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
        if _ASSIGNMENT.fullmatch(rest[0]) or (rest[0] in WRAPPERS and rest != ["sudo"]):
            del rest[0]
        elif tuple(rest[:2]) in LAUNCHERS and len(rest) > len(rest[:2]):
            del rest[:2]
        else:
            break
    return (PurePosixPath(rest[0]).name, *rest[1:]) if rest else ()


def named_in(command: Sequence[str]) -> list[str]:
    """The program and the words after it that may be its subcommands: at most three words."""
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
        yield f"run {' '.join((named[0].removesuffix('3'), *named[1:count]))}"  # pip3 is pip
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
