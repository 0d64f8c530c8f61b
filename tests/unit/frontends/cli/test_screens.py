"""Every screen at 80 columns, plain and in colours; the two differ only in the colours."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from kiro_learn.frontends.cli import demo, front_page, memory_screen, replacement_screen, search, status_screen
from kiro_learn.frontends.cli.demo import Limits, Reason, Told
from kiro_learn.frontends.cli.memory_screen import Changed
from kiro_learn.frontends.cli.replacement_screen import Undo
from kiro_learn.frontends.cli.status_screen import HomeFacts
from kiro_learn.frontends.cli.terminal import Terminal
from tests.unit.frontends.cli.activity_screens import ACTIVITY_SCREENS
from tests.unit.frontends.cli.graph_screens import GRAPH_SCREENS
from tests.unit.frontends.cli.pin_screens import PIN_SCREENS
from tests.unit.frontends.cli.relearning_screens import RELEARNING_SCREENS
from tests.unit.frontends.cli.retention_screens import RETENTION_SCREENS
from tests.unit.frontends.cli.samples import (
    ASCII,
    COLOURED,
    NOW,
    PLAIN,
    history_of,
    record,
    replacement,
    status,
    without_escapes,
)

Screen = Callable[[Terminal], list[str]]

HOME = HomeFacts("~/.kiro-learn", 38_400_000)
OTHER = record(
    record_id="mr_01JD3V8M2N5R7T9WXYZ0R5T8WN",
    title="Keep credentials out of localStorage, whatever a library says about how convenient it is",
    summary="Chosen after the XSS review.\n\nAsked by Ana.",
    knowledge_type="constraint",
    files_touched=[],
)
LONG = record(
    facts=["A fact " * 20], concepts=[f"concept-{n}" for n in range(20)], stale_at="2026-11-18T08:00:00.000000Z"
)
CONTEXT = "## Prior observations from kiro-learn\n\n### Tokens\n\nBecause of XSS.\n\n- a fact\n"
TOLD = Told(
    "Where is the token?",
    {"context": CONTEXT, "records": ["x"], "latency_ms": 23.2},
    (Reason("Tokens stay in httpOnly cookies", ("token", "where"), 1), Reason("No words here", (), None)),
    ("Use pnpm, never npm",),
)
SILENT = Told("What should I cook?", {"context": "", "records": [], "latency_ms": 9.0}, (), ("Use pnpm, never npm",))
LIMITS = Limits(8000, 500)
EARLIER = replacement(
    reason="relearned",
    replaced_at="2026-11-04T16:44:00.000000Z",
    replacing=["mr_01JD3V8M2N5R7T9WXYZ0ANYONE", "mr_01JD3V8M2N5R7T9WXYZ00QX2RB"],
    replaced=[record(record_id="mr_01JD3V8M2N5R7T9WXYZ0ZZZZZZ", created_at="2026-11-04T10:00:00.000000Z")],
)


def found(*hits: dict[str, Any], ms: float = 9, elsewhere: int = 0, of: int = 0, project: str = "") -> dict[str, Any]:
    """The answer to a search, in all projects unless one is named."""
    place = {"display_name": project} if project else None
    counts = {"latency_ms": ms, "elsewhere_count": elsewhere, "memory_count": of}
    return {"project": place, "hits": list(hits), "degraded": [], **counts}


def hit(memory: dict[str, Any], rank: int, found_by: list[str], parts: dict[str, float]) -> dict[str, Any]:
    how = {"rank": rank, "score": sum(parts.values()), "found_by": found_by, "parts": parts}
    return {"memory": memory, "project": "/home/ana/web-shop", **how}


HITS = (
    hit(record(), 1, ["words", "meaning"], {"meaning": 0.9, "words": 1.0, "session": 0.5137}),
    hit(OTHER, 2, ["meaning"], {"meaning": 0.9, "words": 0.0}),
    hit({**OTHER, "stale_at": OTHER["created_at"]}, 3, [], {"meaning": 0.0000017, "words": 0.0}),
)
FOUND = found(*HITS, ms=12.2, elsewhere=3, project="/home/ana/web-shop")

SCREENS: dict[str, tuple[Screen, str]] = {
    "front page": (
        lambda terminal: front_page.page(front_page.running(status()), terminal),
        """\
