"""From a prompt to the words that are looked up, and from those to an expression that full-text search takes.

Rules of this file: a term is a piece of the prompt as it was typed, in scripts without spaces a pair of characters. The
index stems it, so how common a term is has to be asked of the index that will be searched.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from kiro_learn.model.wording import in_pairs
from kiro_learn.retrieval.query.stop_words import is_stop_word

MOST_COUNTED = 256
"""Words of a query of which it is asked how common they are: 0.2 ms each at 50,000 records."""

LEAST_IDF = 1e-6
"""What FTS5's bm25 gives a term that is in more than half of the documents."""


def terms(query: str) -> tuple[str, ...]:
    """The distinct words of ``query`` in order of first appearance, without the words that only carry grammar.

    Words are what white space separates, less the punctuation around them; ``Foo`` and ``foo`` are one. A word inside
    double quotes is kept whatever it is, and so is everything where nothing else would be left.
    """
    found: dict[str, tuple[str, bool]] = {}
    for word, is_quoted in _words(query):
        spelling, was_quoted = found.get(word.casefold(), (word, False))
        found[word.casefold()] = (spelling, was_quoted or is_quoted)
    telling = [word for word, is_quoted in found.values() if is_quoted or not is_stop_word(word)]
    return tuple(telling or (word for word, _ in found.values()))


def has_words(query: str) -> bool:
    """Whether ``terms`` finds any."""
    return any(character.isalnum() for character in query)


def _words(query: str) -> Iterator[tuple[str, bool]]:
    parts = query.split('"')
    for index, part in enumerate(parts):
        is_quoted = index % 2 == 1 and index < len(parts) - 1
        for piece in part.split():
            for word in map(_bare, in_pairs(piece).split()):
                if word:
                    yield word, is_quoted


def _bare(piece: str) -> str:
    """``piece`` without the punctuation at either end, of which the index keeps nothing."""
    inside = [index for index, character in enumerate(piece) if character.isalnum()]
    return piece[inside[0] : inside[-1] + 1] if inside else ""


def cap(words: Sequence[str], document_frequency: Callable[[str], int], *, most: int) -> tuple[str, ...]:
    """At most ``most`` of ``words``, in their order: the rarest that the index holds, then those that it does not.

    An unknown word finds nothing, so it yields to any known one, however common. Ties go to the earlier word. Of very
    many words, only the first and the last are looked at: around what was pasted stands what is asked.
    """
    if len(words) <= most:
        return tuple(words)
    if len(words) > max(most, MOST_COUNTED):
        half = max(most, MOST_COUNTED) // 2
        words = (*words[:half], *words[-half:])
    frequencies = [document_frequency(word) for word in words]
    rarest_first = sorted(range(len(words)), key=lambda index: (frequencies[index] == 0, frequencies[index]))
    return tuple(words[index] for index in sorted(rarest_first[:most]))


def match_expression(words: Iterable[str]) -> str:
    """An FTS5 expression that matches what holds any of ``words``, each one taken literally, as a phrase."""
    return " OR ".join('"' + word.replace('"', '""') + '"' for word in words)


def inverse_document_frequency(document_frequency: int, total: int) -> float:
    """ln((N - n + 0.5) / (n + 0.5)), and never below 1e-6: Robertson & Spärck Jones as FTS5's bm25 has it."""
    idf = math.log((total - document_frequency + 0.5) / (document_frequency + 0.5))
    return idf if idf > 0.0 else LEAST_IDF


def ideal_score(document_frequencies: Iterable[int], total: int) -> float:
    """What a document of average length that holds every term once would score; unseen terms count the most."""
    return math.fsum(inverse_document_frequency(frequency, total) for frequency in document_frequencies)
