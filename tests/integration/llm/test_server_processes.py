"""Model servers with quirks, each a real process: their requests, and what a daemon says of them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio

from kiro_learn.adapters.openai.server import OpenAiLlm
from kiro_learn.errors import LlmError, ModelBusy
from tests.integration.daemon_process import DaemonProcess, running_daemon
from tests.integration.llm import bad_server
from tests.integration.llm.test_learning_by_a_model import records, wait_learned

LONG_PROMPT = "learn this, word by word. " * 400
CONTEXT_TOKENS = 5_000


@attrs.frozen
class ServerProcess:
    folder: Path

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{(self.folder / 'port').read_text()}/v1"

    def asked(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "asked").read_text(encoding="utf-8").splitlines()]

    def questions(self) -> list[dict[str, Any]]:
        return [request["body"] for request in self.asked() if request["body"]]

    def llm(self) -> OpenAiLlm:
        return OpenAiLlm(base_url=self.base_url, model="small", is_local=True, context_tokens=CONTEXT_TOKENS)


@contextmanager
def a_server(behaviour: str, folder: Path) -> Iterator[ServerProcess]:
    command = (sys.executable, "-I", bad_server.__file__, behaviour, str(folder))
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 20
        while not (folder / "port").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        try:
            yield ServerProcess(folder)
        finally:
            process.kill()


@contextmanager
def a_daemon(server: ServerProcess, tmp_path: Path) -> Iterator[DaemonProcess]:
    settings = {
        "KIRO_LEARN_LLM_BACKEND": "openai",
        "KIRO_LEARN_LLM_BASE_URL": server.base_url,
        "KIRO_LEARN_LLM_MODEL": "small",
        "KIRO_LEARN_EMBEDDING_ENABLED": "no",
    }
    with running_daemon(tmp_path / "home", settings) as daemon:
        yield daemon


def ask(llm: OpenAiLlm, *prompts: str) -> list[str]:
    async def asking() -> list[str]:
        with trio.fail_after(20):
            return [await llm.complete(prompt) for prompt in prompts]

    return trio.run(asking)


def test_ollama_is_asked_in_its_own_way_for_a_context_that_holds_the_prompt(tmp_path: Path) -> None:
    with a_server("ollama", tmp_path) as server:
        llm = server.llm()
        assert ask(llm, LONG_PROMPT, "again") == [bad_server.ANSWER] * 2
        assert [request["path"] for request in server.asked()] == ["/api/version", "/api/chat", "/api/chat"]
        first, second = server.questions()
        assert first["options"] == second["options"] == {"num_ctx": CONTEXT_TOKENS, "temperature": 0}
        assert (first["messages"], first["stream"]) == ([{"role": "user", "content": LONG_PROMPT}], False)
        assert llm.warning() == ""


def test_ollama_that_is_still_starting_is_known_as_soon_as_it_has_started(tmp_path: Path) -> None:
    with a_server("ollama_late", tmp_path) as server:
        ask(server.llm(), "one", "two", "three")
        asked = [request["path"] for request in server.asked()]
        assert asked == ["/api/version", "/v1/chat/completions", "/api/version", "/api/chat", "/api/chat"]


def test_a_turn_that_a_content_filter_empties_the_answer_to_is_learned_without_the_model(tmp_path: Path) -> None:
    with a_server("filters", tmp_path) as server, a_daemon(server, tmp_path) as daemon:
        assert wait_learned(daemon) == {"events": 1, "records": 1, "parked": 0}
        assert [record["strategy"] for record in records(daemon)] == ["extractive"]
        (project,) = daemon.call("GET", "/v1/status")["projects"]
        assert "content filter" in project["refusal"]


def test_any_other_server_is_asked_as_openai_says(tmp_path: Path) -> None:
    with a_server("ok", tmp_path) as server:
        ask(server.llm(), LONG_PROMPT)
        assert [request["path"] for request in server.asked()] == ["/api/version", "/v1/chat/completions"]


def test_a_prompt_that_was_read_in_part_is_told_of_until_one_as_long_is_read(tmp_path: Path) -> None:
    with a_server("cuts", tmp_path) as server:
        llm = server.llm()
        ask(llm, LONG_PROMPT)
        told = llm.warning()
        assert told == "context too small: 20 tokens were read of 10,400 characters"
        ask(llm, "short")
        assert llm.warning() == told


@pytest.mark.parametrize("behaviour", ["no_temperature", "ollama_no_temperature"])
def test_a_temperature_that_is_refused_is_left_out_from_then_on(tmp_path: Path, behaviour: str) -> None:
    with a_server(behaviour, tmp_path) as server:
        assert ask(server.llm(), "one", "two") == [bad_server.ANSWER] * 2
        assert ["temperature" in json.dumps(question) for question in server.questions()] == [True, False, False]


def test_a_server_is_left_alone_for_as_long_as_it_asks_for(tmp_path: Path) -> None:
    async def scenario(llm: OpenAiLlm) -> None:
        with pytest.raises(ModelBusy, match="accepts no requests for 2 s") as caught:
            await llm.complete("one")
        assert caught.value.retry_after_seconds == 2
        with pytest.raises(ModelBusy):
            await llm.complete("two")
        await trio.sleep(2.1)
        assert await llm.complete("three") == bad_server.ANSWER

    with a_server("busy", tmp_path) as server:
        trio.run(scenario, server.llm())
        assert [question["messages"][0]["content"] for question in server.questions()] == ["one", "three"]


def test_hours_are_cut_to_as_long_as_learning_pauses_anyway(tmp_path: Path) -> None:
    with a_server("busy_for_hours", tmp_path) as server, pytest.raises(ModelBusy) as caught:
        ask(server.llm(), "one")
    assert caught.value.retry_after_seconds == 600


def test_a_daemon_asks_again_when_the_server_said(tmp_path: Path) -> None:
    """The server said it with a date. The attempts of one run are that far apart."""
    with a_server("busy_until", tmp_path) as server, a_daemon(server, tmp_path) as daemon:
        assert wait_learned(daemon)["records"] == 1
        first, second = [request["at"] for request in server.asked() if request["body"]]
        assert 1 < second - first < 10


def test_a_daemon_says_that_the_models_context_is_too_small(tmp_path: Path) -> None:
    with a_server("cuts", tmp_path) as server, a_daemon(server, tmp_path) as daemon:
        wait_learned(daemon)
        assert "context too small" in daemon.call("GET", "/v1/status")["llm"]["warning"]
        daemon.stop()
    assert '"llm.prompt_cut"' in "".join(file.read_text() for file in (tmp_path / "home" / "logs").iterdir())


def test_what_a_server_sends_as_its_models_thoughts_is_not_learned(tmp_path: Path) -> None:
    with a_server("thinks", tmp_path) as server, a_daemon(server, tmp_path) as daemon:
        assert wait_learned(daemon)["records"] == 1
        assert [record["title"] for record in records(daemon)] == ["Use pnpm"]


def test_a_server_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with a_server("ok", tmp_path) as server:
        llm = server.llm()
    with pytest.raises(LlmError, match="cannot be asked"):
        ask(llm, "one")
