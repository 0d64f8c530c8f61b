from __future__ import annotations

from pathlib import Path

import pytest

from kiro_learn.adapters.onnx.embedding.bundle import FILES, MODEL, SHA256, TOKENIZER, digest_of, shipped
from kiro_learn.adapters.sqlite.migrations.todays_schema import SCHEMA
from kiro_learn.errors import ModelMissing
from kiro_learn.model.vectors import BUNDLED_MODEL


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


def test_the_bundled_model_is_known_by_a_digest_of_its_files() -> None:
    assert digest_of(SHA256) == BUNDLED_MODEL.digest


def test_the_vectors_of_before_are_entered_as_those_of_the_model_that_made_them() -> None:
    """If another model is bundled one day, it has another digest, and this row stays as it is."""
    assert f"(1, '{BUNDLED_MODEL.digest}', '{BUNDLED_MODEL.name}', {BUNDLED_MODEL.dimension}, 1)" in SCHEMA.read_text(
        encoding="utf-8"
    )


def test_the_licence_and_the_origin_lie_beside_the_model() -> None:
    assert "Apache License" in (FILES / "LICENSE").read_text(encoding="utf-8")
    assert "sentence-transformers/all-MiniLM-L6-v2" in (FILES / "PROVENANCE.md").read_text(encoding="utf-8")
