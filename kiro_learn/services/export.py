"""Exports all that is kept as lines, and takes such lines back: the way from one home into another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import attrs

from kiro_learn.actors.project import Projects
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import InvalidRequest, KiroLearnError
from kiro_learn.model.ids import to_text
from kiro_learn.model.stored import Restored, Stored, StoredEvent, StoredMerge, StoredPause, StoredProject
from kiro_learn.model.version import __version__
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.export import ExportReads, StoreReading
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.privacy.scrub import scrub_json, scrub_text
from kiro_learn.runtime.admission import Offload
from kiro_learn.services.project_names import ProjectMerges
from kiro_learn.services.projects_in_use import Pauses
from kiro_learn.wire.exported import (
    END,
    FORMAT,
    HEAD,
    ExportEnd,
    ExportHead,
    LaterFormat,
    name_of,
    read_line,
    read_piece,
    refuse_later,
    write_end,
    write_head,
    write_piece,
)
from kiro_learn.wire.messages import MAX_JSON_DEPTH, json_depth

OF_PROJECTS = (StoredProject, StoredMerge, StoredPause)
"""Kinds of pieces that the daemon also keeps in memory."""

CHUNK_COUNT = 100
"""Pieces in one commit; few, so that an import does not hold up the events of an agent at work."""


@attrs.frozen
class WrongLine:
    """A line that was not taken, by its number: counted from 1 in the lines handed in, blank ones too."""

    line: int
    problem: str


@attrs.frozen
class Taken:
    """What became of the lines that were handed in."""

    counts: Mapping[str, Mapping[str, int]]
    """By kind, how many pieces were stored, were known already, and stay forgotten."""
    errors: tuple[WrongLine, ...]


class _Numbered(NamedTuple):
    line: int
    piece: Stored


class ExportLines:
    """The lines of an export, a page at a time, of the store at the moment when this was made. Close it at the end."""

    def __init__(self, head: bytes, reading: StoreReading, offload: Offload) -> None:
        self._head = head
        self._reading = reading
        self._offload = offload
        self._counts: Counter[str] = Counter()
        self._is_ended = False

    def __aiter__(self) -> ExportLines:
        return self

    async def __anext__(self) -> bytes:
        if self._is_ended:
            raise StopAsyncIteration
        if self._head:
            head, self._head = self._head, b""
            return head
        page = await self._reading.next_page()
        if not page:
            self._is_ended = True
            return write_end(ExportEnd(counts=dict(self._counts), damaged=self._reading.damaged_count))
        self._counts.update(map(name_of, page))
        return await self._offload(lambda: b"".join(map(write_piece, page)))

    async def aclose(self) -> None:
        """Release the store. A second close does nothing."""
        self._is_ended = True
        await self._reading.close()


@attrs.frozen(eq=False)
class Export:
    """Reads and restores all that a store keeps, except what a machine can compute again."""

    _storage: ExportReads
    _writer: StorageActor
    _projects: Projects
    _clock: ClockAndIds
    _merges: ProjectMerges
    _pauses: Pauses
    _settings: Mapping[str, Any]
    """The settings by section and name, for the head of an export."""
    _offload: Offload

    async def lines(self, kinds: Collection[str]) -> ExportLines:
        """The head of an export, all pieces of ``kinds`` that are kept now, and the end.

        Raises:
          StorageError: the store cannot be read.
        """
        head = ExportHead(
            format=FORMAT,
            version=__version__,
            exported_at=to_text(self._clock.utc_now()),
            settings=_scrubbed(self._settings),
        )
        return ExportLines(write_head(head), await self._storage.open_reading(kinds), self._offload)

    async def take(self, lines: Sequence[bytes]) -> Taken:
        """Restore the pieces in ``lines`` of an export, each once by its id. A wrong line affects no other.

        Cancellation: what was committed stays; taking the lines again is safe.

        Raises:
          InvalidRequest: a later version wrote the lines; nothing was taken.
          StorageError: some pieces could not be stored; taking the lines again is safe.
        """
        pieces, errors = await self._offload(partial(_read, lines))
        counts: dict[str, Counter[str]] = {}
        for start in range(0, len(pieces), CHUNK_COUNT):
            chunk = pieces[start : start + CHUNK_COUNT]
            done = await self._writer.write(partial(_restore, pieces=chunk), then=partial(self._tell_projects, chunk))
            for numbered, outcome in zip(chunk, done, strict=True):
                if isinstance(outcome, Restored):
                    counts.setdefault(name_of(numbered.piece), Counter())[outcome] += 1
                else:
                    errors.append(WrongLine(numbered.line, str(outcome)))
        if any(isinstance(each.piece, OF_PROJECTS) for each in pieces):
            await self._merges.read()
            await self._pauses.read()
        return Taken(counts, tuple(sorted(errors, key=lambda each: each.line)))

    def _tell_projects(self, chunk: Sequence[_Numbered], done: Sequence[Restored | KiroLearnError]) -> None:
        """Tell the actors of the projects how many restored events wait to be learned."""
        arrived = Counter(
            numbered.piece.event.namespace
            for numbered, outcome in zip(chunk, done, strict=True)
            if isinstance(numbered.piece, StoredEvent)
            and numbered.piece.waits == "waiting"
            and outcome is Restored.STORED
        )
        for namespace, count in arrived.items():
            self._projects.events_arrived(namespace, count, 0)


def _scrubbed(value: Any) -> Any:
    """JSON or settings without secrets in their texts; the key of a model's server is in no setting."""
    if isinstance(value, Mapping):
        return {name: _scrubbed(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [_scrubbed(each) for each in value]
    return scrub_text(value) if isinstance(value, str) else value


def _read(lines: Sequence[bytes]) -> tuple[list[_Numbered], list[WrongLine]]:
    pieces: list[_Numbered] = []
    errors: list[WrongLine] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            kind, value = read_line(line)
            if kind == HEAD:
                refuse_later(value)
            elif kind != END:
                pieces.append(_Numbered(number, _piece(kind, value)))
        except LaterFormat:
            raise
        except InvalidRequest as error:
            errors.append(WrongLine(number, str(error)))
    return pieces, errors


def _piece(kind: str, value: dict[str, Any]) -> Stored:
    """The piece on a line, without secrets that came into the line after the export."""
    piece = read_piece(kind, value)
    if isinstance(piece, StoredEvent):
        event = {**value["event"], "body": scrub_json(value["event"]["body"])}
        event.pop("content_hash", None)  # it was made of the body with the secret
        return piece if event["body"] == value["event"]["body"] else read_piece(kind, {**value, "event": event})
    if json_depth(value) > MAX_JSON_DEPTH:
        raise InvalidRequest([(f"$.{kind}", f"expected at most {MAX_JSON_DEPTH} levels of JSON")])
    clean = _scrubbed(value)
    return piece if clean == value else read_piece(kind, clean)


def _restore(transaction: StorageTransaction, pieces: Sequence[_Numbered]) -> list[Restored | KiroLearnError]:
    return [_restore_one(transaction, each.piece) for each in pieces]


def _restore_one(transaction: StorageTransaction, piece: Stored) -> Restored | KiroLearnError:
    try:
        return transaction.attempt(lambda inner: inner.restore(piece))
    except KiroLearnError as error:
        return error
