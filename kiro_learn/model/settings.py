"""Settings that travel as one value: when a project learns, how a search scores, and one setting as people see it.

Also what a model's server and the daemon's service need.
"""

from __future__ import annotations

import enum
import hashlib
import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

import attrs


@attrs.frozen(kw_only=True)
class ScheduleSettings:
    """The settings for when a buffer is learned, compacted or set aside."""

    buffer_idle_seconds: float
    """A run is due this long after the last event."""
    turn_idle_seconds: float
    """The same if that event is of a turn that has no answer yet."""
    extraction_bytes: int
    """A run is due as soon as so many bytes wait; no run takes more."""
    retry_seconds: float
    """The pause after the first failure; doubled after each further one, up to ``cooldown_seconds``."""
    cooldown_seconds: float
    """The cooldown of the circuit breaker."""
    compacts: bool
    compaction_bytes: int
    """A larger buffer that is not being learned is compacted."""
    compaction_failures: int
    """After so many failures in a row, the oldest half is set aside."""
    ceiling_bytes: int
    """The oldest half of a larger buffer is set aside at once."""


@attrs.frozen(kw_only=True)
class Weights:
    """How much each signal counts relative to the others, 0 or more."""

    semantic: float
    fts5: float
    recency: float
    project_match: float


@attrs.frozen(kw_only=True)
class ScoringSettings:
    """The settings of a score; the signals of a record are the other part."""

    weights: Weights
    half_life_hours: float
    """The time after which a record's recency has halved."""
    knowledge_boost: float
    """The factor for the score of knowledge."""


class SettingOrigin(enum.StrEnum):
    """Where the value of a setting comes from."""

    DEFAULT = "default"
    FILE = "file"
    VARIABLE = "variable"
    OPTION = "option"
    """An option of the command that started the daemon."""


@attrs.frozen(kw_only=True)
class Setting:
    """One setting as people see it."""

    key: str
    """Its section and name, as ``recall.budget_seconds``."""
    value: bool | float | str
    """The value in force; a secret in it is redacted."""
    default: bool | float | str
    origin: SettingOrigin
    variable: str
    """The environment variable that overrides the file."""
    line: int = 0
    """The line of the value in ``settings.toml``; 0 if it is not there, or is written in an odd way."""


# The server of a model. Nothing is sent to another machine unless the settings say so.

_NEEDS_MODEL = (
    "is needed before llm.backend is openai: kiro-learn config set llm.model NAME, the model as the server calls it"
)
_IS_ELSEWHERE = "is not on this machine: kiro-learn config set llm.allow_remote true sends what you do there"


def server_problems(base_url: str, model: str, *, allow_remote: bool) -> list[tuple[str, str]]:
    """What is wrong with the settings of a server: the name of each setting, and what it needs."""
    nameless = [] if model else [("model", _NEEDS_MODEL)]
    problem = _address_problem(_address(base_url), allow_remote=allow_remote)
    return [*nameless, *([("base_url", problem)] if problem else [])]


def is_of_this_machine(url: str) -> bool:
    """Whether ``url`` is an address on this machine, by its name or its number."""
    address = _address(url)
    return address is not None and _is_local(address.hostname)


def _address(url: str) -> SplitResult | None:
    """The parts of ``url``; None if it is no address to which paths can be added."""
    try:
        address = urlsplit(url)
        is_usable = address.port != 0 and address.hostname and not (address.query or address.fragment)
    except ValueError:
        return None
    return address if is_usable and address.scheme in {"http", "https"} else None


def _address_problem(address: SplitResult | None, *, allow_remote: bool) -> str:
    if address is None:
        return "expected an address such as http://127.0.0.1:11434/v1"
    if address.username is not None or address.password is not None:
        return "expected an address without a user or key; llm.api_key_variable names the key"
    return "" if allow_remote or _is_local(address.hostname) else _IS_ELSEWHERE


def _is_local(hostname: str | None) -> bool:
    try:
        return ipaddress.ip_address(hostname or "").is_loopback
    except ValueError:
        return hostname == "localhost"


# The state of the daemon's service, and who wrote its file.
#
# The mark is a line that distinguishes our service's file from one that a user wrote or changed. It holds a hash of all
# other lines. So a file without the mark is not ours, and a file with another hash was changed since we wrote it.


class ServiceState(enum.Enum):
    """The state of our service, as the service manager reports it."""

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
    """``before`` and ``after`` with the mark between them, as a comment between ``opening`` and ``closing``."""
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
