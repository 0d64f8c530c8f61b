"""The services behind the routes below ``/api``, in one value."""

from __future__ import annotations

import attrs

from kiro_learn.services.contexts import Contexts
from kiro_learn.services.graph_items import GraphItems
from kiro_learn.services.observe import Observe
from kiro_learn.services.project_activity import ProjectActivity
from kiro_learn.services.project_names import ProjectNames
from kiro_learn.services.project_records import ProjectRecords
from kiro_learn.services.retention import Retention
from kiro_learn.services.scored_search import ScoredSearch
from kiro_learn.services.search_by_syntax import SearchBySyntax
from kiro_learn.services.session_context import SessionContext
from kiro_learn.services.staleness import Staleness


@attrs.frozen(kw_only=True)
class ApiServices:
    """The services that name a project as people do."""

    project_names: ProjectNames
    observe: Observe
    search_by_syntax: SearchBySyntax
    scored_search: ScoredSearch
    session_context: SessionContext
    activity: ProjectActivity
    staleness: Staleness
    project_records: ProjectRecords
    graph_items: GraphItems
    contexts: Contexts
    retention: Retention
