"""The context block of a message in a project."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from kiro_learn.pipelines.recall.context import CompactedConversation, Context, ContextBuilder, ContextRequest, Message
from kiro_learn.retrieval.graph.budget import TokenSlots
from kiro_learn.services.context_cache import ContextCache
from kiro_learn.services.project_names import ProjectNames

__all__ = ["CompactedConversation", "Context", "ContextRequest", "Contexts", "Message", "TokenSlots"]


class Contexts:
    """Resolves the project, and makes the block unless it was made a moment ago."""

    def __init__(self, builder: ContextBuilder, projects: ProjectNames, cache: ContextCache) -> None:
        self.builder = builder
        self._projects = projects
        self._cache = cache

    async def compacted(self, messages: Sequence[Message], slot: int) -> CompactedConversation:
        """A conversation whose old turns are a summary, if it fills three quarters of ``slot`` tokens."""
        return await self.builder.compacted(messages, slot)

    async def context(self, project: str, request: ContextRequest) -> Context:
        """See ``ContextBuilder.build``. Raises InvalidRequest: there is no such project."""
        named = await self._projects.resolve(project)
        namespace, request = named.namespace, attrs.evolve(request, folder=named.folder)
        kept = self._cache.get(namespace, request)
        if kept is not None:
            return kept
        generation = self._cache.generation(namespace)
        context = await self.builder.build(namespace, request)
        self._cache.put(namespace, generation, request, context)
        return context
