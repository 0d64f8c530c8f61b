"""A text's vector is the same, to the last bit, with any other texts in the batch."""

from __future__ import annotations

import functools

import numpy as np
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from kiro_learn.adapters.onnx.embedding.model import OnnxEmbeddingModel

texts = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from(["fix", "the", "parser", "tests", "fail", "config"]), max_size=30).map(" ".join),
)


@functools.cache
def model() -> OnnxEmbeddingModel:
    return OnnxEmbeddingModel()


@settings(max_examples=15)  # each example runs the real model a few times
@given(text=texts, before=st.lists(texts, max_size=3), after=st.lists(texts, max_size=3))
def test_embedding_is_batch_free(text: str, before: list[str], after: list[str]) -> None:
    alone = trio.run(model().embed, [text])
    among = trio.run(model().embed, [*before, text, *after])
    assert np.array_equal(among[len(before)], alone[0])


long_texts = st.lists(st.sampled_from(["fix", "the", "parser", "tests", "fail", "config"]), max_size=600).map(" ".join)


@settings(max_examples=10)  # as above
@given(text=long_texts, before=st.lists(texts, max_size=2), after=st.lists(long_texts, max_size=1))
def test_the_parts_of_a_text_are_batch_free(text: str, before: list[str], after: list[str]) -> None:
    """The first part is the text's vector."""
    (alone,) = trio.run(model().embed_parts, [text])
    among = trio.run(model().embed_parts, [*before, text, *after])
    assert np.array_equal(among[len(before)], alone)
    assert np.array_equal(alone[:1], trio.run(model().embed, [text]))
