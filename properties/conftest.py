"""Hypothesis profiles: ``dev`` while writing, ``ci`` on a push, ``again`` on a second Python, ``night`` overnight."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("again", settings.get_profile("ci"), max_examples=30)
settings.register_profile("night", max_examples=10_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
