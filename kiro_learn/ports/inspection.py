"""What can be seen and mended of a home and its database while no daemon may run. Every method blocks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

import attrs


@attrs.frozen(kw_only=True)
class SpoolFacts:
    """What hooks could not deliver."""

    waiting_count: int
    oldest: datetime | None
    damaged_count: int
    """Those that could not be read, and never will be."""
    lacks_key: bool
    """Something waits that was sealed with a key that is gone."""


@attrs.frozen(kw_only=True)
class DatabaseFacts:
    """How the database's file is."""

    problem: str = ""
    """The first damage that was found, in SQLite's words; empty if there is none."""
    damaged_namespaces: tuple[str, ...] = ()
    """Those whose index of words is damaged."""
    is_finished: bool = True
    """False: the time was up before all was looked at."""


class HomeInspection(Protocol):
    """The home folder. Nothing is changed but by ``close_to_others``, ``renew_hook`` and ``renew_token``."""

    @property
    def path(self) -> Path: ...

    @property
    def database(self) -> Path: ...

    def exists(self) -> bool:
        """Whether the home is there at all."""
        ...

    def open_to_others(self) -> Sequence[str]:
        """Names, below the home, of what other users may read or write; the home itself is ``.``."""
        ...

    def close_to_others(self) -> None:
        """Take every right from other users. Raises ConfigError."""
        ...

    def hook_problem(self) -> str:
        """Why agents' hooks do not work, or are not of this version; empty if they do and are."""
        ...

    def renew_hook(self) -> None:
        """Write what hooks run anew. Raises ConfigError."""
        ...

    def token_problem(self) -> str:
        """What is wrong with the token's file; empty if nothing is."""
        ...

    def renew_token(self) -> None:
        """Make a token. Raises ConfigError."""
        ...

    def settings_problems(self) -> Sequence[tuple[str, str]]:
        """What keeps the daemon from starting: each setting with its problem."""
        ...

    def port(self) -> int:
        """That of the settings; 0 picks a free one, and where the settings are wrong."""
        ...

    def is_stopped_by_user(self) -> bool:
        """Whether ``kiro-learn stop`` was the last word."""
        ...

    def spool(self) -> SpoolFacts:
        """What hooks could not deliver."""
        ...

    def database_bytes(self) -> int:
        """Of the database with its log."""
        ...

    def free_bytes(self) -> int:
        """Of the disk that the home is on."""
        ...

    def newest_write(self) -> datetime | None:
        """When the daemon last wrote into its log or its database, by the clock of then; UTC."""
        ...

    def newest_backup(self) -> Path | None:
        """The newest copy of the database that an upgrade left."""
        ...


class DatabaseInspection(Protocol):
    """The database's file."""

    def check(self, patience_seconds: float) -> DatabaseFacts:
        """Look for damage, for at most so long. It reads beside a daemon and writes nothing."""
        ...

    def rebuild_words(self, namespaces: Sequence[str]) -> None:
        """Make the indexes of words of ``namespaces`` anew, while no daemon runs.

        Raises:
          AlreadyRunning: one does.
          StorageError: it could not be done; nothing was changed.
        """
        ...
