"""What leaves the store by age: a preview, and doing it."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.operations import MOST_DIGITS, Operation, Parameter, Query, wrong
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.checks import between, optional
from kiro_learn.model.retention import MOST_DAYS, RetentionRules
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_value
from kiro_learn.wire.structuring import new_converter, structure

_DAYS = optional(between(0, MOST_DAYS))


@attrs.frozen
class RulesAsked:
    """After how many days what is to go; 0: never. What is left out is as the settings say."""

    event_days: int | None = attrs.field(default=None, validator=_DAYS)
    distill_days: int | None = attrs.field(default=None, validator=_DAYS)
    replaced_days: int | None = attrs.field(default=None, validator=_DAYS)

    def over(self, settings: RetentionRules) -> RetentionRules:
        """These, and for what was left out the settings."""
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
    return Parameter(name=name, about=about, schema=schema, read=read)


EVENT_DAYS = _days("event_days", "Days after which events lose their contents.")
DISTILL_DAYS = _days("distill_days", "Days after which memories become shorter.")
REPLACED_DAYS = _days("replaced_days", "Days after which memories that were replaced are deleted.")

PREVIEW = Operation(
    summary="What would go by age now; by default as the settings say.",
    parameters=(EVENT_DAYS, DISTILL_DAYS, REPLACED_DAYS),
)
APPLY = Operation(summary="Let what is old go now, and answer what went.", body=RulesAsked)

_converter = new_converter(forbid_extra_keys=True)


def retention_routes(services: Services) -> Iterator[Route]:
    async def preview(request: Request) -> Answer:
        query, retention = request.query, services.retention
        asked = RulesAsked(EVENT_DAYS.read(query), DISTILL_DAYS.read(query), REPLACED_DAYS.read(query))
        return json_answer(write_value(await retention.preview(asked.over(retention.rules))))

    async def apply(request: Request) -> Answer:
        retention = services.retention
        asked = structure(_converter, request.json() if request.body else {}, RulesAsked)
        return json_answer(write_value(await retention.apply(asked.over(retention.rules))))

    yield Route("GET", "/api/retention", preview, about=PREVIEW)
    yield Route("POST", "/api/retention", apply, about=APPLY)
