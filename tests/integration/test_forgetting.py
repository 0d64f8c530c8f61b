"""A real daemon forgets by every sort of selection: afterwards no file of its home holds a forgotten word."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import pytest

from kiro_learn.client import KiroLearn
from kiro_learn.client.routes import Client
from kiro_learn.errors import KiroLearnError
from tests.integration.cli.command_line import done, event, failed, kiro_learn
from tests.integration.cli.test_activity_verbs import project_in
from tests.integration.daemon_process import DaemonProcess, running_daemon
from tests.integration.storage.test_forgotten_everywhere import files_with

SETTINGS = {"KIRO_LEARN_EMBEDDING_ENABLED": "no", "KIRO_LEARN_LOG_LEVEL": "debug", "KIRO_LEARN_GRAPH_LEARN": "yes"}
GOES, STAYS = "Zanzibarium", "Madagascarite"


@attrs.frozen
class Story:
    """A home with two projects, of which some things are forgotten and others stay."""

    home: Path
    daemon: DaemonProcess
    client: Client
    shop: Path
    other: Path

    def report(self, folder: Path, number: int, word: str, *, is_learned: bool = True, **changes: Any) -> None:
        """Report a turn of a prompt and its answer, which is learned at once."""
        namespace = self.client.project(str(folder))["namespace"]
        _, _, actor_id, _, project_id, _ = namespace.split("/")
        texts = (
            ("prompt", f"We use {word} for the sessions of part {number}. Why is {word} slow there?"),
            ("session_summary", f"Decided to keep {word}: the queue of part {number} was never drained. " * 3),
        )
        for place, (kind, text) in enumerate(texts):
            told = event(namespace, str(folder), 2 * number + place + 10, text, kind=kind)
            self.client.post_event(told | {"actor_id": actor_id} | changes)
        if is_learned:
            self.client.flush(project_id)

    def knows(self, word: str) -> bool:
        """Whether anything with ``word`` is stored."""
        stored = json.dumps([self.client.memories(limit=100), self.client.events(limit=100)])
        return word in stored

    def forget(self, *arguments: str, piped: str = "") -> str:
        text = self.home.parent / "piped"
        text.write_text(piped)
        return done(kiro_learn(self.home, *arguments, "--yes", cwd=self.shop, piped=text))


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    home, shop, other = tmp_path / "home", project_in(tmp_path / "shop"), project_in(tmp_path / "other")
    with running_daemon(home, SETTINGS) as daemon, Client(home) as client:
        yield Story(home, daemon, client, shop, other)


def insist_it_is_gone(story: Story) -> None:
    assert not story.knows(GOES)
    assert files_with(story.home, GOES) == []
    assert story.knows(STAYS)
    story.daemon.stop()
    assert files_with(story.home, GOES) + files_with(story.home, GOES.lower()) == []


def both(story: Story, **goes: Any) -> None:
    """Report a turn to forget and one to keep, which differ by ``goes``. A backup has both."""
    story.report(story.shop, 1, STAYS)
    story.report(story.shop, 2, GOES, **goes)
    done(kiro_learn(story.home, "backup", "now"))
    assert files_with(story.home, GOES)


def test_by_session(story: Story) -> None:
    both(story, session_id="s2")
    said = story.forget("forget", "--session", "s2")
    assert "2 events" in said
    insist_it_is_gone(story)


def test_by_time(story: Story) -> None:
    both(story, valid_time="2026-03-01T10:00:00Z")
    story.forget("forget", "--since", "2026-03-01T00:00+00:00", "--until", "2026-03-02T00:00+00:00")
    insist_it_is_gone(story)


def test_by_source(story: Story) -> None:
    source = {"surface": "gemini", "version": "1", "client_id": "test", "project_path": str(story.shop)}
    both(story, source=source)
    story.forget("forget", "--source", "gemini")
    insist_it_is_gone(story)


def test_by_a_secret_that_is_never_an_argument(story: Story) -> None:
    both(story)
    story.report(story.other, 3, GOES)
    said = story.forget("forget", "--secret", piped=f"{GOES}\n")
    assert "4 events" in said
    assert GOES not in said
    insist_it_is_gone(story)


def test_by_a_secret_that_json_writes_otherwise(story: Story) -> None:
    secret = f'{GOES} "é\\n"'
    both(story)
    story.report(story.shop, 3, secret, session_id="s3")
    story.forget("forget", "--secret", piped=f"{GOES}\n")
    insist_it_is_gone(story)


def test_by_a_secret_that_backups_alone_have(story: Story) -> None:
    """As after an item of the graph was forgotten, which leaves them as they are, and says so."""
    added = done(kiro_learn(story.home, "preferences", "add", f"Always say {GOES}", "--json", cwd=story.shop))
    done(kiro_learn(story.home, "backup", "now"))
    said = done(kiro_learn(story.home, "preferences", "forget", json.loads(added)["id"], "--yes", cwd=story.shop))
    assert "Backups may still hold it until they make room; kiro-learn forget --secret removes a text from them" in said
    assert len(files_with(story.home, GOES)) == 1
    assert "what is left of it" in story.forget("forget", "--secret", piped=f"{GOES}\n")
    assert files_with(story.home, GOES) == []


def test_by_project(story: Story) -> None:
    story.report(story.other, 1, STAYS)
    story.report(story.shop, 2, GOES)
    with KiroLearn(story.shop, home=story.home) as memory:
        memory.store_knowledge(f"{GOES} expires", "After 15 minutes.", knowledge_type="decision")
    done(kiro_learn(story.home, "projects", "rename", str(story.shop), GOES))
    assert GOES in done(kiro_learn(story.home, "projects", "list"))
    story.forget("projects", "forget", GOES)
    assert GOES not in done(kiro_learn(story.home, "projects", "list"))
    insist_it_is_gone(story)


def test_by_query_with_the_events(story: Story) -> None:
    both(story)
    story.forget("forget", "--query", GOES, "--events")
    insist_it_is_gone(story)


def test_by_memory_with_the_events(story: Story) -> None:
    both(story)
    ids = [each["record_id"] for each in story.client.memories()["items"] if GOES in json.dumps(each)]
    story.forget("forget", *ids, "--events")
    insist_it_is_gone(story)


def test_a_backup_that_cannot_be_changed_is_named_and_deleted_when_asked(story: Story) -> None:
    both(story, session_id="s2")
    old = story.home / "backups" / "kiro-learn-v5-20260101T000000Z.db"
    shutil.copy(next((story.home / "backups").glob("*.db")), old)
    with closing(sqlite3.connect(old)) as copy:
        copy.execute("DELETE FROM _migrations WHERE version > 5")
        copy.commit()
    said = story.forget("forget", "--session", "s2")
    assert old.name in said
    assert files_with(story.home, GOES) == [old.name]
    story.forget("forget", "--session", "s2", "--delete-copies")
    assert not old.exists()
    insist_it_is_gone(story)


def test_damaged_backups_are_counted_and_named_by_those_who_look_at_backups(story: Story) -> None:
    both(story, session_id="s2")
    folder = story.home / "backups" / "damaged-20260101T000000Z"
    folder.mkdir()
    rotten = story.home / "backups" / "kiro-learn-daily-20260101T000000Z.db"
    for path in (folder / "kiro-learn.db", rotten):
        path.write_bytes(b"noise" * 10_000)
    said = story.forget("forget", "--session", "s2")
    assert "2 damaged backups may still hold it. --delete-copies deletes what kiro-learn backup list names." in said
    assert folder.name not in said
    assert rotten.name not in said
    listed = done(kiro_learn(story.home, "backup", "list"))
    assert folder.name in listed
    assert rotten.name in listed
    story.forget("forget", "--session", "s1", "--delete-copies")
    assert not folder.exists()
    assert not rotten.exists()


def test_what_one_memory_said_leaves_the_backups_at_the_next_start(story: Story) -> None:
    with KiroLearn(story.shop, home=story.home) as memory:
        stored = memory.store_knowledge(f"{GOES} expires", "After 15 minutes.", knowledge_type="decision")
        done(kiro_learn(story.home, "backup", "now"))
        memory.forget(str(stored))
    (copy,) = files_with(story.home, GOES)
    story.daemon.stop()
    with running_daemon(story.home, SETTINGS):
        wait_until(lambda: files_with(story.home, GOES) == [])
    assert copy in {path.name for path in (story.home / "backups").iterdir()}


def test_without_the_events_these_stay(story: Story) -> None:
    both(story)
    story.forget("forget", "--query", GOES)
    assert GOES not in json.dumps(story.client.memories(limit=100))
    assert GOES in json.dumps(story.client.events(limit=100))


def test_what_was_forgotten_is_not_taken_in_again(story: Story) -> None:
    both(story, session_id="s2")
    story.forget("forget", "--session", "s2")
    story.report(story.shop, 2, GOES, session_id="s2")
    insist_it_is_gone(story)


def test_it_shows_first_what_goes_and_asks(story: Story) -> None:
    both(story, session_id="s2")
    complaint = "\n".join(failed(kiro_learn(story.home, "forget", "--session", "s2", cwd=story.shop), code=2))
    assert re.search(r"Forget \d+ memor\w+, 2 events", complaint)
    assert GOES in complaint
    assert story.knows(GOES)


def test_nothing_named_is_an_error(tmp_path: Path) -> None:
    assert "say what to forget" in failed(kiro_learn(tmp_path, "forget"), code=2)[0]


@pytest.mark.parametrize(
    "verb", [("forget", "--session", "s"), ("memories", "list"), ("memories", "forget", "abcd"), ("search", "words")]
)
def test_a_project_beside_everywhere_is_an_error(tmp_path: Path, verb: tuple[str, ...]) -> None:
    complaint = failed(kiro_learn(tmp_path, *verb, "--everywhere", "--project", "shop"), code=2)
    assert "exclude each other" in complaint[0]


@pytest.mark.parametrize("seconds", [0.02, 0.15])
def test_a_daemon_that_is_killed_in_the_middle_goes_on_at_its_start(tmp_path: Path, seconds: float) -> None:
    """It is killed at some moment after the request was sent: either nothing is gone, or all of it goes."""
    home, shop = tmp_path / "home", project_in(tmp_path / "shop")
    with running_daemon(home, SETTINGS) as daemon, Client(home) as client:
        story = Story(home, daemon, client, shop, shop)
        story.report(shop, 1, STAYS)
        for number in range(2, 42):
            story.report(shop, number, GOES, is_learned=number == 41, session_id="s2")
        with ThreadPoolExecutor() as pool, KiroLearn(shop, home=home) as memory:
            asked = pool.submit(lambda: memory.forget_selected(project=shop, session="s2"))
            time.sleep(seconds)
            daemon.kill()
            assert asked.exception() is None or isinstance(asked.exception(), KiroLearnError)
    with running_daemon(home, SETTINGS) as daemon, Client(home) as client:
        story = Story(home, daemon, client, shop, shop)
        total = client.events(limit=100)["total"]
        if total == 82:  # it was killed before anything was written down
            story.forget("forget", "--session", "s2")
        wait_until(lambda: not story.knows(GOES) and files_with(home, GOES) == [])
        assert story.knows(STAYS)
