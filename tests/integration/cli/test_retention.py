"""Letting go by age, from the terminal, with a real daemon: shown, asked about, done, and gone from the file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kiro_learn.client import KiroLearn
from kiro_learn.client.routes import Client
from tests.integration.cli.command_line import done, event, failed, kiro_learn
from tests.integration.cli.test_activity_verbs import project_in
from tests.integration.daemon_process import running_daemon

SETTINGS = {"KIRO_LEARN_EMBEDDING_ENABLED": "no", "KIRO_LEARN_LLM_BACKEND": "extractive"}
SECRET = "zanzibar"
OUTPUT = f"the {SECRET} of the build " * 400


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """The home of a daemon that learned a turn of last January."""
    home, folder = tmp_path / "home", project_in(tmp_path / "web-shop")
    with running_daemon(home, SETTINGS), Client(home) as client:
        with KiroLearn(folder, home=home) as memory:
            memory.store_knowledge("Tokens expire", "After 15 minutes.", knowledge_type="decision")
        namespace = client.memories()["items"][0]["namespace"]
        _, _, actor_id, _, project_id, _ = namespace.split("/")
        bodies = (
            ("prompt", {"type": "text", "content": "Why does the build of the web shop take so long?"}),
            ("tool_use", {"type": "json", "data": {"tool_name": "Bash", "tool_response": OUTPUT}}),
            (
                "session_summary",
                {
                    "type": "text",
                    "content": "The build was slow because it resolved all packages twice; now once. " * 3,
                },
            ),
        )
        for number, (kind, body) in enumerate(bodies, start=1):
            told = event(namespace, str(folder), number, "", kind=kind) | {"actor_id": actor_id, "body": body}
            client.post_event(told | {"valid_time": f"2026-01-05T10:00:0{number}Z"})
        client.flush(project_id)
        yield home


def test_it_is_shown_then_done_and_gone_from_the_file(home: Path) -> None:
    database = home / "kiro-learn.db"
    shown = done(kiro_learn(home, "retention", "--events", "30"))
    assert "contents of 3 events older than 30 days" in shown
    assert "Remove it: kiro-learn retention --events 30 --apply" in shown
    assert failed(kiro_learn(home, "retention", "--events", "30", "--apply"), code=2)
    assert SECRET in events(home)
    went = json.loads(done(kiro_learn(home, "retention", "--events", "30", "--apply", "--yes", "--json")))
    assert went["events"]["count"] == 3
    assert went["events"]["bytes"] > len(OUTPUT)
    assert SECRET not in events(home)
    for path in (database, Path(f"{database}-wal")):
        assert SECRET.encode() not in path.read_bytes()
    assert done(kiro_learn(home, "retention", "--events", "30", "--apply")).endswith(
        "Nothing is old enough to be removed\n"
    )


def test_the_command_that_is_shown_lets_go_what_was_shown(home: Path) -> None:
    """A rule that was turned off this time is turned off in the command too, since the settings may differ."""
    shown = done(kiro_learn(home, "retention", "--events", "30", "--distill", "0"))
    assert "Remove it: kiro-learn retention --events 30 --distill 0 --apply" in shown


def test_by_the_settings_nothing_goes(home: Path) -> None:
    assert "never, by these rules" in done(kiro_learn(home, "retention"))
    assert SECRET in events(home)


@pytest.mark.parametrize("days", ["-1", "x", "36501"])
def test_days_that_are_none_are_refused(tmp_path: Path, days: str) -> None:
    assert failed(kiro_learn(tmp_path, "retention", "--distill", days), code=2)


def events(home: Path) -> str:
    with Client(home) as client:
        return json.dumps(client.events())
