"""import: what other memories keep, handed to the daemon as memories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from kiro_learn.client.building import RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.model.namespace import Namespace, Project
from kiro_learn.services.import_survey import Survey
from kiro_learn.services.past_memories import FoundStore, PastMemories, as_record
from kiro_learn.wire.messages import write_record

BATCH_MEMORIES = 50
"""Of a request."""
MOST_NAMES = 10_000
"""Of projects, that are remembered."""


class AskedMemories(NamedTuple):
    """What is wanted of other memories, and where it goes."""

    past: PastMemories
    stores: Sequence[FoundStore]
    namespace_of: Callable[[str], Namespace]
    since: datetime | None
    namespace: Namespace | None
    """Only of this project."""
    now: datetime

    def records(self, found: FoundStore, skip: Callable[[str], None]) -> Iterator[dict[str, Any]]:
        for past in self.past.memories(found, skip):
            record = as_record(past, found, self.namespace_of(past.project), now=self.now)
            is_wanted = self.namespace in {None, record.namespace}
            if is_wanted and (self.since is None or record.created_at >= self.since):
                yield write_record(record)

    def batches(self, found: FoundStore, skip: Callable[[str], None]) -> Iterator[list[dict[str, Any]]]:
        batch: list[dict[str, Any]] = []
        for record in self.records(found, skip):
            batch.append(record)
            if len(batch) == BATCH_MEMORIES:
                yield batch
                batch = []
        if batch:
            yield batch

    def count_into(self, survey: Survey) -> None:
        for found in self.stores:
            for record in self.records(found, survey.skip):
                survey.keep(found.reader.title, date.fromisoformat(record["created_at"][:10]))


def namespace_finder(client: Client, project_of: Callable[[str], Project]) -> Callable[[str], Namespace]:
    """By a folder, or by a name that the daemon knows; of anything else in the user's own."""

    @lru_cache(MOST_NAMES)
    def namespace_of(project: str) -> Namespace:
        if project and not project.startswith("/"):
            try:
                return Namespace(client.project(project)["namespace"])
            except RequestRefused:
                return project_of("").namespace
        return project_of(project).namespace

    return namespace_of
