"""A conversation with an agent, message by message."""

from __future__ import annotations

from typing import Any

import pytest

from kiro_learn.errors import AgentSpokeNonsense, AgentWantsLogin, LlmError
from kiro_learn.wire import acp
from kiro_learn.wire.acp import Conversation, refusal_of
from kiro_learn.wire.jsonrpc import Failure, Message, Notification, Request, Result


def chunk(text: Any, *, session: str = "s", kind: str = "agent_message_chunk", content_type: str = "text") -> Message:
    update = {"sessionUpdate": kind, "content": {"type": content_type, "text": text}}
    return Notification("session/update", {"sessionId": session, "update": update})


def conversation_at_its_prompt() -> Conversation:
    conversation = Conversation("learn this", "/work", "an-agent")
    conversation.begin()
    conversation.hear(Result(1, {"protocolVersion": 1}))
    conversation.hear(Result(2, {"sessionId": "s"}))
    return conversation


def test_it_asks_three_things_one_after_the_other() -> None:
    conversation = Conversation("learn this", "/work", "an-agent")
    first = conversation.begin()
    assert (first.method, first.params["protocolVersion"]) == ("initialize", 1)
    assert conversation.hear(Result(1, {"protocolVersion": 1})) == (
        Request(2, "session/new", {"cwd": "/work", "mcpServers": []}),
    )
    assert conversation.hear(Result(2, {"sessionId": "s"})) == (
        Request(3, "session/prompt", {"sessionId": "s", "prompt": [{"type": "text", "text": "learn this"}]}),
    )
    assert not conversation.is_over
    assert conversation.answer() is None


def test_the_answer_is_the_text_of_its_own_session_up_to_the_end_of_the_turn() -> None:
    conversation = conversation_at_its_prompt()
    for message in (
        chunk("a"),
        chunk("thought", kind="agent_thought_chunk"),
        chunk("stranger", session="t"),
        chunk("picture", content_type="image"),
        chunk(7),
        Notification("_kiro.dev/metadata", {"x": 1}),
        chunk("b"),
        Result(3, {"stopReason": "end_turn"}),
        chunk("too late"),
    ):
        assert conversation.hear(message) == ()
    assert conversation.is_over
    assert conversation.answer() == "ab"


def test_an_answer_to_what_was_not_asked_is_passed_over() -> None:
    conversation = conversation_at_its_prompt()
    conversation.hear(Result(2, {"sessionId": "other"}))
    conversation.hear(Result("3", {"stopReason": "end_turn"}))
    conversation.hear(Failure(None, -32700, "parse error"))
    assert not conversation.is_over


@pytest.mark.parametrize("reason", ["max_tokens", "max_turn_requests", "refusal", "cancelled"])
def test_a_turn_that_ends_early_has_no_answer(reason: str) -> None:
    conversation = conversation_at_its_prompt()
    conversation.hear(chunk("half"))
    conversation.hear(Result(3, {"stopReason": reason}))
    with pytest.raises(LlmError, match=reason):
        conversation.answer()


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ([Result(1, {"protocolVersion": "1"})], "version 1"),
        ([Result(1, None)], "version 1"),
        ([Result(1, {"protocolVersion": 1}), Result(2, {})], "without an id"),
        ([Result(1, {"protocolVersion": 1}), Result(2, {"sessionId": "s"}), Result(3, {})], "without saying why"),
    ],
)
def test_nonsense_ends_it(answers: list[Message], problem: str) -> None:
    conversation = Conversation("learn this", "/work", "an-agent")
    conversation.begin()
    for message in answers:
        conversation.hear(message)
    with pytest.raises(AgentSpokeNonsense, match=problem):
        conversation.answer()


def test_a_refusal_is_told_by_its_number_and_not_in_the_agents_words() -> None:
    conversation = conversation_at_its_prompt()
    conversation.hear(Failure(3, -32603, "could not read: learn this"))
    with pytest.raises(LlmError, match=r"^the agent refused session/prompt \(error -32603\)$"):
        conversation.answer()


@pytest.mark.parametrize(
    ("agent", "login", "said"),
    [
        ("kiro-cli", "kiro-cli login", "the agent kiro-cli wants you to log in: kiro-cli login"),
        ("codex-acp@1", "codex login", "the agent codex-acp@1 wants you to log in: codex login"),
        ("my-agent", "", "the agent my-agent wants you to log in with it"),
    ],
)
def test_one_that_wants_a_login_is_told_by_its_own(agent: str, login: str, said: str) -> None:
    conversation = Conversation("learn this", "/work", agent)
    conversation.begin()
    conversation.hear(Failure(1, acp.AUTHENTICATION_REQUIRED, "learn this"))
    with pytest.raises(AgentWantsLogin) as caught:
        conversation.answer()
    assert (str(caught.value), caught.value.login) == (said, login)


def test_an_answer_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acp, "ANSWER_CHARACTERS", 10)
    conversation = conversation_at_its_prompt()
    conversation.hear(chunk("12345678"))
    conversation.hear(chunk("901"))
    with pytest.raises(AgentSpokeNonsense, match="more than 10 characters"):
        conversation.answer()


@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        ([("a", "allow_once"), ("r", "reject_always"), ("o", "reject_once")], {"outcome": "selected", "optionId": "o"}),
        ([("a", "allow_always"), ("r", "reject_always")], {"outcome": "selected", "optionId": "r"}),
        ([("a", "allow_once")], {"outcome": "cancelled"}),
        ([], {"outcome": "cancelled"}),
    ],
)
def test_permission_is_never_given(options: list[tuple[str, str]], outcome: dict[str, str]) -> None:
    params = {"sessionId": "s", "options": [{"optionId": name, "kind": kind} for name, kind in options]}
    assert refusal_of(Request(7, "session/request_permission", params)) == Result(7, {"outcome": outcome})


@pytest.mark.parametrize("params", [None, [], {"options": 7}, {"options": [7, {"kind": "reject_once", "optionId": 1}]}])
def test_a_malformed_request_for_permission_is_cancelled(params: Any) -> None:
    answer = refusal_of(Request("x", "session/request_permission", params))
    assert answer == Result("x", {"outcome": {"outcome": "cancelled"}})


@pytest.mark.parametrize("method", ["fs/read_text_file", "fs/write_text_file", "terminal/create", "x"])
def test_whatever_else_it_asks_is_not_found(method: str) -> None:
    assert refusal_of(Request(1, method, {})) == Failure(1, -32601, "method not found")
