"""Scrubbing text: private spans first, then secrets."""

from __future__ import annotations

from collections.abc import Callable

from kiro_learn.privacy.folding import folded
from kiro_learn.privacy.private_spans import redact_private
from kiro_learn.privacy.secrets import kinds_that_may_be_in, redact_kinds, redact_secrets


def scrub_text(text: str) -> str:
    """``text`` without its private spans and its secrets; scrubbing twice is scrubbing once."""
    return redact_secrets(redact_private(text))


def scrubber_for(all_text: str) -> Callable[[str], str] | None:
    """``scrub_text`` for pieces of ``all_text``, which looks only for what is somewhere in it; None if nothing is."""
    kinds = kinds_that_may_be_in(all_text)
    triggers = ("private", *(trigger for kind in kinds for trigger in kind.triggers))

    def scrub(piece: str) -> str:
        lowered = folded(piece)
        found = {trigger for trigger in triggers if trigger in lowered}
        if not found:
            return piece
        return redact_kinds(redact_private(piece), tuple(kind for kind in kinds if not found.isdisjoint(kind.triggers)))

    return scrub if kinds or "private" in folded(all_text) else None
