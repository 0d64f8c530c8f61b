"""What the services and actors stand on: the implementations of all ports."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

import attrs

from kiro_learn.adapters.files import Home
from kiro_learn.adapters.files.agent_files import DiskAgentFiles, PathPrograms
from kiro_learn.adapters.files.home_folder import DiskHomeFolder
from kiro_learn.adapters.sqlite.copies import SqliteCopies
from kiro_learn.client import hook
from kiro_learn.client.address import build_id, default_home
from kiro_learn.config import BackupConfig
from kiro_learn.ports.backups import BackupFolder
from kiro_learn.ports.branches import Branches
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.embedding import CodeMultiplier, EmbeddingModel
from kiro_learn.ports.home import HookSpool, ProjectFiles, ProjectFinder, RuleTexts
from kiro_learn.ports.llm import LlmChoice
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.runtime.admission import Offload, in_threads
from kiro_learn.services.health import Process
from kiro_learn.services.installation import Installation

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
    offload: Offload = attrs.field(factory=lambda: in_threads(COMPUTE_THREADS))
    """For requests."""
    background: Offload = attrs.field(factory=lambda: in_threads(COMPUTE_THREADS))
    """For learning and the hook spool, so that no prompt queues behind them."""
    copying: Offload = attrs.field(factory=lambda: in_threads(1))
    """For copies of the store, which may lie on a disk that does not answer."""


# Where the copies of a home's database are.


def copies_of(home: Home, config: BackupConfig, utc_now: Callable[[], datetime]) -> SqliteCopies:
    """By the settings; in a folder of another disk, a home has a folder of its own."""
    name = f"kiro-learn-{hashlib.sha256(os.fsencode(home.path)).hexdigest()[:8]}"
    return SqliteCopies(
        database=home.database,
        home_folder=home.backups,
        folder=home.path / Path(config.folder).expanduser() / name if config.folder else home.backups,
        keep_count=config.keep_count,
        most_bytes=config.most_bytes,
        utc_now=utc_now,
    )


# The installation into agents, with the real files, programs and home.


def open_installation(home: Path, environment: Mapping[str, str]) -> Installation:
    """For the user who runs us, and the agents on the PATH of ``environment``."""
    place = Home(home)
    return Installation(
        DiskAgentFiles(home),
        PathPrograms(environment),
        DiskHomeFolder(place, Path(hook.__file__), build_id()),
        hook=str(place.hook),
        mcp=_mcp_command(),
        mcp_environment={} if home == default_home({}) else {"KIRO_LEARN_HOME": str(home)},
        user=PurePosixPath(Path.home()),
        environment=environment,
    )


def _mcp_command() -> tuple[str, ...]:
    """The program beside this interpreter, so that an agent finds it whatever its PATH is."""
    program = Path(sys.executable).with_name("kiro-learn")
    return (str(program), "mcp") if program.exists() else (sys.executable, "-m", "kiro_learn", "mcp")
