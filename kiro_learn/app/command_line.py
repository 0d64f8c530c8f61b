"""The kiro-learn command: hands the daemon to the command line."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kiro_learn.frontends.cli.shell import Maintenance
    from kiro_learn.services.installation import Installation


def main() -> int:
    if sys.argv[1:] == ["mcp"]:
        from kiro_learn.frontends.mcp.stdio import run as run_mcp  # noqa: PLC0415  # an agent waits for its first answer

        return run_mcp(os.environ)
    from kiro_learn.frontends.cli.command import run  # noqa: PLC0415  # as above

    code = run(sys.argv[1:], serve=_serve, open_installation=_open_installation, open_maintenance=_open_maintenance)
    if "kiro_learn.app.daemon" in sys.modules:
        _leave(code)
    return code


def _serve(home: Path, *, port: int | None = None, log_to_stderr: bool = False) -> int:
    from kiro_learn.app.daemon import run_daemon  # noqa: PLC0415  # trio, quart and the model are loaded by the daemon only

    return run_daemon(home, port=port, log_to_stderr=log_to_stderr)


def _open_installation(home: Path, environment: Mapping[str, str]) -> Installation:
    from kiro_learn.app.maintenance import open_installation  # noqa: PLC0415  # only three commands need it

    return open_installation(home, environment)


def _open_maintenance() -> Maintenance:
    from kiro_learn.app import maintenance  # noqa: PLC0415  # few commands need it

    return maintenance


def _leave(code: int) -> None:
    """End the process without shutting the interpreter down.

    An abandoned thread may still be inside a library, for instance loading the model. It dies with the process; but if
    the interpreter shuts down around it, the process ends by a signal (SIGABRT or SIGSEGV). All that the daemon had
    opened is closed by now.
    """
    import contextlib  # noqa: PLC0415  # the daemon has loaded both
    import logging  # noqa: PLC0415

    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, AttributeError):  # it was closed, or never existed
            stream.flush()
    os._exit(code)
