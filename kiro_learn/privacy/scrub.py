"""What every write path calls: private spans first, then secrets; in text, in JSON, in events and in records.

Nothing here fails: whatever comes in, what goes out is of the same shape and fits the same bounds.
"""

from __future__ import annotations

from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.event import MAX_BODY_BYTES, Body, Event, JsonBody, MessageBody, TextBody, Turn
from kiro_learn.model.namespace import MAX_BRANCH
from kiro_learn.model.record import (
    MAX_CAPTURE_TYPE,
    MAX_CONCEPT,
    MAX_DETAIL,
    MAX_FACT,
    MAX_FILE,
    MAX_SUMMARY,
    MAX_TEXT,
    MAX_TITLE,
    MemoryRecord,
    RecordDetails,
)
from kiro_learn.privacy.json_text import scrub_json
from kiro_learn.privacy.plain_text import scrub_text, scrub_within

__all__ = ["scrub_event", "scrub_json", "scrub_record", "scrub_text"]


def scrub_event(event: Event) -> Event:
    """``event`` with a scrubbed body; a ``content_hash`` of a body that changed is dropped with it."""
    if event.source.branch is not None:
        branch = _scrub_optional(event.source.branch, MAX_BRANCH)
        event = unchecked_evolve(event, source=unchecked_evolve(event.source, branch=branch))
    body = _scrub_body(event.body)
    return event if body == event.body else unchecked_evolve(event, body=body, content_hash=None)


def _scrub_body(body: Body) -> Body:
    match body:
        case TextBody():
            return TextBody(scrub_within(body.content, MAX_BODY_BYTES))
        case MessageBody():
            return MessageBody(
                tuple(Turn(turn.role, scrub_within(turn.content, MAX_BODY_BYTES)) for turn in body.turns)
            )
        case JsonBody():
            return JsonBody(scrub_json(body.data))


def scrub_record(record: MemoryRecord) -> MemoryRecord:
    """``record`` with all of its text scrubbed; what a mark makes too long is cut."""
    return unchecked_evolve(
        record,
        title=scrub_within(record.title, MAX_TITLE),
        summary=scrub_within(record.summary, MAX_SUMMARY),
        facts=_scrub_each(record.facts, MAX_FACT),
        concepts=_scrub_each(record.concepts, MAX_CONCEPT),
        files_touched=_scrub_each(record.files_touched, MAX_FILE),
        files_read=_scrub_each(record.files_read, MAX_FILE),
        files_modified=_scrub_each(record.files_modified, MAX_FILE),
        capture_type=_scrub_optional(record.capture_type, MAX_CAPTURE_TYPE),
        text=scrub_within(record.text, MAX_TEXT),
        details=None if record.details is None else _scrub_details(record.details),
        branch=_scrub_optional(record.branch, MAX_BRANCH),
    )


def _scrub_details(details: RecordDetails) -> RecordDetails:
    return unchecked_evolve(
        details,
        reason=_scrub_optional(details.reason, MAX_DETAIL),
        alternatives=_scrub_each(details.alternatives, MAX_DETAIL),
        context=_scrub_optional(details.context, MAX_DETAIL),
        next_steps=_scrub_optional(details.next_steps, MAX_DETAIL),
        open_questions=_scrub_each(details.open_questions, MAX_DETAIL),
    )


def _scrub_optional(text: str | None, most: int) -> str | None:
    return None if text is None else scrub_within(text, most)


def _scrub_each(texts: tuple[str, ...], most: int) -> tuple[str, ...]:
    return tuple(scrub_within(text, most) for text in texts)
