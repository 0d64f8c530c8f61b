"""A real daemon forgets: once its answer is out, no file of its home holds a word of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kiro_learn.client.routes import Client
from kiro_learn.testing.daemon import a_record
from kiro_learn.wire.messages import write_record
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
