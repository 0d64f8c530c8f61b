"""Logs are plain in tests: where rich is installed, structlog would paint every traceback, at a second each."""

import structlog

structlog.configure(processors=[structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)])
