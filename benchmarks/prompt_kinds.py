"""Does the memory speak at the right prompts, judged by the prompts' texts only?

    python benchmarks/prompt_kinds.py PROMPTS [--show]

PROMPTS has a prompt a line, in the order in which they were typed: ``session``, ``prompt``, the ``kind`` that a reader
gave it, and ``speaks`` ("yes" or "no"): whether somebody who knows all earlier sessions should say something;
``goes_on`` is true at the first one of a session whose beginning is missing. No memory is asked: it counts which
prompts may be told something, by their kind. Prompts that may set the goal of a session are counted apart from others.

The tree has no such file, since real prompts belong to the people who typed them. docs/benchmarks.md says from where
the counted prompts came.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

sys.path.insert(0, str(Path(__file__).parents[1]))

from kiro_learn.learning.extraction.extractive.chatter import asks_nothing
from kiro_learn.learning.extraction.extractive.durable import only_lays_down
from kiro_learn.retrieval.query.prompt_kind import GOALS, PromptKind, kind_of
from kiro_learn.retrieval.query.question import Query

TOLD = frozenset({PromptKind.QUESTION.value, PromptKind.TASK.value, PromptKind.PAST.value})


@attrs.frozen
class Judged:
    """A prompt, the reader's judgement of it, and the kind that the daemon takes it for."""

    prompt: str
    kind: str
    should_speak: bool
    may_set_goal: bool
    taken_for: str

    @property
    def outcome(self) -> str:
        spoken = "told" if self.taken_for in TOLD else "silent"
        return f"{spoken}, {'rightly' if (spoken == 'told') is self.should_speak else 'wrongly'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prompts", type=Path)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    found = list(judged(json.loads(line) for line in options.prompts.read_text("utf-8").splitlines()))
    for name, may_set_goal in (("may set a goal", True), ("later", False)):
        outcomes = Counter(each.outcome for each in found if each.may_set_goal is may_set_goal)
        print(json.dumps({"prompts": name} | dict(sorted(outcomes.items()))))
    for (kind, taken_for), count in sorted(Counter((each.kind, each.taken_for) for each in found).items()):
        print(f"  {kind}, taken for {taken_for}: {count}")
    for each in found:
        if options.show and "wrongly" in each.outcome:
            print(f"  {each.outcome}, {each.taken_for}: {each.prompt[:200]!r}")


def judged(lines: Iterator[dict[str, Any]]) -> Iterator[Judged]:
    """The prompts, each as the daemon would take it. The daemon remembers whether a session's goal is set."""
    has_goal: set[str] = set()
    for line in lines:
        if line.get("goes_on"):
            has_goal.add(line["session"])
        may_set_goal = line["session"] not in has_goal
        kind = kind_taken(line["prompt"], sets_goal=may_set_goal)
        if kind in {each.value for each in GOALS}:
            has_goal.add(line["session"])
        yield Judged(line["prompt"], line["kind"], line["speaks"] == "yes", may_set_goal, kind)


def kind_taken(prompt: str, *, sets_goal: bool) -> str:
    question = Query.of_prompt(prompt).meaning
    if asks_nothing(question):
        return "talk"
    return "rules" if only_lays_down(prompt) else kind_of(prompt, question, sets_goal=sets_goal).value


if __name__ == "__main__":
    main()
