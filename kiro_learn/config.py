"""Every setting, with its unit, bounds and default. Built once, at the start; each room receives only its own part."""

from __future__ import annotations

import re
import shlex
from typing import Literal

import attrs

from kiro_learn.model.buffer import CircuitBreaker
from kiro_learn.model.checks import between, matching
from kiro_learn.model.retention import MOST_DAYS, RetentionRules
from kiro_learn.model.settings import ScheduleSettings, ScoringSettings, Weights, is_of_this_machine, server_problems
from kiro_learn.model.settings import Setting as Setting  # noqa: PLC0414  # for the roof, which has no arrow to the model
from kiro_learn.model.sharing import SharedProject, shared_projects

DEFAULT_AGENT = "kiro-cli acp --agent kiro-learn-compressor"
"""An agent without tools that runs a cheap model; docs/models.md shows its file."""

_VARIABLE_OR_NONE = matching(re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*)?"), "a variable's name, not a key")


def _command(_instance: object, _attribute: attrs.Attribute[str], value: str) -> None:
    """Check that the command splits into words, as the daemon splits it."""
    try:
        words = shlex.split(value)
    except ValueError as error:
        raise ValueError(f"cannot be read as a command: {error}") from error
    if not words:
        raise ValueError("names no program")


_POSTGRESQL_OR_NONE = matching(
    re.compile(r"(?:postgres(?:ql)?://(?!.*:.*@)(?!.*[?&](?:[^=&]*%|(?:ssl)?password=)).+)?"),
    "a postgresql:// URL without a password",
)

CHARACTERS_PER_TOKEN = 3
"""A token holds about four characters of English prose, and about three of code and paths."""


@attrs.frozen(kw_only=True)
class ServerConfig:
    """Where the daemon listens, and the limits of its requests."""

    host: Literal["127.0.0.1", "::1", "localhost"] = "127.0.0.1"
    """Loopback only: this port serves one user on one machine."""
    port: int = attrs.field(default=21100, validator=between(0, 65535))
    """0 picks a free one."""
    max_body_bytes: int = attrs.field(default=2_097_152, validator=between(1024, 268_435_456))
    """The most bytes of one request; an import of any size is sent in several."""
    keep_alive_seconds: float = attrs.field(default=30.0, validator=between(1, 3600))
    """How long an idle connection is kept."""
    read_seconds: float = attrs.field(default=10.0, validator=between(1, 600))
    """How long a client may take to send a request."""
    write_seconds: float = attrs.field(default=5.0, validator=between(0.1, 600))
    """How long a client may take to read an answer before the connection is closed."""
    drain_seconds: float = attrs.field(default=5.0, validator=between(0.1, 600))
    """How long a stop waits for requests that are being answered."""
    start_on_hook: bool = False
    """Whether an agent's hook starts the daemon if none runs; never after ``kiro-learn stop``."""


@attrs.frozen(kw_only=True)
class StorageConfig:
    """Where the database is, and how it is used."""

    url: str = attrs.field(default="", validator=_POSTGRESQL_OR_NONE)
    """The URL of a PostgreSQL database that is used instead of the file in the home (docs/team.md). The password
    belongs in ``~/.pgpass``."""
    busy_seconds: float = attrs.field(default=5.0, validator=between(0, 600))
    """How long to wait for another process's lock."""
    reader_count: int = attrs.field(default=3, validator=between(1, 16))
    """How many read-only connections there are, so that a slow list does not hold up a prompt."""
    batch_count: int = attrs.field(default=256, validator=between(1, 10_000))
    """The most pieces of writing that share one commit."""
    take_over_seconds: float = attrs.field(default=600.0, validator=between(1, 86_400))
    """On a server: how long events may wait while other daemons learn none of them; after that, this daemon learns
    them."""


