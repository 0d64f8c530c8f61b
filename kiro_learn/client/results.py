"""What the daemon answers, as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Final, Literal, NamedTuple, Self, TypeAlias

REPEATED: Final = -1
"""What a ``Repeat`` equals."""


class Repeat(int):
    """-1 in the place of an id: the same was stored a moment ago, and is not stored again."""

    def __new__(cls, _value: int = REPEATED, **_about: object) -> Self:
        return super().__new__(cls, REPEATED)

    def __init__(self, _value: int = REPEATED, *, duplicate_of: str, differs: tuple[str, ...] = ()) -> None:
        self.duplicate_of: Final = duplicate_of
        """The id of what was stored."""
        self.differs: Final = differs
        """Names of what was handed in otherwise, and was not stored."""


StoredId: TypeAlias = str | Repeat
Source: TypeAlias = Literal["hybrid", "vector", "keyword"]
Period: TypeAlias = Literal["week", "month"]
ReportForm: TypeAlias = Literal["markdown", "text"]
KnowledgeType: TypeAlias = Literal["constraint", "decision", "heuristic", "rejected"]


class Signals(NamedTuple):
    """What a score is made of; each 0 to 1, higher is better. None: this search did not compute it."""

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
    """Which ranking found it: both, vectors or words."""
    signals: Signals
    stale_at: datetime | None
    """Since when it is known that files which it cites changed; None: nothing is known."""


class SearchResults(tuple[SearchResult, ...]):  # noqa: SLOT001  # a tuple with more to it has no slots
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
        """Why there may be less than there is: which ranking is missing or damaged."""
        self.problem: Final = problem
        """Why the query does not parse, where its plain words were looked up instead."""
        self.nothing_near: Final = nothing_near
        """Of a hybrid search: nothing has much to do with the query, and these are the least far."""


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
    """Whose message it is from."""
    shared_by: str | None = None
    """The person who shared it with a team, if that is somebody else."""


class Memory(NamedTuple):
    """One memory record, whole."""

    id: str
    namespace: str
    strategy: str
    """Which learner made it, or ``direct`` capture."""
    type: str
    """What it was captured as, else its knowledge type, else its observation type."""
    title: str
    summary: str
    text: str
    """What was captured with it; empty if it was learned."""
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
    """Since when it is known that files which it cites changed; None: nothing is known."""
    source_event_ids: tuple[str, ...]
    branch: str | None
    """On which it was learned, if that is not the default branch and is not merged."""
    pinned_at: datetime | None = None
    """Since when it is pinned; None: it is not."""


class Forgotten(NamedTuple):
    """What was forgotten, and what holds the same words still."""

    ids: tuple[str, ...]
    """The one that was named first."""
    same_words: tuple[str, ...]
    """Ids of other memories that hold words of it."""


class FeedbackCounts(NamedTuple):
    """What became of a memory that was told, and by what its score is multiplied for it."""

    helped: int
    wrong: int
    used: int
    """What the agent did then had its names, beyond chance."""
    ignored: int
    objected: int
    """The person objected."""
    factor: float


class ViewerCode(NamedTuple):
    """Lets one browser look at the viewer, once."""

    code: str
    path: str
    """Below the daemon's address, where the browser goes with it."""
    seconds: float
    """How long it is good."""


class MemoryPage(tuple[Memory, ...]):  # noqa: SLOT001  # a tuple with more to it has no slots
    """Memories, newest first, and where the next page begins."""

    def __new__(cls, memories: Iterable[Memory], **_about: object) -> Self:
        return super().__new__(cls, memories)

    def __init__(self, _memories: Iterable[Memory], *, next_cursor: str | None = None) -> None:
        self.next_cursor: Final = next_cursor
        """What to ask for the next page with; None at the end."""


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
    """Of its project."""
    agent: str | None = None
    first_prompt: str | None = None
    """Its beginning; None if there is none."""
    memory_count: int = 0
    """Memories that cite one of its events."""


class SessionContext(NamedTuple):
    """What a session would be told at its start."""

    project: str
    text: str
    memory_ids: tuple[str, ...]
    tokens: int
    """Of the text, rather too many than too few."""


class ProjectFact(NamedTuple):
    """One thing that a file of a project says of it, or a command that ran in it."""

    slot: str
    """What it is about: ``language``, ``test``, ``default branch`` and the like."""
    value: str
    source: str
    """``package.json:7``, or the event of a command that no file names."""
    succeeded: int
    """How often a command ran and did well lately."""
    failed: int
    last_at: datetime | None
    """When it ran last; None: it did not, or is no command."""


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
    """It is in the block."""
    feedback: FeedbackCounts | None = None
    """What became of it before; None: a daemon of the version before does not tell."""
    branch: str | None = None
    """On which it was learned, if that is not the default branch and is not merged."""
    is_of_branch: bool = False
    """That branch is checked out, for which its score was raised."""


class Recalled(NamedTuple):
    """What an agent would be told with a prompt."""

    text: str
    """The block; empty if nothing is close enough."""
    memory_ids: tuple[str, ...]
    degraded: tuple[str, ...]
    """Why there may be less than there is."""
    found: tuple[FoundMemory, ...]
    """What was looked at for it, best first."""


class Report(NamedTuple):
    """What went on in a project in a week or a month."""

    project: str
    period: Period
    since: datetime
    until: datetime
    observations: int
    """Made in the period."""
    types: Mapping[str, int]
    days: Mapping[date, int]
    """By day (UTC), those that have any."""
    sessions: int
    prompts: int
    knowledge: tuple[str, ...]
    """Titles of knowledge items, newest first."""
    learned: tuple[str, ...]
    """Titles of the other memories, newest first."""
    next_steps: tuple[str, ...]
    """Of sessions' summaries, newest first."""
    files: Mapping[str, int]
    """How many of the period's memories cite each, most first."""


class TokenEconomics(NamedTuple):
    """What agents were told, beside what it was made of."""

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
    """Most first."""
    days: Mapping[date, int]
    """By day (UTC), those that have any, oldest first."""
    token_economics: TokenEconomics


class EmbeddingStats(NamedTuple):
    """How much of the memory can be found by meaning."""

    total: int
    embedded: int
    percentage: float
    provider: str
    dimensions: int | None
    available: bool
    """The model is loaded."""


class StaleDetection(NamedTuple):
    """What a look at a project's files brought."""

    folder: str | None
    """In which the files were looked for; None: none is known, and nothing could be looked at."""
    stale: int
    """Memories with a file that is gone, or whose content changed since."""
    marked: int
    """Of these, those that were not known before."""
    cleared: int
    """Whose files are as they were again."""
    unchecked: int
    """That cite files, none of which could be looked at: they may be stale too."""
