"""How installing and uninstalling look on the screen: values in, lines out."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.terminal import Terminal, counted, plain, size, spread
from kiro_learn.services.installation import FoundAgent
from kiro_learn.services.installation_plan import Plan, Step

NEW = "new"
CHANGE = "change"
REMOVE = "remove"

WIDTH = 78
COLUMN = 11
ACTION_COLUMN = 8
LINE_COLUMN = 27
"""Of what is said once all is written."""
LEAST_ROOM = 30
"""Beside a name; where a terminal has less, what is said of it stands below."""

Tilde = Callable[[PurePosixPath], str]


def agents(found: Sequence[FoundAgent], titles: Sequence[str], terminal: Terminal) -> Iterator[str]:
    """The agents that were found, and those that were not; ``titles``: those of all agents."""
    here = [f"{agent.title} {agent.version}".rstrip() for agent in found]
    missing = [title for title in titles if title not in {agent.title for agent in found}]
    for heading, names in (("Found", here), ("Not found", missing)):
        for number, line in enumerate(_wrapped(names)):
            yield f"{terminal.bold(f'{heading:{COLUMN}}') if number == 0 else ' ' * COLUMN}{line}"


def changes(plan: Plan, terminal: Terminal, tilde: Tilde) -> Iterator[str]:
    """One line for each file, in the order in which the files are written."""
    for step in plan.changes:
        action, facts = _action(step), _facts(step)
        left = f"{action:{ACTION_COLUMN}}{tilde(step.path)}"
        painted = terminal.bold(f"{action:{ACTION_COLUMN}}") + tilde(step.path)
        yield spread(left, facts, WIDTH, painted_left=painted, painted_right=terminal.dim(facts))


def notes(plan: Plan, terminal: Terminal, tilde: Tilde, *, in_project: bool, is_on_path: bool) -> list[str]:
    """Which home loses its place; and for a project's files, who else gets them."""
    lines, warning = [], terminal.mark("warning")
    if plan.taken_from:
        homes = ", ".join(tilde(PurePosixPath(home)) for home in plan.taken_from)
        lines.append(f"These files are connected to another home: {homes}. This one takes its place in them.")
    if in_project and plan.changes and plan.is_portable:
        lines.append("They name no path of this machine, and do nothing on one that lacks this program.")
        if plan.is_in_git:
            lines.append("The project is a git repository: commit them for all, or name them in .git/info/exclude.")
        if not is_on_path:
            lines.append(f"{warning} The program that agents start as their server is not on your PATH.")
    elif in_project and plan.changes:
        lines.append(f"{warning} They name paths of this machine: do not commit them. Those of ~/.kiro-learn could be.")
        if plan.is_in_git:
            lines.append(f"{warning} The project is a git repository: name them in .git/info/exclude.")
    return ["", *lines] if lines else []


def problems(plan_problems: Sequence[Any], terminal: Terminal, tilde: Tilde) -> Iterator[str]:
    """Each file that is left alone, and why: ``AgentFileError`` values."""
    for problem in plan_problems:
        place = f"line {problem.line}, column {problem.column}: " if problem.line else ""
        shown = tilde(PurePosixPath(problem.path))
        yield f"{terminal.mark('wrong')} {shown}  {place}{problem.problem}. Left alone."


def diff(plan: Plan, tilde: Tilde) -> Iterator[str]:
    """Every change as a unified diff."""
    for step in plan.changes:
        name = tilde(step.path)
        before, after = (_lines(step.before), _lines(step.after))
        yield from difflib.unified_diff(
            before,
            after,
            "/dev/null" if step.before is None else name,
            "/dev/null" if step.after is None else name,
            lineterm="",
        )


def count(plan: Plan) -> str:
    """The changes as counts: ``change 2 files, create 3``."""
    parts = []
    for action, verb in ((CHANGE, "change"), (NEW, "create"), (REMOVE, "remove")):
        number = sum(_action(step) == action for step in plan.changes)
        if number:
            parts.append(f"{verb} {counted(number, *texts.FILES)}")
    return ", ".join(parts)


def learner(obstacle: str, terminal: Terminal) -> list[str]:
    """Why no model words the memories, and what to type where another agent of this machine can; all of it."""
    name = f"  {'Learns without a model':{LINE_COLUMN}}"
    is_beside = terminal.width - len(name) >= LEAST_ROOM
    indent = " " * (len(name) if is_beside else 4)
    lines = textwrap.wrap(
        plain(obstacle),
        max(terminal.width, LEAST_ROOM),
        initial_indent=name if is_beside else indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines if is_beside else [name.rstrip(), *lines]


def home_contents(contents: Sequence[tuple[str, int]], terminal: Terminal) -> Iterator[str]:
    """The contents of the home, which a purge removes."""
    for name, count_bytes in contents:
        if count_bytes:
            yield f"  {spread(name, size(count_bytes), 40, painted_right=terminal.dim(size(count_bytes)))}"


def as_json(plan: Plan) -> list[dict[str, Any]]:
    """The changes of a plan as JSON."""
    return [
        {
            "path": str(step.path),
            "action": _action(step),
            "diff": "\n".join(difflib.unified_diff(_lines(step.before), _lines(step.after), lineterm="", n=2)),
        }
        for step in plan.changes
    ]


def problems_as_json(plan_problems: Sequence[Any]) -> list[dict[str, Any]]:
    names = ("path", "line", "column", "problem", "hint")
    return [{name: getattr(each, name) for name in names} for each in plan_problems]


def _wrapped(names: Sequence[str]) -> Iterator[str]:
    """The names next to each other, in as few lines as possible."""
    line = ""
    for name in names:
        longer = f"{line}{texts.DOT}{name}" if line else name
        if line and COLUMN + len(longer) > WIDTH:
            yield line
            longer = name
        line = longer
    if line:
        yield line


def _lines(text: str | None) -> list[str]:
    return (text or "").splitlines()


def _action(step: Step) -> str:
    if step.before is None:
        return NEW
    return REMOVE if step.after is None else CHANGE


def _facts(step: Step) -> str:
    before, after = len(_lines(step.before)), len(_lines(step.after))
    if step.before is None or step.after is None:
        return counted(after or before, "line", "lines")
    if before == after:
        return "inside a line, yours stay"
    lines = counted(abs(after - before), "line", "lines")
    return f"{lines} {'more' if after > before else 'less'}, yours stay"
