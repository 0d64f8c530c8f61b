"""How much time does the hook shim add to the bare interpreter, with a daemon and without one?

Every round runs each command once, in turn, so that other work on the machine affects all of them alike. The stand-in
daemon answers as ours does: 200, a Content-Length, and a connection that stays open.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import kiro_learn.client
from kiro_learn.adapters.files import Home, lasting_interpreter, write_hook_script

SHIM = Path(kiro_learn.client.__file__).with_name("hook.py")
CONTEXT = b"## Prior observations from kiro-learn\n\n" + b"### A title\n\nA summary of some length.\n\n" * 40
BARE = "bare interpreter"
SHELL = "sh, exec, bare interpreter"
UP, DOWN = "bin/hook, daemon up", "bin/hook, daemon down"
BY_PATH = "hook.py by path, daemon up"


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        # One write, as a real server does: two would wait for each other (Nagle and delayed ACK).
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(CONTEXT)}\r\n\r\n"
        self.wfile.write(head.encode() + CONTEXT)
        self.close_connection = False

    def log_message(self, *_arguments: object) -> None:
        pass


@contextmanager
def stand_in(home: Home) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    server.daemon_threads = True
    with home.lock(), home.announced("127.0.0.1", server.server_port):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()


def prepared(folder: Path, name: str) -> Home:
    home = Home(folder / name)
    home.prepare()
    home.token()
    write_hook_script(home, shim_source=SHIM, interpreter=lasting_interpreter())
    return home


def measured(commands: Mapping[str, Sequence[str]], rounds: int, spool: Path) -> dict[str, list[float]]:
    """Milliseconds from spawn to exit, by command."""
    prompt = {"hook_event_name": "userPromptSubmit", "cwd": str(Path.cwd()), "prompt": "why? " * 400}
    payload = json.dumps(prompt).encode()
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            started = time.perf_counter()
            subprocess.run(command, input=payload, stdout=subprocess.PIPE, check=True)
            taken[name].append((time.perf_counter() - started) * 1000)
        for path in spool.iterdir():
            path.unlink()
    return taken


def report(taken: Mapping[str, list[float]]) -> None:
    bare = statistics.median(taken[BARE])
    print(f"{'':28} {'least ms':>9} {'median ms':>9} {'p95 ms':>9} {'x bare':>9}")
    for name, times in taken.items():
        median, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        print(f"{name:28} {min(times):9.2f} {median:9.2f} {p95:9.2f} {median / bare:9.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--home", type=Path, help="of a daemon that runs, instead of the stand-in")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        down = prepared(folder, "down")
        up = Home(asked.home.absolute()) if asked.home else prepared(folder, "up")
        if not asked.home:
            stack.enter_context(stand_in(up))
        python = [lasting_interpreter(), "-I", "-S", "-E"]
        commands = {
            BARE: [*python, "-c", "pass"],
            SHELL: ["/bin/sh", "-c", 'exec "$@"', "sh", *python, "-c", "pass"],
            UP: [str(up.hook), "kiro-cli"],
            DOWN: [str(down.hook), "kiro-cli"],
            BY_PATH: [*python, str(SHIM), str(up.path), "kiro-cli"],
        }
        taken = measured(commands, asked.rounds, down.spool.folder)
    now = dt.datetime.now(dt.UTC).date()
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    print(f"{now}, {machine}, Python {platform.python_version()}, {asked.rounds} rounds, load {os.getloadavg()[0]:.1f}")
    report(taken)


if __name__ == "__main__":
    main()
