"""How long is it from an empty home to a prompt that is answered from last month?

    python benchmarks/first_minute.py [--sessions 200] [--megabytes 50] [--seed 30]

Writes synthetic sessions of Claude Code of the last 60 days for a new user, and runs ``kiro-learn init --yes`` and
``kiro-learn import --yes`` at a terminal. Meanwhile, and again when all is learned, the hook that ``init`` installed
reports new sessions. Their first prompts ask, in other words, what was decided in the old sessions. Prints the
terminal's output, each line with the seconds since its command began, and one JSON object.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import platform
import pty
import random
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.importing import PROJECTS, Told, Transcripts
from tests.integration.agents.machine import commands_in
from tests.integration.cli.command_line import environment_for

DAYS = 60
ASK_SECONDS = 5.0
"""The pause between two questions to a project that has not answered. A question is an event too."""
LEARN_SECONDS = 1.0
MOST_SECONDS = 1_800.0
COLUMNS, ROWS = 100, 40
EVENTS = {"start": "SessionStart", "prompt": "UserPromptSubmit"}


class Decided(NamedTuple):
    """A decision in a past session, and a later question about it in other words."""

    days_ago: float
    told: Told
    question: str
    answer: str
    """A word that only a correct answer has."""


DECISIONS = (
    Decided(
        31,
        Told(
            "Which queue shall carry the invoices? We talked about Kafka.",
            "We chose RabbitMQ with quorum queues for the invoices instead of Kafka, because nobody here can run Kafka "
            "and forty messages a second do not need it.",
        ),
        "Why did we not take Kafka to send the bills around?",
        "quorum",
    ),
    Decided(
        4,
        Told(
            "Dates in the export are off by an hour for half of the year. Find out why.",
            "The exporter read local time. All timestamps are stored as UTC now and are converted in the template "
            "alone, since daylight saving moved them by an hour.",
        ),
        "What did we decide about time zones of timestamps?",
        "template",
    ),
    Decided(
        13,
        Told(
            "Never put the session cookie on a wildcard domain. Always use the __Host- prefix.",
            "Understood: the session cookie has the __Host- prefix and no Domain attribute.",
        ),
        "How must the session cookie be set, what did we agree on?",
        "__Host-",
    ),
    Decided(
        24,
        Told(
            "The image build takes eleven minutes. Make it faster.",
            "I moved the lock file above the sources in the Dockerfile, so the layer with the dependencies stays "
            "cached; the build went from eleven minutes to ninety seconds.",
        ),
        "How did we speed up the docker build last time?",
        "lock file",
    ),
    Decided(
        44,
        Told(
            "Thumbnails are blurred on phones. Which library do we use to resize them?",
            "We replaced Pillow by libvips for thumbnails, because it uses a tenth of the memory on large photos.",
        ),
        "Which library did we choose for resizing pictures, and why?",
        "libvips",
    ),
    Decided(
        57,
        Told(
            "Two migrations ran at once in the last deployment. How do we prevent that?",
            "Migrations take a Postgres advisory lock with the key 7421 now, so that a second pod waits until the "
            "first one has finished.",
        ),
        "What keeps two pods from migrating the database concurrently?",
        "advisory",
    ),
)
LAST_MONTH = DECISIONS[0]


class Machine:
    """A user with past sessions, an empty home, and agents' hooks once they are installed."""

    def __init__(self, folder: Path, *, sessions: int, megabytes: float, seed: int) -> None:
        self.user, self.home = folder / "user", folder / "user" / ".kiro-learn"
        root, hours_apart = self.user / "src", 24 * DAYS / sessions
        for number in range(PROJECTS):
            (root / f"project-{number}" / ".git").mkdir(parents=True)
        numbers = {each: sessions - 1 - round(24 * each.days_ago / hours_apart) for each in DECISIONS}
        self.folders = {each: root / f"project-{number % PROJECTS}" for each, number in numbers.items()}
        self.written = Transcripts(
            self.user,
            _sizes(sessions, megabytes, random.Random(seed)),
            began=datetime.now(UTC) - timedelta(hours=hours_apart * sessions),
            hours_apart=hours_apart,
            root=str(root),
            told={number: each.told for each, number in numbers.items()},
        )
        changes = {"HOME": str(self.user), "TERM": "xterm", "NO_COLOR": "1", "KIRO_LEARN_SERVER_PORT": "0"}
        self.environment = {**environment_for(self.home, changes), "PYTHONPATH": str(Path(__file__).parents[1])}
        self.sessions_asked = 0

    def says(self, *arguments: str) -> Any:
        """The JSON output of a command that is not shown."""
        command = [sys.executable, "-m", "kiro_learn", *arguments, "--json"]
        done = subprocess.run(command, env=self.environment, cwd=self.user, capture_output=True, check=True)
        return json.loads(done.stdout)

    def told(self, decided: Decided) -> str:
        """The texts that a new session is told at its start and with its first prompt."""
        self.sessions_asked += 1
        session = str(uuid.uuid4())
        return self._fired("start", decided, session, source="startup") + self._fired(
            "prompt", decided, session, prompt=decided.question
        )

    def _fired(self, event: str, decided: Decided, session: str, **fields: str) -> str:
        settings = self.user / ".claude" / "settings.json"
        folder = self.folders[decided]
        report = {"session_id": session, "cwd": str(folder), "hook_event_name": EVENTS[event], **fields}
        (command,) = commands_in(settings, EVENTS[event])
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input=json.dumps(report).encode(),
            env=self.environment,
            cwd=folder,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode()

    @property
    def imported(self) -> int:
        """The count of sessions that were imported whole: the record has a line for each, after the database's."""
        record = self.home / "imports"
        return max(0, record.read_text().count("\n") - 1) if record.exists() else 0


