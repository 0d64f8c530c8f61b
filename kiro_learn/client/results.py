"""The daemon's answers as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Final, Literal, NamedTuple, Self, TypeAlias

REPEATED: Final = -1
"""The value that every ``Repeat`` equals."""


class Repeat(int):
    """-1 in place of an id: the same was stored a moment ago, and is not stored again."""

    def __new__(cls, _value: int = REPEATED, **_about: object) -> Self:
        return super().__new__(cls, REPEATED)

    def __init__(self, _value: int = REPEATED, *, duplicate_of: str, differs: tuple[str, ...] = ()) -> None:
        self.duplicate_of: Final = duplicate_of
        """The id of the stored one."""
        self.differs: Final = differs
        """Names of the fields that differ; their new values were not stored."""


StoredId: TypeAlias = str | Repeat
Source: TypeAlias = Literal["hybrid", "vector", "keyword"]
Period: TypeAlias = Literal["week", "month"]
ReportForm: TypeAlias = Literal["markdown", "text"]
KnowledgeType: TypeAlias = Literal["constraint", "decision", "heuristic", "rejected"]


class Signals(NamedTuple):
    """The parts of a score, each 0 to 1, higher is better. None: this search did not compute it."""

    semantic: float | None
    fts5: float | None
    recency: float
    project_match: float


class SearchResult(NamedTuple):
    """One result of a search."""

    id: str
    title: str
    content: str
    """At most 4,000 characters."""
    type: str
    project: str
    score: float
    """Higher is better; comparable within one search."""
    source: Source
    """The ranking that found it: both, vectors or words."""
    signals: Signals
    stale_at: datetime | None
    """Since when files that it cites are known to have changed; None: nothing is known."""


class SearchResults(tuple[SearchResult, ...]):  # noqa: SLOT001  # a tuple with attributes has no slots
    """The results of a search, best first."""

    def __new__(cls, results: Iterable[SearchResult], **_about: object) -> Self:
        return super().__new__(cls, results)

    def __init__(
        self,
        _results: Iterable[SearchResult],
        *,
        degraded: tuple[str, ...] = (),
        problem: str | None = None,
        nothing_near: bool = False,
    ) -> None:
        self.degraded: Final = degraded
        """Why results may be missing: a ranking is missing or damaged."""
        self.problem: Final = problem
        """Why the query does not parse, if its plain words were searched instead."""
        self.nothing_near: Final = nothing_near
        """For a hybrid search: whether nothing is close to the query, so that these are only the least distant."""


class Details(NamedTuple):
    """The metadata of a knowledge item or of a session's summary."""

    severity: str | None
    reason: str | None
    alternatives: tuple[str, ...]
    context: str | None
    confidence: str | None
    next_steps: str | None
    open_questions: tuple[str, ...]
    commit: str | None = None
    """The commit whose message it was made of."""
    shared_by: str | None = None
    """The person who shared it with a team, unless that is the user."""


class Memory(NamedTuple):
    """One memory record, whole."""

    id: str
    namespace: str
    strategy: str
    """The learner that made it, or ``direct`` for a capture."""
    type: str
    """The type of its capture, else its knowledge type, else its observation type."""
    title: str
    summary: str
    text: str
    """The text that was captured with it; empty if it was learned."""
    facts: tuple[str, ...]
    concepts: tuple[str, ...]
    files_touched: tuple[str, ...]
    files_read: tuple[str, ...]
    files_modified: tuple[str, ...]
    knowledge_type: KnowledgeType | None
    details: Details | None
    importance: int | None
    """1 to 10."""
    origin: str | None
    """Whose words it came from: user, assistant, tool, import or api."""
    created_at: datetime
    stale_at: datetime | None
    """Since when files that it cites are known to have changed; None: nothing is known."""
    source_event_ids: tuple[str, ...]
    branch: str | None
    """The branch on which it was learned, if that is not the default branch and is not merged."""
    pinned_at: datetime | None = None
    """Since when it is pinned; None: it is not pinned."""


class Forgotten(NamedTuple):
    """The forgotten memories, and memories that still hold the same words."""

    ids: tuple[str, ...]
    """The memory that was named comes first."""
    same_words: tuple[str, ...]
    """Ids of other memories that hold its words."""


class FeedbackCounts(NamedTuple):
    """The feedback on a memory that was told, and the factor for its score that follows from it."""

    helped: int
    wrong: int
    used: int
    """How often the agent used its names afterwards, more than by chance."""
    ignored: int
    objected: int
    """How often the person objected."""
    factor: float


class ViewerCode(NamedTuple):
    """A code that opens the viewer in one browser, once."""

    code: str
    path: str
    """The path below the daemon's address that the browser opens."""
    seconds: float
    """How long the code is valid."""


