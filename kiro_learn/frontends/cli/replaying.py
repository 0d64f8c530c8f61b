"""context --graph and context --replay: the block of the whole memory, and a test case asked again."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kiro_learn.client import calls, json_calls
from kiro_learn.frontends.cli import activity_texts, graph_texts, projects, search_screen, texts
from kiro_learn.frontends.cli.record_ids import short
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import Terminal, counted, memories, plain

Json = Mapping[str, Any]

PARTS = {"namespace", "prompt", "found", "context", "is_as_told", "profile_bytes"}
SEE_CONTEXT = texts.SEE_HELP.format(command="kiro-learn context")

_NOTE = re.compile(r"^(### .{1,200} \(\d{4}-\d\d-\d\d); .{1,2000}\)$", re.MULTILINE)


def without_notes(text: str) -> str:
    """The block without what is said beside the days of memories: files change, and slow ones are not looked at."""
    return _NOTE.sub(r"\1)", text)


def replay(shell: Shell, path: Path, project: str, *, as_json: bool) -> None:
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


def show(
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
    shell.say(search_screen.partial_answer(found["degraded"], shell.err))
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
