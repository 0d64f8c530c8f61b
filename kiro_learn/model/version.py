"""The version of this package, which hooks, the API and the requests to agents name."""

from __future__ import annotations

from kiro_learn import __version__

__all__ = ["__version__"]
