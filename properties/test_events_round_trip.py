from __future__ import annotations

import re
from datetime import timedelta, timezone
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.adapters.sqlite import rows
from kiro_learn.adapters.sqlite.statements import EVENT_COLUMNS
from kiro_learn.model.event import Event, EventKind, JsonBody, MessageBody, Source, TextBody, Turn

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
json_text = st.text(max_size=10)  # JSON can spell a lone surrogate
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | json_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(json_text, inner, max_size=3),
)
ids = st.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", min_size=25, max_size=25).map(lambda tail: f"0{tail}")
offsets = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
bodies = st.one_of(
    st.builds(TextBody, text),
    st.builds(MessageBody, st.lists(st.builds(Turn, names, text), min_size=1, max_size=3).map(tuple)),
    st.builds(JsonBody, json_values),
)
sources = st.builds(Source, surface=names, version=names, client_id=names, project_path=st.none() | names)
events = st.builds(
    Event,
    event_id=ids,
    session_id=names,
    actor_id=names,
    namespace=st.just("/actor/ann/project/p/"),
    schema_version=st.just(1),
    kind=st.sampled_from(EventKind),
    body=bodies,
    valid_time=st.datetimes(timezones=offsets).filter(lambda moment: 1 < moment.year < 9999),
    source=sources,
    parent_event_id=st.none() | ids,
    content_hash=st.none() | st.just("sha256:" + "a" * 64),
)


@given(event=events)
def test_events_round_trip(event: Event) -> None:
    """An event can be read back from its row, with any texts, numbers and time zone; and the row is valid UTF-8."""
    values = rows.from_event(event, transaction_time=event.valid_time)
    for value in values.values():
        assert not isinstance(value, str) or value.encode()
    row = [values[column] for column in re.findall(r"e\.(\w+)", EVENT_COLUMNS)]
    assert rows.to_event(tuple(value.encode() if isinstance(value, str) else value for value in row)) == event
