"""Which project a call is about, and how requests are made."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeAlias, TypedDict, TypeVar
from urllib.parse import urlencode, urlsplit

from kiro_learn.client.address import (
    RESTART,
    DaemonAddress,
    DaemonSilent,
    DaemonUnreachable,
    build_id,
    daemon_address_of,
    is_held,
    silence_of,
)
from kiro_learn.errors import InvalidRequest, KiroLearnError

T = TypeVar("T")

Named: TypeAlias = Path | str | None
"""A project: a folder in it, its name or its id; None: the client's own."""

Moment: TypeAlias = date | datetime | str
"""A day in UTC, as ``since`` from its midnight and as ``until`` to its end; or a time, which is local if it has no
zone; or either as ISO 8601."""

Types: TypeAlias = str | Collection[str] | None
"""The types of the memories that are wanted: one or several; None: all."""


class Caller:
    """A client, which knows the project that is meant if a call names none."""

    def __init__(self, project: Named = None) -> None:
        self._project = None if project is None else spelled(project)

    def project_named(self, project: Named = None) -> str:
        """The project for the daemon: an absolute folder, a name or an id.

        Raises:
          InvalidRequest: no project is named, and the current folder is gone.
        """
        if project is not None:
            return spelled(project)
        if self._project is not None:
            return self._project
        try:
            return os.getcwd()  # noqa: PTH109  # the same, without a Path
        except FileNotFoundError as error:
            hint = "Name a project: the current folder is gone."
            raise InvalidRequest([("$.project", "is missing")], hint=hint) from error


def spelled(project: object) -> str:
    """``project`` for the daemon: a folder becomes absolute, a name or an id stays as it is. Raises InvalidRequest."""
    if not isinstance(project, (str, os.PathLike)) or not isinstance(folder := os.fspath(project), str):
        raise InvalidRequest([("$.project", "expected a folder, a name or an id")])
    is_folder = isinstance(project, Path) or folder.startswith((".", "~")) or "/" in folder
    if not is_folder or folder.startswith("/"):
        return folder  # a namespace begins with a slash as well, and must keep the one at its end
    return os.path.abspath(os.path.expanduser(folder))  # noqa: PTH100, PTH111  # Path.absolute() leaves ".." in


def checked_home(home: Path | str) -> Path:
    """``home`` as a path. Raises InvalidRequest: it is no path."""
    try:
        return Path(home)
    except TypeError as error:
        raise InvalidRequest([("$.home", "expected the folder of a home")]) from error


def get_call(path: str, read: Callable[[Response], T], **query: object) -> Call[T]:
    """A GET call with these query parameters; None means not given."""
    return Call("GET", target_of(path, **query), read)


def post_call(path: str, read: Callable[[Response], T], *, is_long: bool = False, **fields: Any) -> Call[T]:
    """A POST call with a body of these fields; None and an empty list mean not given. ``is_long``: the answer comes
    only when all is done.

    An empty text counts as given: a variable that was never set must not extend an erasure to everything.
    """
    body = encoded({name: value for name, value in fields.items() if value not in (None, [])})
    patience = LEARNING_PATIENCE_SECONDS if is_long else None
    return Call("POST", path, read, body, patience_seconds=patience, is_repeatable=is_long)


