"""What the verbs ``backup`` and ``restore`` say."""

from __future__ import annotations

HELP = "Make, list or check copies of the memory."
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
STATUS_FAILS = "no copy can be made"

RESTORE_HELP = """Put a copy in the place of what is remembered now.

Without a name, it is the newest copy that is sound. A daemon that runs is
stopped before, and started again. What is replaced is kept among the copies.
"""
RESTORE_YES_HELP = "Do not ask before."
FROM = "from"
LOST = "lost"
KEPT = "kept"
NEWER = "{memories} and {events} that are newer than the copy"
NOTHING_NEWER = "nothing: the copy holds all there is"
NOT_COMPARED = "what is newer cannot be told: {problem}"
WILL_BE_KEPT = "what is replaced, among the copies; see kiro-learn backup list"
QUESTION = "Put this copy in its place?"
NOTHING_DONE = "nothing was changed"
RESTORED = "Restored"
REPLACED_IS_AT = "what it replaced: {path}"
STARTED = "The daemon answers again"
