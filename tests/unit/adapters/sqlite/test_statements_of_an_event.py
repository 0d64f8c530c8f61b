"""The events of one commit ask only once whether their project takes them.

On a server each question costs as much as the event itself.
"""

from __future__ import annotations

from typing import Any

from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage, transact_one
from tests.unit.storage.builders import MINE, event

COUNT = 20


def test_the_events_of_a_commit_cost_two_statements_each() -> None:
    async def main() -> int:
        storage = InMemoryStorage()
        asked: list[str] = []

        def note(_cursor: Any, statement: str, _values: Any) -> bool:
            asked.append(statement)
            return True

        storage.connection.exec_trace = note
        events = [event(number, namespace=MINE) for number in range(COUNT)]
        await transact_one(storage, lambda tx: [tx.put_event(each, size_bytes=1, buffered=True) for each in events])
        return len(asked)

    assert simulate(main) <= 2 * COUNT + 8
