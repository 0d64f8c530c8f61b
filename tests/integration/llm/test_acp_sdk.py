"""The official SDK as the judge: its schema takes our messages, and an agent on it understands them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from kiro_learn.adapters.acp.process import AcpLlm
from kiro_learn.wire.acp import Conversation, refusal_of
from kiro_learn.wire.jsonrpc import Message, Request, Result

AGENT = Path(__file__).with_name("sdk_agent.py")


def said_by_us() -> list[Message]:
    conversation = Conversation("learn this", "/work", "an-agent")
    return [
        conversation.begin(),
        *conversation.hear(Result(1, {"protocolVersion": 1})),
        *conversation.hear(Result(2, {"sessionId": "s"})),
    ]


@pytest.fixture(scope="module")
def schema() -> Any:
    from acp import schema as official  # noqa: PLC0415  # takes half a second

    return official


def test_the_schema_takes_every_request_of_ours(schema: Any) -> None:
    kinds = {
        "initialize": schema.InitializeRequest,
        "session/new": schema.NewSessionRequest,
        "session/prompt": schema.PromptRequest,
    }
    requests = [message for message in said_by_us() if isinstance(message, Request)]
    assert [request.method for request in requests] == list(kinds)
    for request in requests:
        read = kinds[request.method].model_validate(request.params, strict=True)
        assert request.params == read.model_dump(by_alias=True, exclude_unset=True)


@pytest.mark.parametrize("options", [[{"optionId": "no", "name": "No", "kind": "reject_once"}], []])
def test_the_schema_takes_our_refusals(schema: Any, options: list[dict[str, str]]) -> None:
    answer = refusal_of(Request(1, "session/request_permission", {"options": options}))
    assert isinstance(answer, Result)
    schema.RequestPermissionResponse.model_validate(answer.value, strict=True)


def test_an_agent_built_on_the_sdk_understands_us(tmp_path: Path) -> None:
    llm = AcpLlm(command=(sys.executable, str(AGENT)), cwd=tmp_path, environment={})
    prompt = "Always use pnpm \N{EM DASH} never npm.\n" * 3000
    assert trio.run(llm.complete, prompt) == f"no, error -32601, {prompt}"
