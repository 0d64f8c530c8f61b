"""Which project a call is about, and how its request is put together."""

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
"""A day in UTC, from its midnight on as ``since`` and to its end as ``until``; a moment, in local time if it has no
zone; or either as ISO 8601."""

Types: TypeAlias = str | Collection[str] | None
"""Of memories that are wanted: one type or several; None: all of them."""


class Caller:
    """Who calls: it knows which project is meant where a call names none."""

    def __init__(self, project: Named = None) -> None:
        self._project = None if project is None else spelled(project)

    def project_named(self, project: Named = None) -> str:
        """What the daemon is told: an absolute folder, a name or an id.

        Raises:
          InvalidRequest: none is named, and the current folder is gone.
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
    """``project`` as the daemon knows it: a folder absolute, a name or an id as it is. Raises InvalidRequest."""
    if not isinstance(project, (str, os.PathLike)) or not isinstance(folder := os.fspath(project), str):
        raise InvalidRequest([("$.project", "expected a folder, a name or an id")])
    is_folder = isinstance(project, Path) or folder.startswith((".", "~")) or "/" in folder
    if not is_folder or folder.startswith("/"):
        return folder  # a namespace begins with a slash as well, and must keep the one at its end
    return os.path.abspath(os.path.expanduser(folder))  # noqa: PTH100, PTH111  # Path.absolute() leaves ".." in


def checked_home(home: Path | str) -> Path:
    """``home`` as a path. Raises InvalidRequest: it is none."""
    try:
        return Path(home)
    except TypeError as error:
        raise InvalidRequest([("$.home", "expected the folder of a home")]) from error


def get_call(path: str, read: Callable[[Response], T], **query: object) -> Call[T]:
    """With a query of what is given; None means not given."""
    return Call("GET", target_of(path, **query), read)


def post_call(path: str, read: Callable[[Response], T], *, is_long: bool = False, **fields: Any) -> Call[T]:
    """With a body of what is given; None and an empty list mean not given. ``is_long``: the answer comes when all is
    done.

    An empty text is given: a variable that was never set must not widen what is erased to all there is.
    """
    body = encoded({name: value for name, value in fields.items() if value not in (None, [])})
    patience = LEARNING_PATIENCE_SECONDS if is_long else None
    return Call("POST", path, read, body, patience_seconds=patience, is_repeatable=is_long)


def given(**fields: Any) -> Json:
    """Those that are given: None means not given."""
    return {name: value for name, value in fields.items() if value is not None}


def listed(items: object) -> Any:
    """``items`` as JSON has them; what is no list stays as it is, so that the daemon refuses it: a text, above all."""
    is_no_list = isinstance(items, (str, bytes, Mapping))
    return list(items) if isinstance(items, Collection) and not is_no_list else items


class Filters(TypedDict, total=False):
    """Which memories are wanted; what is left out does not matter."""

    type: Types
    """One type or several."""
    since: Moment | None
    """Made then or later."""
    until: Moment | None
    """Made before; a day is part of it."""
    session: str | None
    """Learned from this session."""
    concept: str | None
    """With this concept."""
    file: str | None
    """Of this file."""
    stale: bool | None
    """Whether a file that it cites is gone or changed."""
    branch: str | None
    """Learned on this branch, which is not merged."""
    pinned: bool | None
    """Whether it is pinned."""


def written_filters(filters: Filters) -> dict[str, object]:
    """As parameters of a request.

    Raises:
      TypeError: it has a name that is no filter.
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
    """``types`` as a query has them; no type at all is what none of them asks for."""
    return None if types is None else listed(types) or None


def written_moment(moment: Moment | None) -> str | None:
    """``moment`` as ISO 8601, with an offset if it has a time."""
    if isinstance(moment, datetime):
        try:
            return (moment if moment.tzinfo else moment.astimezone()).isoformat()
        except (OverflowError, ValueError):
            return moment.isoformat()  # at an end of the calendar: the daemon says that the offset is missing
    return moment.isoformat() if isinstance(moment, date) else moment


# One request to the daemon as a value, and what becomes of its answer; how it gets there and back is for others.

PATIENCE_SECONDS = 10.0
"""How long a client waits until it has the whole answer, unless told otherwise."""

LEARNING_PATIENCE_SECONDS = 3600.0
"""The same, where the answer comes when everything that waits is learned."""

RELEARNING_PATIENCE_SECONDS = 86_400.0
"""The same, where it comes when a model has learned again whatever there is."""

MOST_PATIENCE_SECONDS = 1e6
"""Of a socket, which takes no endless wait."""

BAD_REQUEST = 400
UNAUTHORIZED = 401

NO_SUCH_ROUTE = ("not found", "method not allowed")
BUILD_HEADER = "x-build"
"""Of the answer to a request that no route takes; a daemon of before it was there does not send it."""

JSON_TYPE = "application/json"
LINES_TYPE = "application/x-ndjson"

DEFAULT_PORT = 80

Json = dict[str, Any]


class RequestRefused(KiroLearnError):
    """The daemon answered that it cannot, and why."""

    def __init__(self, status: int, message: str, *, hint: str = "", details: Iterable[Json] = ()) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        """Of HTTP."""
        self.details = tuple(details)
        """``{"path", "problem"}`` of every wrong value; of a query that does not parse also ``"position"``."""


