"""storage check, doctor and the daemon with a memory on a server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kiro_learn.client.routes import Client
from tests.integration.cli.command_line import done, event, failed, kiro_learn, record
from tests.integration.daemon_process import running_daemon
from tests.postgres import postgres_server

AWAY = "postgresql://127.0.0.1:1/team"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_a_file_is_said_to_be_one(home: Path) -> None:
    assert "is a file in" in done(kiro_learn(home, "storage", "check"))
    assert json.loads(done(kiro_learn(home, "storage", "check", "--json"))) == {}


def test_a_server_that_is_away_is_named_with_what_helps(home: Path) -> None:
    pytest.importorskip("psycopg")
    done(kiro_learn(home, "config", "set", "storage.url", AWAY))
    said, hint = failed(kiro_learn(home, "storage", "check"), code=1)
    assert said == "error: the database team of PostgreSQL at 127.0.0.1 cannot be reached"
    assert "the spool" in hint
    assert "team of PostgreSQL at 127.0.0.1 cannot be reached" in " ".join(kiro_learn(home, "doctor").stdout.split())
    assert "cannot be reached" in kiro_learn(home, "serve").stderr
    assert failed(kiro_learn(home, "backup", "now"))[0].endswith(
        "a server keeps the database, and makes its own copies"
    )


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:{}@host/team",
        "postgresql://ann:x/{}@host/team",
        "postgresql://host/team?password={}",
        "postgresql://host/team?sslpassword={}",
        "postgresql://host/team?%70assword={}",
        "mysql://host",
    ],
)
def test_a_url_with_a_password_is_refused(home: Path, url: str) -> None:
    said = failed(kiro_learn(home, "config", "set", "storage.url", url.format("se" + "cret")), code=2)
    assert said[0] == "error: storage.url: expected a postgresql:// URL without a password"
    said = failed(kiro_learn(home, "storage", "move", url.format("se" + "cret")), code=1)
    assert said == ["error: URL: expected a postgresql:// URL without a password"]


def test_a_daemon_with_a_file_imports_no_client_of_postgresql() -> None:
    code = "import sys, kiro_learn.app.daemon, kiro_learn.app.maintenance; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not [name for name in modules if name.startswith(("psycopg", "kiro_learn.adapters.postgres"))]


def test_a_daemon_remembers_on_a_server_and_the_home_has_no_database(home: Path) -> None:
    with postgres_server() as server:
        done(kiro_learn(home, "config", "set", "storage.url", server.url.replace(":@", "@")))
        with running_daemon(home) as daemon, Client(daemon.home) as client:
            project = client.project_of(home)
            for _ in range(2):
                client.post_event(event(project["namespace"], str(home), 1, "which store?"))
            assert client.status()["counts"]["total_events"] == 1, "once, by its id"
            assert "1 daemon uses it" in done(kiro_learn(home, "storage", "check"))
        assert not list(home.glob("*.db*"))
        assert "PostgreSQL" in kiro_learn(home, "doctor", "--all").stdout


def test_two_daemons_on_one_database_know_what_the_other_learned_and_forgot(home: Path, tmp_path: Path) -> None:
    def titles(client: Client, namespace: str) -> list[str]:
        return [str(each["title"]) for each in client.ranked_memories(namespace, "which port?")]

    with postgres_server() as server:
        url, second = server.url.replace(":@", "@"), tmp_path / "second"
        for each in (home, second):
            done(kiro_learn(each, "config", "set", "storage.url", url))
        with (
            running_daemon(home) as one,
            running_daemon(second) as other,
            Client(one.home) as ours,
            Client(other.home) as theirs,
        ):
            assert "2 daemons use it" in done(kiro_learn(home, "storage", "check"))
            namespace = str(ours.project_of(tmp_path)["namespace"])
            assert titles(theirs, namespace) == []
            said = [event(namespace, str(tmp_path), number, "which port?") for number in (1, 2)]
            ours.post_event(said[0])
            theirs.post_event({**said[1], "actor_id": "bob"})
            told = [said[0]["event_id"], said[1]["event_id"], "01JD0000000000000000000000"]
            kept = record(namespace, 1, title="The port is 8443", source_event_ids=told)
            ours.remember(kept)
            assert titles(theirs, namespace) == ["The port is 8443"]
            shown = done(kiro_learn(home, "memories", "show", kept["record_id"]))
            assert f"  Told by  {said[0]['actor_id']}, bob" in shown
            done(kiro_learn(second, "memories", "forget", kept["record_id"], "--yes"))
            assert titles(ours, namespace) == []

            own = {**event("/actor/an%2Fn/project/shop/", str(tmp_path), 3, "which port?"), "actor_id": "an/n"}
            ours.post_event(own)
            kept = record(own["namespace"], 2, title="The port is 8444", source_event_ids=[own["event_id"]])
            ours.remember(kept)
            assert "Told by" not in done(kiro_learn(home, "memories", "show", kept["record_id"]))


def test_a_memory_moves_to_a_server_and_back(home: Path) -> None:
    with postgres_server() as server:
        url = server.url.replace(":@", "@")
        with running_daemon(home) as daemon, Client(daemon.home) as client:
            project = client.project_of(home)
            client.post_event(event(project["namespace"], str(home), 1, "which store?"))
            assert "already runs" in failed(kiro_learn(home, "storage", "move", url), code=1)[0]
        assert "or --to-file" in failed(kiro_learn(home, "storage", "move"), code=2)[0]
        told = done(kiro_learn(home, "storage", "move", url))
        assert "1 event, 0 memories and" in told
        assert "Delete it when you trust the server" in told
        assert "there already" in " ".join(failed(kiro_learn(home, "storage", "move", url), code=1))
        (home / ".kiro-learn.db.moving").write_bytes(b"of a move that was cut off")
        with running_daemon(home) as daemon, Client(daemon.home) as client:
            assert not list(home.glob(".kiro-learn.db*")), "what is forgotten from now on would stay in it"
            assert client.status()["counts"]["total_events"] == 1
            client.post_event(event(project["namespace"], str(home), 2, "and now?"))
        counts = json.loads(done(kiro_learn(home, "storage", "move", "--to-file", "--json")))["counts"]
        assert counts["events"] == 2
    with running_daemon(home) as daemon, Client(daemon.home) as client:
        assert client.status()["counts"]["total_events"] == 2
    assert "is a file in" in done(kiro_learn(home, "storage", "check"))
