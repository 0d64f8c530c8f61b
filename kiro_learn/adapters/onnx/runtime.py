"""ONNX Runtime as all who run a model here use it. Importing this module takes a fifth of a second.

It is what the adapters of the models share: the one place where the library is imported, and told what it may not do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kiro_learn.errors import KiroLearnError

# From its import on, ONNX Runtime keeps a device id in ~/.cache and sends usage data, unless it was told not to before.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime  # type: ignore[import-untyped]  # it ships no types
from onnxruntime.capi import (  # type: ignore[import-untyped]  # as above
    onnxruntime_pybind11_state as onnx_errors,
)

# They share no class of their own, and newer versions add to them.
ONNX_ERRORS = tuple(
    each for each in vars(onnx_errors).values() if isinstance(each, type) and issubclass(each, Exception)
)


@contextmanager
def map_errors(ours: Callable[[Exception], KiroLearnError]) -> Iterator[None]:
    """Raise an error of ONNX Runtime as ``ours``, with the cause kept."""
    try:
        yield
    except ONNX_ERRORS as error:
        raise ours(error) from error


def open_session(model: str | bytes, options: onnxruntime.SessionOptions) -> onnxruntime.InferenceSession:
    """The model in a file of that path, or in these bytes."""
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def session_options() -> onnxruntime.SessionOptions:
    """One thread a call, asleep when idle: a laptop's other cores belong to its owner."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4  # errors are raised, and need not be on the daemon's stderr as well
    return options


def options_of_a_finished_graph() -> onnxruntime.SessionOptions:
    """For a graph that was built fused: rewriting it gains no speed, takes 0.1 s, and may change the sums."""
    options = session_options()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options
