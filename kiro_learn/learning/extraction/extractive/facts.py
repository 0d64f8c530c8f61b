"""Statements that do not fit into the summary, and the files and commits of tools."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import attrs

from kiro_learn.learning.extraction.extractive.chatter import is_chatter, own_words
from kiro_learn.learning.extraction.extractive.markdown import Block, BlockKind
from kiro_learn.learning.extraction.extractive.turns import ToolUse
from kiro_learn.learning.extraction.extractive.vocabulary import (
    cut_at_sentence,
    cut_at_word,
    on_one_line,
    sentences,
    words,
)
from kiro_learn.learning.extraction.user_answers import UserAnswer, runs_commands

MOST_FACTS = 46
FACT_CHARACTERS = 500
_MOST_STATEMENTS = 500
"""The most statements of one text that are read: each is compared with all before it."""

_JOINED_CHARACTERS = (300, 480)
"""The lengths up to which statements are joined, one after the other, while there are more than MOST_FACTS of them."""
_TICKS = "\u2705\u274c\u2713\u2714\u26a0\ufe0f "
_MARKS = f"{_TICKS}0123456789.)"
_LEAST_WORDS = 4
_OPENING = re.compile(r"(?:=|:|=>|\() ?[{(\[]$|^\W+$")
"""The end of a line of code that only opens a value on the lines below. A condition or a loop says something."""
_STAMP = re.compile(r"(?<!\S)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z?\s+")
"""The time at the start of a line of a log."""
_LONGEST_HEADING = 60
_WHOLE_ITEM = 300
_REPEATED = 0.8
"""The share of a fact's words that the summary or a better fact must have to make it a repeat."""

_SIGNALS: tuple[tuple[float, re.Pattern[str]], ...] = tuple(
    (weight, re.compile(pattern, re.IGNORECASE))
    for weight, pattern in (
        (3.0, r"\b(?:because|root cause|caused by|the reason|due to|so that|which is why|that's why)\b"),
        (3.0, r"\b(?:decided|decision|chose|instead of|rather than|we'll go with|agreed|trade-?off)\b"),
        (3.0, r"\b(?:on purpose|by design|deliberate(?:ly)?)\b"),
        (2.5, r"\b(?:must|never|always|only|required?|cannot|can't|won't)\b"),
        (2.5, r"\b(?:not supported|limit(?:ation)?|caveat|important|default)\b"),
        (2.0, r"\b(?:bug|fix(?:ed|es)?|error|fail(?:s|ed|ure)?|regression|crash(?:es|ed)?|broken|missing)\b"),
        (2.0, r"`[^`\n][^`\n ]*+ [^`\n]++`"),
        (
            1.5,
            r"(?<![\w.])\d+(?:\.\d+)?\s?(?:%|ms|s|m|h|x|[kmg]i?b|sec(?:onds)?|min(?:utes)?|hours?|days?|lines?|files?|tests?)\b",
        ),
        (
            1.5,
            r"(?<![\w.,])\d[\d.,]*\s?(?:EUR|USD|points?|fps|req/s|rows?)\b|(?<![\w.,])\d[\d.,]*\s?[€$]|(?<![\w.,])0[.,]\d{2,}",
        ),
        (1.5, r"(?<![\w./-])(?>[\w./-]*?[\w-]/)[\w./-]+\.\w{1,5}\b"),
        (1.0, r"`[^`\n]+`"),
        (
            1.0,
            r"\b(?:added|changed|removed|renamed|moved|replaced|creates?|returns?|uses?|stores?|calls?)\b",
        ),
    )
)
"""Signs that a statement is worth keeping: a cause, decision, bound, fault, command, measure, file or name."""

_COMMAND = re.compile(
    r"\$ \S+|(?:aws|brew|cargo|cdk|docker|gh|git|go|kubectl|make|mise|npm|npx|pip|pnpm|pytest|python3?|uv|yarn) [\w./-]"
)


def facts_in(blocks: Sequence[Block], shown: str, *, most: int = MOST_FACTS, with_questions: bool = False) -> list[str]:
    """The statements of ``blocks`` that ``shown`` does not already say, in order, at most ``most``.

    Where there are more, neighbours are joined. If there are still too many, those worth least are left out.
    """
    return fitted(new_ones(statements_in(blocks, with_questions=with_questions), shown), most=most)


