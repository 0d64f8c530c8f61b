"""A real model behind a real OpenAI-compatible server: llama.cpp's, on loopback.

Skipped unless LLAMA_CPP_MODEL names a model in the GGUF format and an interpreter has ``llama-cpp-python[server]``:
this one, or the one that LLAMA_CPP_PYTHON names. The smallest model will do: its answers are not judged here.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import trio

from kiro_learn.adapters.openai.server import OpenAiLlm
from tests.integration.daemon_process import DaemonProcess, call, running_daemon
from tests.integration.llm.test_learning_by_a_model import EVENT, PROJECT_ID, records

MODEL = os.environ.get("LLAMA_CPP_MODEL", "")
PYTHON = os.environ.get("LLAMA_CPP_PYTHON", sys.executable)
READY_SECONDS = 120.0
CONTEXT_TOKENS = 4096
"""Enough for a prompt of one event; it also ends an answer that has no end of its own."""

GRAMMAR = r"""
root ::= "<memory_record type=\"discovery\" events=\"1\">" title summary "</memory_record>"
title ::= "<title>" text "</title>"
summary ::= "<summary>" text "</summary>"
text ::= [A-Za-z] [A-Za-z0-9 .,]{4,80}
"""


def _problem() -> str:
    """Why there is no real server; empty if there is one."""
    if not Path(MODEL).is_file():
        return "LLAMA_CPP_MODEL names no model file"
    probe = [PYTHON, "-c", "import llama_cpp.server.app"]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        return f"{PYTHON} has no llama-cpp-python[server]"
    return ""


PROBLEM = _problem()
pytestmark = pytest.mark.skipif(bool(PROBLEM), reason=PROBLEM)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of the server, once the model is loaded."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number: int = listener.getsockname()[1]
    settings = ("--model", MODEL, "--host", "127.0.0.1", "--port", str(number), "--n_ctx", str(CONTEXT_TOKENS))
    server = subprocess.Popen(
        [PYTHON, "-m", "llama_cpp.server", *settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_ready(server, number)
        yield number
    finally:
        server.kill()
        server.wait()


def wait_ready(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        assert server.poll() is None, "the server ended at once"
        try:
            if ask(port, "GET", "/v1/models")[0] == http.client.OK:
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the server is not ready")


def ask(port: int, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=READY_SECONDS)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


@contextmanager
def with_grammar(port: int) -> Iterator[int]:
    """A proxy of the server that adds ``GRAMMAR`` to every request, which our client cannot send."""

    class Adding(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = ask(port, "POST", self.path, json.dumps({**question, "grammar": GRAMMAR}).encode())
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Adding) as way:
        threading.Thread(target=way.serve_forever, daemon=True).start()
        yield way.server_address[1]
        way.shutdown()


def settings_for(port: int, **more: str) -> dict[str, str]:
    return {
        "KIRO_LEARN_LLM_BACKEND": "openai",
        "KIRO_LEARN_LLM_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "KIRO_LEARN_LLM_MODEL": "smallest",
        "KIRO_LEARN_LEARNING_EXTRACTION_SECONDS": "120",
        "KIRO_LEARN_LEARNING_EXTRACTION_ATTEMPTS": "1",
        "KIRO_LEARN_EMBEDDING_ENABLED": "no",
        **more,
    }


def flush(daemon: DaemonProcess) -> tuple[int, Any]:
    connection = daemon.connect(timeout_seconds=READY_SECONDS)
    try:
        return call(connection, daemon.token, "POST", f"/v1/projects/{PROJECT_ID}/flush", {})
    finally:
        connection.close()


def test_it_answers_a_prompt(port: int) -> None:
    llm = OpenAiLlm(base_url=f"http://127.0.0.1:{port}/v1", model="smallest", is_local=True, context_tokens=8_192)
    assert trio.run(llm.complete, "What is the capital of France? Answer in one word.").strip()


def test_memories_that_it_words_are_kept(port: int, tmp_path: Path) -> None:
    with with_grammar(port) as way, running_daemon(tmp_path, settings_for(way)) as daemon:
        daemon.call("POST", "/v1/events", EVENT)
        assert flush(daemon) == (200, {"events": 1, "records": 1, "parked": 0})
        (record,) = records(daemon)
        assert (record["strategy"], record["source_event_ids"]) == ("llm-summary", [EVENT["event_id"]])
        assert daemon.call("GET", "/v1/status")["waiting"]["event_count"] == 0


def test_whatever_it_says_unguided_nothing_is_lost(port: int, tmp_path: Path) -> None:
    """So small a model mostly chats. Then the events wait, until the only call of the day is used up."""
    with running_daemon(tmp_path, settings_for(port, KIRO_LEARN_LLM_DAILY_CALLS="1")) as daemon:
        daemon.call("POST", "/v1/events", EVENT)
        flush(daemon)
        assert flush(daemon)[0] == http.client.OK
        status = daemon.call("GET", "/v1/status")
        assert (status["waiting"]["event_count"], status["llm"]["usage"]["calls"]) == (0, 1)
