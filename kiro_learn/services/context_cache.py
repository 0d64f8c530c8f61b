"""Context blocks of the last minute, forgotten as soon as something that they tell may have changed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import attrs

from kiro_learn.model.namespace import Namespace
from kiro_learn.pipelines.recall.context import Context, ContextRequest
from kiro_learn.ports.storage.answers import Change

MOST = 100
SECONDS = 60.0


@attrs.frozen
class _Kept:
    context: Context
    until: float


class ContextCache:
    """Finds the block of a request that was made before, word for word."""

    def __init__(self, current_time: Callable[[], float]) -> None:
        self._current_time = current_time
        self._kept: OrderedDict[tuple[Namespace, int, ContextRequest], _Kept] = OrderedDict()
        self._generations: dict[Namespace, int] = {}

    def apply(self, change: Change) -> None:
        """What was made of this project is of no use any longer."""
        self._generations[change.namespace] = self.generation(change.namespace) + 1

    def generation(self, namespace: Namespace) -> int:
        """How often the project's memory changed since the daemon started."""
        return self._generations.get(namespace, 0)

    def get(self, namespace: Namespace, request: ContextRequest) -> Context | None:
        """The block that was made of this; None: there is none of the last minute."""
        key = (namespace, self.generation(namespace), request)
        kept = self._kept.get(key)
        if kept is None or kept.until < self._current_time():
            return None
        self._kept.move_to_end(key)
        return kept.context

    def put(self, namespace: Namespace, generation: int, request: ContextRequest, context: Context) -> None:
        """Keep a block that was begun in a generation; one with a part missing is not kept."""
        if context.degraded:
            return
        self._kept[namespace, generation, request] = _Kept(context, self._current_time() + SECONDS)
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
