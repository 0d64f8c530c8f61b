"""Stops an actor's endless block, also one that a supervisor started again after a crash."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import trio


class Stop:
    """Stops an actor's work: the block under way is cancelled, and every later one ends at its first checkpoint."""

    def __init__(self) -> None:
        self._is_thrown = False
        self._scope: trio.CancelScope | None = None

    def throw(self) -> None:
        self._is_thrown = True
        if self._scope is not None:
            self._scope.cancel()

    @contextmanager
    def ends_block(self) -> Iterator[None]:
        with trio.CancelScope() as self._scope:
            if self._is_thrown:
                self._scope.cancel()
            yield
