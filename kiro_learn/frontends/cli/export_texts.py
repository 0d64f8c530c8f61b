"""What the verb ``export`` says, and ``import`` of what it made."""

from __future__ import annotations

HELP = """Write all that is kept into one file.

By default it is called by today's date.

One JSON object a line: events, memories, what they replaced, the graph,
settings without secrets. An empty home makes the same memory of it with
kiro-learn import FILE.
"""
FORCE_HELP = "Overwrite a file that is there."

EXPORTING = "Exporting  {progress} so far"
EXPORTED = "{path} \N{MIDDLE DOT} {size}"
COUNTED = "{memories}, {replaced} replaced, {events}, {items} of the graph"
DAMAGED = "{count} could not be read and are not in it"
DAMAGED_HINT = "kiro-learn doctor"
ITEMS = ("item", "items")
CUT_OFF = "the daemon ended before the export did"
CANNOT_WRITE = "{path}  {problem}"
FORCE_HINT = "Choose another name, or overwrite it with --force."
HOW_TO_IMPORT = "Bring it in elsewhere: {command}"
