"""The name at the beginning of a phrase: what a sentence says something of."""

from __future__ import annotations

from kiro_learn.learning.graph.gazetteer import known_at_start

MOST_WORDS_OF_A_NAME = 3

_END_OF_NAME_WORDS = """
    last next recently yesterday ago earlier
    for to as in on with because but so since instead rather by from at when where which that who while
    not anymore any now here there then than also too if via per under over only after before during
    right yet again today this these completely entirely altogether
"""
END_OF_NAME = frozenset(_END_OF_NAME_WORDS.split())
"""What stands behind a name."""
_NO_NAME_WORDS = """
    it this that these those them one ones something anything everything nothing the a an our my your
    their its same other another some any more most all both each every which what how new old different
    multiple several many
"""
NO_NAME = frozenset(_NO_NAME_WORDS.split())
"""What no name begins with."""
_ARTICLES = ("the ", "a ", "an ", "our ", "my ")


def name_in(phrase: str, *, is_name: bool = False, is_free: bool = False) -> str | None:
    """The name at the beginning of ``phrase``; None: it begins with none.

    Args:
      is_name: a capital letter makes a name, known or not.
      is_free: any words will do.
    """
    words = words_of_name(phrase)
    is_named = is_name and bool(words) and words[0][0].isupper()  # New York is one, a new town is none
    if not words or (words[0].lower() in NO_NAME and not is_named):
        return None
    if is_free:
        return " ".join(words[:4])
    known = known_at_start(words)
    if known is not None:
        return known
    is_capital = all(word[0].isupper() for word in words) and len(words) <= MOST_WORDS_OF_A_NAME
    return " ".join(words) if is_name and is_capital else None


def words_of_name(phrase: str) -> list[str]:
    """Those at the beginning of ``phrase`` that may be one, without an article."""
    text = phrase.strip(" .!,;:\"'`")
    for article in _ARTICLES:
        text = text[len(article) :] if text.lower().startswith(article) else text
    words: list[str] = []
    for word in text.split():
        bare = word.strip(".,;:!\"'`()")
        if bare.lower() in END_OF_NAME or not bare:
            break
        words.append(bare)
        if word[-1] in ".,;:!":
            break
    return words
