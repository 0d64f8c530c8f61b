"""What each session was shown: kept in memory, and written to the store a moment later."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import TypeAlias

import attrs
import structlog
import trio

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import KiroLearnError
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retrieval import ToldId
from kiro_learn.ports.storage.answers import Change, GraphChanged
from kiro_learn.ports.storage.events import SessionReads
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.runtime.supervisor import Rounds

log = structlog.get_logger()

MOST_SESSIONS = 1_000
MOST_TOLD = 20_000
"""The most records and items of the graph that are kept, over all sessions. Beyond either bound, the least recently
used session is evicted (4 MB)."""

MOST_UNSTORED = 1_000
"""The most entries that wait to be stored; the oldest is dropped: after a restart, its session may be told again."""

SITTING = timedelta(hours=2)
"""A session that pauses for so long begins anew: its person comes back with another goal."""

GATHER_SECONDS = 0.2
"""How long entries are collected for one commit. Prompts do not wait for it."""

Session: TypeAlias = tuple[Namespace, str]


@attrs.define(eq=False)
class Account:
    """What one session was shown, and its count of prompts."""

    prompt_count: int = 0
    last_prompt: EventId | None = None
    last_prompt_at: datetime | None = None
    goal_number: int | None = None
    """The number of the prompt that set the goal of this sitting."""
    told: dict[ToldId, int] = attrs.Factory(dict)
    """By id, the number of the prompt for which it was last shown."""
    only_briefed: set[ToldId] = attrs.Factory(set)
    """Ids that stood in the brief, perhaps shortened, and were not told with an act since. In memory only: after a
    restart, they are not told again."""

    def begin_sitting(self, said_at: datetime | None) -> None:
        """Let a prompt that was ``said_at`` set another goal, if the last prompt is long ago."""
        if said_at is not None:
            if self.last_prompt_at is not None and said_at - self.last_prompt_at >= SITTING:
                self.goal_number = None
            self.last_prompt_at = said_at


@attrs.frozen
class Told:
    """An entry still to be written: the items were shown for a prompt of the session."""

    session: Session
    item_ids: tuple[ToldId, ...]
    prompt_number: int

    def write(self, transaction: StorageTransaction) -> None:
        transaction.put_told(*self.session, self.item_ids, prompt_number=self.prompt_number)


@attrs.frozen
class Cleared:
    """An entry still to be written: a session counts as shown nothing."""

    session: Session

    def write(self, transaction: StorageTransaction) -> None:
        transaction.clear_told(*self.session)


@attrs.frozen
class Reworded:
    """An entry still to be written: no session counts as shown these items, since they say something else now."""

    item_ids: tuple[ToldId, ...]

    def write(self, transaction: StorageTransaction) -> None:
        transaction.forget_told(self.item_ids)


@attrs.frozen
class SessionPrompt:
    """One prompt of a session: reads and adds what its session was shown."""

    _ledger: SessionLedger
    _session: Session | None
    _number: int = 0

    @property
    def may_set_goal(self) -> bool:
        """Whether no earlier prompt of its sitting set a goal."""
        return self._session is None or self._ledger.goal_of(self._session) in {None, self._number}

    def set_goal(self) -> None:
        """Note that this prompt sets the goal of its sitting."""
        if self._session is not None:
            self._ledger.set_goal(self._session, self._number)

    def told_before(self) -> frozenset[ToldId]:
        """What was shown for other prompts of the session, also for those in progress; none without a session."""
        return frozenset() if self._session is None else self._ledger.told_to(self._session, but=self._number)

    def told(self, item_ids: Sequence[ToldId]) -> None:
        """Note that these items are shown for this prompt."""
        if self._session is not None and item_ids:
            self._ledger.add(self._session, tuple(item_ids), self._number)


class SessionLedger:
    """Counts the prompts of sessions and what each was shown, in memory; its own task writes them to the store.

    The store lags behind by the last entries. A write that fails is tried again with the next entry; no prompt waits
    for it, or fails because of it.
    """

    name = "session ledger"

    def __init__(self, storage: SessionReads, writer: StorageActor, *, repeat_after_prompts: int) -> None:
        self._storage = storage
        self._writer = writer
        self._repeat_after_prompts = repeat_after_prompts
        self._accounts: OrderedDict[Session, Account] = OrderedDict()
        """Least recently used first."""
        self._told_count = 0
        self._is_read = False
        self._unstored: deque[Told | Cleared | Reworded] = deque(maxlen=MOST_UNSTORED)
        self._rounds = Rounds(gather_seconds=GATHER_SECONDS)

    def prompt(
        self, namespace: Namespace, session_id: str | None, event_id: EventId | None, said_at: datetime | None = None
    ) -> SessionPrompt:
        """The next prompt of a session; the same as before, if its event is sent again."""
        if session_id is None:
            return SessionPrompt(self, None)
        session = (namespace, session_id)
        account = self._account(session)
        if event_id is None or event_id != account.last_prompt:
            account.prompt_count += 1
            account.last_prompt = event_id
            account.begin_sitting(said_at)
        self._evict()
        return SessionPrompt(self, session, account.prompt_count)

    def told_to(self, session: Session, *, but: int) -> frozenset[ToldId]:
        """What a session was shown, except for prompt ``but`` and what is old enough to be shown again."""
        account = self._accounts.get(session)
        if account is None:
            return frozenset()
        least = but - self._repeat_after_prompts if self._repeat_after_prompts else 0
        return frozenset(item_id for item_id, by in account.told.items() if by != but and by >= least)

    def goal_of(self, session: Session) -> int | None:
        """The number of the prompt that set the goal of the session's sitting."""
        return self._account(session).goal_number

    def set_goal(self, session: Session, prompt_number: int) -> None:
        """Note that a prompt set the goal of the session's sitting."""
        self._account(session).goal_number = prompt_number

    def add(self, session: Session, item_ids: tuple[ToldId, ...], prompt_number: int) -> None:
        """Note that a session is shown these items."""
        account = self._account(session)
        self._told_count += len(set(item_ids) - account.told.keys())
        account.told |= dict.fromkeys(item_ids, prompt_number)
        self._store_soon(Told(session, item_ids, prompt_number))
        self._evict()

    def brief(self, session: Session, item_ids: Collection[ToldId]) -> None:
        """Note that these items stood in the session's brief: an act that one is about may tell it once more."""
        self._account(session).only_briefed.update(item_ids)

    def is_told_or_briefed(self, session: Session, item_id: ToldId) -> bool:
        """Whether the session was told the item, in its brief or later."""
        account = self._accounts.get(session)
        return account is not None and (item_id in account.told or item_id in account.only_briefed)

    def may_remind(self, session: Session, item_id: ToldId) -> bool:
        """Whether the session may be told the item with an act that it is about: it was told in the brief, or never."""
        account = self._accounts.get(session)
        return account is None or item_id not in account.told or item_id in account.only_briefed

    def remind(self, session: Session, item_ids: Sequence[ToldId]) -> None:
        """Note that the session was told these items with an act that they are about, during its last prompt."""
        account = self._account(session)
        account.only_briefed.difference_update(item_ids)
        self.add(session, tuple(item_ids), account.prompt_count)

    def take_back(self, namespace: Namespace, session_id: str, item_ids: Collection[ToldId]) -> None:
        """Note that a session was not shown these items after all."""
        session = (namespace, session_id)
        account = self._accounts.get(session)
        if account is not None and item_ids:
            left = {item_id: by for item_id, by in account.told.items() if item_id not in item_ids}
            self._told_count -= len(account.told) - len(left)
            account.told = left
            self._store_soon(Cleared(session))
            for number in sorted(set(left.values())):
                self._store_soon(Told(session, tuple(each for each, by in left.items() if by == number), number))

    def apply(self, change: Change) -> None:
        """Let items that say something else now be shown again."""
        if not isinstance(change, GraphChanged) or not change.reworded:
            return
        for (namespace, _), account in self._accounts.items():
            for item_id in change.reworded if namespace == change.namespace else ():
                self._told_count -= account.told.pop(item_id, None) is not None
        self._store_soon(Reworded(change.reworded))

    def clear(self, namespace: Namespace, session_id: str) -> None:
        """Note that the context of a session was emptied or compacted: everything may be shown again."""
        session = (namespace, session_id)
        account = self._accounts.get(session)
        if account is not None:
            self._told_count -= len(account.told)
            account.told = {}
            account.only_briefed = set()
            account.goal_number = None
            self._store_soon(Cleared(session))

    def move(self, source: Namespace, target: Namespace) -> None:
        """Note that a project was merged into another, with its sessions."""
        for session in [each for each in self._accounts if each[0] == source]:
            self._accounts[target, session[1]] = self._accounts.pop(session)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        if not self._is_read:
            await self._read()
        task_status.started()
        await self._rounds.run(self._store)

    def stop(self) -> None:
        self._rounds.stop()

    abandon = stop  # no caller waits for an answer

    def _account(self, session: Session) -> Account:
        account = self._accounts.setdefault(session, Account())
        self._accounts.move_to_end(session)
        return account

    def _evict(self) -> None:
        while len(self._accounts) > MOST_SESSIONS or self._told_count > MOST_TOLD:
            self._forget(next(iter(self._accounts)))

    def _forget(self, session: Session) -> None:
        account = self._accounts.pop(session, None)
        if account is not None and account.told:
            self._told_count -= len(account.told)
            self._store_soon(Cleared(session))

    def _store_soon(self, entry: Told | Cleared | Reworded) -> None:
        self._unstored.append(entry)
        self._rounds.begin_soon()

    async def _read(self) -> None:
        """Read what was shown before the daemon started; if that fails, it may be shown again."""
        try:
            for each in await self._storage.list_told():
                account = self._account((each.namespace, each.session_id))
                account.told[each.item_id] = each.prompt_number
                account.prompt_count = max(account.prompt_count, each.prompt_number)
                self._told_count += 1
        except KiroLearnError as error:
            log.warning("session_told.not_read", problem=type(error).__name__)
        self._is_read = True
        self._evict()

    async def _store(self) -> None:
        entries = tuple(self._unstored)
        if not entries:
            return
        self._unstored.clear()
        try:
            await self._writer.write(lambda transaction: _write(transaction, entries))
        except KiroLearnError as error:
            log.warning("session_told.not_stored", problem=type(error).__name__)
            self._unstored = deque((*entries, *self._unstored), maxlen=MOST_UNSTORED)


def _write(transaction: StorageTransaction, entries: Sequence[Told | Cleared | Reworded]) -> None:
    for entry in entries:
        entry.write(transaction)
