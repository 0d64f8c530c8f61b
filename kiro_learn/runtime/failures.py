"""What may be said of a failure outside the log."""

from __future__ import annotations

from kiro_learn.errors import KiroLearnError


def reason(error: Exception) -> str:
    """Our own errors in their words; of an unexpected one only its class, since its text may quote what was stored."""
    return str(error) if isinstance(error, KiroLearnError) else type(error).__name__
