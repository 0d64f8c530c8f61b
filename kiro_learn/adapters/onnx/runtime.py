"""ONNX Runtime, as all adapters that run a model use it. Importing this module takes a fifth of a second.

Only this module imports the library. It also turns off its telemetry.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kiro_learn.errors import KiroLearnError

# From its import on, ONNX Runtime keeps a device id in ~/.cache and sends usage data, unless this is set before.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime  # type: ignore[import-untyped]  # it ships no types
from onnxruntime.capi import (  # type: ignore[import-untyped]  # as above
    onnxruntime_pybind11_state as onnx_errors,
)

# The library's errors have no common class, and newer versions add some.
ONNX_ERRORS = tuple(
    each for each in vars(onnx_errors).values() if isinstance(each, type) and issubclass(each, Exception)
)


@contextmanager
def map_errors(ours: Callable[[Exception], KiroLearnError]) -> Iterator[None]:
    """Raise an error of ONNX Runtime as the one that ``ours`` makes of it, with the cause kept."""
    try:
        yield
    except ONNX_ERRORS as error:
        raise ours(error) from error


def open_session(model: str | bytes, options: onnxruntime.SessionOptions) -> onnxruntime.InferenceSession:
    """A session with ``model``, which is a file's path or the file's content."""
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def session_options() -> onnxruntime.SessionOptions:
    """Options for one thread per call, which sleeps when idle: a laptop's other cores belong to its owner."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4  # errors are raised, and need not be printed on stderr too
    return options


def options_of_a_finished_graph() -> onnxruntime.SessionOptions:
    """Options for a graph that is fused already: optimising it gains no speed, takes 0.1 s, and may change sums."""
    options = session_options()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options
