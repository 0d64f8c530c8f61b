"""The memory record; also conflicts between rules, and whether the files that a record cites have changed."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, TypeAlias

import attrs

from kiro_learn.model.checks import Each, Worded, between, length, matching, optional
from kiro_learn.model.event import BRANCH, NAMESPACE
from kiro_learn.model.ids import RECORD_PREFIX, ULID_PATTERN, EventId, RecordId, is_record_id
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.wording import in_pairs

MAX_TITLE = 200
MAX_SUMMARY = 4000
MAX_FACTS = 50
MAX_FACT = 500
MAX_CONCEPTS = 50
MAX_CONCEPT = 100
MAX_FILES = 100
MAX_FILE = 500
MAX_SOURCE_EVENTS = 100_000
MAX_TEXT = 100_000
MAX_CAPTURE_TYPE = 100

EMBEDDED_CHARACTERS = 10_000
EMBEDDED_CHARACTERS_OF_CAPTURED = 2_000

EDITED = "edited"
"""The strategy of a record that a person corrected; no learner made it, so no learner makes it again."""

ASKED = "Asked: "
"""The start of a summary's first line if that line quotes what a person asked."""

FACTS = Each(0, MAX_FACTS, length(1, MAX_FACT))
CONCEPTS = Each(0, MAX_CONCEPTS, length(1, MAX_CONCEPT))
FILES = Each(0, MAX_FILES, length(1, MAX_FILE))


class ObservationType(enum.StrEnum):
    """The subject of a record."""

    TOOL_USE = "tool_use"
    DECISION = "decision"
    ERROR = "error"
    DISCOVERY = "discovery"
    PATTERN = "pattern"
    SESSION_SUMMARY = "session_summary"


class KnowledgeType(enum.StrEnum):
    """The sort of knowledge in a record that should outlast the work it came from."""

    CONSTRAINT = "constraint"
    DECISION = "decision"
    HEURISTIC = "heuristic"
    REJECTED = "rejected"


class Origin(enum.StrEnum):
    """Whose words a record was learned from."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    IMPORT = "import"
    API = "api"


def _looks_like_record_id(_instance: Any, _attribute: Any, value: Any) -> None:
    if not is_record_id(value):
        raise ValueError(f"expected {RECORD_PREFIX} and a ULID")


_BINDING = frozenset({KnowledgeType.CONSTRAINT, KnowledgeType.DECISION, KnowledgeType.REJECTED})


@attrs.frozen(kw_only=True)
class MemoryRecord:
    """A titled piece of knowledge and the events it came from; ``created_at`` in UTC."""

    record_id: RecordId = attrs.field(validator=_looks_like_record_id)
    namespace: Namespace = attrs.field(validator=NAMESPACE)
    strategy: str = attrs.field(validator=length(1, 100))
    """The learner that made it, so that a better one may replace it."""
    title: str = attrs.field(validator=Worded(1, MAX_TITLE))
    summary: str = attrs.field(validator=Worded(1, MAX_SUMMARY))
    facts: tuple[str, ...] = attrs.field(default=(), validator=FACTS)
    concepts: tuple[str, ...] = attrs.field(default=(), validator=CONCEPTS)
    files_touched: tuple[str, ...] = attrs.field(default=(), validator=FILES)
    observation_type: ObservationType
    source_event_ids: tuple[EventId, ...] = attrs.field(
        validator=Each(1, MAX_SOURCE_EVENTS, matching(ULID_PATTERN, "a ULID"))
    )
    created_at: datetime
    knowledge_type: KnowledgeType | None = None
    importance: int | None = attrs.field(default=None, validator=optional(between(1, 10)))
    files_read: tuple[str, ...] = attrs.field(default=(), validator=FILES)
    files_modified: tuple[str, ...] = attrs.field(default=(), validator=FILES)
    origin: Origin | None = None
    stale_at: datetime | None = None
    capture_type: str | None = attrs.field(default=None, validator=optional(length(1, MAX_CAPTURE_TYPE)))
    """The type of a direct capture, given by the agent or the person, as ``file-write``; None: it was learned."""
    text: str = attrs.field(default="", validator=length(0, MAX_TEXT))
    """Technical content that was captured with it: a tool's input and output."""
    details: RecordDetails | None = None
    branch: str | None = attrs.field(default=None, validator=optional(BRANCH))
    """The branch on which it was learned, if that is not the default branch and is not merged."""
    pinned_at: datetime | None = None
    """When a person pinned it, so that every session is told it; None: it is not pinned."""

    @property
    def type_name(self) -> str:
        """Its type, as records are filtered and counted by type."""
        return self.capture_type or self.knowledge_type or self.observation_type

    @property
    def statements(self) -> str:
        """The text of the record: its title, its summary and its facts, a line each."""
        return "\n".join((self.title, self.summary, *self.facts))

    @property
    def is_hard_rule(self) -> bool:
        """Whether it is a constraint that holds without exception."""
        is_hard = self.details is not None and self.details.severity == "hard"
        return self.knowledge_type is KnowledgeType.CONSTRAINT and is_hard

    @property
    def is_protected(self) -> bool:
        """Whether it is in a person's words, states what holds from then on, or is pinned."""
        return (
            self.origin is Origin.USER
            or self.pinned_at is not None
            or self.knowledge_type in _BINDING
            or self.observation_type is ObservationType.DECISION
        )


