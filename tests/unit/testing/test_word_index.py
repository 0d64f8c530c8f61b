"""The stand-in's words beside FTS5's."""

from __future__ import annotations

import apsw
import pytest

from kiro_learn.testing.word_index import occurrences, tokens

TEXTS = [
    "Migrating users to uuid",
    "src/app.py foo_bar foo.bar(x)",
    "Café RÉSUMÉ naïve",
    "running runs ran runner a is be 3.12 v2",
    "relational conditional rationalize happiness adjustable",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_has_the_tokens_that_fts5_gives_it(text: str) -> None:
    tokenizer = apsw.Connection("").fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
    given = tokenizer(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)
    assert list(tokens(text)) == list(given)


def test_a_phrase_stands_where_its_words_follow_each_other_within_a_column() -> None:
    document = (tokens("foo bar foo bar"), tokens("bar foo"))
    assert occurrences(tokens("foo.bar"), document) == 2
    assert occurrences(tokens("foo"), document) == 3
    assert occurrences((), document) == 0
