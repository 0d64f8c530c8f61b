"""Lines of any length, and the parts that are kept of too long ones."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kiro_learn.adapters.histories import files as module
from kiro_learn.adapters.histories.files import TOO_LONG, TORN, json_lines
from kiro_learn.privacy.scrub import scrub_text
from kiro_learn.wire.hook_payload import TRUNCATED


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set all limits to a thousandth."""
    for name, size in {"LONG_LINE_BYTES": 8_192, "HEAD_BYTES": 256, "TAIL_BYTES": 64}.items():
        monkeypatch.setattr(module, name, size)


def read(path: Path, *lines: bytes) -> tuple[list[dict[str, Any]], dict[str, int]]:
    skipped: Counter[str] = Counter()
    path.write_bytes(b"".join(lines))
    return [line.fields for line in json_lines(path, lambda reason: skipped.update([reason]))], dict(skipped)


def as_line(**fields: Any) -> bytes:
    return json.dumps(fields).encode() + b"\n"


@pytest.mark.parametrize("size", [8_000, 8_190, 8_191, 8_192, 20_000, 300_000])
@pytest.mark.parametrize("piece", ["word ", 'a "quote" \\ ', "\\", '"', "line\n", "ü\u2028", "\ud83d\ude00"])
def test_long_texts_are_cut_and_what_stands_behind_them_is_found(tmp_path: Path, piece: str, size: int) -> None:
    text = (piece * size)[:size]
    found, skipped = read(tmp_path / "a", as_line(before=1, text=text, uuid="b1"), as_line(next=2))
    assert [fields.get("uuid") for fields in found] == ["b1", None]
    assert found[0]["before"] == 1
    assert skipped == {}
    kept = found[0]["text"]
    assert kept == text or (len(kept) < 1_500 and TRUNCATED in kept)


def test_both_ends_stay(tmp_path: Path) -> None:
    [fields], _ = read(tmp_path / "a", as_line(text="first\n" + "x y\n" * 9_000 + "the very last"))
    assert fields["text"].startswith("first\n")
    assert fields["text"].endswith("\nthe very last")


def test_no_cut_bares_what_is_private(tmp_path: Path) -> None:
    hidden = "word\n" * 9_000
    texts = (
        f"a <private>{hidden} mine </private> b\nend",
        f"{hidden}<private>{hidden}\nmine</private>\nend",
        f"{hidden}\nend <private> mine",
    )
    for text in texts:
        [fields], _ = read(tmp_path / "a", as_line(text=text))
        assert "mine" not in scrub_text(fields["text"])


def test_what_is_long_without_a_long_text_is_left_out(tmp_path: Path) -> None:
    found, skipped = read(
        tmp_path / "a", as_line(numbers=list(range(9_000))), as_line(next=2), b'{"torn": "' + b"x" * 9_000
    )
    assert (found, skipped) == ([{"next": 2}], {TOO_LONG: 1, TORN: 1})
