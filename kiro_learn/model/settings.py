"""Settings that travel as one value: when a project learns, how a search scores, and one as people see it."""

from __future__ import annotations

import enum
import hashlib
import re

import attrs


@attrs.frozen(kw_only=True)
class ScheduleSettings:
    """What decides when a buffer is learned, compacted or set aside."""

    buffer_idle_seconds: float
    """After the last event, a run is due."""
    turn_idle_seconds: float
    """The same where that event is of a turn that has no answer yet."""
    extraction_bytes: int
    """As soon as so much waits, a run is due; no run takes more."""
    retry_seconds: float
    """After the first failure; doubled after each further one, up to ``cooldown_seconds``."""
    cooldown_seconds: float
    """Of the breaker."""
    compacts: bool
    compaction_bytes: int
    """A buffer that is larger and is not being learned is compacted."""
    compaction_failures: int
    """After so many in a row, the oldest half is set aside."""
    ceiling_bytes: int
    """Beyond, the oldest half is set aside at once."""


@attrs.frozen(kw_only=True)
class Weights:
    """How much each signal counts beside the others, 0 or more."""

    semantic: float
    fts5: float
    recency: float
    project_match: float


@attrs.frozen(kw_only=True)
class ScoringSettings:
    """What decides a score, beside the signals of a record."""

    weights: Weights
    half_life_hours: float
    """After which the recency of a record is half of what it was."""
    knowledge_boost: float
    """By which the score of knowledge is multiplied."""


class SettingOrigin(enum.StrEnum):
    """Where the value of a setting comes from."""

    DEFAULT = "default"
    FILE = "file"
    VARIABLE = "variable"
    OPTION = "option"
    """Of the command that started the daemon."""


@attrs.frozen(kw_only=True)
class Setting:
    """One setting as people see it."""

    key: str
    """Its section and name, as ``recall.budget_seconds``."""
    value: bool | float | str
    """In force; a secret in it is redacted."""
    default: bool | float | str
    origin: SettingOrigin
    variable: str
    """The environment variable that would win over the file."""
    line: int = 0
    """Of ``settings.toml``, if the value stands there; 0 if it does not, or is written in an odd way."""


# What a service manager says of the daemon's service, and whose its file is.
#
# The mark is a line that tells a service's file of ours from one that a user wrote or changed. It holds a hash of
# all the other lines. So a file without it is not ours, and a file whose hash does not fit was changed since we
# wrote it.


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
