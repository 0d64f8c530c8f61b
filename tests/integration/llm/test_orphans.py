"""A killed daemon leaves neither its agent nor the agent's children."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from kiro_learn.adapters.acp.process import INTERNAL_MARK, end_left_groups, group_folder
from tests.integration.daemon_process import DaemonProcess, running_daemon
from tests.integration.llm.test_acp_agents import is_running, wait_gone
from tests.integration.llm.test_learning_by_a_model import EVENT, agent

DEAF = {
    **agent("deaf"),
    "KIRO_LEARN_LLM_BACKEND": "acp",
    "KIRO_LEARN_LEARNING_BUFFER_IDLE_SECONDS": "0.05",
    "KIRO_LEARN_LEARNING_TURN_IDLE_SECONDS": "0.05",
}
"""An agent that ignores SIGTERM, as does its child. Neither reads, so neither sees the end of its input."""

SLEEP = (sys.executable, "-I", "-S", "-c", "import time; print(flush=True); time.sleep(60)")


def wait_for_the_family(daemon: DaemonProcess, grandchild_file: Path) -> list[psutil.Process]:
    """All processes that the daemon has started, with the agent's child."""
    daemon.call("POST", "/v1/events", EVENT)
    deadline = time.monotonic() + 20
    while not (grandchild_file.exists() and grandchild_file.read_text()) and time.monotonic() < deadline:
        time.sleep(0.01)
    family = psutil.Process(daemon.process.pid).children(recursive=True)
    assert int(grandchild_file.read_text()) in [process.pid for process in family]
    return family


def test_a_daemon_that_is_killed_takes_its_agent_along(tmp_path: Path) -> None:
    grandchild_file = tmp_path / "grandchild"
    with running_daemon(tmp_path / "home", {**DEAF, "GRANDCHILD_FILE": str(grandchild_file)}) as daemon:
        family = wait_for_the_family(daemon, grandchild_file)
        daemon.kill()
        assert all(wait_gone(process.pid) for process in family)


def test_what_outlived_even_its_launcher_is_ended_by_the_next_start(tmp_path: Path) -> None:
    grandchild_file = tmp_path / "grandchild"
    with running_daemon(tmp_path / "home", {**DEAF, "GRANDCHILD_FILE": str(grandchild_file)}) as daemon:
        launcher, *family = wait_for_the_family(daemon, grandchild_file)
        daemon.process.send_signal(signal.SIGSTOP)  # so that it does not see its child end
        launcher.kill()
        daemon.kill()
        assert any(is_running(process.pid) for process in family), "the agent may end when its pipe closes"
    with running_daemon(tmp_path / "home"):
        assert all(wait_gone(process.pid) for process in family)
        assert list((tmp_path / "home" / "agent-groups").iterdir()) == []


@pytest.mark.parametrize(("mark", "survives"), [(INTERNAL_MARK, False), ({}, True)])
def test_a_group_of_somebody_elses_that_has_the_number_now_is_let_be(
    tmp_path: Path, mark: dict[str, str], *, survives: bool
) -> None:
    folder = group_folder(tmp_path / "agent")
    folder.mkdir()
    with subprocess.Popen(SLEEP, env={**os.environ, **mark}, start_new_session=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        # A process has no environment for an instant after its start: the kernel lets its parent go on before it gives
        # the new program its environment.
        process.stdout.readline()
        (folder / str(process.pid)).touch()
        (folder / "no number").touch()
        assert end_left_groups(tmp_path / "agent") == (0 if survives else 1)
        assert list(folder.iterdir()) == []
        assert survives == (process.poll() is None if survives else process.wait(5) is None)
        process.kill()


def test_nothing_is_left_to_end_where_no_agent_ever_ran(tmp_path: Path) -> None:
    assert end_left_groups(tmp_path / "agent") == 0
