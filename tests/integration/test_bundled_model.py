"""The model that ships, in real threads."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import trio

from kiro_learn.adapters.onnx.embedding import model as adapter
from kiro_learn.adapters.onnx.embedding.bundle import FILES, MODEL
from kiro_learn.adapters.onnx.embedding.encoder import Encoder, open_encoder
from kiro_learn.adapters.onnx.embedding.model import OnnxEmbeddingModel
from kiro_learn.errors import EmbeddingError, ModelMissing
from kiro_learn.model.vectors import DIMENSION, Matrix

MIXED = [
    "",
    "fix",
    "the parser drops the last token",
    "word " * 500,
    "naïve 漢字 🙂",
    "a\ud800b",
    "def f(x): return x" * 8,
]


@pytest.fixture(scope="module")
def model() -> OnnxEmbeddingModel:
    return OnnxEmbeddingModel()


def embed(model: OnnxEmbeddingModel, texts: Sequence[str]) -> Matrix:
    return trio.run(model.embed, texts)


@pytest.mark.parametrize("module", ["kiro_learn.adapters.onnx.embedding.model", "kiro_learn.app.daemon"])
def test_importing_the_adapter_does_not_import_its_libraries(module: str) -> None:
    """The daemon answers before they are loaded: only ``load`` may import them."""
    libraries = "{'onnxruntime', 'tokenizers'}"
    program = f"import sys, {module}; print(*sorted({libraries} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


def test_sentences_are_ordered_by_what_they_mean(model: OnnxEmbeddingModel) -> None:
    query, near, same_words, far = embed(
        model,
        [
            "how do we store passwords?",
            "credentials are hashed with argon2 before they are saved",
            "how do we store apples?",
            "the release train leaves on Thursdays",
        ],
    )
    assert query @ near > query @ far
    assert query @ same_words > query @ far


def test_a_pair_that_float32_scores_keeps_its_score(model: OnnxEmbeddingModel) -> None:
    """0.558, 0.116 and 0.017 are the scores of the same graph with the published float32 weights."""
    a, b, c, d = embed(
        model,
        [
            "The cat sits on the mat.",
            "A feline rests on a rug.",
            "Rotate the API key every ninety days.",
            "We deploy with blue-green switches.",
        ],
    )
    np.testing.assert_allclose([a @ b, c @ d, a @ c], [0.558, 0.116, 0.017], atol=0.02)


def test_each_row_is_a_unit_vector(model: OnnxEmbeddingModel) -> None:
    vectors = embed(model, MIXED)
    assert vectors.shape == (len(MIXED), DIMENSION)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)


def test_no_texts_make_no_rows(model: OnnxEmbeddingModel) -> None:
    assert embed(model, []).shape == (0, DIMENSION)


def test_only_the_first_256_tokens_count(model: OnnxEmbeddingModel) -> None:
    kept, longer, shorter = embed(model, ["word " * 254, "word " * 254 + "other end", "word " * 253])
    assert np.array_equal(kept, longer)
    assert not np.array_equal(kept, shorter)


def test_a_text_has_a_row_of_its_own_and_one_for_each_further_window(model: OnnxEmbeddingModel) -> None:
    texts = ["short", "word " * 254, "word " * 254 + "other end", "the cache " * 300]
    found = trio.run(model.embed_parts, texts)
    assert [parts.shape for parts in found] == [(1, DIMENSION), (1, DIMENSION), (2, DIMENSION), (3, DIMENSION)]
    assert np.array_equal(np.stack([parts[0] for parts in found]), embed(model, texts))
    assert all(parts.dtype == np.float32 for parts in found)
    np.testing.assert_allclose(np.linalg.norm(np.concatenate(found), axis=1), 1, rtol=1e-6)


def test_a_window_says_what_only_the_end_of_a_text_says(model: OnnxEmbeddingModel) -> None:
    (query,) = embed(model, ["how are passwords stored?"])
    text = (
        "The release train leaves on Thursdays, after lunch. " * 40 + "Passwords are stored hashed with argon2. " * 10
    )
    (parts,) = trio.run(model.embed_parts, [text])
    assert (parts[1:] @ query).max() > 0.4 > parts[0] @ query


def test_overlapping_calls_give_what_each_would_give_alone(model: OnnxEmbeddingModel) -> None:
    rows: dict[str, Matrix] = {}

    async def embed_one(text: str) -> None:
        rows[text] = await model.embed([text])

    async def embed_all_at_once() -> None:
        async with trio.open_nursery() as nursery:
            for text in MIXED:
                nursery.start_soon(embed_one, text)

    alone = embed(model, MIXED)
    trio.run(embed_all_at_once)
    assert np.array_equal(np.concatenate([rows[text] for text in MIXED]), alone)


def test_concurrent_loads_load_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[Path] = []

    def counted(folder: Path) -> Encoder:
        loads.append(folder)
        return open_encoder(folder)

    monkeypatch.setattr(adapter, "load_encoder", counted)

    async def scenario() -> None:
        fresh = OnnxEmbeddingModel()
        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(fresh.load)
        await fresh.load()

    trio.run(scenario)
    assert loads == [FILES]


def test_a_caller_that_gives_up_goes_on_at_once_and_its_batch_ends(model: OnnxEmbeddingModel) -> None:
    """The abandoned batch would take a minute; a later call finds a free thread, so it ended early."""

    async def scenario() -> None:
        with trio.move_on_after(0.05) as scope:
            await model.embed(["word " * 256] * 1000)
        assert scope.cancelled_caught
        with trio.move_on_after(0.05) as scope:
            await model.embed_parts(["word " * 1_600] * 200)
        assert scope.cancelled_caught
        with trio.fail_after(10):
            await model.embed(["still here"])

    trio.run(scenario)


def test_a_model_with_a_flipped_byte_is_refused(tmp_path: Path) -> None:
    folder = shutil.copytree(FILES, tmp_path / "files")
    content = bytearray((folder / MODEL).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / MODEL).write_bytes(content)
    with pytest.raises(ModelMissing, match="is not the one that was shipped"):
        trio.run(OnnxEmbeddingModel(folder).load)


def test_a_refused_load_may_be_tried_again(tmp_path: Path) -> None:
    fresh = OnnxEmbeddingModel(tmp_path)
    with pytest.raises(ModelMissing):
        trio.run(fresh.load)
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    trio.run(fresh.load)


def test_a_file_that_onnx_runtime_cannot_read_is_our_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / MODEL).write_bytes(b"not a graph")
    monkeypatch.setattr("kiro_learn.adapters.onnx.embedding.encoder.shipped", lambda folder, name: folder / name)
    with pytest.raises(EmbeddingError, match="failed to load") as caught:
        trio.run(OnnxEmbeddingModel(tmp_path).load)
    assert caught.value.__cause__ is not None


def test_using_the_model_leaves_no_trace_in_the_users_folders(tmp_path: Path) -> None:
    """ONNX Runtime would keep a device id in the cache folder, and send usage data with it."""
    adapter_name = "kiro_learn.adapters.onnx.embedding.model"
    program = f"import trio; from {adapter_name} import OnnxEmbeddingModel as M; trio.run(M().embed, ['x'])"
    environment = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)

    assert list(tmp_path.rglob("*")) == []
