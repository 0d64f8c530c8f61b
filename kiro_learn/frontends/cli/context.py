"""context: what a session would be told, why, and how that differs from a test case."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from kiro_learn.client import calls, json_calls, project_calls
from kiro_learn.client.results import FeedbackCounts, FoundMemory, Recalled, SessionContext
from kiro_learn.frontends.cli import activity_texts, graph_texts, projects, search, texts
from kiro_learn.frontends.cli.options import in_project, printing, typed
from kiro_learn.frontends.cli.record_ids import short
from kiro_learn.frontends.cli.search import INDENT, found_by, headline, kind
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import Terminal, counted, memories, plain, spread

MOST_TOKENS = 100_000
SEE_CONTEXT = texts.SEE_HELP.format(command="kiro-learn context")
PROFILES = ("resolved", "literal")


@click.command("context", help=activity_texts.CONTEXT_HELP)
@click.argument("prompt", nargs=-1, type=typed)
@click.option(
    "--tokens",
    type=click.IntRange(0, MOST_TOKENS),
    help=activity_texts.TOKENS_HELP,
)
@click.option("--explain", is_flag=True, help=activity_texts.EXPLAIN_FOUND_HELP)
@click.option("--replay", metavar="FILE", type=click.Path(exists=True, path_type=Path), help=activity_texts.REPLAY_HELP)
@click.option("--graph", "by_graph", is_flag=True, help=graph_texts.GRAPH_HELP)
@click.option("--profile", type=click.Choice(PROFILES), help=graph_texts.PROFILE_HELP)
@click.option("--passages", is_flag=True, help=graph_texts.PASSAGES_HELP)
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
    as_json: bool,
) -> None:
    asked = " ".join(prompt)
    if replay is not None:
        _replay(shell, replay, project, as_json=as_json)
        return
    if by_graph:
        manner = profile or PROFILES[0]
        _show_block(
            shell,
            asked,
            project,
            profile=manner,
            passages=passages,
            tokens=tokens,
            explain=explain,
            as_json=as_json,
        )
        return
    if profile is not None or passages:
        option = "--passages" if profile is None else "--profile"
        raise Failed(graph_texts.NEEDS_GRAPH.format(option=option), hint=SEE_CONTEXT, exit_code=2)
    if prompt and tokens is not None:
        raise Failed(activity_texts.NO_TOKENS, hint=SEE_CONTEXT, exit_code=2)
    if explain and not prompt:
        raise Failed(activity_texts.NO_PROMPT, hint='kiro-learn context "PROMPT" --explain', exit_code=2)
    if prompt:
        _recall(shell, asked, project, explain=explain, as_json=as_json)
    else:
        _at_start(shell, tokens, project, as_json=as_json)


def _at_start(shell: Shell, tokens: int | None, project: str, *, as_json: bool) -> None:
    with shell.client() as client:
        place = projects.called(client, project)
        call = project_calls.context(client, tokens=tokens, project=place.spelled)
        if as_json:
            shell.print_json(client.body_of(call))
            return
        context = client.carry_out(call)
    if not context.text:
        room = "" if tokens is None else counted(tokens, *activity_texts.TOKENS)
        sentence = activity_texts.NOTHING_FITS if room else activity_texts.NOTHING_TOLD
        shell.say([sentence.format(project=place.name, tokens=room)])
        return
    shell.print(_lines_of(context.text))
    if shell.out.is_interactive:  # else it is read by a program, or will be
        shell.say(told(context, place.name, shell.err))


def _recall(shell: Shell, prompt: str, project: str, *, explain: bool, as_json: bool) -> None:
    """What an agent would be told with ``prompt``, or how each memory of it was found."""
    with shell.client() as client:
        place = projects.called(client, project)
        call = calls.recall(client, prompt, project=place.spelled)
        if as_json:
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
        shell.say([activity_texts.NOTHING_RECALLED.format(project=place.name)])


def _lines_of(text: str) -> list[str]:
    return plain(text).rstrip("\n").split("\n")


def told(context: SessionContext, project: str, terminal: Terminal) -> list[str]:
    """How much a session's context is."""
    count = memories(len(context.memory_ids))
    tokens = counted(context.tokens, *activity_texts.TOKENS)
    line = activity_texts.TOLD_AT_START.format(memories=count, project=project, tokens=tokens)
    return [terminal.dim(line)]


