"""The service, with a stand-in for systemctl, and a daemon that is run as its unit says."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kiro_learn.adapters.files import Home
from kiro_learn.client.routes import Client
from tests.integration import unit_runner
from tests.integration.cli.command_line import Completed, done, failed, kiro_learn
from tests.integration.unit_runner import UnitRunner

pytestmark = pytest.mark.one_python

SYSTEMCTL = """\
#!/bin/sh
# --user VERB ...
unit="$XDG_CONFIG_HOME/systemd/user/{unit}"
echo "$@" >> {log}
case "$2" in
  is-system-running) echo running ;;
  show) if [ -e {log}.active ]; then echo active; else echo inactive; fi ;;
  restart) touch {log}.active; {python} {runner} "$unit" ;;
  disable) rm -f {log}.active; kill -TERM $(head -n 1 {home}/daemon.lock) 2>/dev/null
    while [ -e {home}/daemon.address ]; do sleep 0.05; done ;;
esac
"""


class Machine:
    """A user's folders, with the stand-in for systemctl on the PATH."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.config = folder / "config"
        self.log = folder / "systemctl.log"
        programs = folder / "programs"
        programs.mkdir()
        self.changes = {
            "XDG_CONFIG_HOME": str(self.config),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "KIRO_LEARN_SERVER_PORT": "0",
        }
        # The unit's name has a digest of the home, so it is asked for before the stand-in can know it.
        self._script = programs / "systemctl"
        self._write("none")
        self._write(Path(json.loads(done(self.service("install", "--dry-run", "--json")))["path"]).name)
        self.log.unlink()

    def _write(self, unit: str) -> None:
        runner = unit_runner.__file__
        self._script.write_text(
            SYSTEMCTL.format(unit=unit, log=self.log, home=self.home, python=sys.executable, runner=runner)
        )
        self._script.chmod(0o700)
        self.unit = self.config / "systemd" / "user" / unit

    def service(self, *arguments: str) -> Completed:
        return kiro_learn(self.home, "service", *arguments, changes=self.changes)

    def run(self, *arguments: str) -> Completed:
        """Run the command as a user with no agent but Claude Code."""
        user = self.home.with_name("user")
        (user / ".claude").mkdir(parents=True, exist_ok=True)
        return kiro_learn(self.home, *arguments, changes={**self.changes, "HOME": str(user)})

    def ran(self) -> list[str]:
        commands = [line.split()[1] for line in self.log.read_text().splitlines()]
        self.log.unlink()
        return [command for command in commands if command not in {"is-system-running", "show"}]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    yield made
    kiro_learn(made.home, "stop")


def test_installed_looked_at_and_taken_out(machine: Machine) -> None:
    assert not machine.config.exists()
    said = done(machine.service("install"))
    assert f"✓ write {machine.unit}" in said
    assert "✓ Daemon answers   127.0.0.1:" in said
    assert "! The service does not see KIRO_LEARN_LLM_BACKEND, KIRO_LEARN_SERVER_PORT" in said
    assert machine.ran() == ["daemon-reload", "enable", "restart"]
    assert "✓ Service  running · by systemd" in done(machine.service("status"))
    before = machine.unit.stat().st_mtime_ns
    assert "✓ Service is installed and runs already" in done(machine.service("install"))
    assert machine.unit.stat().st_mtime_ns == before
    assert "disable" not in machine.ran()
    assert f"✓ rm {machine.unit}" in done(machine.service("uninstall"))
    assert machine.ran() == ["disable", "daemon-reload"]
    assert list(machine.config.rglob("*.service")) == []
    status = machine.service("status")
    assert (status.returncode, status.stderr) == (1, "hint:  kiro-learn service install\n")
    assert done(machine.service("uninstall")) == "  Service is not installed\n"
    with Home(machine.home).lock():
        pass


def test_a_dry_run_shows_the_file_and_the_commands_and_writes_nothing(machine: Machine) -> None:
    said = done(machine.service("install", "--dry-run"))
    assert f"new     {machine.unit}" in said
    assert "  Type=notify\n" in said
    assert "run     systemctl --user enable" in said
    assert "Nothing was changed." in said
    assert (machine.config.exists(), machine.home.exists()) == (False, False)


