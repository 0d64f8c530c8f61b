"""Most words are their own only part, and are not taken apart: that changes nothing."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from kiro_learn.retrieval.rendering.fact_choice import words

PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_A-Za-z]+")
TEXTS = st.lists(
    st.one_of(st.text(), st.text("aAbB_1 \u00e9.\u00df\u017f"), st.sampled_from(["pool", "parseHTTP", "user_name"]))
)


@given(TEXTS.map(" ".join))
@example("\u017ftra\u00dfe STRASSE na\u00efve x1")
def test_each_word_is_there_whole_and_in_parts(text: str) -> None:
    whole = re.findall(r"\w+", text)
    parts = [part for word in whole for part in PART.findall(word)]
    assert words(text) == {word.casefold() for word in (*whole, *parts)}
