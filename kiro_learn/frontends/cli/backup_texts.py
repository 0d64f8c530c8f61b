"""What the verbs ``backup`` and ``restore`` say."""

from __future__ import annotations

HELP = "Copies of all that is remembered: make one, list them, check them."
NOW_HELP = "Make a copy now, and check it; the daemon may run."
LIST_HELP = "The copies, newest first, with what each holds."
VERIFY_HELP = "Check every copy, or the named ones, from end to end."

MADE = "Copied and checked"
NO_COPY = "There is no copy yet; the daemon makes one a day"
KINDS = {
    "daily": "daily",
    "asked": "asked for",
    "upgrade": "before an upgrade",
    "replaced": "replaced by a copy",
    "damaged": "damaged, put aside",
    "other": "not made by kiro-learn",
}
SOUND = "sound"
COUNT_COPIES = ("copy", "copies")
SUM = "{copies}, {size}"
BAD = "{copies} cannot be used"
BAD_HINT = "kiro-learn backup now"
STATUS_BACKUP = "Backup"
STATUS_NEWEST = "{ago}, checked"
STATUS_OFF = "no daily copy, as the settings say"
STATUS_NONE = "no copy yet"
STATUS_FAILS = "the last attempt failed"
