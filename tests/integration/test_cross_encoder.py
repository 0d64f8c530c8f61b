"""A cross-encoder from a folder, in a real thread. The one here counts the tokens that query and text share."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from pathlib import Path

import onnx
import pytest
import trio
from onnx import TensorProto, helper

from kiro_learn.adapters.files import Home
from kiro_learn.adapters.onnx.embedding.bundle import FILES
from kiro_learn.adapters.onnx.reranking import model as adapter
from kiro_learn.adapters.onnx.reranking.cross_encoder import TOKENIZER, CrossEncoder, open_cross_encoder
from kiro_learn.adapters.onnx.reranking.model import OnnxRerankModel
from kiro_learn.app.daemon import rerank_model
from kiro_learn.config import RecallConfig
from kiro_learn.errors import RerankError

PAIR = ("input_ids", "token_type_ids")
QUERY = "why does the cache expire"
TEXTS = ("grey on grey", "the cache does expire", "the cache")


def write_model(folder: Path, *, inputs: Sequence[str] = PAIR, numbers: int = 1) -> Path:
    """A folder with a model that takes ``inputs`` and gives so many numbers for a pair."""
    nodes = [
        helper.make_node("Unsqueeze", ["input_ids", "two"], ["across"]),
        helper.make_node("Unsqueeze", ["input_ids", "one"], ["down"]),
        helper.make_node("Equal", ["across", "down"], ["equal"]),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["unity", "second"], ["first"]),
        helper.make_node("Unsqueeze", ["first", "two"], ["first_across"]),
        helper.make_node("Unsqueeze", ["second", "one"], ["second_down"]),
        helper.make_node("Cast", ["equal"], ["equal_number"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["first_across", "second_down"], ["between"]),
        helper.make_node("Mul", ["equal_number", "between"], ["shared"]),
        helper.make_node("ReduceSum", ["shared", "both"], ["count"], keepdims=0),
        helper.make_node("Expand", ["count", "shape"], ["logits"]),
    ]
    constants = [
        helper.make_tensor("one", TensorProto.INT64, [1], [1]),
        helper.make_tensor("two", TensorProto.INT64, [1], [2]),
        helper.make_tensor("both", TensorProto.INT64, [2], [1, 2]),
        helper.make_tensor("shape", TensorProto.INT64, [2], [1, numbers]),
        helper.make_tensor("unity", TensorProto.FLOAT, [1], [1.0]),
    ]
    graph = helper.make_graph(
        nodes,
        "shared tokens",
        [helper.make_tensor_value_info(name, TensorProto.INT64, [1, "tokens"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, None)],
        constants,
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(made, str(folder / "model.onnx"))
    shutil.copy(FILES / TOKENIZER, folder / TOKENIZER)
    return folder


def scores(folder: Path, texts: Sequence[str] = TEXTS) -> Sequence[float]:
    async def scenario() -> Sequence[float]:
        model = OnnxRerankModel(folder)
        await model.load()
        return await model.score(QUERY, texts)

    return trio.run(scenario)


def test_a_text_that_fits_better_scores_higher(tmp_path: Path) -> None:
    unrelated, good, fair = scores(write_model(tmp_path))
    assert good > fair > unrelated


def test_a_text_scores_the_same_in_whatever_company(tmp_path: Path) -> None:
    folder = write_model(tmp_path)
    assert list(scores(folder)) == [scores(folder, [text])[0] for text in TEXTS]


@pytest.mark.parametrize("text", ["", "word " * 5_000, "x" * 2_000_000, "a\ud800b"])
def test_any_text_has_a_score(tmp_path: Path, text: str) -> None:
    assert len(scores(write_model(tmp_path), [text])) == 1


def test_a_model_may_want_the_mask_too(tmp_path: Path) -> None:
    assert scores(write_model(tmp_path, inputs=(*PAIR, "attention_mask"))) == scores(write_model(tmp_path))


def test_a_model_that_wants_more_than_a_pair_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RerankError, match="inputs that no text has: pixels"):
        open_cross_encoder(write_model(tmp_path, inputs=(*PAIR, "pixels")))


def test_a_model_that_gives_two_numbers_is_no_reranker(tmp_path: Path) -> None:
    with pytest.raises(RerankError, match="gives 2 numbers for a text"):
        scores(write_model(tmp_path, numbers=2))


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_an_absent_file_is_named(tmp_path: Path, name: str) -> None:
    (write_model(tmp_path) / name).unlink()
    with pytest.raises(RerankError, match=name):
        open_cross_encoder(tmp_path)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_our_own_error(tmp_path: Path, name: str) -> None:
    (write_model(tmp_path) / name).write_bytes(b"\xff\xfe nothing of the kind")
    with pytest.raises(RerankError):
        open_cross_encoder(tmp_path)


def test_who_gives_up_costs_one_text_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The asker goes on at once, and the thread stops at the next text."""
    begun: list[str] = []
    release = threading.Event()

    class Slow(CrossEncoder):
        def score(self, query: str, text: str) -> float:
            begun.append(text)
            release.wait(5)
            return 0.0

    monkeypatch.setattr(adapter, "load_cross_encoder", lambda folder: Slow.__new__(Slow))

    async def scenario() -> None:
        model = OnnxRerankModel(write_model(tmp_path))
        with trio.move_on_after(0.05) as patience:
            await model.score(QUERY, TEXTS)
        assert patience.cancelled_caught
        release.set()
        await model.score(QUERY, TEXTS[:1])

    trio.run(scenario)
    assert begun == [TEXTS[0], TEXTS[0]]


def test_a_relative_folder_lies_in_the_home_and_none_is_no_model(tmp_path: Path) -> None:
    home = Home(tmp_path)
    write_model(tmp_path)
    for folder in (".", str(tmp_path)):
        model = rerank_model(home, RecallConfig(rerank_model=folder))
        assert model is not None
        trio.run(model.load)
    assert rerank_model(home, RecallConfig()) is None
