"""What installing and uninstalling look like: values in, lines out."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from kiro_learn.frontends.cli import install_texts, texts
from kiro_learn.frontends.cli.terminal import Terminal, counted, size, spread
from kiro_learn.services.installation import FoundAgent, Plan, Step

WIDTH = 78
COLUMN = 11
ACTION_COLUMN = 8

Tilde = Callable[[PurePosixPath], str]


def agents(found: Sequence[FoundAgent], titles: Sequence[str], terminal: Terminal) -> Iterator[str]:
    """Which agents there are, and which there are not; ``titles`` are those of all."""
    here = [f"{agent.title} {agent.version}".rstrip() for agent in found]
    missing = [title for title in titles if title not in {agent.title for agent in found}]
    for heading, names in ((texts.AGENTS_FOUND, here), (texts.AGENTS_MISSING, missing)):
        for number, line in enumerate(_wrapped(names)):
            yield f"{terminal.bold(f'{heading:{COLUMN}}') if number == 0 else ' ' * COLUMN}{line}"


def changes(plan: Plan, terminal: Terminal, tilde: Tilde) -> Iterator[str]:
    """One line a file, in the order in which they are written."""
    for step in plan.changes:
        action, facts = _action(step), _facts(step)
        left = f"{action:{ACTION_COLUMN}}{tilde(step.path)}"
        painted = terminal.bold(f"{action:{ACTION_COLUMN}}") + tilde(step.path)
        yield spread(left, facts, WIDTH, painted_left=painted, painted_right=terminal.dim(facts))


def notes(plan: Plan, terminal: Terminal, tilde: Tilde, *, in_project: bool, is_on_path: bool) -> list[str]:
    """Whose place is taken; and of a project's files, who else gets them."""
    lines, warning = [], terminal.mark("warning")
    if plan.taken_from:
        homes = ", ".join(tilde(PurePosixPath(home)) for home in plan.taken_from)
        lines.append(install_texts.TAKES_OVER.format(homes=homes))
    if in_project and plan.changes and plan.is_portable:
        lines.append(install_texts.PORTABLE)
        if plan.is_in_git:
            lines.append(install_texts.IN_GIT)
        if not is_on_path:
            lines.append(f"{warning} {install_texts.NOT_ON_PATH}")
    elif in_project and plan.changes:
        lines.append(f"{warning} {install_texts.NOT_PORTABLE}")
        if plan.is_in_git:
            lines.append(f"{warning} {install_texts.IN_GIT_ALONE}")
    return ["", *lines] if lines else []


def problems(plan_problems: Sequence[Any], terminal: Terminal, tilde: Tilde) -> Iterator[str]:
    """Each file that is left alone, and why: ``AgentFileError`` values."""
    for problem in plan_problems:
        place = texts.AT_LINE.format(line=problem.line, column=problem.column) if problem.line else ""
        shown = tilde(PurePosixPath(problem.path))
        yield f"{terminal.mark('wrong')} {shown}  {place}{texts.LEFT_ALONE.format(problem=problem.problem)}"


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
    """``change 2 files, create 3``."""
    parts = []
    for action, text in (
        (texts.CHANGE, texts.TO_CHANGE),
        (texts.NEW, texts.TO_CREATE),
        (texts.REMOVE, texts.TO_REMOVE),
    ):
        number = sum(_action(step) == action for step in plan.changes)
        if number:
            parts.append(text.format(files=counted(number, *texts.FILES_COUNTED)))
    return ", ".join(parts)


def home_contents(contents: Sequence[tuple[str, int]], terminal: Terminal) -> Iterator[str]:
    """What a purge removes."""
    for name, count_bytes in contents:
        if count_bytes:
            yield f"  {spread(name, size(count_bytes), 40, painted_right=terminal.dim(size(count_bytes)))}"


def as_json(plan: Plan) -> list[dict[str, Any]]:
    """The changes of a plan."""
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
    """The names side by side, in as few lines as hold them."""
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
        return texts.NEW
    return texts.REMOVE if step.after is None else texts.CHANGE


def _facts(step: Step) -> str:
    before, after = len(_lines(step.before)), len(_lines(step.after))
    if step.before is None or step.after is None:
        return counted(after or before, *texts.LINES)
    if before == after:
        return texts.LINES_CHANGED
    return (texts.LINES_MORE if after > before else texts.LINES_LESS).format(
        lines=counted(abs(after - before), *texts.LINES)
    )
