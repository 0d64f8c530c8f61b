"""Every service in one value, for the front ends."""

from __future__ import annotations

from typing import Any

import attrs

from kiro_learn.actors.aftermath import Aftermath
from kiro_learn.pipelines.recall.recall import Recall
from kiro_learn.ports.home import ProjectFinder
from kiro_learn.services.capture import Capture
from kiro_learn.services.conflicts import Conflicts
from kiro_learn.services.contexts import Contexts
from kiro_learn.services.copies import Backups
from kiro_learn.services.export import Export
from kiro_learn.services.forgetting import Forgetting
from kiro_learn.services.graph_items import GraphItems
from kiro_learn.services.health import Health
from kiro_learn.services.hooks import Hooks, Prompt
from kiro_learn.services.learn import Learn, Relearn
from kiro_learn.services.live import LiveFeed
from kiro_learn.services.memories import Forget, History, ProjectRecords, Remember
from kiro_learn.services.observe import Observe
from kiro_learn.services.project_activity import ProjectActivity, Queries
from kiro_learn.services.project_files import ProjectProfiles
from kiro_learn.services.project_names import ProjectMerges, ProjectNames
from kiro_learn.services.projects_in_use import Pauses
from kiro_learn.services.retention import Retention
from kiro_learn.services.retrieval_log import RetrievalDetails, RetrievalLog
from kiro_learn.services.search import ProjectSearch, Search
from kiro_learn.services.session_context import SessionContext, SessionStart
from kiro_learn.services.sharing import Sharing
from kiro_learn.services.spool_drainer import SpoolDrainer
from kiro_learn.services.staleness import Staleness


@attrs.frozen(kw_only=True)
class Services:
    """All services that a front end gets."""

    project_finder: ProjectFinder
    project_names: ProjectNames
    project_merges: ProjectMerges
    sharing: Sharing

    # What agents report and clients hand in.
    capture: Capture
    hooks: Hooks
    spool_drainer: SpoolDrainer[Any]
    pauses: Pauses
    observe: Observe

    # What an agent is told.
    recall: Recall
    prompt: Prompt
    retrievals: RetrievalLog
    retrieval_details: RetrievalDetails
    aftermath: Aftermath
    contexts: Contexts
    profiles: ProjectProfiles
    session_context: SessionContext
    session_start: SessionStart

    # What is searched for.
    search: Search
    project_search: ProjectSearch

    # What is stored: read, listed, edited, forgotten.
    remember: Remember
    forget: Forget
    forgetting: Forgetting
    history: History
    queries: Queries
    activity: ProjectActivity
    project_records: ProjectRecords
    graph_items: GraphItems
    conflicts: Conflicts
    staleness: Staleness
    retention: Retention
    backups: Backups
    export: Export

    # Learning, and the state of everything.
    learn: Learn
    relearn: Relearn
    health: Health
    live: LiveFeed
