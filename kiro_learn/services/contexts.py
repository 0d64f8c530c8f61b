"""The context block of a message in a project."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

import attrs

from kiro_learn.learning.consolidation import lines_of
from kiro_learn.learning.extraction.extractive.vocabulary import cut_at_word
from kiro_learn.model.checks import unchecked
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.observation import Observation
from kiro_learn.model.record import MAX_TITLE
from kiro_learn.pipelines.recall.context import CompactedConversation, Context, ContextBuilder, ContextRequest, Message
from kiro_learn.ports.storage.answers import Change
from kiro_learn.privacy.scrub import scrub_text
from kiro_learn.retrieval.graph.budget import TokenSlots
from kiro_learn.runtime.admission import Offload
from kiro_learn.services.observe import Observe
from kiro_learn.services.project_names import ProjectNames

__all__ = ["CompactedConversation", "Context", "ContextRequest", "Contexts", "Message", "TokenSlots"]

AUTO_COMPACTION = "auto-compaction"
"""The type of a memory that keeps the turns which a compaction took out of a conversation."""


@attrs.frozen(eq=False)
class Contexts:
    """Finds the project, and makes the block unless the same one was made a moment ago."""

    builder: ContextBuilder
    _projects: ProjectNames
    _cache: ContextCache
    _observe: Observe
    _offload: Offload

    async def compacted(
        self, messages: Sequence[Message], slot: int, *, project: str | None = None, session: str | None = None
    ) -> tuple[CompactedConversation, RecordId | None]:
        """A conversation whose old turns are replaced by a summary, if it fills three quarters of ``slot`` tokens.

        The turns that were replaced are kept in a memory of ``project``, if one is given, with a line for each. Returns
        the id of that memory, if there is one.

        Raises:
          InvalidRequest: a project cannot have this name.
          StorageError: the memory could not be kept.
        """
        done = await self.builder.compacted(messages, slot)
        if project is None or not done.summarized:
            return done, None
        episode = await self._offload(lambda: _episode(done.summarized, project, session))
        return done, (await self._observe.observe(episode)).record_id

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


def _episode(gone: Sequence[Message], project: str, session: str | None) -> Observation:
    """A memory of ``gone``, redacted before it is cut: first a line for each turn, then the whole text."""
    said = [Message(message.role, scrub_text(message.content)) for message in gone]
    lines = lines_of(said)
    return unchecked(
        Observation,
        project=project,
        title=cut_at_word(f"Conversation of {len(lines)} turns: {lines[0]}", MAX_TITLE),
        type=AUTO_COMPACTION,
        narrative="\n".join(lines),
        text="\n\n".join(f"{message.role}: {message.content}" for message in said),
        session=session,
    )


# Context blocks of the last minute, forgotten as soon as something that they show may have changed.

MOST = 100
SECONDS = 60.0


@attrs.frozen
class _Kept:
    context: Context
    until: float


class ContextCache:
    """Finds the block of an earlier request that was word for word the same."""

    def __init__(self, current_time: Callable[[], float]) -> None:
        self._current_time = current_time
        self._kept: OrderedDict[tuple[Namespace, int, ContextRequest], _Kept] = OrderedDict()
        self._generations: dict[Namespace, int] = {}

    def apply(self, change: Change) -> None:
        """Forget the blocks of the project that changed."""
        self._generations[change.namespace] = self.generation(change.namespace) + 1

    def generation(self, namespace: Namespace) -> int:
        """The number of changes to the project's memory since the daemon started."""
        return self._generations.get(namespace, 0)

    def get(self, namespace: Namespace, request: ContextRequest) -> Context | None:
        """The block of the same request; None: none was made in the last minute."""
        key = (namespace, self.generation(namespace), request)
        kept = self._kept.get(key)
        if kept is None or kept.until < self._current_time():
            return None
        self._kept.move_to_end(key)
        return kept.context

    def put(self, namespace: Namespace, generation: int, request: ContextRequest, context: Context) -> None:
        """Keep a block that was begun in ``generation``; a block with a missing part is not kept."""
        if context.degraded:
            return
        self._kept[namespace, generation, request] = _Kept(context, self._current_time() + SECONDS)
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
