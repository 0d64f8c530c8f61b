"""start, stop, restart and serve: the daemon answers or is gone, and no other process is ever signalled."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from kiro_learn.adapters.files import Home
from kiro_learn.frontends.cli import daemon_process
from kiro_learn.frontends.cli.daemon_process import start
from kiro_learn.frontends.cli.shell import Failed
from tests.integration.cli.command_line import done, environment_for, failed, kiro_learn
from tests.integration.daemon_process import PROGRAM, running_daemon
from tests.integration.stand_in import run_shim

QUICK = {"KIRO_LEARN_EMBEDDING_ENABLED": "false"}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    home = tmp_path / "home"
    yield home
    kiro_learn(home, "stop")


def test_start_status_restart_stop(home: Path) -> None:
    assert done(kiro_learn(home, "start", "--port", "0")).startswith("✓ Daemon answers   127.0.0.1:")
    first = json.loads(done(kiro_learn(home, "status", "--json")))
    assert done(kiro_learn(home, "start")).startswith("✓ Already running  127.0.0.1:")
    assert json.loads(done(kiro_learn(home, "restart", "--port", "0", "--json")))["started"] is True
    assert json.loads(done(kiro_learn(home, "status", "--json")))["pid"] != first["pid"]
    assert done(kiro_learn(home, "status")).startswith("✓ Running  ")
    assert done(kiro_learn(home, "stop")).startswith("✓ Stopped  ")
    assert done(kiro_learn(home, "stop")) == "  Not running\n"
    with Home(home).lock():
        pass


def test_a_daemon_whose_database_is_damaged_is_stopped_and_purged(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with running_daemon(home, {"KIRO_LEARN_EMBEDDING_ENABLED": "false"}) as daemon:
        (home / "kiro-learn.db-wal").write_bytes(b"")
        (home / "kiro-learn.db").write_bytes(b"no database" * 10_000)
        assert "is damaged" in failed(kiro_learn(home, "status"))[0]
        (home / "token").unlink()
        done(kiro_learn(home, "stop"))
        daemon.process.communicate(timeout=30)
    purged = kiro_learn(home, "uninstall", "--purge", "--yes", changes={"HOME": str(tmp_path)})
    assert (purged.returncode, home.exists()) == (0, False), purged


def test_several_starts_at_once_all_find_the_one_daemon(home: Path) -> None:
    """As when several agents start their servers at the same moment."""
    command = [sys.executable, "-m", "kiro_learn", "start", "--json"]
    environment = environment_for(home, {"KIRO_LEARN_SERVER_PORT": "0"})
    starts = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    said = [(start.communicate(timeout=60), start.returncode) for start in starts]
    assert [code for _, code in said] == [0, 0, 0], said
    assert len({json.loads(out)["address"] for (out, _), _ in said}) == 1


def test_a_start_that_finds_another_daemon_leaves_none_of_its_own(tmp_path: Path) -> None:
    """Otherwise its daemon, which is still starting, would run once the other one is stopped."""
    home, before = tmp_path / "home", {child.pid for child in psutil.Process().children()}
    with running_daemon(home, {}, program=PROGRAM) as daemon:
        start(home, environment_for(home, {"KIRO_LEARN_SERVER_PORT": "0"}))
        assert {child.pid for child in psutil.Process().children()} - before == {daemon.process.pid}


def test_a_start_waits_until_what_hooks_kept_was_looked_at(home: Path) -> None:
    """Earlier daemons crashed on it, just after a start had reported success."""
    place = Home(home)
    place.prepare()
    for _ in range(3):
        run_shim(place, "kiro-cli")
    done(kiro_learn(home, "start", "--port", "0"))
    status = json.loads(done(kiro_learn(home, "status", "--json")))
    assert (status["spool"]["is_drained"], status["counts"]["total_events"]) == (True, 3)


@pytest.mark.parametrize("name", ["home", "home/logs"])
def test_a_start_writes_nothing_through_a_link(tmp_path: Path, name: str) -> None:
    target = tmp_path / "target"
    target.mkdir()
    link = tmp_path / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(target)
    assert "is a symbolic link" in failed(kiro_learn(tmp_path / "home", "start", "--port", "0"))[0]
    assert list(target.iterdir()) == []


def test_doctor_says_why_the_last_daemon_ended(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with running_daemon(home, {"KIRO_LEARN_EMBEDDING_ENABLED": "false"}) as daemon:
        daemon.kill()
    found = json.loads(kiro_learn(home, "doctor", "--json").stdout)
    (check,) = (each for each in found["checks"] if each["id"] == "daemon")
    assert "; the last one ended: it was killed, or the machine went down, after 20" in check["detail"]


def test_a_start_on_a_full_disk_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its daemon cannot even log why it ends."""

    def spawn(*_arguments: object) -> subprocess.Popen[bytes]:
        (tmp_path / "logs" / "daemon.stderr").touch()
        return subprocess.Popen([sys.executable, "-c", "raise SystemExit(1)"])

    monkeypatch.setattr(daemon_process, "_spawn", spawn)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(Failed, match=r"0 bytes are left on the disk of ") as caught:
        start(tmp_path, os.environ)
    assert caught.value.hint == "Free some disk space, then: kiro-learn start"


