"""The one connection that writes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import apsw
import structlog
import trio

from kiro_learn.adapters.sqlite import (
    buffers,
    embeddings,
    eraser,
    forgetting,
    history,
    merging,
    records,
    restore_writes,
    retention,
    rows,
    sessions,
    statements,
    word_reads,
)
from kiro_learn.adapters.sqlite.connections import changing, in_transaction, stop_if_cancelled
from kiro_learn.adapters.sqlite.damage import map_errors, one_work_named
from kiro_learn.adapters.sqlite.eraser import rewrite
from kiro_learn.adapters.sqlite.forgetting_statements import HAS_FORGOTTEN_OR_MERGED
from kiro_learn.adapters.sqlite.learning_rows import from_run, from_usage
from kiro_learn.errors import KiroLearnError, StorageUnavailable
from kiro_learn.model.buffer import LearningRun, ParkedCluster
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.correction import Replacement
from kiro_learn.model.event import Event
from kiro_learn.model.ids import FIRST_NOT_DERIVED, EventId, RecordId, to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.statistics import LlmUsage
from kiro_learn.model.stored import Restored, Stored
from kiro_learn.ports.storage.answers import Change, Committed, Outcome, Refused
from kiro_learn.ports.storage.interface import Work

log = structlog.get_logger()

T = TypeVar("T")

ENDED = object()


class Writer:
    """Owns the connection that writes. It commits one batch at a time, in order of arrival, in a thread."""

    def __init__(self, path: Path, connection: apsw.Connection, *, utc_now: Callable[[], datetime]) -> None:
        self._path = path
        self._connection = connection
        self._utc_now = utc_now
        self._open_projects = OpenProjects(connection)
        self._turn = trio.CapacityLimiter(1)
        self._is_closed = False
        self._to_erase: set[int] = set()
        """The numbers of namespaces whose forgotten content may still be in the file."""

    async def transact(self, works: Sequence[Work[Any]]) -> list[Outcome]:
        """See ``StorageBackend.transact``.

        Cancellation: nothing is done if it comes before the batch's turn; after that, the batch is finished first,
        since a thread that writes is never abandoned.
        """
        return await self._in_turn(self._commit_together, works)

    async def erase_forgotten(self) -> bool:
        """See ``StorageBackend.erase_forgotten``. Each step has a turn of its own.

        Cancellation: after a step. The next call does the rest.
        """
        numbers, self._to_erase = self._to_erase, set()
        if not numbers:
            return True
        steps = self._erasing(numbers)
        is_done = False
        try:
            while await self._in_turn(self._take_step, steps):
                pass
            is_done = True
        except eraser.LogInUse:
            log.warning("storage.not_erased", namespace_count=len(numbers))
        finally:
            if not is_done:
                self._to_erase |= numbers
        return is_done

    async def give_back_space(self) -> None:
        """See ``RetentionReads.give_back_space``. In one turn.

        Cancellation: nothing is done while SQLite still copies; after that, the copy is written back first.
        """
        await self._in_turn(self._rewrite)

    async def close(self) -> None:
        """Wait for the batch under way, then close. A second close does nothing."""
        await self._in_turn(self._close)

    async def _in_turn(self, step: Callable[..., T], *arguments: Any) -> T:
        """Run ``step`` in a thread, after all earlier ones. It is never abandoned."""
        return await trio.to_thread.run_sync(step, *arguments, limiter=self._turn)

    def _commit_together(self, works: Sequence[Work[Any]]) -> list[Outcome]:
        with self._open():
            self._begin()
            self._open_projects.forget()
            try:
                outcomes = [self._run(work) for work in works]
                self._commit(outcomes)
            finally:
                # After some errors (a full disk), SQLite has rolled back already.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            return outcomes

    def _erasing(self, numbers: set[int]) -> Iterator[None]:
        return eraser.steps(self._connection, self._path, numbers)

    def _begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def _commit(self, _outcomes: Sequence[Outcome]) -> None:
        self._connection.execute("COMMIT")

    def _take_step(self, steps: Iterator[None]) -> bool:
        """Take the next step; False if there was none."""
        with self._open():
            return next(steps, ENDED) is not ENDED

    def _rewrite(self) -> None:
        with self._open():
            rewrite(self._connection, self._path, interrupted=stop_if_cancelled)

    def _run(self, work: Work[Any]) -> Outcome:
        transaction = SqliteTransaction(self._connection, self._utc_now, self._open_projects)
        self._connection.execute("SAVEPOINT work")
        try:
            with one_work_named():
                value = work(transaction)
        except KiroLearnError as error:
            self._connection.execute("ROLLBACK TO work")
            self._connection.execute("RELEASE work")
            self._open_projects.forget()
            return Refused(error)
        self._connection.execute("RELEASE work")
        self._to_erase |= transaction.forgotten_in
        return Committed(value, tuple(transaction.changes))

    @contextlib.contextmanager
    def _open(self) -> Iterator[None]:
        """Refuse a closed connection, and raise SQLite's errors in the block as ours."""
        if self._is_closed:
            raise StorageUnavailable(self._path, hint="It was closed.")
        with map_errors(self._path):
            yield

    def _close(self) -> None:
        self._is_closed = True
        self._connection.close()