def test_a_daemon_that_was_started_by_hand_makes_room_and_restart_goes_through_the_service(machine: Machine) -> None:
    done(kiro_learn(machine.home, "start", "--port", "0"))
    assert "✓ stop the daemon that runs without the service" in done(machine.service("install"))
    machine.ran()
    done(kiro_learn(machine.home, "restart", changes=machine.changes))
    assert machine.ran() == ["daemon-reload", "enable", "restart"]


OFFER = "Start the daemon with the machine: kiro-learn service install\n"


def test_init_offers_the_service_where_there_is_none_and_uses_the_one_there_is(machine: Machine) -> None:
    assert done(machine.run("init", "--yes")).endswith(OFFER)
    done(machine.service("install"))
    done(machine.run("stop"))
    machine.ran()
    assert OFFER not in done(machine.run("init", "--yes"))
    assert machine.ran() == ["daemon-reload", "enable", "restart"], "not a second daemon beside the service"


def test_init_offers_no_service_where_there_is_no_manager(machine: Machine) -> None:
    machine.changes.update(PATH="/nowhere", container="docker")
    said = done(machine.run("init", "--yes"))
    assert said.endswith("after a session.\n")


def test_a_purge_takes_the_service_out_which_would_make_the_home_again(machine: Machine) -> None:
    done(machine.run("init", "--yes"))
    done(machine.service("install"))
    machine.ran()
    said = done(machine.run("uninstall", "--purge", "--yes"))
    assert f"✓ rm {machine.unit}" in said
    assert "disable" in machine.ran()
    assert (machine.unit.exists(), machine.home.exists()) == (False, False)


def test_a_purge_leaves_a_service_that_was_changed_by_hand_and_the_home_with_it(machine: Machine) -> None:
    done(machine.service("install"))
    machine.unit.write_text(machine.unit.read_text() + "# mine\n")
    refused = machine.run("uninstall", "--purge", "--yes")
    assert (refused.returncode, "hint:  kiro-learn service uninstall --force" in refused.stderr) == (1, True)
    assert (machine.unit.exists(), machine.home.exists()) == (True, True)


def test_a_foreign_unit_is_left_alone(machine: Machine) -> None:
    machine.unit.parent.mkdir(parents=True)
    machine.unit.write_text("[Unit]\n")
    error, hint = failed(machine.service("install"))
    assert (error, hint) == (
        f"error: {machine.unit} was not written by kiro-learn",
        f"hint:  mv {machine.unit} {machine.unit}.before",
    )
    failed(machine.service("uninstall", "--force"))
    assert machine.unit.read_text() == "[Unit]\n"


def test_a_machine_without_a_manager_is_told_what_to_do(tmp_path: Path) -> None:
    changes = {"PATH": "/nowhere", "container": "docker"}
    error, hint = failed(kiro_learn(tmp_path, "service", "install", changes=changes))
    assert error == "error: a container has no service manager that could start the daemon"
    assert hint.startswith("hint:  kiro-learn start; [server] start_on_hook = true")


def test_killed_and_restarted_stopped_and_left(machine: Machine) -> None:
    content = json.loads(done(machine.service("install", "--dry-run", "--json")))["content"]
    machine.unit.parent.mkdir(parents=True)
    machine.unit.write_text(content)
    runner = UnitRunner(machine.unit)
    try:
        first = runner.told()
        assert first["READY"] == "1"
        with Client(machine.home) as client:
            assert client.health()["status"] == "ok"
            assert first["STATUS"] == f"Answers at {client.address}"
        os.kill(runner.process.pid, signal.SIGKILL)
        assert runner.watch() == -signal.SIGKILL
        assert runner.told()["READY"] == "1"
        with Client(machine.home) as client:
            assert client.status()["pid"] == runner.process.pid
        runner.stop()
        assert runner.told() == {"STOPPING": "1"}
        assert (runner.watch(), runner.restart_count) == (0, 1)
    finally:
        runner.close()
