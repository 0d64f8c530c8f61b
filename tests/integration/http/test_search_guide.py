"""The commands of docs/search.md run as printed, and their answers have the form of kiro-memory's guide."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.integration.daemon_process import DaemonProcess, running_daemon

GUIDE = (Path(__file__).parents[3] / "docs" / "search.md").read_text()
COMMANDS = re.findall(r"^```sh\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)

RESULT = {
    "id": "142",
    "title": "Modified auth.ts",
    "content": "Added JWT validation middleware",
    "type": "file-write",
    "project": "my-api",
    "score": 0.87,
    "source": "hybrid",
    "signals": {"semantic": 0.82, "fts5": 0.91, "recency": 0.75, "projectMatch": 1.0},
}
RESULTS = {"results": [RESULT], "count": 1}
STATISTICS = {
    "total": 342,
    "embedded": 298,
    "percentage": 87.1,
    "provider": "fastembed",
    "dimensions": 384,
    "available": True,
}
SHAPES = {
    "/api/observations": {"id": "142", "stored": True},
    "/api/search": RESULTS,
    "/api/embeddings/backfill": {"embedded": 1},
    "/api/embeddings/stats": STATISTICS,
    "/api/hybrid-search": RESULTS,
    "/api/stale": {"folder": None, "stale": 0, "marked": 0, "cleared": 0, "unchecked": 0},
}
QUERIES = (
    "authentication",
    '"JWT validation middleware"',
    "authentication AND middleware",
    "authentication OR authorization",
    "title:auth*",
    "authen*",
)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonProcess]:
    with running_daemon(tmp_path_factory.mktemp("home") / "home", {}) as process:
        yield process


def shape(value: Any) -> Any:
    """The names and types in ``value``. Integers and floats are one type."""
    if isinstance(value, dict):
        return {name: shape(each) for name, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value]
    return "number" if type(value) in {int, float} else type(value).__name__


def run(command: str, daemon: DaemonProcess) -> Any:
    address = (daemon.home / "daemon.address").read_text().strip()
    command = command.replace("127.0.0.1:21100", address).replace("~/.kiro-learn", str(daemon.home))
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not there")
def test_each_command_answers_in_the_shape_of_the_guide(daemon: DaemonProcess) -> None:
    asked = []
    for command in COMMANDS:
        answer = run(command, daemon)
        [path] = re.findall(r"127\.0\.0\.1:21100(/[\w/-]+)", command)
        asked.append(path)
        if path == "/api/search":  # it makes no vector
            assert answer["results"][0]["signals"].pop("semantic") is None
            answer["results"][0]["signals"] = {"semantic": 0.0, **answer["results"][0]["signals"]}
        assert shape(answer) == shape(SHAPES[path]), (path, answer)
    assert set(asked) == set(SHAPES)


def test_each_query_of_the_guide_finds_what_it_describes(daemon: DaemonProcess) -> None:
    seen = {"project": "queries", "type": "file-write", "title": "Auth in auth.ts"}
    text = "Added JWT validation middleware for authentication"
    stored = daemon.call("POST", "/api/observations", {**seen, "text": text})["id"]
    for query in QUERIES:
        found = daemon.call("GET", f"/api/search?q={quote(query)}&project=queries&type=file-write&limit=10")
        assert [each["id"] for each in found["results"]] == [stored], query


def test_meaning_finds_what_shares_no_word_with_the_query(daemon: DaemonProcess) -> None:
    for title in ("Added authentication", "Session management", "Watering tomatoes"):
        daemon.call("POST", "/api/observations", {"project": "meaning", "title": title})
    daemon.call("POST", "/api/embeddings/backfill", {})
    found = daemon.call("GET", "/api/semantic-search?q=user%20login%20flow&project=meaning")
    assert [each["title"] for each in found["results"]] == ["Session management", "Added authentication"]
    assert daemon.call("GET", "/api/search?q=user%20OR%20login%20OR%20flow&project=meaning")["count"] == 0
