"""Hypothesis profiles: ``dev`` while writing, ``ci`` on a push, ``brief`` on its second Python, ``night`` overnight.

Logs are plain here: if rich is installed, structlog would format every traceback of a drawn fault with it, which took
two thirds of the time of all properties.
"""

import os

import structlog
from hypothesis import HealthCheck, settings

structlog.configure(processors=[structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)])

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci", max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("brief", settings.get_profile("ci"), max_examples=10)
settings.register_profile("night", max_examples=10_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