Memory for coding agents, on this machine. Nothing leaves it, unless memories
are written by a model that runs elsewhere, such as that of Kiro CLI.
  Running · 1,204 memories in 9 projects · 42 retrievals since its start  v0.1.0

Start       demo        see what it does, in a temporary folder
            init        connect your agents
Look        search      find memories
            memories    list, show, undo, forget
            context     what a session is told at its start
            ui          open the viewer
Care        status      the state of the daemon
            doctor      what is wrong, and how to mend it
            flush       learn now from waiting events
More        kiro-learn help --all · kiro-learn <command> --help""",
    ),
    "status": (
        lambda terminal: status_screen.running(status(), "127.0.0.1:21100", HOME, NOW, terminal),
        """\
✓ Running     3 d 4 h · 127.0.0.1:21100 · 148 MB · v0.1.0
✓ Memory      1,204 memories · 86,000 events · 9 projects
✓ Learning    without a model · 0 waiting · last 2 min ago: 3 memories
✓ Retrieval   42 since its start: 31 told something, 11 silent · p95 31 ms
  Model       0 of 500 calls today · nothing left this machine
  Home        ~/.kiro-learn · 38 MB""",
    ),
    "stopped": (
        lambda terminal: status_screen.stopped(NOW - timedelta(minutes=3), 3, NOW, terminal),
        "✗ Not running · last seen Fri 14:02 · 3 events kept for later",
    ),
    "search": (
        lambda terminal: search.hits(FOUND, NOW, terminal) + search.summary("auth", FOUND, terminal),
        """\
1  Refresh tokens before the expiry check                   decision · Mon 10:09
   Login dropped after 15 minutes because the expiry check ran first.
   src/auth/session.ts · words + meaning · score 2.41                    …K7Q4M2
2  Keep credentials out of localStorage, whatever a lib…  constraint · Mon 10:09
   Chosen after the XSS review. Asked by Ana.
   meaning only · score 0.90                                             …R5T8WN
3  Keep credentials out of localStorage, whatever a lib…  constraint · Mon 10:09
   Chosen after the XSS review. Asked by Ana.
   score 1.7e-06 · files changed since                                   …R5T8WN
3 memories in web-shop · 12 ms · 3 more in other projects: --everywhere""",
    ),
    "search everywhere": (
        lambda terminal: search.hits(found(HITS[1]), NOW, terminal) + search.summary("a", found(HITS[1]), terminal),
        """\
2  Keep credentials out of localStorage, whatever a lib…  constraint · Mon 10:09
   Chosen after the XSS review. Asked by Ana.
   web-shop · meaning only · score 0.90                                  …R5T8WN
1 memory in all projects · 9 ms""",
    ),
    "search, explained": (
        lambda terminal: search.explained(FOUND, NOW, terminal),
        """\
       score  meaning    words  session
1  Refresh tokens before the expiry check                   decision · Mon 10:09
        2.41     0.90     1.00     0.51                                  …K7Q4M2
2  Keep credentials out of localStorage, whatever a lib…  constraint · Mon 10:09
        0.90     0.90     0.00        -                                  …R5T8WN
3  Keep credentials out of localStorage, whatever a lib…  constraint · Mon 10:09
     1.7e-06  1.7e-06     0.00        -                                  …R5T8WN
Score: the sum of the columns; comparable within one search of one project only.""",
    ),
    "search, explained, without hits": (
        lambda terminal: (
            search.explained(found(), NOW, terminal)
            + search.summary("zebra", found(of=1, project="/x/web-shop"), terminal)
        ),
        'No memory in web-shop matches "zebra" (1 looked at, 9 ms).',
    ),
    "what a search warns of": (
        lambda terminal: search.warnings({**FOUND, "nothing_near": True, "degraded": ["vectors: late"]}, terminal),
        """\
! Nothing is close: these results have little to do with the query.
! partial answer: vectors: late""",
    ),
    "search without hits": (
        lambda terminal: search.summary("auth tokens", found(elsewhere=2, of=1204, project="/x/web-shop"), terminal),
        """\
