"""A daemon that is told to stop ends well, however soon, and by any signal."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.integration.daemon_process import PROGRAM, DaemonProcess, running_daemon

ENDS = int(os.environ.get("ENDS", "10"))
"""The daemons that are ended. Once, half of them crashed when the interpreter ended while the model was loading."""


def test_it_ends_well_however_soon_it_is_told_to(tmp_path: Path) -> None:
    dice = random.Random(20261122)
    codes: Counter[int] = Counter()
    for _ in range(ENDS):
        daemon = DaemonProcess(tmp_path, {"KIRO_LEARN_EMBEDDING_ENABLED": "true"})
        daemon.wait_ready()
        time.sleep(dice.uniform(0, 0.05))
        codes[daemon.stop()] += 1
    assert codes == {0: ENDS}
    assert not (tmp_path / "daemon.address").exists()


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_every_signal_that_asks_for_an_end_gets_an_orderly_one(tmp_path: Path, by: signal.Signals) -> None:
    """SIGHUP comes when a terminal is closed."""
    with running_daemon(tmp_path, {"KIRO_LEARN_EMBEDDING_ENABLED": "false"}) as daemon:
        assert daemon.stop(by) == 0
    assert (tmp_path / "logs" / "daemon.jsonl").read_text().splitlines()[-1].count("daemon.stopped") == 1


def test_under_nohup_the_end_of_the_terminal_ends_nothing(tmp_path: Path) -> None:
    ignored = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        daemon = DaemonProcess(tmp_path, {"KIRO_LEARN_EMBEDDING_ENABLED": "false"}, program=PROGRAM)
    finally:
        signal.signal(signal.SIGHUP, ignored)
    daemon.wait_ready()
    daemon.process.send_signal(signal.SIGHUP)
    assert daemon.call("GET", "/healthz")["status"] == "ok"
    assert daemon.stop() == 0
