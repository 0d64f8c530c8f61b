"""Every service in one value, for the front ends."""

from __future__ import annotations

from typing import Any

import attrs

from kiro_learn.pipelines.recall.graph_recall import GraphRecall
from kiro_learn.pipelines.recall.recall import Recall
from kiro_learn.ports.projects import ProjectFinder
from kiro_learn.services.api_services import ApiServices
from kiro_learn.services.capture import Capture
from kiro_learn.services.forget import Forget
from kiro_learn.services.freshness import Freshness
from kiro_learn.services.health import Health
from kiro_learn.services.history import History
from kiro_learn.services.hooks import Hooks
from kiro_learn.services.learn import Learn
from kiro_learn.services.project_search import ProjectSearch
from kiro_learn.services.prompt import Prompt
from kiro_learn.services.queries import Queries
from kiro_learn.services.relearn import Relearn
from kiro_learn.services.remember import Remember
from kiro_learn.services.retrieval_log import RetrievalLog
from kiro_learn.services.search import Search
from kiro_learn.services.session_start import SessionStart
from kiro_learn.services.spool_drainer import SpoolDrainer


@attrs.frozen(kw_only=True)
class Services:
    """All services that a front end gets."""

    capture: Capture
    recall: Recall | GraphRecall
    retrievals: RetrievalLog
    prompt: Prompt
    session_start: SessionStart
    hooks: Hooks
    spool_drainer: SpoolDrainer[Any]
    search: Search
    project_search: ProjectSearch
    remember: Remember
    forget: Forget
    history: History
    queries: Queries
    freshness: Freshness
    learn: Learn
    relearn: Relearn
    health: Health
    project_finder: ProjectFinder
    api: ApiServices
