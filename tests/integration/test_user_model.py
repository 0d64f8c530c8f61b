"""An embedding model of the user's own, from a folder, in a real thread."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import attrs
import numpy as np
import pytest
import trio
from onnx import TensorProto
from tokenizers import Tokenizer

from kiro_learn.adapters.files import Home
from kiro_learn.adapters.onnx.embedding.bundle import FILES
from kiro_learn.adapters.onnx.embedding.model import OnnxEmbeddingModel, UserEmbeddingModel
from kiro_learn.app.daemon import embedding_folder, open_model
from kiro_learn.config import EmbeddingConfig
from kiro_learn.errors import EmbeddingError
from kiro_learn.model.vectors import BUNDLED_MODEL, MOST_DIMENSIONS, Matrix, ModelIdentity, Parts
from tests.integration.tiny_embedding_model import INPUTS, TinyModel

T = TypeVar("T")

TEXT = "why does the cache expire"
CLS, MEAN, MAX = (f"pooling_mode_{name}_token{s}" for name, s in (("cls", ""), ("mean", "s"), ("max", "s")))
PROMPTS = {"query": "query: ", "passage": "passage: "}
WORDS = [f"w{number}" for number in range(600)]


def run(folder: Path, question: Callable[[UserEmbeddingModel], Awaitable[T]]) -> T:
    async def scenario() -> T:
        model = UserEmbeddingModel(folder)
        await model.load()
        return await question(model)

    return trio.run(scenario)


def query(folder: Path, text: str = TEXT) -> Matrix:
    found: Matrix = run(folder, lambda model: model.embed([text]))[0]
    return found


def parts(folder: Path, text: str = TEXT) -> Parts:
    return run(folder, lambda model: model.embed_parts([text]))[0]


def token_ids(text: str) -> list[int]:
    tokenizer = Tokenizer.from_file(str(FILES / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    ids: list[int] = tokenizer.encode(text).ids
    return ids


def unit(vector: Matrix) -> Matrix:
    direction: Matrix = vector / np.linalg.norm(vector)
    return direction


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        (None, lambda states: states.mean(axis=0)),
        (MEAN, lambda states: states.mean(axis=0)),
        ("pooling_mode_mean_sqrt_len_tokens", lambda states: states.mean(axis=0)),
        (CLS, lambda states: states[0]),
        (MAX, lambda states: states.max(axis=0)),
        ("pooling_mode_lasttoken", lambda states: states[-1]),
    ],
)
def test_states_are_pooled_as_the_folder_says(
    tmp_path: Path, pooling: str | None, expected: Callable[[Matrix], Matrix]
) -> None:
    tiny = TinyModel(pooling=pooling)
    found = query(tiny.write(tmp_path))
    np.testing.assert_allclose(found, unit(expected(tiny.states(token_ids(TEXT)))), atol=1e-6)


def test_what_the_graph_has_pooled_is_taken_as_it_is(tmp_path: Path) -> None:
    tiny = TinyModel(output="sentence_embedding", mean_in_graph=True, pooling=CLS, modules=("Transformer", "Dense"))
    found = query(tiny.write(tmp_path))
    np.testing.assert_allclose(found, unit(tiny.states(token_ids(TEXT)).mean(axis=0)), atol=1e-6)


def test_queries_and_stored_texts_have_the_prefixes_of_the_folder(tmp_path: Path) -> None:
    tiny = TinyModel(prompts=PROMPTS)
    folder = tiny.write(tmp_path)
    for prefix, found in (("query: ", query(folder)), ("passage: ", parts(folder)[0])):
        np.testing.assert_allclose(found, unit(tiny.states(token_ids(prefix + TEXT)).mean(axis=0)), atol=1e-6)


def test_a_document_prompt_comes_before_a_passage_prompt(tmp_path: Path) -> None:
    tiny = TinyModel(prompts={"passage": "no ", "document": "yes "})
    found = parts(tiny.write(tmp_path))[0]
    np.testing.assert_allclose(found, unit(tiny.states(token_ids("yes " + TEXT)).mean(axis=0)), atol=1e-6)


def test_a_prefix_is_not_pooled_where_the_folder_says_so(tmp_path: Path) -> None:
    tiny = TinyModel(prompts=PROMPTS, pooling=MEAN, include_prompt=False)
    states = tiny.states(token_ids("query: " + TEXT))
    np.testing.assert_allclose(query(tiny.write(tmp_path)), unit(states[3:].mean(axis=0)), atol=1e-6)


@pytest.mark.parametrize("inputs", [INPUTS, INPUTS[:2], INPUTS[:1]])
@pytest.mark.parametrize("integer", [TensorProto.INT64, TensorProto.INT32])
def test_a_model_may_want_any_of_the_inputs(tmp_path: Path, inputs: tuple[str, ...], integer: int) -> None:
    folder = TinyModel(inputs=inputs, integer=integer).write(tmp_path / "one")
    assert query(folder).tobytes() == query(TinyModel().write(tmp_path / "two")).tobytes()


@pytest.mark.parametrize("name", ["model.onnx", "onnx/model.onnx"])
@pytest.mark.parametrize("output", ["token_embeddings", "last_hidden_state", "whatever"])
def test_the_graph_may_lie_in_either_place_and_name_its_states(tmp_path: Path, name: str, output: str) -> None:
    assert query(TinyModel(graph_name=name, output=output).write(tmp_path)).shape == (48,)


@pytest.mark.parametrize("dimension", [1, 768, MOST_DIMENSIONS])
def test_the_dimension_is_the_model_s(tmp_path: Path, dimension: int) -> None:
    folder = TinyModel(dimension=dimension).write(tmp_path)
    assert parts(folder).shape == (1, dimension)


def test_a_text_of_several_windows_has_a_row_for_each(tmp_path: Path) -> None:
    """Each window begins with the prefix, and with the last tokens of the one before; none is left out."""
    tiny = TinyModel(prompts=PROMPTS, token_limit=100)
    text = " ".join(WORDS[:200])
    tokens = token_ids(text)[1:-1]
    room = 100 - 2 - len(token_ids("passage: ")[1:-1])
    found = parts(tiny.write(tmp_path), text)
    starts = range(0, len(tokens) - 32, room - 32)
    assert len(found) == len(starts) > 2
    prefix, (start_mark, *_, end_mark) = token_ids("passage: ")[1:-1], token_ids("")
    for row, start in zip(found, starts, strict=True):
        ids = [start_mark, *prefix, *tokens[start : start + room], end_mark]
        np.testing.assert_allclose(row, unit(tiny.states(ids).mean(axis=0)), atol=1e-6)


def test_the_bundled_model_in_a_folder_reads_texts_as_the_bundled_one_does(tmp_path: Path) -> None:
    """Sums may differ a little, since ONNX Runtime may rewrite the graph."""
    TinyModel(pooling=MEAN, token_limit=256).write(tmp_path)
    shutil.copy(FILES / "model.onnx", tmp_path / "model.onnx")
    for text in ("", TEXT, " ".join(WORDS)):
        bundled = trio.run(OnnxEmbeddingModel().embed_parts, [text])[0]
        found = parts(tmp_path, text)
        assert found.shape == bundled.shape
        np.testing.assert_allclose(found, bundled, atol=1e-4)


def test_no_more_than_512_tokens_are_read_at_once(tmp_path: Path) -> None:
    folder = TinyModel(token_limit=8_192).write(tmp_path)
    long = " ".join(["the"] * 510)
    assert query(folder, long + " cache").tobytes() == query(folder, long).tobytes()
    assert query(folder, long[4:] + " cache").tobytes() != query(folder, long).tobytes()


def test_a_text_has_the_same_vector_in_whatever_company(tmp_path: Path) -> None:
    folder = TinyModel(prompts=PROMPTS).write(tmp_path)
    texts = ["", TEXT, "word " * 2_000, "a\ud800b"]
    together = run(folder, lambda model: model.embed_parts(texts))
    assert [found.tobytes() for found in together] == [parts(folder, text).tobytes() for text in texts]
    assert all(np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6) for found in together)


async def identity_of(model: UserEmbeddingModel) -> ModelIdentity:
    await trio.lowlevel.checkpoint()
    assert model.identity is not None
    return model.identity


def test_a_model_is_known_by_its_files_not_by_where_they_are(tmp_path: Path) -> None:
    tiny = TinyModel(prompts=PROMPTS)
    first = run(tiny.write(tmp_path / "one"), identity_of)
    assert first == run(tiny.write(tmp_path / "two"), identity_of)
    assert (first.name, first.dimension) == ("one", 48)
    for other in (
        attrs.evolve(tiny, seed=2),
        attrs.evolve(tiny, prompts={"query": "ask: "}),
        attrs.evolve(tiny, pooling=CLS),
        attrs.evolve(tiny, token_limit=100),
    ):
        assert run(other.write(tmp_path / f"{other.seed} {other.pooling} {other.token_limit}"), identity_of) != first


def test_weights_beside_the_graph_are_part_of_the_model(tmp_path: Path) -> None:
    folder = TinyModel().write(tmp_path)
    first = run(folder, identity_of)
    (folder / "model.onnx_data").write_bytes(b"weights")
    assert run(folder, identity_of) != first


def refusal(folder: Path) -> str:
    with pytest.raises(EmbeddingError) as caught:
        run(folder, identity_of)
    return str(caught.value)


@pytest.mark.parametrize(
    ("tiny", "reason"),
    [
        (TinyModel(inputs=("input_ids", "pixels")), "inputs that no text has: pixels"),
        (TinyModel(dimension=MOST_DIMENSIONS + 1), "has 1025 dimensions; at most 1024"),
        (TinyModel(pooling="pooling_mode_weightedmean_tokens"), "wants a pooling other than"),
        (TinyModel(modules=("Transformer", "Pooling", "Dense")), "need a graph with an output sentence_embedding"),
        (TinyModel(token_limit=40), "reads 40 tokens at once, too few"),
        (TinyModel(prompts={"query": 3}), "has a prompt that is no text"),  # type: ignore[dict-item]  # on purpose
    ],
)
def test_a_model_that_cannot_be_used_is_refused_by_name(tmp_path: Path, tiny: TinyModel, reason: str) -> None:
    assert reason in refusal(tiny.write(tmp_path))


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_an_absent_file_is_named(tmp_path: Path, name: str) -> None:
    (TinyModel().write(tmp_path) / name).unlink()
    assert name in refusal(tmp_path)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "modules.json", "config_sentence_transformers.json"])
@pytest.mark.parametrize("content", [b"\xff\xfe nothing of the kind", b"[1]", b'{"a": 1}'])
def test_a_damaged_file_is_our_own_error(tmp_path: Path, name: str, content: bytes) -> None:
    (TinyModel(prompts=PROMPTS).write(tmp_path) / name).write_bytes(content)
    if name.startswith("config") and content.startswith(b"{"):
        run(tmp_path, identity_of)  # the file names no prompt
    else:
        assert refusal(tmp_path)


def test_an_absent_folder_is_named(tmp_path: Path) -> None:
    assert "there is no folder" in refusal(tmp_path / "none")


def test_a_model_whose_vectors_have_no_direction_is_refused(tmp_path: Path) -> None:
    class Zero(TinyModel):
        def _table(self) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
            return np.zeros((30_522, self.dimension), np.float32)

    assert "a vector of no direction" in refusal(Zero().write(tmp_path))


def test_a_relative_folder_lies_in_the_home_and_none_is_the_bundled_model(tmp_path: Path) -> None:
    TinyModel().write(tmp_path / "models" / "tiny")
    for folder in ("models/tiny", str(tmp_path / "models/tiny")):
        model = open_model(embedding_folder(Home(tmp_path), EmbeddingConfig(model=folder)))
        trio.run(model.load)
        assert model.name == "tiny"
    bundled = open_model(embedding_folder(Home(tmp_path), EmbeddingConfig()))
    assert (bundled.identity, bundled.folder) == (BUNDLED_MODEL, None)
