"""What may be wrong with a home: each check is one function of an examination.

Rules of this file: a check changes nothing, says what is wrong in one sentence, and names the command that repairs it.
A fix loses nothing and can be repeated.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import PurePosixPath

from kiro_learn.errors import AgentFileError
from kiro_learn.model.settings import FileOrigin, ServiceState
from kiro_learn.model.version import is_newer
from kiro_learn.ports.home import SpoolFacts
from kiro_learn.services.agent_surroundings import FileFault
from kiro_learn.services.doctor import (
    DATABASE,
    FIX,
    LEAST_FREE_BYTES,
    RESTART,
    START,
    STOP,
    WHICH,
    Check,
    DaemonState,
    Examination,
    Outcome,
    counted,
    failed,
    ok,
    skipped,
    warning,
)
from kiro_learn.services.doctor_database import copies_are_made, database_is_sound, mend

UPGRADE_COPIES = 3
"""The free space that an upgrade needs, in sizes of the database."""
MOST_SPOOLED = 10_000
"""The number of files at which the hook stops keeping events."""
DELIVERY_TIME = timedelta(minutes=1)
"""The time after which a running daemon has taken all waiting events."""
CLOCK_TOLERANCE = timedelta(minutes=2)
SHOWN_NAMES = 3
VARIABLE = "KIRO_LEARN_"
"""The beginning of each environment variable that is a setting."""


def home_is_private(seen: Examination) -> Outcome:
    """The home exists, belongs to this user, can be written, and gives other users no rights."""
    if links := seen.home.links():
        said = (
            f"{_shown([path for path, _ in links])} {'is a symbolic link' if len(links) == 1 else 'are symbolic links'}"
        )
        return failed(f"{said}, and the daemon needs the folder itself there", _put_there(seen, links))
    if not seen.home.exists():
        return failed(f"{seen.home.path} is not there", START)
    if names := seen.home.of_another_user():
        return failed(f"another user owns {_shown(names)}", _take_back(seen))
    if not seen.home.is_writable():
        folder = shlex.quote(str(seen.home.path))
        return failed(f"{seen.home.path} cannot be written to", f"chmod u+rwx {folder}; findmnt -T {folder}")
    names = seen.home.open_to_others()
    return failed(f"other users can reach {_shown(names)}", FIX) if names else ok("no other user can read it")


def _put_there(seen: Examination, links: Sequence[tuple[str, str]]) -> str:
    """The command that moves the target of each link into its place; if a link has no target, it is just removed."""
    steps = [] if seen.daemon.state is DaemonState.DOWN else [STOP]
    for path, target in links:
        steps.append(f"rm {shlex.quote(path)}")
        steps += [f"mv {shlex.quote(target)} {shlex.quote(path)}"] if target else []
    return " && ".join([*steps, START])


def _shown(names: Sequence[str]) -> str:
    shown = ["the folder itself" if name == "." else name for name in names[:SHOWN_NAMES]]
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return f"{', '.join(shown)}{more}"


def _take_back(seen: Examination) -> str:
    return f'sudo chown -R "$(id -u)" {shlex.quote(str(seen.home.path))}'


def close_home(seen: Examination) -> str:
    """Take every right in the home from other users."""
    if not seen.home.exists():
        return ""
    seen.home.close_to_others()
    return "closed the home to other users"


def hook_can_start(seen: Examination) -> Outcome:
    """The files that agents' hooks run are there and of this version, and their interpreter is there."""
    if not seen.home.exists():
        return skipped("there is no home yet")
    problem = seen.home.hook_problem()
    return failed(problem, FIX) if problem else ok("its interpreter is there, and it is of this version")


def renew_hook(seen: Examination) -> str:
    """Write the files that agents' hooks run again."""
    if not seen.home.exists():
        return ""
    seen.home.renew_hook()
    return "wrote bin/hook anew"


def token_is_there(seen: Examination) -> Outcome:
    """The token's file holds a token, and the daemon takes it."""
    if not seen.home.exists():
        return skipped("there is no home yet")
    if seen.daemon.state is DaemonState.REFUSED:
        return failed(seen.daemon.problem, seen.daemon.hint)
    problem = seen.home.token_problem()
    is_down = seen.daemon.state is DaemonState.DOWN
    return failed(problem, FIX if is_down else seen.daemon.hint) if problem else ok("clients have it")


