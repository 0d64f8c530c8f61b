"""The kiro-learn command: the command line, handed the daemon."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.cli.command import run


def main() -> int:
    return run(sys.argv[1:], serve=_serve)


def _serve(home: Path, *, port: int | None = None, log_to_stderr: bool = False) -> int:
    """Raises KiroLearnError: the daemon cannot start; the error itself, from inside whichever nurseries it passed."""
    # From its import on, ONNX Runtime keeps a device id in ~/.cache and sends usage data, unless told not to.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    from kiro_learn.daemon import run_daemon  # noqa: PLC0415  # trio, quart and the model are loaded by the daemon only

    try:
        return run_daemon(home, port=port, log_to_stderr=log_to_stderr)
    except ExceptionGroup as group:
        ours, others = group.split(KiroLearnError)
        if ours is None or others is not None:
            raise
        raise _first(ours) from None


def _first(error: Exception) -> Exception:
    return _first(error.exceptions[0]) if isinstance(error, ExceptionGroup) else error


if __name__ == "__main__":
    sys.exit(main())
