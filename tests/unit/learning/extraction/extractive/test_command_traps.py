"""A call that failed because of its form is learned with the call that worked; a failed task is not learned."""

from __future__ import annotations

import json

import pytest

from kiro_learn.learning.extraction.extractive.extract import Extract
from kiro_learn.learning.extraction.extractive.faults import MOST_TRAPS, traps_of
from kiro_learn.learning.extraction.extractive.turns import FramedEvent, ReadBatch, ToolUse
from kiro_learn.learning.extraction.framing import Sources
from kiro_learn.learning.extraction.user_answers import has_failed
from kiro_learn.model.record import KnowledgeType, Origin

RTK = ("rtk bun run test 2>&1 | tail -20", "error: unrecognized subcommand 'bun'\n\nUsage: rtk [OPTIONS] <COMMAND>")


def a_use(number: int, name: str, command: str, output: str) -> ToolUse:
    given, failed = json.dumps({"command": command}), has_failed(name, output, output)
    return ToolUse(number, name, given, output, has_failed=failed)


def learned(*calls: tuple[str, str], sessions: str = "", name: str = "Bash") -> list[Extract]:
    """The traps learned from these commands and outputs; ``sessions`` has one letter, a session, for each call."""
    letters = sessions or "s" * len(calls)
    events = tuple(
        FramedEvent(letter, tool=a_use(number, name, command, output))
        for number, (letter, (command, output)) in enumerate(zip(letters, calls, strict=True), start=1)
    )
    return traps_of(ReadBatch("/home/dev/shop", events, Sources(())))


def test_what_fails_here_is_learned_with_what_worked() -> None:
    (trap,) = learned(RTK, ("bun run test 2>&1 | tail -20", "1274 pass\n 0 fail"))
    assert trap.title == "`rtk bun run test` fails here (unrecognized subcommand 'bun'): run `bun run test`"
    assert (trap.knowledge_type, trap.origin, trap.events) == (KnowledgeType.HEURISTIC, Origin.TOOL, (1, 2))


@pytest.mark.parametrize(
    ("failed", "output", "worked"),
    [
        ("tsx src/server.ts", "(eval):1: command not found: tsx", "npx tsx src/server.ts"),
        ("cd /home/dev/shop && supabase db push", "zsh: command not found: supabase", "npx supabase db push"),
        ("npm run test:e2e -- --dry-run", "error: unknown option '--dry-run'", "npm run test:e2e -- --list"),
        ("npm run test:unit -- --ci", 'npm ERR! Missing script: "test:unit"', "npm run test -- --ci"),
        ("git -C /home/dev/shop status", "error: unexpected argument '-C' found", "git status"),
    ],
)
def test_forms_of_wrong_calls(failed: str, output: str, worked: str) -> None:
    (trap,) = learned((failed, output), (worked, "fine"))
    assert f"`{worked}`" in trap.title


def test_a_cure_that_is_too_long_to_be_shown_whole_is_not_learned() -> None:
    path = "/".join(["src", *["components"] * 8, "Button.tsx"])
    failed, worked = (f"cat {option} {path}" for option in ("-A", "-v"))
    assert learned((failed, "cat: illegal option -- A"), (worked, "fine")) == []


def test_a_call_that_only_leaves_out_what_was_not_found_is_no_cure() -> None:
    assert (
        learned(("npm run test:unit", 'npm ERR! Missing script: "test:unit"'), ("npm run", "Scripts: test:e2e")) == []
    )


def test_what_is_announced_before_a_call_is_no_part_of_it() -> None:
    said, again = ('echo "Unit tests" && npm run test:unit -- --ci', 'echo "All of them"; npm run test -- --ci')
    (trap,) = learned((said, 'npm ERR! Missing script: "test:unit"'), (again, "ok"))
    assert trap.title.startswith("`npm run test:unit -- --ci` fails here")
    assert trap.title.endswith(": run `npm run test -- --ci`")


def test_the_same_trap_has_the_same_words_wherever_its_output_went() -> None:
    """So the traps of several sessions become one memory."""
    one = learned(RTK, ("bun run test", "ok"))
    other = learned(("rtk bun run test > out.txt || true", RTK[1]), ("bun run test 2>&1", "ok"))
    assert [each.title for each in one] == [each.title for each in other]


def test_the_label_of_an_output_is_no_part_of_the_error() -> None:
    labelled = learned((RTK[0], f"result: {RTK[1]}"), ("bun run test", "ok"))
    assert [each.title for each in labelled] == [each.title for each in learned(RTK, ("bun run test", "ok"))]


def test_what_was_to_be_done_is_done_by_the_call_that_worked() -> None:
    """Another step of the same work is no fix, even with as many words in common."""
    (trap,) = learned(RTK, ("rtk lint bun run lint", "ok"), ("bun run test", "ok"))
    assert trap.title.endswith("run `bun run test`")


@pytest.mark.parametrize(
    "calls",
    [
        [("bun run test", "1 fail\nerror: expected 3"), ("bun run test", "ok")],
        [RTK, ("bun run lint", "ok")],
        [RTK, ("rtk lint bun run lint", "ok")],
        [RTK],
        [RTK, ("bun run test", "error: 3 failed")],
        [("npm run build", "zsh:1: command not found: dump_state\nbuilt"), ("npm run build --watch", "built")],
        [("make test", "ran 3 tests\nthe docs of git say: unknown option --foo"), ("make test -j2", "ok")],
        [(RTK[0], RTK[1]), ("rtk bun run test", "ok after an upgrade"), ("bun run test", "ok")],
    ],
)
def test_nothing_is_learned_of_other_failures(calls: list[tuple[str, str]]) -> None:
    assert learned(*calls) == []


def test_a_call_of_another_session_mends_nothing() -> None:
    assert learned(RTK, ("bun run test", "ok"), sessions="st") == []


def test_a_tool_that_runs_no_command_is_not_looked_at() -> None:
    assert learned(RTK, ("bun run test", "ok"), name="Edit") == []


def test_a_batch_has_only_so_many() -> None:
    calls = [
        call
        for number in range(20)
        for call in (
            (f"tool{number} go --now", f"zsh: command not found: tool{number}"),
            (f"npx tool{number} go --now", "ok"),
        )
    ]
    assert len(learned(*calls)) == MOST_TRAPS
