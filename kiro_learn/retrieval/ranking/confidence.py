"""How likely the hits of a search help, which of them overturn others, and how sessions boost them."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

import attrs

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import LexicalRanking, RankingFeatures
from kiro_learn.retrieval.ranking.succession import corrects, ended_names, names_of, statement_replacing

# How likely the hits are to help, and how many bytes of a block they are worth, from none to all.
#
# confidence = mean of the best cosines between query and passages
#
# The best are ten cosines, fewer if there are few passages: the third best of five is about another subject. Their
# number grows without a step: 20 passages have two, 10 have one and half of the weight of a second. The words that
# query and hits share add no information, see docs/retrieval-measured.md.
#
# A cosine shows the topic and not the answer, and a high cosine differs from project to project. So a doubtful question
# is not answered with all or nothing, but with few bytes. docs/retrieval-measured.md has the
# measurements.

BEST_PASSAGES = 10
PASSAGES_FOR_ONE_MORE = 20

FLOOR = 0.25
"""The lowest confidence at which a memory is told."""

CERTAIN = 0.36
"""The confidence from which on the whole block is told."""

WORDS_FLOOR, WORDS_CERTAIN = 0.25, 0.5
"""The same bounds for the word share, which is used without vectors."""

LEAST_BYTES = 800
"""How many bytes are told at the floor: about the two best memories."""


@attrs.frozen
class Sureness:
    """How sure it is that the hits help, with the bounds of this confidence."""

    confidence: float
    floor: float = FLOOR
    certain: float = CERTAIN

    @property
    def of_task(self) -> Sureness:
        """The same for a task, which asks for nothing: what only may help it is noise, so ``certain`` is its floor."""
        return attrs.evolve(self, floor=self.certain)

    def bytes_worth(self, most_bytes: int) -> int:
        """How many bytes of a block of ``most_bytes`` to tell: 0 below the floor, all from ``certain`` on."""
        if self.confidence < self.floor:
            return 0
        if self.confidence >= self.certain:
            return most_bytes
        share = (self.confidence - self.floor) / (self.certain - self.floor)
        least = min(LEAST_BYTES, most_bytes)
        return least + int(share * (most_bytes - least))


def confidence(cosines: Sequence[float]) -> float:
    """The confidence. ``cosines``: of the query with the passages found, in any order, at least one."""
    best = sorted(cosines, reverse=True)[:BEST_PASSAGES]
    depth = min(BEST_PASSAGES, 1 + (len(cosines) - 1) / PASSAGES_FOR_ONE_MORE)
    weights = [min(1.0, max(0.0, depth - place)) for place in range(len(best))]
    return math.fsum(weight * cosine for weight, cosine in zip(weights, best, strict=True)) / math.fsum(weights)


def word_share(words: LexicalRanking) -> float:
    """The share of the query's weight in words that its best record has, 0 to 1."""
    if not words.hits or words.ideal_score <= 0:
        return 0.0
    return min(1.0, words.hits[0].score / words.ideal_score)


# Finds memories that overturn hits: a decision of last year is never told without the one of last week.
#
# "Moved to Kafka, RabbitMQ is gone" shares no word with "which message broker do we use?"; the memory that it overturns
# does. So the rare words in the titles of the best records are looked for in newer records, which must say that the
# chosen thing has ended (``succession``). Such a newer record is told as well if there is room, and displaces no hit.

BEST = 2
"""How many of the best records have their successors looked up."""

MOST_SUCCESSORS = 1
"""Most successors of one record: first those that change most of its names, then the newest."""

OlderByNewer = Mapping[RecordId, tuple[RecordId, ...]]
"""For each record, the older ones that it overturns: the first one that its words end, and each that it states to
replace.

Of several older records that only name what changed, the first one is what was chosen, and the others rest on it.
"""

STATED = 1_000
"""More changed names than any record has: a record that states what it replaces goes before all others."""

RARE_SHARE, RARE_LEAST = 0.03, 3
"""A name is in at most this share of the candidates, or in this many. A word in more of them is the topic."""

_SEPARATOR = "\n"


def successors(
    best: Sequence[RecordId],
    texts: Mapping[RecordId, str],
    moments: Mapping[RecordId, datetime],
    asked: Collection[str],
) -> dict[RecordId, tuple[RecordId, ...]]:
    """The ids of the older records that each newer one overturns, by the newer id, in the order of ``best``.

    Args:
      best: ids of records, best first.
      texts: the candidates' texts in lower case, the title first.
      moments: when each record was said.
      asked: the words of the query. Most hits have them, so they are names no matter how many records have them.
    """
    found: dict[RecordId, tuple[RecordId, ...]] = {}
    for old in best[:BEST]:
        if old in texts and old not in found:
            _note_successors(found, old, texts, moments, asked)
    return found


