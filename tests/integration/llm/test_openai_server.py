"""A scripted OpenAI-compatible server on loopback, and the client's result for each of its answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import trio

from kiro_learn.adapters.openai.server import ANSWER_BYTES, OpenAiLlm
from kiro_learn.errors import LlmError

Answer = tuple[int, bytes]
KEY = "sk-" + "k" * 20


def completion(text: Any, **changes: Any) -> Answer:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop", **changes}
    return 200, json.dumps({"id": "c", "object": "chat.completion", "choices": [choice]}).encode()


class ScriptedServer(ThreadingHTTPServer):
    """A server that answers everything with ``answer``, and keeps its requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ScriptedAnswer)
        self.answer: Answer = completion("an answer")
        self.hangs = False
        self.asked: list[tuple[str, dict[str, str], Any]] = []

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class ScriptedAnswer(BaseHTTPRequestHandler):
    server: ScriptedServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, dict(self.headers.items()), json.loads(body)))
        if self.server.hangs:
            self.rfile.read(1)  # until the client hangs up
            return
        status, content = self.server.answer
        self.send_response(status)
        self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as scripted:
        thread = threading.Thread(target=scripted.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield scripted
        scripted.shutdown()
        thread.join()


def ask(base_url: str, *, prompt: str = "learn this", patience_seconds: float = 10.0) -> str:
    llm = OpenAiLlm(base_url=base_url, model="small", api_key=KEY, is_local=True, context_tokens=1)

    async def asking() -> str:
        with trio.fail_after(patience_seconds):
            return await llm.complete(prompt)

    return trio.run(asking)


def test_the_prompt_is_the_only_message_and_the_first_choice_the_answer(server: ScriptedServer) -> None:
    assert ask(server.base_url, prompt="learn \N{SNOWMAN}") == "an answer"
    ((path, headers, body),) = server.asked
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert body == {
        "model": "small",
        "messages": [{"role": "user", "content": "learn \N{SNOWMAN}"}],
        "temperature": 0,
        "stream": False,
    }


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ((500, b"what you sent: a secret"), "answered with status 500"),
        ((401, b""), "answered with status 401"),
        ((302, b""), "answered with status 302"),
        ((200, b"<html>a secret</html>"), "answered with no text"),
        ((200, b"[" * 100_000), "answered with no text"),
        ((200, b'{"choices": []}'), "answered with no text"),
        ((200, b'{"choices": [7]}'), "answered with no text"),
        ((200, b'{"choices": {"a secret": 1}}'), "answered with no text"),
        (completion(None), "answered with no text"),
        (
            completion([{"type": "thinking", "thinking": [{"type": "text", "text": "a secret"}]}]),
            "answered with no text",
        ),
        (completion([7, {"type": "image_url", "text": "a secret"}]), "answered with no text"),
        (completion("half an ans", finish_reason="length"), "before its answer was whole"),
        (completion("", finish_reason="content_filter"), "refused by its content filter"),
        (completion("half an ans", finish_reason="content_filter"), "refused by its content filter"),
        ((200, b" " * (ANSWER_BYTES + 1)), "answered with more than"),
    ],
)
def test_any_other_answer_is_an_error_without_contents(server: ScriptedServer, answer: Answer, problem: str) -> None:
    server.answer = answer
    with pytest.raises(LlmError, match=problem) as caught:
        ask(server.base_url)
    assert "secret" not in f"{caught.value} {caught.value.hint}"
    assert len(server.asked) == 1


def test_one_that_leads_elsewhere_is_not_followed_and_the_setting_is_named(server: ScriptedServer) -> None:
    server.answer = (308, b"")
    with pytest.raises(LlmError, match="answered with status 308") as caught:
        ask(server.base_url)
    assert "base_url" in caught.value.hint
    assert len(server.asked) == 1


def test_an_answer_in_parts_is_the_text_without_the_thoughts(server: ScriptedServer) -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Let me see."}]}
    texts = [{"type": "text", "text": "an "}, {"type": "text", "text": None}, {"type": "text", "text": "answer"}]
    server.answer = completion([thinking, *texts])
    assert ask(server.base_url) == "an answer"


def test_a_server_that_is_not_there_is_an_error(server: ScriptedServer) -> None:
    with pytest.raises(LlmError, match=r"cannot be asked \(ConnectError\)"):
        ask("http://127.0.0.1:9/v1")


def test_one_that_hangs_is_left_at_the_deadline(server: ScriptedServer) -> None:
    server.hangs = True
    with pytest.raises(trio.TooSlowError):
        ask(server.base_url, patience_seconds=0.2)


def test_what_is_for_this_machine_goes_through_no_proxy(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ask(server.base_url) == "an answer"


def test_the_key_is_not_shown() -> None:
    assert KEY not in repr(
        OpenAiLlm(base_url="http://localhost/v1", model="m", api_key=KEY, is_local=True, context_tokens=1)
    )