No memory in web-shop matches "auth tokens" (1,204 looked at, 9 ms).
2 more in other projects: --everywhere""",
    ),
    "memories list": (
        lambda terminal: (
            memory_screen.rows([record(), OTHER], NOW, terminal) + memory_screen.listed(2, 1204, "web-shop", terminal)
        ),
        """\
…K7Q4M2  decision        Refresh tokens before the expiry check        Mon 10:09
…R5T8WN  constraint      Keep credentials out of localStorage, whate…  Mon 10:09
2 of 1,204 memories in web-shop · --all""",
    ),
    "memories list of nothing": (
        lambda terminal: memory_screen.listed(0, 0, "web-shop", terminal),
        "No memory in web-shop yet.",
    ),
    "memories show": (
        lambda terminal: memory_screen.memory(record(), "web-shop", NOW, terminal),
        """\
Refresh tokens before the expiry check                       decision · web-shop
  Login dropped after 15 minutes because the expiry check ran first.
  - Swapped the two calls in refreshSession(); 42 tests pass
  Files    src/auth/session.ts
  Concepts auth, token
  Learned  Mon 10:09 without a model, from 2 events
  Id       mr_01JD3V8M2N5R7T9WXYZ0K7Q4M2""",
    ),
    "memories show of a merged one": (
        lambda terminal: memory_screen.memory(
            record(facts=[], concepts=[], files_touched=[], summary="Why."),
            "web-shop",
            NOW,
            terminal,
            changed=Changed("merged from 2 memories", "kiro-learn memories history K7Q4M2"),
        ),
        """\
Refresh tokens before the expiry check                       decision · web-shop
  Why.
  Learned  Mon 10:09 without a model, from 2 events
  Changed  merged from 2 memories · kiro-learn memories history K7Q4M2
  Id       mr_01JD3V8M2N5R7T9WXYZ0K7Q4M2""",
    ),
    "memories show of a merged one in another project": (
        lambda terminal: memory_screen.memory(
            record(facts=[], concepts=[], files_touched=[], summary="Why."),
            "web-shop",
            NOW,
            terminal,
            changed=Changed("merged from 2 memories", "kiro-learn memories history mr_01JD3V8M2N5R7T9WXYZ0K7Q4M2"),
        )[-3:],
        """\
  Changed  merged from 2 memories
           kiro-learn memories history mr_01JD3V8M2N5R7T9WXYZ0K7Q4M2
  Id       mr_01JD3V8M2N5R7T9WXYZ0K7Q4M2""",
    ),
    "memories history": (
        lambda terminal: replacement_screen.history(
            record(), history_of(replacement()), "kiro-learn memories undo K7Q4M2", NOW, terminal
        ),
        """\
● now      Tue 16:50    merged from 2 memories
├ …A81KFE  Mon 10:09    Refresh tokens before the expiry check           learned
└ …0QX2RB  4 Nov 16:44  Expiry check must follow the refresh, or the f…  learned
Undo the merge: kiro-learn memories undo K7Q4M2""",
    ),
    "memories history of several replacements": (
        lambda terminal: replacement_screen.history(
            record(strategy="llm-reconciled"),
            history_of(replacement(), EARLIER),
            "kiro-learn memories undo K7Q4M2",
            NOW,
            terminal,
        ),
        """\
● now      Tue 16:50    merged from 2 memories                        by a model
├ …A81KFE  Mon 10:09    Refresh tokens before the expiry check           learned
└ …0QX2RB  4 Nov 16:44  Expiry check must follow the refresh, or…  learned again
● …0QX2RB  4 Nov 16:44  learned again from 1 memory · 1 more came with it
└ …ZZZZZZ  4 Nov 10:00  Refresh tokens before the expiry check           learned
Undo the merge: kiro-learn memories undo K7Q4M2""",
    ),
    "memories history of one that replaced nothing": (
        lambda terminal: replacement_screen.history(
            record(), history_of(), "kiro-learn memories undo K7Q4M2", NOW, terminal
        ),
        """\
● now      Mon 10:09  Refresh tokens before the expiry check             learned
It replaced no other memory.""",
    ),
    "memories undo": (
        lambda terminal: (
            replacement_screen.to_undo(Undo(replacement(), [record()], "web-shop"), NOW, terminal)
            + replacement_screen.undone({"undone": "x", "restored": ["a", "b"]}, terminal)
        ),
        """\
