"""Where a name may begin and end inside a piece of text that has no space in it.

Rules of this file: a piece is split where a sign joins two words (``Kira/Otto``), where the script changes
(``Kiraを``), and in scripts without spaces between any two characters, since they do not show where a word ends. What
does show it is kept together: a run of katakana is a word, as a run of Latin letters is; a run of Hangul begins a word
and ends in particles; a vowel sign or a tone mark of Thai, Lao, Khmer or Burmese stays with its consonant.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

import attrs

LONGEST_RUN = 12
"""Parts of a name that is found inside a piece; signs between them count too."""
LEAST_HIRAGANA = 3
"""Letters of a name in hiragana inside a run: shorter ones are mostly endings and particles."""
LEAST_OF_AN_ALPHABET = 4
"""Letters and marks of a Thai, Lao, Khmer or Burmese name inside a run: three are a syllable of many words."""
LEAST = 2
"""Characters of any other part that is a name."""

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HANGUL = "\uac00-\ud7a3"
_OTHERS = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1780-\u17d3\u17dd"
_THAI = "[\u0e40-\u0e44]?[\u0e01-\u0e2f][\u0e30-\u0e3a\u0e45\u0e47-\u0e4e]*"
_LAO = "[\u0ec0-\u0ec4]?[\u0e81-\u0eae\u0edc-\u0edf][\u0eb0-\u0ebd\u0ec8-\u0ecd]*"
_KHMER = "[\u1780-\u17b3](?:\u17d2[\u1780-\u17b3]|[\u17b4-\u17d1\u17d3\u17dd])*"
_BURMESE = (
    "[\u1000-\u102a\u103f](?:\u1039[\u1000-\u1021]|[\u102b-\u1038\u103a-\u103e]|[\u1000-\u1021](?=[\u1037]?\u103a))*"
)
_JOINTS = (
    "/&|,;\u2013\u2014\u2026\u2192\u3001-\u3003\u3008-\u3011\u3014-\u301f\u30fb\uff01-\uff0f\uff1a-\uff20\uff5b-\uff65"
)
_PLUS = r"(?<=[^\W_])\+(?=[^\W_])"
"""One that joins; those of ``C++`` do not."""
_PART = re.compile(
    f"(?P<han>[{_HAN}])|(?P<hiragana>[{_HIRAGANA}])|(?P<katakana>[{_KATAKANA}]+)|(?P<hangul>[{_HANGUL}]+)"
    f"|(?P<syllable>{_THAI}|{_LAO}|{_KHMER}|{_BURMESE})|(?P<sign>[{_JOINTS}]|{_PLUS}|[{_OTHERS}])"
    rf"|(?P<word>(?:[^+{_HAN}{_HIRAGANA}{_KATAKANA}{_HANGUL}{_OTHERS}{_JOINTS}]|(?!{_PLUS})\+)+)"
)
_PARTICLES = """
    은 는 이 가 을 를 의 에 에서 에게 에게서 한테 께 께서 와 과 랑 이랑 하고 로 으로 로서 으로서 로써 으로써
    도 만 까지 부터 처럼 보다 마다 조차 밖에 라도 이라도 나 이나 라고 이라고 란 이란 대로 만큼
    이다 입니다 야 이야 요 이에요 예요 님 씨
