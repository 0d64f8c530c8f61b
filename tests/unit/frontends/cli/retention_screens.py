"""The screens of expiry by age, at 80 columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kiro_learn.frontends.cli import forget
from kiro_learn.frontends.cli.terminal import Terminal

NONE = {"count": 0, "bytes": 0}
AGED: dict[str, Any] = {
    "rules": {"event_days": 30, "distill_days": 90, "replaced_days": 365},
    "events": {"count": 1204, "bytes": 8_100_000},
    "memories": {"count": 37, "bytes": 52_000},
    "replaced": {"count": 1, "bytes": 700},
    "file_bytes": 41_000_000,
    "free_bytes": 12_000_000,
    "is_rewritten": True,
}
NOTHING = AGED | {
    "rules": {"event_days": 1, "distill_days": 0, "replaced_days": 0},
    "events": NONE,
    "memories": NONE,
    "replaced": NONE,
    "free_bytes": 0,
    "is_rewritten": False,
}

RETENTION_SCREENS: dict[str, tuple[Callable[[Terminal], list[str]], str]] = {
    "retention": (
        lambda terminal: forget.aged_lines(AGED, terminal, head=forget.WOULD_GO),
        """\
To be removed because of its age
  events    contents of 1,204 events older than 30 days · 8.1 MB
  memories  details of 37 memories older than 90 days · 52 kB
  replaced  1 memory replaced over 365 days ago · 700 bytes
  file      41 MB, 12 MB of it free · rewritten without what is free""",
    ),
    "retention, nothing is old": (
        lambda terminal: forget.aged_lines(NOTHING, terminal, head="Removed because of its age"),
        """\
Removed because of its age
  events    nothing older than 1 day
  memories  never, by these rules
  replaced  never, by these rules
  file      41 MB, 0 bytes of it free""",
    ),
}
