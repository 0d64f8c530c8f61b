"""Every setting, with its unit, bound and default. Built once, at the start; each room receives only its own part."""

from __future__ import annotations

import re
import shlex
from typing import Literal

import attrs

from kiro_learn.model.buffer import CircuitBreaker
from kiro_learn.model.checks import between, matching
from kiro_learn.model.retention import MOST_DAYS, RetentionRules
from kiro_learn.model.settings import ScheduleSettings, ScoringSettings, Weights
from kiro_learn.model.settings import Setting as Setting  # noqa: PLC0414  # for the roof, which has no arrow to the model
from kiro_learn.model.sharing import SharedProject, shared_projects

DEFAULT_AGENT = "kiro-cli acp --agent kiro-learn-compressor"
"""An agent without tools, of a cheap model; docs/models.md has its file."""

_VARIABLE_OR_NONE = matching(re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*)?"), "a variable's name, not a key")


def _command(_instance: object, _attribute: attrs.Attribute[str], value: str) -> None:
    """As the daemon parts it into words."""
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
"""Of English prose a token holds four, of code and paths about three."""


@attrs.frozen(kw_only=True)
class ServerConfig:
    """Where the daemon listens and what it takes in."""

    host: Literal["127.0.0.1", "::1", "localhost"] = "127.0.0.1"
    """Loopback only: this port serves one user on one machine."""
    port: int = attrs.field(default=21100, validator=between(0, 65535))
    """0 picks a free one."""
    max_body_bytes: int = attrs.field(default=2_097_152, validator=between(1024, 268_435_456))
    """Of one request; an import may be as large in all as it likes, in several."""
    keep_alive_seconds: float = attrs.field(default=30.0, validator=between(1, 3600))
    """How long an idle connection is kept."""
    read_seconds: float = attrs.field(default=10.0, validator=between(1, 600))
    """How long a client may take to send a request."""
    write_seconds: float = attrs.field(default=5.0, validator=between(0.1, 600))
    """How long a client may refuse to read before it is hung up on."""
    drain_seconds: float = attrs.field(default=5.0, validator=between(0.1, 600))
    """How long a stop waits for what is under way."""
    start_on_hook: bool = False
    """Whether an agent's hook starts the daemon where it does not run; never after ``kiro-learn stop``."""


@attrs.frozen(kw_only=True)
class StorageConfig:
    """Where the database is, and how it is used."""

    url: str = attrs.field(default="", validator=_POSTGRESQL_OR_NONE)
    """Of a PostgreSQL database, instead of the file in the home (docs/team.md). A password stands in ``~/.pgpass``."""
    busy_seconds: float = attrs.field(default=5.0, validator=between(0, 600))
    """How long to wait for another process's lock."""
    reader_count: int = attrs.field(default=3, validator=between(1, 16))
    """Read-only connections, so that a slow list does not hold up a prompt."""
    batch_count: int = attrs.field(default=256, validator=between(1, 10_000))
    """Most pieces of writing that share one commit."""
    take_over_seconds: float = attrs.field(default=600.0, validator=between(1, 86_400))
    """On a server: what waits for so long, and no other daemon has learned any of, this one learns."""


