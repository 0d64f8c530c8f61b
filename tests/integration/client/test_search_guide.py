"""Every call of the search guide, in Python names, by both clients, against a real daemon."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from kiro_learn.client import REPEATED, AsyncKiroLearn, KiroLearn, SearchResults
from tests.integration.daemon_process import running_daemon

Ask = Callable[..., Any]
"""Calls a method by its name with arguments, and gives its result."""

TITLE, NARRATIVE = "Modified auth.ts", "Added JWT validation middleware for authentication"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("sdk") / "home"
    with running_daemon(home):
        yield home


@pytest.fixture(scope="module", params=["waiting", "trio", "asyncio"])
def project(home: Path, request: pytest.FixtureRequest) -> str:
    """A project for each client, so that no client finds records of another."""
    name = f"api-{request.param}"
    with KiroLearn(name, home=home) as memory:
        written = memory.store_observation(TITLE, type="file-write", narrative=NARRATIVE, concepts=["security"])
        assert written != REPEATED
        memory.store_observation("Read the session management", type="file-read", text="sessions live in Redis")
        memory.backfill_embeddings()
    return name


@pytest.fixture
def ask(home: Path, project: str) -> Iterator[Ask]:
    kind = project.removeprefix("api-")
    if kind == "waiting":
        with KiroLearn(project, home=home) as memory:
            yield lambda name, *args, **options: getattr(memory, name)(*args, **options)
        return

    async def call(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        async with AsyncKiroLearn(project, home=home) as memory:
            return await getattr(memory, name)(*args, **options)

    yield lambda name, *args, **options: anyio.run(call, name, args, options, backend=kind)


def test_search_advanced(ask: Ask, project: str) -> None:
    results: SearchResults = ask(
        "search_advanced", "authentication middleware", project=project, type="file-write", limit=10
    )
    assert [(each.title, each.content, each.source) for each in results] == [(TITLE, NARRATIVE, "keyword")]
    assert ask("search_advanced", "authentication middleware", project=project, type="file-read", limit=10) == ()


def test_backfill_embeddings_counts_what_it_embedded(ask: Ask) -> None:
    assert ask("backfill_embeddings", 100) == 0


def test_embedding_stats(ask: Ask) -> None:
    stats = ask("embedding_stats")
    assert (stats.percentage, stats.dimensions, stats.available) == (100.0, 384, True)
    assert stats.embedded == stats.total > 0


def test_hybrid_search_shows_its_signals(ask: Ask, project: str) -> None:
    best = ask("hybrid_search", "JWT authentication", limit=10)[0]
    assert (best.title, best.type, best.project, best.source) == (TITLE, "file-write", project, "hybrid")
    assert all(0 <= signal <= 1 for signal in best.signals)
    assert best.signals.project_match == 1.0


def test_semantic_search_has_a_threshold(ask: Ask) -> None:
    (best, *_others) = ask("semantic_search", "session management", limit=10, threshold=0.3)
    assert (best.title, best.source) == ("Read the session management", "vector")
    assert best.signals.semantic >= 0.3
    assert ask("semantic_search", "session management", limit=10, threshold=0.99) == ()


def test_a_repeat_is_answered_with_minus_one(ask: Ask) -> None:
    again = {"type": "research", "narrative": "the same as before"}
    assert ask("store_observation", "Looked it up", **again) != -1
    assert ask("store_observation", "Looked it up", **again) == -1
    knowledge = {"knowledge_type": "constraint", "severity": "hard"}
    assert ask("store_knowledge", "Node 20", "The build needs it.", **knowledge) != -1
    assert ask("store_knowledge", "Node 20", "The build needs it.", **knowledge) == -1


def test_detect_stale_observations_counts_what_it_marked(ask: Ask, tmp_path: Path) -> None:
    """They are found by the folder that the observation named. Earlier marks are not counted again."""
    (tmp_path / "auth.ts").write_text("old")
    stored = ask("store_observation", "Modified auth.ts", files_modified=["auth.ts"], project=tmp_path)
    assert ask("detect_stale_observations", project=tmp_path) == 0
    (tmp_path / "auth.ts").write_text("new")
    later = time.time() + 60
    os.utime(tmp_path / "auth.ts", (later, later))
    assert ask("detect_stale_observations", project=tmp_path) == 1
    assert ask("detect_stale", project=tmp_path)[1:] == (1, 0, 0, 0)
    assert ask("get", stored).stale_at is not None
    assert ask("search", "auth.ts", project=tmp_path)[0].stale_at is not None, "marked, and found all the same"