def renew_token(seen: Examination) -> str:
    """Make a new token, only while no daemon runs: a running one knows only the old token."""
    if not seen.home.exists() or seen.daemon.state is not DaemonState.DOWN:
        return ""
    seen.home.renew_token()
    return "made a token"


def settings_are_right(seen: Examination) -> Outcome:
    """The settings file and the environment hold settings that the daemon can start with."""
    problems = seen.home.settings_problems()
    if not problems:
        return ok("the daemon can start with them")
    said = "; ".join(f"{path}: {problem}" for path, problem in problems)
    variables = list(dict.fromkeys(path for path, _ in problems if path.startswith(VARIABLE)))
    mends = [f"unset {' '.join(variables)}"] if variables else []
    mends += [_edit_settings(seen)] if any(not path.startswith(VARIABLE) for path, _ in problems) else []
    return failed(said, " && ".join(mends))


def _edit_settings(seen: Examination) -> str:
    return f'"${{EDITOR:-vi}}" {shlex.quote(str(seen.home.path / "settings.toml"))}'


def daemon_runs(seen: Examination) -> Outcome:
    """The daemon answers. It is only a warning if the user stopped it, or a repair needed it stopped."""
    daemon = seen.daemon
    if not seen.home.exists() and daemon.state is DaemonState.DOWN:
        return skipped("there is no home yet")
    if daemon.write_problem or daemon.log_problem:
        return _unwritten(seen)
    if daemon.state in {DaemonState.RUNNING, DaemonState.REFUSED, DaemonState.ILL}:
        return ok(f"{daemon.address}, pid {daemon.pid}" if daemon.pid else daemon.address)
    if daemon.state is DaemonState.DOWN and seen.home.is_stopped_by_user():
        return warning("it was stopped by kiro-learn stop", START)
    if daemon.state is DaemonState.DOWN and seen.is_database_mended:
        return warning("it does not run yet: the database was mended while it was stopped", START)
    why = seen.home.last_end() if daemon.state is DaemonState.DOWN else ""
    return failed(f"{daemon.problem}; the last one ended: {why}" if why else daemon.problem, daemon.hint or START)


def _unwritten(seen: Examination) -> Outcome:
    """A running daemon that cannot store what it is sent, or cannot write its log."""
    daemon, room = seen.daemon, f"df -h {shlex.quote(str(seen.home.path))}"
    if daemon.write_problem:
        look = "kiro-learn storage check" if seen.server else room
        return failed(f"it answers, and could not store what came last: {daemon.write_problem}", look)
    look = f"ls -ld {shlex.quote(str(seen.home.path / 'logs'))}*; {room}"
    return warning(f"it answers, and cannot write its log: {daemon.log_problem}", look)


def versions_agree(seen: Examination) -> Outcome:
    """The daemon is of the same version and build as this program, and as the one that wrote agents' hook."""
    if not seen.daemon.is_running:
        return skipped("the daemon did not send its status")
    if is_newer(seen.daemon.version):
        return failed(f"the daemon is v{seen.daemon.version}, newer than this command, v{seen.version}", WHICH)
    if seen.daemon.version != seen.version:
        return failed(f"the daemon is v{seen.daemon.version}, this command v{seen.version}", RESTART)
    if seen.daemon.build != seen.build:
        return failed(f"the daemon was started before this v{seen.version} was installed over another", RESTART)
    if seen.home.hook_build() not in {"", seen.daemon.build}:
        return failed("bin/hook was written by another build than the daemon's", RESTART)
    return ok(f"v{seen.version}")


def port_is_ours(seen: Examination) -> Outcome:
    """No other program listens on the port of the settings."""
    if seen.daemon.state is not DaemonState.DOWN:
        return ok(seen.daemon.address or "the daemon holds it")
    port = seen.home.port()
    owner = seen.port_owner(port) if port else None
    return failed(f"port {port} is taken by {owner}", f"{START} --port 0") if owner else ok("free")


def service_is_well(seen: Examination) -> Outcome:
    """The service, where one is installed, is loaded and did not fail."""
    if seen.service is None or not seen.service.is_installed:
        return skipped("none is installed")
    report = seen.service.report()
    if report.state in {ServiceState.FAILED, ServiceState.UNLOADED}:
        return failed(f"{report.manager} says {report.state.value}", "kiro-learn service install")
    if report.origin is FileOrigin.EDITED:
        return ok(f"{report.state.value}, changed by hand")
    return ok(f"{report.state.value}, by {report.manager}")


