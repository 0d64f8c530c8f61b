"""Every sentence about pins."""

from __future__ import annotations

PIN_HELP = "Pin a memory: every session is told it as it starts, and it is never cut by age."
UNPIN_HELP = "Take the pin of a memory away."
LIST_PINNED_HELP = "Only those that are pinned."
PINNED = "{mark} Pinned: {title}"
UNPINNED = "{mark} No longer pinned: {title}"
IS_PINNED = "pinned"
PINNED_FIELD = "Pinned"
SINCE = "since {time}, told as every session starts"
PIN = "pin"
TAKEN_AWAY = "No longer pinned"
