"""The context block for a message, of the whole memory: records, entities, facts, procedures and preferences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import attrs

from kiro_learn.frontends.http.answers import Answer, value_answer
from kiro_learn.frontends.http.operations import Operation
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.checks import Each, anything, between, length, optional
from kiro_learn.model.event import TextBody
from kiro_learn.model.ids import to_text
from kiro_learn.model.observation import MAX_PROJECT, MAX_SESSION
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import FeedbackCounts, FoundRecord, Ranking
from kiro_learn.services.contexts import Context, ContextRequest, Message, TokenSlots
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import feedback_answer

MAX_MESSAGE = 1_000_000
MAX_HISTORY = 1_000
MAX_TOLD = 10_000
MAX_ID = 100
MAX_TOKENS = 10_000_000
SCORE_DIGITS = 6

_TOKENS = between(0, MAX_TOKENS)


@attrs.frozen
class Said:
    """One message of a conversation."""

    content: str = attrs.field(validator=length(0, MAX_MESSAGE))
    role: str = attrs.field(default="user", validator=length(0, MAX_ID))


@attrs.frozen
class Budgets:
    """How an agent plans the tokens of its window."""

    total: int = attrs.field(default=128_000, validator=_TOKENS)
    system: int = attrs.field(default=2_000, validator=_TOKENS)
    history: int = attrs.field(default=0, validator=_TOKENS)
    """Tokens of the conversation so far; 0: they are counted."""
    reserve: int = attrs.field(default=8_000, validator=_TOKENS)
    """Tokens for the answer."""
    told: int = attrs.field(default=0, validator=_TOKENS)
    """Tokens that this memory has told before."""
    conversation: int = attrs.field(default=80_000, validator=_TOKENS)
    """The most tokens of the conversation."""
    memory: int | None = attrs.field(default=None, validator=optional(_TOKENS))
    """The most tokens of the block; None: as the settings say."""


@attrs.frozen
class Asked:
    """A message, and what is known of its conversation."""

    project: str = attrs.field(validator=length(1, MAX_PROJECT))
    """A project's name, id, namespace, or a folder in it."""
    message: str = attrs.field(validator=length(0, MAX_MESSAGE))
    """The message; empty at the start of a session."""
    history: tuple[Said, ...] = attrs.field(default=(), validator=Each(0, MAX_HISTORY, anything))
    """The earlier messages, oldest first."""
    budgets: Budgets = attrs.Factory(Budgets)
    told: tuple[str, ...] = attrs.field(default=(), validator=Each(0, MAX_TOLD, length(1, MAX_ID)))
    """Ids of items that were told before and need no telling again."""
    profile: Literal["resolved", "literal"] = "resolved"
    passages: bool = False
    """True: show memories with the passages that answer the message, as prompts are told."""

    @property
    def request(self) -> ContextRequest:
        """The values in the form that the service takes."""
        budgets = self.budgets
        return ContextRequest(
            message=self.message,
            history=tuple(each.content for each in self.history),
            slots=TokenSlots(
                total=budgets.total,
                system=budgets.system,
                history=budgets.history,
                reserve=budgets.reserve,
                told=budgets.told,
            ),
            history_slot=budgets.conversation,
            most_tokens=budgets.memory,
            profile=self.profile,
            told=frozenset(self.told),
            tells_passages=self.passages,
        )


@attrs.frozen
class Conversation:
    """A conversation, and how many tokens it may have."""

    messages: tuple[Said, ...] = attrs.field(validator=Each(0, MAX_HISTORY, anything))
    """The messages, oldest first."""
    tokens: int = attrs.field(default=80_000, validator=_TOKENS)
    project: str | None = attrs.field(default=None, validator=optional(length(1, MAX_PROJECT)))
    """The project whose memory keeps the removed turns: its name, id, namespace, or a folder in it."""
    session: str | None = attrs.field(default=None, validator=optional(length(1, MAX_SESSION)))


@attrs.frozen(kw_only=True)
class ContextTold:
    """A block, with its items and why they are in it."""

    context: str
    tokens: int
    budget: int
    trigger: str
    items: tuple[dict[str, Any], ...]
    query: dict[str, Any]
    compaction_due: bool
    degraded: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Compacted:
    """A shortened conversation, and the memory that keeps the removed turns."""

    messages: tuple[dict[str, Any], ...]
    summarized: int
    tokens: int
    memory: str | None


CONTEXT = Operation(
    "The context block for a message, with the items in it and the reason for each.", body=Asked, answer=ContextTold
)

