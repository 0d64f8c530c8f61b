"""Builds what takes in what agents report, and answers them at once."""

from __future__ import annotations

from typing import Any

import attrs

from kiro_learn.actors.aftermath import Aftermath
from kiro_learn.app.actor_wiring import Actors, Dependencies
from kiro_learn.app.recall_wiring import Answering
from kiro_learn.config import Config
from kiro_learn.services.act_rules import ActRules
from kiro_learn.services.capture import Capture
from kiro_learn.services.hooks import Hooks, Prompt
from kiro_learn.services.project_changes import Pauses
from kiro_learn.services.project_files import ProjectProfiles, RuleFiles
from kiro_learn.services.project_names import MergedProjects
from kiro_learn.services.retrieval_log import RetrievalLog
from kiro_learn.services.session_context import SessionContext, SessionStart
from kiro_learn.services.spool_drainer import SpoolDrainer
from kiro_learn.services.staleness import Freshness
from kiro_learn.services.told_unasked import StatedByHand, Teachers


@attrs.frozen(kw_only=True)
class Taking:
    """What takes in what agents report: by hooks, by their spool, or as an event."""

    capture: Capture
    prompt: Prompt
    session_context: SessionContext
    session_start: SessionStart
    pauses: Pauses
    hooks: Hooks
    spool_drainer: SpoolDrainer[Any]


def taking_of(  # noqa: PLR0917  # its parts, in the order in which they are made
    dependencies: Dependencies,
    config: Config,
    actors: Actors,
    answering: Answering,
    merged: MergedProjects,
    freshness: Freshness,
) -> Taking:
    budget_seconds, log = config.recall.budget_seconds, answering.retrievals
    session_context = _session_context(dependencies, config, actors, answering.profiles, freshness, log, merged)
    capture = _capture(dependencies, config, actors, merged, answering.aftermath)
    prompt = Prompt(capture, answering.recall, answering.aftermath, budget_seconds=budget_seconds)
    pauses = Pauses(dependencies.storage, actors.writer, dependencies.clock)
    hooks = _hooks(dependencies, actors, capture, prompt, session_context, log=log, pauses=pauses)
    return Taking(
        capture=capture,
        prompt=prompt,
        session_context=session_context,
        session_start=SessionStart(capture, session_context, budget_seconds),
        pauses=pauses,
        hooks=hooks,
        spool_drainer=SpoolDrainer(hooks, dependencies.hook_spool, offload=dependencies.background),
    )


def _capture(
    dependencies: Dependencies, config: Config, actors: Actors, merged: MergedProjects, aftermath: Aftermath
) -> Capture:
    return Capture(
        actors.writer,
        actors.projects,
        offload=dependencies.offload,
        dedup_count=config.learning.dedup_count,
        in_use=merged.in_use,
        saw=aftermath.saw,
    )


def _session_context(  # noqa: PLR0917  # its parts, in the order in which they are made
    dependencies: Dependencies,
    config: Config,
    actors: Actors,
    profiles: ProjectProfiles,
    freshness: Freshness,
    retrievals: RetrievalLog,
    merged: MergedProjects,
) -> SessionContext:
    storage, recall = dependencies.storage, config.recall
    most_bytes = min(recall.brief_bytes, recall.context_bytes)
    rule_files = RuleFiles(storage, dependencies.rule_texts, freshness, offload=dependencies.background)
    stated = StatedByHand(storage, dependencies.project_finder)
    teachers = Teachers(storage, merged, actor_id=dependencies.actor_id, trusted=recall.trusted)
    return SessionContext(
        storage,
        actors.sessions,
        profiles,
        rule_files,
        stated,
        teachers=teachers,
        log=retrievals,
        most_bytes=most_bytes,
    )


def _hooks(
    dependencies: Dependencies,
    actors: Actors,
    capture: Capture,
    prompt: Prompt,
    session_context: SessionContext,
    *,
    log: RetrievalLog,
    pauses: Pauses,
) -> Hooks:
    act_rules = ActRules(dependencies.storage, actors.sessions, log, session_context.teachers)
    actors.writer.subscribe(act_rules.apply)
    return Hooks(
        capture=capture,
        prompt=prompt,
        session_context=session_context,
        act_rules=act_rules,
        storage=dependencies.storage,
        writer=actors.writer,
        sessions=actors.sessions,
        pauses=pauses,
        project_finder=dependencies.project_finder,
        actor_id=dependencies.actor_id,
        clock=dependencies.clock,
        offload=dependencies.offload,
    )
