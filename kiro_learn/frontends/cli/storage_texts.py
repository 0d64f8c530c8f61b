"""The sentences of storage."""

from __future__ import annotations

HELP = "Where the memory is kept."
CHECK_HELP = "Say which database is used, and whether a daemon can use it. Nothing is changed."
IN_A_FILE = "The memory is a file in {home}; kiro-learn doctor looks into it"
SERVER = "PostgreSQL {version}"
NEW = "nothing in it yet"
USED = "a daemon uses it"
FREE = "no daemon uses it now"
