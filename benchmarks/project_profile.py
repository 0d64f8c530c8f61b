"""Prints the profiles of twelve repositories next to a person's lists of them, and what ordinary prompts are told.

    python benchmarks/project_profile.py [--kind FOLDER]

The repositories and their lists are those of the tests. With FOLDER, which holds data sets of real sessions
(``NAME/events.jsonl``), it also counts the prompts that would be told a slot if their project had one.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from kiro_learn.learning.profile.profile import profile_of
from kiro_learn.retrieval.query.prompt_kind import slots_of
from kiro_learn.retrieval.query.question import Query
from kiro_learn.retrieval.rendering.brief import SECTION_BYTES, profile_section, slot_line
from tests.unit.learning.profile.repositories import NEXT_SHOP, REPOSITORIES
from tests.unit.services.ordinary_prompts import ASKED_LATER, GOING_ON, NOT_ABOUT_IT, ORDINARY


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", type=Path)
    options = parser.parse_args()
    _facts()
    _prompts()
    for events in sorted(options.kind.glob("*/events.jsonl")) if options.kind else ():
        _real(events)


def _facts() -> None:
    print("| repository | listed | read | precision | recall | bytes | ms |\n|---|---|---|---|---|---|---|")
    for name, repository in REPOSITORIES.items():
        began = time.perf_counter()
        profile = profile_of(repository.files)
        took = (time.perf_counter() - began) * 1000
        listed, found = repository.facts(), {(str(fact.slot), fact.value) for fact in profile.facts}
        both, size = len(listed & found), len(profile_section(profile, most_bytes=SECTION_BYTES).encode())
        shares = f"{both / len(found):.2f} | {both / len(listed):.2f}"
        print(f"| {name} | {len(listed)} | {len(found)} | {shares} | {size} | {took:.1f} |")


def _prompts() -> None:
    profile = profile_of(NEXT_SHOP.files)
    print("\n| prompt | as | told |\n|---|---|---|")
    for kind, prompts, is_first in (
        ("first", [*ORDINARY, *NOT_ABOUT_IT], True),
        ("later", [*ASKED_LATER, *GOING_ON], False),
    ):
        for prompt in prompts:
            print(f"| {prompt} | {kind} | {slot_line(profile, slots_of(prompt, sets_goal=is_first)).strip()[2:]} |")


def _real(path: Path) -> None:
    seen: set[str] = set()
    counts = {True: [0, 0], False: [0, 0]}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            if event["hook_event_name"] == "userPromptSubmit":
                is_first = event["session_id"] not in seen
                seen.add(event["session_id"])
                question = Query.of_prompt(event.get("prompt") or "").meaning
                counts[is_first][0] += 1
                counts[is_first][1] += bool(slots_of(question, sets_goal=is_first))
    first, later = counts[True], counts[False]
    print(f"{path.parent.name}: {first[1]} of {first[0]} first prompts, {later[1]} of {later[0]} later ones")


if __name__ == "__main__":
    main()