def found(recalled: Recalled, terminal: Terminal) -> list[str]:
    """Two lines for each memory that was found for a prompt: its title; its score, what found it, if it is told."""
    return [
        line for rank, memory in enumerate(recalled.found, start=1) for line in _found_memory(rank, memory, terminal)
    ]


def _found_memory(rank: int, memory: FoundMemory, terminal: Terminal) -> list[str]:
    told_or_not = activity_texts.IS_TOLD if memory.told else activity_texts.IS_NOT_TOLD
    how = (
        found_by(memory.found_by),
        texts.SCORE.format(score=memory.score),
        told_or_not,
        _branch(memory),
        _became(memory.feedback),
    )
    tail = short(memory.id)
    return [
        headline(rank, memory.title, kind(memory.type), terminal),
        spread(INDENT + texts.DOT.join(filter(None, how)), tail, terminal.width, painted_right=terminal.dim(tail)),
    ]


def _branch(memory: FoundMemory) -> str:
    """The branch that it was learned on, and whether its score is higher since that is checked out."""
    if memory.branch is None:
        return ""
    said = activity_texts.OF_THIS_BRANCH if memory.is_of_branch else activity_texts.ON_BRANCH
    return said.format(branch=memory.branch)


def _became(counts: FeedbackCounts | None) -> str:
    """What became of it before, and by what its score was multiplied for it."""
    if counts is None:
        return ""
    known = [f"{count} {name}" for name, count in counts._asdict().items() if name != "factor" and count]
    return f"{', '.join(known)} (x{counts.factor:.2f})" if known else ""


def found_summary(recalled: Recalled, project: str, terminal: Terminal) -> list[str]:
    """How many were found, and how many of them would be told."""
    if not recalled.found:
        return [activity_texts.NOTHING_RECALLED.format(project=project)]
    line = activity_texts.FOUND_FOR.format(
        memories=memories(len(recalled.found)), project=project, told=len(recalled.memory_ids)
    )
    return [terminal.dim(line)]


# context --replay: a test case asked again.

Json = Mapping[str, Any]

PARTS = {"namespace", "prompt", "found", "context", "is_as_told", "profile_bytes"}


_NOTE = re.compile(r"^(### .{1,200} \(\d{4}-\d\d-\d\d); .{1,2000}\)$", re.MULTILINE)


def without_notes(text: str) -> str:
    """The block without what is said beside the days of memories: files change, and slow ones are not looked at."""
    return _NOTE.sub(r"\1)", text)


def _replay(shell: Shell, path: Path, project: str, *, as_json: bool) -> None:
    """Ask the daemon the prompt of the test case at ``path``, and print how its answer differs.

    Raises:
      Failed: it differs; or the file is no test case, or has no prompt.
    """
    case = _read(path)
    with shell.client() as client:
        place = projects.called(client, project or case["namespace"])
        now = client.body_of(calls.recall(client, case["prompt"], project=place.spelled))
    told = [record_id for record_id, _ in _told(case)]
    differences = list(_differences(case, now))
    if as_json:
        shell.print_json({"same": not differences, "told": told, "differences": differences})
    elif not differences:
        shell.print([activity_texts.REPLAYED_SAME.format(memories=memories(len(told)), project=place.name)])
    else:
        shell.print(differences)
    if differences:
        raise Failed(activity_texts.REPLAYED_OTHERWISE)


