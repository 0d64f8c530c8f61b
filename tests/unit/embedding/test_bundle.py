from __future__ import annotations

from pathlib import Path

import pytest

from kiro_learn.embedding.onnx.bundle import FILES, MODEL, TOKENIZER, shipped
from kiro_learn.errors import ModelMissing


@pytest.mark.parametrize("name", [MODEL, TOKENIZER])
def test_the_bundled_files_are_the_ones_that_were_shipped(name: str) -> None:
    assert shipped(FILES, name) == FILES / name


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="cannot be read: No such file") as caught:
        shipped(tmp_path, MODEL)
    assert caught.value.path == tmp_path / MODEL
    assert caught.value.hint == "Install kiro-learn again."


def test_a_file_with_one_flipped_bit_is_refused(tmp_path: Path) -> None:
    content = bytearray((FILES / TOKENIZER).read_bytes())
    content[1000] ^= 1
    (tmp_path / TOKENIZER).write_bytes(content)
    with pytest.raises(ModelMissing, match="is not the one that was shipped"):
        shipped(tmp_path, TOKENIZER)


def test_the_licence_and_the_origin_lie_beside_the_model() -> None:
    assert "Apache License" in (FILES / "LICENSE").read_text(encoding="utf-8")
    assert "sentence-transformers/all-MiniLM-L6-v2" in (FILES / "PROVENANCE.md").read_text(encoding="utf-8")