class FilesUnchecked(KiroLearnError):
    """Whether memories are stale cannot be said, because no folder of their project is known."""

    def __init__(self, count: int) -> None:
        super().__init__(
            f"{count:,} memories cite files, and no folder of the project is known in which to look for them",
            hint="Name the project by its folder when something is stored.",
        )
        self.count = count


class AnswerNotUnderstood(KiroLearnError):
    """The daemon answered something else than this client expects, as one of another version may."""

    def __init__(self, path: str) -> None:
        super().__init__(f"the daemon's answer to {path} is not understood", hint="kiro-learn restart")
        self.path = path


class AnotherBuild(AnswerNotUnderstood):
    """The daemon does not know what it is asked, because it was started before this client was installed."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.args = (f"the running daemon is of another build than this client, and does not know {path}",)


class Response(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes

    def json(self) -> Any:
        """The body as a JSON value; an empty object if it is none."""
        try:
            return json.loads(self.body) if self.body else {}
        except ValueError:
            return {}


class Call(NamedTuple, Generic[T]):
    """One request, and how its answer is read."""

    method: str
    target: str
    """Path and query."""
    read: Callable[[Response], T]
    """Of a success. May raise AttributeError, LookupError, TypeError, ValueError or RequestRefused."""
    body: bytes | None = None
    content_type: str = JSON_TYPE
    headers: Mapping[str, str] = {}  # never written to
    """Besides those of every request."""
    patience_seconds: float | None = None
    """None: that of the client."""
    is_repeatable: bool = True
    """Asking twice is as good as asking once, so it may be asked again when a connection broke."""

    def headers_for(self, token: str) -> dict[str, str]:
        """All headers but those of the connection."""
        authorized = {"Authorization": f"Bearer {token}"} if token else {}
        typed = {} if self.body is None else {"Content-Type": self.content_type}
        return {**authorized, "Accept": JSON_TYPE, **typed, **self.headers}


class DaemonPlace(NamedTuple):
    """Which daemon is meant: that of a home, or the one at a URL."""

    home: Path
    url: str = ""
    token: str = ""

    def find(self) -> DaemonAddress:
        """Where it answers now.

        Raises:
          DaemonUnreachable: none runs in that home.
          DaemonSilent: one holds it, and does not say where it answers.
          InvalidRequest: the URL is none of a daemon, or the token none that a header can hold.
        """
        token = _token_in(self.token)
        return _address_in(self.url, token) if self.url else daemon_address_of(self.home, token)

    def no_answer(self, error: BaseException) -> DaemonSilent | DaemonUnreachable:
        """What ``error`` of a connection means.

        A daemon that refuses connections while it holds its home only just starts, or has not quite ended.
        """
        is_late = isinstance(error, TimeoutError)
        if self.url:
            return DaemonSilent(self.url) if is_late else DaemonUnreachable(self.url)
        return silence_of(self.home) if is_late or is_held(self.home) else DaemonUnreachable(self.home)

    def result_of(self, call: Call[T], response: Response) -> T:
        """What ``response`` says to ``call``.

        Raises:
          RequestRefused: that it cannot.
          AnswerNotUnderstood: nothing that is expected.
        AnotherBuild: that it does not know what it is asked, of which only another build knows.
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
    """What ``url`` names. A daemon speaks plain HTTP alone: at another scheme, the token would go out unencrypted."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or DEFAULT_PORT
    except (ValueError, TypeError, AttributeError):
        host, port = None, DEFAULT_PORT
    if not host or parts.scheme != "http":
        raise InvalidRequest([("$.url", "expected http:// and a host, as in http://127.0.0.1:21100")])
    return DaemonAddress(host, port, token)


def _token_in(content: object) -> str:
    """The token of a file, which ends with an end of line. Raises InvalidRequest: it is none that a header can hold."""
    token = content.strip() if isinstance(content, str) else ""
    if (content != "" and not token) or not (token.isascii() and token.isprintable()):
        raise InvalidRequest([("$.token", "expected the content of a daemon's file token")])
    return token


def checked_patience(seconds: object) -> float:
    """``seconds``, or as many as a socket can wait. Raises InvalidRequest."""
    if not isinstance(seconds, (int, float)) or not seconds > 0:
        raise InvalidRequest([("$.patience_seconds", "expected a number of seconds, more than 0")])
    return min(seconds, MOST_PATIENCE_SECONDS)


def target_of(path: str, **query: object) -> str:
    """The path with a query of what is given; None means not given, and of a list each is given."""
    pairs = [
        (name, str(each))
        for name, value in query.items()
        if value is not None
        for each in (value if isinstance(value, list) else [value])
    ]
    # What is no Unicode text is sent as it is: the daemon says so.
    return f"{path}?{urlencode(pairs, errors='surrogatepass')}" if pairs else path


def encoded(value: Json) -> bytes:
    """``value`` as the JSON of a body; a lone surrogate as JSON's escape, so that the daemon can say where one is.

    Raises:
      InvalidRequest: JSON has no form of a field.
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