def _read(path: Path) -> Json:
    try:
        case = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        case = None
    if not isinstance(case, dict) or not case.keys() >= PARTS:
        raise Failed(activity_texts.NO_CASE.format(path=path), hint=SEE_CONTEXT, exit_code=2)
    if not case["prompt"]:
        raise Failed(activity_texts.CASE_WITHOUT_PROMPT.format(path=path), hint=SEE_CONTEXT, exit_code=2)
    return case


def _told(answer: Json) -> list[tuple[str, float]]:
    """Ids and scores of what is told, best first; of a test case, or of an answer of today."""
    return [(_id(each), each["score"]) for each in answer["found"] if each.get("told", each.get("shown"))]


def _id(found: Json) -> str:
    return str(found.get("id") or found["record_id"])


def _differences(case: Json, now: Json) -> Iterator[str]:
    before, today = dict(_told(case)), dict(_told(now))
    for record_id in before.keys() - today.keys():
        yield activity_texts.REPLAY_NO_LONGER.format(id=short(record_id))
    for record_id in today.keys() - before.keys():
        yield activity_texts.REPLAY_NEW.format(id=short(record_id))
    for record_id in before.keys() & today.keys():
        if not math.isclose(before[record_id], today[record_id], rel_tol=1e-9):
            scores = {"before": before[record_id], "now": today[record_id]}
            yield activity_texts.REPLAY_SCORE.format(id=short(record_id), **scores)
    if before.keys() == today.keys() and list(before) != list(today):
        yield activity_texts.REPLAY_ORDER
    is_known = case["is_as_told"] and not case["profile_bytes"]
    if is_known and without_notes(case["context"]) != without_notes(now["context"]):
        yield activity_texts.REPLAY_TEXT


# context --graph: the block of the whole memory for a prompt, or why each line of it is told.

FACTORS = {"recency", "importance", "confidence"}
"""What a score is multiplied by; everything else is added."""


def _show_block(
    shell: Shell,
    prompt: str,
    project: str,
    *,
    profile: str,
    passages: bool,
    tokens: int | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Print the block on standard output, and what it has cost below it."""
    with shell.client() as client:
        place = projects.called(client, project)
        call = json_calls.context(
            client, prompt, profile=profile, tokens=tokens, passages=passages, project=place.spelled
        )
        found = client.body_of(call)
    if as_json:
        shell.print_json(found)
        return
    shell.say(search.partial_answer(found["degraded"], shell.err))
    if explain:
        shell.print(_explained(found, shell.out))
    elif found["context"]:
        shell.print([plain(line) for line in found["context"].splitlines()])
    else:
        room = counted(found["budget"], *activity_texts.TOKENS)
        shell.say([graph_texts.NOTHING_TOLD.format(project=place.name, tokens=room)])


def _explained(found: dict[str, Any], terminal: Terminal) -> list[str]:
    query = found["query"]
    entities = ", ".join(plain(entity["name"]) for entity in query["entities"])
    asked = graph_texts.ASKED.format(
        intent=query["intent"].replace("_", " "),
        words=plain(" ".join(query["keywords"])) or graph_texts.NOTHING,
        entities=entities or graph_texts.NOTHING,
    )
    lines = [terminal.dim(asked)]
    for item in found["items"]:
        score = terminal.dim(f"    {item['score']:.4f} = {_formula(item['parts'])}")
        lines += [*map(plain, item["text"].splitlines()), score]
    total = graph_texts.TOKENS.format(tokens=found["tokens"], budget=found["budget"])
    return [*lines, terminal.dim(total)]


def _formula(parts: dict[str, float]) -> str:
    """As ``(keyword 0.0159 + graph 0.0200) * confidence 0.90``."""
    added = [f"{name} {value:.4f}" for name, value in parts.items() if name not in FACTORS]
    factors = [f"{name} {value:.2f}" for name, value in parts.items() if name in FACTORS]
    total = " + ".join(added)
    return " * ".join([f"({total})" if len(added) > 1 and factors else total, *factors])
