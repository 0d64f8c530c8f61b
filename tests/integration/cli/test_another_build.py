"""After an update, the running daemon has another build: commands, init and the hook say so, and what to do."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kiro_learn.adapters.files import Home, lasting_interpreter, write_hook_script
from kiro_learn.client.address import build_id, build_in_lock, pid_in_lock
from kiro_learn.model.version import __version__, is_newer
from tests.integration.agents.machine import Machine
from tests.integration.cli.command_line import kiro_learn
from tests.integration.daemon_process import running_daemon
from tests.integration.stand_in import PROMPT, SHIM, daemon, ok

NOTE = "! The daemon is of another build: "
RESTART = "it was started before this command was installed: kiro-learn restart"
UPDATE = f"it is v9.0.0 and this command v{__version__}, which must be updated: docs/update.md"


def call_it(home: Path, build: str, version: str) -> None:
    """Make the lock of ``home`` say that its daemon has another build."""
    with (home / "daemon.lock").open("r+") as lock:  # in place: the daemon holds this very file
        pid = lock.readline()
        lock.seek(0)
        lock.write(f"{pid}{build}\n{version}\n")
        lock.truncate()


@pytest.mark.parametrize(("build", "version", "said"), [("old", "", RESTART), ("new", "9.0.0", UPDATE)])
def test_every_command_that_asks_the_daemon_says_so(tmp_path: Path, build: str, version: str, said: str) -> None:
    home = tmp_path / "home"
    with running_daemon(home):
        assert build_in_lock(home) == (build_id(), __version__)
        assert kiro_learn(home, "sessions", "--project", str(tmp_path)).stderr == ""
        call_it(home, build, version)
        assert kiro_learn(home, "sessions", "--project", str(tmp_path)).stderr == f"{NOTE}{said}\n"
        assert kiro_learn(home, "sessions", "--project", str(tmp_path), "--json").stderr == ""


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    made.has_program("claude", "2.1.4")
    made.home.mkdir()
    (made.home / "settings.toml").write_text("[server]\nport = 0\n")
    assert made.run("init", "--yes").returncode == 0
    yield made
    made.run("stop")


def test_init_restarts_a_daemon_of_before_when_that_is_agreed_to(machine: Machine) -> None:
    first = pid_in_lock(machine.home)
    call_it(machine.home, "old", "0.0.9")
    asked = machine.run("init")
    assert (asked.returncode, asked.stderr) == (0, f"{NOTE}{RESTART}\n")
    assert pid_in_lock(machine.home) == first
    done = machine.run("init", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Daemon answers" in done.stdout
    assert pid_in_lock(machine.home) != first
    assert build_in_lock(machine.home) == (build_id(), __version__)


def test_init_of_an_older_build_leaves_a_newer_daemon_alone(machine: Machine) -> None:
    first = pid_in_lock(machine.home)
    call_it(machine.home, "new", "9.0.0")
    done = machine.run("init", "--yes")
    assert (done.returncode, done.stderr) == (0, f"{NOTE}{UPDATE}\n")
    assert pid_in_lock(machine.home) == first
    assert machine.run("install").stderr == f"{NOTE}{UPDATE}\n"


@pytest.mark.parametrize(("build", "is_said"), [("b1", False), ("", False), ("b0", True)])
def test_a_hook_says_that_the_daemon_is_of_before_it_and_delivers_all_the_same(
    tmp_path: Path, build: str, is_said: bool
) -> None:
    home = Home(tmp_path / "home")
    home.prepare()
    home.token()
    write_hook_script(home, shim_source=SHIM, interpreter=lasting_interpreter(), build="b1")
    with daemon(home, ok(b"told")) as received:
        call_it(home.path, build, "")
        done = subprocess.run(
            [home.hook, "claude-code"], input=PROMPT, capture_output=True, env={}, timeout=5, check=False
        )
    assert (done.returncode, done.stdout, received.body) == (0, b"told", PROMPT)
    said = b"[kiro-learn] the daemon was started before this hook was installed: run kiro-learn restart\n"
    assert done.stderr == (said if is_said else b"")


@pytest.mark.parametrize(
    ("version", "wanted"),
    [("0.1.0", False), ("0.0.9", False), ("0.2", True), ("1", True), ("0.10.0rc1", True), ("", False), ("x", False)],
)
def test_versions_are_compared_by_their_numbers(version: str, wanted: bool) -> None:
    assert is_newer(version) is wanted
