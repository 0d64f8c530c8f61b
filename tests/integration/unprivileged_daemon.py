"""The daemon without the privileges of root, whoever starts it: files of other users are closed to it.

Its user stays the one that started it, so that the home is its own.
"""

from __future__ import annotations

import ctypes
import struct
import sys

from kiro_learn.app.command_line import main

CAPABILITIES_VERSION_3 = 0x20080522


def drop_capabilities() -> None:
    """Of this process, as capset(2) says."""
    header = ctypes.create_string_buffer(struct.pack("Ii", CAPABILITIES_VERSION_3, 0))
    none = ctypes.create_string_buffer(struct.pack("6I", *[0] * 6))
    assert ctypes.CDLL(None, use_errno=True).capset(header, none) == 0, ctypes.get_errno()


if __name__ == "__main__":
    drop_capabilities()
    sys.exit(main())