def test_status_of_no_daemon_is_a_failure_with_the_command_that_mends_it(home: Path) -> None:
    (home / "spool").mkdir(parents=True)
    (home / "spool" / "1-x-3").write_bytes(b"abc")
    (home / "spool" / ".2-x").write_bytes(b"half")
    completed = kiro_learn(home, "status")
    assert (completed.returncode, completed.stdout) == (1, "✗ Not running · 1 event kept for later\n")
    assert completed.stderr == "hint:  kiro-learn start\n"


def test_wrong_settings_are_all_named_and_nothing_runs(home: Path) -> None:
    wrong = {"KIRO_LEARN_SERVER_PORT": "x", "KIRO_LEARN_LEARNING_RUN_SLOTS": "0"}
    error, *problems, hint = failed(kiro_learn(home, "start", changes=wrong))
    assert error == "error: the settings are wrong; nothing was started"
    assert sorted(problems) == [
        "  KIRO_LEARN_LEARNING_RUN_SLOTS: expected 1 to 64, found 0",
        "  KIRO_LEARN_SERVER_PORT: expected a whole number, found text",
    ]
    assert hint == "hint:  docs/configuration.md lists every setting with its bounds"


def test_a_failed_start_is_one_line_of_json(home: Path) -> None:
    (line,) = failed(kiro_learn(home, "start", "--json", changes={"KIRO_LEARN_SERVER_PORT": "x"}))
    assert [each["path"] for each in json.loads(line)["details"]] == ["KIRO_LEARN_SERVER_PORT"]


