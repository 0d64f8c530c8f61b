"""The daemon's log: JSON lines, one event each, with ids and figures but never contents."""

from __future__ import annotations

import logging
import logging.handlers
import sys
import traceback
from collections.abc import MutableMapping
from pathlib import Path
from types import TracebackType
from typing import Any

import structlog

from kiro_learn.config import LogConfig


def configure(folder: Path, config: LogConfig, *, to_stderr: bool) -> None:
    """Write the log to ``folder``/daemon.jsonl, put away by size, and to standard error if asked.

    The file is as private as the process's umask makes it.
    """
    file = folder / "daemon.jsonl"
    handlers: list[logging.Handler] = [
        logging.handlers.RotatingFileHandler(
            file, maxBytes=config.file_bytes, backupCount=config.file_count, encoding="utf-8"
        )
    ]
    if to_stderr:
        handlers.append(logging.StreamHandler(sys.stderr))
    logger = logging.getLogger("kiro_learn")
    logger.propagate = False
    logger.setLevel(config.level.upper())
    logger.handlers = handlers
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            places_of_exception,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=lambda *_: logger,
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def places_of_exception(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Say what was raised and where, but not its message: that may quote what a user wrote."""
    found = event.pop("exc_info", None)
    if found is True:
        found = sys.exc_info()[1]
    if isinstance(found, BaseException):
        event["raised"] = _raised(found)
    return event


def _raised(error: BaseException) -> dict[str, Any]:
    raised: dict[str, Any] = {"type": type(error).__name__, "at": _places(error.__traceback__)}
    if isinstance(error, BaseExceptionGroup):
        raised["group"] = [_raised(inner) for inner in error.exceptions]
    if error.__cause__ is not None:
        raised["cause"] = _raised(error.__cause__)
    return raised


def _places(trace: TracebackType | None) -> list[str]:
    return [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)]
