"""Names of branches, as git has them."""

from __future__ import annotations

import re
from typing import Any

MAX_BRANCH = 255
BRANCH_PATTERN = re.compile(rf"(?!\.invalid\Z)[^\s\x00-\x20~^:?*\[\\\x7f]{{1,{MAX_BRANCH}}}")
"""git-check-ref-format(1), less what no text of ours needs to know. ``.invalid`` stands for what a file cannot say."""

USUAL_BRANCHES = ("main", "master", "trunk")
"""The default branch where nothing else says which one it is."""

NO_BRANCH = "HEAD"
"""What agents and git write where no branch is checked out."""


def branch_named(name: Any) -> str | None:
    """``name`` if it can be that of a branch."""
    is_one = isinstance(name, str) and name != NO_BRANCH and name.isprintable() and BRANCH_PATTERN.fullmatch(name)
    return name if is_one else None
