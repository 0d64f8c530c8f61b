"""On a full disk, memories are told, new events are reported as not stored, and no unfinished file is left."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kiro_learn.adapters.files import Home
from kiro_learn.adapters.files.spool_cipher import key_at
from kiro_learn.client import hook
from kiro_learn.testing.daemon import a_record
from kiro_learn.wire.messages import write_record
from tests.integration.daemon_process import DaemonProcess, call, running_daemon
from tests.integration.stand_in import run_shim

SETTINGS = {"KIRO_LEARN_EMBEDDING_ENABLED": "false"}
QUESTION = {
    "hook_event_name": "userPromptSubmit",
    "session_id": "s",
    "cwd": "/w",
    "prompt": "why does the cache expire?",
}
AGAIN = QUESTION | {"prompt": "when does the cache expire?"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, with 4 MB."""
    mounted = tmp_path / "disk"
    mounted.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", str(mounted)],  # noqa: S607  # where mount lies differs
        capture_output=True,
        check=False,
    )
    if mount.returncode:
        pytest.skip("this user may not mount a file system")
    try:
        yield mounted
    finally:
        subprocess.run(["umount", str(mounted)], check=True)  # noqa: S607  # as above


def fill(folder: Path) -> Path:
    """Fill the disk; returns the file that fills it."""
    filler = folder / "filler"
    descriptor = os.open(filler, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        for size in (65_536, 4_096, 1):
            while _wrote(descriptor, size):
                pass
    finally:
        os.close(descriptor)
    return filler


def _wrote(descriptor: int, size: int) -> bool:
    try:
        return os.write(descriptor, bytes(size)) == size
    except OSError:
        return False


def remember(daemon: DaemonProcess) -> None:
    namespace = daemon.call("GET", "/v1/namespace?cwd=/w")["namespace"]
    record = a_record(1, "The token cache expires early", "it does expire: clock skew", namespace=namespace)
    daemon.call("POST", "/v1/memories", write_record(record))


def test_a_readable_memory_is_told_on_a_full_disk_and_no_empty_file_is_left(small_disk: Path) -> None:
    home = Home(small_disk / "home")
    with running_daemon(home.path, SETTINGS) as daemon:
        remember(daemon)
        filler = fill(small_disk)

        shim = run_shim(home, "claude-code", payload=json.dumps(QUESTION).encode())
        assert b"token cache" in shim.stdout
        assert shim.returncode == 0
        assert shim.stderr == b"[kiro-learn] an event was lost: No space left on device\n"
        assert list(home.spool.folder.iterdir()) == []

        connection = daemon.connect()
        status, _ = call(connection, daemon.token, "POST", "/v1/hooks/claude-code", QUESTION)
        assert status == 503, "nothing is told here, so that it is refused"
        connection.close()
        told = daemon.call("GET", "/v1/status")
        assert told["counts"]["total_events"] == 0
        assert "there is no room for the database" in told["write_problem"]

        filler.unlink()
        shim = run_shim(home, "claude-code", payload=json.dumps(AGAIN).encode())
        assert (shim.returncode, shim.stderr) == (0, b"")
        told = daemon.call("GET", "/v1/status")
        assert (told["counts"]["total_events"], told["write_problem"]) == (1, "")


CALLS = ("open", "write", "fsync", "link", "rename", "unlink")


def _refusing(wanted: str, left: list[int], real: Callable[..., object]) -> Callable[..., object]:
    """``real``, which finds no room at its ``left``th call."""

    def perhaps(*values: object, **names: object) -> object:
        left[0] -= 1
        if not left[0]:
            raise OSError(errno.ENOSPC, f"no room at {wanted}")
        return real(*values, **names)

    return perhaps


@pytest.mark.parametrize("nth", [1, 2, 3])
@pytest.mark.parametrize("wanted", CALLS)
def test_no_room_at_any_call_of_the_hook_leaves_no_file_that_holds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: str, nth: int
) -> None:
    """The request is kept whole or not at all, with the key that sealed it."""
    (tmp_path / "spool").mkdir()
    request = b"POST /v1/hooks/a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"
    said: list[str] = []
    monkeypatch.setattr(hook, "complain", said.append)
    with monkeypatch.context() as full:
        full.setattr(f"posix.{wanted}", _refusing(wanted, [nth], getattr(os, wanted)))
        hook.spool(str(tmp_path), "1-x", request)
    home = Home(tmp_path)
    kept = [each.payload for each in home.spool.waiting()]
    left = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "spool.key"]
    if wanted == "unlink":
        left = [path for path in left if not path.name.startswith("spool.key.")]
    assert len(kept) == len(left) == 1 - len(said)
    if (tmp_path / "spool.key").exists():
        assert len(key_at(str(tmp_path / "spool.key"))) == len((tmp_path / "spool.key").read_bytes()) == 32
