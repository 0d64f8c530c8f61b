"""Does the built-in learner keep the right things, and are overturned statements told? Cases by other authors.

    python benchmarks/kept.py [--data FOLDER] [--only NAME ...] [--half work|judge] [--show]

FOLDER has one file for each NAME, a case a line:

    rules.jsonl        does this prompt state a standing rule? ``rule_words``: what the rule must have
    choices.jsonl      does the person choose something for the project, or say that it was changed?
    prompts.jsonl      both questions for prompts by four more authors. Nothing was fitted on them; all are to judge by
    reports.jsonl      is it a convention, or a fault that is told as plainly? By one more author, fitted on nothing
    answers.jsonl      does the answer hold something that still counts next month, or only the state of the hour?
    changes.jsonl      a rule, and a sentence of its author weeks later: does that replace the rule? By five authors;
                       the weights of rules and choices were fitted on their sentences since
    overturned.jsonl   two statements of a project, weeks apart: does the newer one replace the older?

A rule is learned if a constraint has its words; a choice, if a rule or decision of the person has them. An answer is
kept if a memory has its words. In the other cases it is wrong to learn a rule or a choice of the person, or to keep
anything at all. ``precision``: the share of what was learned that should be.

For changes: ``kept``, the newer statement was learned as a rule or a choice; ``ended``, the older one is said to have
ended, judged by the words of both; ``others ended``, the same where the older one still holds.

For overturned statements, the older one is learned three weeks before the newer. Then a daemon's services in this
process are asked the question. ``alone``: pairs with a replacement for which only the older statement is told;
``unmarked``: such pairs for which both are told, and nothing says that the older one ended. ``wrongly ended``: the
other pairs whose older statement is said to have ended. ``--show`` prints each case that went wrong. A seed parts the
cases into a half to work on and one to judge by; show only the half to work on.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import structlog
import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.histories import History, KeptModel, event_ids, learn, read_event, running_services, wait_ready
from benchmarks.many_records import about_this_run
from kiro_learn.config import RecallConfig
from kiro_learn.learning.extraction.extractive.learner import drafts_of
from kiro_learn.learning.extraction.extractive.own_text import own_sentences
from kiro_learn.learning.extraction.extractive.sentence_classes import odds_of
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.event import TextBody
from kiro_learn.model.record import KnowledgeType, Origin
from kiro_learn.services.told_unasked import Amended
from kiro_learn.testing.daemon import a_record

SEED = 20261127
DATA = Path(__file__).parent / "data" / "kept"
BEGAN = datetime(2026, 10, 5, 9, 0, tzinfo=UTC)
WEEKS = timedelta(weeks=3)
TASK, TASK_DONE = "Add the list view to the admin page", "The list view is there, in admin/list.py."
EDITED = "admin/list.py"
CHOSEN = (KnowledgeType.DECISION, KnowledgeType.REJECTED, KnowledgeType.CONSTRAINT)
WORDS_TOLD = 0.6
"""The share of a statement's words that a text must have, so that it tells the statement."""

Case: TypeAlias = dict[str, Any]


def main() -> None:
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    options = read_options()
    print(json.dumps(about_this_run()))
    for name in options.only:
        cases = half_of(options.data / f"{name}.jsonl", options.half)
        print(json.dumps({"cases": name} | MEASURES[name](cases, show=options.show)))


def half_of(path: Path, half: str | None) -> list[Case]:
    cases = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    random.Random(SEED).shuffle(cases)
    middle = len(cases) // 2
    return {"work": cases[:middle], "judge": cases[middle:]}.get(half or "", cases)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--only", nargs="+", default=list(MEASURES), choices=list(MEASURES))
    parser.add_argument("--half", choices=("work", "judge"))
    parser.add_argument("--show", action="store_true")
    return parser.parse_args()


def measure_rules(cases: Sequence[Case], *, show: bool) -> dict[str, Any]:
    def learned(case: Case) -> list[RecordDraft]:
        made = drafts_after_a_task(case["prompt"], "Understood.")
        return [draft for draft in made if draft.knowledge_type is KnowledgeType.CONSTRAINT]

    return counted(cases, "rule", learned, lambda case: case.get("rule_words") or [], show=show)


