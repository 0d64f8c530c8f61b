"""Replaced memories are shown and put back, by a real daemon on a file that was changed meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trio

from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.client.building import RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.config import StorageConfig
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.testing.storage import transact_one
from kiro_learn.wire.messages import read_record
from tests.integration.cli.command_line import Completed, done, event, failed, kiro_learn, record
from tests.integration.cli.terminal import at_terminal
from tests.integration.daemon_process import running_daemon

PROJECT_ID = "cd" * 32
NAMESPACE = f"/actor/ana/project/{PROJECT_ID}/"
LATER = "01JD3V8M2N5R7T9WXYZ0K7Q4M9"
REPLACED_AT = datetime(2026, 1, 17, 16, 50, tzinfo=UTC)

Found = dict[str, list[dict[str, Any]]]


def found(client: Client) -> Found:
    """The memories that each way of searching finds."""
    return {
        mode: client.ranked_memories(NAMESPACE, "expiry of tokens", mode=mode)
        for mode in ("hybrid", "lexical", "semantic")
    }


def merge(home: Path, number: int, replaced: tuple[int, ...]) -> None:
    """Replace memories by one, in the database of a stopped daemon."""
    came = read_record(record(NAMESPACE, number, title="Tokens and their expiry", source_event_ids=[LATER]))
    replacement = Replacement(
        replacement_id=f"01JD3V8M2N5R7T9WXYZ0K7Q4{number:02}",
        namespace=came.namespace,
        reason=ReplacementReason.MERGED,
        replaced_at=REPLACED_AT,
        replacing=(came.record_id,),
        replaced=tuple(read_record(record(NAMESPACE, each)) for each in replaced),
    )

    def work(transaction: StorageTransaction) -> None:
        transaction.put_memory_record(came)
        transaction.replace_memory_records(replacement)

    async def run() -> None:
        path = home / "kiro-learn.db"
        storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: REPLACED_AT)
        await transact_one(storage, work)
        await storage.close()

    trio.run(run)


class Merged:
    """A daemon with three memories that replaced two each, and what it found before that."""

    def __init__(self, home: Path, before: Found) -> None:
        self.home = home
        self.before = before
        self.client = Client(home)
        self.client.backfill_embeddings()

    def run(self, *arguments: str) -> Completed:
        return kiro_learn(self.home, "memories", *arguments, "--project", "web-shop")

    def at_terminal(self, *arguments: str, typed: str) -> tuple[int, list[str]]:
        return at_terminal(self.home, "memories", *arguments, "--project", "web-shop", typed=typed)


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Merged]:
    home = tmp_path_factory.mktemp("history") / "home"
    with running_daemon(home) as daemon, Client(home) as client:
        client.post_event(event(NAMESPACE, "/somewhere/web-shop", 1, "hello"))
        client.import_memories([record(NAMESPACE, number) for number in range(20, 26)])
        client.backfill_embeddings()
        before = found(client)
        daemon.stop()
    for number in range(3):
        merge(home, 30 + number, (20 + 2 * number, 21 + 2 * number))
    with running_daemon(home):
        merged = Merged(home, before)
        yield merged
        merged.client.close()


def test_show_says_that_it_replaced_others_and_how_to_see_them(merged: Merged) -> None:
    lines = done(merged.run("show", "K7Q430")).splitlines()
    assert lines[-3:-1] == [
        "  Changed  merged from 2 memories",
        "           kiro-learn memories history mr_01JD3V8M2N5R7T9WXYZ0K7Q430",
    ]
    assert "Changed" not in "".join(lines[:-3])


def test_history_shows_what_was_replaced(merged: Merged) -> None:
    lines = done(merged.run("history", "K7Q430")).splitlines()
    assert [line.split()[:2] for line in lines[:3]] == [["●", "now"], ["├", "…K7Q420"], ["└", "…K7Q421"]]
    assert lines[3] == "Undo the merge: kiro-learn memories undo mr_01JD3V8M2N5R7T9WXYZ0K7Q430"


def test_history_as_json_is_the_route_unchanged(merged: Merged) -> None:
    told = json.loads(done(merged.run("history", "K7Q430", "--json")))
    assert told == merged.client.history("mr_01JD3V8M2N5R7T9WXYZ0K7Q430")
    assert [each["title"][-2:] for each in told["replacements"][0]["replaced"]] == ["20", "21"]


def test_what_was_replaced_is_not_found(merged: Merged) -> None:
    for records in found(merged.client).values():
        assert "mr_01JD3V8M2N5R7T9WXYZ0K7Q420" not in [each["record_id"] for each in records]
    error, _hint = failed(merged.run("show", "K7Q420"))
    assert error == 'error: no memory ends in "K7Q420" in web-shop'


def test_nothing_is_undone_unasked(merged: Merged) -> None:
    completed = merged.run("undo", "K7Q430")
    assert (completed.returncode, completed.stdout) == (2, "")
    assert completed.stderr.splitlines()[-1] == "hint:  the same command with --yes"
    assert merged.client.memory("mr_01JD3V8M2N5R7T9WXYZ0K7Q430")


def test_the_answer_no_keeps_it(merged: Merged) -> None:
    code, lines = merged.at_terminal("undo", "K7Q430", typed="n\n")
    assert code == 1
    assert lines[-1].endswith("nothing was undone")
    assert merged.client.memory("mr_01JD3V8M2N5R7T9WXYZ0K7Q430")


def test_forgetting_says_that_what_it_replaced_goes_too(merged: Merged) -> None:
    code, lines = merged.at_terminal("forget", "K7Q430", typed="n\n")
    assert code == 1
    assert "         and 2 memories that it replaced" in lines


def test_undoing_all_of_it_finds_what_was_found_before(merged: Merged) -> None:
    code, lines = merged.at_terminal("undo", "K7Q430", typed="y\n")
    assert code == 0
    shown = [line for line in lines if line.startswith("  ")]
    assert [line.split()[:2] for line in shown[:3]] == [["back", "…K7Q420"], ["back", "…K7Q421"], ["goes", "…K7Q430"]]
    assert shown[3:] == ["          and what was learned from 1 event more"]
    assert lines[-1].endswith("2 memories back, searchable again")
    assert done(merged.run("undo", "K7Q431", "--yes")) == "✓ 2 memories back, searchable again\n"
    answer = json.loads(done(merged.run("undo", "K7Q432", "--yes", "--json")))
    assert answer["removed"] == ["mr_01JD3V8M2N5R7T9WXYZ0K7Q432"]
    assert answer["restored"] == ["mr_01JD3V8M2N5R7T9WXYZ0K7Q424", "mr_01JD3V8M2N5R7T9WXYZ0K7Q425"]
    assert found(merged.client) == merged.before


def test_what_replaced_nothing_is_left_alone(merged: Merged) -> None:
    merged.client.remember(record(NAMESPACE, 40))
    assert done(merged.run("history", "K7Q440")).endswith("\nIt replaced no other memory.\n")
    hint = "hint:  A memory that replaced nothing can only be forgotten."
    assert failed(merged.run("undo", "K7Q440")) == ["error: …K7Q440 replaced nothing", hint]
    assert failed(merged.run("undo", "K7Q440", "--yes"))[1] == hint
    with pytest.raises(RequestRefused, match="replaced nothing") as caught:
        merged.client.undo("mr_01JD3V8M2N5R7T9WXYZ0K7Q440")
    assert caught.value.status == 409
    merged.client.forget("mr_01JD3V8M2N5R7T9WXYZ0K7Q440")
