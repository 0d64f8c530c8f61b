"""SIGTERM just after the daemon is ready, while the model is still being loaded: it ends well, not by a signal."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from pathlib import Path

from tests.integration.daemon_process import DaemonProcess

ENDS = int(os.environ.get("ENDS", "10"))
"""Half of them ended by SIGABRT or SIGSEGV while the interpreter was taken apart around the thread that loads it."""


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
