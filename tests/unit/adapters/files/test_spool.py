"""No file of the spool stops the others, with any error of the disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiro_learn.adapters.files.spool import Spool

WHOLE = b"POST /v1/hooks/a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    folder = tmp_path / "spool"
    folder.mkdir()
    for name in ("1-a-9", "2-b-9", "3-c-9"):
        (folder / name).write_bytes(WHOLE)
    return Spool(folder, tmp_path / "spool.key")


def names(spool: Spool) -> list[str]:
    return [request.path.name for request in spool.waiting()]


def refusing(monkeypatch: pytest.MonkeyPatch, method: str, *, name: str, code: int) -> Callable[[], None]:
    """Let ``Path``'s method fail for files of that name, until the returned function is called."""
    real = getattr(Path, method)

    def perhaps(path: Path, *values: Any, **named: Any) -> Any:
        if path.name == name:
            raise OSError(code, os.strerror(code), str(path))
        return real(path, *values, **named)

    monkeypatch.setattr(Path, method, perhaps)
    return lambda: monkeypatch.setattr(Path, method, real)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.EMFILE])
def test_a_file_that_cannot_be_read_waits_and_the_others_are_given_out(
    spool: Spool, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    mend = refusing(monkeypatch, "read_bytes", name="2-b-9", code=code)
    assert names(spool) == ["1-a-9", "3-c-9"]
    assert spool.problems() == (f"spool/2-b-9: {os.strerror(code).lower()}",)
    mend()
    assert names(spool) == ["1-a-9", "2-b-9", "3-c-9"]
    assert spool.problems() == ()


def test_a_folder_that_cannot_be_listed_is_empty_for_now(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    mend = refusing(monkeypatch, "iterdir", name="spool", code=errno.EMFILE)
    assert names(spool) == []
    assert spool.problems() == ("spool: too many open files",)
    mend()
    assert len(names(spool)) == 3


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_file_that_cannot_be_removed_is_not_given_out_again(
    spool: Spool, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    mend = refusing(monkeypatch, "unlink", name="1-a-9", code=code)
    for request in list(spool.waiting()):
        spool.done(request)
    assert spool.problems() == (f"spool/1-a-9: {os.strerror(code).lower()}",)
    assert names(spool) == []
    assert spool.problems() == (f"spool/1-a-9: {os.strerror(code).lower()}",)
    mend()
    assert names(spool) == []
    assert (spool.problems(), list(spool.folder.iterdir())) == ((), [])


def test_what_cannot_be_put_aside_is_kept_and_not_given_out_again(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    mend = refusing(monkeypatch, "replace", name="1-a-9", code=errno.ENOSPC)
    spool.put_aside(next(spool.waiting()))
    assert names(spool) == ["2-b-9", "3-c-9"]
    assert spool.problems() == ("spool/1-a-9: no space left on device",)
    mend()
    assert names(spool) == ["2-b-9", "3-c-9"]
    assert [path.name for path in (spool.folder / "damaged").iterdir()] == ["1-a-9"]


def test_an_empty_file_that_a_hook_left_is_no_damage(spool: Spool) -> None:
    empty = spool.folder / ".4-d"
    empty.touch()
    os.utime(empty, (0, 0))
    assert len(names(spool)) == 3
    assert not empty.exists()
    assert spool.damaged_count() == 0


@pytest.mark.parametrize("target", ["", "nowhere"])
def test_a_damaged_that_is_a_link_is_put_aside(spool: Spool, tmp_path: Path, target: str) -> None:
    (spool.folder / "damaged").symlink_to(tmp_path / target)
    (spool.folder / "1-a-9").write_bytes(b"half")
    assert names(spool) == ["2-b-9", "3-c-9"]
    assert spool.damaged_count() == 1
    assert (spool.folder / "damaged.put-aside").is_symlink()
