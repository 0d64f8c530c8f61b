"""Chooses how many waiting events go into one prompt: as many as fit, cut where the fewest turns are split."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

import attrs

from kiro_learn.learning.extraction.framing import CLOSING, Bounds, FramedBatch, elements_of, frame, opening_of
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.event import Event, EventKind

LEAST_TEXT_CHARACTERS = 500
"""Lower bound of an event's text: a shorter one says nothing. A prompt that is still too long is sent anyway."""


@attrs.frozen
class Portion:
    """The oldest waiting events that fit into one prompt, and the part of the prompt that shows them."""

    snapshot: BufferSnapshot
    batch: FramedBatch


def portion(snapshot: BufferSnapshot, most_characters: float, *, least_count: int = 1) -> Portion:
    """The longest prefix of ``snapshot`` that makes a batch of at most ``most_characters``, but at least one entry.

    It ends where the fewest turns are split: after an answer or before a prompt, if there is such a place from
    ``least_count`` entries on. One entry that is too long on its own is shown with ever less of its texts.
    """
    batch = frame(snapshot.entries, snapshot.earlier_prompts)
    if len(batch.text) <= most_characters:
        return Portion(snapshot, batch)
    prefix = snapshot.first(_best_cut(snapshot.events, least_count, _fitting_count(snapshot, most_characters)))
    bounds = Bounds()
    batch = frame(prefix.entries, prefix.earlier_prompts, bounds)
    while len(batch.text) > most_characters and bounds.text_characters > LEAST_TEXT_CHARACTERS:
        bounds = bounds.halved()
        batch = frame(prefix.entries, prefix.earlier_prompts, bounds)
    return Portion(prefix, batch)


def part_to_try(snapshot: BufferSnapshot, suspect_count: int) -> BufferSnapshot:
    """The beginning of ``snapshot`` to learn next, where a run failed on its first ``suspect_count`` entries.

    It is about half of these, so that a few runs find the turn that they failed on: what is learned on the way is no
    longer suspected. If they are one turn, it is all of them; if none is suspected, it is ``snapshot``.
    """
    if not suspect_count:
        return snapshot
    suspects = snapshot.first(suspect_count)
    return suspects.first(half_count(suspects.events) or suspect_count)


def half_count(events: Sequence[Event]) -> int:
    """About half of ``events``, cut where the fewest turns are split; 0 if they are of one turn only."""
    split_counts = _split_turn_counts(events)
    cuts = range(1, len(events))
    if not any(split_counts[count] == 0 for count in cuts) and _turn_count(events) < 2:  # noqa: PLR2004  # one turn cannot be split
        return 0
    return min(cuts, key=lambda count: (split_counts[count], abs(2 * count - len(events))))


def _fitting_count(snapshot: BufferSnapshot, most_characters: float) -> int:
    """How many of the oldest entries fit, with the earlier prompts of their sessions; at least one.

    Numbers and paths are counted as if all were framed, where they are longest.
    """
    earlier = snapshot.earlier_prompts
    shown = (*earlier, *snapshot.events)
    sizes = [len(element) + 1 for element in elements_of(shown, len(earlier), Bounds())]
    context_sizes: defaultdict[str, int] = defaultdict(int)
    for prompt, size in zip(earlier, sizes, strict=False):
        context_sizes[prompt.session_id] += size
    total = max((len(opening_of([event])) for event in shown), default=0) + 1 + len(CLOSING)
    for count, (event, size) in enumerate(zip(snapshot.events, sizes[len(earlier) :], strict=True)):
        total += size + context_sizes.pop(event.session_id, 0)
        if total > most_characters:
            return max(count, 1)
    return len(snapshot.entries)


def _best_cut(events: Sequence[Event], least: int, most: int) -> int:
    """How many of the first ``most`` events to take, so that the fewest turns are split; of several cuts, the last."""
    split_counts = _split_turn_counts(events)
    return min(range(min(least, most), most + 1), key=lambda count: (split_counts[count], -count))


def _split_turn_counts(events: Sequence[Event]) -> list[int]:
    """For each number of events taken: how many sessions are left in the middle of a turn.

    A turn holds from its prompt, or its first tool, up to its answer; notes are no part of any.
    """
    steps = [0] * (len(events) + 2)
    for places in _sessions(events):
        for here, there in pairwise(places):
            if _is_one_turn(events[here], events[there]):
                steps[here + 1] += 1
                steps[there + 1] -= 1
    return list(accumulate(steps))


def _turn_count(events: Sequence[Event]) -> int:
    return sum(
        1 + sum(not _is_one_turn(events[here], events[there]) for here, there in pairwise(places))
        for places in _sessions(events)
    )


def _sessions(events: Sequence[Event]) -> Iterable[Sequence[int]]:
    """The places of each session's events, without its notes."""
    sessions: defaultdict[str, list[int]] = defaultdict(list)
    for place, event in enumerate(events):
        if event.kind is not EventKind.NOTE:
            sessions[event.session_id].append(place)
    return sessions.values()


def _is_one_turn(event: Event, following: Event) -> bool:
    """Whether two events that follow each other in their session belong to one turn."""
    return event.kind is not EventKind.SESSION_SUMMARY and following.kind is not EventKind.PROMPT
