"""Logs are plain in tests: where rich is installed, structlog would paint every traceback, at a second each.

A test run in the background of a shell ignores SIGINT, and so would every process that a test starts and interrupts.
"""

import signal

import structlog

structlog.configure(processors=[structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)])
signal.signal(signal.SIGINT, signal.default_int_handler)