COMPACT = Operation(
    "Replace the old turns of a conversation with a summary, if it fills three quarters of its tokens.",
    body=Conversation,
    answer=Compacted,
)


def context_routes(services: Services) -> Iterator[Route]:
    async def context(request: Request) -> Answer:
        asked: Asked = CONTEXT.read(request.json())
        return value_answer(_told(await services.contexts.context(asked.project, asked.request)))

    async def compact(request: Request) -> Answer:
        asked: Conversation = COMPACT.read(request.json())
        messages = [Message(each.role, each.content) for each in asked.messages]
        done, memory = await services.contexts.compacted(
            messages, asked.tokens, project=asked.project, session=asked.session
        )
        said = tuple({"role": message.role, "content": message.content} for message in done.messages)
        return value_answer(
            Compacted(messages=said, summarized=len(done.summarized), tokens=done.tokens, memory=memory)
        )

    yield Route("POST", "/v1/context", context, about=CONTEXT)
    yield Route("POST", "/v1/context/compact", compact, about=COMPACT)


def _told(context: Context) -> ContextTold:
    return ContextTold(
        context=context.text,
        tokens=context.tokens,
        budget=context.budget,
        trigger=context.trigger,
        items=tuple(
            {
                "id": item.item_id,
                "text": item.text,
                "tokens": item.tokens,
                "score": round(item.score, SCORE_DIGITS),
                "parts": {name: round(value, SCORE_DIGITS) for name, value in item.parts.items()},
            }
            for item in context.items
        ),
        query=_query(context),
        compaction_due=context.is_compaction_due,
        degraded=tuple(context.degraded),
    )


def _query(context: Context) -> dict[str, Any]:
    query, named = context.query, context.query.time_range
    return {
        "keywords": list(query.keywords),
        "entities": [{"id": item_id, "name": name} for item_id, name in context.entities.items()],
        "intent": query.intent,
        "time_range": None
        if named is None
        else {
            "start": None if named.start is None else to_text(named.start),
            "end": None if named.end is None else to_text(named.end),
            "is_strict": named.is_strict,
            "is_validity": named.is_validity,
        },
    }


# What an agent would be told with a prompt, and how each of the memories was found.

MAX_PROMPT = 1_000_000


@attrs.frozen
class Prompted:
    """A prompt, and the project in which it would be asked."""

    project: str = attrs.field(validator=length(1, MAX_PROJECT))
    """A project's name, id, namespace, or a folder in it."""
    prompt: str = attrs.field(validator=length(1, MAX_PROMPT))


@attrs.frozen(kw_only=True)
class FoundMemory:
    """A memory that was found, told or not."""

    id: str
    title: str
    type: str
    score: float
    found_by: tuple[Ranking, ...]
    told: bool
    feedback: dict[str, Any]
    branch: str | None = None
    is_of_branch: bool | None = None


@attrs.frozen(kw_only=True)
class Told:
    """The text that an agent would read, and what was found for it."""

    project: str
    context: str
    records: tuple[str, ...]
    found: tuple[FoundMemory, ...]
    degraded: tuple[str, ...]


RECALL = Operation(
    "The text that an agent would be told with a prompt, and how it was found.", body=Prompted, answer=Told
)


def recall_routes(services: Services) -> Iterator[Route]:
    async def recall(request: Request) -> Answer:
        asked: Prompted = RECALL.read(request.json())
        named = await services.project_names.resolve(asked.project)
        told = await services.recall.answer(
            named.namespace, TextBody(asked.prompt), folder=named.folder, branch=named.branch
        )
        found = {each.record_id: each for each in told.found}
        records = (await services.project_records.read(named.namespace, list(found))).records
        return value_answer(
            Told(
                project=named.name,
                context=told.context,
                records=told.record_ids,
                found=tuple(
                    _found(found[record.record_id], record, services.aftermath.counts_of(record.record_id))
                    for record in records
                ),
                degraded=told.degraded,
            )
        )

    yield Route("POST", "/api/recall", recall, about=RECALL)


def _found(found: FoundRecord, record: MemoryRecord, counts: FeedbackCounts) -> FoundMemory:
    return FoundMemory(
        id=record.record_id,
        title=record.title,
        type=record.type_name,
        score=found.score,
        found_by=found.found_by,
        told=found.shown,
        feedback=feedback_answer(counts),
        branch=record.branch,
        is_of_branch=None if record.branch is None else found.is_of_branch,
    )
