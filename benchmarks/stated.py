"""How many statements in conversations does the graph learn without a model, and how many of those are right?

    python benchmarks/stated.py [--half work|judge] [--show]

Reads ``data/stated_conversations.txt``: sixty conversations, each with the facts and wishes that a careful reader takes
as true at its end. A seed parts them into thirty to work on and thirty to judge by. Prints for each half the precision
of facts and of wishes (the share of the learned ones that the reader takes as true) and their recall.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
import string
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import structlog

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.graph_sample import learned
from kiro_learn.learning.graph.without_model import PERSON
from kiro_learn.model.event import Body, Event, EventKind, JsonBody, Source, TextBody
from kiro_learn.model.graph import Fact, Preference, bare
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import namespace_of
from kiro_learn.privacy.scrub import scrub_event

DATA = Path(__file__).parent / "data" / "stated_conversations.txt"
SEED = 20261125
BEGAN = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
BETWEEN_EVENTS = timedelta(seconds=40)
"""The time between events: longer than the daemon waits, so that each prompt is a batch of its own."""
SAME_WISH = 0.5
"""The share of all words of two wishes that both must have, so that they count as one wish."""
USED = frozenset(
    {"uses", "runs_on", "deployed_on", "built_with", "tested_with", "written_in", "formatted_with", "depends_on"}
)
"""Predicates that imply ``uses``."""
PROJECT = "shop"

_WORD = re.compile(r"[^\W_]+|[^\x00-\x7f]")
_DENIES = re.compile(r"(?i)\b(?:no|not|never|nie|kein\w*|nunca|jamais|non|no)\b|n't\b|\bdont\b|不|ない")


@attrs.frozen
class Conversation:
    """The events of a conversation, and the facts and wishes that hold at its end."""

    name: str
    events: tuple[tuple[str, str], ...]
    """The kind of each event (``U``, ``A``, ``C``, ``X``) and its text."""
    facts: frozenset[tuple[str, str, str]]
    """Facts as subject, predicate and object."""
    wishes: tuple[str, ...]


def main() -> None:
    """Print the figures of each half."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("work", "judge"))
    parser.add_argument("--show", action="store_true", help="also what was learned, what is false and what is missed")
    options = parser.parse_args()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    for half, conversations in halves().items():
        if options.half in {None, half}:
            print(json.dumps({"half": half, **figures(conversations, is_shown=options.show)}))


