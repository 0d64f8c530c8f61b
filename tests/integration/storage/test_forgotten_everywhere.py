"""A real daemon forgets: once it has answered, no file of its home holds a forgotten word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kiro_learn.client import KiroLearn
from kiro_learn.client.routes import Client
from kiro_learn.testing.daemon import a_record
from kiro_learn.wire.messages import write_record
from tests.integration.cli.command_line import event
from tests.integration.cli.test_activity_verbs import project_in
from tests.integration.daemon_process import DaemonProcess, running_daemon
from tests.integration.storage.test_erasing import mark

SETTINGS = {"KIRO_LEARN_EMBEDDING_ENABLED": "no", "KIRO_LEARN_LOG_LEVEL": "debug"}


def files_with(home: Path, word: str) -> list[str]:
    return [file.name for file in home.rglob("*") if file.is_file() and word.encode() in file.read_bytes()]


def put(daemon: DaemonProcess, number: int) -> None:
    record = a_record(number, f"about {mark(number)}", f"{mark(number)} " + "word " * number)
    body: dict[str, Any] = write_record(record)
    daemon.call("POST", "/v1/memories", body)


def test_no_file_of_the_home_holds_a_word_of_what_was_forgotten(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with running_daemon(home, SETTINGS) as daemon, Client(home) as client:
        for number in range(100):
            put(daemon, number)
        for number in range(0, 100, 10):
            assert files_with(home, mark(number)[8:])
            client.forget(a_record(number).record_id)
            assert files_with(home, mark(number)[8:]) == []
            assert (home / "kiro-learn.db-wal").stat().st_size == 0
        assert files_with(home, mark(5)[8:])
        daemon.stop()
    assert not any(files_with(home, mark(number)[8:]) for number in range(0, 100, 10))


def test_nor_does_one_hold_what_was_forgotten_of_the_graph(tmp_path: Path) -> None:
    home, project = tmp_path / "home", project_in(tmp_path / "shop")
    with running_daemon(home, SETTINGS | {"KIRO_LEARN_GRAPH_LEARN": "yes"}) as daemon, Client(home) as client:
        with KiroLearn(project, home=home) as memory:
            memory.store_knowledge("Tokens expire", "After 15 minutes.", knowledge_type="decision")
        namespace = client.memories()["items"][0]["namespace"]
        _, _, actor_id, _, project_id, _ = namespace.split("/")
        client.post_event(event(namespace, str(project), 1, "We use Redis for the sessions.") | {"actor_id": actor_id})
        client.flush(project_id)
        (fact,) = daemon.call("GET", f"/api/graph?kind=facts&project={project}")["items"]
        for number in range(3):
            body = {"project": str(project), "id": fact["id"], "correction": {"object": f"Zanzibarium {number}"}}
            fact = daemon.call("POST", "/api/graph/item", body)
        assert files_with(home, "Zanzibarium 2")
        for item in (fact, *items_named(daemon, project, "Zanzibarium 2")):
            daemon.call("DELETE", f"/api/graph/item?project={project}&id={item['id']}")
        assert files_with(home, "Zanzibarium 2") == []
        daemon.stop()
    assert files_with(home, "Zanzibarium 2") == []


def items_named(daemon: DaemonProcess, project: Path, name: str) -> list[dict[str, Any]]:
    found = daemon.call("GET", f"/api/graph?kind=entities&project={project}")["items"]
    return [each for each in found if each["name"] == name]
