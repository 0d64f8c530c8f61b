"""``kiro-learn start`` on a home of the first kiro-learn."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from kiro_learn.adapters.files import Home
from kiro_learn.client.address import DaemonSilent
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import daemon_process
from kiro_learn.frontends.cli.shell import Failed
from kiro_learn.model.backup import UpgradeProgress, UpgradeStage
from tests.integration.cli.command_line import done, environment_for, failed, kiro_learn
from tests.unit.adapters.sqlite.first_database import fill
from tests.unit.storage.builders import MINE, event_id

WAITING = {"KIRO_LEARN_LEARNING_BUFFER_IDLE_SECONDS": "300"}

TWENTY_THOUSAND_EVENTS = """
    INSERT INTO events (
        event_id, session_id, actor_id, namespace, schema_version, kind, body_json, valid_time, transaction_time,
        source_json)
    WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    SELECT printf('0X%024d', i), session_id, actor_id, namespace, schema_version, kind,
           body_json || printf('%2000s', ''),
           valid_time, transaction_time, source_json
      FROM n, (SELECT * FROM events LIMIT 1)
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home with three events, one of which waits."""
    home = tmp_path / "home"
    buffer = home / "buffers" / ("a" * 64) / "buffer.ndjson"
    buffer.parent.mkdir(parents=True)
    buffer.write_text(json.dumps({"event_id": event_id(3), "namespace": MINE}) + "\n")
    fill(home / "kiro-learn.db")
    yield home
    kiro_learn(home, "stop")


def version_of(home: Path) -> int:
    database = apsw.Connection(str(home / "kiro-learn.db"), flags=apsw.SQLITE_OPEN_READONLY)
    return int(database.execute("SELECT max(version) FROM _migrations").get)


def test_it_is_upgraded_and_what_waited_waits(home: Path) -> None:
    assert kiro_learn(home, "start", "--port", "0", changes=WAITING).returncode == 0
    status = json.loads(done(kiro_learn(home, "status", "--json")))
    waiting = {each["namespace"]: each["waiting_event_count"] for each in status["projects"]}
    assert waiting[MINE] == 1
    (copy,) = (home / "backups").iterdir()
    assert copy.name.startswith("kiro-learn-v5-")
    assert not (home / "daemon.upgrade").exists()


def test_memories_of_a_linked_worktree_and_of_a_user_with_a_percent_sign_are_found_again(home: Path) -> None:
    repository, linked = home.parent / "repository", home.parent / "linked"
    for command in (
        ["init", "-q", str(repository)],
        ["-C", str(repository), "commit", "-q", "--allow-empty", "-m", "Begin"],
        ["-C", str(repository), "worktree", "add", "-q", "--detach", str(linked)],
    ):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", *identity, *command], check=True, capture_output=True)  # noqa: S607  # the git there is
    old = f"/actor/a%b/project/{hashlib.sha256(str(linked).encode()).hexdigest()}/"
    database = apsw.Connection(str(home / "kiro-learn.db"))
    moved = {"old": old, "mine": MINE, "linked": str(linked)}
    database.execute(
        "UPDATE events SET namespace = :old, actor_id = 'a%b', project_path = :linked WHERE namespace = :mine", moved
    )
    database.execute("UPDATE memory_records SET namespace = :old WHERE namespace = :mine", moved)
    database.close()
    assert kiro_learn(home, "start", "--port", "0", changes=WAITING).returncode == 0
    with Client(home) as client:
        in_use = f"/actor/a%25b/project/{hashlib.sha256(str(repository).encode()).hexdigest()}/"
        assert client.memories(namespace=in_use)["total"] == 2
        assert in_use in {each["namespace"] for each in client.stats()["projects"]}


def test_while_the_port_is_taken_the_database_is_not_touched(home: Path) -> None:
    """The first kiro-learn may be serving it at that port."""
    before = (home / "kiro-learn.db").read_bytes()
    with socket.create_server(("127.0.0.1", 0)) as other:
        error, _ = failed(kiro_learn(home, "start", "--port", str(other.getsockname()[1])))
    assert " is taken by " in error
    assert (home / "kiro-learn.db").read_bytes() == before
    assert not list((home / "backups").iterdir())


def test_a_row_that_cannot_be_read_is_named_by_start(home: Path) -> None:
    database = apsw.Connection(str(home / "kiro-learn.db"))
    database.execute("UPDATE events SET valid_time = 'never' WHERE event_id = ?", (event_id(3),))
    database.close()
    *_progress, error, hint = failed(kiro_learn(home, "start", "--port", "0"))
    assert error == f"error: the row {event_id(3)} of events cannot be read: it has the time 'never', which is none"
    assert hint.startswith("hint:  Nothing was changed.")
    assert version_of(home) == 5


def test_told_to_stop_while_it_upgrades_it_leaves_everything_as_it_was(home: Path) -> None:
    database = apsw.Connection(str(home / "kiro-learn.db"))
    database.execute(TWENTY_THOUSAND_EVENTS)
    database.close()
    serving = subprocess.Popen(
        [sys.executable, "-m", "kiro_learn", "serve", "--port", "0"], env=environment_for(home), stderr=subprocess.PIPE
    )
    try:
        while not (home / "daemon.upgrade").exists():
            assert serving.poll() is None
            time.sleep(0.002)
        with pytest.raises(DaemonSilent, match="is upgrading its database: "), Client(home) as client:
            client.health()
    finally:
        serving.send_signal(signal.SIGTERM)
        _, said = serving.communicate(timeout=15)
    assert (serving.returncode, said) == (0, b"")
    assert version_of(home) == 5
    assert not list((home / "backups").iterdir())


def test_start_waits_for_an_upgrade_and_says_how_far_it_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits only so long for a silent daemon: this one reports its upgrade, and then ends."""
    told: list[str] = []
    place = Home(home)
    place.prepare()

    def spawn(*_arguments: object) -> subprocess.Popen[bytes]:
        with place.upgrade_announced() as report:
            report(UpgradeProgress(UpgradeStage.MIGRATION, 2, 19))
            notice = (home / "daemon.upgrade").read_bytes()
        (home / "daemon.upgrade").write_bytes(notice)
        return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1); raise SystemExit(3)"])

    monkeypatch.setattr(daemon_process, "_spawn", spawn)
    monkeypatch.setattr(daemon_process, "START_SECONDS", 0.1)
    (home / "logs" / "daemon.stderr").touch()
    with pytest.raises(Failed, match="ended with exit code 3"):
        daemon_process.start(home, os.environ, tell=told.append)
    assert set(told) == {"step 3 of 19"}
