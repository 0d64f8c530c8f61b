"""The SDK for asynchronous programs, on Trio or asyncio."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import anyio
import h11
from anyio.abc import ByteStream
from anyio.lowlevel import RunVar

from kiro_learn.client import calls, json_calls, project_calls
from kiro_learn.client.address import DaemonAddress, default_home
from kiro_learn.client.building import (
    PATIENCE_SECONDS,
    Call,
    Caller,
    DaemonPlace,
    Named,
    Response,
    checked_home,
    checked_patience,
)
from kiro_learn.client.exchange import reading_of, request_of

MOST_AT_ONCE = 64
"""Calls under way in one event loop: a quarter of the daemon's connections, beyond which it hangs up on newcomers."""

_places: RunVar[anyio.CapacityLimiter] = RunVar("kiro_learn.places")

P = ParamSpec("P")
T = TypeVar("T")


def _method(
    build: Callable[Concatenate[Caller, P], Call[T]],
) -> Callable[Concatenate[AsyncKiroLearn, P], Coroutine[Any, Any, T]]:
    """A method with the parameters of ``build`` that carries out the call which ``build`` returns."""

    @functools.wraps(build)
    async def method(self: AsyncKiroLearn, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.carry_out(build(self, *args, **kwargs))

    return method


class AsyncKiroLearn(Caller):
    """Like ``KiroLearn``, for any number of tasks at once: each call has a connection of its own.

    A call waits for its turn while MOST_AT_ONCE others are under way; its patience begins after that.

    Cancellation: the connection is closed; the daemon may still carry out what it was asked before.
    """

    def __init__(
        self,
        project: Named = None,
        *,
        home: Path | str | None = None,
        url: str = "",
        token: str = "",
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """As ``KiroLearn``."""
        super().__init__(project)
        self._place = DaemonPlace(default_home(os.environ) if home is None else checked_home(home), url, token)
        self._patience_seconds = checked_patience(patience_seconds)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Does nothing, since no connection is kept."""

    async def carry_out(self, call: Call[T]) -> T:
        """Send ``call``, wait for the answer, and read it."""
        patience = self._patience_seconds if call.patience_seconds is None else call.patience_seconds
        async with _limiter():
            daemon = self._place.find()  # reads a few small files, which is quicker than a thread for it
            try:
                with anyio.fail_after(patience):
                    async with await anyio.connect_tcp(daemon.host, daemon.port) as stream:
                        response = await _exchange(stream, daemon, call)
            except (OSError, anyio.BrokenResourceError, h11.RemoteProtocolError) as error:
                raise self._place.no_answer(error) from error
        return self._place.result_of(call, response)

    search = _method(calls.search)
    search_advanced = _method(calls.search_advanced)
    semantic_search = _method(calls.semantic_search)
    hybrid_search = _method(calls.hybrid_search)
    recall = _method(calls.recall)

    store_observation = _method(calls.store_observation)
    store_knowledge = _method(calls.store_knowledge)
    store_summary = _method(calls.store_summary)

    get = _method(calls.get)
    edit = _method(calls.edit)
    same_words = _method(calls.same_words)
    forget = _method(calls.forget)
    judge = _method(project_calls.judge)
    pin = _method(project_calls.pin)
    unpin = _method(project_calls.unpin)
    viewer_code = _method(calls.viewer_code)
    preview_forgetting = _method(json_calls.preview_forgetting)
    forget_selected = _method(json_calls.forget_selected)
    pauses = _method(json_calls.pauses)
    pause = _method(json_calls.pause)
    end_pause = _method(json_calls.end_pause)
    rename_project = _method(json_calls.rename_project)
    merge_project = _method(json_calls.merge_project)
    sharing = _method(json_calls.sharing)
    compare_shared = _method(json_calls.compare_shared)
    withhold = _method(json_calls.withhold)

    add_fact = _method(json_calls.add_fact)
    add_preference = _method(json_calls.add_preference)
    add_procedure = _method(json_calls.add_procedure)
    merge_entities = _method(json_calls.merge_entities)

    observations = _method(project_calls.observations)
    knowledge = _method(project_calls.knowledge)
    timeline = _method(project_calls.timeline)
    sessions = _method(project_calls.sessions)
    event = _method(project_calls.event)
    doctor = _method(project_calls.doctor)
    session = _method(project_calls.session)
    sources = _method(project_calls.sources)
    resume = _method(project_calls.resume)
    context = _method(project_calls.context)
    settings = _method(project_calls.settings)
    profile = _method(project_calls.profile)
    graph_picture = _method(json_calls.picture)
    conflicts = _method(json_calls.conflicts)
    settle_conflict = _method(json_calls.settle_conflict)
    report = _method(project_calls.report)
    written_report = _method(project_calls.written_report)
    analytics = _method(project_calls.analytics)
    days = _method(project_calls.days)

    embedding_stats = _method(calls.embedding_stats)
    backfill_embeddings = _method(calls.backfill_embeddings)
    detect_stale_observations = _method(calls.detect_stale_observations)
    detect_stale = _method(calls.detect_stale)


def _limiter() -> anyio.CapacityLimiter:
    """The one of this event loop: a client may be used in several, one after another."""
    limiter = _places.get(None)
    if limiter is None:
        limiter = anyio.CapacityLimiter(MOST_AT_ONCE)
        _places.set(limiter)
    return limiter


async def _exchange(stream: ByteStream, daemon: DaemonAddress, call: Call[Any]) -> Response:
    """Send one request and return its answer, on a connection that is closed afterwards."""
    http = h11.Connection(h11.CLIENT)
    await stream.send(request_of(http, daemon, call, is_kept=False))
    reading = reading_of(http)
    next(reading)
    while True:
        try:
            piece = await stream.receive()
        except anyio.EndOfStream:
            piece = b""
        try:
            reading.send(piece)
        except StopIteration as done:
            answer: Response = done.value
            return answer
