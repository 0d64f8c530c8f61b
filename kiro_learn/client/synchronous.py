"""The SDK for programs that wait."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from kiro_learn.client import calls, json_calls, project_calls
from kiro_learn.client.building import PATIENCE_SECONDS, Call, Caller, Named
from kiro_learn.client.connection import DaemonConnection

P = ParamSpec("P")
T = TypeVar("T")


def _method(build: Callable[Concatenate[Caller, P], Call[T]]) -> Callable[Concatenate[KiroLearn, P], T]:
    """A method with the parameters of ``build``, which carries out the call that it builds."""

    @functools.wraps(build)
    def method(self: KiroLearn, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.carry_out(build(self, *args, **kwargs))

    return method


class KiroLearn(Caller, DaemonConnection):
    """The memory of one project; other projects can be named in each call.

    It finds the daemon and its token by itself, each time it connects, so it outlives a restart. Calls of several
    threads wait for each other; a thread that should not wait has a client of its own. Every method may raise:

      DaemonUnreachable: no daemon runs.
      DaemonSilent: it did not answer in time.
      RequestRefused: it answered that it cannot, and why.
      AnswerNotUnderstood: it is of a version that answers otherwise.
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
        """For the project that the folder ``project`` is in, or that is called so; by default that of the folder in
        which the program is at each call. The daemon is that of ``home`` (by default the user's own), or that at
        ``url``, which wants ``token``.
        """
        Caller.__init__(self, project)
        DaemonConnection.__init__(self, home, url=url, token=token, patience_seconds=patience_seconds)

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
