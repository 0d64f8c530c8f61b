"""Texts that were made by insertions alone: where each stands is all that is needed to take them out again."""

from __future__ import annotations

from collections.abc import Sequence

import attrs


@attrs.frozen
class Insertion:
    """``length`` characters that were put in; they begin at ``offset`` of the text that came of all insertions."""

    offset: int
    length: int


@attrs.frozen
class Edited:
    """A text, and the insertions that made it of another."""

    text: str
    insertions: tuple[Insertion, ...] = ()

    def with_text_at(self, offset: int, piece: str) -> Edited:
        """The same with ``piece`` before the character ``offset``."""
        text = self.text[:offset] + piece + self.text[offset:]
        moved = [_made_room(each, offset, len(piece)) for each in self.insertions]
        if not any(each.offset < offset < each.offset + each.length for each in self.insertions):
            moved.append(Insertion(offset, len(piece)))
        return Edited(text, tuple(sorted(moved, key=lambda each: each.offset)))


def _made_room(each: Insertion, offset: int, length: int) -> Insertion:
    """``each`` after an insertion at ``offset``: moved, or longer where that is inside of it."""
    if offset <= each.offset:
        return Insertion(each.offset + length, each.length)
    if offset < each.offset + each.length:
        return Insertion(each.offset, each.length + length)
    return each


def without(text: str, insertions: Sequence[Insertion]) -> str:
    """``text`` as it was before ``insertions``."""
    for each in sorted(insertions, key=lambda each: each.offset, reverse=True):
        text = text[: each.offset] + text[each.offset + each.length :]
    return text
