"""The Agent Client Protocol, version 1, from the client's side: one session, one prompt, one answer. No I/O.

Rules of this file: the agent may send anything in any order. All its requests are refused, so that it can read, write
and run nothing through us. Messages to other sessions are ignored. The agent's words are contents: they are in the
answer, and in no error.

https://agentclientprotocol.com/protocol
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Sequence
from pathlib import PurePath
from typing import Any

import attrs

from kiro_learn.errors import AgentSpokeNonsense, AgentWantsLogin, LlmError
from kiro_learn.model.version import __version__
from kiro_learn.wire.jsonrpc import METHOD_NOT_FOUND, Failure, Message, Notification, Overlong, Request, Result

PROTOCOL_VERSION = 1
AUTHENTICATION_REQUIRED = -32000
LOGINS = {
    "kiro-cli": "kiro-cli login",
    "claude-agent-acp": "claude auth login",
    "gemini": "gemini",
    "codex-acp": "codex login",
    "copilot": "copilot login",
    "cursor-agent": "cursor-agent login",
    "opencode": "opencode auth login",
}
"""By the agent's program, the command that logs in. Gemini CLI asks for a login when it is started."""
ANSWER_CHARACTERS = 4_194_304
"""The most characters of a whole answer, in all its pieces."""

_STOPPED_EARLY = frozenset({"max_tokens", "max_turn_requests", "refusal", "cancelled"})
"""Reasons for which a turn may end without a whole answer."""

_REJECTIONS = ("reject_once", "reject_always")


class Step(enum.IntEnum):
    """The stages of a conversation; each is also the id of its request."""

    INITIALIZE = 1
    NEW_SESSION = 2
    PROMPT = 3
    OVER = 4


_METHODS = {Step.INITIALIZE: "initialize", Step.NEW_SESSION: "session/new", Step.PROMPT: "session/prompt"}


@attrs.define
class Conversation:
    """One prompt for one agent: messages come in and go out, until it is over."""

    prompt: str
    cwd: str
    """The absolute folder that the agent gets as its working directory."""
    agent: str
    """The name of the agent's program, or of the package that is started as one."""
    _step: Step = attrs.field(default=Step.INITIALIZE, init=False)
    _session_id: str | None = attrs.field(default=None, init=False)
    _pieces: list[str] = attrs.field(factory=list, init=False)
    _character_count: int = attrs.field(default=0, init=False)
    _problem: LlmError | None = attrs.field(default=None, init=False)

    def begin(self) -> Request:
        """The first message to the agent."""
        capabilities = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        client = {"name": "kiro-learn", "version": __version__}
        params = {"protocolVersion": PROTOCOL_VERSION, "clientCapabilities": capabilities, "clientInfo": client}
        return self._request(params)

    @property
    def is_over(self) -> bool:
        """Whether no more messages are sent or expected."""
        return self._step is Step.OVER

    def hear(self, message: Message | Overlong) -> Sequence[Message]:
        """Take a message from the agent; returns the messages to send to it now."""
        if self.is_over:
            return ()
        match message:
            case Request():
                return (refusal_of(message),)
            case Notification():
                self._listen(message)
            case Result(id=number, value=value) if number == self._step:
                return self._go_on(value if isinstance(value, dict) else {})
            case Failure(id=number, code=code) if number == self._step:
                self._end(self._refused(code))
            case Overlong(most_bytes=most_bytes):
                self._end(AgentSpokeNonsense(f"sent a line of more than {most_bytes:,} bytes"))
        return ()

    def answer(self) -> str | None:
        """The whole answer; None if the agent left before it had given it.

        Raises:
          LlmError: there will be no usable answer.
        """
        if self._problem is not None:
            raise self._problem
        return "".join(self._pieces) if self.is_over else None

    def _go_on(self, value: dict[str, Any]) -> Sequence[Message]:
        match self._step:
            case Step.INITIALIZE:
                return self._open_session(value)
            case Step.NEW_SESSION:
                return self._put_prompt(value)
            case _:
                return self._finish(value)

    def _open_session(self, value: dict[str, Any]) -> Sequence[Message]:
        if value.get("protocolVersion") != PROTOCOL_VERSION:
            return self._end(AgentSpokeNonsense(f"does not speak version {PROTOCOL_VERSION} of the protocol"))
        self._step = Step.NEW_SESSION
        return (self._request({"cwd": self.cwd, "mcpServers": []}),)

    def _put_prompt(self, value: dict[str, Any]) -> Sequence[Message]:
        session_id = value.get("sessionId")
        if not isinstance(session_id, str):
            return self._end(AgentSpokeNonsense("opened a session without an id"))
        self._step, self._session_id = Step.PROMPT, session_id
        return (self._request({"sessionId": session_id, "prompt": [{"type": "text", "text": self.prompt}]}),)

    def _finish(self, value: dict[str, Any]) -> Sequence[Message]:
        reason = value.get("stopReason")
        if reason == "end_turn":
            return self._end(None)
        if reason in _STOPPED_EARLY:
            return self._end(LlmError(f"the agent stopped before its answer was whole: {reason}"))
        return self._end(AgentSpokeNonsense("ended its turn without saying why"))

    def _listen(self, message: Notification) -> None:
        piece = _piece(message, self._session_id)
        self._character_count += len(piece)
        if self._character_count > ANSWER_CHARACTERS:
            self._end(AgentSpokeNonsense(f"gave an answer of more than {ANSWER_CHARACTERS:,} characters"))
        elif piece:
            self._pieces.append(piece)

    def _refused(self, code: int) -> LlmError:
        if code == AUTHENTICATION_REQUIRED:
            return AgentWantsLogin(self.agent, LOGINS.get(self.agent.partition("@")[0], ""))
        return LlmError(f"the agent refused {_METHODS[self._step]} (error {code})")

    def _end(self, problem: LlmError | None) -> Sequence[Message]:
        self._step, self._problem = Step.OVER, problem
        return ()

    def _request(self, params: dict[str, Any]) -> Request:
        return Request(int(self._step), _METHODS[self._step], params)


