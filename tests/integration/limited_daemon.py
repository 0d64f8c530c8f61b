"""The daemon with only as many file descriptors as ``DESCRIPTORS`` says."""

from __future__ import annotations

import os
import resource
import sys

from kiro_learn.app.command_line import main

if __name__ == "__main__":
    limit = int(os.environ["DESCRIPTORS"])
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    sys.exit(main())
