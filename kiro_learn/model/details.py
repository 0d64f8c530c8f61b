"""What is known of a directly captured record beside its text; which fields it has depends on its type."""

from __future__ import annotations

from typing import Literal, TypeAlias

import attrs

from kiro_learn.model.checks import Each, length, optional

MAX_DETAIL = 2_000
MAX_DETAILS = 50

Severity: TypeAlias = Literal["hard", "soft"]
Confidence: TypeAlias = Literal["high", "medium", "low"]

_DETAIL = optional(length(1, MAX_DETAIL))
_DETAILS = Each(0, MAX_DETAILS, length(1, MAX_DETAIL))


@attrs.frozen(kw_only=True)
class RecordDetails:
    """The metadata of a knowledge item, or of a checkpoint."""

    severity: Severity | None = None
    """Of a constraint."""
    reason: str | None = attrs.field(default=None, validator=_DETAIL)
    """Why a constraint holds, or why something was decided or rejected."""
    alternatives: tuple[str, ...] = attrs.field(default=(), validator=_DETAILS)
    """What else there was to choose."""
    context: str | None = attrs.field(default=None, validator=_DETAIL)
    """Where a heuristic applies."""
    confidence: Confidence | None = None
    """Of a heuristic."""
    next_steps: str | None = attrs.field(default=None, validator=_DETAIL)
    """Of a checkpoint."""
    open_questions: tuple[str, ...] = attrs.field(default=(), validator=_DETAILS)
    """Of a checkpoint."""

    def facts(self) -> tuple[str, ...]:
        """The details as sentences, so that they are found, embedded and told as any fact."""
        named = (
            ("Severity", self.severity),
            ("Reason", self.reason),
            ("Alternatives", "; ".join(self.alternatives)),
            ("Context", self.context),
            ("Confidence", self.confidence),
            ("Next steps", self.next_steps),
            *(("Open question", question) for question in self.open_questions),
        )
        return tuple(f"{name}: {value}" for name, value in named if value)
