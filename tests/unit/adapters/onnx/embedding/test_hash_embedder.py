from __future__ import annotations

import numpy as np
import pytest
import trio

from kiro_learn.errors import EmbeddingError
from kiro_learn.model.vectors import DIMENSION, Matrix
from kiro_learn.testing.models import OVERLAP_WORDS, WINDOW_WORDS, HashEmbedder, further_windows, hashed_words
from kiro_learn.testing.simulation import simulate


def test_texts_that_share_words_are_closer() -> None:
    query = hashed_words("why does the parser fail")
    assert query @ hashed_words("The parser does fail!") > 0.5 > query @ hashed_words("buy milk")


@pytest.mark.parametrize("text", ["", "...", "one", "a\ud800b"])
def test_every_text_has_a_vector_of_unit_length(text: str) -> None:
    np.testing.assert_allclose(np.linalg.norm(hashed_words(text)), 1, rtol=1e-6)


def test_no_texts_make_no_rows() -> None:
    async def scenario() -> Matrix:
        return await HashEmbedder().embed([])

    assert simulate(scenario).shape == (0, DIMENSION)


def test_a_long_text_has_a_row_for_each_further_window() -> None:
    words = [f"w{number}" for number in range(2 * WINDOW_WORDS)]
    texts = ["short", " ".join(words[:WINDOW_WORDS]), " ".join(words)]

    async def scenario() -> tuple[Matrix, list[Matrix]]:
        return await HashEmbedder().embed(texts), await HashEmbedder().embed_parts(texts)

    wholes, parts = simulate(scenario)
    assert [len(each) for each in parts] == [1, 1, 3]
    assert np.array_equal(np.stack([each[0] for each in parts]), wholes)
    assert further_windows(texts[2])[0].split()[:OVERLAP_WORDS] == words[WINDOW_WORDS - OVERLAP_WORDS : WINDOW_WORDS]
    assert further_windows(texts[2])[-1].split()[-1] == words[-1]


def test_it_fails_once_when_told_to() -> None:
    async def scenario() -> Matrix:
        embedder = HashEmbedder()
        embedder.fail_next = EmbeddingError("told to")
        with pytest.raises(EmbeddingError, match="told to"):
            await embedder.embed(["a"])
        return await embedder.embed(["a"])

    assert simulate(scenario).shape == (1, DIMENSION)


def test_a_closed_gate_holds_every_call() -> None:
    async def scenario() -> bool:
        embedder = HashEmbedder()
        embedder.gate = trio.Event()
        with trio.move_on_after(1) as scope:
            await embedder.embed(["a"])
        embedder.gate.set()
        await embedder.embed(["a"])
        return scope.cancelled_caught

    assert simulate(scenario)