class Shown:
    """A command at a terminal, and the lines that it shows while it runs."""

    def __init__(self, machine: Machine, *arguments: str) -> None:
        self.began = self._last = time.monotonic()
        self.longest_silence = 0.0
        self.lines: list[tuple[float, str]] = []
        ours, its_own = pty.openpty()
        fcntl.ioctl(its_own, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        print(f"$ kiro-learn {' '.join(arguments)}", flush=True)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kiro_learn", *arguments],
            env=machine.environment,
            cwd=machine.user,
            stdin=its_own,
            stdout=its_own,
            stderr=its_own,
        )
        os.close(its_own)
        self._terminal = ours
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    @property
    def seconds(self) -> float:
        """The seconds since the command began."""
        return time.monotonic() - self.began

    @property
    def is_running(self) -> bool:
        """Whether the command still runs."""
        return self._process.poll() is None

    def wait(self) -> float:
        """Wait until the command has ended; returns its seconds."""
        code = self._process.wait()
        ended = self.seconds
        self._reader.join()
        os.close(self._terminal)
        for seconds, line in self.lines:
            print(f"{seconds:7.1f}  {line}")
        print(f"{ended:7.1f}  (exit code {code}; the longest silence was {self.longest_silence:.1f} s)", flush=True)
        assert code == 0, code
        return ended

    def _read(self) -> None:
        for piece in self._pieces():
            now = time.monotonic()
            self.longest_silence = max(self.longest_silence, now - self._last)
            self._last = now
            for line in piece.replace("\r", "\n").split("\n"):
                if line.strip():
                    self.lines.append((self.seconds, line.rstrip()))

    def _pieces(self) -> Iterator[str]:
        while True:
            try:
                piece = os.read(self._terminal, 65_536)
            except OSError:  # the end of a terminal on Linux
                return
            if not piece:
                return
            yield piece.decode(errors="replace")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--megabytes", type=float, default=50.0)
    parser.add_argument("--seed", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(Path(folder), sessions=options.sessions, megabytes=options.megabytes, seed=options.seed)
        try:
            measured = _measured(machine)
        finally:
            if machine.home.exists():
                machine.says("stop")
    print(json.dumps(measured, indent=2))


def _measured(machine: Machine) -> dict[str, Any]:
    load = os.getloadavg()[0]
    init = Shown(machine, "init", "--yes").wait()
    command = Shown(machine, "import", "--yes")
    first_session, answered, asked_at = None, dict[Decided, float](), 0.0
    while command.is_running and command.seconds < MOST_SECONDS:
        if first_session is None and machine.imported:
            first_session = command.seconds
        if command.seconds - asked_at > ASK_SECONDS:
            asked_at = command.seconds
            _ask(machine, command, answered)
        time.sleep(0.05)
    imported = command.wait()
    while (waiting := machine.says("status")["waiting"]["event_count"]) and command.seconds < MOST_SECONDS:
        time.sleep(LEARN_SECONDS)  # no questions: a project is learned when it is quiet
    learned = command.seconds
    during = dict(answered)
    _ask(machine, command, answered)
    after = {each: each.answer in machine.told(each) for each in DECISIONS}
    print(f"\n> {LAST_MONTH.question}\n{machine.told(LAST_MONTH)}")
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {psutil.cpu_count()} cores, Python {platform.python_version()}",
        "load_before_and_after": [round(load, 1), round(os.getloadavg()[0], 1)],
        "sessions": machine.written.sessions,
        "megabytes": round(machine.written.size_bytes / 1e6, 1),
        "events": machine.written.events,
        "prompts": machine.written.prompts,
        "init_seconds": round(init, 1),
        "first_session_seconds": None if first_session is None else round(first_session, 1),
        "last_month_answered_seconds": _rounded(answered).get(f"{LAST_MONTH.days_ago:g} days ago"),
        "imported_seconds": round(imported, 1),
        "learned_seconds": round(learned, 1),
        "events_unlearned": waiting,
        "answered_seconds": _rounded(during),
        "answered_after_all": f"{sum(after.values())} of {len(DECISIONS)}",
        "unanswered_after_all": [each.question for each, is_right in after.items() if not is_right],
        "sessions_that_asked": machine.sessions_asked,
        "memories": machine.says("memories", "list", "--everywhere")["total"],
    }


def _ask(machine: Machine, command: Shown, answered: dict[Decided, float]) -> None:
    """Ask each question that has no correct answer yet, in a session of its own."""
    for each in DECISIONS:
        if each not in answered and each.answer in machine.told(each):
            answered[each] = command.seconds


def _rounded(answered: Mapping[Decided, float]) -> dict[str, float]:
    return {f"{each.days_ago:g} days ago": round(seconds, 1) for each, seconds in answered.items()}


def _sizes(sessions: int, megabytes: float, dice: random.Random) -> list[int]:
    """The sizes of the sessions in bytes. Some are ten times as long as most."""
    shares = [dice.lognormvariate(0, 1) for _ in range(sessions)]
    return [round(megabytes * 1e6 * share / sum(shares)) for share in shares]


if __name__ == "__main__":
    main()
