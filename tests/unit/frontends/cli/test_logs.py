"""The last lines of the log and the new ones, even if its files are rotated."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiro_learn.frontends.cli.logs import BLOCK_BYTES, Tail, follow

PUT_AWAY = ""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "daemon.jsonl"


def put_away(log: Path) -> None:
    """Rotate the files as the daemon does: the oldest first, and the new file only with its first line."""
    for number in (3, 2, 1):
        older = log.with_name(f"{log.name}.{number}")
        if older.exists():
            older.rename(log.with_name(f"{log.name}.{number + 1}"))
    log.rename(log.with_name(f"{log.name}.1"))


def append(log: Path, text: str) -> None:
    with log.open("a") as file:
        file.write(text)


@pytest.mark.parametrize(("count", "wanted"), [(0, []), (1, [b"e"]), (2, [b"d", b"e"]), (4, [b"b", b"c", b"d", b"e"])])
def test_the_last_lines_go_back_over_the_files_that_were_put_away(log: Path, count: int, wanted: list[bytes]) -> None:
    append(log, "a\nb\n")
    put_away(log)
    append(log, "c\n")
    put_away(log)
    append(log, "d\ne\n")
    with Tail(log) as tail:
        assert tail.last(count) == wanted
        assert tail.last(9) == [b"a", b"b", b"c", b"d", b"e"]


def test_lines_longer_than_a_block_are_whole(log: Path) -> None:
    long = "x" * (2 * BLOCK_BYTES + 7)
    append(log, f"a\n{long}\nb\n")
    with Tail(log) as tail:
        assert tail.last(2) == [long.encode(), b"b"]


def test_a_line_that_is_half_written_is_shown_once_it_is_whole(log: Path) -> None:
    append(log, "a\nb")
    with Tail(log) as tail:
        assert tail.last(5) == [b"a"]
        append(log, "c")
        assert list(tail.new()) == []
        append(log, "d\ne")
        assert list(tail.new()) == [b"bcd"]


def test_what_comes_is_followed_over_files_that_are_put_away(log: Path) -> None:
    append(log, "a\n")
    steps = [["b"], [PUT_AWAY], ["c"], ["d", PUT_AWAY, "e", PUT_AWAY, "f"], [PUT_AWAY, "g", "h"]]

    def wait() -> bool:
        for step in steps[0] if steps else ():
            put_away(log) if step == PUT_AWAY else append(log, f"{step}\n")
        return bool(steps and steps.pop(0))

    with Tail(log) as tail:
        tail.last(0)
        assert list(follow(tail, wait)) == [b"b", b"c", b"d", b"e", b"f", b"g", b"h"]


def test_a_file_that_was_removed_is_gone_and_the_next_ones_are_followed(log: Path) -> None:
    append(log, "a\n")
    with Tail(log) as tail:
        tail.last(0)
        log.unlink()
        assert list(tail.new()) == []
        append(log, "b\n")
        assert list(tail.new()) == [b"b"]


def test_other_files_beside_it_are_none_of_the_log(log: Path) -> None:
    append(log, "a\n")
    append(log.with_name("daemon.jsonl.gz"), "x\n")
    append(log.with_name("daemon.stderr"), "y\n")
    with Tail(log) as tail:
        assert tail.last(9) == [b"a"]