def agents_are_connected(seen: Examination) -> Outcome:
    """The agents' files that the installation wrote are there, and so are our entries in them."""
    try:
        report = seen.agent_files.report()
    except AgentFileError as error:
        path = shlex.quote(str(seen.home.path / "manifest.json"))
        return failed(f"{error}. {error.hint}".rstrip(), f"mv {path} {path}.damaged && kiro-learn install")
    if not report.file_count:
        return skipped("kiro-learn install was not run")
    if not report.faults:
        return ok(f"what was installed is in place, in {counted(report.file_count, 'file')}")
    said = _first_of([f"{fault.path}: {fault.problem}" for fault in report.faults])
    return failed(said, _install_again(report.faults))


def _install_again(faults: Sequence[FileFault]) -> str:
    """The command that edits unreadable files, installs once for each place, and uninstalls from removed agents."""
    commands = [f'"${{EDITOR:-vi}}" {shlex.quote(str(each.path))}' for each in faults if each.is_unreadable]
    agents: dict[tuple[str, PurePosixPath | None], dict[str, None]] = {}
    options: dict[str, None] = {}
    for fault in faults:
        verb = "uninstall" if fault.is_of_a_removed_agent else "install"
        place = None if fault.is_of_a_removed_agent else fault.project
        agents.setdefault((verb, place), {}).update(dict.fromkeys(fault.agents))
        options.update(dict.fromkeys(fault.options))
    for (verb, project), names in agents.items():
        words = ["kiro-learn", verb, *names, *(options if verb == "install" and project is None else ())]
        command = " ".join(words)
        commands.append(f"(cd {shlex.quote(str(project))} && {command} --project)" if project else command)
    return " && ".join(commands)


def model_answers(seen: Examination) -> Outcome:
    """The model that writes memories is there, and its last call did not fail."""
    if program := seen.home.missing_agent():
        return warning(f"{program} was not found on the PATH", _edit_settings(seen))
    if not seen.daemon.is_running:
        return skipped("the daemon did not send its status")
    if seen.daemon.model_problem:
        login = [seen.daemon.model_login] if seen.daemon.model_login else []
        return warning(seen.daemon.model_problem, " && ".join([*login, "kiro-learn flush"]))
    if seen.daemon.obstacle:
        return skipped(f"learning goes on without one: {seen.daemon.obstacle}")
    return ok(seen.daemon.learns_by)


def meaning_is_found(seen: Examination) -> Outcome:
    """The embedding model is loaded, so that memories are found by meaning too."""
    if not seen.daemon.is_running:
        return skipped("the daemon did not send its status")
    problem = seen.daemon.embedding_problem
    if not problem:
        return ok("by meaning too")
    mend = f"{_edit_settings(seen)} && {RESTART}" if seen.home.names_embedding_model() else RESTART
    return failed(f"memories are found by their words alone: {problem}", mend)


def nothing_is_undelivered(seen: Examination) -> Outcome:
    """The events that hooks kept for later are readable, and a running daemon takes them."""
    if not seen.home.exists():
        return skipped("there is no home yet")
    spool = seen.home.spool()
    if spool.unreadable or spool.folders_aside or seen.daemon.spool_problems:
        return warning(*_unreadable(seen, spool))
    if spool.lacks_key:
        return failed("waiting events cannot be read, since the spool.key that sealed them is gone", RESTART)
    if spool.damaged_count:
        said = f"{counted(spool.damaged_count, 'event')} could not be read, and never will be"
        return warning(said, f"rm -r {shlex.quote(str(seen.home.path / 'spool' / 'damaged'))}")
    return ok("no event waits to be delivered") if spool.oldest is None else _waiting(seen, spool, spool.oldest)


def _unreadable(seen: Examination, spool: SpoolFacts) -> tuple[str, str]:
    """What is wrong, and the command that gives the files back to the user."""
    names = spool.unreadable or seen.daemon.spool_problems or tuple(path.name for path in spool.folders_aside)
    said = f"set aside until they can be used: {_shown(names)}"
    folder = shlex.quote(str(seen.home.path / "spool"))
    moves = [
        f"find {each} -type f -exec mv {{}} {folder} \\; && rm -r {each}"
        for each in (shlex.quote(str(path)) for path in spool.folders_aside)
    ]
    if not spool.unreadable and not moves:
        return said, f"ls -la {folder}"
    return said, " && ".join([_take_back(seen), *moves])


