"""Searches by modes, what went on, and what is handed in, at 80 columns."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from kiro_learn.client.results import EmbeddingStats, Repeat, Session, SessionContext, TimelineEntry
from kiro_learn.frontends.cli import activity, context, learn, observe
from kiro_learn.frontends.cli.terminal import Terminal
from tests.unit.frontends.cli.samples import NOW

FIRST, SECOND = "mr_01JD3V8M2N5R7T9WXYZ0K7Q4M2", "mr_01JD3V8M2N5R7T9WXYZ0R5T8WN"
LEARNED = datetime(2026, 11, 16, 10, 9, tzinfo=UTC)
ENTRIES = (
    TimelineEntry(FIRST, "Refresh tokens before the expiry check", "", "decision", LEARNED),
    TimelineEntry(
        SECOND,
        "Keep credentials out of localStorage, whatever a library says about how convenient it is",
        "",
        "a-type-of-one-s-own",
        LEARNED + timedelta(days=1),
    ),
)
SESSIONS = (
    Session("0c7c9a52-77aa-4bb0-9d3c-1f2e3d4c5b6a", LEARNED, LEARNED + timedelta(hours=3, minutes=12), 1204, 31),
    Session("s-2", LEARNED, LEARNED, 1, 0),
)
STATS = EmbeddingStats(342, 298, 87.1, "all-MiniLM-L6-v2", 384, available=True)

ACTIVITY_SCREENS: dict[str, tuple[Callable[[Terminal], list[str]], str]] = {
    "told at the start": (
        lambda terminal: context.told(SessionContext("web-shop", "text", (FIRST,), 204), "web-shop", terminal),
        "1 memory of web-shop, 204 tokens",
    ),
    "timeline": (
        lambda terminal: [
            *activity.timeline(ENTRIES, SECOND, NOW, terminal),
            *activity.around(ENTRIES, SECOND, "web-shop", terminal),
        ],
        """\
  …K7Q4M2  decision        Refresh tokens before the expiry check      Mon 10:09
● …R5T8WN  a-type-of-one…  Keep credentials out of localStorage, wha…  Tue 10:09
2 memories around …R5T8WN in web-shop""",
    ),
    "sessions": (
        lambda terminal: [
            *activity.session_rows(SESSIONS, NOW, terminal),
            *activity.sessions_listed(2, "web-shop", terminal, is_full=True),
        ],
        """\
Last event      Lasted  Events  Prompts  Session
Mon 13:21   3 h 12 min   1,204       31  0c7c9a52-77aa-4bb0-9d3c-1f2e3d4c5b6a
Mon 10:09        0.0 s       1        0  s-2
2 sessions in web-shop · more: --limit""",
    ),
    "no sessions": (
        lambda terminal: [
            *activity.session_rows((), NOW, terminal),
            *activity.sessions_listed(0, "web-shop", terminal, is_full=False),
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
✓ The same was stored a moment ago; it is not stored twice
! Not stored: …K7Q4M2, stored a moment ago, has the same type, title and text
  Differs in: concepts, files modified · use another title to store it""",
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
No knowledge is stored for web-shop. Add some: kiro-learn knowledge add""",
    ),
    "embeddings": (
        lambda terminal: [
            *learn.stats(STATS, terminal),
            *learn.stats(STATS._replace(embedded=342, percentage=100.0), terminal),
            *learn.stats(STATS._replace(dimensions=None, available=False), terminal),
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
