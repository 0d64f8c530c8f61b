"""Commands that fail for how they are called, and the call that worked: what an agent would try again next week.

A failure of the work itself (a test, a type error) is a moment's. "unrecognized subcommand" holds until somebody
changes the machine or the project.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import attrs

from kiro_learn.learning.extraction.extractive.extract import Extract
from kiro_learn.learning.extraction.extractive.facts import command_of
from kiro_learn.learning.extraction.extractive.turns import ReadBatch, ToolUse
from kiro_learn.learning.extraction.extractive.vocabulary import cut_at_word, on_one_line
from kiro_learn.model.record import KnowledgeType, ObservationType, Origin

CALLS_LATER = 6
"""Calls after a failed one among which the one that worked is looked for."""

LEAST_SHARED = 0.75
"""Share of the words of the shorter command that both must have. At half, another step of the same work passes for a
mend ("bun run lint" for "rtk bun run test"). Chosen by reading what four histories yield, so tuned on them."""

MOST_TRAPS = 8
"""Of one batch."""

IMPORTANCE = 6
_COMMAND_CHARACTERS = 80
_ERROR_CHARACTERS = 80
_LINES_READ, _LINE_CHARACTERS = 40, 400
"""Of an output, for the line that says how a command was called wrongly."""

_USAGE_ERROR = re.compile(
    r"command not found|unrecognized (?:sub)?command|unrecognized (?:option|argument)|unknown (?:sub)?command"
    r"|unknown (?:shorthand )?(?:flag|option)|(?:invalid|illegal|unexpected) (?:option|argument)\b"
    r"|no such (?:sub)?command|missing script|script not found|is not recognized as|no rule to make target"
    r"|externally-managed-environment|cannot use automatic login|non-TTY|not a TTY|did you mean\b",
    re.IGNORECASE,
)
_PIPED = re.compile(r"\d?>&?\s?\S+|\|.*", re.DOTALL)
"""Where the output goes, or what is done if it fails: it says nothing of the call."""

_CHANGE_OF_FOLDER = re.compile(r"^\s*cd\s+(?:\"[^\"]*\"|'[^']*'|(?:\\.|[^\s&;|\\])++)\s*(?:&&|;)\s*")
_SIGNS = re.compile(
    r"^(?:(?:result|stdout|stderr):\s*+|(?:npm )?(?:error|err!|fatal|usage)(?::|\s)\s*+|(?:/bin/)?(?:ba|z)?sh:\s*+"
    r"|\(eval\):|line \d++:\s*+|\d++:\s*+)++",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w./@:=-]+")
_SUMMARY = re.compile(r"`(.{1,200}?)` fails in this project: .*\. What works instead: `(.{1,200})`\.")
_GENERAL = {
    *("a", "an", "and", "argument", "command", "error", "flag", "found", "in", "is", "it", "missing", "no", "not"),
    *("npm", "of", "option", "script", "the", "to", "unknown"),
}
"""Words of error lines that blame nothing."""


@attrs.frozen
class _Call:
    number: int
    command: str
    """In one line, without the folder it ran in and without where its output went."""
    problem: str
    """The line that says that it was called wrongly; empty if none does."""
    has_failed: bool

    @classmethod
    def of(cls, tool: ToolUse) -> _Call:
        command = _shown(command_of(tool))
        problem = _usage_error(command, tool.output)
        return cls(tool.number, command, problem, has_failed=bool(problem) or tool.has_failed)

    @property
    def purpose(self) -> str:
        """Its last word before ``--`` that is no option and is not what the error is about; empty if there is none."""
        blamed = set(_WORD.findall(self.problem))
        words = _WORD.findall(self.command.partition(" -- ")[0])
        return next((word for word in reversed(words) if not word.startswith("-") and word not in blamed), "")


def traps_of(batch: ReadBatch) -> list[Extract]:
    """A memory for each call in ``batch`` that failed as it stood, with the call of its session that worked instead."""
    sessions: defaultdict[str, list[_Call]] = defaultdict(list)
    for event in batch.events:
        if event.tool and command_of(event.tool).strip():
            sessions[event.session].append(_Call.of(event.tool))
    found = {
        (failed.command, worked.command): (failed, worked)
        for calls in sessions.values()
        for failed, worked in _pairs(calls)
    }
    return [_extract(failed, worked) for failed, worked in list(found.values())[:MOST_TRAPS]]


def trap_in(summary: str) -> tuple[str, str] | None:
    """The call that fails and the one that works, of a summary that ``traps_of`` wrote; None of any other."""
    found = _SUMMARY.fullmatch(summary)
    return (found[1], found[2]) if found else None


def _pairs(calls: Sequence[_Call]) -> Iterator[tuple[_Call, _Call]]:
    """Each failed call with the nearest later one that is like it and worked."""
    for place, failed in enumerate(calls):
        later = calls[place + 1 : place + 1 + CALLS_LATER] if failed.problem else ()
        if any(each.command == failed.command and not each.has_failed for each in later):
            continue
        worked = next((each for each in later if not each.has_failed and _is_mend(each, failed)), None)
        if worked is not None:
            yield failed, worked


def _extract(failed: _Call, worked: _Call) -> Extract:
    return Extract(
        title=f"`{failed.command}` fails here ({failed.problem}): run `{worked.command}`",
        summary=f"`{failed.command}` fails in this project: {failed.problem}. What works instead: `{worked.command}`.",
        observation_type=ObservationType.DISCOVERY,
        events=(failed.number, worked.number),
        knowledge_type=KnowledgeType.HEURISTIC,
        origin=Origin.TOOL,
        importance=IMPORTANCE,
    )


def _shown(command: str) -> str:
    return cut_at_word(on_one_line(_PIPED.sub("", _CHANGE_OF_FOLDER.sub("", command))), _COMMAND_CHARACTERS)


def _usage_error(command: str, output: str) -> str:
    for line in output.splitlines()[:_LINES_READ]:
        if len(line) <= _LINE_CHARACTERS and _USAGE_ERROR.search(line):
            said = _SIGNS.sub("", on_one_line(line))
            if _blames(said, command):
                return cut_at_word(said, _ERROR_CHARACTERS)
    return ""


def _blames(said: str, command: str) -> bool:
    """Whether a word of ``command`` is what the error is about: shells also complain of their own start files."""
    return not ({word.rstrip(":") for word in _WORD.findall(said)} - _GENERAL).isdisjoint(_WORD.findall(command))


def _is_mend(worked: _Call, failed: _Call) -> bool:
    """Whether most of the call is the same, and what it was for."""
    mine, others = {*_WORD.findall(failed.command)}, {*_WORD.findall(worked.command)}
    if not mine or not others or mine == others or (failed.purpose and failed.purpose not in others):
        return False
    return len(mine & others) >= LEAST_SHARED * min(len(mine), len(others))
