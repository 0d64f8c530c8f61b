"""The daemon without the privileges of root, even if root starts it: it cannot read files of other users.

It keeps its user, so that the home is its own.
"""

from __future__ import annotations

import ctypes
import struct
import sys

from kiro_learn.app.command_line import main

CAPABILITIES_VERSION_3 = 0x20080522


def drop_capabilities() -> None:
    """Drop the capabilities of this process, with capset(2)."""
    header = ctypes.create_string_buffer(struct.pack("Ii", CAPABILITIES_VERSION_3, 0))
    none = ctypes.create_string_buffer(struct.pack("6I", *[0] * 6))
    assert ctypes.CDLL(None, use_errno=True).capset(header, none) == 0, ctypes.get_errno()


if __name__ == "__main__":
    drop_capabilities()
    sys.exit(main())