def given(**fields: Any) -> Json:
    """The fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def listed(items: object) -> Any:
    """``items`` as a list for JSON. Any other value, such as a text, stays as it is, so that the daemon refuses it."""
    is_no_list = isinstance(items, (str, bytes, Mapping))
    return list(items) if isinstance(items, Collection) and not is_no_list else items


class Filters(TypedDict, total=False):
    """Which memories are wanted. A filter that is left out does not matter."""

    type: Types
    """One type or several."""
    since: Moment | None
    """Only memories made then or later."""
    until: Moment | None
    """Only memories made before; a day is included."""
    session: str | None
    """Only memories learned from this session."""
    concept: str | None
    """Only memories with this concept."""
    file: str | None
    """Only memories that cite this file."""
    stale: bool | None
    """Whether a file that the memory cites is gone or changed."""
    branch: str | None
    """Only memories learned on this branch, which is not merged."""
    pinned: bool | None
    """Whether the memory is pinned."""


def written_filters(filters: Filters) -> dict[str, object]:
    """The filters as parameters of a request.

    Raises:
      TypeError: a name is no filter.
    """
    if unknown := filters.keys() - Filters.__annotations__.keys():
        raise TypeError(
            f"unexpected keyword argument {min(unknown)!r}; filters are {', '.join(Filters.__annotations__)}"
        )
    return {
        "type": written_types(filters.get("type")),
        "since": written_moment(filters.get("since")),
        "until": written_moment(filters.get("until")),
        "session": filters.get("session"),
        "concept": filters.get("concept"),
        "file": filters.get("file"),
        "stale": _written_flag(filters.get("stale")),
        "branch": filters.get("branch"),
        "pinned": _written_flag(filters.get("pinned")),
    }


def _written_flag(flag: bool | None) -> str | None:
    return None if flag is None else "true" if flag else "false"


def written_types(types: Types) -> str | list[str] | None:
    """``types`` as a query parameter; an empty collection means all types."""
    return None if types is None else listed(types) or None


def written_moment(moment: Moment | None) -> str | None:
    """``moment`` as ISO 8601, with an offset if it has a time."""
    if isinstance(moment, datetime):
        try:
            return (moment if moment.tzinfo else moment.astimezone()).isoformat()
        except (OverflowError, ValueError):
            return moment.isoformat()  # at an end of the calendar: the daemon says that the offset is missing
    return moment.isoformat() if isinstance(moment, date) else moment


# One request to the daemon as a value, and reading its answer; other modules send and receive it.

PATIENCE_SECONDS = 10.0
"""How long a client waits for the whole answer, by default."""

LEARNING_PATIENCE_SECONDS = 3600.0
"""The same if the answer comes only when all waiting events are learned."""

RELEARNING_PATIENCE_SECONDS = 86_400.0
"""The same if the answer comes only when a model has learned everything again."""

MOST_PATIENCE_SECONDS = 1e6
"""The most that a socket can wait, since it cannot wait without end."""

BAD_REQUEST = 400
UNAUTHORIZED = 401

NO_SUCH_ROUTE = ("not found", "method not allowed")
BUILD_HEADER = "x-build"
"""A header of the answer to an unknown route; daemons from before it was introduced do not send it."""

JSON_TYPE = "application/json"
LINES_TYPE = "application/x-ndjson"

DEFAULT_PORT = 80

Json = dict[str, Any]


class RequestRefused(KiroLearnError):
    """The daemon refused the request; the message says why."""

    def __init__(self, status: int, message: str, *, hint: str = "", details: Iterable[Json] = ()) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        """The status of HTTP."""
        self.details = tuple(details)
        """``{"path", "problem"}`` for every wrong value; for a query that does not parse also ``"position"``."""


class FilesUnchecked(KiroLearnError):
    """No folder of the project is known, so it cannot be checked whether its memories are stale."""

    def __init__(self, count: int) -> None:
        super().__init__(
            f"{count:,} memories cite files that cannot be checked, since no folder of the project is known",
            hint="Name the project by its folder when something is stored.",
        )
        self.count = count


class AnswerNotUnderstood(KiroLearnError):
    """The daemon's answer is not what this client expects; perhaps it is of another version."""

    def __init__(self, path: str) -> None:
        super().__init__(f"the daemon's answer to {path} is not understood", hint="kiro-learn restart")
        self.path = path


