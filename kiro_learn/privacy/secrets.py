"""Secrets in text: found by their shape, or by the name in front of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kiro_learn.privacy.assignments import ASSIGNMENTS
from kiro_learn.privacy.folding import folded
from kiro_learn.privacy.kind import Kind
from kiro_learn.privacy.shapes import SHAPES

KINDS: tuple[Kind, ...] = (*SHAPES, *ASSIGNMENTS)
"""In the order in which they are looked for: what a token is, is said more precisely by its shape than by its name."""

TRIGGERS = frozenset(trigger for kind in KINDS for trigger in kind.triggers)

_RAREST_FIRST = "~=_qzjx92:-ykwg.vbpfmcu/dhlrsnioate "
"""Characters by how seldom they are in what agents read and write: prose, code, and the output of programs."""


def _by_rarest_character(triggers: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """A text without the character has none of its triggers; to look for one character is thirty times as fast."""
    grouped: dict[str, list[str]] = {}
    for trigger in sorted(triggers):
        grouped.setdefault(min(trigger, key=_RAREST_FIRST.find), []).append(trigger)
    return grouped


_TRIGGERS_BY_CHARACTER = _by_rarest_character(TRIGGERS)


def redact_secrets(text: str) -> str:
    """``text`` with every secret replaced by ``[REDACTED:kind]``; the name in front of it stays readable."""
    return redact_kinds(text, kinds_that_may_be_in(text))


def kinds_that_may_be_in(text: str) -> tuple[Kind, ...]:
    lowered = folded(text)
    present = {
        trigger
        for character, triggers in _TRIGGERS_BY_CHARACTER.items()
        if character in lowered
        for trigger in triggers
        if trigger in lowered
    }
    return tuple(kind for kind in KINDS if not present.isdisjoint(kind.triggers))


def redact_kinds(text: str, kinds: tuple[Kind, ...]) -> str:
    for kind in kinds:
        text = kind.redact(text)
    return text