@attrs.frozen(kw_only=True)
class RecallConfig:
    """How a prompt is answered."""

    budget_seconds: float = attrs.field(default=0.5, validator=between(0.01, 30))
    """From the question to the answer; what is not ready by then is left out."""
    result_limit: int = attrs.field(default=18, validator=between(1, 100))
    """Most memories in one answer."""
    context_bytes: int = attrs.field(default=8_000, validator=between(200, 1_000_000))
    """Of UTF-8, in one answer. Kiro cuts a hook's output at 10,240."""
    brief_bytes: int = attrs.field(default=2_500, validator=between(0, 1_000_000))
    """Of UTF-8, in what a session is told when it starts. 0: it is told nothing then."""
    profile: bool = True
    """Whether agents are told what the project's files say of its languages, tools and commands."""
    trusted: str = ""
    """Whose memories stand in briefs beside one's own, where several people work on a project; ``*``: everybody's."""
    prompts: Literal["goals", "all", "none"] = "goals"
    """Which prompts are told anything: all; none; or those that set the goal of a session, ask about the past, or name
    what few memories have.
    """
    task_bytes: int = attrs.field(default=1_000, validator=between(200, 1_000_000))
    """Of UTF-8, in the answer to a goal that is a task; one that asks has ``context_bytes``."""
    pipeline: Literal["hybrid", "graph"] = "hybrid"
    """What prompts are told: memories, or also what the graph has on what they name."""
    format: Literal["excerpts", "documented"] = "excerpts"
    """What is told of a memory: the passages that answer the prompt, or its beginning and its facts."""
    fusion: Literal["calibrated", "rrf"] = "calibrated"
    """How the rankings by words and by meaning become one: by calibrated scores, or by places."""
    rrf_k: int = attrs.field(default=60, validator=between(1, 1000))
    """Cormack, Clarke & Büttcher 2009."""
    fetch_depth_multiplier: int = attrs.field(default=4, validator=between(1, 50))
    """Hits taken from each ranking by ``rrf``, as a multiple of the limit."""
    term_cap: int = attrs.field(default=32, validator=between(1, 1000))
    """Words of a query that are looked up: the rarest."""
    repeat_after_prompts: int = attrs.field(default=0, validator=between(0, 10_000))
    """Prompts of a session that must go by before it is told a memory again. 0: it is told each once."""


@attrs.frozen(kw_only=True)
class SearchConfig:
    """How results are scored that explain themselves."""

    semantic_weight: float = attrs.field(default=0.45, validator=between(0, 1))
    """Of the nearness in meaning."""
    fts5_weight: float = attrs.field(default=0.35, validator=between(0, 1))
    """Of the words."""
    recency_weight: float = attrs.field(default=0.10, validator=between(0, 1))
    """Of how new a record is."""
    project_weight: float = attrs.field(default=0.10, validator=between(0, 1))
    """Of whether it is of the project that was asked about."""
    knowledge_boost: float = attrs.field(default=3.0, validator=between(1, 100))
    """By which the score of a constraint, a decision, a heuristic or a rejected idea is multiplied."""
    half_life_hours: float = attrs.field(default=168.0, validator=between(0.01, 1_000_000))
    """After which the recency of a record is half of what it was."""
    semantic_threshold: float = attrs.field(default=0.3, validator=between(-1, 1))
    """Cosine from which a search by meaning finds a record."""
    patience_seconds: float = attrs.field(default=5.0, validator=between(0.01, 60))
    """How long a search may take; one that takes longer is given up."""

    @property
    def scoring(self) -> ScoringSettings:
        """Of a hybrid search, by these settings."""
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
    """Event ids remembered, so that a repeat costs no look-up."""
    buffer_idle_seconds: float = attrs.field(default=30.0, validator=between(0.05, 3600))
    """Quiet time after which what waits is learned."""
    turn_idle_seconds: float = attrs.field(default=300.0, validator=between(0.05, 3600))
    """The same in the middle of a turn, where a model learns: half a turn tells it little, and costs a call."""
    extraction_bytes: int = attrs.field(default=262_144, validator=between(1, 1_073_741_824))
    """Waiting bytes at which learning starts, and most bytes of one batch."""
    run_slots: int = attrs.field(default=2, validator=between(1, 64))
    """Learning runs at once, over all projects."""
    extraction_seconds: float = attrs.field(default=60.0, validator=between(1, 3600))
    """How long the learner may take over one batch."""
    extraction_attempts: int = attrs.field(default=3, validator=between(1, 10))
    """How often one batch is tried before the run has failed."""
    breaker_failures: int = attrs.field(default=3, validator=between(1, 100))
    """Failed runs in a row after which a project's learning pauses."""
    breaker_cooldown_seconds: float = attrs.field(default=600.0, validator=between(0.05, 86_400))
    """How long it pauses before one run is tried again."""
    retry_seconds: float = attrs.field(default=10.0, validator=between(0.05, 86_400))
    """Pause after a failed run; doubled after each further one, up to ``breaker_cooldown_seconds``."""
    project_idle_seconds: float = attrs.field(default=600.0, validator=between(0.05, 86_400))
    """Quiet time after which a project's actor, having nothing to do, is stopped."""

    def breaker(self) -> CircuitBreaker:
        """A closed one of these settings."""
        return CircuitBreaker(failure_threshold=self.breaker_failures, cooldown_seconds=self.breaker_cooldown_seconds)


