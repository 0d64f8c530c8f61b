"""The verb context: what a session would be told and why, and how that differs from a test case."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from kiro_learn.client import calls, json_calls, project_calls
from kiro_learn.client.building import Call
from kiro_learn.client.results import FeedbackCounts, FoundMemory, Recalled, SessionContext
from kiro_learn.frontends.cli import projects, search, texts
from kiro_learn.frontends.cli.options import in_project, printing, typed
from kiro_learn.frontends.cli.record_ids import short
from kiro_learn.frontends.cli.search import INDENT, found_by, headline, kind
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import Terminal, counted, memories, plain, spread
from kiro_learn.model.retrieval import BRANCH_FACTOR

Json = Mapping[str, Any]

NOTHING_RECALLED = "Nothing would be told: {project} has no memory that is close enough."

MOST_TOKENS = 100_000
SEE_CONTEXT = "kiro-learn context --help"
PROFILES = ("resolved", "literal")


@click.command("context")
@click.argument("prompt", nargs=-1, type=typed)
@click.option(
    "--tokens",
    type=click.IntRange(0, MOST_TOKENS),
    help="The most tokens of the text, instead of the size that a session is told.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Show for each memory found its score, what found it, and whether it is told.",
)
@click.option(
    "--replay",
    metavar="FILE",
    type=click.Path(exists=True, path_type=Path),
    help="Ask again the prompt of a test case from the viewer, and show what differs.",
)
@click.option(
    "--graph",
    "by_graph",
    is_flag=True,
    help="Search facts, preferences and procedures too, and print one block.",
)
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    help="With --graph: how age counts. resolved: within bounds; literal: without bounds.",
)
@click.option(
    "--passages",
    is_flag=True,
    help="With --graph: print the passages that answer, as prompts are told, not one line a memory.",
)
@in_project
@printing
def context_verb(
    shell: Shell,
    *,
    prompt: tuple[str, ...],
    tokens: int | None,
    explain: bool,
    replay: Path | None,
    by_graph: bool,
    profile: str | None,
    passages: bool,
    project: str,
) -> None:
    """Show what an agent would be told, and why."""
    asked = " ".join(prompt)
    if replay is not None:
        _replay(shell, replay, project)
        return
    if by_graph:
        manner = profile or PROFILES[0]
        ask = partial(json_calls.context, profile=manner, passages=passages, tokens=tokens)
        _show_block(shell, ask, asked, project, explain=explain)
        return
    if profile is not None or passages:
        option = "--passages" if profile is None else "--profile"
        raise Failed(f"{option} needs --graph", hint=SEE_CONTEXT, exit_code=2)
    if prompt and tokens is not None:
        raise Failed("--tokens does not go with a prompt", hint=SEE_CONTEXT, exit_code=2)
    if explain and not prompt:
        raise Failed("--explain needs a prompt", hint='kiro-learn context "PROMPT" --explain', exit_code=2)
    if prompt:
        _recall(shell, asked, project, explain=explain)
    else:
        _at_start(shell, tokens, project)


def _at_start(shell: Shell, tokens: int | None, project: str) -> None:
    with shell.client() as client:
        place = projects.called(client, project)
        call = project_calls.context(client, tokens=tokens, project=place.spelled)
        if shell.as_json:
            shell.print_json(client.body_of(call))
            return
        context = client.carry_out(call)
    if not context.text:
        room = "of yours, and none of others that is pinned"
        if tokens is not None:
            room = f"that fits into {counted(tokens, 'token', 'tokens')}"
        shell.say([f"Nothing would be told: {place.name} has no memory {room}."])
        return
    shell.print(_lines_of(context.text))
    if shell.out.is_interactive:  # else a program reads it
        shell.say(told(context, place.name, shell.err))


def _recall(shell: Shell, prompt: str, project: str, *, explain: bool) -> None:
    """Print what an agent would be told with ``prompt``, or how each of the memories was found."""
    with shell.client() as client:
        place = projects.called(client, project)
        call = calls.recall(client, prompt, project=place.spelled)
        if shell.as_json:
            shell.print_json(client.body_of(call))
            return
        recalled = client.carry_out(call)
    shell.say(search.partial_answer(recalled.degraded, shell.err))
    if explain:
        shell.print(found(recalled, shell.out))
        shell.print(found_summary(recalled, place.name, shell.out))
    elif recalled.text:
        shell.print(_lines_of(recalled.text))
    else:
        shell.say([NOTHING_RECALLED.format(project=place.name)])


def _lines_of(text: str) -> list[str]:
    return plain(text).rstrip("\n").split("\n")


def told(context: SessionContext, project: str, terminal: Terminal) -> list[str]:
    """The size of a session's context."""
    tokens = counted(context.tokens, "token", "tokens")
    return [terminal.dim(f"{memories(len(context.memory_ids))} of {project}, {tokens}")]


