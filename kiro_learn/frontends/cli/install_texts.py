"""What installations say of whose files they write."""

from __future__ import annotations

TAKES_OVER = "These files are connected to another home: {homes}. This one takes its place in them."
PORTABLE = "They name no path of this machine, and do nothing on one that lacks this program."
NOT_PORTABLE = "They name paths of this machine: do not commit them. Those of ~/.kiro-learn could be."
IN_GIT = "The project is a git repository: commit them for all, or name them in .git/info/exclude."
IN_GIT_ALONE = "The project is a git repository: name them in .git/info/exclude."
NOT_ON_PATH = "The program that agents start as their server is not on your PATH."