@attrs.frozen(kw_only=True)
class ReconciliationConfig:
    """How memories that say the same become one."""

    enabled: bool = True
    """False: whatever is learned is kept as it is."""
    intra_batch_similarity: float = attrs.field(default=0.85, validator=between(0, 1))
    """Cosine from which two memories of one batch are looked at together."""
    neighbor_similarity: float = attrs.field(default=0.80, validator=between(0, 1))
    """Cosine from which a memory that is kept already is looked at with them."""
    neighbor_count: int = attrs.field(default=10, validator=between(1, 100))
    """Most of those."""
    judge_seconds: float = attrs.field(default=30.0, validator=between(5, 300))
    """How long the model may take to judge whether memories say the same."""
    judge_attempts: int = attrs.field(default=2, validator=between(1, 10))
    """How often it is asked before they are kept apart; one that takes too long is not asked again."""


@attrs.frozen(kw_only=True)
class CompactionConfig:
    """What becomes of a buffer that grows faster than it is learned."""

    enabled: bool = True
    """False: it grows to its ceiling."""
    threshold_bytes: int = attrs.field(default=1_048_576, validator=between(1, 1_073_741_824))
    """A buffer above it, whose learning fails, is compacted."""
    ceiling_bytes: int = attrs.field(default=4_194_304, validator=between(1, 1_073_741_824))
    """A buffer above it has its oldest half set aside until the learner works again."""
    model_seconds: float = attrs.field(default=120.0, validator=between(5, 3600))
    """How long the model may take over one compaction."""
    attempts: int = attrs.field(default=2, validator=between(1, 10))
    """How often it is asked for one compaction."""
    failures: int = attrs.field(default=3, validator=between(1, 100))
    """Failed compactions in a row after which a project's oldest half is set aside instead."""


@attrs.frozen(kw_only=True)
class GraphConfig:
    """The graph memory: entities, facts, procedures and preferences beside the records."""

    learn: bool = False
    """Whether it is learned in each learning run: from a few plain forms of sentences, from tools that ran, and by the
    model where one words the memories."""
    context_tokens: int = attrs.field(default=2_000, validator=between(50, 100_000))
    """Most tokens of a context block, unless the one who asks for it says otherwise."""


@attrs.frozen(kw_only=True)
class RetentionConfig:
    """What leaves the database by age, looked at once a day. Nothing does unless it is said here."""

    event_days: int = attrs.field(default=0, validator=between(0, MOST_DAYS))
    """Days after which an event loses its content, once a memory of it or of a later one of its session is kept. 0:
    never."""
    distill_days: int = attrs.field(default=0, validator=between(0, MOST_DAYS))
    """Days after which a learned memory is cut to its main points; the whole one can be put back. 0: never."""
    replaced_days: int = attrs.field(default=0, validator=between(0, MOST_DAYS))
    """Days after which a memory that another one replaced is deleted, and can be put back no longer. 0: never."""
    rewrite_bytes: int = attrs.field(default=67_108_864, validator=between(0, 1_000_000_000_000))
    """Free space in the database file from which it is rewritten without, if that is a quarter of it. 0: never."""

    @property
    def rules(self) -> RetentionRules:
        """What goes by these settings."""
        return RetentionRules(
            event_days=self.event_days, distill_days=self.distill_days, replaced_days=self.replaced_days
        )


@attrs.frozen(kw_only=True)
class BackupConfig:
    """The copies of the database that are made once a day."""

    enabled: bool = True
    """False: none is made unless ``kiro-learn backup now`` asks for it."""
    keep_count: int = attrs.field(default=7, validator=between(1, 1000))
    """Daily copies that are kept, and as many of those that were asked for."""
    most_bytes: int = attrs.field(default=4_000_000_000, validator=between(1_000_000, 1_000_000_000_000_000))
    """Of all these together; the oldest make room. The newest stays, however large it is."""
    folder: str = ""
    """Where copies are put, in a folder of this home's own below it; it must be there. Empty: ``backups`` in the
    home."""