class MemoryPage(tuple[Memory, ...]):  # noqa: SLOT001  # a tuple with attributes has no slots
    """Memories, newest first, and where the next page begins."""

    def __new__(cls, memories: Iterable[Memory], **_about: object) -> Self:
        return super().__new__(cls, memories)

    def __init__(self, _memories: Iterable[Memory], *, next_cursor: str | None = None) -> None:
        self.next_cursor: Final = next_cursor
        """The cursor of the next page; None at the end."""


class TimelineEntry(NamedTuple):
    """One memory in a timeline."""

    id: str
    title: str
    content: str
    type: str
    created_at: datetime


class Session(NamedTuple):
    """One session of an agent in one project, by the events that it reported."""

    id: str
    started_at: datetime
    last_event_at: datetime
    event_count: int
    prompt_count: int
    namespace: str = ""
    """The namespace of its project."""
    agent: str | None = None
    first_prompt: str | None = None
    """The beginning of its first prompt; None if it has none."""
    memory_count: int = 0
    """How many memories cite one of its events."""


class SessionContext(NamedTuple):
    """The text that a session would be shown at its start."""

    project: str
    text: str
    memory_ids: tuple[str, ...]
    tokens: int
    """The tokens of the text, rather too many than too few."""


class ProjectFact(NamedTuple):
    """A statement about a project by one of its files, or a command that ran in it."""

    slot: str
    """The subject: ``language``, ``test``, ``default branch`` and the like."""
    value: str
    source: str
    """``package.json:7``, or the event of a command that no file names."""
    succeeded: int
    """How often a command succeeded lately."""
    failed: int
    last_at: datetime | None
    """When it last ran; None: it did not run, or is no command."""


class FoundMemory(NamedTuple):
    """A memory that was found for a prompt, and how."""

    id: str
    title: str
    type: str
    score: float
    """Higher is better; comparable within one prompt only."""
    found_by: tuple[str, ...]
    """``words``, ``meaning`` or both."""
    told: bool
    """Whether it is in the block."""
    feedback: FeedbackCounts | None = None
    """The feedback on it so far; None: a daemon of the version before sends none."""
    branch: str | None = None
    """The branch on which it was learned, if that is not the default branch and is not merged."""
    is_of_branch: bool = False
    """Whether its score was raised because that branch is checked out."""


class Recalled(NamedTuple):
    """The text that an agent would be shown with a prompt."""

    text: str
    """The block; empty if nothing is close enough."""
    memory_ids: tuple[str, ...]
    degraded: tuple[str, ...]
    """Why memories may be missing."""
    found: tuple[FoundMemory, ...]
    """The memories that were found, best first."""


class Report(NamedTuple):
    """The activity of a project in a week or a month."""

    project: str
    period: Period
    since: datetime
    until: datetime
    observations: int
    """Memories made in the period."""
    types: Mapping[str, int]
    days: Mapping[date, int]
    """By day (UTC); days without any are left out."""
    sessions: int
    prompts: int
    knowledge: tuple[str, ...]
    """Titles of knowledge items, newest first."""
    learned: tuple[str, ...]
    """Titles of the other memories, newest first."""
    next_steps: tuple[str, ...]
    """Next steps in sessions' summaries, newest first."""
    files: Mapping[str, int]
    """How many of the period's memories cite each file, the most cited first."""


class TokenEconomics(NamedTuple):
    """The size of what agents were told, compared with its sources."""

    tellings: int
    told_bytes: int
    replaced_bytes: int
    saved_tokens: int
    reduction_percent: float


class Analytics(NamedTuple):
    """Figures of a project."""

    observations: int
    captured: int
    knowledge: int
    stale: int
    sessions: int
    prompts: int
    types: Mapping[str, int]
    """The most frequent first."""
    days: Mapping[date, int]
    """By day (UTC), oldest first; days without any are left out."""
    token_economics: TokenEconomics


class EmbeddingStats(NamedTuple):
    """How much of the memory can be found by meaning."""

    total: int
    embedded: int
    percentage: float
    provider: str
    dimensions: int | None
    available: bool
    """Whether the model is loaded."""


class StaleDetection(NamedTuple):
    """The result of checking a project's files."""

    folder: str | None
    """The folder that was searched; None: no folder is known, and nothing could be checked."""
    stale: int
    """Memories with a file that is gone, or whose content has changed since."""
    marked: int
    """How many of these were not known before."""
    cleared: int
    """Memories whose files are again as they were."""
    unchecked: int
    """Memories whose cited files could not be checked; they may be stale too."""
