from __future__ import annotations

import pytest

from kiro_learn.adapters.sqlite import rows
from kiro_learn.adapters.sqlite.damage import Row
from kiro_learn.errors import StorageCorrupt
from kiro_learn.model.ids import to_text
from tests.unit.storage.builders import DAWN, event, event_id

COLUMNS = (
    "event_id", "parent_event_id", "session_id", "actor_id", "namespace", "schema_version", "kind", "body_json",
    "valid_time", "source_json", "content_hash", "project_path",
)  # fmt: skip


def row_of(**changed: object) -> Row:
    values = rows.from_event(event(1), transaction_time=DAWN) | changed
    return tuple(values[column] for column in COLUMNS)


def test_a_row_is_the_event_again() -> None:
    assert rows.to_event(row_of()) == event(1)


@pytest.mark.parametrize(
    "changed",
    [
        {"body_json": "{"},
        {"body_json": '{"type":"picture"}'},
        {"body_json": '{"type":"text"}'},
        {"body_json": "3"},
        {"kind": "dream"},
        {"valid_time": "2026"},
        {"source_json": "{}"},
    ],
)
def test_a_row_that_cannot_be_decoded_is_named(changed: dict[str, str]) -> None:
    with pytest.raises(StorageCorrupt, match=f"the row of {event_id(1)} cannot be read"):
        rows.to_event(row_of(**changed))


def test_an_older_row_may_have_its_path_among_the_source() -> None:
    source = '{"surface":"kiro-cli","version":"1","client_id":"c","project_path":"/srv/app"}'
    assert rows.to_event(row_of(source_json=source)).source.project_path == "/srv/app"


def test_moments_are_written_in_utc_with_microseconds() -> None:
    assert rows.from_event(event(1), transaction_time=DAWN)["transaction_time"] == to_text(DAWN)
    assert to_text(DAWN) == "2026-01-05T12:00:00.000000Z"
