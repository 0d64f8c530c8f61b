"""Routes that list, read, search, store, import, pin and forget memories, list what one replaced, and undo that.

A search looks into one project or all of them in one request; what all search routes share is here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import attrs

from kiro_learn.errors import InvalidRequest, QuerySyntaxError
from kiro_learn.frontends.http.answers import Answer, Refused, header_value, json_answer
from kiro_learn.frontends.http.operations import (
    FILTERS,
    Query,
    choice,
    filter_of,
    flag,
    integer,
    optional_folder,
    optional_namespace,
    optional_text,
    required_namespace,
    required_text,
    wrong,
)
from kiro_learn.frontends.http.routes import NDJSON, Request, Route
from kiro_learn.model.correction import Replacement
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import EVERYTHING, MemoryRecord
from kiro_learn.model.retrieval import Feedback, SearchMode
from kiro_learn.services.placing import Wanted
from kiro_learn.services.search import ProjectsFound
from kiro_learn.services.services import Services
from kiro_learn.wire.cursors import record_cursor_after
from kiro_learn.wire.messages import event_answer, feedback_answer, read_json, read_record, write_record, write_value
from kiro_learn.wire.structuring import new_converter, structure

DIGITS = 6
"""Significant digits of a score: bm25 is tiny if a word is in every record."""

QUERY = required_text("query", "The text to search for.")
MOST_RESULTS = integer("limit", "The most results.", default=10, least=1, most=100)
MODE = choice(
    "mode",
    "How to search: by words and meaning (hybrid), by one of them, or by the syntax of FTS5.",
    options=tuple(SearchMode),
)
SEARCHED = optional_namespace("namespace", "The project to search.")
FOLDER = optional_folder("cwd", "A folder in the project to search.")
PROJECT_FOLDER = optional_folder("cwd", "A folder in the project of the memories, by which it is listed.")

WANTED = (MOST_RESULTS, MODE, *FILTERS)


def search_routes(services: Services) -> Iterator[Route]:
    async def search(request: Request) -> Answer:
        asked, query = request.query, QUERY.read(request.query)
        namespace, folder = SEARCHED.read(asked), FOLDER.read(asked)
        if namespace is not None and folder is not None:
            raise wrong("cwd does not go with namespace", FOLDER.name, "expected one of the two")
        wanted = wanted_of(asked)
        with refusing_syntax(QUERY.name):
            if namespace is not None:
                found = await services.project_search.in_project(namespace, query, wanted)
            elif folder is not None:
                found = await services.project_search.in_folder(folder, query, wanted)
            else:
                found = await services.project_search.everywhere(query, wanted)
        return json_answer(_answered(found))

    yield Route("GET", "/v1/search", search, parameters=(QUERY, *WANTED, SEARCHED, FOLDER))


def wanted_of(query: Query) -> Wanted:
    """The values of a search with a mode. Raises Refused."""
    return Wanted(limit=MOST_RESULTS.read(query), mode=SearchMode(MODE.read(query)), filter=filter_of(query))


@contextmanager
def refusing_syntax(parameter: str, otherwise: str = "mode=lexical") -> Iterator[None]:
    """Refuse a query that does not parse: ``details`` has the place in ``parameter``, the hint another way to ask."""
    try:
        yield
    except QuerySyntaxError as error:
        hint = error.hint or f"Put what is meant literally in double quotes, or ask with {otherwise}."
        details = {"path": parameter, "position": error.position, "problem": error.problem}
        value = {"error": "the query does not parse", "hint": hint, "details": [details]}
        raise Refused(json_answer(value, status=400)) from error


def significant(score: float) -> float:
    """``score`` to ``DIGITS`` significant digits, whatever its power of ten."""
    return float(f"{score:.{DIGITS}g}")


def _answered(answered: ProjectsFound) -> dict[str, Any]:
    """All that a person is shown of a search; ``project`` is None if all were searched."""
    found = answered.found
    return {
        "project": write_value(answered.project),
        "hits": [
            {
                "rank": rank,
                "score": significant(each.score),
                "parts": {name: significant(part) for name, part in each.parts.items()},
                "found_by": list(each.found_by),
                "project": answered.names[each.record.namespace],
                "memory": write_record(each.record),
            }
            for rank, each in enumerate(found.memories, start=1)
        ],
        "elsewhere_count": answered.elsewhere_count,
        "memory_count": answered.memory_count,
        "latency_ms": answered.latency_ms,
        "degraded": list(found.degraded),
        "damaged": list(found.damaged),
        **({"nothing_near": True} if found.is_nothing_near else {}),
    }


NAMESPACE = required_namespace("namespace", "The project.")
ANY_NAMESPACE = optional_namespace("namespace", "Only of this project.")
LIMIT = integer("limit", "The most memories of a page.", default=100, least=1, most=500)
SAME_WORDS = flag("same_words", "Also forget other memories that hold the same words.")
CURSOR = optional_text("cursor", "The next_cursor of the previous page.")
OFFSET = integer("offset", "How many memories to skip.", default=0, least=0, most=2**31)


def memory_routes(services: Services) -> Iterator[Route]:
    yield from _one_by_one(services)
    yield from _many(services)


def _one_by_one(services: Services) -> Iterator[Route]:
    async def put(request: Request) -> Answer:
        record = read_record(request.json())
        await services.remember.put(record)
        return json_answer({"record_id": record.record_id, "stored": True})

    async def read(request: Request) -> Answer:
        return json_answer(write_record(await services.queries.record(RecordId(request.path["record_id"]))))

    async def forget(request: Request) -> Answer:
        record_id = RecordId(request.path["record_id"])
        done = await services.forget.forget(record_id, with_same_words=SAME_WORDS.read(request.query))
        left = [each.record_id for each in done.same_words]
        value = {"record_id": record_id, "forgotten": True, "also_forgotten": list(done.record_ids[1:])}
        return json_answer(value | {"same_words": left})

    async def same_words(request: Request) -> Answer:
        record = await services.queries.record(RecordId(request.path["record_id"]))
        found = await services.forget.same_words(record.record_id)
        return json_answer({"items": [write_record(each) for each in found]})

    async def sources(request: Request) -> Answer:
        record_id = RecordId(request.path["record_id"])
        found = await services.activity.sources(record_id)
        items = [event_answer(event) for event in found.events]
        counted = {"record_id": record_id, "event_count": found.event_count, "items": items}
        return json_answer({**counted, "told": write_value(found.told), "told_by": sorted(found.teachers)})

    yield Route("POST", "/v1/memories", put)
    yield Route("GET", "/v1/memories/<record_id>", read)
    yield Route("DELETE", "/v1/memories/<record_id>", forget, parameters=(SAME_WORDS,))
    yield Route("GET", "/v1/memories/<record_id>/same-words", same_words)
    yield Route("GET", "/v1/memories/<record_id>/events", sources)


def _many(services: Services) -> Iterator[Route]:
    async def listed(request: Request) -> Answer:
        query, namespace = request.query, ANY_NAMESPACE.read(request.query)
        limit, offset, cursor = LIMIT.read(query), OFFSET.read(query), CURSOR.read(query)
        wanted = filter_of(query)
        by_place = cursor is not None or wanted != EVERYTHING
        if offset and by_place:
            raise wrong("offset goes with no cursor and no filter", OFFSET.name, "expected the next_cursor of a page")
        page = await services.queries.records(namespace=namespace, limit=0 if by_place else limit, offset=offset)
        records, next_cursor = page.items, None
        if by_place:
            found = await services.activity.records(namespace, limit=limit, cursor=cursor, wanted=wanted)
            records, next_cursor = found.items, found.next_cursor
        elif records and offset + len(records) + len(page.damaged) < page.total:
            next_cursor = record_cursor_after(records[-1])
        paging = {"total": page.total, "limit": limit, "offset": offset, "next_cursor": next_cursor}
        items = [write_record(record) for record in records]
        return json_answer({"items": items, **paging, "damaged": list(page.damaged)})

    async def stale(request: Request) -> Answer:
        limit, offset = LIMIT.read(request.query), OFFSET.read(request.query)
        found = await services.staleness.freshness.stale(NAMESPACE.read(request.query))
        items = [
            {**write_record(each.record), "files_gone": each.changes.gone, "files_changed": each.changes.changed}
            for each in found.items[offset : offset + limit]
        ]
        page = {"items": items, "total": len(found.items), "limit": limit, "offset": offset}
        return json_answer({"folder": found.folder, **page})

    async def search(request: Request) -> Answer:
        namespace, query = NAMESPACE.read(request.query), QUERY.read(request.query)
        with refusing_syntax(QUERY.name):
            found = await services.search.among([namespace], query, wanted_of(request.query))
        said = {"X-Degraded": found.degraded, "X-Damaged": found.damaged}
        headers = {name: header_value("; ".join(reasons)) for name, reasons in said.items() if reasons}
        return json_answer([write_record(record) for record in found.records], headers=headers)

    async def import_all(request: Request) -> Answer:
        records, errors = read_lines(request.body)
        folder = PROJECT_FOLDER.read(request.query)
        project = None if folder is None else await services.project_finder.project_of(folder)
        done = await services.remember.put_all(records, project)
        return json_answer({"imported": done.imported, "skipped": done.skipped, "errors": errors})

    yield Route("GET", "/v1/memories", listed, parameters=(ANY_NAMESPACE, *FILTERS, LIMIT, OFFSET, CURSOR))
    yield Route("GET", "/v1/memories/stale", stale, parameters=(NAMESPACE, LIMIT, OFFSET))
    yield Route("GET", "/v1/memories/search", search, parameters=(NAMESPACE, QUERY, *WANTED))
    yield Route("POST", "/v1/memories/import", import_all, takes=(NDJSON,), parameters=(PROJECT_FOLDER,))


def read_lines(body: bytes) -> tuple[list[MemoryRecord], list[dict[str, Any]]]:
    """The records of the valid lines, and the problems of the others; lines count from 1, blank ones too."""
    records: list[MemoryRecord] = []
    errors: list[dict[str, Any]] = []
    for number, line in enumerate(body.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            records.append(read_record(read_json(line)))
        except InvalidRequest as error:
            errors.append({"line": number, "problem": str(error)})
    return records, errors


def history_routes(services: Services) -> Iterator[Route]:
    async def read(request: Request) -> Answer:
        record_id = RecordId(request.path["record_id"])
        replacements = [_written(each) for each in await services.history.of(record_id)]
        pinned_at = write_value(await services.history.pinned_at(record_id))
        pinned = {} if pinned_at is None else {"pinned_at": pinned_at}
        return json_answer({"record_id": record_id, **pinned, "replacements": replacements})

    async def undo(request: Request) -> Answer:
        undone = await services.history.undo(RecordId(request.path["record_id"]))
        if undone is None:
            return json_answer({"undone": "pin", "removed": [], "restored": []})
        restored = [record.record_id for record in undone.replaced]
        return json_answer({"undone": undone.replacement_id, "removed": list(undone.replacing), "restored": restored})

    async def pin(request: Request) -> Answer:
        return json_answer(write_record(await services.history.pin(RecordId(request.path["record_id"]))))

    async def unpin(request: Request) -> Answer:
        return json_answer(write_record(await services.history.unpin(RecordId(request.path["record_id"]))))

    yield Route("POST", "/v1/memories/<record_id>/pin", pin)
    yield Route("DELETE", "/v1/memories/<record_id>/pin", unpin)
    yield Route("GET", "/v1/memories/<record_id>/history", read)
    yield Route("POST", "/v1/memories/<record_id>/undo", undo)


def _written(replacement: Replacement) -> dict[str, Any]:
    return {
        "replacement_id": replacement.replacement_id,
        "reason": replacement.reason,
        "replaced_at": write_value(replacement.replaced_at),
        "replacing": list(replacement.replacing),
        "replaced": [write_record(record) for record in replacement.replaced],
    }


# Routes that take and show the feedback on a memory that was told.


@attrs.frozen
class Said:
    """The feedback that somebody gives to a memory."""

    feedback: Literal["helped", "wrong"]


_converter = new_converter()


def feedback_routes(services: Services) -> Iterator[Route]:
    async def say(request: Request) -> Answer:
        record_id = RecordId(request.path["record_id"])
        counts = await services.aftermath.say(record_id, said_in(request))
        return json_answer({"record_id": record_id, **feedback_answer(counts)})

    async def read(request: Request) -> Answer:
        record = await services.queries.record(RecordId(request.path["record_id"]))
        counts = services.aftermath.counts_of(record.record_id)
        return json_answer({"record_id": record.record_id, **feedback_answer(counts)})

    yield Route("POST", "/v1/memories/<record_id>/feedback", say)
    yield Route("GET", "/v1/memories/<record_id>/feedback", read)


def said_in(request: Request) -> Feedback:
    """The feedback in the body. Raises InvalidRequest."""
    return Feedback(structure(_converter, request.json(), Said).feedback)