def _names_shared_projects(_instance: object, _attribute: object, value: str) -> None:
    shared_projects(value)


@attrs.frozen(kw_only=True)
class ShareConfig:
    """Which memories are shared with a team (docs/team.md). Nothing leaves this machine unless it is said here."""

    url: str = attrs.field(default="", validator=_POSTGRESQL_OR_NONE)
    """Of the PostgreSQL database in which the team shares. A password stands in ``~/.pgpass``."""
    projects: str = attrs.field(default="", validator=_names_shared_projects)
    """What is shared, by commas, each ``NAME``, ``NAME=FOLDER`` or one of these with ``: KIND KIND`` or ``: none``; by
    default rules, decisions, rejected ideas and heuristics."""
    every_seconds: float = attrs.field(default=60.0, validator=between(1, 86_400))
    """Between two times that both sides are compared."""

    @property
    def shared(self) -> tuple[SharedProject, ...]:
        """What ``projects`` names."""
        return shared_projects(self.projects)


@attrs.frozen(kw_only=True)
class LlmConfig:
    """Which learner words the memories. Nothing leaves this machine unless it is said here."""

    backend: Literal["auto", "extractive", "acp", "openai"] = "auto"
    """``auto``: the agent of ``command`` where it is set up, else the extractive learner."""
    command: str = attrs.field(default=DEFAULT_AGENT, validator=_command)
    """An agent that speaks the Agent Client Protocol on its standard input and output."""
    base_url: str = "http://127.0.0.1:11434/v1"
    """Of an OpenAI-compatible server; by default where Ollama listens."""
    model: str = ""
    """As the server calls it."""
    api_key_variable: str = attrs.field(default="", validator=_VARIABLE_OR_NONE)
    """The name of the environment variable that holds the server's key; never the key."""
    allow_remote: bool = False
    """Whether ``base_url`` may be on another machine."""
    temperature: float = attrs.field(default=0.0, validator=between(0, 2))
    """How freely a server's model words things; left out where the server refuses it."""
    prompt_tokens: int = attrs.field(default=32_000, validator=between(500, 10_000_000))
    """Most tokens of one prompt, at three characters each; what waits beyond it is learned by the next run."""
    daily_calls: int = attrs.field(default=500, validator=between(0, 1_000_000))
    """Most calls of a model on one day (UTC), over all projects; beyond, the extractive learner learns. 0: no limit."""

    @property
    def prompt_characters(self) -> int:
        """As many as ``prompt_tokens`` hold."""
        return self.prompt_tokens * CHARACTERS_PER_TOKEN


@attrs.frozen(kw_only=True)
class EmbeddingConfig:
    """How texts become vectors."""

    enabled: bool = True
    """False: memories are found by their words alone."""
    model: str = ""
    """Folder with an embedding model of your own, as sentence-transformers exports them; a relative one lies in the
    home. Empty: the bundled one."""
    query_seconds: float = attrs.field(default=2.0, validator=between(0.01, 60))
    """How long a search outside a prompt waits for its vector."""
    backfill_batch_count: int = attrs.field(default=32, validator=between(1, 1000))
    """Records without a vector that the backfiller fetches at a time."""
    index_bytes: int = attrs.field(default=512_000_000, validator=between(1_000, 1_000_000_000_000))
    """Of vector indexes kept ready, one that is larger than half of this besides; the project used longest ago makes
    room."""


@attrs.frozen(kw_only=True)
class LogConfig:
    """What is written about the daemon's doings: facts and ids, never contents."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    file_bytes: int = attrs.field(default=5_000_000, validator=between(10_000, 1_000_000_000))
    """Size at which a log file is put away."""
    file_count: int = attrs.field(default=3, validator=between(1, 100))
    """Log files put away before the oldest is removed."""


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
        """When a project learns. The built-in learner waits no longer in a turn, since it keeps a rule at once."""
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
