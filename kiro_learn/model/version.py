"""The version of this package, for whoever names it: hooks, the API, the agents that are asked."""

from __future__ import annotations

from kiro_learn import __version__

__all__ = ["__version__"]
