"""Histories of Aider: a Markdown file in the folder where it was used, with all sessions one after the other.

A line that begins with ``####`` is the person's, and one that begins with ``>`` the program's. Other lines after the
person's are the model's. In a fence, all lines are text. Times are local and name no zone.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from kiro_learn.adapters.histories.files import Block, Fence, session_in, text_lines
from kiro_learn.adapters.histories.turns import Teller, turns
from kiro_learn.ports.histories import HistoryPlace, PastEvent, PastSession, Skipped

HISTORY = ".aider.chat.history.md"
COMMANDS = "commands to the program"

_STARTED = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_PERSON, _PROGRAM = "####", ">"
_TO_MODEL = re.compile(r"/(?:ask|code|architect|chat-mode (?:ask|code|architect))\s+")
_RUN = re.compile(r"/(?:run|test|git)\s+|!")
_BLANK = "<blank>"
_OF_PROGRAM = ("# Fix any errors below", "I ran this command:", "I ran and tested")
"""The beginnings of prompts that Aider itself made of the output of a linter or a command."""
_APPLIED = re.compile(r"Applied edit to (.+)")


class AiderHistory:
    """``HistoryReader`` for Aider."""

    name = "aider"
    title = "Aider"
    agent = "aider"

    def sessions(self, place: HistoryPlace) -> Iterator[PastSession]:
        for folder in dict.fromkeys((place.user, *place.folders)):
            path = folder / HISTORY
            if not os.path.islink(path):  # noqa: PTH114  # Path.is_symlink() raises where a folder may not be entered
                yield from session_in(path, str(path)[-128:], folder=str(folder))

    def events(self, session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
        yield from turns(_told(session, skipped), skipped)


def _told(session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
    history = _History(session, skipped)
    fence = Fence()
    for number, line in enumerate(text_lines(session.path, skipped)):
        started = _start(line)
        if started is not None and (not fence.is_open or history.may_start(started)):
            fence.end()
            yield from history.start(started)
        else:
            yield from history.line(number, line, is_fenced=fence.is_open)
            fence.add(line)
    yield from history.end_of_block()


def _start(line: str) -> datetime | None:
    found = _STARTED.fullmatch(line)
    try:
        return None if found is None else datetime.fromisoformat(found.group(1)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


class _History:
    """Reads one file, in blocks of lines that one speaker has said."""

    def __init__(self, session: PastSession, skipped: Skipped) -> None:
        self._skipped = skipped
        self._path = hashlib.sha256(str(session.path).encode("utf-8", "replace")).hexdigest()[:24]
        self._count = 0
        self._tell = Teller(skipped, self._session_id(), session.folder)
        self._at = session.changed_at
        self._is_begun = False
        self._is_asked = False
        """Whether there was a prompt in this session, so that the model's next text may be an answer."""
        self._command = ""
        """The command that ran last, until its output comes."""
        self._voice = ""
        self._block = Block(0)

    def _session_id(self) -> str:
        return f"aider-{self._path}-{self._count}"

    def may_start(self, at: datetime) -> bool:
        """Whether a session may begin at ``at`` in a fence that was left open: sessions are in order of time."""
        return not self._is_begun or at > self._at

    def start(self, at: datetime) -> Iterator[PastEvent]:
        yield from self.end_of_block()
        self._count += 1
        self._is_begun = True
        self._tell.session_id, self._at, self._is_asked, self._command = self._session_id(), at, False, ""

    def line(self, number: int, line: str, *, is_fenced: bool) -> Iterator[PastEvent]:
        voice, text = ("", line) if is_fenced else self._voice_of(line)
        if voice != self._voice:
            yield from self.end_of_block()
            self._voice, self._block = voice, Block(number)
        self._block.add(text, self._skipped)

    def _voice_of(self, line: str) -> tuple[str, str]:
        """The speaker and the text of a line. A line without a mark goes on with the block right before it."""
        for voice in (_PERSON, _PROGRAM):
            if line == voice or line.startswith(f"{voice} "):
                return voice, line[len(voice) :].strip()
        is_behind = self._voice != "" and not self._block.is_ended
        return (self._voice, line) if is_behind else ("", line)

    def end_of_block(self) -> Iterator[PastEvent]:
        key, text = f"line {self._block.number}", self._block.text
        match self._voice:
            case "####":
                yield from self._said(key, text)
            case ">":
                yield from self._done(key, text)
            case _ if self._is_asked:
                yield from self._tell.answer(key, text, self._at)
        self._voice, self._block = "", Block(self._block.number)

    def _said(self, key: str, text: str) -> Iterator[PastEvent]:
        to_model = _TO_MODEL.match(text)
        if text.startswith(("/", "!")) and to_model is None:
            self._command = _RUN.sub("", text, count=1) if _RUN.match(text) else ""
            if not self._command:
                self._skipped(COMMANDS)
        elif text.startswith(_OF_PROGRAM) or text == _BLANK:
            self._skipped(COMMANDS)
        else:
            self._is_asked, self._command = True, ""
            yield from self._tell.prompt(key, text[to_model.end() :] if to_model else text, self._at)

    def _done(self, key: str, text: str) -> Iterator[PastEvent]:
        """What Aider did, by its own words: it ran a command that the person gave it, or changed files."""
        if self._command:
            yield self._tell.call(key, "run", {"command": self._command}, text, self._at)
            self._command = ""
        for place, found in enumerate(_APPLIED.finditer(text)):
            given = {"file_path": found.group(1)}
            yield self._tell.call(f"{key} {place}", "edit", given, found.group(0), self._at)