def found(recalled: Recalled, terminal: Terminal) -> list[str]:
    """Two lines for each found memory: its title; then its score, what found it, and whether it is told."""
    return [
        line for rank, memory in enumerate(recalled.found, start=1) for line in _found_memory(rank, memory, terminal)
    ]


def _found_memory(rank: int, memory: FoundMemory, terminal: Terminal) -> list[str]:
    told_or_not = "told" if memory.told else "not told"
    known = (_branch(memory), _became(memory.feedback))
    how = (found_by(memory.found_by), f"score {memory.score:.2f}", told_or_not, *known)
    tail = short(memory.id)
    return [
        headline(rank, memory.title, kind(memory.type), terminal),
        spread(INDENT + texts.DOT.join(filter(None, how)), tail, terminal.width, painted_right=terminal.dim(tail)),
    ]


def _branch(memory: FoundMemory) -> str:
    """The memory's branch, and the factor of its score if that branch is checked out."""
    if memory.branch is None:
        return ""
    is_here = memory.is_of_branch
    return f"on this branch, {memory.branch} (x{BRANCH_FACTOR:.2f})" if is_here else f"on branch {memory.branch}"


def _became(counts: FeedbackCounts | None) -> str:
    """The feedback to the memory, and the factor of its score because of that."""
    if counts is None:
        return ""
    known = [f"{count} {name}" for name, count in counts._asdict().items() if name != "factor" and count]
    return f"{', '.join(known)} (x{counts.factor:.2f})" if known else ""


def found_summary(recalled: Recalled, project: str, terminal: Terminal) -> list[str]:
    """How many memories were found, and how many of them would be told."""
    if not recalled.found:
        return [NOTHING_RECALLED.format(project=project)]
    line = f"{memories(len(recalled.found))} of {project} found, {len(recalled.memory_ids):,} would be told"
    return [terminal.dim(line)]


# context --replay: asks a test case again.

PARTS = {"namespace", "prompt", "found", "context", "is_as_told", "profile_bytes"}

_NOTE = re.compile(r"^(### .{1,200} \(\d{4}-\d\d-\d\d); .{1,2000}\)$", re.MULTILINE)


def without_notes(text: str) -> str:
    """The block without the notes next to the days of memories: files change, and slow ones are not checked."""
    return _NOTE.sub(r"\1)", text)


def _replay(shell: Shell, path: Path, project: str) -> None:
    """Ask the daemon the prompt of the test case at ``path``, and print how its answer differs.

    Raises:
      Failed: the answer differs; or the file is no test case, or has no prompt.
    """
    case = _read(path)
    with shell.client() as client:
        place = projects.called(client, project or case["namespace"])
        now = client.body_of(calls.recall(client, case["prompt"], project=place.spelled))
    told = [record_id for record_id, _ in _told(case)]
    differences = list(_differences(case, now))
    same = f"The same: {memories(len(told))} of {place.name} told, with these scores and in these words"
    shell.answer({"same": not differences, "told": told, "differences": differences}, lambda: differences or [same])
    if differences:
        raise Failed("the answer differs from that of the test case")


