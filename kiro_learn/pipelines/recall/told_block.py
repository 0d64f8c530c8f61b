"""All that one prompt is told: a line of the project's profile, the memories, and what the graph adds."""

from __future__ import annotations

import attrs

from kiro_learn.model.graph import GraphItemId
from kiro_learn.model.retrieval import ToldId
from kiro_learn.pipelines.recall.context import Context
from kiro_learn.retrieval.rendering.brief import BETWEEN, told_below, told_first
from kiro_learn.retrieval.rendering.report import Rendered


@attrs.define(eq=False)
class ToldBlock:
    """What a prompt is told, as far as it is made."""

    slot_line: str = ""
    """What the project's profile has on what the prompt touches."""
    rendered: Rendered = attrs.Factory(Rendered)
    """The memories."""
    graph: Context | None = None
    """What is told of the graph, below them."""

    @property
    def slot_bytes(self) -> int:
        """That the line of the profile takes."""
        return len(self.slot_line.encode())

    @property
    def graph_bytes(self) -> int:
        """That what is told of the graph takes."""
        return len(f"{BETWEEN}{self.graph.text}".encode()) if self.graph and self.graph.text else 0

    @property
    def told_ids(self) -> tuple[ToldId, ...]:
        """Of all that is told: memories, then items of the graph."""
        items = self.graph.items if self.graph else ()
        return (*self.rendered.record_ids, *(GraphItemId(item.item_id) for item in items))

    @property
    def text(self) -> str:
        """All that is told."""
        return told_below(told_first(self.slot_line, self.rendered.text), self.graph.text if self.graph else "")
