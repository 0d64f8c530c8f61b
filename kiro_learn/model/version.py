"""The version of this package, as named in hooks, the API and requests to agents."""

from __future__ import annotations

import re

__version__ = "0.1.0"


def is_newer(version: str) -> bool:
    """Whether ``version``, of another program of ours, is a later release than this one."""
    return _release(version) > _release(__version__)


def _release(version: str) -> tuple[int, ...]:
    """``0.10.1rc1`` as (0, 10, 1); a text that is no version comes before all others."""
    found = re.match(r"\d{1,9}(?:\.\d{1,9})*", version)
    return tuple(int(number) for number in found[0].split(".")) if found else ()
