"""Our daemon and the worker of kiro-memory, both driven through their HTTP APIs. Imported by other benchmarks."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import attrs
import psutil

from kiro_learn.adapters.onnx.embedding.bundle import FILES, MODEL, TOKENIZER
from tests.integration.daemon_process import DaemonProcess

POLL_SECONDS = 0.005
START_SECONDS = 60.0
WORKER = Path("node_modules/kiro-memory/plugin/dist/worker-service.js")
TRANSFORMERS = Path("node_modules/@huggingface/transformers")
MODEL_NAME = "Xenova/all-MiniLM-L6-v2"
"""The name by which kiro-memory asks transformers.js for the model, which looks into its folder ``models`` first."""
POSITIONS = 256
"""The positions of our graph."""
OUTPUT = "last_hidden_state"
"""The name of the tokens' states in transformers.js."""

_sources = (f"127.{a}.{b}.{c}" for a, b, c in itertools.product(range(1, 255), repeat=3))


def next_source() -> str:
    """An address of this machine that no connection of this run had before."""
    return next(_sources)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


class System(Protocol):
    """A system that is measured."""

    @property
    def name(self) -> str: ...
    @property
    def address(self) -> str:
        """Host and port."""

    @property
    def token(self) -> str: ...
    @property
    def process(self) -> psutil.Process: ...
    @property
    def database(self) -> Path: ...
    def start(self) -> None:
        """Return as soon as it listens."""

    def stop(self) -> None:
        """Return when the process has ended; does nothing if it has ended already."""


@attrs.define
class KiroLearn:
    """A daemon of this tree."""

    name: str
    home: Path
    settings: dict[str, str] = attrs.field(factory=dict)
    _daemon: DaemonProcess | None = None

    @property
    def daemon(self) -> DaemonProcess:
        assert self._daemon is not None, "it was not started"
        return self._daemon

    @property
    def address(self) -> str:
        return (self.home / "daemon.address").read_text().strip()

    @property
    def token(self) -> str:
        return self.daemon.token

    @property
    def process(self) -> psutil.Process:
        return psutil.Process(self.daemon.process.pid)

    @property
    def database(self) -> Path:
        return self.home / "kiro-learn.db"

    def start(self) -> None:
        self._daemon = DaemonProcess(self.home, self.settings)
        self._daemon.wait_ready()

    def stop(self) -> None:
        if self._daemon is not None and self._daemon.process.poll() is None:
            self._daemon.stop()


@attrs.define
class KiroMemory:
    """The worker of an installed npm package."""

    name: str
    package: Path
    """The folder with its ``node_modules``."""
    data: Path
    port: int = attrs.field(factory=free_port)
    _process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return (self.data / "worker.token").read_text().strip()

    @property
    def process(self) -> psutil.Process:
        assert self._process is not None, "it was not started"
        return psutil.Process(self._process.pid)

    @property
    def database(self) -> Path:
        return self.data / "kiro-memory.db"

    def start(self) -> None:
        self.data.mkdir(exist_ok=True)
        own = {"DATA_DIR": str(self.data), "WORKER_PORT": str(self.port), "WORKER_HOST": "127.0.0.1"}
        self._process = subprocess.Popen(
            [shutil.which("node") or "node", str(self.package / WORKER)],
            env=os.environ | {f"KIRO_MEMORY_{name}": value for name, value in own.items()},
            cwd=self.data,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + START_SECONDS
        while not _listens(self.port):
            assert self._process.poll() is None, f"the worker of {self.package} ended"
            assert time.monotonic() < deadline, f"the worker of {self.package} does not listen"
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=30)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except ConnectionRefusedError:
        return False
    return True


def lend_model(package: Path) -> None:
    """Put the bundled model's weights and tokenizer where transformers.js looks for kiro-memory's model."""
    import onnx  # noqa: PLC0415 -- a dependency of the tests, and only of those who compare vectors

    graph = onnx.load(FILES / MODEL)
    states = graph.graph.output[0].name
    for node in graph.graph.node:
        node.output[:] = [OUTPUT if name == states else name for name in node.output]
    graph.graph.output[0].name = OUTPUT
    folder = package / TRANSFORMERS / "models" / MODEL_NAME
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    onnx.save(graph, folder / "onnx" / "model.onnx")
    shutil.copy(FILES / TOKENIZER, folder / TOKENIZER)
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", "architectures": ["BertModel"]}))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "BertTokenizer", "model_max_length": POSITIONS})
    )


@contextmanager
def others_stopped(system: System, systems: Sequence[System]) -> Iterator[None]:
    """Stop all other systems for the length of the block, so that their background work takes no processor time."""
    others = [each.process for each in systems if each is not system]
    for process in others:
        process.suspend()
    try:
        yield
    finally:
        for process in others:
            process.resume()


class Asker:
    """One connection, from an address of its own."""

    def __init__(self, system: System) -> None:
        self._system = system
        host, port = system.address.rsplit(":", 1)
        self._connection = http.client.HTTPConnection(host, int(port), timeout=120, source_address=(next_source(), 0))

    def get(self, path: str) -> tuple[int, Any, float]:
        """The status, the answer's JSON, and the milliseconds that the answer took."""
        began = time.perf_counter()
        self._connection.request("GET", path, headers={"X-Worker-Token": self._system.token})
        response = self._connection.getresponse()
        text = response.read()
        return response.status, json.loads(text), (time.perf_counter() - began) * 1000

    def close(self) -> None:
        self._connection.close()


@contextmanager
def asking(system: System) -> Iterator[Asker]:
    asker = Asker(system)
    try:
        yield asker
    finally:
        asker.close()
