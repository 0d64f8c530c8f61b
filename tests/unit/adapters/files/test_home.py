from __future__ import annotations

from pathlib import Path

import pytest

from kiro_learn.adapters.files.spool import parsed
from kiro_learn.adapters.files.spool_cipher import key_at, opened, sealed


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"POST /v1/hooks/a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{",
        b"POST /v1/hooks/a HTTP/1.1\r\n\r\n{}",
        b"GET /v1/hooks/a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
        b"POST /v1/events HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
    ],
)
def test_what_is_not_a_whole_request_is_not_taken_for_one(content: bytes) -> None:
    assert parsed(Path("x"), content) is None


def test_an_agents_name_comes_back_as_it_was() -> None:
    request = parsed(Path("x"), b"POST /v1/hooks/a%20b?retrieve=true HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
    assert request is not None
    assert request.agent == "a b"


@pytest.mark.parametrize("content", [b"", b"\0", b"\0\0a", b"POST ...", bytes(range(256)) * 5_000])
def test_what_is_sealed_is_opened_as_it_was(content: bytes) -> None:
    key = b"k" * 32
    hidden = sealed(key, content)
    assert opened(key, hidden) == content
    assert len(content) < 4 or content not in hidden
    assert sealed(key, content) != hidden


def test_what_was_changed_or_sealed_with_another_key_is_not_opened() -> None:
    hidden = sealed(b"k" * 32, b"content")
    changed = [hidden[:place] + bytes([hidden[place] ^ 1]) + hidden[place + 1 :] for place in range(len(hidden))]
    assert [opened(b"k" * 32, each) for each in (*changed, hidden[:-1], hidden + b"x", b"")] == [None] * (
        len(hidden) + 3
    )
    assert opened(b"K" * 32, hidden) is None


def test_a_key_is_made_once_with_links_and_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_source: str, _target: str) -> None:
        raise PermissionError

    for name in ("linked", "renamed"):
        key = key_at(str(tmp_path / name))
        assert (len(key), key_at(str(tmp_path / name))) == (32, key)
        monkeypatch.setattr("posix.link", refuse)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["linked", "renamed"]
