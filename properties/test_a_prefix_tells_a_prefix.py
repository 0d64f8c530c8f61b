"""Promise: the events of a session that is still being written are the beginning of its later events.

The exception is an answer that the reader marks as open, since its turn may go on. A person who takes turns back
changes earlier events too, but no line here does that.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterable
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.adapters.histories.claude_code import ClaudeCodeHistory
from kiro_learn.adapters.histories.codex import CodexHistory
from kiro_learn.adapters.histories.gemini import GeminiHistory
from kiro_learn.adapters.histories.kiro_cli import KiroCliHistory
from kiro_learn.ports.histories import HistoryReader, PastEvent
from tests.unit.adapters.histories.homes import claude_code, codex, gemini, kiro_cli
from tests.unit.adapters.histories.telling import place_of, told


@attrs.frozen
class Growing:
    """A session that grows line by line."""

    reader: HistoryReader
    path: Path
    lines: bytes

    @classmethod
    def of(cls, reader: HistoryReader, path: Path, lines: Iterable[bytes]) -> Growing:
        return cls(reader, path, b"".join(lines))

    def events(self, length: int) -> list[PastEvent]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / self.path
            file.parent.mkdir(parents=True)
            file.write_bytes(self.lines[:length])
            return told(self.reader, place_of(Path(folder)))[0]

    @functools.cache  # noqa: B019  # only for the sessions below
    def whole(self) -> list[PastEvent]:
        return self.events(len(self.lines))


ROLLED_BACK = next(
    place for place, (_, payload) in enumerate(codex.THEN) if payload.get("type") == "thread_rolled_back"
)
REWOUND = next(place for place, row in enumerate(gemini.ROWS) if "$rewindTo" in row)
KIRO = kiro_cli.SESSIONS / "s-shop.jsonl"
SESSIONS = {
    "claude-code": Growing.of(
        ClaudeCodeHistory(),
        claude_code.PROJECT / f"{claude_code.SESSION}.jsonl",
        (*claude_code.TURN, *claude_code.REST, *claude_code.REDO[:2]),
    ),
    "codex": Growing.of(
        CodexHistory(),
        codex.DAY / f"rollout-2026-09-02T08-00-00-{codex.SHOP}.jsonl",
        [codex.lines([*codex.FIRST, *codex.THEN[:ROLLED_BACK]])],
    ),
    "gemini": Growing.of(
        GeminiHistory(), gemini.TEMPORARY / "shop" / "chats" / "session-1.jsonl", [gemini.lines(gemini.ROWS[:REWOUND])]
    ),
    "kiro-cli": Growing.of(KiroCliHistory(), KIRO, kiro_cli.LINES),
}


def settled(events: list[PastEvent]) -> list[PastEvent]:
    """The events without open ones at the end."""
    while events and events[-1].may_go_on:
        events = events[:-1]
    return events


@pytest.mark.parametrize("name", SESSIONS)
@given(data=st.data())
def test_a_prefix_of_a_file_gives_a_prefix_of_its_events(name: str, data: st.DataObject) -> None:
    session = SESSIONS[name]
    early = settled(session.events(data.draw(st.integers(0, len(session.lines)))))
    assert early == session.whole()[: len(early)]


@pytest.mark.parametrize("name", SESSIONS)
def test_the_whole_file_is_told(name: str) -> None:
    """Otherwise a reader that reads nothing would keep the promise."""
    assert len(settled(SESSIONS[name].whole())) >= 5