class OpenProjects:
    """Projects that take events unchanged: they are not merged, and nothing of them was forgotten.

    Each event has to ask that, and on a server the question costs as much as the event. So the answer is kept within a
    commit, until anything but events is written.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._numbers: dict[Namespace, int] = {}
        self._written = 0
        """The connection's count of written rows after the last event."""

    def number_of(self, namespace: Namespace) -> int | None:
        """The project's number; None if the caller must ask whether the project takes events unchanged."""
        if self._connection.total_changes() != self._written:
            self._numbers.clear()
        return self._numbers.get(namespace)

    def note(self, namespace: Namespace, number: int) -> None:
        self._numbers[namespace] = number

    def wrote_event(self) -> None:
        """Note that only an event was written since ``number_of``."""
        self._written = self._connection.total_changes()

    def forget(self) -> None:
        self._numbers.clear()


# The operations of one piece of writing, on the writer's connection, inside its savepoint.


class SqliteTransaction(
    forgetting.ForgettingWrites,
    retention.RetentionWrites,
    merging.ProjectWrites,
):
    """A ``StorageTransaction``. Outside of an attempt, an error of apsw ends the whole batch, not only this work."""

    def __init__(
        self,
        connection: apsw.Connection,
        utc_now: Callable[[], datetime],
        open_projects: OpenProjects | None = None,
    ) -> None:
        """``open_projects``: those that earlier works of the commit found; None if this is its only work."""
        self.connection = connection
        self._utc_now = utc_now
        self._open_projects = open_projects or OpenProjects(connection)
        self.changes: list[Change] = []
        self.forgotten_in: set[int] = set()
        """The numbers of namespaces of which this work forgot something, or let it go by age."""

    def put_event(self, event: Event, *, buffered: bool, size_bytes: int | None = None) -> int:
        number = self._open_projects.number_of(event.namespace)
        is_open = number is not None or self._is_open(event.namespace)
        if not is_open:
            in_use = self.in_use(event.namespace)
            if in_use != event.namespace:
                event = unchecked_evolve(event, namespace=in_use)
        values = rows.from_event(event, transaction_time=self._utc_now())
        if not is_open and (self.has_erased(event.namespace, [event.event_id]) or self.is_step_forgotten(values)):
            return 0
        self.connection.execute(statements.PUT_EVENT, values)
        size = 0
        if self.connection.changes():
            size = size_bytes or rows.size_of(values["body_json"])
            if number is None:
                number, _ = records.number_of(self.connection, event.namespace)
            if buffered:
                entry: rows.Values = {"number": number, "event_id": event.event_id, "size_bytes": size}
                self.connection.execute(statements.PUT_BUFFERED, entry)
            if is_open:
                self._open_projects.note(event.namespace, number)
        self._open_projects.wrote_event()
        return size

    def _is_open(self, namespace: Namespace) -> bool:
        return not self.connection.execute(HAS_FORGOTTEN_OR_MERGED, {"namespace": namespace}).get

    def is_reported(self, event: Event, *, within: timedelta) -> bool:
        values = rows.from_event(event, transaction_time=event.valid_time)
        place = {name: values[name] for name in ("namespace", "session_id", "kind", "body_json")}
        window = {"after": to_text(event.valid_time - within), "before": to_text(event.valid_time + within)}
        found = self.connection.execute(statements.REPORTED, place | window | {"first_id": FIRST_NOT_DERIVED})
        return found.fetchone() is not None

    def find_prompts_before(self, event_id: EventId, *, limit: int) -> list[Event]:
        found = self.connection.execute(statements.PROMPTS_BEFORE, {"event_id": event_id, "limit": limit})
        return [rows.to_event(row) for row in found]

    def put_memory_record(self, record: MemoryRecord) -> None:
        in_use = self.in_use(record.namespace)
        if in_use != record.namespace:
            record = unchecked_evolve(record, namespace=in_use)
        self.changes += records.put_record(self.connection, record)

    list_alike = in_transaction(records.list_alike)
    put_file_digests = in_transaction(records.put_file_digests)
    note_merged = in_transaction(records.note_merged)
    set_stale = in_transaction(records.set_stale)
    set_pinned = in_transaction(records.set_pinned)
    add_feedback = in_transaction(records.add_feedback)
    rebuild_words = in_transaction(word_reads.rebuild)

    put_embedding = changing(embeddings.put_embedding)
    put_passages = in_transaction(embeddings.put_passages)
    set_embedding_aside = in_transaction(embeddings.set_aside)
    adopt_model = changing(embeddings.adopt_model)
    switch_model = changing(embeddings.switch_model)

    is_forgotten = in_transaction(history.is_forgotten)
    has_forgotten = in_transaction(history.has_forgotten)
    replace_memory_records = changing(history.replace)

    are_waiting = in_transaction(buffers.are_waiting)
    clear_buffer = in_transaction(buffers.clear_buffer)
    compact_buffer = in_transaction(buffers.compact_buffer)
    park_buffer = in_transaction(buffers.park_buffer)
    unpark_buffer = in_transaction(buffers.unpark_buffer)

    put_pause = in_transaction(sessions.put_pause)
    delete_pause = in_transaction(sessions.delete_pause)
    put_told = in_transaction(sessions.put_told)
    clear_told = in_transaction(sessions.clear_told)
    forget_told = in_transaction(sessions.forget_told)

    def delete_memory_record(self, record_ids: Sequence[RecordId]) -> int:
        known = [each for each in dict.fromkeys(record_ids) if records.is_known(self.connection, each)]
        if known:
            self.forget_records(known)
        return len(known)

    def undo_replacement(self, record_id: RecordId) -> Replacement:
        undone, changes = history.undo(self.connection, record_id)
        self.changes += changes
        return undone

    def attempt(self, work: Work[T]) -> T:
        self.connection.execute("SAVEPOINT attempt")
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(self._give_up, len(self.changes))
            with one_work_named():
                value = work(self)
            on_failure.pop_all()
        self.connection.execute("RELEASE attempt")
        return value

    def restore(self, piece: Stored) -> Restored:
        return restore_writes.restore(self.connection, piece, self.changes)

    def park_cluster(self, cluster: ParkedCluster) -> None:
        self.connection.execute(statements.PARK_CLUSTER, rows.from_cluster(cluster))

    def unpark_cluster(self, cluster_id: str) -> bool:
        self.connection.execute(statements.UNPARK_CLUSTER, {"cluster_id": cluster_id})
        return self.connection.changes() > 0

    def add_llm_usage(self, usage: LlmUsage) -> None:
        self.connection.execute(statements.ADD_LLM_USAGE, from_usage(usage))

    def put_run(self, run: LearningRun) -> None:
        self.connection.execute(statements.PUT_RUN, from_run(run))

    def put_hook_session(self, key: str, session_id: str) -> None:
        self.connection.execute(statements.PUT_HOOK_SESSION, {"key": key, "session_id": session_id})

    def _give_up(self, change_count: int) -> None:
        del self.changes[change_count:]
        if self.connection.in_transaction:  # not after some errors (a full disk): SQLite has rolled back already
            self.connection.execute("ROLLBACK TO attempt")
            self.connection.execute("RELEASE attempt")
        self._open_projects.forget()
