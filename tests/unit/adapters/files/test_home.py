"""The home, and its record of imported past sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiro_learn.adapters.files import Home
from kiro_learn.adapters.files.home import _IMPORTS as NAME
from kiro_learn.adapters.files.home import DiskImportRecord
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


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "kiro-learn.db").write_bytes(b"x")
    return Home(tmp_path)


def test_it_is_kept_and_tells_no_session(home: Home) -> None:
    DiskImportRecord.of(home).add("claude-code /home/ann/x.jsonl s1", "1 2 3")
    DiskImportRecord.of(home).add("claude-code /home/ann/y.jsonl s2", "1 2 3")
    record = DiskImportRecord.of(home)
    assert record.has("claude-code /home/ann/x.jsonl s1", "1 2 3")
    assert record.has("claude-code /home/ann/y.jsonl s2", "1 2 3")
    assert not record.has("claude-code /home/ann/x.jsonl s1", "1 2 4")
    assert "ann" not in (home.path / NAME).read_text()
    assert (home.path / NAME).stat().st_mode & 0o777 == 0o600


def test_another_database_has_had_no_import(home: Home) -> None:
    DiskImportRecord.of(home).add("a", "1")
    kept = home.database.rename(home.path / "before.db")
    home.database.write_bytes(b"x")
    record = DiskImportRecord.of(home)
    assert not record.has("a", "1")
    record.add("b", "1")
    home.database.unlink()
    kept.rename(home.database)
    assert not DiskImportRecord.of(home).has("a", "1")


def test_the_memory_on_a_server_has_had_no_import_of_the_file(home: Home) -> None:
    DiskImportRecord.of(home).add("a", "1")
    server = "postgresql://ann@db.example.org/kiro_learn"
    assert not DiskImportRecord.of(home, server).has("a", "1")
    DiskImportRecord.of(home, server).add("b", "1")
    assert DiskImportRecord.of(home, server).has("b", "1")
    assert "ann" not in (home.path / NAME).read_text()
    assert not DiskImportRecord.of(home, f"{server}_2").has("b", "1")


@pytest.mark.parametrize("text", ["", "\n", "torn", "\udcff", "none\na b c\nd"])
def test_a_file_that_is_torn_tells_nothing(home: Home, text: str) -> None:
    (home.path / NAME).write_bytes(text.encode("utf-8", "surrogateescape"))
    assert not DiskImportRecord.of(home).has("a", "b")
