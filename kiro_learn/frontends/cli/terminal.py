"""What a stream can show, and amounts and times as people read them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple, TextIO

# What a stream can show: its width, its colours, its characters. Text comes in plain and is printed in the form that
# the stream can show.
#
# Rules of this file: a colour never carries meaning alone, and without colours exactly the same characters remain.

UNKNOWN_WIDTH = 80
MOST_WIDTH = 100
MOST_DIGITS = 6
"""The most digits of a width that is believed."""

_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters, and those that end a line or change its direction."""
_ASCII = str.maketrans(
    {
        "\N{HORIZONTAL ELLIPSIS}": "...",
        "\N{MIDDLE DOT}": "|",
        "\N{BOX DRAWINGS LIGHT VERTICAL}": "|",
        "\N{BOX DRAWINGS HEAVY HORIZONTAL}": "=",
        "\N{BOX DRAWINGS LIGHT VERTICAL AND RIGHT}": "|",
        "\N{BOX DRAWINGS LIGHT UP AND RIGHT}": "`",
        "\N{BLACK CIRCLE}": "*",
    }
)
_MARKS = {
    "ok": ("32", "\N{CHECK MARK}", "ok"),
    "warning": ("33", "!", "!!"),
    "wrong": ("31", "\N{BALLOT X}", "xx"),
    "none": ("", " ", "  "),
}


