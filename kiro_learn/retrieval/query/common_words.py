"""The words that texts have in common: their postings take longest to read, and most prompts have some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kiro_learn.retrieval.query.stop_words import is_stop_word
from kiro_learn.retrieval.rendering.word_runs import word_runs


def common_words(texts: Iterable[str], *, least: int, most: int) -> tuple[str, ...]:
    """The words that stand in ``least`` of ``texts`` or more, commonest first, ``most`` of them.

    Parts of identifiers are words here, as they are in the index.
    """
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update([*dict.fromkeys(word_runs(text.casefold().replace("_", " ")))])
    telling = (word for word, count in counts.most_common() if count >= least and not is_stop_word(word))
    return tuple(word for word, _ in zip(telling, range(most), strict=False))
