"""A real daemon has an agent learn again what was learned without a model; the history shows it and undoes it."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from kiro_learn.client.building import RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.errors import KiroLearnError
from tests.integration.cli.command_line import Completed, done, event, failed, kiro_learn
from tests.integration.cli.terminal import at_terminal
from tests.integration.daemon_process import running_daemon
from tests.integration.llm import bad_agent

PROJECT_ID = "cd" * 32
NAMESPACE = f"/actor/ana/project/{PROJECT_ID}/"
RULES = ("Always use pnpm here, never npm.", "Never commit to main directly, always open a pull request.")
TITLE = "Use pnpm, and pull requests"
BOTH = (
    f'<memory_record type="decision" events="1 2"><title>{TITLE}</title>'
    "<summary>Never npm; never commit to main directly, open a pull request.</summary></memory_record>"
)
WORDS_ONLY = {"KIRO_LEARN_EMBEDDING_ENABLED": "no"}


def agent(*behaviour: str) -> dict[str, str]:
    """The settings with which ``bad_agent`` learns."""
    command = shlex.join((sys.executable, "-I", "-S", bad_agent.__file__, *behaviour))
    return {**WORDS_ONLY, "KIRO_LEARN_LLM_BACKEND": "acp", "KIRO_LEARN_LLM_COMMAND": command}


@contextmanager
def serving(home: Path, settings: dict[str, str]) -> Iterator[Client]:
    """A daemon that is stopped in order, so that the next one can be waited for."""
    with running_daemon(home, settings) as daemon, Client(home) as client:
        try:
            yield client
        finally:
            daemon.stop()


def relearn(home: Path, *arguments: str) -> Completed:
    return kiro_learn(home, "relearn", "--project", "web-shop", *arguments)


def titles(client: Client) -> dict[str, str]:
    """The ids of all memories, by title."""
    return {each["title"]: each["record_id"] for each in client.memories(namespace=NAMESPACE)["items"]}


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A home whose memories were learned without a model, with a stopped daemon."""
    home = tmp_path_factory.mktemp("relearn") / "home"
    with serving(home, WORDS_ONLY) as client:
        for number, text in enumerate(RULES, start=10):
            told = event(NAMESPACE, "/somewhere/web-shop", number, text)
            client.post_event({**told, "session_id": f"s{number}"})
        client.flush(PROJECT_ID)
        weak = titles(client)
        assert len(weak) == 2
        assert failed(relearn(home, "--yes")) == [
            "error: no model is set up: as the settings say",
            "hint:  docs/models.md says how to set one up",
        ]
        with pytest.raises(RequestRefused) as refused:
            client.relearn(PROJECT_ID)
        assert refused.value.status == 409
        assert titles(client) == weak
    return home, weak


