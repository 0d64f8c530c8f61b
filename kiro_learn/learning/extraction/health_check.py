"""A batch that any model can learn: if a model fails on it too, the model is at fault and not another batch."""

from __future__ import annotations

from kiro_learn.learning.extraction.framing import FramedBatch
from kiro_learn.model.ids import EventId

HEALTH_CHECK = FramedBatch(
    """\
<batch project="">
<event number="1" kind="prompt" surface="kiro-learn" session="1" timestamp="2026-01-05T12:00:00.000000Z">
<text>Always use pnpm in this repository, never npm.</text>
</event>
<event number="2" kind="session_summary" surface="kiro-learn" session="1" timestamp="2026-01-05T12:00:05.000000Z">
<text>Understood: packages in this repository are installed with pnpm only.</text>
</event>
</batch>""",
    sources=tuple((EventId(f"{number:026d}"),) for number in (1, 2)),
)
"""Short, harmless and worth a memory; neither its events nor the memories learned from them are stored."""
