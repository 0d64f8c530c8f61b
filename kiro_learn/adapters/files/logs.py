"""The daemon's log, and why the last daemon ended. The log is JSON lines with ids and figures, but never contents.

Rules of this file: exceptions, warnings and log records of libraries are written with their type, their place and, if
the error is ours, its message. Other messages are left out: they may quote what a user wrote. The same holds for
standard error, which is a file when the daemon runs in the background.
"""

from __future__ import annotations

import json
import logging
import logging.handlers
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

import structlog

from kiro_learn.config import LogConfig
from kiro_learn.errors import InvalidRequest, KiroLearnError

log = structlog.get_logger()

OWN_LOGGER = "kiro_learn.own_lines"
"""The logger of lines that are JSON already. Not ``kiro_learn``: Quart names its logger after the application."""
PACKAGE = Path(__file__).parents[2]


def configure(folder: Path, config: LogConfig, *, to_stderr: bool) -> None:
    """Write the log to ``folder``/daemon.jsonl, rotated by size, and to standard error if ``to_stderr``.

    The process's umask decides who may read the file. A line that cannot be written is lost; ``problem`` says why.
    """
    file = folder / "daemon.jsonl"
    handlers: list[logging.Handler] = [
        _LogFile(file, maxBytes=config.file_bytes, backupCount=config.file_count, encoding="utf-8", delay=True)
    ]
    if to_stderr:
        handlers.append(logging.StreamHandler(sys.stderr))
    for handler in handlers:
        handler.setFormatter(_OneLine())
    logger = logging.getLogger(OWN_LOGGER)
    logger.propagate = False
    logger.setLevel(config.level.upper())
    logger.handlers = handlers
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            places_of_exception,
            structlog.processors.JSONRenderer(default=_type_name),
        ],
        logger_factory=lambda *_: logger,
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    # Else a handler that cannot write prints the line and the exception's message to standard error.
    logging.raiseExceptions = False
    logging.getLogger().handlers = [_LibraryHandler(logging.WARNING)]


def watch_unhandled() -> None:
    """Write uncaught exceptions and warnings in our form from now on; exceptions to standard error too."""
    sys.excepthook = lambda _type, error, _trace: _tell("process.failed", error)
    threading.excepthook = lambda found: _tell("thread.failed", found.exc_value)
    sys.unraisablehook = lambda found: _tell("object.failed", found.exc_value)
    warnings.showwarning = _tell_warning


def problem() -> str:
    """Why the last line could not be written into the log's file; empty if it could."""
    handlers = logging.getLogger(OWN_LOGGER).handlers
    return next((handler.problem for handler in handlers if isinstance(handler, _LogFile)), "")


class _LogFile(logging.handlers.RotatingFileHandler):
    """The log's file, with the reason why the last line was not written, if it was not."""

    problem = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.problem = ""
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802, ARG002  # as the standard library calls it
        error = sys.exc_info()[1]
        what = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        self.problem = f"{self.baseFilename}: {what.lower()}"


class _OneLine(logging.Formatter):
    """Gives the line as it is. The standard library would add a traceback with the messages of all exceptions."""

    def format(self, record: logging.LogRecord) -> str:
        return record.getMessage()


class _LibraryHandler(logging.Handler):
    """Writes log records of libraries as lines of ours: the logger, the level and the place, but not the message."""

    def emit(self, record: logging.LogRecord) -> None:
        details: dict[str, Any] = {"logger": record.name, "at": f"{Path(record.pathname).name}:{record.lineno}"}
        if record.exc_info and record.exc_info[1]:
            details["exc_info"] = record.exc_info[1]
        log.log(record.levelno, "library.logged", **details)


def _tell(event: str, error: BaseException | None) -> None:
    raised = {} if error is None else _raised(error)
    if sys.stderr is not None:
        sys.stderr.write(json.dumps({"event": event, "raised": raised}) + "\n")
    if logging.getLogger(OWN_LOGGER).handlers:
        log.critical(event, raised=raised)


def _tell_warning(  # noqa: PLR0917  # as the standard library calls it
    message: Warning | str,  # noqa: ARG001  # may quote contents
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,  # noqa: ARG001  # our code passes none
    line: str | None = None,  # noqa: ARG001  # a line of source
) -> None:
    if logging.getLogger(OWN_LOGGER).handlers:
        log.warning("library.warned", category=category.__name__, at=f"{Path(filename).name}:{lineno}")