class Terminal(NamedTuple):
    """The abilities of one stream."""

    width: int = UNKNOWN_WIDTH
    has_colours: bool = False
    has_unicode: bool = True
    is_interactive: bool = False
    """Whether the stream is a terminal."""

    def bold(self, text: str) -> str:
        return self._painted("1", text)

    def dim(self, text: str) -> str:
        return self._painted("2", text)

    def command(self, text: str) -> str:
        """Text that the user can type."""
        return self._painted("36", text)

    def error(self, text: str) -> str:
        return self._painted("31", text)

    def mark(self, name: str) -> str:
        """The sign at the beginning of a line: ``ok``, ``warning``, ``wrong``, or ``none``, which is as wide."""
        colour, sign, ascii_sign = _MARKS[name]
        return self._painted(colour, sign if self.has_unicode else ascii_sign)

    def shown(self, text: str) -> str:
        """``text`` in characters that the stream can show, without control characters except line ends and tabs."""
        pieces = _ESCAPE.split(text)
        escapes = _ESCAPE.findall(text) if self.has_colours else [""] * (len(pieces) - 1)
        clean = [self._carried(piece) for piece in pieces]
        return clean[0] + "".join(escape + piece for escape, piece in zip(escapes, clean[1:], strict=True))

    def _carried(self, text: str) -> str:
        text = plain(text)
        if self.has_unicode:
            return text.encode("utf-8", "replace").decode()
        return text.translate(_ASCII).encode("ascii", "replace").decode()

    def _painted(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.has_colours and code and text else text


def plain(text: str) -> str:
    """Stored ``text`` without control characters except line ends and tabs, so that it brings no colours of its own."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def cut(text: str, width: int) -> str:
    """Stored ``text`` on one line of at most ``width`` characters; an ellipsis replaces what does not fit."""
    line = plain(" ".join(text.split()))
    return line if len(line) <= width else line[: max(0, width - 1)].rstrip() + "\N{HORIZONTAL ELLIPSIS}"


def spread(left: str, right: str, width: int, *, painted_left: str = "", painted_right: str = "") -> str:
    """``left`` at the left edge and ``right`` at the right; painted texts replace them and are as wide."""
    gap = " " * max(2, width - len(left) - len(right))
    return f"{painted_left or left}{gap}{painted_right or right}"


def terminal_of(stream: TextIO, environment: Mapping[str, str], *, colour: str = "auto") -> Terminal:
    """The abilities of ``stream``; ``colour`` is auto, always or never."""
    is_interactive = stream.isatty()
    wanted = is_interactive and "NO_COLOR" not in environment and environment.get("TERM") != "dumb"
    return Terminal(
        width=min(_width(stream, environment), MOST_WIDTH) if is_interactive else UNKNOWN_WIDTH,
        has_colours={"always": True, "never": False}.get(colour, wanted),
        has_unicode=_has_unicode(stream, environment),
        is_interactive=is_interactive,
    )


def _has_unicode(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether to print Unicode: Python writes UTF-8 even in the locale C, but a user who set that wants ASCII."""
    if (environment.get("LC_ALL") or environment.get("LANG")) in {"C", "POSIX"}:
        return False
    return (stream.encoding or "").lower().startswith("utf")


def _width(stream: TextIO, environment: Mapping[str, str]) -> int:
    """The width in ``COLUMNS``, else that of the terminal. Some terminals report 0, which is ignored."""
    said = environment.get("COLUMNS", "")
    if said.isascii() and said.isdigit() and 0 < len(said) <= MOST_DIGITS and int(said):
        return int(said)
    try:
        return os.get_terminal_size(stream.fileno()).columns or UNKNOWN_WIDTH
    except (OSError, ValueError):
        return UNKNOWN_WIDTH


# Numbers, sizes, durations and moments as people read them.

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_WEEK = 7 * _DAY
_UNITS = ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"), (1, "s"))
_TENS = 10
_STEPS = (("kB", 10**3), ("MB", 10**6), ("GB", 10**9))


def counted(number: int, one: str, many: str) -> str:
    """``1 memory``, ``1,204 memories``."""
    return f"{number:,} {one if number == 1 else many}"


def memories(number: int) -> str:
    return counted(number, "memory", "memories")


def events(number: int) -> str:
    return counted(number, "event", "events")


def characters(number: int) -> str:
    """``41,200 characters``, ``4.1 M characters``."""
    return f"{number / 10**6:.1f} M characters" if number >= 10**6 else counted(number, "character", "characters")


def size(count_bytes: int) -> str:
    """In steps of 1000: ``214 bytes``, ``4.1 kB``, ``38 MB``."""
    if count_bytes < 1000:  # noqa: PLR2004  # a step
        return counted(count_bytes, "byte", "bytes")
    unit, amount = next(
        (unit, count_bytes / step) for unit, step in _STEPS if count_bytes < 999.5 * step or unit == _STEPS[-1][0]
    )
    return f"{amount:.1f} {unit}" if amount < _TENS else f"{amount:,.0f} {unit}"


def milliseconds(number: float) -> str:
    return f"{number:,.0f} ms"


def duration(seconds: float) -> str:
    """``0.9 s``, ``42 s``, ``5 min``, ``3 h 12 min``, ``3 d 4 h``."""
    if seconds < _TENS:
        return f"{seconds:.1f} s"
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min"
    if seconds < _DAY:
        return f"{seconds // _HOUR:.0f} h {seconds % _HOUR // _MINUTE:.0f} min"
    return f"{seconds // _DAY:.0f} d {seconds % _DAY // _HOUR:.0f} h"


def ago(moment: datetime, now: datetime) -> str:
    """``4 min ago`` within a week, else ``4 Nov 10:02`` in the zone of ``now``; so also for a moment to come."""
    seconds = (now - moment) / timedelta(seconds=1)
    if seconds >= _WEEK or seconds <= -_HOUR:
        return calendar_time(moment, now)
    if seconds < 1:
        return "just now"
    length, unit = next(pair for pair in _UNITS if seconds >= pair[0])
    return f"{seconds // length:.0f} {unit} ago"


def calendar_time(moment: datetime, now: datetime) -> str:
    """``Mon 10:09`` within a week of ``now``, else ``4 Nov 10:02``; the year where it is another."""
    local = _in_zone_of(now, moment)
    if abs(now - moment) < timedelta(days=6):
        return f"{local:%a %H:%M}"
    return f"{local.day} {local:%b %H:%M}" if local.year == now.year else f"{local.day} {local:%b %Y}"


def _in_zone_of(now: datetime, moment: datetime) -> datetime:
    """The moment in the zone of ``now``; unchanged where the zone has no such day, as for the first of the year 1."""
    try:
        return moment.astimezone(now.tzinfo)
    except OverflowError:
        return moment


def moment_of(text: str) -> datetime:
    """A moment in the form of the API."""
    return datetime.fromisoformat(text)
