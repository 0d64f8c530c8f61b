"""A memory is pinned and unpinned at the command line, listed, exported and imported, with a real daemon."""

from __future__ import annotations

import json
from pathlib import Path

from kiro_learn.client import AsyncKiroLearn, KiroLearn
from kiro_learn.client.routes import Client
from tests.integration.cli.command_line import Completed, done, event, failed, kiro_learn, record
from tests.integration.daemon_process import running_daemon

NAMESPACE = f"/actor/ana/project/{'cd' * 32}/"


def run(home: Path, *arguments: str) -> Completed:
    return kiro_learn(home, "memories", *arguments, "--project", "web-shop")


def listed(home: Path, *options: str) -> list[str]:
    return [each["record_id"][-2:] for each in json.loads(done(run(home, "list", *options, "--json")))["items"]]


def test_a_memory_is_pinned_listed_told_exported_and_unpinned(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    with running_daemon(home), Client(home) as client:
        client.post_event(event(NAMESPACE, "/somewhere/web-shop", 1, "hello"))
        client.import_memories([record(NAMESPACE, number) for number in (20, 21, 22)])
        assert done(run(home, "pin", "K7Q421")) == "✓ Pinned: Refresh tokens before the expiry check, part 21\n"
        assert listed(home, "--pinned") == ["21"]
        everywhere = kiro_learn(home, "memories", "list", "--pinned", "--all", "--everywhere", "--json")
        assert [each["record_id"][-2:] for each in json.loads(done(everywhere))["items"]] == ["21"]
        assert "pinned" in done(run(home, "list", "--pinned"))
        assert done(run(home, "list", "--branch", "none")) == "No memory in web-shop fits.\n"
        assert "  Pinned   since " in done(run(home, "show", "K7Q421"))
        pinned = json.loads(done(run(home, "pin", "K7Q421", "--json")))
        assert pinned == client.memory(pinned["record_id"])

        with KiroLearn("web-shop", home=home) as memory:
            assert [each.pinned_at is not None for each in memory.observations(pinned=True)] == [True]
            assert len(memory.observations(pinned=False)) == 2
            told = memory.context().text
            assert told.index("### Pinned") < told.index("part 21") < told.index("### Last worked on")
            assert memory.unpin(pinned["record_id"]).pinned_at is None
            assert memory.pin(pinned["record_id"]).pinned_at is not None

        assert run(home, "history", "K7Q421").stdout.splitlines()[-1].startswith("Undo the pin: ")
        lines = tmp_path / "all.jsonl"
        assert kiro_learn(home, "export", str(lines)).returncode == 0
        with running_daemon(other):
            assert kiro_learn(other, "import", str(lines), "--yes").returncode == 0
            assert listed(other, "--pinned") == ["21"]

        assert done(run(home, "undo", "K7Q421", "--yes")) == "✓ No longer pinned\n"
        assert listed(home, "--pinned") == []
        assert done(run(home, "unpin", "K7Q421")).startswith("✓ No longer pinned: ")
        error, _hint = failed(run(home, "pin", "K7Q499"))
        assert error == 'error: no memory ends in "K7Q499" in web-shop'


def test_both_clients_have_the_same_calls() -> None:
    for name in ("pin", "unpin"):
        assert getattr(KiroLearn, name).__doc__ == getattr(AsyncKiroLearn, name).__doc__
