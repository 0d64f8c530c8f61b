"""Each check: a thing is broken, found, and mended by --fix or by the command that the check names."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import apsw
import attrs
import pytest
import trio

from kiro_learn.adapters.files import Home, lasting_interpreter, write_hook_script, write_start_script
from kiro_learn.adapters.files.inspection import DiskHomeInspection
from kiro_learn.adapters.sqlite.inspection import SqliteInspection
from kiro_learn.adapters.sqlite.mending.replacing import SqliteReplacement
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.app.maintenance import copies_of, open_installation
from kiro_learn.config import BackupConfig, StorageConfig
from kiro_learn.errors import ConfigError
from kiro_learn.frontends.http.port_owner import listener_on
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import RuleConflict
from kiro_learn.model.settings import ServiceState
from kiro_learn.services.autostart import Autostart
from kiro_learn.services.doctor import FIX, CheckState, DaemonFacts, DaemonState, Doctor, Examination, Outcome
from kiro_learn.services.doctor_checks import CHECKS
from kiro_learn.services.doctor_database import FIX_STOPPED
from kiro_learn.testing.machine import ScriptedServiceManager
from kiro_learn.testing.storage import put_record
from tests.integration.cli.command_line import kiro_learn
from tests.integration.stand_in import PROMPT, SHIM, run_shim
from tests.integration.storage.test_damaged_words import DAMAGES, UNSEEN_BY_STATE
from tests.unit.storage.builders import DAWN, record

DOWN = DaemonFacts(state=DaemonState.DOWN, problem="the daemon is not running", hint="kiro-learn start")
UP = DaemonFacts(state=DaemonState.RUNNING, address="127.0.0.1:9", pid=9, version="0.1.0", learns_by="extractive")


@attrs.define
class Patient:
    """A sound home, which a test then changes."""

    home: Home
    daemon: DaemonFacts = DOWN
    service: Autostart | None = None
    environment: dict[str, str] = attrs.Factory(lambda: {"KIRO_LEARN_SERVER_PORT": "0"})
    now: datetime = attrs.Factory(lambda: datetime.now(UTC))
    free_bytes: int | None = None

    def doctor(self) -> Doctor:
        inspection = DiskHomeInspection(self.home, SHIM, self.environment)
        seen = (
            inspection
            if self.free_bytes is None
            else _FullDisk(self.home, SHIM, self.environment, free=self.free_bytes)
        )
        database = SqliteInspection(self.home.database, self.home.lock)
        examination = Examination(
            home=seen,
            database=database,
            copies=copies_of(self.home, BackupConfig(), lambda: self.now),
            replacement=SqliteReplacement(self.home.database, self.home.backups, self.home.lock, lambda: self.now),
            daemon=self.daemon,
            version="0.1.0",
            now=self.now,
            port_owner=listener_on,
            service=self.service,
            agent_files=open_installation(self.home.path, self.environment).inspection,
        )
        return Doctor(examination, CHECKS)

    def outcome(self, check_id: str) -> Outcome:
        (found,) = (each.outcome for each in self.doctor().examine() if each.check.check_id == check_id)
        return found

    def state(self, check_id: str) -> CheckState:
        return self.outcome(check_id).state

    def fix(self) -> list[str]:
        doctor = self.doctor()
        fixes = doctor.fix(doctor.examine())
        assert [fix.problem for fix in fixes if fix.problem] == []
        return [fix.done for fix in fixes]


@attrs.frozen
class _FullDisk(DiskHomeInspection):
    free: int = 0

    def free_bytes(self) -> int:
        return self.free


@pytest.fixture
def patient(tmp_path: Path) -> Patient:
    home = Home(tmp_path / "home")
    home.prepare()
    home.token()
    write_hook_script(home, shim_source=SHIM, interpreter=lasting_interpreter())
    trio.run(_fill, home.database)
    return Patient(home)


async def _fill(path: Path) -> None:
    storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: DAWN)
    for number in range(1, 8):
        await put_record(storage, record(number, f"pool number {number}"))
    await storage.close()


def do(command: str) -> None:
    """Run a named command as a user does."""
    subprocess.run(["/bin/sh", "-c", command], check=True)


def test_a_home_that_is_well_has_no_problem(patient: Patient) -> None:
    patient.daemon = UP
    assert [each.check.check_id for each in patient.doctor().examine() if each.is_wrong] == []
    assert patient.fix() == []


def test_nothing_is_changed_by_looking(patient: Patient) -> None:
    def everything() -> dict[str, tuple[int, int]]:
        kept = (path for path in patient.home.path.rglob("*") if not path.name.endswith(("-wal", "-shm")))
        return {str(path): (path.stat().st_mode, path.stat().st_mtime_ns) for path in kept if path.is_file()}

    patient.home.hook.unlink()
    (patient.home.path / "token").chmod(0o644)
    before = everything()
    patient.doctor().examine()
    assert everything() == before


def test_a_home_that_is_not_there(tmp_path: Path) -> None:
    patient = Patient(Home(tmp_path / "none"))
    assert (patient.outcome("home").mend, patient.state("database")) == ("kiro-learn start", CheckState.SKIPPED)
    assert [each.check.check_id for each in patient.doctor().examine() if each.is_wrong] == ["home"], "said once"
    assert patient.fix() == []
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", [".", "token", "logs", "bin/hook.py"])
def test_a_home_that_others_can_read_is_closed(patient: Patient, name: str) -> None:
    path = patient.home.path / name
    path.chmod(path.stat().st_mode | 0o044)
    assert (patient.state("home"), patient.outcome("home").mend) == (CheckState.FAILED, FIX)
    assert ("the folder itself" if name == "." else name) in patient.outcome("home").detail
    assert patient.fix() == ["closed the home to other users"]
    assert patient.state("home") is CheckState.OK


def test_settings_that_are_wrong_are_named_with_their_file(patient: Patient) -> None:
    patient.home.settings.write_text("[recall]\nbudget = 1\n")
    found = patient.outcome("settings")
    assert (found.state, "recall.budget" in found.detail) == (CheckState.FAILED, True)
    assert str(patient.home.settings) in found.mend
    patient.home.settings.write_text("")
    assert patient.state("settings") is CheckState.OK


def test_a_wrong_variable_is_unset_and_not_looked_for_in_the_file(patient: Patient) -> None:
    patient.environment |= {"KIRO_LEARN_LEARNING_RUN_SLOTS": "x", "KIRO_LEARN_RECALL_BUDGET": "1"}
    found = patient.outcome("settings")
    assert found.mend == "unset KIRO_LEARN_RECALL_BUDGET KIRO_LEARN_LEARNING_RUN_SLOTS"
    patient.home.settings.write_text("[recall]\nbudget = 1\n")
    assert patient.outcome("settings").mend.startswith(f'{found.mend} && "${{EDITOR:-vi}}" ')


@pytest.mark.parametrize("damage", ["gone", "mode", "interpreter", "old", "copy", "start"])
def test_a_hook_that_cannot_start_is_written_anew(patient: Patient, damage: str) -> None:
    hook, shim = patient.home.hook, patient.home.hook.with_name("hook.py")
    match damage:
        case "gone":
            hook.unlink()
        case "mode":
            hook.chmod(0o600)
        case "interpreter":
            write_hook_script(patient.home, shim_source=SHIM, interpreter="/opt/python 3.9/bin/python")
        case "old":
            shim.write_text("# of another version\n")
        case "copy":
            shim.unlink()
        case "start":
            write_start_script(patient.home, interpreter="/opt/venv/bin/python", is_wanted=True)
    found = patient.outcome("hook")
    assert (found.state, found.mend) == (CheckState.FAILED, FIX)
    assert patient.fix() == ["wrote bin/hook anew"]
    assert patient.state("hook") is CheckState.OK
    # It would start a daemon, which nothing here ends.
    patient.home.start_script.unlink(missing_ok=True)
    said = subprocess.run([hook, "kiro-cli"], input=PROMPT, capture_output=True, check=True).stderr
    # On a busy machine the hook may give up waiting for the disk, and says so. Here it only has to run.
    assert said == b"" or said.endswith(b"the disk is too slow\n"), said


@pytest.mark.parametrize("damage", ["", "short"])
def test_a_token_that_is_none_is_made(patient: Patient, damage: str) -> None:
    path = patient.home.path / "token"
    path.write_text(damage) if damage else path.unlink()
    assert (patient.state("token"), patient.outcome("token").mend) == (CheckState.FAILED, FIX)
    assert "made a token" in patient.fix()
    assert patient.state("token") is CheckState.OK


def test_a_file_that_cannot_be_read_ends_no_other_check(patient: Patient) -> None:
    token = patient.home.path / "token"
    token.unlink()
    token.mkdir()
    found = patient.outcome("token")
    assert found == Outcome(CheckState.FAILED, f"{token}: is a directory", f"mv {token} {token}.put-aside")
    doctor = patient.doctor()
    (fix,) = doctor.fix([each for each in doctor.examine() if each.check.check_id == "token"])
    assert fix.problem == f"home: {token}: Is a directory"
    do(found.mend)
    assert patient.outcome("token").mend == FIX
    assert "made a token" in patient.fix()
    assert patient.state("token") is CheckState.OK


def test_a_token_that_the_daemon_refuses_names_its_way_out(patient: Patient) -> None:
    hint = "kiro-learn restart"
    patient.daemon = DaemonFacts(state=DaemonState.REFUSED, problem="refused", hint=hint, address="127.0.0.1:9")
    assert patient.outcome("token") == Outcome(CheckState.FAILED, "refused", hint)
    assert patient.fix() == []


def test_a_daemon_that_does_not_run_is_a_problem_unless_the_user_stopped_it(patient: Patient) -> None:
    assert patient.outcome("daemon") == Outcome(CheckState.FAILED, DOWN.problem, "kiro-learn start")
    kiro_learn(patient.home.path, "stop")
    assert patient.outcome("daemon").state is CheckState.WARNING
    patient.daemon = UP
    assert patient.state("daemon") is CheckState.OK


def test_a_silent_daemon_is_named_with_its_end(patient: Patient) -> None:
    patient.daemon = DaemonFacts(state=DaemonState.SILENT, problem="silent", hint="kill -9 812 && kiro-learn start")
    assert patient.outcome("daemon") == Outcome(CheckState.FAILED, "silent", "kill -9 812 && kiro-learn start")


def test_a_taken_port_is_named_with_its_owner(patient: Patient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        patient.environment["KIRO_LEARN_SERVER_PORT"] = str(other.getsockname()[1])
        found = patient.outcome("port")
    assert (found.state, found.mend) == (CheckState.FAILED, "kiro-learn start --port 0")
    assert f"(pid {os.getpid()})" in found.detail
    assert patient.state("port") is CheckState.OK


def test_a_daemon_of_another_version_is_restarted(patient: Patient) -> None:
    patient.daemon = attrs.evolve(UP, version="0.0.9")
    assert patient.outcome("versions") == Outcome(
        CheckState.FAILED, "the daemon is v0.0.9, this command v0.1.0", "kiro-learn restart"
    )
    patient.daemon = attrs.evolve(UP, version="9.0.0")
    assert patient.outcome("versions") == Outcome(
        CheckState.FAILED, "the daemon is v9.0.0, newer than this command, v0.1.0", "type -a kiro-learn"
    )
    patient.daemon = attrs.evolve(UP, build="of before the update")
    assert patient.outcome("versions") == Outcome(
        CheckState.FAILED,
        "the daemon was started before this v0.1.0 was installed over another",
        "kiro-learn restart",
    )
    patient.daemon = UP
    assert patient.state("versions") is CheckState.OK


def test_a_hook_that_another_build_wrote_is_written_anew_by_a_restart(patient: Patient) -> None:
    """As when a later build is installed while the old daemon runs on."""
    patient.daemon = UP
    write_hook_script(patient.home, shim_source=SHIM, interpreter=lasting_interpreter(), build="later")
    assert patient.outcome("versions") == Outcome(
        CheckState.FAILED, "bin/hook was written by another build than the daemon's", "kiro-learn restart"
    )
    patient.daemon = DOWN
    assert patient.state("versions") is CheckState.SKIPPED


def test_a_service_that_failed_is_installed_again(patient: Patient) -> None:
    manager = ScriptedServiceManager()
    patient.service = Autostart(manager)
    assert patient.state("service") is CheckState.SKIPPED
    patient.service.carry_out(patient.service.plan(), lambda _: None)
    assert patient.state("service") is CheckState.OK
    manager.now = ServiceState.FAILED
    assert patient.outcome("service").mend == "kiro-learn service install"
    patient.service.carry_out(patient.service.plan(), lambda _: None)
    assert patient.state("service") is CheckState.OK


def test_a_model_that_failed_says_why(patient: Patient) -> None:
    patient.daemon = attrs.evolve(UP, model_problem="out of sorts")
    assert patient.outcome("model") == Outcome(CheckState.WARNING, "out of sorts", "kiro-learn flush")


def test_an_agent_that_wants_a_login_is_logged_in_to_and_asked_again(patient: Patient) -> None:
    patient.daemon = attrs.evolve(UP, model_problem="the agent gemini wants it", model_login="gemini")
    assert patient.outcome("model").mend == "gemini && kiro-learn flush"


def test_without_a_model_it_is_said_why(patient: Patient) -> None:
    patient.daemon = attrs.evolve(UP, obstacle="kiro-cli is not used: it was not found on the PATH")
    found = patient.outcome("model")
    assert found.state is CheckState.SKIPPED
    assert found.detail == "learning goes on without one: kiro-cli is not used: it was not found on the PATH"


@pytest.mark.parametrize("daemon", [UP, DOWN])
def test_a_model_that_the_settings_name_and_that_is_not_there_is_told(patient: Patient, daemon: DaemonFacts) -> None:
    patient.daemon = daemon
    patient.home.settings.write_text('[llm]\nbackend = "acp"\ncommand = "no-such-agent acp"\n')
    found = patient.outcome("model")
    assert (found.state, found.detail) == (CheckState.WARNING, "no-such-agent was not found on the PATH")
    assert str(patient.home.settings) in found.mend
    for command in ("", "'open"):
        patient.home.settings.write_text(f'[llm]\nbackend = "acp"\ncommand = "{command}"\n')
        found = patient.outcome("settings")
        assert (found.state, "llm.command" in found.detail) == (CheckState.FAILED, True)
    for start in ("env", "env -u PORT MODEL=small"):
        patient.home.settings.write_text(f'[llm]\nbackend = "acp"\ncommand = "{start} no-such-agent acp"\n')
        assert patient.outcome("model").detail == "no-such-agent was not found on the PATH"
    patient.home.settings.write_text('[llm]\nbackend = "acp"\ncommand = "env X=1 /bin/sh -c true"\n')
    assert patient.state("model") is (CheckState.OK if daemon is UP else CheckState.SKIPPED)


def test_an_embedding_model_that_is_gone_is_a_problem(patient: Patient) -> None:
    patient.daemon = attrs.evolve(UP, embedding_problem="no file")
    assert patient.outcome("meaning").mend == "kiro-learn restart"
    patient.home.settings.write_text('[embedding]\nmodel = "gone"\n')
    assert patient.outcome("meaning").mend == f'"${{EDITOR:-vi}}" {patient.home.settings} && kiro-learn restart'


def test_a_rule_file_that_contradicts_a_memory_is_named_with_its_line(patient: Patient) -> None:
    assert patient.state("rules") is CheckState.SKIPPED
    patient.daemon = UP
    assert patient.state("rules") is CheckState.OK
    conflict = RuleConflict(RecordId("mr_1"), "Use bun", "/shop/CLAUDE.md", 3, "Never use bun.")
    patient.daemon = attrs.evolve(UP, rule_conflicts=(conflict,) * 5)
    outcome = patient.outcome("rules")
    assert outcome.state is CheckState.WARNING
    assert outcome.detail.startswith('/shop/CLAUDE.md:3 says "Never use bun.", remembered is "Use bun"')
    assert outcome.detail.endswith("and 2 more")
    assert outcome.mend == "kiro-learn memories show mr_1"
    conflict = RuleConflict(RecordId("mr_1"), "Use bun", "", 0, "Use npm", RecordId("mr_2"))
    patient.daemon = attrs.evolve(UP, rule_conflicts=(conflict,))
    outcome = patient.outcome("rules")
    assert outcome.detail == 'remembered are both "Use bun" and "Use npm"'
    assert outcome.mend == "kiro-learn conflicts keep mr_1 --over mr_2"


def test_events_that_wait_are_taken_by_a_daemon(patient: Patient) -> None:
    assert patient.state("spool") is CheckState.OK
    run_shim(patient.home, "kiro-cli")
    found = patient.outcome("spool")
    assert (found.state, found.mend) == (CheckState.WARNING, "kiro-learn start")
    patient.daemon = UP
    assert patient.state("spool") is CheckState.OK, "the daemon has a minute"
    for path in patient.home.spool.folder.iterdir():
        os.utime(path, (time.time() - 3600,) * 2)
    assert patient.outcome("spool").mend == "kiro-learn restart"
    for waiting in patient.home.spool.waiting():
        patient.home.spool.done(waiting)
    assert patient.state("spool") is CheckState.OK


def test_events_that_cannot_be_read_are_counted_and_can_be_removed(patient: Patient) -> None:
    (patient.home.spool.folder / "1-x-3").write_bytes(b"abc")
    assert list(patient.home.spool.waiting()) == []
    found = patient.outcome("spool")
    assert (found.state, "1 event could not be read" in found.detail) == (CheckState.WARNING, True)
    do(found.mend)
    assert patient.state("spool") is CheckState.OK


def test_events_whose_key_is_gone_are_told(patient: Patient) -> None:
    run_shim(patient.home, "kiro-cli")
    (patient.home.path / "spool.key").unlink()
    assert patient.state("spool") is CheckState.FAILED


@pytest.mark.parametrize("damage", sorted(DAMAGES.keys() - UNSEEN_BY_STATE))
def test_a_damaged_index_of_words_is_made_anew(patient: Patient, damage: str) -> None:
    connection = apsw.Connection(str(patient.home.database))
    connection.execute(DAMAGES[damage])
    connection.close()
    assert (patient.state("database"), patient.outcome("database").mend) == (CheckState.WARNING, FIX)
    patient.daemon = UP
    assert patient.outcome("database").mend == FIX_STOPPED
    assert patient.fix() == []
    patient.daemon = DOWN
    assert patient.fix() == ["rebuilt the index of words of 1 project"]
    assert patient.state("database") is CheckState.OK


def test_mending_leaves_a_daemon_stopped_that_the_user_stopped(patient: Patient) -> None:
    kiro_learn(patient.home.path, "stop")
    connection = apsw.Connection(str(patient.home.database))
    connection.execute(DAMAGES["its list of parts is zeros"])
    connection.close()
    assert patient.fix() == ["rebuilt the index of words of 1 project"]
    assert patient.outcome("daemon").state is CheckState.WARNING


def test_a_database_that_is_gone_is_told_with_what_shows_that_there_was_one(patient: Patient) -> None:
    patient.home.database.unlink()
    assert patient.state("database") is CheckState.SKIPPED, "nothing shows that there was one"
    (patient.home.path / "daemon.began").write_text("2026-01-05T12:00:00Z\n")
    for is_empty in (False, True):
        if is_empty:
            patient.home.database.touch()
        found = patient.outcome("database")
        assert found.state is CheckState.FAILED
        assert "there was one: daemon.began says since 2026-01-05T12:00:00Z" in found.detail
        assert found.mend.endswith("&& kiro-learn start --anew")


def test_a_daemon_that_cannot_say_how_it_is_is_no_silent_one(patient: Patient) -> None:
    patient.daemon = DaemonFacts(state=DaemonState.ILL, problem="the database cannot be read", address="127.0.0.1:9")
    assert patient.state("daemon") is CheckState.OK
    assert patient.outcome("database") == Outcome(
        CheckState.FAILED, "the database cannot be read", "kiro-learn restart"
    )


def test_a_database_that_a_daemon_holds_is_not_written_to(patient: Patient) -> None:
    connection = apsw.Connection(str(patient.home.database))
    connection.execute(DAMAGES["the table is gone"])
    connection.close()
    doctor = patient.doctor()
    with patient.home.lock():
        (fix,) = doctor.fix(doctor.examine())
    assert fix.problem.startswith("a daemon already runs")


def test_of_a_damaged_database_everything_that_can_be_read_is_saved(patient: Patient) -> None:
    database = patient.home.database
    shutil.copy(database, patient.home.backups / "kiro-learn-v18-20260101T000000Z.db")
    content = bytearray(database.read_bytes())
    content[8192:20480] = b"\xff" * 12288
    database.write_bytes(content)
    log = Path(f"{database}-wal")
    log.write_bytes(b"what was committed last")
    found = patient.outcome("database")
    assert (found.state, "damage" in found.detail) == (CheckState.FAILED, True)
    assert found.detail.endswith("or kiro-learn restore puts back the copy of 2026-01-01 00:00 UTC")
    assert found.mend == FIX
    *_, done = patient.fix()
    assert done.startswith("saved 7 memories and 0 events of the damaged database; lost: 0 memories, 0 events")
    assert patient.state("database") is CheckState.OK
    (kept,) = patient.home.backups.glob("damaged-*/kiro-learn.db")
    assert kept.read_bytes() == bytes(content)
    # The log has the last commits, and the repair needs it.
    assert kept.with_name(log.name).read_bytes() == b"what was committed last"
    assert not log.exists()


def test_a_run_that_saves_the_database_ends_well_and_says_what_was_lost(patient: Patient) -> None:
    content = bytearray(patient.home.database.read_bytes())
    content[8192:20480] = b"\xff" * 12288
    patient.home.database.write_bytes(content)
    Path(f"{patient.home.database}-wal").unlink(missing_ok=True)
    ask = partial(kiro_learn, patient.home.path, "doctor", changes=patient.environment)
    assert ask().returncode == 1
    mended = ask("--fix")
    assert "7 memories" in mended.stdout
    assert "lost: 0 memories, 0 events" in " ".join(mended.stdout.split())
    assert "\n    mend: kiro-learn start\n" in mended.stdout
    assert mended.returncode == 0
    # Later, a missing daemon has nothing to do with a repair.
    assert ask().returncode == 1


def test_a_running_daemons_damaged_database_is_not_mended(patient: Patient) -> None:
    content = bytearray(patient.home.database.read_bytes())
    content[8192:20480] = b"\xff" * 12288
    patient.home.database.write_bytes(content)
    patient.daemon = UP
    assert patient.outcome("database").mend == FIX_STOPPED
    assert patient.fix() == []
    assert patient.home.database.read_bytes() == bytes(content)
    patient.daemon = DOWN  # as far as this process knows
    doctor = patient.doctor()
    with patient.home.lock():
        (fix,) = doctor.fix([each for each in doctor.examine() if each.check.check_id == "database"])
    assert fix.problem.startswith("a daemon already runs")
    assert patient.home.database.read_bytes() == bytes(content)


def test_a_database_that_is_a_symbolic_link_is_told_as_the_daemon_refuses_it(patient: Patient, tmp_path: Path) -> None:
    elsewhere = patient.home.database.rename(tmp_path / "elsewhere.db")
    patient.home.database.symlink_to(elsewhere)
    found = patient.outcome("database")
    assert (found.state, "symbolic link" in found.detail) == (CheckState.FAILED, True)
    assert found.mend == f"kiro-learn stop && mv {elsewhere} {patient.home.database} && kiro-learn start"
    assert patient.fix() == []
    do(f"mv {elsewhere} {patient.home.database}")
    assert patient.state("database") is CheckState.OK


@pytest.mark.parametrize("name", [".", "logs", "backups", "spool"])
def test_a_folder_that_is_a_symbolic_link_is_told_as_the_daemon_refuses_it(patient: Patient, name: str) -> None:
    path = patient.home.path / name
    elsewhere = path.rename(patient.home.path.with_name("else where"))
    path.symlink_to(elsewhere)
    with pytest.raises(ConfigError, match="symbolic link"):
        patient.home.prepare()
    found = patient.outcome("home")
    assert (found.state, f"{path} is a symbolic link" in found.detail) == (CheckState.FAILED, True)
    assert found.mend == f"rm {path} && mv '{elsewhere}' {path} && kiro-learn start"
    do(found.mend.removesuffix(" && kiro-learn start"))
    patient.home.prepare()
    assert patient.state("home") is CheckState.OK


def test_a_home_that_is_a_symbolic_link_is_said_once(patient: Patient) -> None:
    link = Home(patient.home.path.with_name("link"))
    link.path.symlink_to("nowhere")
    doctor = Patient(link).doctor()
    assert [each.check.check_id for each in doctor.examine() if each.is_wrong] == ["home"]
    assert Patient(link).outcome("home").mend == f"rm {link.path} && kiro-learn start"
    link.path.unlink()
    link.path.symlink_to(patient.home.path)
    assert [each.check.check_id for each in doctor.examine() if each.is_wrong] == ["home"]


def test_copies_that_grow_old_are_told(patient: Patient) -> None:
    assert patient.state("backup") is CheckState.SKIPPED
    patient.home.began.write_text("2026-01-01T00:00:00Z\n")
    assert patient.outcome("backup") == Outcome(CheckState.WARNING, "there is none", "kiro-learn backup now")
    shutil.copy(patient.home.database, patient.home.backups / f"kiro-learn-daily-{patient.now:%Y%m%dT%H%M%SZ}.db")
    assert patient.state("backup") is CheckState.OK
    patient.now += timedelta(days=5)
    assert patient.outcome("backup").detail == "the newest is 5 days old"
    patient.daemon = attrs.evolve(UP, backup_problem="there is no room")
    assert patient.outcome("backup").detail == "the last daily copy failed: there is no room"
    patient.environment["KIRO_LEARN_BACKUP_ENABLED"] = "no"
    assert patient.state("backup") is CheckState.SKIPPED


def test_damaged_copies_are_named(patient: Patient) -> None:
    made = f"{patient.now:%Y%m%dT%H%M%SZ}"
    shutil.copy(patient.home.database, patient.home.backups / f"kiro-learn-daily-{made}.db")
    aside = patient.home.backups / f"damaged-{made}"
    aside.mkdir()
    (aside / "kiro-learn.db").write_bytes(b"noise" * 10_000)
    found = patient.outcome("backup")
    assert found.state is CheckState.OK
    assert found.detail.endswith(f"; damaged, put aside: {aside.name}")
    rotten = patient.home.backups / "kiro-learn-daily-20260101T000000Z.db"
    rotten.write_bytes(b"noise" * 10_000)
    found = patient.outcome("backup")
    assert (found.state, found.mend) == (CheckState.WARNING, "kiro-learn backup now")
    assert found.detail.endswith(f"may be in them: {rotten.name}")


def test_a_disk_of_copies_that_is_not_mounted_is_told_and_not_written_to(patient: Patient, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    ask = partial(kiro_learn, patient.home.path, changes={**patient.environment, "KIRO_LEARN_BACKUP_FOLDER": str(disk)})
    assert ask("backup", "now").returncode == 0
    disk.rename(tmp_path / "unmounted")
    disk.mkdir()
    refused = ask("backup", "now")
    told = " ".join(ask("doctor").stdout.split())
    assert refused.returncode == 1
    for said in (refused.stderr, told):
        assert f"copies were made in {disk}/kiro-learn-" in said
        assert "mount its disk" in said
    assert list(disk.iterdir()) == []


def test_a_file_that_is_no_database_is_told(patient: Patient) -> None:
    patient.home.database.write_bytes(b"no database" * 1000)
    found = patient.outcome("database")
    assert found.state is CheckState.FAILED
    assert found.detail.endswith(
        "there is no copy of it in backups: mending begins an empty one, and keeps what is left of this one"
    )


def test_a_database_that_cannot_be_opened_is_not_taken_for_a_damaged_one(patient: Patient) -> None:
    """Opening needs room for an index of the log. Moving a sound database aside would lose it."""
    aside = patient.home.database.rename(patient.home.path / "aside")
    patient.home.database.symlink_to("nowhere")
    found = patient.outcome("database")
    assert found == Outcome(
        CheckState.FAILED,
        f"{patient.home.database} is a symbolic link that leads nowhere",
        f"ls -ld {patient.home.database}*",
    )
    patient.free_bytes = 50_000_000
    assert patient.outcome("database") == Outcome(CheckState.SKIPPED, "it cannot be opened while the disk is full")
    patient.home.database.unlink()
    aside.rename(patient.home.database)
    assert patient.state("database") is CheckState.OK


def test_a_full_disk_is_told(patient: Patient) -> None:
    patient.free_bytes = 50_000_000
    assert (patient.state("disk"), patient.outcome("disk").mend[:5]) == (CheckState.FAILED, "df -h")
    patient.free_bytes = 1_000_000_000
    assert patient.state("disk") is CheckState.OK
    with patient.home.database.open("r+b") as file:
        file.truncate(500_000_000)
    assert patient.state("disk") is CheckState.WARNING


def test_a_daemon_that_can_store_nothing_is_no_well_one(patient: Patient) -> None:
    patient.daemon = attrs.evolve(UP, write_problem="the disk is ill")
    found = patient.outcome("daemon")
    assert (found.state, found.mend) == (CheckState.FAILED, f"df -h {patient.home.path}")
    assert found.detail == "it answers, and could not store what came last: the disk is ill"


def test_a_clock_that_was_put_back_is_told(patient: Patient) -> None:
    ahead = time.time() + 3600
    os.utime(patient.home.database, (ahead, ahead))
    found = patient.outcome("clock")
    assert (found.state, found.mend) == (CheckState.WARNING, "sudo timedatectl set-ntp true")
    assert found.detail in {
        "the last write lies 59 minutes in the future",
        "the last write lies 60 minutes in the future",
    }
    ahead += 400 * 24 * 3600
    os.utime(patient.home.database, (ahead, ahead))
    assert patient.outcome("clock").detail == "the last write lies 400 days in the future"
    os.utime(patient.home.database)
    assert patient.state("clock") is CheckState.OK


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    home = tmp_path / "home"
    yield home
    kiro_learn(home, "stop")


def test_the_command_finds_mends_and_says_what_it_did(home: Path) -> None:
    ask = partial(kiro_learn, home, "doctor")
    assert ask().returncode == 1
    kiro_learn(home, "start", "--port", "0")
    well = ask()
    assert (well.returncode, well.stderr) == (0, "")
    assert well.stdout.endswith("Nothing is wrong.\n")
    assert "✓ Versions agree        v" in ask("--all").stdout
    (home / "bin" / "hook").unlink()
    broken = ask()
    assert broken.returncode == 1
    assert f"✗ Hook {home}/bin/hook is gone mend: {FIX} ✓" in " ".join(broken.stdout.split())
    mended = ask("--fix")
    assert mended.returncode == 0
    assert "✓ Hook                  wrote bin/hook anew\n" in mended.stdout
    document = json.loads(ask("--json").stdout)
    assert (document["ok"], document["fixed"]) == (True, [])
    assert [check["id"] for check in document["checks"]] == [check.check_id for check in CHECKS]
    assert document["checks"][0].keys() == {"id", "title", "state", "detail", "mend"}


def test_a_token_that_is_gone_under_a_daemon_names_the_way_out(home: Path) -> None:
    kiro_learn(home, "start", "--port", "0")
    pid = json.loads(kiro_learn(home, "status", "--json").stdout)["pid"]
    (home / "token").unlink()
    checks = json.loads(kiro_learn(home, "doctor", "--json").stdout)["checks"]
    (token,) = (check for check in checks if check["id"] == "token")
    assert (token["state"], token["mend"]) == ("fail", "kiro-learn restart")
    do(f"kill -9 {pid}")
    kiro_learn(home, "start", "--port", "0")
    assert kiro_learn(home, "doctor").returncode == 0


def test_a_home_that_cannot_be_written_to_is_said_and_nothing_is_offered_that_would_write(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a disk that is mounted read-only."""
    patient.home.hook.unlink()
    monkeypatch.setattr(DiskHomeInspection, "is_writable", lambda _: False)

    home, hook = patient.outcome("home"), patient.outcome("hook")

    assert (home.state, home.detail) == (CheckState.FAILED, f"{patient.home.path} cannot be written to")
    assert home.mend.startswith("chmod u+rwx ")
    assert (hook.state, hook.mend) == (CheckState.FAILED, "")
    assert patient.fix() == []
