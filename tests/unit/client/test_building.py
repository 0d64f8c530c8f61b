"""Reading answers: their facts besides the results, and answers that are not understood."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any, assert_type

import pytest
import trio

import kiro_learn.client
from kiro_learn.client import (
    REPEATED,
    AnswerNotUnderstood,
    AsyncKiroLearn,
    Details,
    FilesUnchecked,
    KiroLearn,
    Repeat,
    RequestRefused,
    SearchResults,
    StoredId,
    calls,
    project_calls,
)
from kiro_learn.client.building import Call, Caller, DaemonPlace, Response, T

SHOP = Caller("shop")
PLACE = DaemonPlace(Path("/nowhere"), "http://daemon")
FOUND = {
    "id": "mr_1",
    "title": "t",
    "content": "c",
    "type": "manual",
    "project": "shop",
    "score": 1,
    "source": "keyword",
    "signals": {"semantic": 0, "fts5": 1, "recency": 0.5, "projectMatch": 1},
}


def read(call: Call[T], value: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> T:
    return PLACE.result_of(call, Response(status, headers or {}, json.dumps(value).encode()))


def test_results_say_what_is_missing_and_what_did_not_parse() -> None:
    value = {"results": [FOUND], "count": 1, "problem": {"position": 2, "problem": "expected a word"}}
    results = read(calls.search(SHOP, "q"), value, headers={"x-degraded": "words: slow; vectors: off"})
    assert [each.id for each in results] == ["mr_1"]
    assert (results.degraded, results.problem) == (("words: slow", "vectors: off"), "at character 3: expected a word")
    assert (results[0].signals.project_match, results[0].stale_at) == (1.0, None)


def test_keys_of_a_newer_daemon_are_passed_over() -> None:
    assert read(calls.search(SHOP, "q"), {"results": [FOUND | {"new": 1}], "count": 1, "new": 2})[0].title == "t"


@pytest.mark.parametrize("value", [{}, [], None, {"results": [{}]}, {"results": [FOUND | {"signals": []}]}, "text"])
def test_an_answer_of_another_shape_is_not_understood(value: Any) -> None:
    with pytest.raises(AnswerNotUnderstood, match="the daemon's answer to /api/search is not understood") as caught:
        read(calls.search(SHOP, "what is private"), value)
    assert caught.value.hint == "kiro-learn restart"
    assert caught.value.__cause__ is not None


def test_a_correction_that_is_refused_says_of_which_argument() -> None:
    said = {"error": "$.title: expected 1 to 200 characters", "details": [{"path": "$.title", "problem": "expected"}]}
    with pytest.raises(RequestRefused, match=r"^\$\.title: expected") as caught:
        PLACE.result_of(calls.edit(SHOP, "mr_1", title=""), Response(400, {}, json.dumps(said).encode()))
    assert caught.value.details == ({"path": "$.title", "problem": "expected"},)
    assert read(calls.edit(SHOP, "mr_1", title="t"), {"id": "mr_2", "replaced": "mr_1"}) == "mr_2"


@pytest.mark.parametrize("body", [b"oops", b"[]", b""])
def test_a_refusal_without_words_has_its_status(body: bytes) -> None:
    with pytest.raises(RequestRefused, match="the daemon answered with status 502"):
        PLACE.result_of(project_calls.sessions(SHOP), Response(502, {}, body))


def test_a_count_of_stale_memories_is_none_where_no_file_could_be_looked_at() -> None:
    found = {"folder": None, "stale": 0, "marked": 0, "cleared": 0, "unchecked": 3}
    with pytest.raises(FilesUnchecked, match="3 memories cite files that cannot be checked"):
        read(calls.detect_stale_observations(SHOP), found)
    assert read(calls.detect_stale(SHOP), found).unchecked == 3
    assert read(calls.detect_stale_observations(SHOP), found | {"unchecked": 0}) == 0


def test_a_report_counts_by_day_and_file() -> None:
    value = {
        "project": "shop",
        "period": "week",
        "since": "2026-01-05T12:00:00.000000Z",
        "until": "2026-01-12T12:00:00.000000Z",
        "observations": 3,
        "types": {"manual": 3},
        "days": {"2026-01-06": 3},
        "sessions": 1,
        "prompts": 2,
        "knowledge": [],
        "learned": ["t"],
        "next_steps": [],
        "files": [{"path": "a.py", "count": 2}],
    }
    report = read(project_calls.report(SHOP), value)
    assert (report.days[report.since.date().replace(day=6)], report.files) == (3, {"a.py": 2})


def test_results_survive_being_copied_to_another_process() -> None:
    results = read(calls.search(SHOP, "q"), {"results": [FOUND], "count": 1}, headers={"x-degraded": "words: slow"})
    copied = pickle.loads(pickle.dumps(results))  # noqa: S301  # our own
    assert (copied, copied.degraded) == (results, ("words: slow",))


def test_a_repeat_is_minus_one_and_says_what_was_not_kept() -> None:
    stored = read(calls.store_observation(SHOP, "t"), {"duplicate_of": "mr_1", "differs": ["text"]})
    copied = pickle.loads(pickle.dumps(stored))  # noqa: S301  # our own
    for each in (stored, copied):
        assert isinstance(each, Repeat)
        assert (each, each.duplicate_of, each.differs) == (REPEATED, "mr_1", ("text",))
    assert read(calls.store_observation(SHOP, "t"), {"id": "mr_2", "stored": True}) == "mr_2"


def test_what_was_forgotten_is_told_with_what_holds_its_words() -> None:
    value = {"record_id": "mr_1", "forgotten": True, "also_forgotten": ["mr_2"], "same_words": ["mr_3"]}
    assert read(calls.forget(SHOP, "mr_1"), value) == (("mr_1", "mr_2"), ("mr_3",))


class Canned(KiroLearn):
    """A client whose daemon finds one memory and stores everything."""

    def carry_out(self, call: Call[T]) -> T:
        return read(call, {"results": [FOUND], "count": 1, "id": "mr_1"})


class AsyncCanned(AsyncKiroLearn):
    async def carry_out(self, call: Call[T]) -> T:
        await trio.lowlevel.checkpoint()
        return read(call, {"results": [FOUND], "count": 1, "id": "mr_1"})


def test_methods_have_the_types_of_what_they_answer() -> None:
    """The type checker compares the types here with the methods."""
    memory = Canned("shop")
    assert_type(memory.hybrid_search("q", limit=1), SearchResults)
    assert_type(memory.search("q")[0].signals.semantic, float | None)
    assert_type(memory.store_observation("t"), StoredId)
    memory.search("q", limit="1")  # type: ignore[arg-type]  # what a type checker is to find

    async def scenario() -> None:
        remembered = AsyncCanned("shop")
        assert_type(await remembered.hybrid_search("q", limit=1), SearchResults)
        assert_type(await remembered.store_observation("t"), StoredId)

    trio.run(scenario)


def test_every_name_that_is_promised_is_there() -> None:
    assert {name for name in kiro_learn.client.__all__ if not hasattr(kiro_learn.client, name)} == set()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        kiro_learn.client.nothing  # noqa: B018  # type: ignore[attr-defined]  # not there on purpose


MEMORY = {
    "record_id": "mr_1",
    "namespace": "n",
    "strategy": "extractive",
    "observation_type": "discovery",
    "title": "t",
    "summary": "s",
    "created_at": "2026-01-05T12:00:00Z",
    "source_event_ids": ["e"],
}


def test_what_an_answer_does_not_say_is_empty() -> None:
    memory = read(calls.get(SHOP, "mr_1"), MEMORY | {"details": {"reason": "r"}})
    assert (memory.id, memory.type, memory.text, memory.facts) == ("mr_1", "discovery", "", ())
    assert (memory.stale_at, memory.importance, memory.source_event_ids) == (None, None, ("e",))
    assert memory.details == Details(None, "r", (), None, None, None, ())


@pytest.mark.parametrize("key", sorted(MEMORY.keys() - {"source_event_ids"}))
def test_what_an_answer_has_to_say_may_not_be_missing(key: str) -> None:
    with pytest.raises(AnswerNotUnderstood):
        read(calls.get(SHOP, "mr_1"), {name: value for name, value in MEMORY.items() if name != key})
