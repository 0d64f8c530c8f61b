"""What the verbs ``pause`` and ``resume`` say."""

from __future__ import annotations

PAUSE_HELP = """Take nothing in for a while, and tell nothing.

For a project, or one session in it, until it is resumed. A session's pause
ends with the session.
"""
RESUME_HELP = "End a pause."
SESSION_HELP = "Only of the session of this id."
PAUSED = "Paused {what}"
RESUMED = "Resumed {what}"
NOT_PAUSED = "{what} was not paused"
OF_SESSION = "session {session} in {project}"
HOW_TO_END = "kiro-learn resume, with the same options"
STATUS_PAUSED = "Paused"
STATUS_SESSION = "session {session}"
