"""Makes the block that an agent is told when a session starts: knowledge, then the newest records."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

import trio

from kiro_learn.actors.session_ledger import SessionLedger
from kiro_learn.model.event import Event
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.scoring_settings import ScoringSettings
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.storage.observations import Place, RecordQuery
from kiro_learn.retrieval.ranking.signals import score_of, signals_of
from kiro_learn.retrieval.rendering.prior_observations import Rendered, least_bytes, render
from kiro_learn.retrieval.rendering.repeats import each_once
from kiro_learn.retrieval.rendering.token_count import count_tokens
from kiro_learn.runtime.supervisor import catch_errors

BYTES_A_TOKEN = 4
"""At most that many are told for each token of the budget: of plain English, roughly. What has more tokens is cut."""

LESS = 31 / 32
"""Extra cut of a block with too many tokens, so that few attempts are needed."""

PAGE = 50
"""Records that are read at a time, until there are as many as the budget holds."""

SHARE_OF_DEADLINE = 0.8
"""Share of the time until the hook's deadline; the rest is for storing its event."""

MOST_SESSIONS = 1_000
"""Most sessions remembered as told; the oldest is forgotten first."""

NOTHING = Rendered()


class SessionContext:
    """Scores without a query, and remembers which sessions were told."""

    def __init__(
        self,
        storage: StorageBackend,
        sessions: SessionLedger,
        clock: ClockAndIds,
        *,
        scoring: ScoringSettings,
        tokens: int,
        most_bytes: int,
    ) -> None:
        self._storage = storage
        self._sessions = sessions
        self._clock = clock
        self._scoring = scoring
        self._tokens = tokens
        self._most_bytes = most_bytes
        self._told: OrderedDict[str, None] = OrderedDict()

    async def context(self, namespace: Namespace, *, tokens: int | None = None) -> Rendered:
        """The block of at most ``tokens`` (``[search] context_tokens``); empty in a project without memories.

        Rules stand on top, hard ones first and whole, then other knowledge, however old it is. Raises StorageError.
        """
        most_tokens = self._tokens if tokens is None else tokens
        room = most_tokens * BYTES_A_TOKEN
        found = await self._fitting(namespace, room)
        hard = each_once([record for record in found if record.is_hard_rule])
        records = (*hard, *each_once([record for record in found if not record.is_hard_rule]))
        scores = [self._score(record) for record in records]

        def told(most_bytes: int) -> Rendered:
            return render(records, "", most_bytes=most_bytes, scores=scores, whole_count=len(hard), with_days=True)

        block = told(room)
        while (count := count_tokens(block.text)) > most_tokens:
            block = told(int(len(block.text.encode()) * most_tokens / count * LESS))
        return block

    async def _fitting(self, namespace: Namespace, room: int) -> list[MemoryRecord]:
        """Rules, other knowledge, then all else, each newest first: as much as can be told in ``room`` bytes."""
        found: dict[RecordId, MemoryRecord] = {}
        offset, before = 0, None
        while room > 0 and (page := await self._storage.list_rules_first(namespace, limit=PAGE, offset=offset)):
            room = _add(found, page, room)
            offset += PAGE
        while room > 0 and (page := await self._storage.list_records(_recent(namespace, before))):
            room = _add(found, page, room)
            before = (page[-1].created_at, page[-1].record_id)
        return list(found.values())

    def tokens_of(self, rendered: Rendered) -> int:
        """How many tokens of a budget it takes."""
        return count_tokens(rendered.text)

    async def begin(self, event: Event, *, key: str, is_emptied: bool, deadline: float) -> Rendered:
        """What a session that starts with ``event`` is told: once, and again after its context ``is_emptied``.

        By ``deadline`` (trio's clock); nothing is raised, and what is late is not told.

        Args:
          key: what tells the session from others of an agent that names none.
        """
        session = (event.namespace, event.session_id)
        was_told = key in self._told or bool(self._sessions.told_to(session, but=-1))
        if was_told and not is_emptied:
            return NOTHING
        tokens = min(self._tokens, self._most_bytes // BYTES_A_TOKEN)
        now = trio.current_time()
        latest = now + (deadline - now) * SHARE_OF_DEADLINE
        told = NOTHING
        self._remember(key)  # before it is read: several hooks of one session may come together
        try:
            with trio.move_on_at(latest):
                found = await catch_errors("session context", lambda: self.context(event.namespace, tokens=tokens))
                told = found if isinstance(found, Rendered) else NOTHING
        finally:
            if not told.text:
                self._told.pop(key, None)
        return told

    def _remember(self, key: str) -> None:
        self._told[key] = None
        self._told.move_to_end(key)
        while len(self._told) > MOST_SESSIONS:
            self._told.popitem(last=False)

    def told(self, event: Event, rendered: Rendered) -> None:
        """The session was told this; its prompts are not told it again."""
        self._sessions.prompt(event.namespace, event.session_id, event.event_id).told(rendered.record_ids)

    def _score(self, record: MemoryRecord) -> float:
        signals = signals_of(record.created_at, self._clock.utc_now(), self._scoring, is_same_project=True)
        return score_of(signals, self._scoring, is_knowledge=record.knowledge_type is not None)


def _recent(namespace: Namespace, before: Place | None) -> RecordQuery:
    return RecordQuery(namespace=namespace, limit=PAGE, before=before)


def _add(found: dict[RecordId, MemoryRecord], page: Iterable[MemoryRecord], room: int) -> int:
    """Add those of ``page`` that are new and begin in ``room``; answers what is left of it."""
    for record in page:
        if room > 0 and record.record_id not in found:
            found[record.record_id] = record
            room -= least_bytes(record, is_whole=record.is_hard_rule)
    return room
