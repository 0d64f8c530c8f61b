"""Searches by modes, what went on, and what is handed in, at 80 columns."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from kiro_learn.client.results import (
    EmbeddingStats,
    Repeat,
    SearchResult,
    SearchResults,
    Session,
    SessionContext,
    Signals,
    TimelineEntry,
)
from kiro_learn.frontends.cli import activity_screen, embeddings, observe, scored_screen
from kiro_learn.frontends.cli.terminal import Terminal
from tests.unit.frontends.cli.samples import NOW

FIRST, SECOND = "mr_01JD3V8M2N5R7T9WXYZ0K7Q4M2", "mr_01JD3V8M2N5R7T9WXYZ0R5T8WN"
LEARNED = datetime(2026, 11, 16, 10, 9, tzinfo=UTC)
FOUND = SearchResults(
    [
        SearchResult(
            FIRST,
            "Refresh tokens before the expiry check",
            "Login dropped after 15 minutes because the expiry check ran first.",
            "decision",
            "web-shop",
            2.2837,
            "hybrid",
            Signals(0.4694, 1.0, 0.75, 1.0),
            None,
        ),
        SearchResult(
            SECOND,
            "Keep credentials out of localStorage, whatever a library says about how convenient it is",
            "Chosen\nafter the XSS review.",
            "file-write",
            "api",
            0.0000017,
            "keyword",
            Signals(0.0, 0.05, 0.5, 0.5),
            NOW,
        ),
    ],
    degraded=("vectors late",),
    problem="at character 9: expected a word, found the end",
)
ENTRIES = (
    TimelineEntry(FIRST, FOUND[0].title, "", "decision", LEARNED),
    TimelineEntry(SECOND, FOUND[1].title, "", "a-type-of-one-s-own", LEARNED + timedelta(days=1)),
)
SESSIONS = (
    Session("0c7c9a52-77aa-4bb0-9d3c-1f2e3d4c5b6a", LEARNED, LEARNED + timedelta(hours=3, minutes=12), 1204, 31),
    Session("s-2", LEARNED, LEARNED, 1, 0),
)
STATS = EmbeddingStats(342, 298, 87.1, "all-MiniLM-L6-v2", 384, available=True)

ACTIVITY_SCREENS: dict[str, tuple[Callable[[Terminal], list[str]], str]] = {
    "scored results": (
        lambda terminal: [
            *scored_screen.warnings(FOUND, terminal),
            *scored_screen.results(FOUND, terminal, is_named=True),
            *scored_screen.summary(2, "auth AND", "web-shop", terminal),
        ],
        """\
! Looked up as plain words: no syntax at character 9: expected a word, found the
  end
! partial answer: vectors late
1  Refresh tokens before the expiry check                               decision
   Login dropped after 15 minutes because the expiry check ran first.
   web-shop · words + meaning · score 2.28                               …K7Q4M2
2  Keep credentials out of localStorage, whatever a library says ab…  file-write
   Chosen after the XSS review.
   api · words only · score 1.7e-06 · files changed since                …R5T8WN
2 memories in web-shop""",
    ),
    "explained results": (
        lambda terminal: scored_screen.explained(FOUND, "hybrid", terminal, is_named=True),
        """\
        score  meaning  words  recency  project
1  Refresh tokens before the expiry check                    decision · web-shop
         2.28     0.47   1.00     0.75     1.00                          …K7Q4M2
2  Keep credentials out of localStorage…  file-write · api · files changed since
      1.7e-06     0.00   0.05     0.50     0.50                          …R5T8WN
Score: the four by their weights; what holds from now on counts more.""",
    ),
    "nothing scored": (
        lambda terminal: [
            *scored_screen.explained(SearchResults([]), "hybrid", terminal, is_named=False),
            *scored_screen.summary(0, "zebra", "web-shop", terminal),
        ],
        'No memory in web-shop matches "zebra".',
    ),
    "told at the start": (
        lambda terminal: activity_screen.told(
            SessionContext("web-shop", "text", (FIRST,), 204), "web-shop", 2000, terminal
        ),
        "1 memory of web-shop, 204 of 2,000 tokens",
    ),
    "timeline": (
        lambda terminal: [
            *activity_screen.timeline(ENTRIES, SECOND, NOW, terminal),
            *activity_screen.around(ENTRIES, SECOND, "web-shop", terminal),
        ],
        """\
  …K7Q4M2  decision        Refresh tokens before the expiry check      Mon 10:09
● …R5T8WN  a-type-of-one…  Keep credentials out of localStorage, wha…  Tue 10:09
2 memories around …R5T8WN in web-shop""",
    ),
    "sessions": (
        lambda terminal: [
            *activity_screen.sessions(SESSIONS, NOW, terminal),
            *activity_screen.sessions_listed(2, "web-shop", terminal, is_full=True),
        ],
        """\
Last event      Lasted  Events  Prompts  Session
Mon 13:21   3 h 12 min   1,204       31  0c7c9a52-77aa-4bb0-9d3c-1f2e3d4c5b6a
Mon 10:09        0.0 s       1        0  s-2
2 sessions in web-shop · more: --limit""",
    ),
    "no sessions": (
        lambda terminal: [
            *activity_screen.sessions((), NOW, terminal),
            *activity_screen.sessions_listed(0, "web-shop", terminal, is_full=False),
        ],
        "No session in web-shop yet.",
    ),
    "kept": (
        lambda terminal: [
            *observe.kept(FIRST, terminal),
            *observe.kept(Repeat(duplicate_of=FIRST), terminal),
            *observe.kept(Repeat(duplicate_of=FIRST, differs=("concepts", "files_modified")), terminal),
        ],
        """\
✓ Kept as …K7Q4M2 · found from now on
✓ The same was kept a moment ago; once is enough
! Not kept: …K7Q4M2, of a moment ago, has its type, title and text
  Differs in: concepts, files modified · another title keeps it""",
    ),
    "knowledge": (
        lambda terminal: [
            *observe.held(1, "web-shop", terminal, is_all=True),
            *observe.held(20, "web-shop", terminal, is_all=False),
            *observe.held(0, "web-shop", terminal, is_all=True),
        ],
        """\
1 memory that holds in web-shop
20 memories that hold in web-shop · more: --limit
Nothing was kept that holds in web-shop. Keep it: kiro-learn knowledge add""",
    ),
    "embeddings": (
        lambda terminal: [
            *embeddings.stats(STATS, terminal),
            *embeddings.stats(STATS._replace(embedded=342, percentage=100.0), terminal),
            *embeddings.stats(STATS._replace(dimensions=None, available=False), terminal),
        ],
        """\
! 298 of 342 memories findable by meaning · 87.1 %
  all-MiniLM-L6-v2 · 384 dimensions
The rest now: kiro-learn embeddings backfill
✓ 342 of 342 memories findable by meaning · 100.0 %
  all-MiniLM-L6-v2 · 384 dimensions
! 298 of 342 memories findable by meaning · 87.1 %
  all-MiniLM-L6-v2
! the model is not loaded: memories are found by their words alone""",
    ),
}