def _waiting(seen: Examination, spool: SpoolFacts, oldest: datetime) -> Outcome:
    if spool.waiting_count >= MOST_SPOOLED:
        return failed(f"{spool.waiting_count:,} events are kept for later, and there is no room for more", START)
    said = f"kept for later since {oldest:%Y-%m-%d %H:%M} UTC: {counted(spool.waiting_count, 'event')}"
    if seen.daemon.state is DaemonState.DOWN:
        return warning(said, START)
    return warning(said, RESTART) if seen.now - oldest > DELIVERY_TIME else ok(said)


def disk_has_room(seen: Examination) -> Outcome:
    """The disk of the home has room for logs, and for an upgrade of the database."""
    if not seen.home.exists():
        return skipped("there is no home yet")
    free, size = seen.home.free_bytes(), seen.home.database_bytes()
    said = f"{free / 1e9:,.1f} GB are free"
    look = f"df -h {shlex.quote(str(seen.home.path))}"
    if free < LEAST_FREE_BYTES:
        return failed(f"{free / 1e6:,.0f} MB are free: soon nothing more can be stored", look)
    if free < UPGRADE_COPIES * size:
        return warning(f"{said}, and an upgrade needs {UPGRADE_COPIES * size / 1e9:,.1f} GB", look)
    return ok(said)


def clock_goes_forward(seen: Examination) -> Outcome:
    """Nothing was written at a time that this machine's clock has not reached yet."""
    written = seen.home.newest_write() if seen.home.exists() else None
    if written is None:
        return skipped("nothing was written yet")
    ahead = written - seen.now
    if ahead > CLOCK_TOLERANCE:
        length = counted(ahead.days, "day") if ahead.days else counted(ahead // timedelta(minutes=1), "minute")
        return warning(f"the last write lies {length} in the future", "sudo timedatectl set-ntp true")
    return ok("no write lies in the future")


def rules_agree(seen: Examination) -> Outcome:
    """No line of a rule file that an agent loads, and no other rule, contradicts a remembered rule."""
    if not seen.daemon.is_running:
        return skipped("the daemon did not send its status")
    conflicts = seen.daemon.rule_conflicts
    if not conflicts:
        return ok("no rule file contradicts a memory, and no two rules contradict each other")
    said = [
        f'{each.path}:{each.line} says "{each.text}", remembered is "{each.title}"'
        if each.path
        else f'remembered are both "{each.title}" and "{each.text}"'
        for each in conflicts
    ]
    return warning(_first_of(said), conflicts[0].settled_by)


def _first_of(said: Sequence[str]) -> str:
    more = [f"and {len(said) - SHOWN_NAMES} more"] if len(said) > SHOWN_NAMES else []
    return "; ".join([*said[:SHOWN_NAMES], *more])


CHECKS = (
    Check("home", "Home is private", "Home", home_is_private, close_home),
    Check("settings", "Settings are right", "Settings", settings_are_right),
    Check("hook", "Hook can start", "Hook", hook_can_start, renew_hook),
    Check("token", "Token is there", "Token", token_is_there, renew_token),
    Check(DATABASE, "Database is sound", "Database", database_is_sound, mend),
    Check("backup", "Copies are made", "Backup", copies_are_made),
    Check("port", "Port is ours", "Port", port_is_ours),
    Check("daemon", "Daemon answers", "Daemon", daemon_runs),
    Check("versions", "Versions agree", "Versions", versions_agree),
    Check("service", "Service is well", "Service", service_is_well),
    Check("agents", "Agents are connected", "Agents", agents_are_connected),
    Check("model", "Model answers", "Model", model_answers),
    Check("meaning", "Memories are found", "Meaning", meaning_is_found),
    Check("rules", "Rules agree", "Rules", rules_agree),
    Check("spool", "Events are delivered", "Events", nothing_is_undelivered),
    Check("disk", "Disk has room", "Disk", disk_has_room),
    Check("clock", "Clock goes forward", "Clock", clock_goes_forward),
)
"""The checks in the order in which they are shown and repaired: those that let the daemon start come first.

A new check is one function and one line here."""
