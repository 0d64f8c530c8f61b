"""What the buffer may be compacted to: the same in every store."""

from __future__ import annotations

from collections.abc import Sequence

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.buffer import BufferedEvent
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace


def refuse_strange_entries(
    entries: Sequence[BufferedEvent], *, namespace: Namespace, waiting: Sequence[tuple[EventId, ...]]
) -> None:
    """See ``StorageTransaction.compact_buffer``; ``waiting``: sources of each entry to be replaced.

    Raises:
      InvalidRequest: ``entries`` would lose their place, their project or their sources.
    """
    if len(entries) > len(waiting):
        raise InvalidRequest([("$.entries", f"expected at most {len(waiting)}, found {len(entries)}")])
    known = {event_id for sources in waiting for event_id in sources}
    for entry in entries:
        if entry.event.namespace != namespace or not known.issuperset(entry.sources):
            raise InvalidRequest([("$.entries", "expected entries that stand for what waits in this project")])
    themselves = [entry.event.event_id for entry in entries if not entry.stands_for]
    if len(set(themselves)) < len(themselves):
        raise InvalidRequest([("$.entries", "expected each event once")])
