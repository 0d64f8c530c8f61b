"""The demo's history: past, complete, and without a secret in any file."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kiro_learn.frontends.cli import demo_history
from kiro_learn.frontends.cli.demo_history import Scene
from kiro_learn.frontends.cli.projects import Project
from kiro_learn.wire.messages import read_event

PROJECT = Project("web-shop", "/actor/a%2Fb/project/abc/", "abc")


def scene(now: datetime) -> Scene:
    return Scene(PROJECT, "/demo/web-shop", now)


@pytest.mark.parametrize("day", range(8))
def test_the_history_lies_in_the_last_two_weeks(day: int) -> None:
    now = datetime(2026, 11, 16, 8, 0, tzinfo=UTC) + timedelta(days=day)
    events = [chapter.event for chapter in demo_history.chapters(scene(now))]
    events.append(demo_history.prompt(scene(now), "why?"))
    moments = [read_event(event).valid_time for event in events]
    assert moments == sorted(moments)
    assert now - timedelta(days=14) < moments[0] < moments[-1] < now
    assert [f"{moment:%a}" for moment in moments][0::7] == ["Mon", "Mon", "Fri"]


def test_events_are_such_as_the_daemon_takes() -> None:
    chapters = demo_history.chapters(scene(datetime.now(UTC)))
    events = [read_event(chapter.event) for chapter in chapters]
    assert len(events) == 14
    assert {event.actor_id for event in events} == {"a/b"}


def test_the_key_is_made_up_each_time_and_stands_in_no_file() -> None:
    def key() -> str:
        texts = [
            chapter.event["body"].get("content", "") for chapter in demo_history.chapters(scene(datetime.now(UTC)))
        ]
        return next(str(text) for text in texts if text.startswith("my key is "))

    assert key() != key()
    assert "gh" + "p_" not in Path(demo_history.__file__).with_suffix(".jsonl").read_text()


def test_captions_say_who_did_what() -> None:
    captions = [
        tuple(demo_history.captions(chapter.event)) for chapter in demo_history.chapters(scene(datetime.now(UTC)))
    ]
    assert ("you", "good morning") in captions
    assert ("agent", "Bash pnpm test auth: 1 failed, 41 passed") in captions
    assert all(len(caption) == 2 for caption in captions)