def test_a_taken_port_is_named_with_the_way_out(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        error, hint = failed(kiro_learn(home, "start", "--port", str(port)))
    assert error.startswith(f"error: port {port} is taken by ")
    assert hint == "hint:  kiro-learn start --port 0"


def test_the_daemon_of_another_home_is_known_by_name(tmp_path: Path, home: Path) -> None:
    with running_daemon(tmp_path / "other", QUICK, program=PROGRAM) as other:  # known by its command line
        taken = {"KIRO_LEARN_SERVER_PORT": str(other.connect().port), **QUICK}
        named = f"is taken by the daemon of another home, {tmp_path / 'other'} (pid {other.process.pid})"
        error, hint = failed(kiro_learn(home, "start", changes=taken))
        assert (error, hint) == (f"error: port {other.connect().port} {named}", "hint:  kiro-learn start --port 0")
        doctor = json.loads(kiro_learn(home, "doctor", "--json", changes=taken).stdout)
        (port,) = (each for each in doctor["checks"] if each["id"] == "port")
        assert named in port["detail"]
        done(kiro_learn(home, "start", "--port", "0", changes=taken))
        pid = json.loads(done(kiro_learn(home, "status", "--json")))["pid"]
        error, hint = failed(kiro_learn(home, "restart", changes=taken))
        assert (error, hint) == (f"error: port {other.connect().port} {named}", "hint:  kiro-learn restart --port 0")
        assert json.loads(done(kiro_learn(home, "status", "--json")))["pid"] == pid
        done(kiro_learn(home, "restart", "--port", "0", changes=taken))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"KIRO_LEARN_LEARNING_RUN_SLOTS": "0"}, "  KIRO_LEARN_LEARNING_RUN_SLOTS: expected 1 to 64, found 0"),
        ({"KIRO_LEARN_SERVER_PORT": "x"}, "  KIRO_LEARN_SERVER_PORT: expected a whole number, found text"),
    ],
)
def test_a_restart_that_cannot_start_stops_nothing(tmp_path: Path, wrong: dict[str, str], said: str) -> None:
    home = tmp_path / "home"
    with running_daemon(home, QUICK) as daemon:
        assert said in failed(kiro_learn(home, "restart", "--port", "0", changes=wrong))
        assert daemon.call("GET", "/healthz")["pid"] == daemon.process.pid


def test_a_restart_in_a_home_that_takes_nothing_stops_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with running_daemon(home, QUICK) as daemon:
        (home / "daemon.probe").mkdir()
        error, problem, _ = failed(kiro_learn(home, "restart", "--port", "0"))
        assert error == "error: the home cannot be used; nothing was started"
        assert problem.startswith(f"  home: {home / 'daemon.probe'}: ")
        assert daemon.call("GET", "/healthz")["pid"] == daemon.process.pid


def test_a_home_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (line,) = failed(kiro_learn(tmp_path / "file" / "home", "start"))
    assert line == f"error: {tmp_path / 'file' / 'home'}: Not a directory"


def test_a_process_that_does_not_say_its_pid_is_not_signalled(tmp_path: Path) -> None:
    """The lock names this process: if it were believed, this test would be killed."""
    home = Home(tmp_path)
    home.prepare()
    home.token()
    with socket.create_server(("127.0.0.1", 0)) as mute, home.lock(), home.announced(*mute.getsockname()):
        os.utime(tmp_path / "daemon.lock", (0, 0))
        error, hint = failed(kiro_learn(tmp_path, "stop"))
    assert error == "error: the daemon runs, but does not answer"
    assert hint == f"hint:  kill -9 {os.getpid()} && kiro-learn start"


def test_serve_runs_until_it_is_told_to_end(home: Path) -> None:
    serving = subprocess.Popen(
        [sys.executable, "-m", "kiro_learn", "serve", "--port", "0"],
        env=environment_for(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        while not (home / "daemon.address").exists():
            assert serving.poll() is None
            time.sleep(0.01)
        error, hint = failed(kiro_learn(home, "serve"))
        assert error == f"error: a daemon already runs in {home} (pid {serving.pid})"
        assert hint == "hint:  kiro-learn status"
    finally:
        serving.send_signal(signal.SIGTERM)
        said, _ = serving.communicate(timeout=15)
    assert (serving.returncode, said) == (0, b"")


def test_the_bare_command_stands_whatever_the_daemon_does(home: Path) -> None:
    assert "Not set up · try: kiro-learn demo" in done(kiro_learn(home))
    place = Home(home)
    place.prepare()
    place.token()
    assert "Not running · kiro-learn start" in done(kiro_learn(home))
    with socket.create_server(("127.0.0.1", 0)) as mute, place.lock(), place.announced(*mute.getsockname()):
        assert "Running, but it did not answer at once · kiro-learn status" in done(kiro_learn(home))


def test_the_bare_command_imports_nothing_that_is_slow() -> None:
    code = "import sys, kiro_learn.frontends.cli.command; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"click", "trio", "quart", "numpy", "attrs", "onnxruntime", "subprocess", "http.client"}.isdisjoint(modules)