@attrs.frozen(kw_only=True)
class RecallConfig:
    """How a prompt is answered."""

    budget_seconds: float = attrs.field(default=0.5, validator=between(0.01, 30))
    """The time from the question to the answer; a ranking that is not ready by then is left out."""
    result_limit: int = attrs.field(default=18, validator=between(1, 100))
    """The most memories in one answer."""
    context_bytes: int = attrs.field(default=8_000, validator=between(200, 1_000_000))
    """The most bytes of UTF-8 in one answer. Kiro cuts a hook's output at 10,240."""
    brief_bytes: int = attrs.field(default=2_500, validator=between(0, 1_000_000))
    """The most bytes of UTF-8 that a session is shown when it starts. 0: it is shown nothing then."""
    profile: bool = True
    """Whether agents are shown what the project's files say about its languages, tools and commands."""
    trusted: str = ""
    """Names of people, by commas, whose memories may stand in briefs next to one's own, where several people work on a
    project; ``*``: everybody's."""
    prompts: Literal["goals", "all", "none"] = "goals"
    """Which prompts are answered with memories: all; none; or ``goals``: prompts that set the goal of a session, ask
    about the past, or name what few memories have."""
    task_bytes: int = attrs.field(default=1_000, validator=between(200, 1_000_000))
    """The most bytes of UTF-8 in the answer to a goal that is a task; the answer to a question has
    ``context_bytes``."""
    pipeline: Literal["hybrid", "graph"] = "hybrid"
    """What a prompt is answered with: memories, or memories and items of the graph that it names."""
    format: Literal["excerpts", "documented"] = "excerpts"
    """Which part of a memory is shown: the passages that answer the prompt, or its beginning and its facts."""
    fusion: Literal["calibrated", "rrf"] = "calibrated"
    """How the rankings by words and by meaning are fused: by calibrated scores, or by ranks."""
    rrf_k: int = attrs.field(default=60, validator=between(1, 1000))
    """The constant of reciprocal rank fusion (Cormack, Clarke & Büttcher 2009)."""
    fetch_depth_multiplier: int = attrs.field(default=4, validator=between(1, 50))
    """How many hits ``rrf`` takes from each ranking, as a multiple of the limit."""
    term_cap: int = attrs.field(default=32, validator=between(1, 1000))
    """The most words of a query that are looked up: the rarest."""
    repeat_after_prompts: int = attrs.field(default=0, validator=between(0, 10_000))
    """How many prompts of a session must pass before a memory is shown to it again. 0: each is shown once."""


@attrs.frozen(kw_only=True)
class SearchConfig:
    """How the searches score whose results explain their scores."""

    semantic_weight: float = attrs.field(default=0.45, validator=between(0, 1))
    """The weight of the nearness in meaning."""
    fts5_weight: float = attrs.field(default=0.35, validator=between(0, 1))
    """The weight of the match in words."""
    recency_weight: float = attrs.field(default=0.10, validator=between(0, 1))
    """The weight of how new a record is."""
    project_weight: float = attrs.field(default=0.10, validator=between(0, 1))
    """The weight of a record being from the project that was asked about."""
    knowledge_boost: float = attrs.field(default=3.0, validator=between(1, 100))
    """The factor for the score of a constraint, a decision, a heuristic or a rejected idea."""
    half_life_hours: float = attrs.field(default=168.0, validator=between(0.01, 1_000_000))
    """The time after which a record's recency has halved."""
    semantic_threshold: float = attrs.field(default=0.3, validator=between(-1, 1))
    """The least cosine at which a search by meaning finds a record."""
    patience_seconds: float = attrs.field(default=5.0, validator=between(0.01, 60))
    """How long a search may take; one that takes longer is given up."""

    @property
    def scoring(self) -> ScoringSettings:
        """The settings of a hybrid search."""
        weights = Weights(
            semantic=self.semantic_weight,
            fts5=self.fts5_weight,
            recency=self.recency_weight,
            project_match=self.project_weight,
        )
        return ScoringSettings(
            weights=weights, half_life_hours=self.half_life_hours, knowledge_boost=self.knowledge_boost
        )


