"""Text in and out of angle brackets: nothing that was stored can open or close an element.

Rules of this file: what goes in may be any Python string, what comes out is XML 1.0 character data that UTF-8 carries.
"""

from __future__ import annotations

import re
import sys

_ANSI_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
"""ECMA-48 control sequences: colours and titles, which terminals print around what people read."""

_FORBIDDEN = re.compile(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 section 2.2 does not allow, carriage returns (which every parser rewrites) and lone surrogates."""

_NAMED = {"lt": "<", "gt": ">", "quot": '"', "apos": "'", "amp": "&"}
_REFERENCE = re.compile(r"&(?:(lt|gt|quot|apos|amp)|#(\d{1,7})|#x([0-9A-Fa-f]{1,6}));")
"""What stands for one character. Models write an apostrophe as ``&#39;`` too."""

REPLACEMENT = "\ufffd"


def cleaned(text: str) -> str:
    """``text`` without terminal colours; characters that XML forbids become U+FFFD, line ends newlines."""
    if "\x1b" in text:
        text = _ANSI_SEQUENCE.sub("", text)
    return _FORBIDDEN.sub(REPLACEMENT, text.replace("\r\n", "\n").replace("\r", "\n"))


def escaped(text: str) -> str:
    """``text`` as character data or an attribute's value; :func:`unescaped` gives ``cleaned(text)`` back."""
    return cleaned(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def unescaped(text: str) -> str:
    """Undo one level of escaping, never two: ``&amp;lt;`` comes back as the ``&lt;`` it was."""
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(reference: re.Match[str]) -> str:
    name, decimal, hexadecimal = reference.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if code <= sys.maxunicode else reference[0]


def clipped(text: str, *, head: int, tail: int) -> str:
    """``text`` whole if it has at most ``head + tail`` characters, else its two ends with a visible mark between."""
    missing = len(text) - head - tail
    if missing <= 0:
        return text
    end = text[len(text) - tail :]
    return f"{text[:head]}\n[... {missing} characters left out ...]\n{end}"
