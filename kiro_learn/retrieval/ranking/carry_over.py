"""What a session was about carries over to its later records, which often do not name it again.

"Why is it so slow?" is found by what "it" was. Relevance flows forward only: what came before cannot know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from kiro_learn.model.backdrop import Backdrop
from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId

NOWHERE = Backdrop("")

CARRIED = 0.4
"""Share of its score that a record hands on to the one found next in its session, with what it was handed itself.

Coding sessions gain up to 0.5 and beyond; dialogs gain 1.5 points of nDCG@10 from 0.2 to 0.4, and nothing at 0.5.
"""


def carry_over(hits: Iterable[Hit], backdrops: Mapping[RecordId, Backdrop]) -> list[Hit]:
    """``hits``, in any order, each with what was handed on to it; those without a session as they were."""
    handed_on: dict[str | None, float] = {}
    grown = []
    for hit, backdrop in sorted(((hit, backdrops.get(hit.record_id, NOWHERE)) for hit in hits), key=_place):
        session_id = backdrop.session_id
        score = hit.score if session_id is None else hit.score + CARRIED * handed_on.get(session_id, 0.0)
        handed_on[session_id] = score
        grown.append(Hit(hit.record_id, hit.created_at, score))
    return grown


def _place(found: tuple[Hit, Backdrop]) -> tuple[datetime, datetime, RecordId]:
    """When it was said, then when it was learned."""
    hit, backdrop = found
    return (backdrop.said_at or hit.created_at, hit.created_at, hit.record_id)
