"""``kiro-learn mcp`` as a process, with any standard input, and with a daemon that may end."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kiro_learn.frontends.mcp import stdio
from kiro_learn.wire.mcp.tools import TOOLS
from tests.integration.mcp.stdio_client import (
    HELLO,
    Peer,
    daemon_pid,
    environment_of,
    stdio_server,
    stop_daemon,
)

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
CODES = {-32700, -32600, -32601, -32602}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    (place / ".git").mkdir(parents=True)
    return place


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "home"
    yield place
    stop_daemon(place)


@pytest.fixture
def peer(home: Path, folder: Path) -> Iterator[Peer]:
    with stdio_server(home, folder) as found:
        found.initialize()
        yield found


def test_what_needs_no_memory_is_answered_without_a_daemon(peer: Peer, home: Path) -> None:
    assert len(peer.ask("tools/list")["result"]["tools"]) == len(TOOLS)
    assert len(peer.ask("prompts/list")["result"]["prompts"]) == 2
    assert peer.call("search_memory", querry="x")["isError"]
    assert not (home / "daemon.lock").exists()
    assert peer.end() == 0


def test_the_first_call_starts_the_daemon_and_the_project_is_the_folder(home: Path, folder: Path) -> None:
    below = folder / "src"
    below.mkdir()
    with stdio_server(home, below) as peer:
        peer.initialize()
        saved = peer.call("save_observation", title="Zebras are striped")["structuredContent"]
        assert peer.end() == 0
    for arguments, more in (((), {"KIRO_LEARN_PROJECT": str(folder)}), (("--project", str(below)), {})):
        with stdio_server(home, home, *arguments, environment=environment_of(home, **more)) as peer:
            peer.initialize()
            found = peer.call("search_memory", query="zebras")["structuredContent"]["memories"]
            assert [each["id"] for each in found] == [saved["id"]]
    with stdio_server(home, home) as peer:
        peer.initialize()
        assert peer.call("search_memory", query="zebras")["structuredContent"]["memories"] == []


def test_a_project_in_the_environment_keeps_no_daemon_from_starting(home: Path, folder: Path) -> None:
    with stdio_server(home, home.parent, environment=environment_of(home, KIRO_LEARN_PROJECT=str(folder))) as peer:
        peer.initialize()
        assert not peer.call("search_memory", query="zebras").get("isError")


def test_no_daemon_is_said_plainly(home: Path, folder: Path) -> None:
    with stdio_server(home, folder, "--no-start") as peer:
        peer.initialize()
        result = peer.call("search_memory", query="x")
        assert result["content"][0]["text"] == "the daemon is not running\nhint: kiro-learn start"
        assert result["isError"]
        assert peer.ask("resources/list")["error"]["code"] == -32603


def test_a_daemon_that_cannot_start_is_said_with_its_reason(home: Path, folder: Path) -> None:
    environment = environment_of(home, KIRO_LEARN_SERVER_PORT="no port")
    with stdio_server(home, folder, environment=environment) as peer:
        peer.initialize()
        result = peer.call("search_memory", query="x")
        assert result["isError"]
        assert "KIRO_LEARN_SERVER_PORT" in result["content"][0]["text"]


def test_a_token_that_the_daemon_does_not_know_is_named(peer: Peer, home: Path) -> None:
    peer.call("search_memory", query="x")
    (home / "token").write_text("another\n")
    text = peer.call("search_memory", query="x")["content"][0]["text"]
    assert f"{home}/token" in text
    assert "hint: kiro-learn restart" in text
    os.kill(daemon_pid(home), signal.SIGTERM)


def test_a_message_may_come_in_pieces_and_many_in_one(peer: Peer) -> None:
    line = json.dumps({**PING, "id": "é"}, ensure_ascii=False).encode() + b"\n"
    for index in range(len(line)):
        peer.write(line[index : index + 1])
    assert peer.read()["id"] == "é"
    peer.write(b"".join(json.dumps({**PING, "id": number}).encode() + b"\r\n\n" for number in range(500)))
    assert [peer.read()["id"] for _ in range(500)] == list(range(500))


def test_a_huge_line_is_refused_and_the_next_is_answered(peer: Peer) -> None:
    peer.write(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"')
    for _ in range(80):
        peer.write(b"x" * 65_536)
    peer.write(b'"}}\n')
    assert peer.read()["error"]["code"] == -32600
    assert peer.ask("ping")["result"] == {}


def test_what_is_larger_than_the_daemon_takes_is_a_tools_error(peer: Peer) -> None:
    result = peer.call("save_observation", title="t", text="x" * 100_000, files_read=["f" * 500] * 100)
    assert not result.get("isError"), result
    assert peer.call("recall_context", prompt="p" * 10_001)["isError"]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_batches_are_of_their_revision(home: Path, folder: Path, version: str) -> None:
    batch = [PING, {"jsonrpc": "2.0", "method": "x"}, {"jsonrpc": "2.0", "id": 2, "method": "no/such"}]
    with stdio_server(home, folder) as peer:
        peer.send({**HELLO, "params": {**HELLO["params"], "protocolVersion": version}})  # type: ignore[dict-item]  # a literal's type
        assert peer.read()["result"]["protocolVersion"] == version
        peer.send(batch)
        answer = peer.read()
        if version in {"2024-11-05", "2025-03-26"}:
            assert [each["id"] for each in answer] == [1, 2]
        else:
            assert answer["error"]["code"] == -32600


def test_a_batch_of_calls_is_answered_by_one_array(home: Path, folder: Path) -> None:
    with stdio_server(home, folder) as peer:
        peer.send({**HELLO, "params": {**HELLO["params"], "protocolVersion": "2025-03-26"}})  # type: ignore[dict-item]  # a literal's type
        peer.read()
        search = {"name": "search_memory", "arguments": {"query": "x"}}
        peer.send([{**PING, "method": "tools/call", "params": search, "id": number} for number in (5, 6)] + [PING])
        assert sorted(each["id"] for each in peer.read()) == [1, 5, 6]


def test_a_flood_of_calls_is_answered_call_by_call(peer: Peer) -> None:
    call = {"name": "get_memories", "arguments": {"ids": ["mr_" + "0" * 26], "project": "p" * 200}}
    peer.call("search_memory", query="x")
    peer.send(*({**PING, "id": number, "method": "tools/call", "params": call} for number in range(150)))
    assert sorted(peer.read()["id"] for _ in range(150)) == list(range(150))


def test_what_is_cancelled_is_not_answered(peer: Peer) -> None:
    call = {"name": "search_memory", "arguments": {"query": "x"}}
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    peer.send({**PING, "id": 7, "method": "tools/call", "params": call}, cancelled, {**PING, "id": 8})
    assert peer.read()["id"] == 8
    assert not peer.call("search_memory", query="x").get("isError")


def test_the_end_of_the_input_ends_it_after_what_is_under_way(peer: Peer) -> None:
    peer.call("search_memory", query="x")
    call = {"name": "search_memory", "arguments": {"query": "x"}}
    peer.send({**PING, "id": 9, "method": "tools/call", "params": call})
    peer.write(b'{"jsonrpc":"2.0","id":10,')
    assert peer.end() == 0
    assert peer.read()["id"] == 9
    assert peer.process.stderr is not None
    assert peer.process.stderr.read() == b""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)])
def test_a_signal_ends_it_at_once(peer: Peer, number: signal.Signals, code: int) -> None:
    peer.process.send_signal(number)
    assert peer.process.wait(5) == code
    assert peer.process.stderr is not None
    assert peer.process.stderr.read() == b""


def test_a_client_that_is_gone_ends_it(peer: Peer) -> None:
    assert peer.process.stdout is not None
    peer.process.stdout.close()
    peer.send(PING)
    assert peer.process.wait(5) == 1


def test_a_daemon_that_was_killed_is_started_again(peer: Peer, home: Path) -> None:
    saved = peer.call("save_observation", title="Zebras are striped")["structuredContent"]
    os.kill(daemon_pid(home), signal.SIGKILL)
    found = peer.call("search_memory", query="zebras")["structuredContent"]["memories"]
    assert [each["id"] for each in found] == [saved["id"]]


def test_a_daemon_killed_in_the_middle_of_a_call(peer: Peer, home: Path) -> None:
    """Reads are asked again. For writes, the answer says that the result is not known."""
    peer.call("search_memory", query="x")
    first = daemon_pid(home)
    os.kill(first, signal.SIGSTOP)
    reading = {"name": "search_memory", "arguments": {"query": "x"}}
    saving = {"name": "save_observation", "arguments": {"title": "Zebras"}}
    peer.send({**PING, "id": 3, "method": "tools/call", "params": reading})
    peer.send({**PING, "id": 4, "method": "tools/call", "params": saving}, PING)
    assert peer.read()["id"] == 1
    time.sleep(0.2)
    os.kill(first, signal.SIGKILL)
    answers = {answer["id"]: answer["result"] for answer in (peer.read(), peer.read())}
    assert not answers[3].get("isError"), answers[3]
    assert "unknown whether" in answers[4]["content"][0]["text"]
    assert daemon_pid(home) != first


def test_a_thousand_malformed_messages_kill_nothing(peer: Peer) -> None:
    """Each gets an error of JSON-RPC, and a message after them is answered."""
    chance = random.Random(20261122)  # the same lines in every run
    lines = [malformed(chance) for _ in range(1000)]
    for start in range(0, len(lines), 50):
        for line in lines[start : start + 50]:
            peer.write(line + b"\n")
        for line in lines[start : start + 50]:
            answer = peer.read()
            assert answer["error"]["code"] in CODES, (line, answer)
    assert peer.ask("ping")["result"] == {}
    assert peer.process.poll() is None


def malformed(chance: random.Random) -> bytes:
    """A line that is wrong in one of many ways, and must be answered."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": chance.randrange(1000), "method": "ping", "params": {}}
    text = json.dumps(message).encode()
    junk: list[Any] = [None, True, 1.5, "x", [], [1], {}, -7, "\ud800"]
    match chance.randrange(9):
        case 0:
            return text[: chance.randrange(1, len(text))]
        case 1:
            cut = chance.randrange(len(text))
            return text[:cut] + bytes([chance.choice([0, 1, 0x80, 0xFE, 0xFF])]) + text[cut:]
        case 2:
            return json.dumps(chance.choice(junk)).encode()
        case 3:
            message["jsonrpc"] = chance.choice([None, 2, 2.0, "1.0", [], ""])
        case 4:
            message["id"] = chance.choice([None, True, 1.5, [], {}])
        case 5:
            message["method"] = chance.choice([None, 7, [], {}, "no/such", ""])
        case 6:
            message["params"] = chance.choice([None, 7, "x", True, [], [1]])
        case 7:
            message |= {"method": "tools/call", "params": {"name": chance.choice(junk), "arguments": {}}}
        case _:
            message |= {"method": "resources/read", "params": {"uri": chance.choice([None, 7, [], {}])}}
    return json.dumps(message).encode()


def test_a_last_message_without_a_line_end_is_answered(home: Path, folder: Path) -> None:
    with stdio_server(home, folder) as peer:
        peer.write(json.dumps(PING).encode())
        assert peer.process.stdin is not None
        peer.process.stdin.close()
        assert peer.read()["result"] == {}
        assert peer.process.wait() == 0


def test_an_output_that_takes_no_more_for_now_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent may have made the pipe non-blocking for itself, which makes it so for us too."""
    output, ours = os.pipe()
    os.set_blocking(ours, False)
    monkeypatch.setattr(stdio, "STDOUT", ours)
    with subprocess.Popen(["/bin/sh", "-c", "sleep 0.2; wc -c"], stdin=output, stdout=subprocess.PIPE) as reader:
        os.close(output)
        try:
            stdio._write_all(b"x" * 10_000_000)  # called directly: a process would have to be faster than its reader
        finally:
            os.close(ours)
        assert reader.communicate()[0].split() == [b"10000001"]