def statements_in(blocks: Sequence[Block], *, with_questions: bool = False) -> Iterator[str]:
    """All statements of ``blocks``, in order, without chatter."""
    statements = _statements(blocks, with_questions=with_questions)
    return islice((text for text in statements if _says_something(text)), _MOST_STATEMENTS)


def fitted(facts: list[str], *, most: int) -> list[str]:
    """At most ``most`` of ``facts``: of more, neighbours are joined, then those worth least are left out."""
    for limit in _JOINED_CHARACTERS:
        if len(facts) > most:
            facts = _joined(facts, limit)
    kept = sorted(range(len(facts)), key=lambda place: (-worth(facts[place]), place))[:most]
    return [facts[place] for place in sorted(kept)]


def _joined(facts: Sequence[str], limit: int) -> list[str]:
    """Neighbouring facts as one text, as long as it has at most ``limit`` characters."""
    joined: list[str] = []
    for fact in facts:
        if joined and len(joined[-1]) + len(fact) + 1 <= limit:
            joined[-1] = (
                f"{joined[-1]} {fact}" if joined[-1].endswith((".", "!", "?", ";", ":")) else f"{joined[-1]}; {fact}"
            )
        else:
            joined.append(fact)
    return joined


def new_ones(texts: Iterable[str], shown: str) -> list[str]:
    """``texts`` without those that mostly repeat a sentence of ``shown`` or one before them."""
    said = [set(words(sentence)) for sentence in sentences(shown)]
    kept: list[str] = []
    for text in texts:
        mine = set(words(text))
        most_shared = _REPEATED * len(mine)
        if mine and all(len(mine & others) < most_shared for others in said):
            kept.append(text)
            said.append(mine)
    return kept


def _statements(blocks: Sequence[Block], *, with_questions: bool) -> Iterator[str]:
    """The statements of ``blocks``. The first one under a heading begins with the heading."""
    told = ""
    for block, pieces in _pieces_of(blocks, with_questions=with_questions):
        for piece in pieces:
            heading = block.heading.lstrip(_MARKS).rstrip("?:")
            is_new = heading != told and len(heading) < _LONGEST_HEADING and own_words(heading)
            yield cut_at_sentence(f"{heading}: {piece}" if is_new else piece, FACT_CHARACTERS)
            told = heading


def _pieces_of(blocks: Sequence[Block], *, with_questions: bool) -> Iterator[tuple[Block, list[str]]]:
    for before, block in zip((None, *blocks), blocks, strict=False):
        is_table_head = block.kind is BlockKind.ROW and (before is None or before.kind is not BlockKind.ROW)
        if block.kind is BlockKind.CODE and not _OPENING.search(block.text.rstrip()):
            yield block, [f"`{cut_at_sentence(block.text, FACT_CHARACTERS - 2)}`"]
        elif block.kind not in (BlockKind.HEADING, BlockKind.CODE) and not is_table_head:
            ends = (":",) if with_questions else (":", "?")
            yield block, [piece for piece in _pieces(block) if not piece.endswith(ends)]


def _pieces(block: Block) -> list[str]:
    """The parts of a block: a list item stays whole, prose is split into sentences."""
    text = _STAMP.sub("", block.text)
    if block.kind is BlockKind.TEXT or len(text) > _WHOLE_ITEM:
        return [sentence for sentence in sentences(text) if not is_chatter(sentence)]
    return [text.lstrip(_TICKS)]


def _says_something(text: str) -> bool:
    return len(words(text)) >= _LEAST_WORDS and not is_chatter(text)


def worth(text: str) -> float:
    """The sum of the weights of the signs in ``text`` that it is worth keeping."""
    return sum(weight for weight, pattern in _SIGNALS if pattern.search(text))


# Reads tool calls: the files that were read and changed, the failures, the commits.

_PATH_KEYS = frozenset({"file_path", "filePath", "path", "notebook_path", "filename", "target_file", "relative_path"})
_WRITING = re.compile(r"write|edit|create|replace|patch|insert|delete|append|notebook", re.IGNORECASE)
_READING = re.compile(r"read|view|open|cat", re.IGNORECASE)
_FILE_NAME = re.compile(r"[^/\\.]\.[A-Za-z0-9_]{1,12}$|(?:Makefile|Dockerfile|LICENSE|Gemfile|Procfile|Justfile)$")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (\S.*)$", re.MULTILINE)
"""The line of a patch by Codex that names its file."""

