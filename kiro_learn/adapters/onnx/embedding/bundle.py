"""The bundled model's files and their digests. ``scripts/build_model.py`` makes the files and prints the digests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from kiro_learn.errors import ModelMissing

FILES = Path(__file__).parent / "files"

MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"

SHA256 = {
    MODEL: "2088e8f939884815a5e66039a5e9dffff8e6c712096565a5f2b803e03e946c42",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


def digest_of(sums: Mapping[str, str]) -> str:
    """One digest of many files. ``sums``: the SHA-256 of each file by its name."""
    lines = "".join(f"{name} {sums[name]}\n" for name in sorted(sums))
    return hashlib.sha256(lines.encode()).hexdigest()


def shipped(folder: Path, name: str) -> Path:
    """The path of the file, after a check that its content is the shipped one.

    Raises:
      ModelMissing: the file is absent, cannot be read, or has another content.
    """
    path = folder / name
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelMissing(path, f"cannot be read: {error.strerror}") from error
    if found != SHA256[name]:
        raise ModelMissing(path, "is not the one that was shipped")
    return path
