"""Readers of past sessions and memories: one for each source, all behind the ports in ``ports.histories``."""

from kiro_learn.adapters.histories.aider import AiderHistory
from kiro_learn.adapters.histories.claude_code import ClaudeCodeHistory
from kiro_learn.adapters.histories.codex import CodexHistory
from kiro_learn.adapters.histories.copilot import CopilotHistory
from kiro_learn.adapters.histories.cursor import CursorHistory
from kiro_learn.adapters.histories.gemini import GeminiHistory
from kiro_learn.adapters.histories.git import GitMemories
from kiro_learn.adapters.histories.kiro_cli import AMAZON_Q, KIRO_DATABASE, KiroCliHistory
from kiro_learn.adapters.histories.kiro_ide import KiroIdeHistory
from kiro_learn.adapters.histories.memory_rows import ClaudeMemMemories, KiroMemoryMemories, Mem0Memories
from kiro_learn.adapters.histories.opencode import OpencodeHistory
from kiro_learn.adapters.histories.server_memory import BasicMemoryMemories, ServerMemoryMemories
from kiro_learn.adapters.histories.specstory import SpecStoryHistory
from kiro_learn.ports.histories import HistoryReader, MemoryReader

_AGENTS: tuple[HistoryReader, ...] = (
    ClaudeCodeHistory(),
    CodexHistory(),
    GeminiHistory(),
    KiroCliHistory(),
    KIRO_DATABASE,
    AMAZON_Q,
    KiroIdeHistory(),
    CursorHistory(),
    OpencodeHistory(),
    CopilotHistory(),
    AiderHistory(),
)

READERS: tuple[HistoryReader, ...] = (*_AGENTS, SpecStoryHistory(_AGENTS))
"""All readers of past sessions, in the order in which lists show them."""

MEMORIES: tuple[MemoryReader, ...] = (
    ClaudeMemMemories(),
    KiroMemoryMemories(),
    BasicMemoryMemories(),
    ServerMemoryMemories(),
    Mem0Memories(),
    GitMemories(),
)
"""All readers of what other memories keep."""
