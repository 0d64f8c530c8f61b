"""Which build of this package this is: two of one version may answer otherwise."""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path

KINDS = (".py", ".sql")
DIGEST_BYTES = 6


@functools.cache
def build_id() -> str:
    """A digest of the package's sources as they are installed, the same wherever the same ones are.

    Read at the first call, some milliseconds long; a daemon calls it at its start, before an update can replace them.
    """
    return digest_of(Path(__file__).parents[1])


def digest_of(folder: Path) -> str:
    """A digest of the names and contents of all sources below ``folder``."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith(KINDS):
                content = Path(place, name).read_bytes()
                digest.update(f"{os.path.relpath(place, folder)}/{name}\0{len(content)}\0".encode())
                digest.update(content)
    return digest.hexdigest()
