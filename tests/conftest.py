"""Logs are plain in tests: if rich is installed, structlog would format tracebacks with it, at a second each.

A test run in the background of a shell ignores SIGINT, and so would every process that a test starts and interrupts.
"""

import signal

import pytest
import structlog

structlog.configure(processors=[structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)])
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    number = sum(report.nodeid.startswith("tests/viewer") for report in skipped)
    if number:
        terminalreporter.write_line(
            f"{number} tests of the viewer were skipped for want of Chromium (apt-get install chromium) or playwright"
        )
