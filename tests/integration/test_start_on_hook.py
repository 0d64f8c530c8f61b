"""A daemon that is started by hand or by a hook does not depend on its starter."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from kiro_learn.adapters.files import Home, lasting_interpreter, write_hook_script, write_start_script
from kiro_learn.client import hook
from kiro_learn.client.address import DaemonSilent, DaemonUnreachable
from kiro_learn.client.routes import Client
from tests.integration.cli.command_line import done, environment_for, kiro_learn
from tests.integration.stand_in import PROMPT, SHIM, daemon, run_shim

ALLOWED = {"KIRO_LEARN_SERVER_START_ON_HOOK": "true", "KIRO_LEARN_SERVER_PORT": "0"}
PATIENCE_SECONDS = 30.0


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home whose ``bin/start`` only counts its calls."""
    made = Home(tmp_path / "home")
    made.prepare()
    made.token()
    write_hook_script(made, shim_source=SHIM, interpreter=lasting_interpreter())
    made.start_script.write_text(f"#!/bin/sh\necho started >> {shlex.quote(str(made.path))}/calls\n")
    yield made
    kiro_learn(made.path, "stop")


def calls(home: Home) -> int:
    """How often the daemon was started. This waits for the started process, since the hook does not."""
    time.sleep(0.2)
    path = home.path / "calls"
    return path.read_text().count("started") if path.exists() else 0


def pid_of_daemon(home: Path) -> int:
    deadline = time.monotonic() + PATIENCE_SECONDS
    with Client(home) as client:
        while time.monotonic() < deadline:
            try:
                return int(client.status()["pid"])
            except (DaemonUnreachable, DaemonSilent):
                time.sleep(0.05)
    raise AssertionError("no daemon came")


def test_a_hook_starts_the_daemon_that_takes_its_event(tmp_path: Path) -> None:
    home = tmp_path / "home"
    environment = environment_for(home, ALLOWED)
    done(kiro_learn(home, "start", changes=ALLOWED))
    first = pid_of_daemon(home)
    psutil.Process(first).kill()
    reading, writing = os.pipe()
    try:
        with os.fdopen(writing, "wb") as leaked:
            began = time.monotonic()
            shim = subprocess.run(
                [str(Home(home).hook), "kiro-cli"],
                input=PROMPT,
                env={**environment, "USER_PROMPT": "why?", "KIRO_SESSION_ID": "s"},
                capture_output=True,
                pass_fds=[leaked.fileno()],
                cwd=tmp_path,
                check=True,
            )
            assert time.monotonic() - began < 2
        assert (shim.stdout, shim.stderr) == (b"", b"")
        second = psutil.Process(pid_of_daemon(home))
        assert second.pid != first
        assert os.read(reading, 1) == b"", "what the agent left open was inherited"
        assert {"USER_PROMPT", "KIRO_SESSION_ID"}.isdisjoint(second.environ())
        with Client(home) as client:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while client.events()["total"] < 1 and time.monotonic() < deadline:
                time.sleep(0.05)
            assert client.events()["total"] == 1
        assert second.cwd() == "/"
    finally:
        os.close(reading)
        kiro_learn(home, "stop")


def test_the_script_is_there_only_where_the_settings_allow_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.prepare()
    write_start_script(home, interpreter="/usr/bin/python3", is_wanted=True)
    assert home.start_script.stat().st_mode & 0o777 == 0o700
    write_start_script(home, interpreter="/usr/bin/python3", is_wanted=False)
    assert not home.start_script.exists()


def test_a_hook_of_a_home_without_the_script_starts_nothing(home: Home) -> None:
    home.start_script.unlink()
    run_shim(home, "kiro-cli")
    assert not (home.path / "daemon.tried").exists()


def test_of_many_hooks_at_once_one_starts_the_daemon(home: Home) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: run_shim(home, "kiro-cli"), range(8)))
    assert calls(home) == 1
    assert len([path for path in home.spool.folder.iterdir() if path.is_file()]) == 8


def test_a_start_is_not_tried_again_at_once_but_after_a_while(home: Home) -> None:
    run_shim(home, "kiro-cli")
    run_shim(home, "kiro-cli")
    assert calls(home) == 1
    long_ago = time.time() - hook.START_AGAIN_SECONDS - 1
    os.utime(home.path / "daemon.tried", (long_ago, long_ago))
    run_shim(home, "kiro-cli")
    assert calls(home) == 2


def test_a_clock_that_was_put_back_does_not_forbid_it(home: Home) -> None:
    run_shim(home, "kiro-cli")
    ahead = time.time() + 10 * hook.START_AGAIN_SECONDS
    os.utime(home.path / "daemon.tried", (ahead, ahead))
    run_shim(home, "kiro-cli")
    assert calls(home) == 2


def test_what_the_user_stopped_is_not_started_until_the_user_starts_it(home: Home) -> None:
    kiro_learn(home.path, "stop")
    run_shim(home, "kiro-cli")
    assert calls(home) == 0
    with home.lock():
        home.forget_stop()
    run_shim(home, "kiro-cli")
    assert calls(home) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a hook test the lock")
def test_a_daemon_that_does_not_answer_gets_no_company(home: Home) -> None:
    with daemon(home, b"no HTTP\r\n\r\n"):
        run_shim(home, "kiro-cli")
    with home.lock():
        run_shim(home, "kiro-cli")
    assert calls(home) == 0


def test_started_in_a_terminal_it_outlives_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    command = [sys.executable, "-m", "kiro_learn", "start", "--port", "0"]
    terminal = f"import pty; raise SystemExit(pty.spawn({command!r}) >> 8)"
    reading, writing = os.pipe()
    try:
        with os.fdopen(writing, "wb") as leaked:
            subprocess.run(
                [sys.executable, "-c", terminal],
                env=environment_for(home),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[leaked.fileno()],
                cwd=tmp_path,
                timeout=60,
                check=True,
            )
        process = psutil.Process(pid_of_daemon(home))
        assert (process.terminal(), process.cwd()) == (None, "/")
        assert os.getsid(process.pid) == process.pid
        assert os.read(reading, 1) == b""
        if sys.platform == "linux":
            streams = [str(Path(f"/proc/{process.pid}/fd/{number}").readlink()) for number in (0, 1, 2)]
            assert streams == ["/dev/null", "/dev/null", str(home / "logs" / "daemon.stderr")]
    finally:
        os.close(reading)
        kiro_learn(home, "stop")
