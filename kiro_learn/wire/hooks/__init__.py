"""What agents say in their hooks, and how they want to be answered: bytes to values and back, total over any bytes."""

from kiro_learn.wire.hooks.payload import answer_to
from kiro_learn.wire.hooks.translator import HookReport, read_hook

__all__ = ["HookReport", "answer_to", "read_hook"]
