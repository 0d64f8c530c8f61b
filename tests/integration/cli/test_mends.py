"""Homes broken in two dozen ways: the commands that doctor prints are run as printed, and mend the home."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import apsw
import attrs
import psutil
import pytest

from kiro_learn.services.doctor import FIX
from tests.integration.cli.command_line import environment_for
from tests.integration.cli.terminal import any_at_terminal

pytestmark = pytest.mark.one_python

MEMORY = "Refresh tokens before the expiry check"


PATIENT = """
import sys
from kiro_learn.app.command_line import main
from kiro_learn.frontends.cli import daemon_process, doctor
daemon_process.START_SECONDS = daemon_process.PATIENCE_SECONDS = doctor.PATIENCE_SECONDS = 50.0
sys.exit(main())
"""
"""The command, with limits so long that a busy machine is not taken for a broken one."""


@attrs.frozen
class Broken:
    """A way in which a home breaks."""

    damage: Callable[[Path], None]
    while_running: bool = False
    has_copy: bool = False
    remembers: bool = True
    """Whether the memory still exists after the mend."""
    changes: dict[str, str] = attrs.field(factory=dict)
    mend: str = ""
    """Part of a command that doctor must print."""


def database(home: Path) -> Path:
    return home / "kiro-learn.db"


def flip_page(home: Path) -> None:
    with apsw.Connection(str(database(home)), flags=apsw.SQLITE_OPEN_READONLY) as connection:
        size: int = connection.execute("PRAGMA page_size").get
        page: int = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'memory_records'").get
    overwrite(home, (page - 1) * size, size, lambda old: bytes(255 - byte for byte in old))


def overwrite(
    home: Path, start: int, length: int, change: Callable[[bytes], bytes] = lambda old: bytes(len(old))
) -> None:
    with database(home).open("r+b") as file:
        file.seek(start)
        old = file.read(length)
        file.seek(start)
        file.write(change(old))


def halve(home: Path) -> None:
    os.truncate(database(home), database(home).stat().st_size // 2)


def empty(home: Path) -> None:
    os.truncate(database(home), 0)


def lose(home: Path, name: str = "kiro-learn.db") -> None:
    (home / name).unlink()


def lose_all_of_it(home: Path) -> None:
    for path in home.glob("kiro-learn.db*"):
        path.unlink()


def put_folder_there(home: Path) -> None:
    lose(home)
    database(home).mkdir()
    (database(home) / "file").write_text("somebody's")


def put_noise_there(home: Path) -> None:
    database(home).write_bytes(b"noise" * 10_000)


def link_elsewhere(home: Path) -> None:
    elsewhere = database(home).rename(home.with_name("elsewhere.db"))
    database(home).symlink_to(elsewhere)


def put_folder_for_token(home: Path) -> None:
    lose(home, "token")
    (home / "token").mkdir()


def damage_structure(home: Path) -> None:
    with apsw.Connection(str(database(home))) as connection:
        connection.set_busy_timeout(5000)
        connection.execute("UPDATE records_fts_1_data SET block = zeroblob(length(block)) WHERE id = 10")


def drop_table(home: Path) -> None:
    with apsw.Connection(str(database(home))) as connection:
        connection.set_busy_timeout(5000)
        connection.execute("DROP TABLE graph_facts")


def leave_stale_lock(home: Path) -> None:
    (home / "daemon.lock").write_text(f"{os.getpid()}\n")
    (home / "daemon.address").write_text("127.0.0.1:9\n")


def write(name: str, text: str) -> Callable[[Path], None]:
    def damage(home: Path) -> None:
        (home / name).write_text(text)

    return damage


HOMES = {
    "header of zeros, with a copy": Broken(lambda home: overwrite(home, 0, 100), has_copy=True, mend="--fix"),
    "header of zeros, without one": Broken(lambda home: overwrite(home, 0, 100), mend="doctor --fix"),
    "header of zeros under the daemon": Broken(lambda home: overwrite(home, 0, 100), while_running=True, has_copy=True),
    "flipped page": Broken(flip_page, has_copy=True, mend="doctor --fix"),
    "flipped page under the daemon": Broken(flip_page, while_running=True, has_copy=True, mend="stop && "),
    "flipped page, without a copy": Broken(flip_page, remembers=False, mend="doctor --fix"),
    "truncated file": Broken(halve, has_copy=True),
    "truncated file under the daemon": Broken(halve, while_running=True),
    "empty file, with a copy": Broken(empty, has_copy=True, mend="kiro-learn restore"),
    "empty file, without one": Broken(empty, remembers=False, mend="kiro-learn start --anew"),
    "empty file under the daemon": Broken(empty, while_running=True, has_copy=True),
    "missing file, with a copy": Broken(lose, has_copy=True, mend="kiro-learn restore"),
    "missing file, without one": Broken(lose, remembers=False, mend="kiro-learn start --anew"),
    "missing files under the daemon": Broken(lose_all_of_it, while_running=True, has_copy=True),
    "missing log": Broken(lambda home: (home / "kiro-learn.db-wal").unlink(missing_ok=True)),
    "missing table, with a copy": Broken(drop_table, has_copy=True, mend="doctor --fix"),
    "missing table, without one": Broken(drop_table, mend="doctor --fix"),
    "missing table under the daemon": Broken(drop_table, while_running=True, has_copy=True),
    "folder in the place of the file": Broken(put_folder_there, has_copy=True, mend="kiro-learn restore"),
    "noise in the place of the file": Broken(put_noise_there, has_copy=True, mend="kiro-learn restore"),
    "noise in the place of the file, without a copy": Broken(put_noise_there, remembers=False, mend="--anew"),
    "link in the place of the file": Broken(link_elsewhere, mend="kiro-learn stop && mv "),
    "folder in the place of the token": Broken(put_folder_for_token, mend=".put-aside"),
    "settings that are no TOML": Broken(write("settings.toml", "[recall\n"), mend="${EDITOR"),
    "settings with an unknown key": Broken(write("settings.toml", "[recall]\nbudget = 1\n"), mend="${EDITOR"),
    "wrong variable": Broken(
        lambda _: None, changes={"KIRO_LEARN_LEARNING_RUN_SLOTS": "x"}, mend="unset KIRO_LEARN_LEARNING_RUN_SLOTS"
    ),
    "lost token": Broken(lambda home: lose(home, "token"), mend="doctor --fix"),
    "lost token under the daemon": Broken(lambda home: lose(home, "token"), while_running=True, mend="restart"),
    "other token under the daemon": Broken(write("token", "A" * 43 + "\n"), while_running=True, mend="restart"),
    "damaged manifest": Broken(write("manifest.json", "{"), mend=".damaged && kiro-learn install"),
    "damaged index of words": Broken(damage_structure, mend="doctor --fix"),
    "damaged index of words under the daemon": Broken(damage_structure, while_running=True),
    "hook that is gone": Broken(lambda home: lose(home, "bin/hook"), mend="doctor --fix"),
    "home that is open": Broken(lambda home: home.chmod(0o755), mend="doctor --fix"),
    "stale lock and address": Broken(leave_stale_lock, mend="kiro-learn start"),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one memory, whose daemon was killed while it was idle."""
    place = User(tmp_path_factory.mktemp("template"))
    place.run("kiro-learn start && kiro-learn observe " + f"'{MEMORY}'")
    os.kill(place.status()["pid"], signal.SIGKILL)
    place.run("kiro-learn start && kiro-learn stop")
    (place.home / "daemon.stopped").unlink()
    return place.home


