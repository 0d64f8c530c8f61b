"""The learner's contract: a batch of events in, drafts of memories out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import attrs

from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.draft import NO_DRAFTS, GraphDrafts, RecordDraft


@attrs.frozen
class Drafted:
    """What a learner made of a batch."""

    drafts: Sequence[RecordDraft]
    snapshot: BufferSnapshot
    """What they are from: all that was given, or as much of its beginning as the learner takes at once."""
    graph: GraphDrafts = NO_DRAFTS
    """What it says for the graph, where it was asked for that."""


class Learner(Protocol):
    """Turns stored events into drafts; with a prompt and an answer as text, or without."""

    @property
    def strategy(self) -> str:
        """The name that records made with it carry."""
        ...

    @property
    def name(self) -> str:
        """What to call it before people: the program or the model, without addresses or arguments."""
        ...

    async def drafts_of(self, snapshot: BufferSnapshot) -> Drafted:
        """The memories that ``snapshot`` holds, or as much of its beginning as is taken at once; at least one entry.

        Cancellation: nothing is left behind.

        Raises:
          LlmError: there is no usable answer.
          trio.TooSlowError: it took too long.
        """
        ...
