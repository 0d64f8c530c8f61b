from __future__ import annotations

from kiro_learn.retrieval.query.question import common_words


def test_the_words_of_most_texts_come_first() -> None:
    texts = ["Parser, lexer and token", "the parser drops a token", "parser_error = 3", "nothing of that"]
    assert common_words(texts, least=2, most=10) == ("parser", "token")


def test_a_text_counts_once_however_often_it_says_a_word() -> None:
    assert common_words(["again again again", "once"], least=2, most=10) == ()


def test_of_very_many_the_commonest_are_named() -> None:
    texts = ["red", "red green", "red green blue"]
    assert common_words(texts, least=1, most=2) == ("red", "green")


def test_words_that_only_carry_grammar_are_never_looked_up() -> None:
    assert common_words(["this is the", "this is the"], least=2, most=10) == ()


def test_a_part_of_an_identifier_is_a_word() -> None:
    assert common_words(["parser_error = 3", "an error"], least=2, most=10) == ("error",)
