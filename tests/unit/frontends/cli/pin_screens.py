"""Screens of what is pinned, as people see them."""

from __future__ import annotations

from collections.abc import Callable

from kiro_learn.frontends.cli import memory_screen, replacement_screen
from kiro_learn.frontends.cli.terminal import Terminal
from tests.unit.frontends.cli.samples import NOW, history_of, record, replacement

PINNED_AT = "2026-11-18T08:00:00.000000Z"
PINNED = record(pinned_at=PINNED_AT, concepts=[], files_touched=[], facts=[])
UNDO = "kiro-learn memories undo K7Q4M2"

PIN_SCREENS: dict[str, tuple[Callable[[Terminal], list[str]], str]] = {
    "memories list of what is pinned": (
        lambda terminal: (
            memory_screen.rows([PINNED], NOW, terminal)
            + memory_screen.listed_some(1, "web-shop", terminal, is_more=True)
            + memory_screen.listed_some(2, "web-shop", terminal, is_more=False)
            + memory_screen.listed_some(0, "web-shop", terminal, is_more=False)
        ),
        """\
…K7Q4M2  decision        Refresh tokens before the expiry ch…  pinned  Mon 10:09
1 memory of web-shop shown · --all
2 memories of web-shop shown
No memory in web-shop fits.""",
    ),
    "memories show of what is pinned": (
        lambda terminal: memory_screen.memory(PINNED, "web-shop", NOW, terminal)[-3:],
        """\
  Learned  Mon 10:09 without a model, from 2 events
  Pinned   since Wed 08:00, told at the start of every session
  Id       mr_01JD3V8M2N5R7T9WXYZ0K7Q4M2""",
    ),
    "memories history of what was pinned last": (
        lambda terminal: replacement_screen.history(
            record(), history_of(replacement(), pinned_at=PINNED_AT), UNDO, NOW, terminal
        ),
        """\
● now      Wed 08:00    pinned
● now      Tue 16:50    merged from 2 memories
├ …A81KFE  Mon 10:09    Refresh tokens before the expiry check           learned
└ …0QX2RB  4 Nov 16:44  Expiry check must follow the refresh, or the f…  learned
Undo the pin: kiro-learn memories undo K7Q4M2""",
    ),
    "memories history of what came pinned": (
        lambda terminal: replacement_screen.history(
            record(), history_of(replacement(), pinned_at="2026-11-05T08:00:00.000000Z"), UNDO, NOW, terminal
        )[-1:],
        "Undo the merge: kiro-learn memories undo K7Q4M2",
    ),
    "memories history of what was pinned and replaced nothing": (
        lambda terminal: replacement_screen.history(record(), history_of(pinned_at=PINNED_AT), UNDO, NOW, terminal),
        """\
● now      Wed 08:00  pinned
● now      Mon 10:09  Refresh tokens before the expiry check             learned
Undo the pin: kiro-learn memories undo K7Q4M2""",
    ),
    "memories undo of a pin": (
        lambda terminal: (
            replacement_screen.pin_to_undo(history_of(pinned_at=PINNED_AT), "web-shop", NOW, terminal)
            + replacement_screen.undone({"undone": "pin", "removed": [], "restored": []}, terminal)
        ),
        """\
Undo: pin of Wed 08:00 in web-shop
✓ No longer pinned""",
    ),
}
