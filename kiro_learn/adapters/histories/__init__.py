"""Past sessions as agents keep them: one reader a source, all behind ``ports.histories.HistoryReader``."""

from kiro_learn.adapters.histories.claude_code import ClaudeCodeHistory
from kiro_learn.ports.histories import HistoryReader

READERS: tuple[HistoryReader, ...] = (ClaudeCodeHistory(),)
"""In the order of every list."""
