"""What leaves the store, by a selection or by age: previews, and carrying them out.

A secret is sent in the body, never in an address.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import attrs

from kiro_learn.errors import InvalidRequest
from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.operations import MOST_DIGITS, Operation, Parameter, Query, wrong
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.checks import Each, between, length, optional
from kiro_learn.model.ids import RecordId, from_text_or_date
from kiro_learn.model.retention import MOST_DAYS, RetentionRules, Selection
from kiro_learn.model.retrieval import SearchMode
from kiro_learn.services.placing import Wanted
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_record, write_value

MOST_IDS = 10_000
LEAST_SECRET = 6
"""The least characters of a secret: a shorter text stands in the middle of many words."""
MOST_FOUND = 500
"""The most memories that a query selects."""


@attrs.frozen(kw_only=True)
class SelectionAsked:
    """What is to be forgotten; without a project, in all of them."""

    project: str | None = attrs.field(default=None, validator=optional(length(1, 4096)))
    whole: bool = False
    """True: the whole project."""
    memories: tuple[str, ...] = attrs.field(default=(), validator=Each(0, MOST_IDS, length(1, 64)))
    query: str | None = attrs.field(default=None, validator=optional(length(1, 1_000)))
    """Memories that match this query in the search syntax."""
    with_events: bool = False
    """True: also the events of these memories, and all else that was learned from those events."""
    session: str | None = attrs.field(default=None, validator=optional(length(1, 128)))
    since: str | None = None
    until: str | None = None
    source: str | None = attrs.field(default=None, validator=optional(length(1, 64)))
    secret: str | None = attrs.field(default=None, repr=False, validator=optional(length(LEAST_SECRET, 100_000)))
    delete_copies: bool = False
    """True: copies of the store that cannot be changed are deleted."""

    def __attrs_post_init__(self) -> None:
        by_events = [self.session, self.since, self.until, self.source, self.secret]
        by_themselves = [self.memories or None, self.query]
        given = [each for each in (*by_events, *by_themselves) if each is not None]
        if not (given or self.whole):
            raise ValueError("expected something to forget, such as memories, query, session or since")
        if self.whole and (given or self.project is None):
            raise ValueError("expected only a project next to whole")
        if any(each is not None for each in by_themselves) and any(each is not None for each in by_events):
            raise ValueError("expected memories or a query, or else a selection of events")


PREVIEW = Operation(
    "Show what would be forgotten, and which other memories hold the same words.",
    body=SelectionAsked,
    takes_unknown_keys=False,
)
FORGET = Operation(
    "Forget the selected memories and events everywhere in the store, and count them.",
    body=SelectionAsked,
    takes_unknown_keys=False,
)


def forgetting_routes(services: Services) -> Iterator[Route]:
    async def selected(asked: SelectionAsked) -> Selection:
        project = None if asked.project is None else await services.project_names.resolve(asked.project)
        namespace = None if project is None else project.namespace
        found: list[RecordId] = []
        if asked.query is not None:
            if namespace is None:
                raise InvalidRequest([("$.project", "is missing: a query searches one project")])
            wanted = Wanted(limit=MOST_FOUND, mode=SearchMode.SYNTAX)
            found = [each.record_id for each in (await services.search.among([namespace], asked.query, wanted)).records]
        return Selection(
            namespace=namespace,
            is_whole=asked.whole,
            record_ids=tuple(dict.fromkeys((*map(RecordId, asked.memories), *found))),
            with_events=asked.with_events,
            session=asked.session,
            since=_moment(asked.since, "since"),
            until=_moment(asked.until, "until", is_end=True),
            source=asked.source,
            secret=asked.secret,
        )

    async def preview(request: Request) -> Answer:
        foreseen = await services.forgetting.preview(await selected(PREVIEW.read(request.json())))
        counts: dict[str, Any] = {
            name: value for name, value in attrs.asdict(foreseen, recurse=False).items() if isinstance(value, int)
        }
        records = {"shown": foreseen.shown, "same_words": foreseen.same_words}
        return json_answer(counts | {name: [write_record(each) for each in found] for name, found in records.items()})

    async def forget(request: Request) -> Answer:
        asked: SelectionAsked = FORGET.read(request.json())
        selection = await selected(asked)
        done = await services.forgetting.forget(selection, deletes_copies=asked.delete_copies)
        if selection.is_whole and selection.namespace is not None:
            services.project_merges.forgotten(selection.namespace)
        copies = [
            {"name": each.name, "kind": each.kind.value, "made_at": write_value(each.made_at)} for each in done.copies
        ]
        return json_answer({**attrs.asdict(done, recurse=False), "copies": copies})

    yield Route("POST", "/api/forgetting/preview", preview, about=PREVIEW)
    yield Route("POST", "/api/forgetting", forget, about=FORGET)


def _moment(text: str | None, name: str, *, is_end: bool = False) -> datetime | None:
    try:
        return None if text is None else from_text_or_date(text, is_end=is_end)
    except ValueError as error:
        raise InvalidRequest([(f"$.{name}", str(error))]) from None


_DAYS = optional(between(0, MOST_DAYS))


@attrs.frozen
class RulesAsked:
    """After how many days each kind of content goes; 0: never; None: as the settings say."""

    event_days: int | None = attrs.field(default=None, validator=_DAYS)
    distill_days: int | None = attrs.field(default=None, validator=_DAYS)
    replaced_days: int | None = attrs.field(default=None, validator=_DAYS)

    def over(self, settings: RetentionRules) -> RetentionRules:
        """These rules, with the values of ``settings`` for those left out."""
        given = {name: days for name, days in attrs.asdict(self).items() if days is not None}
        return attrs.evolve(settings, **given)


def _days(name: str, about: str) -> Parameter[int | None]:
    def read(query: Query) -> int | None:
        text = query.optional_text(name)
        if text is None:
            return None
        is_number = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
        if not is_number or int(text) > MOST_DAYS:
            raise wrong(f"invalid {name}", name, f"expected a whole number from 0 to {MOST_DAYS}")
        return int(text)

    schema = {"type": "integer", "minimum": 0, "maximum": MOST_DAYS}
    return Parameter(name, about, schema, read)


EVENT_DAYS = _days("event_days", "Days after which events lose their contents.")
DISTILL_DAYS = _days("distill_days", "Days after which memories become shorter.")
REPLACED_DAYS = _days("replaced_days", "Days after which memories that were replaced are deleted.")

AGED = Operation(
    "Show what retention would remove now; without parameters, by the settings.",
    (EVENT_DAYS, DISTILL_DAYS, REPLACED_DAYS),
)
APPLY = Operation(
    "Remove now what is older than the rules allow, and count it.", body=RulesAsked, takes_unknown_keys=False
)


def retention_routes(services: Services) -> Iterator[Route]:
    async def preview(request: Request) -> Answer:
        query, retention = request.query, services.retention
        asked = RulesAsked(EVENT_DAYS.read(query), DISTILL_DAYS.read(query), REPLACED_DAYS.read(query))
        return json_answer(write_value(await retention.preview(asked.over(retention.rules))))

    async def apply(request: Request) -> Answer:
        retention = services.retention
        asked: RulesAsked = APPLY.read(request.json() if request.body else {})
        return json_answer(write_value(await retention.apply(asked.over(retention.rules))))

    yield Route("GET", "/api/retention", preview, about=AGED)
    yield Route("POST", "/api/retention", apply, about=APPLY)
