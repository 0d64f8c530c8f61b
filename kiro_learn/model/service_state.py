"""What a service manager says of the daemon's service, and whose its file is.

The mark is a line that tells a service's file of ours from one that a user wrote or changed. It holds a hash of all the
other lines. So a file without it is not ours, and a file whose hash does not fit was changed since we wrote it.
"""

from __future__ import annotations

import enum
import hashlib
import re


class ServiceState(enum.Enum):
    """What the service manager says of our service."""

    ABSENT = "absent"
    """There is no file, and the manager knows of none."""
    UNLOADED = "unloaded"
    """There is a file that the manager has not read."""
    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    FAILED = "failed"


WARNING = "Written by kiro-learn service install, which replaces it; hash of the other lines:"
_LINE = re.compile(rb"^[^\n]*" + re.escape(WARNING.encode()) + rb" ([0-9a-f]{64})[^\n]*\n", re.MULTILINE)


class FileOrigin(enum.Enum):
    """Who wrote a service's file."""

    OURS = "ours"
    EDITED = "edited"
    FOREIGN = "foreign"


def marked(before: bytes, after: bytes, *, opening: str, closing: str = "") -> bytes:
    """``before`` and ``after`` with the line between them, as a comment between ``opening`` and ``closing``."""
    digest = hashlib.sha256(before + after).hexdigest()
    return before + f"{opening}{WARNING} {digest}{closing}\n".encode() + after


def origin_of(content: bytes) -> FileOrigin:
    """Who wrote this content."""
    found = _LINE.search(content)
    if found is None:
        return FileOrigin.FOREIGN
    rest = content[: found.start()] + content[found.end() :]
    is_same = hashlib.sha256(rest).hexdigest().encode() == found[1]
    return FileOrigin.OURS if is_same else FileOrigin.EDITED