def measure_choices(cases: Sequence[Case], *, show: bool) -> dict[str, Any]:
    def learned(case: Case) -> list[RecordDraft]:
        made = drafts_after_a_task(case["prompt"], case["answer"], edited=True)
        return [draft for draft in made if draft.knowledge_type in CHOSEN and draft.origin is not Origin.ASSISTANT]

    return counted(cases, "choice", learned, lambda case: case["words"], show=show)


def measure_prompts(cases: Sequence[Case], *, show: bool) -> dict[str, Any]:
    rules = [case for case in cases if case["rule"] or not case["choice"]]
    choices = [{**case, "answer": "Done.", "words": ()} for case in cases if case["choice"] or not case["rule"]]
    return {"rules": measure_rules(rules, show=show), "choices": measure_choices(choices, show=show)}


def measure_answers(cases: Sequence[Case], *, show: bool) -> dict[str, Any]:
    def learned(case: Case) -> list[RecordDraft]:
        return drafts_of(snapshot_of(session_of([(case["prompt"], case["answer"], case["edited"])])))

    return counted(cases, "keep", learned, lambda case: case["words"], show=show)


def counted(
    cases: Sequence[Case],
    wanted: str,
    learned: Callable[[Case], list[RecordDraft]],
    words: Callable[[Case], Sequence[str]],
    *,
    show: bool,
) -> dict[str, Any]:
    """How many of the cases that should be learned were learned, with their words, and how many others."""
    right = wrong = 0
    for case in cases:
        made = learned(case)
        is_learned = any(has_words(draft, words(case)) for draft in made) if case[wanted] else bool(made)
        right += case[wanted] and is_learned
        wrong += not case[wanted] and is_learned
        if show and is_learned is not case[wanted]:
            titles = "; ".join(draft.title for draft in made)
            print(f"  {'lost' if case[wanted] else 'wrong'}: {case['prompt'][:300]!r} [{titles}]", file=sys.stderr)
    count = sum(bool(case[wanted]) for case in cases)
    return {
        "wanted": count,
        "learned": right,
        "others": len(cases) - count,
        "wrongly": wrong,
        "recall": round(right / max(count, 1), 2),
        "precision": round(right / max(right + wrong, 1), 2),
    }


def has_words(draft: RecordDraft, words: Sequence[str]) -> bool:
    text = squeezed("\n".join((draft.title, draft.summary, *draft.facts)))
    return all(squeezed(word) in text for word in words)


def squeezed(text: str) -> str:
    return " ".join(text.casefold().replace("\u2019", "'").split())


Turn: TypeAlias = tuple[str, str, bool]
"""A prompt, its answer, and whether a file was changed in between."""


def drafts_after_a_task(prompt: str, answer: str, *, edited: bool = False) -> list[RecordDraft]:
    """The memories of a turn in a session that had a task before, without the memories of the task."""
    alone = {draft.title for draft in drafts_of(snapshot_of(session_of([(TASK, TASK_DONE, True)])))}
    made = drafts_of(snapshot_of(session_of([(TASK, TASK_DONE, True), (prompt, answer, edited)])))
    return [draft for draft in made if draft.title not in alone]


def session_of(turns: Iterable[Turn], *, session: str = "s1", began: datetime = BEGAN) -> list[dict[str, Any]]:
    """The lines of a history with these turns in a row, a minute for each step."""
    lines: list[dict[str, Any]] = []

    def say(name: str, **more: Any) -> None:
        at = (began + timedelta(minutes=len(lines))).isoformat()
        lines.append({"session_id": session, "ts": at, "hook_event_name": name, "cwd": "/eval/kept"} | more)

    for prompt, answer, is_edited in turns:
        say("userPromptSubmit", prompt=prompt)
        if is_edited:
            given = {"file_path": EDITED, "old_string": "a", "new_string": "b"}
            say("postToolUse", tool_name="Edit", tool_input=given, tool_response={"success": True})
        say("stop", assistant_response=answer)
    return lines