def places_of_exception(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace ``exc_info`` by the type and the places of the exception, and its message if it is ours."""
    found = event.pop("exc_info", None)
    if found is True:
        found = sys.exc_info()[1]
    if isinstance(found, BaseException):
        event["raised"] = _raised(found)
    return event


def _raised(error: BaseException) -> dict[str, Any]:
    raised: dict[str, Any] = {"type": type(error).__name__, "at": _places(error.__traceback__)}
    # The message of InvalidRequest may quote the request.
    if isinstance(error, KiroLearnError) and not isinstance(error, InvalidRequest):
        raised["message"] = str(error)
    if isinstance(error, BaseExceptionGroup):
        raised["group"] = [_raised(inner) for inner in error.exceptions]
    if error.__cause__ is not None:
        raised["cause"] = _raised(error.__cause__)
    return raised


def _places(trace: TracebackType | None) -> list[str]:
    """The frames in our code, outermost first, and the innermost frame, ours or not."""
    frames = [(Path(frame.filename), frame.lineno, frame.name) for frame in traceback.extract_tb(trace)]
    return [
        f"{file.relative_to(PACKAGE) if file.is_relative_to(PACKAGE) else file.name}:{line} {name}"
        for index, (file, line, name) in enumerate(frames)
        if file.is_relative_to(PACKAGE) or index == len(frames) - 1
    ]


def _type_name(value: object) -> str:
    """The name of the value's type, for values that JSON cannot express: ``repr`` may hold contents."""
    return type(value).__name__


TAIL_BYTES = 65_536
MOST_CHARACTERS = 300
STDERR_SECONDS = 2.0
"""The longest time by which the last words on standard error may be older than the last line of the log."""


def last_end(logs: Path) -> str:
    """Why the last daemon ended, without contents; empty if it stopped as it should, or nothing is known.

    Raises:
      OSError: the logs cannot be read.
    """
    said = _last_words(logs)
    if said and not said.startswith("{"):
        return said
    return _by_the_log(logs / "daemon.jsonl")


def _last_words(logs: Path) -> str:
    """The last error on standard error; empty if a later daemon has written to the log since."""
    stderr, log = logs / "daemon.stderr", logs / "daemon.jsonl"
    if not stderr.exists():
        return ""
    if log.exists() and log.stat().st_mtime > stderr.stat().st_mtime + STDERR_SECONDS:
        return ""
    return _error([line.strip() for line in _tail(stderr).splitlines() if line.strip()])[:MOST_CHARACTERS]


def _error(lines: Sequence[str]) -> str:
    """The error and the lines below it, with the hint unless that is a command or a page."""
    if not lines or not lines[0].startswith("error:"):
        return lines[0] if lines else ""
    below = [line.removeprefix("hint:").strip() for line in lines[1:]]
    named = "; ".join(line for line in below if not line.startswith(("kiro-learn ", "docs/")))
    return ": ".join(filter(None, (lines[0].removeprefix("error:").strip(), named)))


def _by_the_log(log: Path) -> str:
    newest = ""
    for line in reversed(list(_lines(log))):
        newest = newest or str(line.get("timestamp", ""))
        match line.get("event"):
            case "daemon.stopped":
                return ""
            case "process.failed":
                return _failure(line.get("raised") or {})
            case "daemon.stuck":
                return "what was under way did not end in time as it stopped"
            case "daemon.stopping":
                return "it was killed as it stopped"
            case "daemon.ready":
                return f"it was killed, or the machine went down, after {newest}"
    return ""


def _failure(raised: dict[str, Any]) -> str:
    """The first innermost error of a group: its type, its message if it is ours, and its place."""
    while raised.get("group"):
        raised = raised["group"][0]
    message = f": {raised['message']}" if raised.get("message") else ""
    places = raised.get("at") or []
    return f"{raised.get('type', 'an error')}{message}{f' at {places[-1]}' if places else ''}"[:MOST_CHARACTERS]


def _lines(log: Path) -> Iterator[dict[str, Any]]:
    if not log.exists():
        return
    for text in _tail(log).splitlines():
        with suppress(ValueError):  # the first line may be cut
            line = json.loads(text)
            if isinstance(line, dict):
                yield line


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - TAIL_BYTES))
        return file.read().decode("utf-8", "replace")