def newest_first(records: Iterable[MemoryRecord]) -> list[MemoryRecord]:
    """The records ordered by when they were made, then by id."""
    return sorted(records, key=lambda record: (record.created_at, record.record_id), reverse=True)


def embedded_text(record: MemoryRecord) -> str:
    """The text whose vector stands for ``record``: title, summary, facts, concepts; at most 10,000 characters.

    For a record that was captured directly: title, summary, facts, text, concepts; at most 2,000 characters.
    """
    facts, concepts = "\n".join(record.facts), ", ".join(record.concepts)
    if record.capture_type is None:
        return f"{record.title}\n\n{record.summary}\n\n{facts}\n\n{concepts}"[:EMBEDDED_CHARACTERS]
    text = "" if record.text.startswith(record.summary) else record.text
    parts = (record.title, record.summary, facts, text, concepts)
    return "\n\n".join(part for part in parts if part)[:EMBEDDED_CHARACTERS_OF_CAPTURED]


MAX_DETAIL = 2_000
MAX_DETAILS = 50
MAX_SHARED_BY = 128

Severity: TypeAlias = Literal["hard", "soft"]
Confidence: TypeAlias = Literal["high", "medium", "low"]

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
DETAIL = optional(length(1, MAX_DETAIL))
DETAILS = Each(0, MAX_DETAILS, length(1, MAX_DETAIL))


@attrs.frozen(kw_only=True)
class RecordDetails:
    """The metadata of a knowledge item, or of a checkpoint."""

    severity: Severity | None = None
    """How strict a constraint is."""
    reason: str | None = attrs.field(default=None, validator=DETAIL)
    """Why a constraint holds, or why something was decided or rejected."""
    alternatives: tuple[str, ...] = attrs.field(default=(), validator=DETAILS)
    """What else could have been chosen."""
    context: str | None = attrs.field(default=None, validator=DETAIL)
    """Where a heuristic applies."""
    confidence: Confidence | None = None
    """How sure a heuristic is."""
    next_steps: str | None = attrs.field(default=None, validator=DETAIL)
    """The next steps at a checkpoint."""
    open_questions: tuple[str, ...] = attrs.field(default=(), validator=DETAILS)
    """The open questions at a checkpoint."""
    commit: str | None = attrs.field(default=None, validator=optional(matching(_COMMIT, "40 or 64 hexadecimal digits")))
    """The commit whose message the record was made of."""
    shared_by: str | None = attrs.field(default=None, validator=optional(length(1, MAX_SHARED_BY)))
    """The person who shared it with a team, unless that is the user."""

    def facts(self) -> tuple[str, ...]:
        """The details as sentences, so that they are found, embedded and shown like any fact."""
        named = (
            ("Severity", self.severity),
            ("Reason", self.reason),
            ("Alternatives", "; ".join(self.alternatives)),
            ("Context", self.context),
            ("Confidence", self.confidence),
            ("Next steps", self.next_steps),
            *(("Open question", question) for question in self.open_questions),
        )
        return tuple(f"{name}: {value}" for name, value in named if value)


MODEL_STRATEGY = "llm-summary"
"""The strategy of records that a model worded, whichever model it was; the original kiro-learn's name."""

JUDGED_STRATEGY = "llm-reconciled"
"""The strategy of records that a model merged; the original kiro-learn's name."""

BUILT_IN_STRATEGY = "extractive"
"""The strategy of records of the built-in learner."""


COLUMNS = ("title", "summary", "facts", "concepts", "files")


def indexed_columns(record: MemoryRecord) -> tuple[str, str, str, str, str]:
    """The texts of ``COLUMNS``. Each file appears once, whether it was touched, read or modified. The text that was
    captured with a record is put into the column of its facts. Scripts without spaces are in pairs (``in_pairs``).
    """
    files = dict.fromkeys((*record.files_touched, *record.files_read, *record.files_modified))
    title, summary, facts, concepts = map(
        in_pairs, (record.title, record.summary, _lines(_facts(record)), _lines(record.concepts))
    )
    return (title, summary, facts, concepts, in_pairs(_lines(files)))


