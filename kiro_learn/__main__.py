"""The kiro-learn command."""

from __future__ import annotations

import sys

from kiro_learn.app.command_line import main

if __name__ == "__main__":
    sys.exit(main())
