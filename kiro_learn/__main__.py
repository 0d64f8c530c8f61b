"""The kiro-learn command: the command line, handed the daemon."""

from __future__ import annotations

import sys
from pathlib import Path

from kiro_learn.frontends.cli.command import run


def main() -> int:
    return run(sys.argv[1:], serve=_serve)


def _serve(home: Path, *, port: int | None = None, log_to_stderr: bool = False) -> int:
    from kiro_learn.daemon import run_daemon  # noqa: PLC0415  # trio, quart and the model are loaded by the daemon only

    return run_daemon(home, port=port, log_to_stderr=log_to_stderr)


if __name__ == "__main__":
    sys.exit(main())