def test_a_better_model_came(learned: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    home, weak = learned
    answer = tmp_path / "answer"
    answer.write_text(BOTH, encoding="utf-8")
    with serving(home, agent("says", str(answer))) as client:
        preview = client.relearning(PROJECT_ID)
        assert (preview["records"], preview["events"], preview["calls"], preview["stays_here"]) == (2, 2, 1, False)
        assert failed(relearn(home), 2)[-1] == "hint:  the same command with --yes"
        code, _ = at_terminal(home, "relearn", "--project", "web-shop", typed="n\n")
        assert (code, titles(client)) == (1, weak)

        code, lines = at_terminal(home, "relearn", "--project", "web-shop", typed="\n", changes={"NO_COLOR": "1"})
        assert code == 0
        assert "Learn 2 memories of web-shop again, by a model" in lines
        assert "✓ 2 memories replaced by 1 learned by " in lines[-2]
        assert lines[-1] == "  Undo one: kiro-learn memories undo MEMORY"

        (title, record_id) = titles(client).popitem()
        assert (title, client.memory(record_id)["strategy"]) == (TITLE, "llm-summary")
        (change,) = client.history(record_id)["replacements"]
        assert (change["reason"], {each["title"] for each in change["replaced"]}) == ("relearned", set(weak))
        shown = done(kiro_learn(home, "memories", "history", record_id, "--project", "web-shop"))
        assert "learned again from 2 memories" in shown

        nothing = {
            **dict.fromkeys(("events", "records", "replaced", "protected", "batches", "left"), 0),
            "stopped_because": None,
            "too_little": None,
        }
        assert json.loads(done(relearn(home, "--yes", "--json"))) == nothing
        done(kiro_learn(home, "memories", "undo", record_id, "--yes", "--project", "web-shop"))
        assert titles(client) == weak


def test_a_model_that_fails_changes_nothing_and_says_why(learned: tuple[Path, dict[str, str]]) -> None:
    home, weak = learned
    with serving(home, agent("dies")) as client:
        ended = relearn(home, "--yes")
        assert ended.returncode == 1
        assert all(line.startswith("Learning web-shop again") for line in ended.stderr.splitlines()), "how far it is"
        lines = ended.stdout.splitlines()
        assert lines[0].startswith("! No memory was replaced")
        assert lines[1].endswith("ended with exit code 3 before it had answered")
        assert lines[2:] == [
            "  2 memories learned without a model stay",
            "  Go on: kiro-learn relearn --project web-shop",
        ]
        assert titles(client) == weak


def test_since_takes_a_date_or_a_time_and_nothing_else(learned: tuple[Path, dict[str, str]]) -> None:
    home, weak = learned
    with serving(home, agent("ok")) as client:
        error, hint = failed(relearn(home, "--since", "yesterday"), 2)
        assert error.endswith("expected 2026-01-05 or 2026-01-05T12:00")
        assert hint == "hint:  kiro-learn relearn --help"
        for moment in ("2026-02-01", "2026-01-16T23:59+00:00"):
            assert done(relearn(home, "--since", moment)) == "✓ Nothing in web-shop is left to be learned again\n"
        assert client.relearning(PROJECT_ID, since="2026-01-16")["records"] == 2
        assert titles(client) == weak


def test_a_stop_ends_it_and_leaves_no_agent_behind(learned: tuple[Path, dict[str, str]]) -> None:
    home, weak = learned
    settings = {**agent("hangs"), "KIRO_LEARN_SERVER_DRAIN_SECONDS": "0.2"}
    with running_daemon(home, settings) as daemon, ThreadPoolExecutor() as threads, Client(home) as client:
        asked = threads.submit(client.relearn, PROJECT_ID)
        process = psutil.Process(daemon.process.pid)
        deadline = time.monotonic() + 10
        while not (children := process.children()) and time.monotonic() < deadline:
            time.sleep(0.005)
        assert children
        assert daemon.stop() == 0
        assert not any(child.is_running() for child in children)
        assert isinstance(asked.exception(), KiroLearnError)
    with serving(home, WORDS_ONLY) as client:
        assert titles(client) == weak


def test_the_graph_that_is_turned_on_reads_the_past(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "web-shop"
    with serving(home, WORDS_ONLY) as client:
        for number, text in enumerate((*RULES, "We use Redis for the sessions.", "We don't use Redis any more."), 10):
            client.post_event({**event(NAMESPACE, str(folder), number, text), "session_id": f"s{number}"})
        client.flush(PROJECT_ID)
        assert failed(relearn(home, "--graph"))[-1] == "hint:  kiro-learn config set graph.learn true"
    with serving(home, {**WORDS_ONLY, "KIRO_LEARN_GRAPH_LEARN": "yes"}):
        for _ in range(2):
            read = json.loads(done(relearn(home, "--graph", "--json")))
            assert (read["events"], read["problem"]) == (4, None)
            listed = json.loads(done(kiro_learn(home, "facts", "list", "--all", "--json", "--project", "web-shop")))
            assert [each["object"] for each in listed["items"]] == ["Redis"]
            assert listed["items"][0]["validity"]["valid_until"]
        assert "4 events of web-shop read: " in done(relearn(home, "--graph"))
        wishes = json.loads(done(kiro_learn(home, "preferences", "list", "--json", "--project", "web-shop")))
        assert len(wishes["items"]) >= 1
        assert failed(relearn(home, "--graph", "--dry-run"), 2)
