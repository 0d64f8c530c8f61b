"""How long does a text take to embed, and how much memory does the embedder need?

    python benchmarks/embedding_speed.py

Wall times are what an agent would wait. Processor times hardly depend on other work on the machine.
"""

from __future__ import annotations

import datetime as dt
import functools
import os
import platform
import statistics
import time
from importlib.metadata import version

import psutil
import trio

from kiro_learn.adapters.onnx.embedding.model import OnnxEmbeddingModel

TOKEN_COUNTS = (8, 20, 64, 128, 256)
REPEATS = 20


def resident_mb() -> float:
    return float(psutil.Process().memory_info().rss / 1e6)


def text_of(token_count: int) -> str:
    return "word " * (token_count - 2)  # the end marks are the other two


def time_ms(model: OnnxEmbeddingModel, texts: list[str]) -> tuple[float, float]:
    """The wall time and the processor time of embedding ``texts``, in milliseconds."""
    wall, processor = time.perf_counter(), time.process_time()
    trio.run(model.embed, texts)
    return (time.perf_counter() - wall) * 1000, (time.process_time() - processor) * 1000


def report_length(model: OnnxEmbeddingModel, token_count: int) -> None:
    times = [time_ms(model, [text_of(token_count)]) for _ in range(REPEATS)]
    wall, processor = (statistics.median(column) for column in zip(*times, strict=True))
    print(
        f"{token_count:4} tokens: {wall:6.1f} ms wall, {processor:6.1f} ms processor, {1000 / processor:6.0f} texts/s"
    )


async def embed_side_by_side(model: OnnxEmbeddingModel) -> None:
    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(model.embed, [text_of(256)] * 8)


def main() -> None:
    machine = f"{os.cpu_count()} cores {platform.machine()}, Python {platform.python_version()}"
    print(f"{dt.datetime.now(dt.UTC):%Y-%m-%d}, {machine}, onnxruntime {version('onnxruntime')}")
    model = OnnxEmbeddingModel()
    before, started = resident_mb(), time.perf_counter()
    trio.run(model.load)
    print(f"load, imports included: {(time.perf_counter() - started) * 1000:.0f} ms")
    after_load = resident_mb()
    for token_count in TOKEN_COUNTS:
        report_length(model, token_count)
    trio.run(functools.partial(embed_side_by_side, model))
    print(
        f"resident: {before:.0f} MB before, {after_load:.0f} MB loaded, {resident_mb():.0f} MB after two long batches"
    )


if __name__ == "__main__":
    main()
