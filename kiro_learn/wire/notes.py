"""A memory as a Markdown file: front matter, title, summary, facts as a list, and the captured text in a fence.

Rules of this file: any text is read back unchanged from the file. Invisible characters, line ends within a text, and
white space at its ends are written as Markdown's references (``&#xD;``). A line of a summary that would begin a section
gets a backslash before it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import attrs

from kiro_learn.model.ids import RECORD_PREFIX, RecordId, to_text
from kiro_learn.model.stored import StoredMemory
from kiro_learn.wire.notes_index import Front, WrongNote, read_front, write_front

MOST_BYTES = 16 * 1024 * 1024
"""The most bytes of a file: as many as of a line of an export."""
MOST_NAME = 60
"""The most characters of a title in a file's name."""

TEXTS = ("id", "type", "severity", "origin", "importance", "created", "pinned")
LISTS = ("sessions", "sources", "concepts", "files")
GIVEN = ("type", "concepts", "files")
"""The names that the front matter of a new memory may have."""

_FACTS, _TEXT = "## Facts", "## Text"
_HEADING = re.compile(r"(\\*)(## (?:Facts|Text))[ \t]*")
_ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]|&(?=amp;|#x[0-9A-Fa-f]{1,6};)",
)
_REFERENCE = re.compile(r"&(?:amp|#x([0-9A-Fa-f]{1,6}));")
_FENCE = re.compile(r"(`{3,})([^`]*)")
_TICKS = re.compile("`+")
_WITH_REFERENCES = "references"
"""After a fence: its text has references, which are otherwise not read inside of a fence."""
_NO_WORD = re.compile("[^a-z0-9]+")


@attrs.frozen(kw_only=True)
class Note:
    """A memory as its Markdown file states it."""

    front: Front
    title: str
    summary: str
    facts: tuple[str, ...] = ()
    text: str = ""

    @property
    def record_id(self) -> str:
        """The id of the memory; empty for a new one."""
        return str(self.front.get("id", ""))

    @property
    def said(self) -> dict[str, Any]:
        """The fields that a person may change, by the names of ``Correction``."""
        return {
            "title": self.title,
            "summary": self.summary,
            "facts": self.facts,
            "text": self.text,
            "concepts": tuple(self.front.get("concepts", ())),
            "files": tuple(self.front.get("files", ())),
        }

    @property
    def fixed(self) -> dict[str, Any]:
        """The fields that a file cannot change; the sources are left out, since another command may change them."""
        return {name: self.front.get(name, "") for name in TEXTS if name != "id"}

    @property
    def digest(self) -> str:
        """A digest of the memory's content, without its sources."""
        front = {name: value for name, value in self.front.items() if name not in {"sessions", "sources"}}
        return digest_of(write_note(attrs.evolve(self, front=front)))


def note_of(memory: StoredMemory) -> Note:
    record = memory.record
    files = dict.fromkeys((*record.files_touched, *record.files_read, *record.files_modified))
    front = {
        "id": record.record_id,
        "type": record.type_name,
        "severity": (record.details and record.details.severity) or "",
        "origin": record.origin or "",
        "importance": str(record.importance or ""),
        "created": to_text(record.created_at),
        "pinned": record.pinned_at and to_text(record.pinned_at),
        "sessions": memory.sessions,
        "sources": tuple(record.source_event_ids),
        "concepts": record.concepts,
        "files": tuple(files),
    }
    said = {name: value for name, value in front.items() if value}
    text = "" if _is_said_once(memory) else record.text
    return Note(front=said, title=record.title, summary=record.summary, facts=record.facts, text=text)


def digest_of(content: bytes) -> str:
    """A digest by which a file's content is recognised."""
    return hashlib.sha256(content).hexdigest()[:32]


def name_for(title: str, ending: str) -> str:
    """A readable name that every system accepts for a file or folder; ``ending`` makes it unique."""
    plain = unicodedata.normalize("NFKD", title[: 4 * MOST_NAME]).encode("ascii", "ignore").decode().lower()
    words = _NO_WORD.sub("-", plain).strip("-")
    if len(words) > MOST_NAME:
        words = words[:MOST_NAME].rpartition("-")[0] or words[:MOST_NAME]
    return f"{words}-{ending.lower()}" if words else ending.lower()


def file_name_of(note: Note) -> str:
    """A readable name, different for every id."""
    return name_for(note.title, RecordId(note.record_id).removeprefix(RECORD_PREFIX)) + ".md"


# --- writing --------------------------------------------------------------------------------------------------------


def write_note(note: Note) -> bytes:
    """The file's content, which ``read_note`` reads back as the same note."""
    return ("\n".join(_lines(note)) + "\n").encode()


def _lines(note: Note) -> Iterator[str]:
    yield from write_front(note.front)
    yield ""
    yield "# " + _inside(note.title).replace("\n", "&#xA;")
    if note.summary:
        yield ""
        yield from (_no_heading(line) for line in _inside(note.summary).split("\n"))
    if note.facts:
        yield from ("", _FACTS, "")
        for fact in note.facts:
            first, *others = _inside(fact).split("\n")
            yield f"- {first}" if first else "-"
            yield from (f"  {line}" if line else "" for line in others)
    if note.text:
        yield from ("", _TEXT, "")
        yield from _fenced(note.text)


def _fenced(text: str) -> Iterator[str]:
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in _TICKS.findall(text))])
    is_plain = not _has_odd(text)
    yield fence if is_plain else f"{fence} {_WITH_REFERENCES}"
    yield text if is_plain else _referenced(text)
    yield fence


def _has_odd(text: str) -> bool:
    """Whether it has a character that a line of a file cannot hold. ``&`` is none: a fence shows it as it is."""
    return any(found[0] != "&" for found in _ODD.finditer(text))


