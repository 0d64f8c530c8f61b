"""The protocol as a value: incoming messages and the outputs they cause, in every supported revision.

Rules of this file: every request that needs no services of the daemon is answered here, so that ``kiro-learn mcp``,
which has no services, answers like the daemon. A request that needs services comes out as an ``Ask``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from kiro_learn.wire.jsonrpc import METHOD_NOT_FOUND, Failure, Id, Message, Notification, Request, Result
from kiro_learn.wire.mcp import offers, versions
from kiro_learn.wire.mcp.schema import problems, with_defaults
from kiro_learn.wire.mcp.tools import BY_NAME, TOOLS
from kiro_learn.wire.mcp.versions import INVALID_PARAMS, LEGACY, MODERN, SUPPORTED, knows_titles, read_message

STATIC_MS = 3_600_000
"""How long, in milliseconds, a client may keep a list that changes only with this program's version."""

CAPABILITIES: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}
"""No list announces changes."""

_TTL_MS = {
    "server/discover": STATIC_MS,
    "tools/list": STATIC_MS,
    "prompts/list": STATIC_MS,
    "resources/templates/list": STATIC_MS,
    "resources/list": 0,
    "resources/read": 0,
}
"""Methods whose results say how long they may be kept, and that time."""

_ERAS = {"initialize": LEGACY, "ping": LEGACY, "server/discover": (MODERN,), "subscriptions/listen": (MODERN,)}
"""Methods that only some revisions have."""


class Ask(NamedTuple):
    """A request that needs services; its params are complete and checked."""

    id: Id
    method: str
    params: dict[str, Any]
    version: str
    """The revision in which the answer is written."""


class Cancelled(NamedTuple):
    """The client no longer wants this answer."""

    id: Id


Output: TypeAlias = Message | Ask | Cancelled


class Exchange(NamedTuple):
    """The outputs for one message, or for one batch of messages."""

    outputs: tuple[Output, ...] = ()
    is_batch: bool = False
    """Whether the answers form one array."""


class Missing(NamedTuple):
    """The outcome of an ``Ask``: no resource has this URI."""

    uri: str


class Failed(NamedTuple):
    """The outcome of an ``Ask``: it failed for this reason. (A tool's failure is an answer instead.)"""

    message: str
    code: int = versions.INTERNAL_ERROR


Outcome: TypeAlias = dict[str, Any] | Missing | Failed


class Conversation(NamedTuple):
    """The state of a client's conversation: the legacy revision that its ``initialize`` chose, or None."""

    version: str | None = None

    def receive(self, value: Any) -> tuple[Conversation, Exchange]:
        """The conversation after a JSON value came in, and the outputs for it."""
        if isinstance(value, list):
            return self, self._receive_batch(value)
        message = read_message(value)
        if isinstance(message, Request) and message.method == "initialize" and _meta(message) is None:
            return self._initialized(message)
        return self, Exchange(self._outputs(message))

    def _receive_batch(self, values: list[Any]) -> Exchange:
        if self.version not in versions.WITH_BATCHES:
            return Exchange((Failure(None, versions.INVALID_REQUEST, "Invalid Request: this revision has no batches"),))
        if not values:
            return Exchange((Failure(None, versions.INVALID_REQUEST, "Invalid Request: the batch is empty"),))
        return Exchange(tuple(out for value in values for out in self._outputs(read_message(value))), is_batch=True)

    def _initialized(self, request: Request) -> tuple[Conversation, Exchange]:
        params = request.params
        wanted = params.get("protocolVersion")
        expected = {"capabilities": dict, "clientInfo": dict, "protocolVersion": str}
        wrong = [name for name, kind in expected.items() if not isinstance(params.get(name), kind)]
        if wrong:
            return self, Exchange((_bad_params(request.id, f"wrong or missing: {', '.join(sorted(wrong))}"),))
        version = wanted if wanted in LEGACY else LEGACY[0]
        result = {
            "protocolVersion": version,
            "capabilities": CAPABILITIES,
            "serverInfo": versions.IDENTITY,
            "instructions": versions.INSTRUCTIONS,
        }
        return Conversation(version), Exchange((Result(request.id, result),))

    def _outputs(self, message: Any) -> tuple[Output, ...]:
        match message:
            case Failure():
                return (message,)
            case Notification(method="notifications/cancelled", params={"requestId": int() | str() as number}):
                return (Cancelled(number),)
            case Request():
                found = self._version_of(message)
                return (found,) if isinstance(found, Failure) else _answers(message, found)
            case _:
                return ()

    def _version_of(self, request: Request) -> str | Failure:
        """The revision of a request; or a failure if it has none."""
        meta = _meta(request)
        if meta is not None:
            return _modern_version(request, meta)
        if self.version is None and request.method != "ping":
            needed = f"params._meta with {versions.PROTOCOL_VERSION}, or an initialize request before"
            return _bad_params(request.id, f"expected {needed}")
        return self.version or LEGACY[0]


