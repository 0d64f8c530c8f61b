"""The daemon as a user unit of systemd, and the messages to systemd that it is ready or is stopping.

The messages follow the protocol of sd_notify(3): one datagram to the socket that ``NOTIFY_SOCKET`` names. systemd
promises to keep it (systemd.io/PORTABILITY_AND_STABILITY), and a library would need more code.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence

import attrs
import structlog

from kiro_learn.adapters.service_managers.commands import DescribedService, checked, run_command
from kiro_learn.errors import ServiceError
from kiro_learn.model.settings import ServiceState, marked

UNIT = """\
[Unit]
Description=Memory for coding agents (kiro-learn)
# After 5 failed starts within 5 minutes it stays stopped.
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
Type=notify
NotifyAccess=main
ExecStart={command}
{environment}
WorkingDirectory=/
Restart=on-failure
RestartSec=2
# An upgrade of the database may take minutes; the daemon says that it is ready only after it.
TimeoutStartSec=infinity
TimeoutStopSec=15
# The daemon ends its agents itself, and what it left is killed after it.
KillMode=mixed
# An agent that takes too much memory is killed alone.
OOMPolicy=continue
UMask=0077
LimitCORE=0
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK

[Install]
WantedBy=default.target
"""

USABLE_STATES = frozenset({"initializing", "starting", "running", "degraded", "maintenance"})
_STATES = {
    "active": ServiceState.RUNNING,
    "reloading": ServiceState.RUNNING,
    "activating": ServiceState.STARTING,
    "deactivating": ServiceState.RUNNING,
    "failed": ServiceState.FAILED,
}


@attrs.frozen(kw_only=True)
class SystemdUnit(DescribedService):
    """A unit of the user's own systemd. Its name is that of its file."""

    title = "systemd"

    def definition(self) -> bytes:
        unit = UNIT.format(
            command=" ".join([_program(self.command[0]), *map(_argument, self.command[1:])]),
            environment="\n".join(
                f"Environment={_quoted(f'{name}={value}')}" for name, value in sorted(self.variables.items())
            ),
        )
        return marked(b"", unit.encode("utf-8", "surrogateescape"), opening="# ")

    def start_commands(self, state: ServiceState) -> tuple[Sequence[str], ...]:
        """``reset-failed`` comes first: a unit that used up its starts takes no further one before it."""
        fresh = (self._systemctl("reset-failed", self.path.name),) if state is ServiceState.FAILED else ()
        return (
            self._systemctl("daemon-reload"),
            self._systemctl("enable", self.path.name),
            *fresh,
            self._systemctl("restart", "--no-block", self.path.name),
        )

    def stop_commands(self, state: ServiceState) -> tuple[Sequence[str], ...]:  # noqa: ARG002  # launchd has to know
        return (self._systemctl("disable", "--now", self.path.name),)

    def forget_commands(self) -> tuple[Sequence[str], ...]:
        return (self._systemctl("daemon-reload"),)

    def state(self) -> ServiceState:
        said = self.run(self._systemctl("show", "--property=ActiveState", "--value", self.path.name)).output
        if said not in _STATES:
            return ServiceState.ABSENT if self.read() is None else ServiceState.STOPPED
        return _STATES[said]

    def ends_at_logout(self) -> bool:
        """Whether the user's services stop at logout, since lingering is off; False if loginctl cannot tell."""
        said = self.run(("loginctl", "show-user", str(os.getuid()), "--property=Linger", "--value")).output
        return said == "no"

    def _systemctl(self, *arguments: str) -> Sequence[str]:
        return ("systemctl", "--user", *arguments)


def is_usable(environment: Mapping[str, str]) -> bool:
    """Whether the user's own systemd answers."""
    return run_command(("systemctl", "--user", "is-system-running"), environment).output in USABLE_STATES


def _program(path: str) -> str:
    """The first word of a command line. systemd takes fewer characters in it than in the other words."""
    if '"' in path or "\\" in path:
        raise ServiceError(f"systemd starts no program from {path}", hint="Install it in another folder.")
    return _quoted(path)


def _argument(word: str) -> str:
    return _quoted(word).replace("$", "$$")


def _quoted(word: str) -> str:
    """``word`` in quotes, by the rules of systemd.syntax(7); a single ``%`` would begin a specifier."""
    escaped = checked(word).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


log = structlog.get_logger()

VARIABLE = "NOTIFY_SOCKET"
READY = "READY=1"
STOPPING = "STOPPING=1"


def notify(environment: Mapping[str, str], *assignments: str) -> None:
    """Send ``assignments``, such as ``READY=1``, if a service manager listens. It never blocks."""
    address = environment.get(VARIABLE, "")
    if not address.startswith(("/", "@")):
        return
    if address.startswith("@"):  # an abstract socket of Linux
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.setblocking(False)
            sender.sendto("\n".join(assignments).encode(), address)
    except OSError as error:
        log.warning("service.not_notified", errno=error.errno)
