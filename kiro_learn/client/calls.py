"""Methods of the SDK as functions that build their calls: searching, storing, one memory, upkeep.

``KiroLearn`` and ``AsyncKiroLearn`` carry them out.

Rules of this file: no input, no output. ``project`` is a folder in the project, or the project's name or id; by default
the client's project. The daemon checks limits and lengths, and reports what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal, TypeVar, Unpack
from urllib.parse import quote

from kiro_learn.client import reading
from kiro_learn.client.building import (
    LEARNING_PATIENCE_SECONDS,
    Call,
    Caller,
    Filters,
    Named,
    Response,
    encoded,
    get_call,
    given,
    listed,
    post_call,
    target_of,
    written_filters,
)
from kiro_learn.client.results import (
    EmbeddingStats,
    Forgotten,
    KnowledgeType,
    Memory,
    Recalled,
    SearchResults,
    StaleDetection,
    StoredId,
    ViewerCode,
)
from kiro_learn.errors import InvalidRequest

T = TypeVar("T")

# --- searching ------------------------------------------------------------------------------------------------------


def search(client: Caller, /, query: str, *, limit: int = 10, project: Named = None) -> Call[SearchResults]:
    """Memories that hold the words of ``query``, best first.

    The query may use the search syntax; if it does not parse, its plain words are searched.
    """
    return search_advanced(client, query, limit=limit, lenient=True, project=project)


def search_advanced(
    client: Caller,
    /,
    query: str,
    *,
    limit: int = 10,
    offset: int = 0,
    across_projects: bool = False,
    lenient: bool = False,
    project: Named = None,
    **filters: Unpack[Filters],
) -> Call[SearchResults]:
    """Memories that fit ``query``, best first, in FTS5's syntax: words, "phrases", AND, OR, NOT, title:word, prefix*.

    Args:
      filters: which memories are wanted (``Filters``).
      offset: how many of the best results to skip.
      across_projects: also search this user's other projects: the best result of each, then the second best.
      lenient: search the plain words if the query does not parse, or is a question without a match.

    Raises:
      RequestRefused: the query does not parse; ``details`` says where.
    """
    wanted = _wanted(filters, limit, offset, across_projects=across_projects)
    named, is_lenient = client.project_named(project), "true" if lenient else None
    return get_call("/api/search", reading.search_results, q=query, project=named, lenient=is_lenient, **wanted)


def semantic_search(
    client: Caller,
    /,
    query: str,
    *,
    limit: int = 10,
    offset: int = 0,
    across_projects: bool = False,
    threshold: float | None = None,
    project: Named = None,
    **filters: Unpack[Filters],
) -> Call[SearchResults]:
    """Memories with the nearest meaning to ``query``, best first, among those with a vector.

    Args:
      filters: which memories are wanted (``Filters``).
      offset: how many of the best results to skip.
      across_projects: also search this user's other projects.
      threshold: the least cosine, -1 to 1; None: the one in the daemon's settings.

    Raises:
      RequestRefused: embedding is off or failed.
    """
    wanted = _wanted(filters, limit, offset, across_projects=across_projects)
    named = client.project_named(project)
    return get_call(
        "/api/semantic-search", reading.search_results, q=query, project=named, threshold=threshold, **wanted
    )


def hybrid_search(
    client: Caller,
    /,
    query: str,
    *,
    limit: int = 10,
    offset: int = 0,
    across_projects: bool = False,
    project: Named = None,
    **filters: Unpack[Filters],
) -> Call[SearchResults]:
    """Memories that fit ``query`` by words and meaning, scored by weighted signals, best first.

    Args:
      filters: which memories are wanted (``Filters``).
      offset: how many of the best results to skip.
      across_projects: also search this user's other projects.
    """
    wanted = _wanted(filters, limit, offset, across_projects=across_projects)
    named = client.project_named(project)
    return get_call("/api/hybrid-search", reading.search_results, q=query, project=named, **wanted)


def _wanted(filters: Filters, limit: int, offset: int, *, across_projects: bool) -> dict[str, object]:
    """The parameters that all searches have."""
    return written_filters(filters) | {
        "limit": limit,
        "offset": offset or None,
        "across_projects": "true" if across_projects else None,
    }


def recall(client: Caller, /, prompt: str, *, project: Named = None) -> Call[Recalled]:
    """The block that an agent would be shown with ``prompt``; empty if nothing is close enough. ``found`` has for each
    memory that was found its score, the rankings that found it, and whether it is in the block.
    """
    body = encoded({"project": client.project_named(project), "prompt": prompt})
    return Call("POST", "/api/recall", reading.recalled, body)


# --- storing --------------------------------------------------------------------------------------------------------


def store_observation(
    client: Caller,
    /,
    title: str,
    *,
    type: str = "manual",  # noqa: A002  # as the API calls it
    text: str = "",
    narrative: str = "",
    concepts: Collection[str] = (),
    files_read: Collection[str] = (),
    files_modified: Collection[str] = (),
    session: str | None = None,
    project: Named = None,
) -> Call[StoredId]:
    """Store an observation as it is. Returns its id, or -1 if the same was stored a moment ago.

    The same means: the same type, title and narrative. ``differs`` of the result names other fields that differ.

    Args:
      type: file-read, file-write, command, research or any other word; each has its own window for repeats.
      text: technical content, such as a tool's input and output.
      narrative: a text for people.
    """
    return post_call(
        "/api/observations",
        reading.stored_id,
        project=client.project_named(project),
        title=title,
        type=type,
        text=text or None,
        narrative=narrative or None,
        concepts=listed(concepts),
        files_read=listed(files_read),
        files_modified=listed(files_modified),
        session=session,
    )


def store_knowledge(
    client: Caller,
    /,
    title: str,
    content: str,
    *,
    knowledge_type: KnowledgeType,
    concepts: Collection[str] = (),
    files: Collection[str] = (),
    severity: Literal["hard", "soft"] | None = None,
    reason: str | None = None,
    alternatives: Collection[str] = (),
    context: str | None = None,
    confidence: Literal["high", "medium", "low"] | None = None,
    session: str | None = None,
    project: Named = None,
) -> Call[StoredId]:
    """Store an item of knowledge. Returns its id, or -1 if one with the same fields was stored a moment ago.

    Args:
      severity: how strict a constraint is.
      reason: why; for a constraint, a decision or a rejected idea.
      alternatives: for a decision or a rejected idea.
      context: where a heuristic applies.
      confidence: how sure a heuristic is.
    """
    return post_call(
        "/api/knowledge",
        reading.stored_id,
        project=client.project_named(project),
        knowledge_type=knowledge_type,
        title=title,
        content=content,
        concepts=listed(concepts),
        files=listed(files),
        severity=severity,
        reason=reason,
        alternatives=listed(alternatives),
        context=context,
        confidence=confidence,
        session=session,
    )


def store_summary(
    client: Caller,
    /,
    task: str,
    *,
    session: str,
    progress: str = "",
    next_steps: str | None = None,
    open_questions: Collection[str] = (),
    relevant_files: Collection[str] = (),
    project: Named = None,
) -> Call[StoredId]:
    """Store the state of a session, for ``resume``. Returns its id, or -1 if the same was stored a moment ago."""
    return post_call(
        "/api/checkpoints",
        reading.stored_id,
        project=client.project_named(project),
        session=session,
        task=task,
        progress=progress or None,
        next_steps=next_steps,
        open_questions=listed(open_questions),
        relevant_files=listed(relevant_files),
    )


# --- one memory -----------------------------------------------------------------------------------------------------


def get(client: Caller, /, memory_id: str) -> Call[Memory]:  # noqa: ARG001  # every call has one
    """One memory, whole.

    Raises:
      RequestRefused: no memory has this id (404).
    """
    return get_call(path_of(memory_id), reading.memory)


def edit(
    client: Caller,
    /,
    memory_id: str,
    *,
    title: str | None = None,
    summary: str | None = None,
    text: str | None = None,
    facts: Collection[str] | None = None,
    concepts: Collection[str] | None = None,
    files: Collection[str] | None = None,
    project: Named = None,
) -> Call[str]:
    """Replace a memory by a corrected one, and return its id. None: the field stays. The old memory is kept as history.

    Raises:
      RequestRefused: the project has no memory with this id, or nothing would change.
    """
    # A field that is emptied is sent; a field that stays is not.
    lists = {name: listed(items) for name, items in given(facts=facts, concepts=concepts, files=files).items()}
    correction = given(title=title, summary=summary, text=text) | lists
    body = encoded({"project": client.project_named(project), "id": memory_id, **correction})
    return Call("POST", "/v1/memories/edit", reading.edited_id, body, is_repeatable=False)


def same_words(client: Caller, /, memory_id: str) -> Call[tuple[Memory, ...]]:  # noqa: ARG001  # every call has one
    """The memories that would still hold the words of this one after it is forgotten; those from its events first.

    Raises:
      RequestRefused: no memory has this id (404).
    """
    return get_call(f"{path_of(memory_id)}/same-words", reading.memories)


def forget(client: Caller, /, memory_id: str, *, same_words: bool = False) -> Call[Forgotten]:  # noqa: ARG001  # as above
    """Forget a memory everywhere, with all that it replaced. This cannot be undone.

    Args:
      same_words: also forget the memories that hold the same words.

    Raises:
      RequestRefused: no memory has this id (404).
    """
    # The text is first overwritten in the database file, which takes some seconds if the file is large.
    patience = LEARNING_PATIENCE_SECONDS
    target = target_of(path_of(memory_id), same_words="true" if same_words else None)
    return Call("DELETE", target, reading.forgotten, patience_seconds=patience, is_repeatable=False)


def viewer_code(client: Caller, /) -> Call[ViewerCode]:  # noqa: ARG001  # as above
    """A code that opens the viewer in one browser, once: open its ``path`` below the daemon's address."""
    return Call("POST", "/v1/ui/code", reading.value_of(ViewerCode), b"{}", is_repeatable=False)