@attrs.frozen(kw_only=True)
class LearningConfig:
    """How events become memories."""

    dedup_count: int = attrs.field(default=10_000, validator=between(1, 10_000_000))
    """How many event ids are remembered, so that a repeat costs no look-up."""
    buffer_idle_seconds: float = attrs.field(default=30.0, validator=between(0.05, 3600))
    """The quiet time after which waiting events are learned."""
    turn_idle_seconds: float = attrs.field(default=300.0, validator=between(0.05, 3600))
    """The same in the middle of a turn, where a model learns: half a turn shows it little, and costs a call."""
    extraction_bytes: int = attrs.field(default=262_144, validator=between(1, 1_073_741_824))
    """How many waiting bytes start a learning run; also the most bytes of one batch."""
    run_slots: int = attrs.field(default=2, validator=between(1, 64))
    """How many learning runs may go on at once, over all projects."""
    extraction_seconds: float = attrs.field(default=60.0, validator=between(1, 3600))
    """How long the learner may take over one batch."""
    extraction_attempts: int = attrs.field(default=3, validator=between(1, 10))
    """How often one batch is tried before the run counts as failed."""
    breaker_failures: int = attrs.field(default=3, validator=between(1, 100))
    """How many failed runs in a row pause a project's learning."""
    breaker_cooldown_seconds: float = attrs.field(default=600.0, validator=between(0.05, 86_400))
    """How long learning pauses before one run is tried again."""
    retry_seconds: float = attrs.field(default=10.0, validator=between(0.05, 86_400))
    """The pause after a failed run; doubled after each further one, up to ``breaker_cooldown_seconds``."""
    project_idle_seconds: float = attrs.field(default=600.0, validator=between(0.05, 86_400))
    """The quiet time after which a project's actor that has nothing to do is stopped."""

    def breaker(self) -> CircuitBreaker:
        """A closed circuit breaker with these settings."""
        return CircuitBreaker(failure_threshold=self.breaker_failures, cooldown_seconds=self.breaker_cooldown_seconds)


@attrs.frozen(kw_only=True)
class ReconciliationConfig:
    """How memories that say the same become one."""

    enabled: bool = True
    """False: whatever is learned is kept as it is."""
    intra_batch_similarity: float = attrs.field(default=0.85, validator=between(0, 1))
    """The least cosine at which two memories of one batch are compared."""
    neighbor_similarity: float = attrs.field(default=0.80, validator=between(0, 1))
    """The least cosine at which a stored memory is compared with them."""
    neighbor_count: int = attrs.field(default=10, validator=between(1, 100))
    """The most stored memories that are compared with them."""
    judge_seconds: float = attrs.field(default=30.0, validator=between(5, 300))
    """How long the model may take to judge whether memories say the same."""
    judge_attempts: int = attrs.field(default=2, validator=between(1, 10))
    """How often the model is asked before the memories are kept apart; after a timeout it is not asked again."""


@attrs.frozen(kw_only=True)
class CompactionConfig:
    """What happens to a buffer that grows faster than it is learned."""

    enabled: bool = True
    """False: a buffer grows to its ceiling."""
    threshold_bytes: int = attrs.field(default=1_048_576, validator=between(1, 1_073_741_824))
    """A buffer that is larger, and whose learning fails, is compacted."""
    ceiling_bytes: int = attrs.field(default=4_194_304, validator=between(1, 1_073_741_824))
    """The oldest half of a larger buffer is set aside until the learner works again."""
    model_seconds: float = attrs.field(default=120.0, validator=between(5, 3600))
    """How long the model may take over one compaction."""
    attempts: int = attrs.field(default=2, validator=between(1, 10))
    """How often the model is asked for one compaction."""
    failures: int = attrs.field(default=3, validator=between(1, 100))
    """How many failed compactions in a row it takes until the oldest half of a project's buffer is set aside
    instead."""


