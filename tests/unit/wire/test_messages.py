"""The messages that are accepted, and the errors for the rest."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.event import MOST_BYTES_OF_WEIGHT, JsonBody, MessageBody, TextBody, Turn, body_bytes, body_weight
from kiro_learn.wire.messages import read_event, read_json, read_record, write_event, write_record

EVENT: dict[str, Any] = {
    "event_id": "01JD3V8M2N5R7T9WXYZ0K7Q4M2",
    "session_id": "s",
    "actor_id": "ada",
    "namespace": "/actor/ada/project/p/",
    "schema_version": 1,
    "kind": "prompt",
    "body": {"type": "text", "content": "why?"},
    "valid_time": "2026-01-05T12:17:31+02:00",
    "source": {"surface": "kiro-cli", "version": "1", "client_id": "host"},
}
RECORD: dict[str, Any] = {
    "record_id": "mr_01JD3V8M2N5R7T9WXYZ0K7Q4M2",
    "namespace": "/actor/ada/project/p/",
    "strategy": "test",
    "title": "t",
    "summary": "s",
    "observation_type": "error",
    "source_event_ids": ["01JD3V8M2N5R7T9WXYZ0K7Q4M2"],
    "created_at": "2026-01-01T00:00:00Z",
}


def problems(read: Any, value: Any) -> dict[str, str]:
    with pytest.raises(InvalidRequest) as caught:
        read(value)
    return dict(caught.value.problems)


def test_an_event_comes_back_as_it_went() -> None:
    for body in (TextBody("x"), MessageBody((Turn("user", "a"), Turn("agent", "b"))), JsonBody({"a": [1, None, "ü"]})):
        event = attrs.evolve(read_event(EVENT), body=body)

        assert event == read_event(json.loads(json.dumps(write_event(event))))


def test_times_are_kept_in_utc() -> None:
    assert write_event(read_event(EVENT))["valid_time"] == "2026-01-05T10:17:31.000000Z"


def test_unknown_keys_are_ignored() -> None:
    assert read_event(EVENT) == read_event({**EVENT, "colour": "blue", "source": {**EVENT["source"], "x": 1}})


def test_every_problem_is_named_at_once_with_its_path() -> None:
    bad = {
        **EVENT,
        "event_id": "x",
        "session_id": None,
        "kind": "poem",
        "schema_version": 2,
        "body": {"type": "message", "turns": [{"role": 1, "content": "x"}, {"role": "user"}]},
        "valid_time": "2026-01-05T12:17:31",
        "source": {"surface": "", "version": 1},
    }

    assert set(problems(read_event, bad)) == {
        "$.event_id",
        "$.session_id",
        "$.kind",
        "$.schema_version",
        "$.body.turns[0].role",
        "$.body.turns[1].content",
        "$.valid_time",
        "$.source.surface",
        "$.source.version",
        "$.source.client_id",
    }


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([], "$"),
        (None, "$"),
        ({**EVENT, "body": {"type": "song"}}, "$.body.type"),
        ({**EVENT, "body": {}}, "$.body.type"),
        ({**EVENT, "body": []}, "$.body"),
        ({**EVENT, "body": {"type": "message", "turns": []}}, "$.body.turns"),
        ({**EVENT, "body": {"type": "text", "content": "x" * 1_048_577}}, "$.body.content"),
        ({**EVENT, "body": {"type": "json", "data": "ü" * 600_000}}, "$.body"),
        ({**EVENT, "body": {"type": "text", "content": "\ud800"}}, "$.body.content"),
        ({**EVENT, "schema_version": True}, "$.schema_version"),
        ({**EVENT, "namespace": "/actor/a/b/project/p/"}, "$.namespace"),
        ({**EVENT, "parent_event_id": ""}, "$.parent_event_id"),
        ({**EVENT, "content_hash": "md5:1"}, "$.content_hash"),
        ({**EVENT, "event_id": "01jd3v8m2n5r7t9wxyz0k7q4m2"}, "$.event_id"),
    ],
)
def test_a_wrong_value_is_refused_by_its_path(value: Any, path: str) -> None:
    assert path in problems(read_event, value)


@pytest.mark.parametrize("blank", [" ", "\n", "\u200b"])
def test_a_record_that_nobody_can_see_is_refused(blank: str) -> None:
    assert problems(read_record, {**RECORD, "title": blank, "summary": blank}).keys() >= {"$.title", "$.summary"}


def test_a_body_is_measured_in_bytes_not_in_characters() -> None:
    assert "$.body" in problems(read_event, {**EVENT, "body": {"type": "text", "content": "ü" * 524_288}})


def test_a_record_comes_back_as_it_went() -> None:
    full = {
        **RECORD,
        "facts": ["f"],
        "importance": 7,
        "origin": "user",
        "knowledge_type": "constraint",
        "files_read": ["a"],
    }
    for value in (RECORD, full):
        record = read_record(value)

        assert record == read_record(json.loads(json.dumps(write_record(record))))


def test_an_optional_field_that_says_nothing_stays_off_the_wire() -> None:
    assert set(write_record(read_record(RECORD))) == {*RECORD, "facts", "concepts", "files_touched"}


def test_items_are_named_by_their_index() -> None:
    found = problems(read_record, {**RECORD, "facts": ["ok", ""], "source_event_ids": ["x"], "importance": 11})

    assert set(found) == {"$.facts[1]", "$.source_event_ids[0]", "$.importance"}


@pytest.mark.parametrize("text", ["", "{", '{"a": NaN}', '{"a": 1e999}', "[" * 100_000, b"\xff"])
def test_what_is_no_json_is_refused(text: str | bytes) -> None:
    assert set(problems(read_json, text)) == {"$"}


def nested(depth: int) -> Any:
    value: Any = "bottom"
    for _ in range(depth):
        value = [value]
    return value


def test_deep_json_comes_back_as_it_went() -> None:
    event = read_event({**EVENT, "body": {"type": "json", "data": nested(200)}})

    assert write_event(event)["body"]["data"] == nested(200)


@pytest.mark.parametrize("depth", [201, 50_000])
def test_json_that_is_nested_too_deep_is_refused_in_words(depth: int) -> None:
    found = problems(read_event, {**EVENT, "body": {"type": "json", "data": nested(depth)}})

    assert found == {"$.body": "expected at most 200 levels of JSON"}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "latin-1"])
def test_json_is_utf8_and_no_other_encoding_is_guessed(encoding: str) -> None:
    with pytest.raises(InvalidRequest):
        read_json('{"caf\u00e9": 1}'.encode(encoding))
    assert read_json('{"caf\u00e9": 1}'.encode("utf-8-sig")) == {"caf\u00e9": 1}


def test_a_number_of_many_digits_weighs_no_less_than_it_is_long() -> None:
    """A body is written out and measured only if its weight is great; a low weight would let a long body in."""
    body = JsonBody([10**4000])
    assert body_bytes(body) <= MOST_BYTES_OF_WEIGHT * body_weight(body)