def _facts(record: MemoryRecord) -> tuple[str, ...]:
    return (*record.facts, record.text) if record.text else record.facts


def _lines(items: Iterable[str]) -> str:
    return "\n".join(items)


# Filters of records.


@attrs.frozen(kw_only=True)
class RecordFilter:
    """Which records are wanted. None, or an empty tuple: this field does not matter."""

    types: tuple[str, ...] = ()
    """Only records with one of these types (``MemoryRecord.type_name``)."""
    since: datetime | None = None
    """Only records made then or later."""
    until: datetime | None = None
    """Only records made before then."""
    session: str | None = None
    """Only records whose first event was said in this session."""
    concept: str | None = None
    """Only records with this concept; the case of ASCII letters is ignored."""
    file: str | None = None
    """Only records that cite this file: its path, or the end of its path from a slash on."""
    is_stale: bool | None = None
    """Whether files that the record cites are known to have changed."""
    branch: str | None = None
    """Only records learned on this branch, which is not merged."""
    is_pinned: bool | None = None
    """Whether the record is pinned."""
    strategy: str | None = None
    """Only records with this ``MemoryRecord.strategy``."""


EVERYTHING = RecordFilter()


# Conflicts: a remembered rule, and a line of an agent's rule file or another rule that contradicts it.


@attrs.frozen
class RuleConflict:
    """A memory, and a line of a rule file or a second memory, that contradict each other."""

    record_id: RecordId
    title: str
    path: str
    """The path of the file: absolute, or in the user's folder (``~/``)."""
    line: int
    """The first line is 1."""
    text: str
    """The text of the line, or the title of the second memory."""
    other_id: RecordId | None = None
    """The id of the second memory; ``path`` is empty then. A person's newer word that overrules the first memory is no
    conflict."""

    @property
    def settled_by(self) -> str:
        """The command that settles the conflict, or shows what a person has to settle."""
        if self.other_id is None:
            return f"kiro-learn memories show {self.record_id}"
        return f"kiro-learn conflicts keep {self.record_id} --over {self.other_id}"


# The state of a project's file, and whether a record that cites it is stale because of that.


@attrs.frozen
class FileState:
    """A regular file, as it was when it was checked."""

    modified_at: datetime
    """UTC."""
    digest: str | None
    """The SHA-256 of its content in hexadecimal; None: it is too large to be read, or may not be read."""


def files_of(record: MemoryRecord) -> tuple[str, ...]:
    """Every file that a record cites, once; files that it changed come first."""
    return tuple(dict.fromkeys((*record.files_modified, *record.files_touched, *record.files_read)))


@attrs.frozen
class FileChanges:
    """The files of a record that are gone, and those that have changed since; paths as in the record."""

    gone: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.gone or self.changed)


def stale_files(
    record: MemoryRecord, states: Mapping[str, FileState | None], digests: Mapping[str, str]
) -> FileChanges:
    """The files that the record cites and that are gone or have changed since; if there are any, the record is stale.

    Args:
      states: by path; None: the file is gone. Nothing is known about a missing path.
      digests: by path, of the files' contents when the record was made, as far as known.
    """
    known = [(path, states[path]) for path in files_of(record) if path in states]
    return FileChanges(
        gone=tuple(path for path, state in known if state is None and (path in digests or was_there(record, path))),
        changed=tuple(
            path for path, state in known if state and _is_changed(state, record.created_at, digests.get(path))
        ),
    )


def is_unchecked(record: MemoryRecord, states: Mapping[str, FileState | None]) -> bool:
    """Whether the record cites files, and nothing is known about any of them."""
    files = files_of(record)
    return bool(files) and not any(path in states for path in files)


def was_there(record: MemoryRecord, path: str) -> bool:
    """Whether a file that ``record`` cites was a file of the project, as far as its path shows.

    A bare name that was neither read nor changed was only mentioned: "pool.py" may lie in any folder, and "Node.js" is
    no file. So such a file is not gone if it is not found.
    """
    return "/" in path or path in record.files_modified or path in record.files_read


def _is_changed(state: FileState, made_at: datetime, digest: str | None) -> bool:
    """Compares contents if both are known, since a file that was only touched has not changed; else compares times."""
    if digest is not None and state.digest is not None:
        return state.digest != digest
    return state.modified_at > made_at


def digests_to_note(
    record: MemoryRecord, states: Mapping[str, FileState | None], digests: Mapping[str, str]
) -> dict[str, str]:
    """``digests`` and those of files that were not written since the record was made; equal if there are none."""
    new = {
        path: state.digest
        for path in files_of(record)
        if path not in digests
        and (state := states.get(path)) is not None
        and state.digest is not None
        and state.modified_at <= record.created_at
    }
    return {**digests, **new}