@attrs.frozen(kw_only=True)
class GraphConfig:
    """The graph memory: entities, facts, procedures and preferences, in addition to the records."""

    learn: bool = False
    """Whether each learning run also feeds the graph: from a few plain forms of sentences, from tools that ran, and
    from the model where one words the memories."""
    context_tokens: int = attrs.field(default=2_000, validator=between(50, 100_000))
    """The most tokens of a context block, unless its caller gives another number."""


@attrs.frozen(kw_only=True)
class RetentionConfig:
    """What leaves the database by age, checked once a day. Nothing does unless it is set here."""

    event_days: int = attrs.field(default=0, validator=between(0, MOST_DAYS))
    """Days after which an event loses its content, if a memory was made of it or of a later event of its session. 0:
    never."""
    distill_days: int = attrs.field(default=0, validator=between(0, MOST_DAYS))
    """Days after which a learned memory is cut to its main points; the whole one can be put back. 0: never."""
    replaced_days: int = attrs.field(default=0, validator=between(0, MOST_DAYS))
    """Days after which a memory that was replaced is deleted for good. 0: never."""
    rewrite_bytes: int = attrs.field(default=67_108_864, validator=between(0, 1_000_000_000_000))
    """How much free space in the database file makes it be rewritten without that space, if it is also a quarter of the
    file. 0: never."""

    @property
    def rules(self) -> RetentionRules:
        """The rules of retention by these settings."""
        return RetentionRules(
            event_days=self.event_days, distill_days=self.distill_days, replaced_days=self.replaced_days
        )


@attrs.frozen(kw_only=True)
class BackupConfig:
    """The copies of the database that are made once a day."""

    enabled: bool = True
    """False: no copy is made unless ``kiro-learn backup now`` asks for one."""
    keep_count: int = attrs.field(default=7, validator=between(1, 1000))
    """How many daily copies are kept, and how many copies that were asked for."""
    most_bytes: int = attrs.field(default=4_000_000_000, validator=between(1_000_000, 1_000_000_000_000_000))
    """The most bytes of all these copies together; the oldest are deleted. The newest stays, however large it is."""
    folder: str = ""
    """Where copies are put, in a subfolder of this home's own; the folder must exist. Empty: ``backups`` in the
    home."""


def _names_shared_projects(_instance: object, _attribute: object, value: str) -> None:
    shared_projects(value)


@attrs.frozen(kw_only=True)
class ShareConfig:
    """Which memories are shared with a team (docs/team.md). Nothing leaves this machine unless it is set here."""

    url: str = attrs.field(default="", validator=_POSTGRESQL_OR_NONE)
    """The URL of the PostgreSQL database in which the team shares. The password belongs in ``~/.pgpass``."""
    projects: str = attrs.field(default="", validator=_names_shared_projects)
    """The shared projects, by commas: each ``NAME`` or ``NAME=FOLDER``, with ``: KIND KIND`` or ``: none`` after it if
    need be. Without kinds: rules, decisions, rejected ideas and heuristics."""
    every_seconds: float = attrs.field(default=60.0, validator=between(1, 86_400))
    """The time between two comparisons of both sides."""

    @property
    def shared(self) -> tuple[SharedProject, ...]:
        """The projects that ``projects`` names."""
        return shared_projects(self.projects)


