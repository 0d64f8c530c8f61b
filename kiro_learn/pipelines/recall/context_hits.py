"""Which strategies found something for a context block: one that silently finds nothing any more would go unseen."""

from __future__ import annotations

from kiro_learn.model.graph import Fact, GraphKind
from kiro_learn.model.retrieval import ContextHits, ContextStrategy
from kiro_learn.pipelines.recall.context_search import Gathered
from kiro_learn.retrieval.graph.query import GraphQuery

LISTS = {"keyword": ContextStrategy.WORDS, "semantic": ContextStrategy.MEANING}
"""The strategies whose hits have a rank, by the name that ranking has for their lists."""


def hits_of(gathered: Gathered, query: GraphQuery) -> ContextHits:
    """What found something, and what could have."""
    lists = {name for ranks in gathered.ranks().values() for name in ranks}
    found = {strategy for name, strategy in LISTS.items() if name in lists}
    if gathered.named:
        found.add(ContextStrategy.NAMES)
    if any(each.depth or isinstance(each.item, Fact) for each in gathered.walked.result):
        found.add(ContextStrategy.GRAPH)
    if gathered.preferences.result:
        found.add(ContextStrategy.PREFERENCES)
    return ContextHits(
        found=frozenset(found), expected=frozenset(_expected(gathered, query)), is_partial=bool(gathered.degraded())
    )


def _expected(gathered: Gathered, query: GraphQuery) -> set[ContextStrategy]:
    expected: set[ContextStrategy] = set()
    by_words, near = (bool(part.result.get(GraphKind.ENTITY)) for part in (gathered.words, gathered.near))
    has_entities = by_words or near or bool(gathered.named)
    if has_entities and query.keywords:
        expected.add(ContextStrategy.WORDS)
    if has_entities and gathered.near.is_asked:
        expected.add(ContextStrategy.MEANING)
    if by_words:
        expected.add(ContextStrategy.NAMES)
    walked = gathered.walked.result
    if gathered.named and (not walked or any(each.degree for each in walked)):
        expected.add(ContextStrategy.GRAPH)
    return expected
