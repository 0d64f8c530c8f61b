"""The screens of a relearning, at 80 columns."""

from __future__ import annotations

from collections.abc import Callable

from kiro_learn.frontends.cli import learn
from kiro_learn.frontends.cli.learn import Took
from kiro_learn.frontends.cli.terminal import Terminal

PREVIEW = {
    "records": 41, "events": 312, "calls": 7, "calls_left": 488, "model": "kiro-cli", "stays_here": False,
    "memories": [],
}  # fmt: skip
WEAK = [
    {"record_id": "mr_01JD3V8M2N5R7T9WXYZ0R5T8WN", "title": "Always use pnpm here, never npm", "is_protected": True},
    {"record_id": "mr_01JD3V8M2N5R7T9WXYZ0ANYONE", "title": "The build was slow " * 9, "is_protected": False},
]
LAZY = {"going": [f"Memory {number}" for number in range(12)], "coming": ["Work was done"]}
TOOK = Took("kiro-cli", 190, "kiro-learn relearn --project web-shop")
RELEARNED = {
    "events": 312, "records": 38, "replaced": 41, "protected": 0, "batches": 7, "left": 0, "stopped_because": None,
    "too_little": None,
}  # fmt: skip

RELEARNING_SCREENS: dict[str, tuple[Callable[[Terminal], list[str]], str]] = {
    "relearn asks": (
        lambda terminal: learn.to_do(PREVIEW, "web-shop", terminal),
        """\
Learn 41 memories of web-shop again, by a model
  asks      kiro-cli, about 7 calls of 488 left today
  shows it  312 events, which may leave this machine
  keeps     what is replaced; it can be seen and put back""",
    ),
    "relearn asks for more than there is": (
        lambda terminal: learn.to_do({**PREVIEW, "calls": 700, "stays_here": True}, "web-shop", terminal),
        """\
Learn 41 memories of web-shop again, by a model
  asks      kiro-cli, about 700 calls; 488 are left today, and it stops there
  shows it  312 events, on this machine
  keeps     what is replaced; it can be seen and put back""",
    ),
    "relearn asks without a limit": (
        lambda terminal: learn.to_do({**PREVIEW, "calls": 1, "calls_left": None}, "shop", terminal)[1:2],
        "  asks      kiro-cli, about 1 call",
    ),
    "relearn asks about what binds": (
        lambda terminal: learn.to_do({**PREVIEW, "memories": [WEAK[0]] * 3}, "shop", terminal)[3:4],
        "  may go    3 memories only for a new one that holds what they say",
    ),
    "relearn dry run": (
        lambda terminal: learn.would_go({**PREVIEW, "memories": WEAK}, terminal),
        """\
    Always use pnpm here, never npm · your words, a rule or a decision
    The build was slow The build was slow The build was slow The build was slow…""",
    ),
    "relearn keeps what binds": (
        lambda terminal: learn.done({**RELEARNED, "protected": 2, "left": 2}, TOOK, terminal)[1:3],
        """\
  2 memories with your words, rules or decisions stay: no new one holds them
  2 memories learned without a model stay""",
    ),
    "relearn would keep far less": (
        lambda terminal: learn.too_little({**RELEARNED, "too_little": LAZY}, "kiro-cli", terminal),
        """\
! kiro-cli tells 12 memories in 1
  goes
    Memory 0
    Memory 1
    Memory 2
    Memory 3
    Memory 4
    Memory 5
    Memory 6
    Memory 7
    Memory 8
    Memory 9
    and 2 memories more
  comes
    Work was done""",
    ),
    "relearn stopped before far less": (
        lambda terminal: learn.done(
            {
                **RELEARNED,
                "replaced": 0,
                "left": 12,
                "too_little": LAZY,
                "stopped_because": "12 memories would be replaced by 1",
            },
            TOOK,
            terminal,
        ),
        """\
! No memory was replaced by one of kiro-cli · 3 min
  Stopped before this: 12 memories would be replaced by 1
  12 memories learned without a model stay
  Do it all the same: kiro-learn relearn --project web-shop --yes""",
    ),
    "relearn done": (
        lambda terminal: learn.done(RELEARNED, TOOK, terminal),
        """\
✓ 41 memories replaced by 38 learned by kiro-cli · 3 min
  Undo one: kiro-learn memories undo MEMORY""",
    ),
    "relearn ended early": (
        lambda terminal: learn.done(
            {**RELEARNED, "replaced": 12, "left": 29, "stopped_because": "the learner took too long"},
            TOOK,
            terminal,
        ),
        """\
! 12 memories replaced by 38 learned by kiro-cli · 3 min
  Ended early: the learner took too long
  29 memories learned without a model stay
  Go on: kiro-learn relearn --project web-shop
  Undo one: kiro-learn memories undo MEMORY""",
    ),
    "relearn could not begin": (
        lambda terminal: learn.done(
            {**RELEARNED, "records": 0, "replaced": 0, "left": 29, "stopped_because": "127.0.0.1 refused it"},
            TOOK._replace(seconds=0.1),
            terminal,
        ),
        """\
! No memory was replaced · 0.1 s
  Ended early: 127.0.0.1 refused it
  29 memories learned without a model stay
  Go on: kiro-learn relearn --project web-shop""",
    ),
    "relearn found nothing": (
        lambda terminal: learn.done(
            {**RELEARNED, "records": 0, "replaced": 0, "left": 1}, TOOK._replace(seconds=9), terminal
        ),
        """\
✓ No memory was replaced: kiro-cli found nothing better · 9.0 s
  1 memory learned without a model stays""",
    ),
}
