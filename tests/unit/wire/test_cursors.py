from __future__ import annotations

from kiro_learn.wire.cursors import cursor_after, place_of
from tests.unit.storage.builders import event


def test_a_cursor_leads_back_to_its_place() -> None:
    assert place_of(cursor_after(event(1))) == (event(1).valid_time, event(1).event_id)
