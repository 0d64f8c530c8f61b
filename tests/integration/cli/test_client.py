"""The client and a real daemon agree on every route, and the client says so if there is no daemon."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kiro_learn.adapters.files import Home
from kiro_learn.client.address import DaemonNotReady, DaemonSilent, DaemonUnreachable, TokenGone, daemon_address_of
from kiro_learn.client.building import RequestRefused
from kiro_learn.client.routes import Client
from tests.integration.cli.command_line import event, record
from tests.integration.daemon_process import DaemonProcess, running_daemon

FOLDER = "/somewhere/web-shop"
NAMESPACE = f"/actor/ana/project/{'ab' * 32}/"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonProcess]:
    with running_daemon(tmp_path_factory.mktemp("client") / "home") as daemon:
        yield daemon


@pytest.fixture
def client(daemon: DaemonProcess) -> Iterator[Client]:
    with Client(daemon.home) as client:
        yield client


def test_it_finds_the_daemon_by_its_home(client: Client, daemon: DaemonProcess) -> None:
    assert client.health()["status"] == "ok"
    assert client.address == (daemon.home / "daemon.address").read_text().strip()
    assert client.status()["pid"] == daemon.process.pid


def test_it_finds_the_daemon_by_url_and_token(daemon: DaemonProcess) -> None:
    address = (daemon.home / "daemon.address").read_text().strip()
    with Client(url=f"http://{address}", token=daemon.token) as client:
        assert client.stats()["total_projects"] >= 0


def test_a_wrong_token_is_refused(daemon: DaemonProcess) -> None:
    address = (daemon.home / "daemon.address").read_text().strip()
    with Client(url=f"http://{address}", token="wrong") as client, pytest.raises(RequestRefused) as caught:
        client.status()
    assert caught.value.status == 401


def test_one_connection_serves_many_requests(client: Client) -> None:
    client.health()
    first = client._connection
    client.health()
    assert client._connection is first


def test_events_are_learned_and_answered(client: Client) -> None:
    prompt = event(NAMESPACE, FOLDER, 10, "Always use pnpm in this repo, never npm.")
    assert client.post_event(prompt) == {"event_id": prompt["event_id"], "stored": True}
    assert client.post_event(prompt)["stored"] is False
    assert client.events(namespace=NAMESPACE, limit=1)["items"][0]["event_id"] == prompt["event_id"]
    assert client.flush("ab" * 32)["records"] == 1
    asked = event(NAMESPACE, FOLDER, 11, "npm or pnpm in this repo?")
    assert "pnpm" in client.post_event(asked, retrieve=True)["retrieval"]["context"]
    (last,) = client.retrievals(namespace=NAMESPACE, limit=1)["items"]
    assert (last["context_bytes"] > 0, last["query_characters"]) == (True, len("npm or pnpm in this repo?"))


def test_memories_are_kept_found_listed_and_forgotten(client: Client) -> None:
    namespace = f"/actor/ana/project/{'cd' * 32}/"
    kept, *others = (record(namespace, number) for number in range(20, 23))
    assert client.remember(kept) == {"record_id": kept["record_id"], "stored": True}
    assert client.import_memories([kept, *others]) == {"imported": 2, "skipped": 1, "errors": []}
    assert client.memory(kept["record_id"])["title"] == kept["title"]
    assert client.memories(namespace=namespace, limit=1, offset=1)["total"] == 3
    assert len(client.ranked_memories(namespace, "expiry check", limit=2, mode="lexical")) == 2
    client.backfill_embeddings()
    assert client.embedding_stats().available is True
    client.forget(kept["record_id"])
    with pytest.raises(RequestRefused, match="no memory has the id"):
        client.memory(kept["record_id"])


def test_wrong_values_are_named(client: Client) -> None:
    with pytest.raises(RequestRefused) as caught:
        client.post_event({})
    assert caught.value.status == 400
    assert caught.value.details


def test_a_folder_has_a_project(client: Client, tmp_path: Path) -> None:
    expected = {"namespace", "project_id", "project_path", "branch", "repository_path"}
    assert set(client.project_of(tmp_path)) == expected


def test_no_home_no_daemon(tmp_path: Path) -> None:
    with pytest.raises(DaemonUnreachable):
        Client(tmp_path / "home").health()


def test_the_address_of_a_dead_daemon_is_not_believed(tmp_path: Path) -> None:
    """Another program may listen there by now, and must not get the token."""
    home = Home(tmp_path)
    home.prepare()
    home.token()
    with home.lock():
        pass
    with socket.create_server(("127.0.0.1", 0)) as anyone:
        (tmp_path / "daemon.address").write_text(f"127.0.0.1:{anyone.getsockname()[1]}\n")
        with pytest.raises(DaemonUnreachable):
            Client(tmp_path, patience_seconds=1).health()
        anyone.settimeout(0)
        with pytest.raises(BlockingIOError):
            anyone.accept()


def test_a_daemon_that_says_nothing_is_told_from_none(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.prepare()
    home.token()
    with socket.create_server(("127.0.0.1", 0)) as mute, home.lock(), home.announced(*mute.getsockname()):
        os.utime(tmp_path / "daemon.lock", (0, 0))
        with pytest.raises(DaemonSilent) as caught:
            Client(tmp_path, patience_seconds=0.05).status()
        assert caught.value.hint == f"kill -9 {os.getpid()} && kiro-learn start"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who holds a lock")
def test_nobody_is_told_to_kill_a_daemon_that_starts_or_stops(tmp_path: Path) -> None:
    def said() -> DaemonSilent:
        with pytest.raises(DaemonSilent) as caught:
            Client(tmp_path, patience_seconds=0.05).health()
        return caught.value

    home = Home(tmp_path)
    home.prepare()
    home.token()
    with home.lock():
        assert isinstance(said(), DaemonNotReady), "it has no address yet"
        assert said().hint == "kiro-learn status"
        with socket.create_server(("127.0.0.1", 0)) as mute:
            address = mute.getsockname()
            with home.announced(*address):
                assert isinstance(said(), DaemonNotReady), "it has one, and only just started"
        os.utime(tmp_path / "daemon.lock", (0, 0))
        with home.announced(*address):
            assert "kill -9" in said().hint, "it is there for long, and refuses connections"
            home.note_stop()
            assert isinstance(said(), DaemonNotReady), "it has closed its port, and is about to end"


def test_a_token_that_is_given_is_used_with_a_home_too(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.prepare()
    with home.lock(), home.announced("127.0.0.1", 21_100):
        assert daemon_address_of(tmp_path, "given") == ("127.0.0.1", 21_100, "given")
        with pytest.raises(TokenGone):
            daemon_address_of(tmp_path)


def test_a_connection_that_the_daemon_closed_is_opened_again() -> None:
    def serve(server: socket.socket) -> None:
        for _ in range(2):
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server,), daemon=True)
        thread.start()
        with Client(url=f"http://127.0.0.1:{server.getsockname()[1]}") as client:
            client.health()
            client.health()
        thread.join(5)


def test_an_answer_that_is_no_json_is_still_an_error() -> None:
    def serve(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 4\r\n\r\noops")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server,), daemon=True)
        thread.start()
        with (
            Client(url=f"http://127.0.0.1:{server.getsockname()[1]}") as client,
            pytest.raises(RequestRefused) as caught,
        ):
            client.health()
        thread.join(5)
    assert str(caught.value) == "the daemon answered with status 502"
