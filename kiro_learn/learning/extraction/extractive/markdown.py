"""An answer's Markdown as blocks in nearly its own words. Enough syntax is read to tell a heading from its text."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator

import attrs

_SAYS = re.compile(r"\w")
"""A letter or a number: a line without one is a rule, a bracket or a picture."""
_FENCE = re.compile(r"\s*(```|~~~)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(\S.*)$")
_BOLD_LINE = re.compile(r"\s*+\*\*([^*]++)\*\*\s*+(?::\s*+)?$")
_BULLET = re.compile(r"\s*(?:([-*+\u2022])|(\d{1,3}[.)]))\s+(.*)$")
_RULE = re.compile(r"\s*(?:[-*_=\u2500\u2501\u2550]\s*){3,}$")
_TABLE_RULE = re.compile(r"[\s|:-]+$")
_DRAWING = re.compile(r"[\u2500-\u257f]")
_BOLD = re.compile(r"\*\*(?=\S)(.{1,400}?)(?<=\S)\*\*")
_ITALIC = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,400}?)(?<=\S)\*(?![\w*])")
_STYLED = re.compile(
    r"(`[^`\n]*`)|(?:</|(?<!\w)<)(?:b|center|em|i|kbd|small|strong|sub|sup|u)(?: [^<>\n]{0,200})?/?>"
    r"|<br(?: [^<>\n]{0,200})?/?>",
    re.IGNORECASE,
)
"""Code, which stays, and a tag that only says how a text looks. Behind a word, "<b>" is a type: `List<b>`."""
_LINK = re.compile(r"!?\[([^\]\n]{0,300}+)\]\(([^)\s]{1,500}+)(?: [^)\n]{0,200}+)?\)")


class BlockKind(enum.Enum):
    """The kinds of block that extraction tells apart."""

    HEADING = enum.auto()
    TEXT = enum.auto()
    BULLET = enum.auto()
    ROW = enum.auto()
    CODE = enum.auto()


@attrs.frozen
class Block:
    """A paragraph, a heading, a list item, a table row, or one line of code; ``text`` has no line ends."""

    kind: BlockKind
    text: str
    marker: str = ""
    """``-`` or a number, before a list item."""
    heading: str = ""
    """The heading above the block, or empty."""

    @property
    def line(self) -> str:
        """The block as it is shown."""
        if self.kind is BlockKind.HEADING:
            return self.text if self.text.endswith((":", "?", "!", ".")) else f"{self.text}:"
        return f"{self.marker} {self.text}" if self.marker else self.text


def blocks_of(text: str) -> list[Block]:
    """The blocks of ``text``, in order, without fences, rules and emphasis. Words and code stay as they were."""
    blocks: list[Block] = []
    heading, may_join = "", False
    for block in _lines(text):
        if block is None:
            may_join = False
        elif may_join and block.kind is BlockKind.TEXT:
            blocks[-1] = attrs.evolve(blocks[-1], text=f"{blocks[-1].text} {block.text}")
        else:
            heading = block.text.rstrip(":") if block.kind is BlockKind.HEADING else heading
            blocks.append(attrs.evolve(block, heading=heading))
            may_join = block.kind in {BlockKind.TEXT, BlockKind.BULLET}
    return blocks


def _lines(text: str) -> Iterator[Block | None]:
    """One block for each line; None where a paragraph ends."""
    in_code = False
    for line in text.splitlines():
        if _FENCE.match(line):
            in_code = not in_code
            yield None
        elif in_code:
            yield _code(line)
        else:
            yield _block(line)


def _code(line: str) -> Block | None:
    return Block(BlockKind.CODE, " ".join(line.split())) if _SAYS.search(line) else None


def _block(line: str) -> Block | None:
    if not _SAYS.search(line) or _RULE.match(line):
        return None
    if found := _HEADING.match(line) or _BOLD_LINE.match(line):
        return Block(BlockKind.HEADING, plain(found.group(1).rstrip("# ")))
    if found := _BULLET.match(line):
        return Block(BlockKind.BULLET, plain(found.group(3)), marker=found.group(2) or "-")
    if line.lstrip().startswith("|"):
        return _row(line)
    if _DRAWING.search(line):
        return _code(line)
    return Block(BlockKind.TEXT, plain(line.strip().removeprefix(">")))


def _row(line: str) -> Block | None:
    if _TABLE_RULE.match(line):
        return None
    cells = (plain(cell) for cell in line.strip().strip("|").split("|"))
    return Block(BlockKind.ROW, " | ".join(cells))


def plain(text: str) -> str:
    """``text`` on one line without emphasis. Code spans keep their backticks, and links their target."""
    if "*" in text:
        text = _ITALIC.sub(r"\1", _BOLD.sub(r"\1", text))
    if "](" in text:
        text = _LINK.sub(_link_text, text)
    if "<" in text:
        text = _STYLED.sub(lambda found: found[1] or " ", text)
    return " ".join(text.split())


def _link_text(link: re.Match[str]) -> str:
    label, target = link.groups()
    return label if target.startswith("#") or target == label else f"{label} ({target})".strip()