@pytest.fixture
def user(tmp_path: Path, template: Path) -> Iterator[User]:
    user = User(tmp_path)
    shutil.copytree(template, user.home)
    yield user
    user.run("kiro-learn stop")


class User:
    """A person with a shell, who keeps the environment from command to command."""

    def __init__(self, place: Path) -> None:
        self.home = place / "home"
        programs = place / "programs"
        programs.mkdir()
        self._command = programs / "kiro-learn"
        self._program(self._command, f"exec {sys.executable} -c '{PATIENT}' \"$@\"")
        self._program(programs / "edit", 'printf "" > "$1"')
        (place / "user" / ".claude").mkdir(parents=True)
        self.environment = environment_for(self.home, {"KIRO_LEARN_SERVER_PORT": "0", "HOME": str(place / "user")})
        self.environment["KIRO_LEARN_EMBEDDING_ENABLED"] = "false"  # so that a start takes half the time
        self.environment |= {"PATH": f"{programs}:{os.environ['PATH']}", "EDITOR": str(programs / "edit")}
        self._kept = place / "environment"

    def run(self, command: str) -> None:
        """Run ``command`` as it is, at a terminal where a person answers yes; it must succeed.

        Only ``doctor --fix`` may exit with 1, since it leaves problems that other commands mend.
        """
        kept = f"{command}\ncode=$?; env -0 > '{self._kept}'; exit $code"
        code, shown = any_at_terminal(["/bin/sh", "-c", kept], self.environment, typed="y\n")
        assert code in {0, command == FIX}, (command, shown)
        pairs = self._kept.read_text().split("\0")
        self.environment = dict(pair.split("=", 1) for pair in pairs if "=" in pair)

    def doctor(self) -> list[str]:
        """The commands that doctor prints."""
        found = json.loads(self._ask("doctor", codes=(0, 1)))
        checks = found["checks"]
        wrong = [check for check in checks if check["state"] in {"fail", "warn"}]
        assert found["ok"] != any(check["state"] == "fail" for check in wrong)
        assert all(check["mend"] for check in wrong), wrong
        assert not any(";" in check["mend"] for check in wrong), wrong
        return list(dict.fromkeys(check["mend"] for check in wrong))

    def status(self) -> dict[str, int]:
        found: dict[str, int] = json.loads(self._ask("status"))
        return found

    def titles(self) -> list[str]:
        return [item["title"] for item in json.loads(self._ask("memories", "list", "--everywhere"))["items"]]

    def _ask(self, *arguments: str, codes: Collection[int] = (0,)) -> str:
        """The JSON that the command prints."""
        asked = subprocess.run(
            [self._command, *arguments, "--json"],
            env=self.environment,
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert asked.returncode in codes, asked
        return asked.stdout

    def open_database(self) -> str:
        """The path of the daemon's open database; it differs if the file was moved or removed."""
        opened = {each.path for each in psutil.Process(self.status()["pid"]).open_files()}
        (found,) = (path for path in opened if path.endswith(".db"))
        return found

    def _program(self, path: Path, line: str) -> None:
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o700)


@pytest.mark.parametrize("name", HOMES)
def test_what_doctor_prints_mends_it(name: str, user: User) -> None:
    broken = HOMES[name]
    if broken.has_copy:
        shutil.copy(database(user.home), user.home / "backups" / "kiro-learn-v33-20260101T000000Z.db")
    if broken.while_running:
        user.run("kiro-learn start")
    broken.damage(user.home)
    user.environment |= broken.changes

    mends = user.doctor()
    for mend in mends:
        user.run(mend)
    assert broken.mend in "\n".join(mends)
    # A copy that replaced the database is old, so doctor may ask for a new copy.
    assert set(user.doctor()) <= {"kiro-learn backup now"}
    user.run("kiro-learn observe 'Saved after it'")
    assert user.titles() == ["Saved after it", *([MEMORY] if broken.remembers else [])]
    # Written by the running daemon, into the file that the next one opens.
    assert user.open_database() == str(database(user.home))
