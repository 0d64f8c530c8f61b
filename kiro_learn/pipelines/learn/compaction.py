"""Shrinks a buffer that cannot be learned: a model summarises it, or its oldest half is set aside."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import attrs
import structlog
import trio

from kiro_learn.config import CompactionConfig
from kiro_learn.errors import BudgetSpent, LlmError
from kiro_learn.learning.consolidation.consolidation import (
    INSTRUCTIONS_CHARACTERS,
    entries_of,
    oldest_half,
    parse,
    prompt_for,
)
from kiro_learn.learning.extraction.splitting import Portion, portion
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot
from kiro_learn.model.namespace import Namespace
from kiro_learn.pipelines.learn.metered_llm import MeteredLlm, is_model, seconds_to_retry
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.llm import TOO_SLOW, Llm, LlmByProject
from kiro_learn.ports.storage.buffer import BufferReads
from kiro_learn.ports.storage.interface import StorageWriter
from kiro_learn.runtime.admission import Offload

log = structlog.get_logger()


@attrs.frozen(eq=False, kw_only=True)
class Compactor:
    """Compacts buffers, sets their oldest half aside, and takes that back. Holds no state of its own.

    The caller ensures that no run of the same project is under way: both work on the buffer's oldest entries.
    """

    storage: BufferReads
    writer: StorageWriter
    llms: LlmByProject
    calls: MeteredLlm
    clock: ClockAndIds
    offload: Offload
    config: CompactionConfig
    prompt_characters: int
    """Most of one prompt."""

    async def compact(self, namespace: Namespace) -> bool:
        """Replace the oldest entries, as many as fit in one prompt, by a model's summary of them.

        Returns False, with nothing done, if there is no model to ask just now. What arrives meanwhile stays.

        Raises:
          LlmError: no answer was shorter, or an attempt outlasted its time, as another would.
          StorageError: it could not be read or written; nothing changed.
        """
        llm = self.llms.current(namespace)
        if not is_model(llm):
            return False
        snapshot = await self.storage.snapshot_buffer(namespace, most_bytes=self.config.threshold_bytes)
        characters_left = self.prompt_characters - INSTRUCTIONS_CHARACTERS
        part = await self.offload(lambda: portion(snapshot, characters_left, least_count=2))
        try:
            entries = await self._entries(namespace, llm, part)
        except BudgetSpent:
            return False
        through = part.snapshot.through
        await self.writer.write(lambda tx: tx.compact_buffer(namespace, through=through, entries=entries))
        log.info(
            "buffer.compacted",
            entry_count=len(entries),
            replaced_count=len(part.snapshot.entries),
            saved_bytes=part.snapshot.size_bytes - sum(entry.size_bytes for entry in entries),
        )
        return True

    async def set_aside_oldest_half(self, namespace: Namespace, size_bytes: int) -> int:
        """Park the oldest half of a buffer of ``size_bytes``; returns how many entries that were.

        Raises:
          StorageError: nothing changed.
        """
        half = oldest_half(await self.storage.snapshot_buffer(namespace, most_bytes=size_bytes))
        if half.entries:
            await self.set_aside(namespace, half)
        return len(half.entries)

    async def set_aside(self, namespace: Namespace, oldest: BufferSnapshot) -> None:
        """Park ``oldest``, the beginning of what waits.

        Raises:
          StorageError: nothing changed.
        """
        await self.writer.write(lambda tx: tx.park_buffer(namespace, through=oldest.through))

    async def take_back(self, namespace: Namespace, *, most_bytes: int) -> None:
        """Return the oldest parked entries to the buffer, at most ``most_bytes`` but at least one entry.

        Raises:
          StorageError: nothing changed.
        """
        size = await self.writer.write(lambda tx: tx.unpark_buffer(namespace, most_bytes=most_bytes))
        log.info("buffer.taken_back", event_count=size.event_count, parked_event_count=size.parked_event_count)

    async def _entries(self, namespace: Namespace, llm: Llm, part: Portion) -> tuple[BufferedEvent, ...]:
        """Ask until an answer has fewer entries than ``part``; attempts do not build on each other."""
        if len(part.snapshot.entries) < 2:  # noqa: PLR2004  # fewer than one is none
            raise LlmError("one entry cannot become fewer")
        prompt = prompt_for(part)
        for attempts_left in reversed(range(self.config.attempts)):
            try:
                answer = await self.calls.ask(namespace, llm, prompt, seconds=self.config.model_seconds)
                return await self.offload(partial(_read, answer, part, self.clock.new_ulid))
            except BudgetSpent:
                raise
            except LlmError as error:
                log.warning("compaction.attempt_failed", attempts_left=attempts_left, problem=str(error))
                pause = seconds_to_retry(error, self.config.attempts - attempts_left)
                if not attempts_left or pause is None:
                    raise
                await trio.sleep(pause)
            except trio.TooSlowError as error:
                raise LlmError(TOO_SLOW) from error
        raise AssertionError("the last attempt returns or raises")


def _read(answer: str, part: Portion, new_ulid: Callable[[], str]) -> tuple[BufferedEvent, ...]:
    """The entries that ``answer`` puts in the place of ``part``. Raises LlmError: it cannot be used."""
    return entries_of(parse(answer), part, new_ulid)