"""
_ENDING = re.compile(f"(?:{'|'.join(_PARTICLES.split())}){{1,2}}")
"""Korean particles behind a name; two at most, as in ``에서는``."""
_LONGEST_ENDING = 4
POSSESSIVE = re.compile(r"'s$|s'$")
WORDS = frozenset({"word", "katakana", "hangul"})
"""Kinds of parts that are words by themselves."""
_IS_HANGUL = re.compile(f"[{_HANGUL}]")
_OPENING = "([{<\"'`*\N{LEFT DOUBLE QUOTATION MARK}"
_CLOSING = ")]}>\"'`*.:!?\N{RIGHT DOUBLE QUOTATION MARK}"
_NO_NAME = frozenset({"/"})
"""Nothing is called so, and what stands beside it is therefore no name."""


@attrs.frozen
class NamePart:
    """A word, a character or a sign of a piece."""

    kind: str
    """A group of ``_PART``."""
    start: int
    ends: tuple[int, ...]
    """The last one first; before a possessive or a particle a name may end earlier. Of a sign there is none."""
    beside: frozenset[str] = frozenset()
    """In small letters, what else has to be a name for this one to be more than a step of a path."""


def core(piece: str) -> tuple[int, int]:
    """Where ``piece`` begins and ends without the signs around it, in time that grows with its length.

    ``_``, ``+`` and ``#`` are letters here, and so is a mark that belongs to one, as a vowel sign.
    """
    kept = [place for place, character in enumerate(piece) if character.isalnum() or _is_letter(character)]
    return (kept[0], kept[-1] + 1) if kept else (0, 0)


def _is_letter(character: str) -> bool:
    if character.isascii():
        return character in "_+#"
    return unicodedata.category(character) in {"Mn", "Mc"} and not "\ufe00" <= character <= "\ufe0f"


def ends_of_name(text: str) -> tuple[int, ...]:
    """Where a name at the beginning of ``text`` may end, the last one first: before a possessive or particles too."""
    possessive = POSSESSIVE.search(text[-2:])
    if possessive is not None:
        return (len(text), len(text) - len(possessive.group()))
    most = min(_LONGEST_ENDING, len(text) - LEAST) if _IS_HANGUL.match(text[-1:]) else 0
    return (len(text), *(len(text) - count for count in range(1, most + 1) if _ENDING.fullmatch(text[-count:])))


def parts_of(piece: str, *, most: int) -> list[NamePart]:
    """The parts of ``piece`` in their order, with the signs between them; of more than ``most`` those at its ends."""
    matches = list(_PART.finditer(piece))
    if len(matches) > most:
        matches = [*matches[: most // 2], *matches[-(most // 2) :]]
    texts = [(match.lastgroup or "sign", match.group(), match.start()) for match in matches]
    found = [_part(kind, text, start) for kind, text, start in texts]
    is_url = "://" in piece
    begin = 0
    for is_path, group in groupby(texts, key=lambda each: each[0] == "word" or each[1] == "/"):
        steps = [text for _, text, _ in group]
        end = begin + len(steps)
        if is_path and (is_url or "/" in steps):
            around = (begin > 0 and bool(found[begin - 1].ends), end < len(found) and bool(found[end].ends))
            beside = _NO_NAME if is_url else _beside(steps, goes_on=around)
            found[begin:end] = [attrs.evolve(each, beside=beside) for each in found[begin:end]]
        begin = end
    return found


def _part(kind: str, text: str, start: int) -> NamePart:
    begin, end = core(text) if kind == "word" else (0, len(text))
    if kind == "sign" or begin == end:
        return NamePart("sign", start, ())
    ends = ends_of_name(text[begin:end]) if kind in {"word", "hangul"} else (end - begin,)
    return NamePart(kind, start + begin, tuple(start + begin + each for each in ends))


def _beside(steps: Sequence[str], *, goes_on: tuple[bool, bool]) -> frozenset[str]:
    """What of ``Kira/Otto`` or ``src/app`` does not look like a name: no capital letter, or signs in it."""
    words = [step.lstrip(_OPENING).rstrip(_CLOSING) for step in steps if step != "/"]
    is_cut = (steps[0] == "/" and not goes_on[0]) or (steps[-1] == "/" and not goes_on[1])
    if is_cut or any(one == "/" == other for one, other in pairwise(steps)):
        return _NO_NAME
    names = [word[: ends_of_name(word)[-1]] for word in words]
    return frozenset(name.casefold() for name in names if not (name[:1].isupper() and name.isalnum()))


def runs_of(parts: Sequence[NamePart]) -> Iterator[tuple[int, int, int, frozenset[str]]]:
    """Where names may stand among ``parts``: beginning, end, which part begins it, and what has to be known beside it.

    Shorter runs first, at most ``LONGEST_RUN`` parts each, so their number grows with that of the parts.
    """
    for count in range(1, LONGEST_RUN + 1):
        for index in range(len(parts) - count + 1):
            run = parts[index : index + count]
            if run[0].ends and run[-1].ends:
                beside = frozenset().union(*(part.beside for part in run))
                for end in run[-1].ends:
                    if _is_long_enough(run, end - run[0].start):
                        yield run[0].start, end, index, beside


def _is_long_enough(run: Sequence[NamePart], length: int) -> bool:
    kinds = {part.kind for part in run}
    if kinds == {"syllable"}:
        return length >= LEAST_OF_AN_ALPHABET
    return length >= (LEAST_HIRAGANA if kinds == {"hiragana"} else LEAST)