class AnotherBuild(AnswerNotUnderstood):
    """The daemon does not know this route, because it was started before this client was installed."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.args = (f"the running daemon is of another build than this client, and does not know {path}",)


class Response(NamedTuple):
    """The answer to a request."""

    status: int
    headers: Mapping[str, str]
    """The headers by lower-case name."""
    body: bytes

    def json(self) -> Any:
        """The body as a JSON value; an empty object if it is no JSON."""
        try:
            return json.loads(self.body) if self.body else {}
        except ValueError:
            return {}


class Call(NamedTuple, Generic[T]):
    """One request, and the function that reads its answer."""

    method: str
    target: str
    """Path and query."""
    read: Callable[[Response], T]
    """Reads a successful answer. May raise AttributeError, LookupError, TypeError, ValueError or RequestRefused."""
    body: bytes | None = None
    content_type: str = JSON_TYPE
    headers: Mapping[str, str] = {}  # never written to
    """Headers in addition to those of every request."""
    patience_seconds: float | None = None
    """How long to wait; None: as long as the client waits by default."""
    is_repeatable: bool = True
    """Whether asking twice is as good as asking once, so that it may be repeated if a connection broke."""

    def headers_for(self, token: str) -> dict[str, str]:
        """All headers except those of the connection."""
        authorized = {"Authorization": f"Bearer {token}"} if token else {}
        typed = {} if self.body is None else {"Content-Type": self.content_type}
        return {**authorized, "Accept": JSON_TYPE, **typed, **self.headers}


class DaemonPlace(NamedTuple):
    """The daemon that is meant: that of a home, or the one at a URL."""

    home: Path
    url: str = ""
    token: str = ""

    def find(self) -> DaemonAddress:
        """The daemon's present address.

        Raises:
          DaemonUnreachable: no daemon runs in that home.
          DaemonSilent: a daemon holds the home, but has written no address.
          InvalidRequest: the URL cannot be a daemon's, or a header cannot hold the token.
        """
        token = _token_in(self.token)
        return _address_in(self.url, token) if self.url else daemon_address_of(self.home, token)

    def no_answer(self, error: BaseException) -> DaemonSilent | DaemonUnreachable:
        """The error of ours for an ``error`` of a connection.

        A daemon that refuses connections while it holds its home is still starting or ending.
        """
        is_late = isinstance(error, TimeoutError)
        if self.url:
            return DaemonSilent(self.url) if is_late else DaemonUnreachable(self.url)
        return silence_of(self.home) if is_late or is_held(self.home) else DaemonUnreachable(self.home)

    def result_of(self, call: Call[T], response: Response) -> T:
        """The result of ``call`` in ``response``.

        Raises:
          RequestRefused: the daemon refused.
          AnswerNotUnderstood: the answer is not what is expected.
          AnotherBuild: the daemon is of another build and does not know the route.
        """
        if response.status < BAD_REQUEST:
            try:
                return call.read(response)
            except (AttributeError, LookupError, TypeError, ValueError) as error:
                raise AnswerNotUnderstood(call.target.partition("?")[0]) from error
        if response.status == UNAUTHORIZED and self.token:
            raise RequestRefused(response.status, "the daemon refused the token that was given")
        if response.status == UNAUTHORIZED and not self.url:
            raise RequestRefused(
                response.status,
                f"the daemon refused the token in {self.home / 'token'}",
                hint=RESTART,
            )
        value = response.json()
        said = value if isinstance(value, dict) else {}
        if said.get("error") in NO_SUCH_ROUTE and response.headers.get(BUILD_HEADER) != build_id():
            raise AnotherBuild(call.target.partition("?")[0])
        message = said.get("error") or f"the daemon answered with status {response.status}"
        raise RequestRefused(response.status, message, hint=said.get("hint", ""), details=said.get("details", ()))


def _address_in(url: str, token: str) -> DaemonAddress:
    """The address in ``url``. Only http is allowed: nothing is encrypted, so https would promise too much."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or DEFAULT_PORT
    except (ValueError, TypeError, AttributeError):
        host, port = None, DEFAULT_PORT
    if not host or parts.scheme != "http":
        raise InvalidRequest([("$.url", "expected http:// and a host, as in http://127.0.0.1:21100")])
    return DaemonAddress(host, port, token)


def _token_in(content: object) -> str:
    """The token in its file's content, which ends with a line end. Raises InvalidRequest: a header cannot hold it."""
    token = content.strip() if isinstance(content, str) else ""
    if (content != "" and not token) or not (token.isascii() and token.isprintable()):
        raise InvalidRequest([("$.token", "expected the content of a daemon's file token")])
    return token


def checked_patience(seconds: object) -> float:
    """``seconds``, but not more than a socket can wait. Raises InvalidRequest."""
    if not isinstance(seconds, (int, float)) or not seconds > 0:
        raise InvalidRequest([("$.patience_seconds", "expected a number of seconds, more than 0")])
    return min(seconds, MOST_PATIENCE_SECONDS)


def target_of(path: str, **query: object) -> str:
    """The path with a query of these parameters; None means not given, and each item of a list is given."""
    pairs = [
        (name, str(each))
        for name, value in query.items()
        if value is not None
        for each in (value if isinstance(value, list) else [value])
    ]
    # A text that is not Unicode is sent as it is; the daemon reports it.
    return f"{path}?{urlencode(pairs, errors='surrogatepass')}" if pairs else path


def encoded(value: Json) -> bytes:
    """``value`` as the JSON of a body. A lone surrogate is escaped, so that the daemon can say where it is.

    Raises:
      InvalidRequest: JSON cannot express a field.
    """
    problems = [(f"$.{name}", "expected what JSON can hold") for name, each in value.items() if not _has_json(each)]
    if problems:
        raise InvalidRequest(problems)
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _has_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