@attrs.frozen(kw_only=True)
class LlmConfig:
    """Which learner words the memories. Nothing leaves this machine unless it is set here."""

    backend: Literal["auto", "extractive", "acp", "openai"] = "auto"
    """``auto``: the agent of ``command`` where it is set up, else the extractive learner."""
    command: str = attrs.field(default=DEFAULT_AGENT, validator=_command)
    """An agent that speaks the Agent Client Protocol on its standard input and output."""
    base_url: str = "http://127.0.0.1:11434/v1"
    """The URL of an OpenAI-compatible server; the default is where Ollama listens."""
    model: str = ""
    """The model's name, as the server calls it."""
    api_key_variable: str = attrs.field(default="", validator=_VARIABLE_OR_NONE)
    """The name of the environment variable that holds the server's key; never the key."""
    allow_remote: bool = False
    """Whether ``base_url`` may be on another machine."""
    temperature: float = attrs.field(default=0.0, validator=between(0, 2))
    """How freely a server's model words things; left out where the server refuses it."""
    prompt_tokens: int = attrs.field(default=32_000, validator=between(500, 10_000_000))
    """The most tokens of one prompt, counted as three characters each; the next run learns what is beyond it."""
    daily_calls: int = attrs.field(default=500, validator=between(0, 1_000_000))
    """The most calls of a model on one day (UTC), over all projects; after that, the extractive learner learns. 0: no
    limit."""

    def unmet(self) -> list[tuple[str, str]]:
        """What is wrong with these together: the name of each setting, and what it needs."""
        is_asked = self.backend == "openai"
        return server_problems(self.base_url, self.model, allow_remote=self.allow_remote) if is_asked else []

    @property
    def is_local(self) -> bool:
        """Whether ``base_url`` is on this machine."""
        return is_of_this_machine(self.base_url)

    @property
    def prompt_characters(self) -> int:
        """How many characters ``prompt_tokens`` stand for."""
        return self.prompt_tokens * CHARACTERS_PER_TOKEN


@attrs.frozen(kw_only=True)
class EmbeddingConfig:
    """How texts become vectors."""

    enabled: bool = True
    """False: memories are found by their words alone."""
    model: str = ""
    """The folder of an embedding model of your own, as sentence-transformers exports it; a relative path starts at the
    home. Empty: the bundled model."""
    query_seconds: float = attrs.field(default=2.0, validator=between(0.01, 60))
    """How long a search outside a prompt waits for its vector."""
    backfill_batch_count: int = attrs.field(default=32, validator=between(1, 1000))
    """How many records without a vector the backfiller fetches at a time."""
    index_bytes: int = attrs.field(default=512_000_000, validator=between(1_000, 1_000_000_000_000))
    """The most bytes of vector indexes that are kept ready, not counting one that is larger than half of this; the
    project that was used longest ago is dropped first."""


@attrs.frozen(kw_only=True)
class LogConfig:
    """What the log says about the daemon's work: facts and ids, never contents."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    file_bytes: int = attrs.field(default=5_000_000, validator=between(10_000, 1_000_000_000))
    """The size at which a log file is rotated."""
    file_count: int = attrs.field(default=3, validator=between(1, 100))
    """How many rotated log files are kept."""


@attrs.frozen(kw_only=True)
class Config:
    """All settings, one part a field."""

    server: ServerConfig = ServerConfig()
    storage: StorageConfig = StorageConfig()
    recall: RecallConfig = RecallConfig()
    search: SearchConfig = SearchConfig()
    learning: LearningConfig = LearningConfig()
    reconciliation: ReconciliationConfig = ReconciliationConfig()
    compaction: CompactionConfig = CompactionConfig()
    graph: GraphConfig = GraphConfig()
    retention: RetentionConfig = RetentionConfig()
    backup: BackupConfig = BackupConfig()
    share: ShareConfig = ShareConfig()
    llm: LlmConfig = LlmConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    log: LogConfig = LogConfig()

    def schedule(self, *, asks_model: bool = False) -> ScheduleSettings:
        """When a project learns. The built-in learner waits no longer within a turn, since it keeps a rule at once."""
        learning, compaction = self.learning, self.compaction
        in_turn = learning.turn_idle_seconds if asks_model else 0.0
        return ScheduleSettings(
            buffer_idle_seconds=learning.buffer_idle_seconds,
            turn_idle_seconds=max(in_turn, learning.buffer_idle_seconds),
            extraction_bytes=learning.extraction_bytes,
            retry_seconds=learning.retry_seconds,
            cooldown_seconds=learning.breaker_cooldown_seconds,
            compacts=compaction.enabled,
            compaction_bytes=compaction.threshold_bytes,
            compaction_failures=compaction.failures,
            ceiling_bytes=compaction.ceiling_bytes,
        )