def snapshot_of(lines: list[dict[str, Any]]) -> BufferSnapshot:
    history = History("kept", lines, [], [])
    events = [read_event(line, event_id, history) for line, event_id in zip(lines, event_ids(history), strict=True)]
    return BufferSnapshot(tuple(BufferedEvent(event, place, 1) for place, event in enumerate(events, start=1)))


def measure_changes(cases: Sequence[Case], *, show: bool) -> dict[str, Any]:
    found = {"replaced": 0, "kept": 0, "ended": 0, "others": 0, "others ended": 0}
    for case in cases:
        older, newer = (
            attrs.evolve(a_record(day, case[name]), origin=Origin.USER, knowledge_type=KnowledgeType.CONSTRAINT)
            for day, name in enumerate(("older", "newer"))
        )
        is_ended = older.record_id in Amended.of([older, newer], []).replaced
        if show and is_ended is not case["replaces"]:
            print(f"  {'lost' if case['replaces'] else 'wrong'}: {older.title!r} / {newer.title!r}", file=sys.stderr)
        found["replaced" if case["replaces"] else "others"] += 1
        found["ended" if case["replaces"] else "others ended"] += is_ended
        said = [odds_of(each) for each in own_sentences(newer.title)]
        found["kept"] += case["replaces"] and any(each.is_rule or each.is_choice for each in said)
    return found


def measure_overturned(cases: Sequence[Case], *, show: bool) -> dict[str, Any]:
    return trio.run(_overturned, cases, show)


async def _overturned(cases: Sequence[Case], show: bool) -> dict[str, Any]:
    found = {"replaced": 0, "alone": 0, "unmarked": 0, "not told": 0, "others": 0, "wrongly ended": 0}
    model = KeptModel(None)
    await model.load()
    for number, case in enumerate(cases):
        told = await _told_of(case, number, model)
        outcome = outcome_of(case, told)
        found["replaced" if case["relation"] == "replaces" else "others"] += 1
        if outcome:
            found[outcome] += 1
            if show:
                print(f"  {outcome}: {case['older_prompt']!r} / {case['newer_prompt']!r}\n{told}", file=sys.stderr)
    return found


async def _told_of(case: Case, number: int, model: KeptModel) -> str:
    """The text that is told for the question, in a project with only the two sessions of the case."""
    lines = session_of([(case["older_prompt"], "Done.", True)], session="before")
    lines += session_of([(case["newer_prompt"], case["newer_answer"], True)], session="after", began=BEGAN + WEEKS)
    history = History(f"kept {number}", lines, [], [])
    with tempfile.TemporaryDirectory() as folder:
        recall = RecallConfig(budget_seconds=10.0)
        behind = datetime.now(UTC) - BEGAN - 2 * WEEKS
        async with running_services(Path(folder), model, recall, behind=behind) as services:
            await learn(services, history)
            await wait_ready(services, history)
            return (await services.recall.answer(history.namespace, TextBody(case["question"]))).context


def outcome_of(case: Case, told: str) -> str:
    """The mistake in the text that was told; empty if there is none."""
    is_ended = bool(re.search(r"\bwas \"|was \u201c|overturned|replaced by", told))
    if case["relation"] != "replaces":
        return "wrongly ended" if is_ended and case["relation"] != "contradicts" else ""
    has_older, has_newer = (is_told(case[name], told) for name in ("older", "newer_prompt"))
    if not (has_older or has_newer):
        return "not told"
    if has_older and not has_newer:
        return "alone"
    return "unmarked" if has_older and not is_ended else ""


def is_told(statement: str, told: str) -> bool:
    words = set(re.findall(r"\w{3,}", squeezed(statement)))
    return len(words & set(re.findall(r"\w{3,}", squeezed(told)))) >= WORDS_TOLD * max(len(words), 1)


MEASURES: dict[str, Callable[..., dict[str, Any]]] = {
    "rules": measure_rules,
    "choices": measure_choices,
    "prompts": measure_prompts,
    "reports": measure_rules,
    "answers": measure_answers,
    "changes": measure_changes,
    "overturned": measure_overturned,
}

if __name__ == "__main__":
    main()
