"""How long does it take to forget a project, and how long do a prompt and a write wait meanwhile?

    python benchmarks/forgetting.py [--records 50000] [--folder FOLDER]

Makes a home with one project of so many memories, each with a vector and an event of 0.5 kB that it cites. Then a
daemon that embeds nothing runs on it. One client asks prompts and another one puts events, one after the other, half of
them in that project and half in another one. They do so while nothing else is done (the baseline), and while the
project is forgotten.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import retention
from tests.integration.daemon_process import running_daemon

BASELINE_SECONDS = 10.0


def measure(folder: Path, record_count: int) -> None:
    home = folder / "forgetting"
    home.mkdir(mode=0o700)
    path = home / "kiro-learn.db"
    try:
        retention.PROJECTS, retention.EVENT_CHARACTERS, retention.RECORD_CHARACTERS = 1, 500, 500
        trio.run(retention.fill, path, record_count, record_count)
        print(f"{record_count:,} memories, {path.stat().st_size / 1e6:,.0f} MB", flush=True)
        retention.PROJECTS = 2
        body = {"project": retention.namespace(0), "whole": True}
        with running_daemon(home, retention.NEVER_REWRITTEN) as daemon:
            retention.round_of("nothing else", daemon, lambda: time.sleep(BASELINE_SECONDS))
            shown = retention.round_of(
                "preview", daemon, lambda: retention.asked(daemon, "POST", "/api/forgetting/preview", body)
            )
            went = retention.round_of(
                "forget", daemon, lambda: retention.asked(daemon, "POST", "/api/forgetting", body)
            )
            print(f"  {shown['memories']:,} memories, {went['events']:,} events, overwritten: {went['is_overwritten']}")
            daemon.stop()
    finally:
        shutil.rmtree(home)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    given = parser.parse_args()
    measure(given.folder, given.records)


if __name__ == "__main__":
    main()
