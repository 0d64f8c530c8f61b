"""Histories of SpecStory: a Markdown file for each session, in the project's folder, made of an agent's own history.

If the agent's own history is on the disk too, that is read instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import attrs

from kiro_learn.adapters.histories.files import (
    MAX_SESSION_ID,
    Block,
    Fence,
    files_below,
    parted,
    session_in,
    text_lines,
)
from kiro_learn.adapters.histories.turns import Teller, moment, turns
from kiro_learn.ports.histories import HistoryPlace, HistoryReader, PastEvent, PastSession, Skipped

FOLDER = ".specstory/history"
SUB_AGENTS = "words of other agents"

_SESSION = re.compile(r"<!-- .{1,60}? Session (\S{1,128}) \(.*\) -->")
_HEAD_BYTES = 4_096
_VOICE = re.compile(
    r"_\*\*(User|Agent|Assistant)( - sidechain)?"
    r"(?: \((?:.{0,200}? )??([0-9-]{10} [0-9:.]{5,12} ?[Z+\-0-9:]*)\))?\*\*_\s*"
)
_BEGAN = re.compile(r"# .{1,300} \(([0-9-]{10} [0-9:]{8}Z?)\)\s*")
"""The first line of the older form, in which only the session has a time."""
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_USE = re.compile(r'<tool-use data-tool-type="([^"\n]*)" data-tool-name="([^"\n]*)">(.*?)(?:</tool-use>|\Z)', re.DOTALL)
_SUMMARY, _END_OF_SUMMARY = "<summary>", "</summary>"
_INLINE = re.compile(r"`([^`\n]+)`")
_SHELLS = frozenset({"bash", "sh", "shell", "zsh", "powershell"})
_TAGS = re.compile(r"</?(?:details|summary)>")


class SpecStoryHistory:
    """``HistoryReader`` for SpecStory."""

    name = "specstory"
    title = "SpecStory"
    agent = "specstory"

    def __init__(self, originals: tuple[HistoryReader, ...] = ()) -> None:
        """``originals``: the readers for the agents whose sessions SpecStory writes down."""
        self._originals = originals

    def sessions(self, place: HistoryPlace) -> Iterator[PastSession]:
        found = [session for folder in dict.fromkeys(place.folders) for session in _in_folder(folder)]
        if not found:
            return
        known = {session.session_id for reader in self._originals for session in reader.sessions(place)}
        yield from (session for session in found if session.session_id not in known)

    def events(self, session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
        yield from turns(_told(session, skipped), skipped)


def _in_folder(folder: Path) -> Iterator[PastSession]:
    for path in files_below(folder / FOLDER, ".md"):
        try:
            with path.open("rb") as file:
                named = _SESSION.search(file.read(_HEAD_BYTES).decode("utf-8", "replace"))
        except OSError:
            continue
        yield from session_in(path, named.group(1) if named else path.stem[:MAX_SESSION_ID], folder=str(folder))


@attrs.define
class _Voice:
    """The speaker of a block of lines, and the time of its beginning."""

    name: str = ""
    at: datetime | None = None
    is_of_another: bool = False


def _told(session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
    tell = Teller(skipped, session.session_id, session.folder)
    voice, block, fence = _Voice(at=session.changed_at), Block(0), Fence()
    for number, line in enumerate(text_lines(session.path, skipped)):
        heard = _heard(line)
        if heard is not None and (not fence.is_open or _is_later(heard.at, voice.at)):
            yield from _said(tell, voice, block, skipped)
            heard.at = heard.at or voice.at
            voice, block = heard, Block(number)
            fence.end()
        elif not voice.name and (began := _BEGAN.fullmatch(line)):
            voice.at = moment(began.group(1)) or voice.at
        else:
            block.add(line, skipped)
            fence.add(line)
    yield from _said(tell, voice, block, skipped)


def _heard(line: str) -> _Voice | None:
    found = _VOICE.fullmatch(line)
    if found is None:
        return None
    name, sidechain, at = found.groups()
    return _Voice(name, moment(at.strip()) if at else None, is_of_another=sidechain is not None)


def _is_later(at: datetime | None, before: datetime | None) -> bool:
    """Whether a block may begin at ``at`` in a fence that was left open: blocks are in order of time."""
    return at is not None and before is not None and at >= before


def _said(tell: Teller, voice: _Voice, block: Block, skipped: Skipped) -> Iterator[PastEvent]:
    text = block.text.removesuffix("---").strip()
    if voice.is_of_another:
        skipped(SUB_AGENTS)
    elif not voice.name:
        return
    elif voice.name == "User":
        yield from tell.prompt(f"line {block.number}", text, voice.at)
    else:
        text = _THOUGHT.sub("", text)
        for place, used in enumerate(_USE.finditer(text)):
            kind, name, body = used.groups()
            given, response = _call(kind, body)
            yield tell.call(f"line {block.number} {place}", name, given, response, voice.at)
        yield from tell.answer(f"line {block.number}", _USE.sub("", text), voice.at)


def _call(kind: str, body: str) -> tuple[dict[str, str], str]:
    """A tool's input and output. A shell's command is in backticks, or in the first fence if that is a shell's."""
    outside, fences = parted(body)
    _, _, behind = outside.partition(_SUMMARY)
    summary, _, rest = behind.partition(_END_OF_SUMMARY)
    if kind != "shell":
        given = {"shown": _TAGS.sub("", rest).strip()}
    elif fences and fences[0][0] in _SHELLS:
        given = {"command": fences.pop(0)[1].strip()}
    else:
        inline = _INLINE.search(rest) or _INLINE.search(summary)
        given = {"command": inline.group(1) if inline else ""}
    return given, fences[-1][1].strip() if fences else ""
