"""Answers as values, the one shape of all refusals, and the one table that maps errors to statuses.

Unexpected exceptions are mapped too.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import attrs
import structlog
import trio
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from kiro_learn import errors
from kiro_learn.client.address import build_id
from kiro_learn.client.building import BUILD_HEADER
from kiro_learn.wire.messages import error_refusal, refusal_answer
from kiro_learn.wire.structuring import new_converter

JSON = "application/json"

ALWAYS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
"""Headers of every answer, unless it sets them itself."""


class Stream(Protocol):
    """An answer in pieces; it is closed at the end, whether it was read or not."""

    def __aiter__(self) -> Self: ...

    async def __anext__(self) -> bytes: ...

    async def aclose(self) -> None: ...


@attrs.frozen
class Answer:
    """The answer to a request."""

    body: bytes
    status: int = 200
    content_type: str = JSON
    headers: Mapping[str, str] = attrs.field(factory=dict)
    stream: Stream | None = None
    """If set, the pieces that are sent in place of ``body``."""
    is_endless: bool = False
    """Whether the stream is whole wherever a stop of the server ends it."""


def _is_object(kind: Any) -> bool:
    origin: Any = typing.get_origin(kind)
    return origin is dict


_converter = new_converter(is_bounded=False)
# A value that is a dict already stays as it is.
_converter.register_unstructure_hook_func(_is_object, lambda value: value)


class Refused(Exception):
    """Ends a request with this answer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def json_answer(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """``value`` as ASCII JSON, which can carry any text, even lone surrogates."""
    return Answer(json.dumps(value, separators=(",", ":")).encode("ascii"), status, JSON, headers or {})


def value_answer(value: Any) -> Answer:
    """One of our values as JSON; a field that has its default is left out, as ``schema_of_answer`` says."""
    return json_answer(written(value))


def written(value: Any) -> dict[str, Any]:
    """The object that ``value_answer`` sends."""
    fields: dict[str, Any] = _converter.unstructure(value)
    return fields


def error_answer(
    status: int,
    error: str,
    *,
    hint: str = "",
    details: Sequence[tuple[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """A refusal; all of them have this shape."""
    return json_answer(refusal_answer(error, hint=hint, details=details), status=status, headers=headers)


def header_value(text: str) -> str:
    """``text`` as ASCII on one line, so that it cannot end a header."""
    return "".join(character if character.isascii() and character.isprintable() else "?" for character in text)


def encoded_headers(answer: Answer) -> list[tuple[bytes, bytes]]:
    """The headers of ``answer`` with names in lower case, without those in ALWAYS."""
    headers = {"Content-Type": answer.content_type, **answer.headers}
    if answer.stream is None:
        headers["Content-Length"] = str(len(answer.body))
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


def with_always(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """``headers``, and those of ALWAYS that they do not set."""
    said = {name.lower() for name, _ in headers}
    return [*headers, *(pair for pair in ALWAYS if pair[0] not in said)]


log = structlog.get_logger()

T = TypeVar("T")

STATUS: dict[type[errors.KiroLearnError], int] = {
    errors.InvalidRequest: 400,
    errors.QuerySyntaxError: 400,
    errors.UnknownRecord: 404,
    errors.UnknownProject: 404,
    errors.NoCopy: 404,
    errors.UnknownGraphItem: 404,
    errors.UnknownCheckpoint: 404,
    errors.DuplicateRecord: 409,
    errors.NothingToUndo: 409,
    errors.ReplacedSince: 409,
    errors.HoldsNoLonger: 409,
    errors.NoConflict: 409,
    errors.StorageError: 503,
    errors.StorageUnavailable: 503,
    errors.DatabaseGone: 503,
    errors.StorageBusy: 503,
    errors.StorageCorrupt: 503,
    errors.MigrationDriftError: 503,
    errors.SchemaTooNew: 503,
    errors.EmbeddingError: 503,
    errors.EmbeddingOff: 503,
    errors.ModelMissing: 503,
    errors.DimensionMismatch: 503,
    errors.LlmError: 503,
    errors.UnusableAnswer: 503,
    errors.BatchRefused: 503,
    errors.BudgetSpent: 503,
    errors.ModelBusy: 503,
    errors.ModelSick: 503,
    errors.AgentNotFound: 503,
    errors.AgentExited: 503,
    errors.AgentWantsLogin: 503,
    errors.AgentSpokeNonsense: 503,
    errors.AgentFileError: 503,
    errors.AgentFileTooLargeError: 503,
    errors.UnexpectedError: 503,
    errors.AlreadyRunning: 409,
    errors.PortTaken: 409,
    errors.NoModel: 409,
    errors.ServiceError: 503,
    errors.ActorStopped: 503,
    errors.ConfigError: 500,
}
"""The status of each class of error; a class without a row has the status of its nearest base class."""

UNAVAILABLE = 503
RETRY_AFTER_SECONDS = 5
"""The value for errors that name none."""


class Contain(Protocol):
    """Runs work whose failure must not reach its caller: logs it, and returns it in place of the result."""

    async def __call__(self, what: str, work: Callable[[], Awaitable[T]], /) -> T | Exception: ...


class Boundary(Protocol):
    """A block whose failure must not reach its caller."""

    error: Exception | None
    """The exception that ended the block, already logged."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...


NewBoundary: TypeAlias = Callable[[str], Boundary]
"""Makes the boundary of work with a given name."""


def answer_for(error: Exception) -> Answer:
    """The answer for ``error``; a defect of ours is logged too, without contents."""
    if isinstance(error, Refused):
        return error.answer
    if isinstance(error, HTTPException):
        return _of_werkzeug(error)
    answer = _of_ours(error) if isinstance(error, errors.KiroLearnError) else _of_strangers(error)
    if answer.status >= 500:  # noqa: PLR2004  # the server's side
        log.error("request.failed", status=answer.status, error=type(error).__name__, exc_info=error)
    return answer


def _of_ours(error: errors.KiroLearnError) -> Answer:
    status = next(STATUS[cls] for cls in type(error).__mro__ if cls in STATUS)
    is_worth_asking_again = status == UNAVAILABLE and not isinstance(error, errors.EmbeddingOff)
    headers = {"Retry-After": str(_retry_after(error))} if is_worth_asking_again else {}
    return json_answer(error_refusal(error), status=status, headers=headers)


def _retry_after(error: errors.KiroLearnError) -> int:
    known = error.retry_after_seconds if isinstance(error, errors.DependencyError) else None
    return RETRY_AFTER_SECONDS if known is None else known


def _of_strangers(error: Exception) -> Answer:
    if isinstance(error, trio.TooSlowError):
        return error_answer(504, "the answer took too long")
    return error_answer(500, "internal error")


def _of_werkzeug(error: HTTPException) -> Answer:
    # A client of another build uses the header to explain why a route is not known.
    headers = {BUILD_HEADER: build_id()} if isinstance(error, (NotFound, MethodNotAllowed)) else {}
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
    return error_answer(error.code or 500, error.name.lower(), headers=headers)