def overturned_among(
    record_ids: Sequence[RecordId],
    texts: Mapping[RecordId, str],
    moments: Mapping[RecordId, datetime],
    known: OlderByNewer = MappingProxyType({}),
) -> dict[RecordId, tuple[RecordId, ...]]:
    """The same as ``successors``, for all of ``record_ids`` and without a query, joined with what is ``known``."""
    joined = {new: tuple(old for old in olds if old in texts) for new, olds in known.items() if new in texts}
    found = {new: olds for new, olds in joined.items() if olds}
    for old in record_ids:
        _note_successors(found, old, texts, moments, ())
    return found


def _note_successors(
    found: dict[RecordId, tuple[RecordId, ...]],
    old: RecordId,
    texts: Mapping[RecordId, str],
    moments: Mapping[RecordId, datetime],
    asked: Collection[str],
) -> None:
    """Add the successors of ``old`` to ``found``. If its words end another one, it must state this."""
    newer = {each: text for each, text in texts.items() if moments[each] > moments[old]}
    names = _changed_name_counts(texts[old], newer, {word.lower() for word in asked}, len(texts))
    ranked = sorted(names, key=lambda each: (names[each], moments[each], each), reverse=True)
    for new in ranked[:MOST_SUCCESSORS]:
        olds = found.get(new, ())
        is_first = all(statement_replacing(texts[each]) in texts[new] for each in olds)
        if old not in olds and (is_first or names[new] == STATED):
            found[new] = (*olds, old)


def dependents(
    older_by_newer: OlderByNewer, texts: Mapping[RecordId, str], moments: Mapping[RecordId, datetime]
) -> dict[RecordId, RecordId]:
    """For each record that names a thing that has changed since: its id, and the id of the record with the change.

    The record is older than the change, so it may rest on the overturned one. A name in more than a few records is the
    topic, as in ``successors``.

    Args:
      older_by_newer: for each record, the older ones that it overturns.
      texts: the records' texts in lower case, the title first.
      moments: when each record was said.
    """
    found: dict[RecordId, RecordId] = {}
    for new, olds in older_by_newer.items():
        known = [old for old in olds if new in texts and old in texts]
        for name in frozenset[str]().union(*(ended_names(texts[new], texts[old]) for old in known)):
            holding = [each for each in texts if each not in older_by_newer and re.search(_whole(name), texts[each])]
            if len(holding) <= RARE_LEAST + 1:
                older = (each for each in holding if each not in olds and moments[each] < moments[new])
                found.update(dict.fromkeys(older, new))
    return found


def _whole(name: str) -> str:
    return rf"\b{re.escape(name)}\b"


def _changed_name_counts(
    old: str, newer: Mapping[RecordId, str], said: Collection[str], total: int
) -> Counter[RecordId]:
    """For each of ``newer`` that overturns ``old``, how many of its names change; other records are left out."""
    most = max(RARE_LEAST, int(RARE_SHARE * total))
    everything = _SEPARATOR.join(newer.values())
    holding = set[RecordId]()
    for name in names_of(old):
        if name in everything:
            found = [each for each, text in newer.items() if name in text]
            is_rare = len(found) <= most
            holding.update(
                each for each in found if is_rare or (name in said and name in newer[each].partition("\n")[0])
            )
    counts = {each: len(ended_names(newer[each], old)) for each in holding}
    counts |= {each: 1 for each, text in newer.items() if not counts.get(each) and corrects(text, old)}
    if (statement := statement_replacing(old)) in everything:
        counts |= {each: STATED for each, text in newer.items() if statement in text}
    return Counter({each: count for each, count in counts.items() if count})


# Boosts later records of a session by its earlier ones: later records often do not repeat the topic.
#
# "Why is it so slow?" is found by the record that says what "it" is. Relevance flows forward only: an earlier record
# cannot refer to a later one.

CARRIED = 0.4
"""The share of its score, received shares included, that a record hands on to the next one found in its session.

Coding sessions gain up to 0.5 and beyond; dialogs gain 1.5 points of nDCG@10 from 0.2 to 0.4, and nothing at 0.5.
"""


def session_boost(
    scores: Mapping[RecordId, float],
    created_at: Mapping[RecordId, datetime],
    ranking_features: Mapping[RecordId, RankingFeatures],
) -> dict[RecordId, float]:
    """``scores``, each with the share that was handed on to it. Records without a session keep theirs.

    ``created_at``: when each of these records was learned.
    """
    of_session = defaultdict(list)
    for record_id in scores:
        features = ranking_features.get(record_id)
        if features is not None and features.session_id is not None:
            learned_at = created_at[record_id]
            of_session[features.session_id].append((features.said_at or learned_at, learned_at, record_id))
    grown = dict(scores)
    for places in of_session.values():
        handed_on = 0.0
        for _, _, record_id in sorted(places) if len(places) > 1 else ():
            handed_on = grown[record_id] = scores[record_id] + CARRIED * handed_on
    return grown