def _meta(request: Request) -> dict[str, Any] | None:
    """The ``_meta`` of a modern request; None if it is not one."""
    meta = request.params.get("_meta")
    return meta if isinstance(meta, dict) and versions.PROTOCOL_VERSION in meta else None


def _modern_version(request: Request, meta: dict[str, Any]) -> str | Failure:
    wanted = meta[versions.PROTOCOL_VERSION]
    if not isinstance(wanted, str):
        return _bad_params(request.id, f"expected {versions.PROTOCOL_VERSION} as text")
    if wanted != MODERN:
        return unsupported_version(request.id, wanted)
    if not isinstance(meta.get(versions.CLIENT_CAPABILITIES), dict):
        return _bad_params(request.id, f"expected {versions.CLIENT_CAPABILITIES} as an object")
    return wanted


def unsupported_version(number: Id | None, wanted: str) -> Failure:
    data = {"supported": list(SUPPORTED), "requested": wanted}
    return Failure(number, versions.UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data)


def _bad_params(number: Id, problem: str) -> Failure:
    return Failure(number, INVALID_PARAMS, f"Invalid params: {problem}")


def _answers(request: Request, version: str) -> tuple[Output, ...]:
    answer = _METHODS.get(request.method)
    if answer is None or version not in _ERAS.get(request.method, SUPPORTED):
        return (Failure(request.id, METHOD_NOT_FOUND, f"Method not found: {request.method[:200]}"),)
    return answer(request, version)


def reply(ask: Ask, outcome: Outcome) -> Message:
    """The message with the outcome of ``ask``."""
    match outcome:
        case Missing(uri=uri):
            code = INVALID_PARAMS if ask.version == MODERN else versions.LEGACY_RESOURCE_NOT_FOUND
            return Failure(ask.id, code, "Resource not found", {"uri": uri})
        case Failed(message=text, code=code):
            return Failure(ask.id, code, text)
        case _:
            return _result(ask.id, ask.method, ask.version, outcome)


def _result(number: Id, method: str, version: str, value: dict[str, Any]) -> Result:
    if version == MODERN:
        keeping = {"ttlMs": _TTL_MS[method], "cacheScope": "private"} if method in _TTL_MS else {}
        meta = {versions.SERVER_INFO: versions.IDENTITY, **value.get("_meta", {})}
        return Result(number, {"resultType": "complete", **value, **keeping, "_meta": meta})
    if not knows_titles(version):
        value = {name: each for name, each in value.items() if name != "structuredContent"}
    return Result(number, value)


def undecorated(result: dict[str, Any]) -> dict[str, Any]:
    """A modern result without the additions of ``reply``, as a front end passes on a result from the daemon."""
    return {name: each for name, each in result.items() if name not in {"resultType", "ttlMs", "cacheScope", "_meta"}}


def tool_error(text: str) -> dict[str, Any]:
    """A tool's result that reports an error to the model."""
    return {"content": [{"type": "text", "text": text}], "isError": True}


# --- the answers of each method --------------------------------------------------------------------------------------


def _discover(request: Request, version: str) -> tuple[Output, ...]:
    value = {
        "supportedVersions": list(SUPPORTED),
        "capabilities": CAPABILITIES,
        "instructions": versions.INSTRUCTIONS,
    }
    return (_result(request.id, request.method, version, value),)


def _ping(request: Request, version: str) -> tuple[Output, ...]:
    return (_result(request.id, request.method, version, {}),)


