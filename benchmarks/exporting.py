"""How long do an export and its import take, and how much memory do the command and the daemon need?

    python benchmarks/exporting.py [--records 50000] [--text FOLDER] [--folder FOLDER]

Makes a home with one project of so many memories, each with its own text and the event that it cites. The real command
exports them from a real daemon that embeds nothing, as JSONL and as Markdown, and imports each into an empty home. An
import takes nothing from Markdown files that nobody edited, so its time is that of reading them. Peaks of memory are
those that the system noted for each process; the daemon's is that of its whole life so far.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import many_records
from tests.integration.cli.command_line import environment_for
from tests.integration.daemon_process import DaemonProcess, running_daemon

EMBEDDED = 50
"""The texts that are embedded. Others get a moved vector of one of these. No export holds a vector."""
SETTINGS = {"KIRO_LEARN_EMBEDDING_ENABLED": "no", "KIRO_LEARN_BACKUP_ENABLED": "no"}
MB = 1e6
LOOK_SECONDS = 0.02
"""The time between two looks at the command's memory, which is not known any more once the command has ended."""


def run(what: str, daemon: DaemonProcess, home: Path, *arguments: str) -> None:
    """Run the command to its end, and print its time and memory."""
    began, load = time.monotonic(), psutil.getloadavg()[0]
    command = [sys.executable, "-m", "kiro_learn", *arguments]
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            command, env=environment_for(home), stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT
        )
        most = 0.0
        while process.poll() is None:
            most = max(most, peak(process.pid))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(LOOK_SECONDS)
        said.seek(0)
        last = said.read().strip().splitlines()[-3:]
    seconds = time.monotonic() - began
    if process.returncode:
        raise SystemExit(f"{what} ended with {process.returncode}: {last}")
    print(
        f"{what}: {seconds:.1f} s, command {most:.0f} MB, daemon {peak(daemon.process.pid):.0f} MB,"
        f" load {load:.1f}; {' / '.join(last)}",
        flush=True,
    )


def peak(pid: int) -> float:
    """The most memory that a process had so far, in MB; 0 if the process has ended."""
    status = Path(f"/proc/{pid}/status").read_text()
    return sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) * 1024 / MB


def measure(folder: Path, text: Path, record_count: int) -> None:
    """Measure both exports and both imports, one after the other."""
    many_records.MOST_EMBEDDED = EMBEDDED
    home, file, notes = folder / "home", folder / "all.jsonl", folder / "notes"
    began = time.monotonic()
    many_records.build_home(home, many_records.Size(record_count), many_records.passages(text, record_count))
    print(f"{many_records.about_this_run()}; {record_count:,} memories, made in {time.monotonic() - began:.0f} s")
    with running_daemon(home, SETTINGS) as daemon:
        print(f"daemon at first {peak(daemon.process.pid):.0f} MB")
        run("export of JSONL", daemon, home, "export", str(file))
    with running_daemon(home, SETTINGS) as daemon:
        run("export of Markdown", daemon, home, "export", "--markdown", str(notes))
    print(f"{file.stat().st_size / MB:,.0f} MB of JSONL, {sum(1 for _ in notes.rglob('*.md')):,} files of Markdown")
    for what, source in (("import of JSONL", file), ("import of Markdown", notes)):
        empty = folder / f"{source.stem}-imported"
        with running_daemon(empty, SETTINGS) as daemon:
            run(what, daemon, empty, "import", "--yes", str(source))
            total = daemon.call("GET", "/v1/memories?limit=1")["total"]
            print(f"  {total:,} memories are in the home that was empty", flush=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--text", type=Path, default=Path(sysconfig.get_paths()["stdlib"]), help="sources to read")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="exporting-", dir=given.folder))
    try:
        measure(folder, given.text, given.records)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