def refusal_of(request: Request) -> Message:
    """The answer to any request of an agent: permission is refused, and other methods are unknown."""
    if request.method != "session/request_permission":
        return Failure(request.id, METHOD_NOT_FOUND, "method not found")
    option_id = _rejecting_option(request.params)
    if option_id is None:
        return Result(request.id, {"outcome": {"outcome": "cancelled"}})
    return Result(request.id, {"outcome": {"outcome": "selected", "optionId": option_id}})


def _rejecting_option(params: Any) -> str | None:
    options = params.get("options") if isinstance(params, dict) else None
    by_kind = {
        str(option.get("kind")): option.get("optionId")
        for option in (options if isinstance(options, list) else [])
        if isinstance(option, dict)
    }
    found = (by_kind.get(kind) for kind in _REJECTIONS)
    return next((option_id for option_id in found if isinstance(option_id, str)), None)


def _piece(message: Notification, session_id: str | None) -> str:
    """The piece of our answer in ``message``; empty if there is none."""
    params = message.params
    if message.method != "session/update" or not isinstance(params, dict) or session_id is None:
        return ""
    update = params.get("update")
    if params.get("sessionId") != session_id or not isinstance(update, dict):
        return ""
    content = update.get("content")
    if update.get("sessionUpdate") != "agent_message_chunk" or not isinstance(content, dict):
        return ""
    text = content.get("text")
    return text if content.get("type") == "text" and isinstance(text, str) else ""


# Which program a command runs, behind the programs that only start another one.

STARTERS = frozenset({"env", "npx"})
"""Programs that only start another program."""

_WITH_A_VALUE = frozenset({"-u", "--unset", "-C", "--chdir", "-p", "--package"})
"""Options of STARTERS that take the next word as their value."""


def program_of(command: Sequence[str], starters: Collection[str]) -> str:
    """The program that ``command`` runs, without the ``starters`` before it and their options."""
    is_value = False
    for place, word in enumerate(command):
        is_option = is_value or (place > 0 and (word.startswith("-") or "=" in word))
        is_value = not is_value and word in _WITH_A_VALUE
        if not is_option and PurePath(word).name not in starters:
            return word
    return command[0]