Undo: merge of Tue 16:50 in web-shop
  back    …A81KFE  Refresh tokens before the expiry check
  back    …0QX2RB  Expiry check must follow the refresh, or the first request a…
  goes    …K7Q4M2  Refresh tokens before the expiry check
✓ 2 memories back, searchable again""",
    ),
    "memories undo of what knew more": (
        lambda terminal: replacement_screen.to_undo(
            Undo(EARLIER, [record(source_event_ids=["01JD3V8M2N5R7T9WXYZ0K7Q4M1", "new"]), OTHER], "web-shop"),
            NOW,
            terminal,
        ),
        """\
Undo: relearning of 4 Nov 16:44 in web-shop
  back    …ZZZZZZ  Refresh tokens before the expiry check
  goes    …K7Q4M2  Refresh tokens before the expiry check
  goes    …R5T8WN  Keep credentials out of localStorage, whatever a library say…
          and what was learned from 1 event more""",
    ),
    **GRAPH_SCREENS,
    **RELEARNING_SCREENS,
    **RETENTION_SCREENS,
    **ACTIVITY_SCREENS,
    **PIN_SCREENS,
    "memories forget": (
        lambda terminal: memory_screen.to_forget([record(), OTHER], {record()["record_id"]: 2}, (), terminal),
        """\
Forget 2 memories
  goes   …K7Q4M2  Refresh tokens before the expiry check
         and 2 memories that it replaced
  goes   …R5T8WN  Keep credentials out of localStorage, whatever a library sa…
  stays  the events they were learned from""",
    ),
    "memories forget, with others that hold the same words": (
        lambda terminal: [
            *memory_screen.to_forget([record()], {}, [OTHER, *[record()] * 6], terminal),
            *memory_screen.forgotten(1, [OTHER["record_id"]], terminal),
            *memory_screen.forgotten(2, (), terminal),
        ],
        """\
Forget 1 memory
  goes   …K7Q4M2  Refresh tokens before the expiry check
  stays  …R5T8WN  Keep credentials out of localStorage, whatever a library sa…
  stays  …K7Q4M2  Refresh tokens before the expiry check
  stays  …K7Q4M2  Refresh tokens before the expiry check
  stays  …K7Q4M2  Refresh tokens before the expiry check
  stays  …K7Q4M2  Refresh tokens before the expiry check
         7 more hold the same words: --same-words forgets them too
  stays  the events they were learned from
✓ 1 memory forgotten
! 1 more holds the same words: …R5T8WN
✓ 2 memories forgotten""",
    ),
    "demo told": (
        lambda terminal: list(demo.told(TOLD, LIMITS, terminal, raw=False)),
        """\
  you ask   "Where is the token?"
  told      │ ## Prior observations from kiro-learn
            │ ### Tokens
            │ Because of XSS.
            │ - a fact
  why       Tokens stay in httpOnly…  words: token, where · by meaning 1 of 3
            No words here
  left out  Use pnpm, never npm                 not close enough
            77 of 8,000 bytes · 23 of 500 ms""",
    ),
    "demo silent": (
        lambda terminal: list(demo.told(SILENT, LIMITS, terminal, raw=False)),
        """\
  you ask   "What should I cook?"
  told      nothing. No memory is close enough, so the agent is left alone.""",
    ),
    "demo learned": (
        lambda terminal: list(
            demo.learned([record()], dict.fromkeys(record()["source_event_ids"], NOW), 0.61, terminal)
        ),
        """\
2 WHAT WAS LEARNED    1 memory in 0.6 s, from 2 of 2 events
  decision    Refresh tokens before the expiry check              from Fri 14:05""",
    ),
    "demo end": (
        lambda terminal: list(demo.end(None, terminal)),
        """\
