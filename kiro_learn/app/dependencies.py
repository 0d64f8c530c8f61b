"""What the services and actors stand on: the implementations of all ports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from kiro_learn.ports.backups import BackupFolder
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.embedding import CodeMultiplier, EmbeddingModel
from kiro_learn.ports.home import Branches, HookSpool, ProjectFiles, ProjectFinder, RuleTexts
from kiro_learn.ports.llm import LlmChoice
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.team import TeamMemories
from kiro_learn.runtime.admission import Offload, in_threads
from kiro_learn.services.health import Process

COMPUTE_THREADS = 2
"""Threads of each of two pools for work that would block the event loop: one for requests, one for background work.
SQLite and the embedding model have threads of their own."""


@attrs.frozen(kw_only=True)
class Dependencies:
    """The implementations of all ports."""

    storage: StorageBackend
    model: EmbeddingModel
    open_model: Callable[[str | None], EmbeddingModel]
    """The embedding model in a folder, or the bundled one: for vectors of an earlier model."""
    code_product: CodeMultiplier
    count_tokens: Callable[[str], int]
    """Of a context block."""
    llm: LlmChoice
    project_finder: ProjectFinder
    project_files: ProjectFiles
    branches: Branches
    rule_texts: RuleTexts
    actor_id: str
    hook_spool: HookSpool[Any]
    backups: BackupFolder
    clock: ClockAndIds
    process: Process
    team: TeamMemories | None = None
    """Where memories are shared; None: nowhere."""
    user_home: str = ""
    """The user's home folder; paths in it are shared as from ``~``."""
    offload: Offload = attrs.field(factory=lambda: in_threads(COMPUTE_THREADS))
    """For requests."""
    background: Offload = attrs.field(factory=lambda: in_threads(COMPUTE_THREADS))
    """For learning and the hook spool, so that no prompt queues behind them."""
    copying: Offload = attrs.field(factory=lambda: in_threads(1))
    """For copies of the store, which may lie on a disk that does not answer."""
