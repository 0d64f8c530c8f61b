"""What ``import`` says of what ``export`` made."""

from __future__ import annotations

IMPORTING = "Importing  {progress}"
OF = "{done} of {all}"
NO_EXPORT = "{path}  is no export of kiro-learn. Nothing was taken."
ALONE = "an export is taken whole: name it alone, without options"
STOPPED = "{error}; up to line {line} it is in, the same again goes on"
TOO_LONG = "longer than a line of an export can be"
TORN = "The file is cut off after line {line}. Up to there it is in; a whole copy adds the rest."
TAKEN = "From {path}: {what}"
NOTHING = "nothing that was not here"
KNOWN = "{count:,} known already, left as they are"
FORGOTTEN = "{count:,} forgotten here, and left so"
LINES = ("line was", "lines were")
WRONG = "{lines} not taken:"
LINE = "line {line}: {problem}"
KINDS = {
    "memory": ("memory", "memories"),
    "replaced": ("replaced one", "replaced ones"),
    "event": ("event", "events"),
    "entity": ("entity", "entities"),
    "relationship": ("relationship", "relationships"),
    "fact": ("fact", "facts"),
    "procedure": ("procedure", "procedures"),
    "preference": ("preference", "preferences"),
}
"""Those that people know."""
