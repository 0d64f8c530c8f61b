"""Secrets in text: found by their shape, or by the name in front of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kiro_learn.privacy.assignments import ASSIGNMENTS
from kiro_learn.privacy.credential_files import CREDENTIAL_FILES
from kiro_learn.privacy.kind import Form, Kind, folded
from kiro_learn.privacy.prefixes import PREFIXES
from kiro_learn.privacy.shapes import SHAPES

KINDS: tuple[Kind, ...] = (*PREFIXES, *SHAPES, *CREDENTIAL_FILES, *ASSIGNMENTS)
"""In the order of search: shapes before names, since a shape says more precisely what a token is."""

_RAREST_FIRST = "~=_qzjx92:-ykwg.vbpfmcu/dhlrsnioate "
"""Characters by how seldom they are in what agents read and write: prose, code, and the output of programs."""


def _triggers_of(form: Form) -> frozenset[str]:
    return frozenset(trigger for kind in KINDS if kind.form is form for trigger in kind.triggers)


def _by_rarest_character(triggers: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """A text without the character has none of its triggers; to look for one character is thirty times as fast."""
    grouped: dict[str, list[str]] = {}
    for trigger in sorted(triggers):
        grouped.setdefault(min(trigger, key=_RAREST_FIRST.find), []).append(trigger)
    return grouped


TRIGGERS = frozenset(trigger for kind in KINDS for trigger in kind.triggers)
_NUMBERS = {each: [number for number, kind in enumerate(KINDS) if each in kind.triggers] for each in TRIGGERS}
"""By trigger, the places of its kinds in ``KINDS``."""
_TRIGGERS_OF_ANY_FORM = _by_rarest_character(_triggers_of(Form.ANY))
_PREFIXES = tuple(sorted(_triggers_of(Form.PREFIXED)))

_LETTERS_AND_DIGITS = b"abcdefghijklmnopqrstuvwxyz0123456789"


def _classes(**members: bytes) -> bytes:
    """A table for ``bytes.translate``: each of ``members`` becomes the letter that it is named by, all else a space."""
    letters = {member: ord(letter) for letter, listed in members.items() for member in listed}
    return bytes(letters.get(byte, ord(" ")) for byte in range(256))


_RUNS = (
    (_classes(a=_LETTERS_AND_DIGITS + b"_-"), b"a" * 20, _by_rarest_character(_triggers_of(Form.LONG_RUN))),
    (_classes(a=b"0123456789abcdef"), b"a" * 32, _by_rarest_character(_triggers_of(Form.HEXADECIMAL_RUN))),
)
"""Which characters a run is of, how long it is, and the triggers to look for where there is one."""
_BEFORE_A_RUN = 48
"""Characters before a run in which its trigger may begin."""
_JOINTS = _classes(a=_LETTERS_AND_DIGITS, j=b"_-.")
_PREFIX_END = b"j" + b"a" * 16


def redact_secrets(text: str) -> str:
    """``text`` with every secret replaced by ``[REDACTED:kind]``; the name in front of it stays readable."""
    return redact_kinds(text, kinds_that_may_be_in(text))


def kinds_that_may_be_in(text: str) -> tuple[Kind, ...]:
    lowered = folded(text)
    characters = lowered.encode("ascii", "replace")
    present = {*_found(_TRIGGERS_OF_ANY_FORM, lowered), *_prefixes_in(lowered, characters.translate(_JOINTS))}
    for classes, run, triggers in _RUNS:
        if near := _near_runs(lowered, characters.translate(classes), run):
            present.update(_found(triggers, near))
    return tuple(KINDS[number] for number in sorted({number for each in present for number in _NUMBERS[each]}))


def _found(triggers_by_character: Mapping[str, Sequence[str]], lowered: str) -> Iterator[str]:
    for character, triggers in triggers_by_character.items():
        if character in lowered:
            for trigger in triggers:
                if trigger in lowered:
                    yield trigger


def _near_runs(lowered: str, classes: bytes, run: bytes) -> str:
    """What stands in such runs and shortly before them; all of the text if that is a good part of it."""
    pieces: list[str] = []
    size = 0
    start = classes.find(run)
    while start >= 0 and size * 4 <= len(lowered):
        end = classes.find(b" ", start + len(run))
        piece = lowered[max(0, start - _BEFORE_A_RUN) : end if end >= 0 else None]
        pieces.append(piece)
        size += len(piece)
        start = classes.find(run, end) if end >= 0 else -1
    return " ".join(pieces) if start < 0 else lowered


def _prefixes_in(lowered: str, classes: bytes) -> Iterator[str]:
    """Those with 16 letters or digits behind them: one search, however many prefixes there are."""
    missing = _PREFIXES
    joint = classes.find(_PREFIX_END)
    while joint >= 0:
        if lowered.endswith(missing, 0, joint + 1):
            yield from (prefix for prefix in missing if lowered.endswith(prefix, 0, joint + 1))
            missing = tuple(prefix for prefix in missing if not lowered.endswith(prefix, 0, joint + 1))
        joint = classes.find(_PREFIX_END, joint + len(_PREFIX_END))


def redact_kinds(text: str, kinds: tuple[Kind, ...]) -> str:
    for kind in kinds:
        text = kind.redact(text)
    return text
