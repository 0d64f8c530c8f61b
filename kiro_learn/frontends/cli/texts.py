"""Words and sentences that several modules of the command line use; those of one module stand in that module.

One test holds all of them to one vocabulary.

Rules of texts for people: short plain sentences, present tense, digits, no exclamation mark.
"""

from __future__ import annotations

PROJECTS = ("project", "projects")
SESSIONS = ("session", "sessions")
FILES = ("file", "files")
CALLS = ("call", "calls")
SAME_WORDS = ("more holds the same words", "more hold the same words")

DOT = " \N{MIDDLE DOT} "
HINT = "hint:"
ALL_PROJECTS = "all projects"
MORE_BY_LIMIT = "more: --limit"
UNREADABLE = "(its row cannot be read)"

YES_HELP = "Do not ask for confirmation."
LIMIT_HELP = "The most to show."
DRY_RUN_HELP = "Show what would be done, and do nothing."
ON_BRANCH_HELP = "Only memories learned on this branch, while it is not merged."
DELETE_COPIES_HELP = "Delete backups from which it cannot be removed, instead of naming them."

ANSWERS = "Daemon answers"
FORGET_QUESTION = "This cannot be undone. Forget?"
NOT_FORGOTTEN = "nothing was forgotten"