# --- upkeep ---------------------------------------------------------------------------------------------------------


def embedding_stats(client: Caller, /) -> Call[EmbeddingStats]:  # noqa: ARG001  # every call has one
    """How many memories have a vector, over all projects."""
    return get_call("/api/embeddings/stats", reading.value_of(EmbeddingStats))


def backfill_embeddings(client: Caller, /, batch_size: int | None = None) -> Call[int]:  # noqa: ARG001  # every call has one
    """Make the missing vectors of all memories, and return how many were made. May take long.

    Args:
      batch_size: checked by the daemon, but without effect: its batches are small, and every finished one is kept.
    """
    return post_call("/api/embeddings/backfill", reading.embedded_count, is_long=True, batchSize=batch_size)


def detect_stale_observations(client: Caller, /, *, project: Named = None) -> Call[int]:
    """Check which memories cite files that are gone or changed, and return how many are newly marked as stale.

    Raises:
      FilesUnchecked: no folder of the project is known.
    """
    return _detection(client, reading.marked_count, project)


def detect_stale(client: Caller, /, *, project: Named = None) -> Call[StaleDetection]:
    """The same check, with its whole result."""
    return _detection(client, reading.value_of(StaleDetection), project)


# --- shared by several calls -----------------------------------------------------------------------------------------


def _detection(client: Caller, read: Callable[[Response], T], project: Named) -> Call[T]:
    # Not repeatable: the second time, the marked memories would not be new.
    target = target_of("/api/stale", project=client.project_named(project))
    return Call("POST", target, read, b"{}", patience_seconds=LEARNING_PATIENCE_SECONDS, is_repeatable=False)


def path_of(memory_id: str) -> str:
    """The path of a memory. Raises InvalidRequest: its id is not text."""
    if not isinstance(memory_id, str):
        raise InvalidRequest([("$.id", "expected the id of a memory")])
    return f"/v1/memories/{quote(memory_id, safe='')}"
