from __future__ import annotations

import socket
import sys
import tempfile
from pathlib import Path

import pytest

from kiro_learn.adapters.service_managers.systemd import READY, notify


@pytest.fixture
def folder() -> Path:
    """A folder with a short path, since a socket's path has 107 bytes at most."""
    return Path(tempfile.mkdtemp(prefix="kl"))


def test_the_service_manager_is_told(folder: Path) -> None:
    path = str(folder / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(path)
        notify({"NOTIFY_SOCKET": path}, READY, "STATUS=Answers")
        assert manager.recv(1000) == b"READY=1\nSTATUS=Answers"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has abstract sockets")
def test_an_abstract_socket_is_known_by_its_at_sign(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"\0{folder}")
        notify({"NOTIFY_SOCKET": f"@{folder}"}, READY)
        assert manager.recv(1000) == b"READY=1"


@pytest.mark.parametrize("address", ["", "vsock:2:1234", "/not/there", "/" + "x" * 200])
def test_without_a_listener_nothing_happens(address: str) -> None:
    notify({"NOTIFY_SOCKET": address} if address else {}, READY)