def _listing(name: str, items: Callable[[str], list[dict[str, Any]]]) -> Callable[[Request, str], tuple[Output, ...]]:
    """Answers with a list that fits on one page, so that any cursor is wrong."""

    def answer(request: Request, version: str) -> tuple[Output, ...]:
        if request.params.get("cursor") is not None:
            return (_bad_params(request.id, "unknown cursor"),)
        return (_result(request.id, request.method, version, {name: items(version)}),)

    return answer


def _listen(request: Request, _version: str) -> tuple[Output, ...]:
    """Acknowledges a subscription and ends it, since nothing here announces changes."""
    if not isinstance(request.params.get("notifications"), dict):
        return (_bad_params(request.id, "expected notifications as an object"),)
    about = {versions.SUBSCRIPTION_ID: request.id}
    acknowledged = Notification("notifications/subscriptions/acknowledged", {"_meta": about, "notifications": {}})
    return (acknowledged, _result(request.id, request.method, MODERN, {"_meta": about}))


def _call_tool(request: Request, version: str) -> tuple[Output, ...]:
    name, arguments = request.params.get("name"), request.params.get("arguments", {})
    tool = BY_NAME.get(name) if isinstance(name, str) else None
    if tool is None:
        return (Failure(request.id, INVALID_PARAMS, f"Unknown tool: {str(name)[:200]}"),)
    if not isinstance(arguments, dict):
        return (_bad_params(request.id, "expected arguments as an object"),)
    wrong = [f"{path}: {problem}" for path, problem in problems(arguments, tool.takes)]
    if wrong:
        text = f"{tool.name} was not called: {'; '.join(wrong)}\nhint: Correct the arguments, and call it again."
        return (_result(request.id, request.method, version, tool_error(text)),)
    params = {"name": tool.name, "arguments": with_defaults(arguments, tool.takes)}
    return (Ask(request.id, request.method, params, version),)


def _list_resources(request: Request, version: str) -> tuple[Output, ...]:
    cursor = request.params.get("cursor")
    if cursor is not None and not isinstance(cursor, str):
        return (_bad_params(request.id, "expected cursor as text"),)
    return (Ask(request.id, request.method, {} if cursor is None else {"cursor": cursor}, version),)


def _read_resource(request: Request, version: str) -> tuple[Output, ...]:
    uri = request.params.get("uri")
    if not isinstance(uri, str):
        return (_bad_params(request.id, "expected uri as text"),)
    ask = Ask(request.id, request.method, {"uri": uri}, version)
    return (reply(ask, Missing(uri)),) if offers.resource_of(uri) is None else (ask,)


def _get_prompt(request: Request, version: str) -> tuple[Output, ...]:
    name, arguments = request.params.get("name"), request.params.get("arguments", {})
    known = offers.ARGUMENTS.get(name) if isinstance(name, str) else None
    if known is None:
        return (Failure(request.id, INVALID_PARAMS, f"Unknown prompt: {str(name)[:200]}"),)
    given = arguments.get(known, "") if isinstance(arguments, dict) else None
    if not isinstance(given, str) or len(given) > offers.MOST_ARGUMENT_CHARACTERS:
        expected = f"expected {known} as text of at most {offers.MOST_ARGUMENT_CHARACTERS} characters"
        return (_bad_params(request.id, expected),)
    if name == offers.REMEMBER:
        return (_result(request.id, request.method, version, offers.remember_prompt(given)),)
    return (Ask(request.id, request.method, {"name": name, "arguments": {known: given}}, version),)


_METHODS: dict[str, Callable[[Request, str], tuple[Output, ...]]] = {
    "server/discover": _discover,
    "ping": _ping,
    "subscriptions/listen": _listen,
    "tools/list": _listing("tools", lambda version: [tool.described(version) for tool in TOOLS]),
    "tools/call": _call_tool,
    "prompts/list": _listing("prompts", lambda _version: list(offers.PROMPTS)),
    "prompts/get": _get_prompt,
    "resources/list": _list_resources,
    "resources/templates/list": _listing("resourceTemplates", lambda _version: list(offers.TEMPLATES)),
    "resources/read": _read_resource,
}
"""``initialize`` is not here: it changes the conversation."""
