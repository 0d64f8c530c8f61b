"""Gives prompts priority: background work pauses while several prompts are under way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import trio

CROWD = 2
"""Prompts. A single one has a processor to itself beside what is embedded behind it, even where there are but two."""

PATIENCE_SECONDS = 1.0
"""Longest pause, so that background work cannot starve."""


class PromptPriority:
    """Counts the prompts under way; background work waits on it before each piece."""

    def __init__(self) -> None:
        self._prompt_count = 0
        self._clear = trio.Event()
        self._clear.set()
        self._quiet = trio.Event()
        self._quiet.set()

    @contextmanager
    def prompt(self) -> Iterator[None]:
        """One prompt, for as long as it is under way."""
        self._prompt_count += 1
        if self._prompt_count == 1:
            self._quiet = trio.Event()
        if self._prompt_count == CROWD:
            self._clear = trio.Event()
        try:
            yield
        finally:
            self._prompt_count -= 1
            if self._prompt_count < CROWD:
                self._clear.set()
            if not self._prompt_count:
                self._quiet.set()

    async def give_way(self) -> None:
        """Return once there is no crowd, or PATIENCE_SECONDS later."""
        with trio.move_on_after(PATIENCE_SECONDS):
            await self._clear.wait()

    async def wait_without_prompt(self) -> None:
        """Return once no prompt is under way, or PATIENCE_SECONDS later."""
        with trio.move_on_after(PATIENCE_SECONDS):
            await self._quiet.wait()
