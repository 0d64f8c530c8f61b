"""Secrets in text: found by their shape, or by the name in front of them."""

from __future__ import annotations

from kiro_learn.privacy.assignments import ASSIGNMENTS
from kiro_learn.privacy.folding import folded
from kiro_learn.privacy.kind import Kind
from kiro_learn.privacy.shapes import SHAPES

KINDS: tuple[Kind, ...] = (*SHAPES, *ASSIGNMENTS)
"""In the order in which they are looked for: what a token is, is said more precisely by its shape than by its name."""

TRIGGERS = frozenset(trigger for kind in KINDS for trigger in kind.triggers)


def redact_secrets(text: str) -> str:
    """``text`` with every secret replaced by ``[REDACTED:kind]``; the name in front of it stays readable."""
    return redact_kinds(text, kinds_that_may_be_in(text))


def kinds_that_may_be_in(text: str) -> tuple[Kind, ...]:
    lowered = folded(text)
    present = {trigger for trigger in TRIGGERS if trigger in lowered}
    return tuple(kind for kind in KINDS if not present.isdisjoint(kind.triggers))


def redact_kinds(text: str, kinds: tuple[Kind, ...]) -> str:
    for kind in kinds:
        text = kind.redact(text)
    return text