4 WHAT IS LEFT    nothing: daemon stopped, folder removed
  Connect your own agents:           kiro-learn init
  Look around in a demo that stays:  kiro-learn demo --keep --ui""",
    ),
}


@pytest.mark.parametrize("name", SCREENS)
def test_screens_look_as_they_should(name: str) -> None:
    screen, expected = SCREENS[name]
    assert screen(PLAIN) == expected.split("\n")


@pytest.mark.parametrize("name", SCREENS)
def test_colours_add_nothing_but_colours(name: str) -> None:
    screen, _ = SCREENS[name]
    assert without_escapes(screen(COLOURED)) == screen(PLAIN)


@pytest.mark.parametrize("name", SCREENS)
def test_no_line_is_wider_than_the_terminal(name: str) -> None:
    screen, _ = SCREENS[name]
    assert [line for line in screen(PLAIN) if len(line) > PLAIN.width] == []


@pytest.mark.parametrize("name", SCREENS)
def test_ascii_terminals_get_ascii(name: str) -> None:
    screen, _ = SCREENS[name]
    assert all(ASCII.shown(line).isascii() for line in screen(ASCII))


def test_a_long_memory_stays_within_the_terminal() -> None:
    lines = memory_screen.memory(LONG, "web-shop", NOW, PLAIN)
    assert max(map(len, lines)) <= PLAIN.width
    assert any("since Wed 08:00" in line for line in lines)


@pytest.mark.parametrize("name", ["title", "summary", "facts", "concepts", "files_read", "capture_type"])
def test_stored_text_brings_no_colours_of_its_own(name: str) -> None:
    painted = "red \x1b[31mtext\x1b[0m \x1b]0;title\x07"
    hostile = record(**{name: painted if name in {"title", "summary", "capture_type"} else [painted]})
    clean = record(**{name: "red text" if name in {"title", "summary", "capture_type"} else ["red text"]})
    shown, expected = ("".join(map(COLOURED.shown, _everywhere(each))) for each in (hostile, clean))
    assert shown.count("\x1b") == expected.count("\x1b")


def _everywhere(shown: dict[str, Any]) -> list[str]:
    """One memory on every screen that has memories."""
    return [
        *memory_screen.memory(shown, "web-shop", NOW, COLOURED),
        *memory_screen.rows([shown], NOW, COLOURED),
        *search.hits(found(hit(shown, 1, [], {"words": 1.0}), project="/x/shop"), NOW, COLOURED),
    ]


def test_what_was_handed_in_is_not_said_to_be_learned() -> None:
    handed_in = record(strategy="direct", files_touched=[], files_read=["a.py"], files_modified=["b.py", "a.py"])
    lines = memory_screen.memory(handed_in, "web-shop", NOW, PLAIN)
    assert "  Kept     Mon 10:09 as it was handed in" in lines
    assert "  Files    a.py, b.py" in lines


def test_the_raw_block_is_shown_as_it_is() -> None:
    lines = list(demo.told(TOLD, LIMITS, PLAIN, raw=True))
    assert "\n".join(lines).count(CONTEXT.rstrip("\n")) == 1


def test_a_long_block_is_cut_for_the_screen() -> None:
    context = "\n".join(f"- fact {number}" for number in range(40))
    lines = list(demo.told(TOLD._replace(retrieval={**TOLD.retrieval, "context": context}), LIMITS, PLAIN, raw=False))
    assert "            │ … 28 lines more (--raw)" in lines


def test_what_is_kept_is_named_with_the_way_to_end_it() -> None:
    lines = list(demo.end(("/demo", "/demo/home"), PLAIN))
    assert lines[-1].endswith("KIRO_LEARN_HOME=/demo/home kiro-learn stop && rm -r /demo")


@pytest.mark.parametrize(
    ("strategy", "how"),
    [
        ("extractive", "without a model"),
        ("extractive-reconciled", "without a model"),
        ("llm-summary", "by a model"),
        ("llm-reconciled", "by a model"),
        ("mcp_observation", "by mcp_observation"),
    ],
)
def test_people_read_of_a_model_or_none(strategy: str, how: str) -> None:
    lines = memory_screen.memory(record(strategy=strategy), "web-shop", NOW, PLAIN)
    assert f"  Learned  Mon 10:09 {how}, from 2 events" in lines


def test_a_rule_is_named_where_it_merged() -> None:
    lines = replacement_screen.history(
        record(strategy="extractive-reconciled"), history_of(replacement()), "", NOW, PLAIN
    )
    assert lines[0].endswith("merged from 2 memories                         by a rule")
