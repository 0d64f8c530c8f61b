"""Past sessions are made into events before they are sent to the daemon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import attrs
import pytest

from kiro_learn.learning.extraction.splitting import BEFORE
from kiro_learn.model.event import EventKind, TextBody
from kiro_learn.model.ids import derived_event_id
from kiro_learn.model.namespace import Namespace, Project
from kiro_learn.ports.histories import HELD, HistoryPlace, PastEvent, PastSession, Skipped
from kiro_learn.services.histories import BEFORE_SINCE, OF_OURS, UNREADABLE, PastSessions, WantedSessions, as_event

NOW = datetime(2026, 11, 1, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=10)
PLACE = HistoryPlace(user=Path("/home/ann"), environment={})


def session(name: str = "s", *, changed_at: datetime = LONG_AGO, state: str = "1") -> PastSession:
    return PastSession(session_id=name, path=Path(f"/{name}"), changed_at=changed_at, size_bytes=1, state=state)


def prompt(text: str, at: datetime | None = LONG_AGO, **changes: object) -> PastEvent:
    event = PastEvent(
        session_id="s", kind=EventKind.PROMPT, key=text, body=TextBody(text), happened_at=at, folder="/src/shop"
    )
    return attrs.evolve(event, **changes)  # type: ignore[arg-type]  # a test's own


@attrs.define
class Told:
    """A ``HistoryReader`` that returns given sessions and events."""

    told: Iterable[PastEvent] = ()
    found: Iterable[PastSession] = (session(),)
    name: str = "told"
    title: str = "Told"
    agent: str = "told"

    def sessions(self, _place: HistoryPlace) -> Iterator[PastSession]:
        yield from self.found

    def events(self, _session: PastSession, _skipped: Skipped) -> Iterator[PastEvent]:
        yield from self.told


class Broken(Told):
    def events(self, _session: PastSession, _skipped: Skipped) -> Iterator[PastEvent]:
        yield prompt("one")
        raise PermissionError


@attrs.define
class Record:
    """An ``ImportRecord`` in memory."""

    states: dict[str, str] = attrs.Factory(dict)

    def has(self, key: str, state: str) -> bool:
        return self.states.get(key) == state

    def add(self, key: str, state: str) -> None:
        self.states[key] = state


def past(*readers: Told, record: Record | None = None) -> PastSessions:
    return PastSessions(readers, PLACE, record or Record(), now=NOW)


def read(reader: Told, **options: datetime) -> tuple[list[PastEvent], Counter[str]]:
    skipped: Counter[str] = Counter()
    sessions = past(reader)
    [found] = sessions.found(WantedSessions())
    return list(sessions.events(found, lambda reason: skipped.update([reason]), **options)), skipped


def texts(events: Iterable[PastEvent]) -> list[str]:
    return [event.body.content for event in events if isinstance(event.body, TextBody)]


def test_sessions_come_newest_first_and_those_that_are_known_do_not_come() -> None:
    days = [session(f"s{day}", changed_at=LONG_AGO + timedelta(days=day)) for day in (1, 3, 2)]
    sessions = past(Told(found=days), Told(found=[session("other")], name="other"), record=Record())
    assert [each.session.session_id for each in sessions.found(WantedSessions())] == ["s3", "s2", "s1", "other"]
    assert [each.session.session_id for each in sessions.found(WantedSessions(limit=1))] == ["s3"]
    wanted = WantedSessions(sources=["told"], since=days[2].changed_at)
    assert [each.session.session_id for each in sessions.found(wanted)] == ["s3", "s2"]
    sessions.note_imported(sessions.found(wanted)[0], ())
    assert [each.session.session_id for each in sessions.found(wanted)] == ["s2"]


def test_a_session_that_changed_is_read_again() -> None:
    record = Record()
    before = past(Told(), record=record)
    before.note_imported(before.found(WantedSessions())[0], {BEFORE_SINCE: 1})
    assert past(Told(), record=record).found(WantedSessions()) == []
    assert len(past(Told(found=[session(state="2")]), record=record).found(WantedSessions())) == 1


def test_a_session_that_goes_on_keeps_its_last_answer_back_and_is_read_again() -> None:
    answer = prompt("done", kind=EventKind.SESSION_SUMMARY, may_go_on=True)
    for changed_at, expected in ((NOW - timedelta(minutes=1), ["go on"]), (LONG_AGO, ["go on", "done"])):
        record = Record()
        sessions = past(Told([prompt("go on"), answer], [session(changed_at=changed_at)]), record=record)
        [found] = sessions.found(WantedSessions())
        assert texts(sessions.events(found, lambda _reason: None)) == expected
        sessions.note_imported(found, ())
        assert bool(record.states) is (changed_at == LONG_AGO)


def test_what_we_told_is_cut_out_and_what_we_asked_a_model_is_left_out() -> None:
    told = [prompt("fix it\n\n## Prior observations from kiro-learn\n\n### The basket"), prompt("and the cart")]
    assert texts(read(Told(told))[0]) == ["fix it", "and the cart"]
    assert texts(read(Told([prompt("## Prior observations from kiro-learn\n")]))[0]) == []
    events, skipped = read(Told([prompt(BEFORE), prompt("more")]))
    assert (events, dict(skipped)) == ([], {OF_OURS: 1})


def test_times_grow_within_a_second_and_one_in_the_future_is_none() -> None:
    told = [prompt("a"), prompt("b"), prompt("c", None), prompt("d", NOW + timedelta(seconds=1))]
    moments = [event.happened_at for event in read(Told(told))[0]]
    tick = timedelta(milliseconds=1)
    assert moments == [LONG_AGO, LONG_AGO + tick, LONG_AGO + 2 * tick, LONG_AGO + 3 * tick]
    for unusable in (None, NOW + timedelta(days=1)):
        assert read(Told([prompt("a", unusable)]))[0][0].happened_at == session().changed_at


def test_what_is_from_before_is_counted() -> None:
    told = [prompt("old", LONG_AGO - timedelta(days=1)), prompt("new")]
    events, skipped = read(Told(told), since=LONG_AGO)
    assert (texts(events), dict(skipped)) == (["new"], {BEFORE_SINCE: 1})


def test_a_session_that_cannot_be_read_to_its_end_is_counted() -> None:
    events, skipped = read(Broken())
    assert (texts(events), dict(skipped)) == (["one"], {UNREADABLE: 1})


@pytest.mark.parametrize("reason", [UNREADABLE, HELD])
def test_a_session_that_could_not_be_read_is_read_again_though_its_file_is_the_same(reason: str) -> None:
    """Rights that are given later, and a program that ends, change nothing about the file."""
    record = Record()
    sessions = past(Told(), record=record)
    sessions.note_imported(sessions.found(WantedSessions())[0], {reason: 1})
    assert record.states == {}


def test_an_event_is_as_a_hook_would_have_reported_it() -> None:
    place = Project(Namespace("/actor/ann%2Fb/project/p/"), "p", "/src/shop")
    event = as_event(prompt("go on"), place, agent="claude-code")
    assert event.event_id == derived_event_id("s", "prompt", "go on")
    assert (event.actor_id, event.namespace, event.valid_time) == ("ann/b", place.namespace, LONG_AGO)
    assert (event.source.surface, event.source.project_path) == ("claude-code", "/src/shop")
