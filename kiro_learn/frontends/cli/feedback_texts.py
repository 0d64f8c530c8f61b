"""Every sentence about what is said of memories."""

from __future__ import annotations

HELPED_HELP = "Say that a memory that was told helped: it is told a little sooner."
WRONG_HELP = "Say that a memory that was told is wrong: it is told a little later. To correct it: memories edit."
SAID = "{mark} {title}: {known}, score x{factor:.2f}"
