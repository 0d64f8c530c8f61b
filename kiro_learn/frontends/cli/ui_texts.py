"""Every sentence about opening the viewer."""

from __future__ import annotations

HELP = "Open the viewer in a browser."
NO_OPEN_HELP = "Print the link only."
ONCE = "{mark} Viewer  {link}"
HOW_LONG = "lets one browser in, once, within {seconds:.0f} seconds"