_COMMIT = re.compile(r"\bgit\b(?:(?!\bgit\b)[^\n|;&])*?\bcommit\b")
_MESSAGE = re.compile(
    r"(?:-[a-z]*m|--message)[ =]\s*"
    r"(?:\"?\$\(cat <<-?\s*['\"]?(\w+)['\"]?\s*\n(.*?)(?:\n[^\S\n]*+\1\b|\Z)|\"((?:[^\"\\]++|\\.)*+)\"|'([^']*+)')",
    re.DOTALL,
)
"""The first message of a commit: a here-document, or a text in either kind of quotes."""

_ERROR_LINE = re.compile(
    r"(?:^|[\s\]\"(])"
    r"(?:[\w.]*(?:Error|Exception)\b|error|fatal|panic|--- FAIL|failed|cannot|denied|not found|undefined|no such file)",
    re.IGNORECASE,
)
_EMPTY_ERROR = re.compile(
    r"success: false|is_?error: true|exit[_ ]?(?:code|status)\"?:? \d+|(?:stderr|stdout|result|error): *$",
    re.IGNORECASE,
)
_GOING_ON = re.compile(
    r"\b(?:(?:more|other|further) questions\b|ready to (?:create|continue|proceed|start|move|go)\b"
    r"|(?:shall|should) (?:i|we) (?:continue|proceed|go on|move on)\b)",
    re.IGNORECASE,
)
"""Questions of a tool about the talk itself; chosen by reading the questions of cipher-box."""

_ABOUT_NEXT_STEP = re.compile(
    r"\b(?:(?:do|would) you (?:want|like|prefer) (?:me )?to|would you like me|want me to"
    r"|(?:should|shall|can|may|could) i|how (?:should|shall|do|would) (?:we|i|you) (?:like to )?(?:proceed|continue)"
    r"|(?:which|what) (?:\w+ ){0,2}(?:would|do) you (?:like|want) to (?:discuss|do|clarify|work on|tackle))\b",
    re.IGNORECASE,
)
"""Questions of a tool before its next step; chosen by reading the questions of cipher-box and context-evaluator."""

_GOING_ON_CHARACTERS = 40
_REFUSED = ("The user doesn't want to proceed", "user rejected", "Request failed with status", "tool use was rejected")

MOST_TOOL_FACTS = 3
MOST_ANSWERED = 23
"""The most answers of one turn: half of the facts that a record of the built-in learner has."""

_MOST_FILES = 30
_COMMAND_CHARACTERS = 100
_LINE_CHARACTERS = 220
_MESSAGE_CHARACTERS = 200
_ANSWER_CHARACTERS = 500


@attrs.frozen
class ToolFact:
    """A statement, and the number of the event that it comes from."""

    number: int
    text: str
    is_of_the_moment: bool = False
    """Whether it is about a next step, which is done by now."""


@attrs.frozen
class Files:
    """Paths, relative to the project if they are inside of it. A changed file is not repeated as read."""

    modified: tuple[str, ...] = ()
    read: tuple[str, ...] = ()


def files_in(tools: Iterable[ToolUse], project_path: str) -> Files:
    """The files that ``tools`` changed and read, in the order of their first use."""
    modified: dict[str, None] = {}
    read: dict[str, None] = {}
    for tool in tools:
        given = _input(tool)
        chosen = modified if _writes(tool.name, given) else read if _READING.search(tool.name) else None
        if chosen is not None:
            chosen.update(dict.fromkeys(_relative(path, project_path) for path in _paths(given)))
    only_read = tuple(path for path in read if path not in modified)
    return Files(tuple(modified)[:_MOST_FILES], only_read[:_MOST_FILES])


def answered_facts(tools: Sequence[ToolUse]) -> list[ToolFact]:
    """A person's answers to ``tools``, each with its question. Of many, the last ones."""
    told = [
        ToolFact(
            tool.number,
            cut_at_word(answer.statement, _ANSWER_CHARACTERS),
            is_of_the_moment=_ABOUT_NEXT_STEP.search(answer.question) is not None,
        )
        for tool in tools
        for answer in tool.answers
        if not _only_goes_on(answer)
    ]
    return told[-MOST_ANSWERED:]


