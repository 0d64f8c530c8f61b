"""The verbs init, install and uninstall: show a plan, ask, and carry it out."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import click

from kiro_learn.client.address import build_in_lock
from kiro_learn.frontends.cli import daemon_process, install_screen, texts
from kiro_learn.frontends.cli.command import build_note, is_of_newer_daemon, say_build
from kiro_learn.frontends.cli.daemon_verbs import (
    autostart_of,
    planned_removal,
    restart_daemon,
    start_daemon,
    stop_daemon,
)
from kiro_learn.frontends.cli.install_screen import LINE_COLUMN
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import counted, duration, milliseconds
from kiro_learn.services.histories import WantedSessions
from kiro_learn.services.installation import FoundAgent, Installation
from kiro_learn.services.installation_plan import Plan
from kiro_learn.wire.agents import AGENTS

HOOK_SECONDS = 5.0


def _with_names(sentence: str) -> str:
    return f"{sentence}\n\nAgents: {', '.join(AGENTS)}; without a name, all."


_dry_run = click.option("--dry-run", is_flag=True, help="Print what would change, as a diff, and write nothing.")
_yes = click.option("--yes", is_flag=True, help=texts.YES_HELP)
_agents = click.argument("agents", nargs=-1, type=click.Choice(list(AGENTS)), metavar="[AGENT]...")
_project = click.option("--project", "in_project", is_flag=True, help="Only for the project of this folder.")
_no_default = click.option("--no-set-default", is_flag=True, help="Leave Kiro CLI's default agent as it is.")
_no_compressor = click.option("--no-compressor", is_flag=True, help="Do not have Kiro CLI word the memories.")


class _Wish(NamedTuple):
    """The options of the command, each by its name."""

    agents: tuple[str, ...] = ()
    in_project: bool = False
    dry_run: bool = False
    yes: bool = False
    no_set_default: bool = False
    no_compressor: bool = False

    @property
    def said_as(self) -> str:
        """The command that installs the same."""
        options = {
            "--project": self.in_project,
            "--no-set-default": self.no_set_default,
            "--no-compressor": self.no_compressor,
        }
        return " ".join(["kiro-learn install", *self.agents, *(name for name, is_given in options.items() if is_given)])


@click.command("init")
@_dry_run
@_yes
@_no_default
@_no_compressor
@printing
def init_verb(shell: Shell, **wished: Any) -> int:
    """Connect the agents of this machine, and start the daemon."""
    return _install(shell, _Wish(**wished), and_start=True)


@click.command("install", help=_with_names("Connect the agents that are found, or named."))
@_agents
@_project
@_dry_run
@_yes
@_no_default
@_no_compressor
@printing
def install_verb(shell: Shell, **wished: Any) -> int:
    return _install(shell, _Wish(**wished), and_start=False)


@click.command("uninstall", help=_with_names("Remove from agents' files what install put in."))
@_agents
@click.option("--purge", is_flag=True, help="Remove the home too: memories, settings, logs.")
@_dry_run
@_yes
@printing
def uninstall_verb(shell: Shell, *, purge: bool, **wished: Any) -> int:
    wish = _Wish(**wished)
    if purge and wish.agents:
        raise Failed("--purge is for all agents: name none", hint="kiro-learn uninstall --purge", exit_code=2)
    return _uninstall(shell, wish, purge=purge)


def _install(shell: Shell, wish: _Wish, *, and_start: bool) -> int:
    installation = shell.open_installation(shell.home, shell.environment)
    found = installation.found()
    names = wish.agents or tuple(agent.name for agent in found)
    if not shell.as_json:
        shell.print([*install_screen.agents(found, tuple(agent.title for agent in AGENTS.values()), shell.out), ""])
    if not names:
        raise Failed("no coding agent was found on this machine", hint="kiro-learn install claude-code")
    project = _project_root(installation) if wish.in_project else None
    plan = installation.plan(
        names, project=project, sets_default_agent=not wish.no_set_default, has_compressor=not wish.no_compressor
    )
    if wish.dry_run:
        return _show(shell, plan, found)
    if not shell.as_json:
        command = wish.said_as if plan.changes else ""
        _offer(shell, plan, command, "All of them are connected already.", in_project=wish.in_project)
    if plan.changes:
        _ask(shell, plan, wish)
    installation.home.prepare()
    failed = [*plan.problems, *installation.carry_out(plan)]
    if shell.as_json:
        _print_json(shell, plan, failed, found, written=True)
        _start_unseen(shell, is_wanted=and_start)
        return 1 if failed else 0
    _say_done(shell, plan, failed, "{files} written", f"listed in {shell.tilde(shell.home / 'manifest.json')}")
    if and_start:
        _start(shell, may_restart=wish.yes or shell.can_ask, yes=wish.yes)
    elif _is_running(shell):
        say_build(shell)
    if plan.steps:
        changed = _changed(names, plan, failed)
        shell.print(_next_steps(changed, is_running=_is_running(shell), left_alone=len(failed)))
        shell.print(_service_offer(shell))
    shell.print(_import_offer(shell) if and_start else ())
    return 1 if failed else 0


def _uninstall(shell: Shell, wish: _Wish, *, purge: bool) -> int:
    installation = shell.open_installation(shell.home, shell.environment)
    plan = installation.plan_removal(wish.agents or None)
    if wish.dry_run:
        return _show(shell, plan, ())
    if not shell.as_json:
        _offer(shell, plan, "", "Nothing is installed.")
    if plan.changes:
        _ask(shell, plan, wish)
    failed = [*plan.problems, *installation.carry_out(plan)]
    if shell.as_json:
        _print_json(shell, plan, failed, (), written=True)
    else:
        _say_done(shell, plan, failed, "{files} put back", "")
    if purge and not failed:
        _purge(shell, installation, wish)
    elif not shell.as_json and plan.steps and installation.home.contents():
        shell.print([f"The memories stay in {shell.tilde(shell.home)}. Remove them too: kiro-learn uninstall --purge"])
    return 1 if failed else 0


def _offer(shell: Shell, plan: Plan, command: str, if_none: str, *, in_project: bool = False) -> None:
    """Show what would change, and the command that shows every line of it."""
    if not plan.changes and not plan.problems:
        shell.print([if_none])
    shell.print(install_screen.changes(plan, shell.out, shell.tilde))
    if plan.sets_default_agent:
        shell.print(["", "Kiro CLI will start with another agent, kiro-learn: its own one cannot have hooks."])
        shell.print(["To leave its default agent as it is: --no-set-default"])
    if plan.sends_to_a_model:
        shell.print(["", "Kiro CLI will word the memories: what you do, less what is redacted, goes to the"])
        shell.print(["service that it is logged in to. To keep it on this machine: --no-compressor"])
    is_on_path = shutil.which("kiro-learn", path=shell.environment.get("PATH")) is not None
    shell.print(install_screen.notes(plan, shell.out, shell.tilde, in_project=in_project, is_on_path=is_on_path))
    if command:
        shell.print(["", f"See every line: {shell.out.command(f'{command} --dry-run')}"])


def _ask(shell: Shell, plan: Plan, wish: _Wish) -> None:
    """Ask whether to go on.

    Raises:
      Failed: the answer is no, or there is no terminal to ask in.
    """
    question = f"Go on ({install_screen.count(plan)})?"
    if not shell.confirm(question, flag_given=wish.yes, enter_means=True):
        raise Failed("nothing was written")


def _show(shell: Shell, plan: Plan, found: Sequence[FoundAgent]) -> int:
    """Show a dry run; returns the exit code."""
    if shell.as_json:
        _print_json(shell, plan, plan.problems, found, written=False)
    else:
        shell.print(install_screen.diff(plan, shell.tilde))
        count = install_screen.count(plan)
        shell.say(["", f"Would {count}. Nothing was written." if plan.changes else "Nothing would change."])
        _say_problems(shell, plan.problems)
    return 1 if plan.problems else 0


def _print_json(
    shell: Shell, plan: Plan, problems: Sequence[Exception], found: Sequence[FoundAgent], *, written: bool
) -> None:
    shell.print_json(
        {
            "agents": [{"name": each.name, "version": each.version} for each in found],
            "files": install_screen.as_json(plan),
            "problems": install_screen.problems_as_json(problems),
            "taken_from": [str(home) for home in plan.taken_from],
            "written": written,
        }
    )


def _say_done(shell: Shell, plan: Plan, failed: Sequence[Exception], what: str, where: str) -> None:
    left = {str(getattr(error, "path", "")) for error in failed}
    done = sum(str(step.path) not in left for step in plan.changes)
    if done:
        shell.print([_line(shell, what.format(files=counted(done, *texts.FILES)), where)])
    _say_problems(shell, failed)


def _say_problems(shell: Shell, problems: Sequence[Exception]) -> None:
    if problems:
        shell.say(install_screen.problems(problems, shell.err, shell.tilde))
        hints = dict.fromkeys(
            getattr(error, "hint", "") or "Mend it, and give the same command again." for error in problems
        )
        shell.say([f"{shell.err.dim(texts.HINT)}  {hint}" for hint in hints])


def _project_root(installation: Installation) -> PurePosixPath:
    root = installation.project_root(PurePosixPath(os.path.realpath(".")))
    if root is None:
        raise Failed("this folder is your home folder, not a project", hint="kiro-learn install", exit_code=2)
    return root


def _is_running(shell: Shell) -> bool:
    with shell.client(patience_seconds=daemon_process.PATIENCE_SECONDS) as client:
        return daemon_process.answers(client)


def _start(shell: Shell, *, may_restart: bool, yes: bool) -> None:
    """Start the daemon if none runs, or restart an older build if the user agrees; then run the hook once."""
    is_running = _is_running(shell)
    is_of_another = is_running and bool(build_note(*reversed(build_in_lock(shell.home))))
    is_restarting = is_of_another and may_restart and not is_of_newer_daemon(shell)
    is_restarting = is_restarting and shell.confirm(
        "The daemon was started before this command was installed. Restart it?", flag_given=yes, enter_means=True
    )
    if is_of_another and not is_restarting:
        say_build(shell)
    elif is_restarting or not is_running:
        address, seconds = restart_daemon(shell) if is_restarting else start_daemon(shell)
        shell.print([_line(shell, texts.ANSWERS, f"{address} in {duration(seconds)}")])
    shell.print([_hook_line(shell), *_learner_lines(shell)])


def _start_unseen(shell: Shell, *, is_wanted: bool) -> None:
    """Start the daemon for a program, if it wants that and none runs; only an error is said."""
    if is_wanted and not _is_running(shell):
        start_daemon(shell)


def _learner_lines(shell: Shell) -> list[str]:
    """Why no model writes the memories, and what to type if another agent of this machine can."""
    with shell.client(patience_seconds=daemon_process.PATIENCE_SECONDS) as client:
        obstacle = client.status()["llm"]["obstacle"]
    return install_screen.learner(obstacle, shell.out) if obstacle else []


def _hook_line(shell: Shell) -> str:
    """Run the hook as agents do, for an unknown agent: the daemon answers, and nothing is stored."""
    hook = shell.home / "bin" / "hook"
    began = time.monotonic()
    try:
        done = subprocess.run(  # noqa: S603  # our own file
            [str(hook), "kiro-learn-init"],
            input=b"{}",
            cwd=shell.home,  # the current folder may be gone, which the shell would complain of
            capture_output=True,
            timeout=HOOK_SECONDS,
            check=False,
        )
        complaint = done.stderr.decode("utf-8", "replace").strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        complaint = type(error).__name__
    if complaint:
        return f"{shell.out.mark('wrong')} {'Hook fails':{LINE_COLUMN}}{complaint}"
    return _line(shell, "Hook reaches the daemon", milliseconds((time.monotonic() - began) * 1000))


def _import_offer(shell: Shell) -> Iterator[str]:
    """The command that imports past sessions, if agents keep any on this machine."""
    past = shell.open_maintenance().open_past_sessions(shell.home, shell.environment)
    found = Counter(each.reader.title for each in past.found(WantedSessions()))
    if found:
        sessions = counted(found.total(), *texts.SESSIONS)
        offer = f"{sessions} of {', '.join(found)} are on this machine"
        yield f"{offer}: {shell.out.command('kiro-learn import')}"


def _changed(names: Sequence[str], plan: Plan, failed: Sequence[Exception]) -> list[str]:
    """The ``names`` of agents for which a file was written."""
    left = {str(getattr(error, "path", "")) for error in failed}
    written = [step.written for step in plan.changes if step.written is not None and str(step.path) not in left]
    return [name for name in names if any(name in each.agents for each in written)]


def _next_steps(names: Sequence[str], *, is_running: bool, left_alone: int) -> list[str]:
    agents = [AGENTS[name] for name in names if AGENTS[name].next_step]
    lines = [f"  {agent.title:{LINE_COLUMN}}{agent.next_step}" for agent in agents]
    if not is_running:
        return [*lines, "Ready, as soon as the daemon runs: kiro-learn start"]
    if left_alone:
        files = counted(left_alone, "file that was", "files that were")
        return [*lines, f"Ready, but for {files} left alone: agents without their hooks are told nothing."]
    return [*lines, "Ready. Use your agents as always; the first memories appear after a session."]


def _service_offer(shell: Shell) -> list[str]:
    """How to start the daemon with the machine, if that is possible and not set up yet."""
    autostart = autostart_of(shell)
    if autostart is None or autostart.is_installed:
        return []
    return [f"Start the daemon with the machine: {shell.out.command('kiro-learn service install')}"]


def _purge(shell: Shell, installation: Installation, wish: _Wish) -> None:
    """Show what is in the home, ask, and remove it; first the service, which would create the home again.

    Raises:
      Failed: the user refused.
      ServiceError: the service could not be removed, or was changed by hand; the home is as it was.
      AlreadyRunning: the daemon did not end.
    """
    contents = installation.home.contents()
    if not contents:
        return
    if not shell.as_json:
        shell.print([f"The home {shell.tilde(shell.home)} holds"])
        shell.print(install_screen.home_contents(contents, shell.out))
    if not shell.confirm("Remove all of it? This cannot be undone.", flag_given=wish.yes):
        raise Failed("the home is as it was")
    remove_service = planned_removal(shell)
    stop_daemon(shell)
    remove_service()
    left = installation.home.remove()
    if not shell.as_json:
        shell.print(
            [_line(shell, "The home is removed", f"except for files of others: {', '.join(left)}" if left else "")]
        )


def _line(shell: Shell, what: str, fact: str) -> str:
    return f"{shell.out.mark('ok')} {what:{LINE_COLUMN}}{fact}".rstrip()
