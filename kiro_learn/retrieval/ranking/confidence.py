"""What one search's hits are worth: how likely they help, which of them overturn others, and which a session already
led to.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import attrs

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import LexicalRanking, RankingFeatures
from kiro_learn.retrieval.ranking.succession import corrects, ended_names, names_of, statement_replacing

# How likely the hits are to help, and how many bytes of a block that is worth, from none to all.
#
# confidence = mean of the best cosines between query and passages
#
# The best are ten; fewer where there are few passages, since the third best of five is about something else. They
# grow without a step: 20 passages have two, 10 have one and half of the weight of a second. The words the query
# shares with what was found say nothing more, see docs/retrieval.md.
#
# A cosine knows the topic, not the answer, and what is high differs from project to project. So a doubtful question
# is not answered with all or nothing, but with few bytes. docs/retrieval.md has the measurements.

BEST_PASSAGES = 10
PASSAGES_FOR_ONE_MORE = 20

FLOOR = 0.25
"""Lowest confidence at which anything is told."""

CERTAIN = 0.36
"""From here on, the whole block is worth its bytes."""

WORDS_FLOOR, WORDS_CERTAIN = 0.25, 0.5
"""The same bounds for the word share, used if there are no vectors."""

LEAST_BYTES = 800
"""Told at the floor: about the two best memories."""


@attrs.frozen
class Sureness:
    """How sure it is that what was found helps, and the bounds that this is compared with."""

    confidence: float
    floor: float = FLOOR
    certain: float = CERTAIN

    def bytes_worth(self, most_bytes: int) -> int:
        """How much of a block of ``most_bytes`` to tell; 0 below the floor, all of it from ``certain`` on."""
        if self.confidence < self.floor:
            return 0
        share = min(1.0, (self.confidence - self.floor) / (self.certain - self.floor))
        least = min(LEAST_BYTES, most_bytes)
        return least + int(share * (most_bytes - least))


def confidence(cosines: Sequence[float]) -> float:
    """``cosines``: of the query with the passages that were found, in any order, at least one."""
    best = sorted(cosines, reverse=True)[:BEST_PASSAGES]
    depth = min(BEST_PASSAGES, 1 + (len(cosines) - 1) / PASSAGES_FOR_ONE_MORE)
    weights = [min(1.0, max(0.0, depth - place)) for place in range(len(best))]
    return math.fsum(weight * cosine for weight, cosine in zip(weights, best, strict=True)) / math.fsum(weights)


def word_share(words: LexicalRanking) -> float:
    """How much of the query's weight in words its best record holds, 0 to 1."""
    if not words.hits or words.ideal_score <= 0:
        return 0.0
    return min(1.0, words.hits[0].score / words.ideal_score)


# Finds the memories that overturn what was found: a decision of last year is never told without that of last week.
#
# "Moved to Kafka, RabbitMQ is gone" shares no word with "which message broker do we use?"; the memory that it
# overturns does. So of the best records the rare words of the title are looked for in what is newer, and whether that
# says that what was chosen has ended (``succession``). What is found so is told as well where there is room, and takes
# none from what was found.

BEST = 2
"""How many of the best records have their successors looked up."""

MOST_SUCCESSORS = 1
"""Most successors of one record: those that change most of its names first, then the newest."""

STATED = 1_000
"""As many names as nothing has: a record that states what it replaces goes before all that only seem to."""

RARE_SHARE, RARE_LEAST = 0.03, 3
"""A name is held by at most this share of the candidates, or this many: a word that more of them hold is the topic."""

_SEPARATOR = "\n"


def successors(
    best: Sequence[RecordId],
    texts: Mapping[RecordId, str],
    moments: Mapping[RecordId, datetime],
    asked: Collection[str],
) -> dict[RecordId, RecordId]:
    """The id of the older record that each newer one overturns, by the newer id; of several, the first in ``best``.

    Args:
      best: ids of records, best first.
      texts: of the candidates, in lower case, the title first.
      moments: when each was said.
      asked: the words of the query. Most of what was found has them, so they are names however many hold them.
    """
    found: dict[RecordId, RecordId] = {}
    said = {word.lower() for word in asked}
    for old in best[:BEST]:
        if old in texts and old not in found:
            newer = {each: text for each, text in texts.items() if moments[each] > moments[old]}
            names = _changed_name_counts(texts[old], newer, said, len(texts))
            ranked = sorted(names, key=lambda each: (names[each], moments[each], each), reverse=True)
            for new in ranked[:MOST_SUCCESSORS]:
                found.setdefault(new, old)
    return found


def overturned_among(
    record_ids: Sequence[RecordId], texts: Mapping[RecordId, str], moments: Mapping[RecordId, datetime]
) -> dict[RecordId, RecordId]:
    """Like ``successors``, of all of ``record_ids``, without a query."""
    found: dict[RecordId, RecordId] = {}
    for record_id in record_ids:
        for new, old in successors([record_id], texts, moments, ()).items():
            found.setdefault(new, old)
    return found


def dependents(
    older_by_newer: Mapping[RecordId, RecordId], texts: Mapping[RecordId, str], moments: Mapping[RecordId, datetime]
) -> dict[RecordId, RecordId]:
    """By the id of each record that names what has changed since, the id of that which changed it.

    It is older than the change, so it may rest on what was overturned. A name that more than a few records hold is the
    topic, as in ``successors``.

    Args:
      older_by_newer: by record, the older one that it overturns.
      texts: of the records, in lower case, the title first.
      moments: when each was said.
    """
    found: dict[RecordId, RecordId] = {}
    for new, old in older_by_newer.items():
        if new not in texts or old not in texts:
            continue
        for name in ended_names(texts[new], texts[old]):
            holding = [each for each in texts if each not in older_by_newer and re.search(_whole(name), texts[each])]
            if len(holding) <= RARE_LEAST + 1:
                older = (each for each in holding if each != old and moments[each] < moments[new])
                found.update(dict.fromkeys(older, new))
    return found


def _whole(name: str) -> str:
    return rf"\b{re.escape(name)}\b"


def _changed_name_counts(
    old: str, newer: Mapping[RecordId, str], said: Collection[str], total: int
) -> Counter[RecordId]:
    """For each of ``newer`` that overturns ``old``, how many names of it; records that do not are left out."""
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


# Boosts later records of a session by its earlier ones, whose topic they often do not name again.
#
# "Why is it so slow?" is found by what "it" was. Relevance flows forward only: what came before cannot know.

CARRIED = 0.4
"""Share of its score that a record hands on to the one found next in its session, with what it was handed itself.

Coding sessions gain up to 0.5 and beyond; dialogs gain 1.5 points of nDCG@10 from 0.2 to 0.4, and nothing at 0.5.
"""


def session_boost(
    scores: Mapping[RecordId, float],
    created_at: Mapping[RecordId, datetime],
    ranking_features: Mapping[RecordId, RankingFeatures],
) -> dict[RecordId, float]:
    """``scores``, each with what was handed on to it; those of records without a session as they were.

    ``created_at``: of each of these records.
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