def halves() -> dict[str, list[Conversation]]:
    """The two halves of the conversations, thirty each."""
    read = list(conversations_in(DATA.read_text(encoding="utf-8")))
    work = set(random.Random(SEED).sample([each.name for each in read], len(read) // 2))
    return {
        "work": [each for each in read if each.name in work],
        "judge": [each for each in read if each.name not in work],
    }


def figures(conversations: Iterable[Conversation], *, is_shown: bool = False) -> dict[str, Any]:
    """Precision and recall of facts and of wishes, with the counts that they come from; None: nothing was learned."""
    counts = dict.fromkeys(("facts", "right_facts", "true_facts", "found_facts"), 0)
    counts |= dict.fromkeys(("wishes", "right_wishes", "true_wishes", "found_wishes"), 0)
    for each in conversations:
        facts, wishes = what_holds(each)
        verdicts: dict[str, list[Any]] = {
            "right_facts": [fact for fact in facts if any(_same_fact(true, fact) for true in each.facts)],
            "found_facts": [true for true in each.facts if any(_same_fact(fact, true) for fact in facts)],
            "right_wishes": [wish for wish in wishes if any(_same_wish(true, wish) for true in each.wishes)],
            "found_wishes": [true for true in each.wishes if any(_same_wish(wish, true) for wish in wishes)],
            "facts": facts,
            "wishes": wishes,
            "true_facts": list(each.facts),
            "true_wishes": list(each.wishes),
        }
        for name, found in verdicts.items():
            counts[name] += len(found)
        if is_shown:
            _show(each, verdicts)
    return {
        "facts_precision": _share(counts["right_facts"], counts["facts"]),
        "facts_recall": _share(counts["found_facts"], counts["true_facts"]),
        "wishes_precision": _share(counts["right_wishes"], counts["wishes"]),
        "wishes_recall": _share(counts["found_wishes"], counts["true_wishes"]),
        **counts,
    }


def what_holds(conversation: Conversation) -> tuple[list[tuple[str, str, str]], list[str]]:
    """The facts, as subject, predicate and object, and the wishes in the graph after the conversation."""
    items = learned(events_of(conversation)).graph_items(namespace_of("eval", conversation.name))
    facts = [each for each in items if isinstance(each, Fact) and each.is_current]
    wishes = [each.value for each in items if isinstance(each, Preference) and each.is_current]
    return [(each.subject, each.predicate, each.object) for each in facts], wishes


def events_of(conversation: Conversation) -> list[Event]:
    """The events of the conversation as a daemon stores them, without secrets."""
    bodies: dict[str, tuple[EventKind, Any]] = {
        "U": (EventKind.PROMPT, TextBody),
        "A": (EventKind.SESSION_SUMMARY, TextBody),
        "C": (EventKind.TOOL_USE, lambda command: _ran(command, "", 0)),
        "X": (EventKind.TOOL_USE, lambda command: _ran(command, "command not found", 127)),
    }
    return [
        scrub_event(
            Event(
                event_id=EventId(f"01{number:024}"),
                session_id="s",
                actor_id="eval",
                namespace=namespace_of("eval", conversation.name),
                schema_version=1,
                kind=bodies[kind][0],
                body=bodies[kind][1](text),
                valid_time=BEGAN + number * BETWEEN_EVENTS,
                source=Source(surface="api", version="1", client_id="eval", project_path=f"/home/ann/{PROJECT}"),
            )
        )
        for number, (kind, text) in enumerate(conversation.events)
    ]


def _ran(command: str, error: str, code: int) -> Body:
    response = {"stdout": "", "stderr": error, "exit_code": code, "success": code == 0}
    return JsonBody({"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": response})


def conversations_in(text: str) -> Iterator[Conversation]:
    """The conversations in ``text``, whose first lines describe the format; each secret is made up anew."""
    dice = random.Random(SEED)
    name = ""
    lines: list[tuple[str, str]] = []
    for line in [*text.splitlines(), "## "]:
        if line.startswith("## "):
            if name:
                yield _conversation(name, lines, dice)
            name, lines = line.removeprefix("## "), []
        elif lines and line.startswith("  "):
            lines[-1] = (lines[-1][0], f"{lines[-1][1]}\n{line[2:]}")
        elif lines and not line:
            lines[-1] = (lines[-1][0], f"{lines[-1][1]}\n")
        elif name:
            lines.append((line[:1], line[2:].strip()))


def _conversation(name: str, lines: list[tuple[str, str]], dice: random.Random) -> Conversation:
    said = [(kind, text.strip().replace("{secret}", _secret(dice))) for kind, text in lines]
    return Conversation(
        name,
        tuple((kind, text) for kind, text in said if kind in "UACX"),
        frozenset(_true_fact(text) for kind, text in said if kind == "F" and text),
        tuple(text for kind, text in said if kind == "W"),
    )


def _secret(dice: random.Random) -> str:
    return "".join(dice.choices(string.ascii_letters + string.digits, k=20))


def _true_fact(text: str) -> tuple[str, str, str]:
    if " | " in text:
        subject, predicate, object_ = text.split(" | ")
        return PERSON if subject == "person" else subject, predicate, object_
    predicate, _, object_ = text.partition(" ")
    return PROJECT, predicate, object_


def _same_fact(wanted: tuple[str, str, str], fact: tuple[str, str, str]) -> bool:
    """Whether ``fact`` says no more than ``wanted``. A name may differ by an article or a version."""
    (subject, predicate, object_), (other_subject, other_predicate, other_object) = wanted, fact
    is_same_predicate = predicate == other_predicate or (other_predicate == "uses" and predicate in USED)
    objects = [bare(re.sub(r" v?\d[\w.]*$", "", each)) for each in (object_, other_object)]
    subjects = [bare(each.lower().removeprefix("the ").removeprefix("our ")) for each in (subject, other_subject)]
    return is_same_predicate and objects[0] == objects[1] and subjects[0] == subjects[1]


def _same_wish(one: str, other: str) -> bool:
    words = [set(_WORD.findall(each.lower())) for each in (one, other)]
    is_same_sign = bool(_DENIES.search(one)) == bool(_DENIES.search(other))
    return is_same_sign and len(words[0] & words[1]) >= SAME_WISH * len(words[0] | words[1])


def _show(conversation: Conversation, verdicts: dict[str, list[Any]]) -> None:
    for what, right, true, found in (
        ("facts", "right_facts", "true_facts", "found_facts"),
        ("wishes", "right_wishes", "true_wishes", "found_wishes"),
    ):
        wrong = itertools.filterfalse(verdicts[right].__contains__, verdicts[what])
        missed = itertools.filterfalse(verdicts[found].__contains__, verdicts[true])
        for verdict, each in [
            *(("right", each) for each in verdicts[right]),
            *(("WRONG", each) for each in wrong),
            *(("missed", each) for each in missed),
        ]:
            print(f"{conversation.name} | {what} | {verdict} | {each}")


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 2) if whole else None


if __name__ == "__main__":
    main()