def _only_goes_on(answered: UserAnswer) -> bool:
    """Whether the answer only says, in a few words, how to go on with the talk."""
    return len(answered.answer) <= _GOING_ON_CHARACTERS and _GOING_ON.search(answered.question) is not None


def tool_facts(tools: Sequence[ToolUse], *, with_failures: bool) -> list[ToolFact]:
    """The last commit, then the last failures, one of each command: at most three.

    Failures matter only if the turn is about one.
    """
    runs = [tool for tool in tools if runs_commands(tool.name)]
    commits = [ToolFact(tool.number, f"Committed: {message}") for tool in runs for message in _commit_messages(tool)]
    failures = {
        command_of(tool): ToolFact(tool.number, line) for tool in runs if with_failures and (line := _failure(tool))
    }
    return [*commits[-1:], *list(failures.values())[-(MOST_TOOL_FACTS - 1) :]]


def changed_files(name: str, given: Any, project_path: str) -> tuple[str, ...]:
    """The files that a tool called ``name`` changes, by its arguments ``given``, including files of a patch."""
    if not _writes(name, given):
        return ()
    texts = given.values() if isinstance(given, dict) else (given,)
    patched = (path for text in texts if isinstance(text, str) for path in _PATCHED.findall(text))
    return tuple(dict.fromkeys(_relative(path, project_path) for path in (*_paths(given), *patched)))[:_MOST_FILES]


def _writes(name: str, given: Any) -> bool:
    """Whether the tool writes: Kiro's ``fs_write`` and Claude's ``Edit`` by name, a text editor by its command."""
    if _WRITING.search(name) and not runs_commands(name):
        return True
    return (
        isinstance(given, dict)
        and isinstance(given.get("command"), str)
        and bool(re.fullmatch(r"create|str_replace|insert|append", given["command"]))
    )


def _input(tool: ToolUse) -> Any:
    """The tool's input as JSON, or as text if it is no JSON or the frame cut it."""
    if not tool.input.startswith(("{", "[")):
        return tool.input
    try:
        return json.loads(tool.input)
    except (ValueError, RecursionError):
        return tool.input


def _paths(value: Any) -> Iterator[str]:
    """The texts under keys that name a file, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in _PATH_KEYS and isinstance(inner, str) and _FILE_NAME.search(inner):
                yield inner
            else:
                yield from _paths(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _paths(inner)


def _relative(path: str, project_path: str) -> str:
    root = project_path.rstrip("/") + "/"
    return path.removeprefix(root).removeprefix("./") if len(root) > 1 else path.removeprefix("./")


def command_of(tool: ToolUse) -> str:
    """The command line that ``tool`` ran; the empty text if it ran none."""
    return command_in(tool.name, _input(tool))


def command_in(name: str, given: Any) -> str:
    """The command line that a tool called ``name`` runs, from its arguments ``given``; empty if it runs none."""
    if not runs_commands(name):
        return ""
    if isinstance(given, dict):
        command = next((given[key] for key in ("command", "cmd", "script") if key in given), "")
        return " ".join(map(str, command)) if isinstance(command, list) else str(command)
    return given if isinstance(given, str) else ""


def _commit_messages(tool: ToolUse) -> Iterator[str]:
    command = command_of(tool)
    if not _COMMIT.search(command) or tool.has_failed:
        return
    for _, document, double, single in _MESSAGE.findall(command):
        message = (document or double or single).strip()
        if message:
            yield cut_at_word(on_one_line(message.split("\n\n")[0]), _MESSAGE_CHARACTERS)
            return


def _failure(tool: ToolUse) -> str:
    """The command and the line that says how it failed, or the empty text."""
    if not tool.has_failed or any(mark in tool.output for mark in _REFUSED):
        return ""
    lines = (line.strip() for line in tool.output.splitlines())
    found = next(
        (on_one_line(line) for line in lines if _ERROR_LINE.search(line) and not _EMPTY_ERROR.fullmatch(line)), ""
    )
    command = cut_at_word(on_one_line(command_of(tool)), _COMMAND_CHARACTERS)
    said = cut_at_word(_STAMP.sub("", found), _LINE_CHARACTERS)
    return f"`{command}` failed: {said}" if found and command else ""
