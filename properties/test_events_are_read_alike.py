"""The fast and the thorough reading of an event agree on the event, or both refuse it; and its size is correct."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import event as note
from hypothesis import example, given
from hypothesis import strategies as st

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.event import MOST_BYTES_OF_WEIGHT, Body, Event, JsonBody, TextBody, body_bytes, body_weight
from kiro_learn.testing.daemon import an_event
from kiro_learn.wire.messages import read_event_at_once, read_event_thoroughly, write_event
from properties.test_events_round_trip import bodies, events, json_values

MISSING = object()
ODD: st.SearchStrategy[Any] = st.one_of(
    st.just(MISSING),
    json_values,
    st.sampled_from(
        ["", "x" * 3000, "\ud800", 1, True, 1.0, "1", "prompt", "PROMPT", [], {}, {"type": "text"}, {"type": "message"},
         {"type": "text", "content": "x" * 1_048_577}, {"type": "message", "turns": [{"role": "", "content": 1}]},
         {"type": "json", "data": "\n" * 600_000}, "2026-01-05", "2026-01-05T12:00:00+01:00", "0" * 26]
    ),
)  # fmt: skip


@st.composite
def changed_events(draw: st.DrawFn) -> Any:
    """An event's JSON with some values replaced or removed."""
    value = write_event(draw(events))
    for _ in range(draw(st.integers(0, 2))):
        place = value["source"] if draw(st.booleans()) else value
        name, odd = draw(st.sampled_from([*sorted(place), "unknown"])), draw(ODD)
        if name == "source":
            continue
        if odd is MISSING:
            place.pop(name, None)
        else:
            place[name] = odd
    return value


def as_told(value: Any) -> Event | None:
    try:
        return read_event_thoroughly(value)
    except InvalidRequest:
        return None


@given(value=changed_events() | json_values | st.builds(lambda source: {"source": source}, json_values))
@example(value=write_event(an_event(1)) | {"source": []})
def test_an_event_is_read_alike_at_once_and_thoroughly(value: Any) -> None:
    at_once = read_event_at_once(value)
    note(f"an event: {at_once is not None}")
    assert at_once == as_told(value)
    assert at_once is None or type(at_once.kind) is type(an_event(1).kind)


@given(event=events)
def test_every_event_that_is_right_is_read_at_once(event: Event) -> None:
    assert read_event_at_once(json.loads(json.dumps(write_event(event)))) == event


@given(body=bodies)
@example(body=TextBody("\x00" * 50))
@example(body=JsonBody({"\x00" * 5: [-1.7976931348623157e308] * 5, "x": [{}, [], None, -(10**300), True]}))
def test_a_body_is_never_longer_than_its_weight_says(body: Body) -> None:
    assert body_bytes(body) <= MOST_BYTES_OF_WEIGHT * body_weight(body)
