"""A fake ``Llm`` whose answers a test scripts."""

from __future__ import annotations

from collections.abc import Callable

import trio

Script = Callable[[str], str]


class ScriptedLlm:
    """An ``Llm`` that answers each prompt with what ``script`` makes of it, which may raise."""

    strategy = "scripted"
    name = "script"

    def __init__(self, script: Script) -> None:
        self.script = script
        self.gate: trio.Event | None = None
        """While there is one that is not set, answers wait for it."""

    async def complete(self, prompt: str) -> str:
        await trio.lowlevel.checkpoint()
        if self.gate is not None:
            await self.gate.wait()
        return self.script(prompt)


def a_record_per_event(prompt: str) -> str:
    """Learn one record from each framed event that is not context, citing it: easy to count, impossible to confuse."""
    numbers = [
        line.split('number="')[1].split('"')[0]
        for line in prompt.split("\n")
        if 'number="' in line and 'context="true"' not in line
    ]
    return (
        "".join(
            f'<memory_record type="discovery" events="{number}"><title>event {number}</title>'
            f"<summary>what event {number} taught</summary></memory_record>"
            for number in numbers
        )
        or "<skip/>"
    )