def _referenced(text: str) -> str:
    return _ODD.sub(lambda found: "&amp;" if found[0] == "&" else f"&#x{ord(found[0]):X};", text)


def _inside(text: str) -> str:
    """``text`` without white space at its ends, which an editor may remove; references take its place."""
    clean = _referenced(text)
    if clean[:1].isspace():
        clean = f"&#x{ord(clean[0]):X};{clean[1:]}"
    if clean[-1:].isspace():
        clean = f"{clean[:-1]}&#x{ord(clean[-1]):X};"
    return clean


def _no_heading(line: str) -> str:
    return f"\\{line}" if _HEADING.fullmatch(line) else line


# --- reading --------------------------------------------------------------------------------------------------------


class _Line(NamedTuple):
    number: int
    text: str


def read_note(content: bytes) -> Note:
    """The memory in a file.

    Raises:
      WrongNote: it is no memory; its line is the place.
    """
    lines = _text_of(content).replace("\r\n", "\n").split("\n")
    front, count = read_front(lines, texts=TEXTS, lists=LISTS)
    numbered = [_Line(number, line) for number, line in enumerate(lines[count:], start=count + 1)]
    start = next((index for index, line in enumerate(numbered) if line.text.strip()), None)
    if start is None or not numbered[start].text.startswith("# "):
        raise WrongNote(count + 1 + (start or 0), "expected # and the title")
    title = _meant(numbered[start].text[2:].strip())
    sections = _sections(numbered[start + 1 :])
    summary = "\n".join(_without_mark(line.text) for line in _trimmed(sections.summary))
    return Note(
        front=front,
        title=title,
        summary=_meant(summary),
        facts=tuple(map(_meant, _facts_in(sections.facts))),
        text=_text_in(_trimmed(sections.text)),
    )


def _text_of(content: bytes) -> str:
    try:
        text = content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise WrongNote(content[: error.start].count(b"\n") + 1, "is no text in UTF-8") from error
    if "\0" in text:
        raise WrongNote(text[: text.index("\0")].count("\n") + 1, "has a zero byte, as no text has")
    return text


class _Sections(NamedTuple):
    summary: Sequence[_Line]
    facts: Sequence[_Line]
    text: Sequence[_Line]


def _sections(lines: Sequence[_Line]) -> _Sections:
    """The lines under the title and under each heading. After the text's heading there are no more headings."""
    first = next((index for index, line in enumerate(lines) if line.text.rstrip() in {_FACTS, _TEXT}), len(lines))
    text = next((index for index in range(first, len(lines)) if lines[index].text.rstrip() == _TEXT), len(lines))
    return _Sections(lines[:first], lines[first + 1 : text], lines[text + 1 :])


def _trimmed(lines: Sequence[_Line]) -> Sequence[_Line]:
    """``lines`` without the blank ones at both ends."""
    said = [index for index, line in enumerate(lines) if line.text.strip()]
    return lines[said[0] : said[-1] + 1] if said else ()


def _without_mark(line: str) -> str:
    return line[1:] if line.startswith("\\") and _HEADING.fullmatch(line) else line


def _facts_in(lines: Sequence[_Line]) -> Iterator[str]:
    fact: list[str] = []
    for line in lines:
        is_item = line.text.startswith(("- ", "* ", "+ ")) or line.text.rstrip() in {"-", "*", "+"}
        if is_item:
            if fact:
                yield "\n".join(fact).strip()
            fact = [line.text[2:]]
        elif not fact and line.text.strip():
            raise WrongNote(line.number, f"expected an item of a list under {_FACTS}")
        elif line.text.startswith("#"):
            raise WrongNote(line.number, f"a memory has no heading after {_FACTS} but {_TEXT}")
        elif fact:
            is_far_in = line.text.startswith("  ")
            fact.append(line.text[2:] if is_far_in else line.text.removeprefix("\t"))
    if fact:
        yield "\n".join(fact).strip()


def _text_in(lines: Sequence[_Line]) -> str:
    if not lines:
        return ""
    opening = _FENCE.fullmatch(lines[0].text.rstrip())
    if opening is None:
        raise WrongNote(lines[0].number, "expected ``` and the text, and ``` after it")
    ends = (index for index, line in enumerate(lines) if index and _closes(line.text, opening[1]))
    end = next(ends, None)
    if end is None:
        raise WrongNote(lines[0].number, f"expected {opening[1][:10]} after the text")
    if end + 1 < len(lines):
        raise WrongNote(lines[end + 1].number, "expected nothing after the text")
    text = "\n".join(line.text for line in lines[1:end])
    return _meant(text) if opening[2].strip() == _WITH_REFERENCES else text


def _closes(line: str, fence: str) -> bool:
    ticks = line.rstrip()
    return len(ticks) >= len(fence) and not ticks.strip("`")


def _meant(text: str) -> str:
    """``text`` with the characters that its references stand for."""

    def sign(found: re.Match[str]) -> str:
        number = int(found[1] or "26", 16)
        return chr(number) if number <= 0x10FFFF else found[0]  # noqa: PLR2004  # the last of Unicode

    return _REFERENCE.sub(sign, text)


def changes(memory: StoredMemory, edited: Note) -> dict[str, Any]:
    """The fields of ``edited`` that differ from the memory, by the names of ``Correction``."""
    said = note_of(memory).said
    changed = {name: value for name, value in edited.said.items() if value != said[name]}
    if _is_said_once(memory) and "summary" in changed and not edited.text:
        changed["text"] = edited.summary
    return changed


def _is_said_once(memory: StoredMemory) -> bool:
    """Whether its text only repeats its summary, as in short captures."""
    return memory.record.text == memory.record.summary
