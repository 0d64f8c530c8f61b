"""context --replay: asks again what a test case asked, and says what differs."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kiro_learn.client import calls
from kiro_learn.frontends.cli import activity_texts, projects, texts
from kiro_learn.frontends.cli.amounts import memories
from kiro_learn.frontends.cli.record_ids import short
from kiro_learn.frontends.cli.shell import Failed, Shell

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
