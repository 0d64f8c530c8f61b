"""Edits of a text that can be undone: where each of our pieces is, its text, and the text that it replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

_TAKEN = "\0"
"""Stands for a character of a piece that was found."""
_UNMISTAKABLE = 12
"""The least characters of a piece that is searched for by itself. A shorter one, such as a comma, is found by its
distance from such a piece."""


@attrs.frozen
class Insertion:
    """``length`` characters that were put in, from ``offset`` on in the text after all insertions."""

    offset: int
    length: int
    text: str = ""
    """The characters; empty in a manifest that notes only their place."""
    instead_of: str = ""
    """The text that they replaced."""

    @property
    def end(self) -> int:
        return self.offset + self.length


@attrs.frozen
class Edited:
    """A text, and the insertions that made it from another text; no two of them touch."""

    text: str
    insertions: tuple[Insertion, ...] = ()

    def with_text_at(self, offset: int, piece: str) -> Edited:
        """The same with ``piece`` before the character ``offset``."""
        return self.with_replaced(offset, offset, piece)

    def with_replaced(self, start: int, end: int, piece: str) -> Edited:
        """The same with ``piece`` in place of ``text[start:end]``."""
        touched = [each for each in self.insertions if each.offset <= end and each.end >= start]
        first = min([start, *(each.offset for each in touched)])
        last = max([end, *(each.end for each in touched)])
        before = without(self.text[first:last], [_moved(each, -first) for each in touched])
        text = self.text[:start] + piece + self.text[end:]
        grown = len(text) - len(self.text)
        ours = Insertion(first, last + grown - first, text[first : last + grown], before)
        others = [
            each if each.offset < start else _moved(each, grown) for each in self.insertions if each not in touched
        ]
        return Edited(text, tuple(sorted([*others, ours], key=lambda each: each.offset)))


def _moved(each: Insertion, by: int) -> Insertion:
    return attrs.evolve(each, offset=each.offset + by)


def without(text: str, insertions: Sequence[Insertion]) -> str:
    """``text`` as it was before ``insertions``."""
    for each in sorted(insertions, key=lambda each: each.offset, reverse=True):
        text = text[: each.offset] + each.instead_of + text[each.end :]
    return text


def found_again(text: str, insertions: Sequence[Insertion]) -> tuple[Insertion, ...]:
    """``insertions`` at their places in ``text``, which was changed around them; empty if one of them was changed."""
    by_itself: dict[Insertion, int] = {}
    left = text
    # The longest first, since a hook that is alone under one name may also occur among the hooks of several names.
    for each in sorted(insertions, key=lambda each: each.length, reverse=True):
        if len(each.text) >= _UNMISTAKABLE:
            if left.count(each.text) != 1:
                return ()
            place = left.find(each.text)
            by_itself[each] = place - each.offset
            left = left[:place] + _TAKEN * len(each.text) + left[place + len(each.text) :]
    found: list[Insertion] = []
    for place, each in enumerate(insertions):
        moves = [by_itself[each]] if each in by_itself else _moves_beside(place, insertions, by_itself)
        moved = next((_moved(each, by) for by in moves if text.startswith(each.text, each.offset + by)), None)
        if moved is None or not each.text or (found and moved.offset < found[-1].end):
            return ()
        found.append(moved)
    return tuple(found)


def _moves_beside(place: int, insertions: Sequence[Insertion], known: dict[Insertion, int]) -> Iterator[int]:
    """How far the next known piece was moved, and then the last known piece before."""
    for beside in (insertions[place:], insertions[:place][::-1]):
        yield from [known[each] for each in beside if each in known][:1]
