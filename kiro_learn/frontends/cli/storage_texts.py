"""The sentences of storage."""

from __future__ import annotations

HELP = "Where the memory is kept."
CHECK_HELP = "Say which database is used, and whether a daemon can use it. Nothing is changed."
IN_A_FILE = "The memory is a file in {home}; kiro-learn doctor looks into it"
SERVER = "PostgreSQL {version}"
NEW = "nothing in it yet"
USES = "daemon uses it"
USE = "daemons use it"
FREE = "no daemon uses it now"
MOVE_HELP = """Move the memory to a PostgreSQL server, or back into the file, while no daemon runs.

Every row is copied and then compared. Started again, it goes on where it was cut off. Where the memory was, it stays as
it was."""
TO_FILE_HELP = "From the server into the file in the home."
ANEW_HELP = "Copy all of it again, where a move was cut off and the memory changed since."
WHERE_TO = "name the server's URL, or --to-file"
MOVING = "Moving  {progress} so far"
COPIED = "{table}: {done:,} of {total:,}"
COMPARED = "{table}: {done:,} compared"
MOVED = "{events}, {memories} and {others} of other kinds are there, each the same; the settings say where"
LEFT_FILE = "What you forget from now on stays in {path}, which is as it was. Delete it when you trust the server."
LEFT_SERVER = "What you forget from now on stays in the server's schema kiro_learn, which is as it was."
KEPT = "The file that was here lies in {path}."
START = "kiro-learn start"