def _read(path: Path) -> Json:
    try:
        case = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        case = None
    if not isinstance(case, dict) or not case.keys() >= PARTS:
        raise Failed(f"{path} is not a test case from the viewer", hint=SEE_CONTEXT, exit_code=2)
    if not case["prompt"]:
        raise Failed(f"{path} has no prompt: its event was forgotten", hint=SEE_CONTEXT, exit_code=2)
    return case


def _told(answer: Json) -> list[tuple[str, float]]:
    """The ids and scores of the told memories, best first, in a test case or in an answer of today."""
    return [(_id(each), each["score"]) for each in answer["found"] if each.get("told", each.get("shown"))]


def _id(found: Json) -> str:
    return str(found.get("id") or found["record_id"])


def _differences(case: Json, now: Json) -> Iterator[str]:
    before, today = dict(_told(case)), dict(_told(now))
    for record_id in before.keys() - today.keys():
        yield f"{short(record_id)} is no longer told"
    for record_id in today.keys() - before.keys():
        yield f"{short(record_id)} is told now"
    for record_id in before.keys() & today.keys():
        if not math.isclose(before[record_id], today[record_id], rel_tol=1e-9):
            yield f"{short(record_id)} has the score {today[record_id]!r}, and had {before[record_id]!r}"
    if before.keys() == today.keys() and list(before) != list(today):
        yield "the order differs"
    is_known = case["is_as_told"] and not case["profile_bytes"]
    if is_known and without_notes(case["context"]) != without_notes(now["context"]):
        yield "the text differs"


# context --graph: the block of the whole memory for a prompt, or why each line is in it.

FACTORS = {"recency", "importance", "confidence"}
"""The parts of a score by which it is multiplied; all others are added."""


def _show_block(
    shell: Shell, ask: Callable[..., Call[dict[str, Any]]], prompt: str, project: str, *, explain: bool
) -> None:
    """Print the block on standard output, or the score of each line."""
    with shell.client() as client:
        place = projects.called(client, project)
        found = client.body_of(ask(client, prompt, project=place.spelled))
    if shell.as_json:
        shell.print_json(found)
        return
    shell.say(search.partial_answer(found["degraded"], shell.err))
    if explain:
        shell.print(_explained(found, shell.out))
    elif found["context"]:
        shell.print([plain(line) for line in found["context"].splitlines()])
    else:
        room = counted(found["budget"], "token", "tokens")
        shell.say([f"Nothing would be told: {place.name} knows nothing that is close enough and fits into {room}."])


def _explained(found: dict[str, Any], terminal: Terminal) -> list[str]:
    query = found["query"]
    entities = ", ".join(plain(entity["name"]) for entity in query["entities"])
    words = plain(" ".join(query["keywords"])) or "none"
    asked = texts.DOT.join((query["intent"].replace("_", " "), f"words: {words}", f"known: {entities or 'none'}"))
    lines = [terminal.dim(asked)]
    for item in found["items"]:
        score = terminal.dim(f"    {item['score']:.4f} = {_formula(item['parts'])}")
        lines += [*map(plain, item["text"].splitlines()), score]
    total = f"{found['tokens']:,} of {found['budget']:,} tokens"
    return [*lines, terminal.dim(total)]


def _formula(parts: dict[str, float]) -> str:
    """The score as a formula, such as ``(keyword 0.0159 + graph 0.0200) * confidence 0.90``."""
    added = [f"{name} {value:.4f}" for name, value in parts.items() if name not in FACTORS]
    factors = [f"{name} {value:.2f}" for name, value in parts.items() if name in FACTORS]
    total = " + ".join(added)
    return " * ".join([f"({total})" if len(added) > 1 and factors else total, *factors])
