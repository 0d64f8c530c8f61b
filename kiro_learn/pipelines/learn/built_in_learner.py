"""The built-in learner behind the learner's contract: no model, no network, the same drafts every time."""

from __future__ import annotations

import attrs

from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.record import BUILT_IN_STRATEGY
from kiro_learn.ports.models import Drafted
from kiro_learn.runtime.admission import Offload


@attrs.frozen(eq=False)
class BuiltInLearner:
    """The learner without a model; it takes any batch whole.

    A full one takes longer than the loop may be held up, hence ``offload``.
    """

    offload: Offload

    @property
    def strategy(self) -> str:
        """``extractive``; see ``Learner.strategy``."""
        return BUILT_IN_STRATEGY

    @property
    def name(self) -> str:
        """The same as its strategy; see ``Learner.name``."""
        return BUILT_IN_STRATEGY

    async def drafts_of(self, snapshot: BufferSnapshot) -> Drafted:
        """See ``Learner.drafts_of``; it takes the whole snapshot and raises none of its errors."""
        return Drafted(await self.offload(lambda: _drafts_of(snapshot)), snapshot)


def _drafts_of(snapshot: BufferSnapshot) -> list[RecordDraft]:
    # Its tables of words take a twentieth of a second to load, and a start need not wait for the first batch.
    from kiro_learn.learning.extraction.extractive.learner import drafts_of  # noqa: PLC0415  # see above

    return drafts_of(snapshot)
