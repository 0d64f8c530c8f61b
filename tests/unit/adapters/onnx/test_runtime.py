from __future__ import annotations

import pytest
from onnxruntime.capi import onnxruntime_pybind11_state as onnx_errors  # type: ignore[import-untyped]  # it ships none

from kiro_learn.adapters.onnx.runtime import map_errors
from kiro_learn.errors import EmbeddingError


def ours(error: Exception) -> EmbeddingError:
    return EmbeddingError(f"the model failed: {error}")


@pytest.mark.parametrize("theirs", [onnx_errors.Fail, onnx_errors.InvalidProtobuf, onnx_errors.RuntimeException])
def test_what_onnx_runtime_raises_comes_out_as_ours_with_its_cause(theirs: type[Exception]) -> None:
    with pytest.raises(EmbeddingError, match="failed: out of luck") as caught, map_errors(ours):
        raise theirs("out of luck")
    assert isinstance(caught.value.__cause__, theirs)


def test_other_errors_pass_untouched() -> None:
    with pytest.raises(ZeroDivisionError), map_errors(ours):
        raise ZeroDivisionError
