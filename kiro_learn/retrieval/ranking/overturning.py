"""Finds the memories that overturn what was found: a decision of last year is never told without that of last week.

"Moved to Kafka, RabbitMQ is gone" shares no word with "which message broker do we use?"; the memory that it overturns
does. So of the best records the rare words of the title are looked for in what is newer, near a word that says that
something changed. What is found so is told as well where there is room, and takes none from what was found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import islice

from kiro_learn.model.ids import RecordId
from kiro_learn.retrieval.query.stop_words import is_stop_word
from kiro_learn.retrieval.rendering.word_runs import word_runs

BEST = 2
"""How many of the best records have their successors looked up."""

MOST_SUCCESSORS = 1
"""Most successors of one record: those that change most of its names first, then the newest."""

LEAST_LETTERS = 3
"""Fewest letters of a name."""

RARE_SHARE, RARE_LEAST = 0.03, 3
"""A name is held by at most this share of the candidates, or this many: a word that more of them hold is the topic."""

NEAR = 40
"""Characters on either side of a name, in its sentence, in which a change is looked for."""

_CHANGE = re.compile(
    r"\b(?:instead|rather than|replac\w{1,6}|remov\w{1,6}|drop(?:s|ped|ping)?|no longer|no more|any ?more|gone|dead"
    r"|rid of|decided against|shut down|switch(?:ed|es|ing)?|migrat\w{1,6}|moved?|moves|moving|ported|away from"
    r"|deprecat\w{1,6}|cancel\w{0,6}|abandon\w{0,6}|obsolete|superseded?|back to|revert\w{0,4}|ended"
    r"|stop(?:ped)? using|changed?|renamed?|(?:do not|don't|never) use"
    r"|too (?:slow|expensive|much|big|heavy|large|long|strict|short|small|high|low)"
    r"|statt|stattdessen|anstatt|anstelle|ersetzt|entfernt|umgestellt|nicht mehr|abgeschafft|verworfen|gewechselt"
    r"|au lieu de|remplac\w{1,5}|en lugar de|reemplaz\w{1,5}|invece di|sostitui\w{1,5}|вместо|больше не|zamiast)\b"
)
"""Said beside a name: something else holds now. English, German, French, Spanish, Italian, Russian, Polish."""

_TURN_BEFORE = re.compile(r" \(after: [^\n]{0,600}\)(?=\n|$)")
"""The built-in learner's note on the turn before, after the question."""

_SEPARATOR = "\n"
_SENTENCE_END = re.compile(r"[.!?;]\s|\n")
_DENIED = re.compile(r"\b(?:no|not|never|without|kein\w{0,2}|nicht|ohne|sans|sin|senza|без|не)\s+$")


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
      asked: the words of the query.
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
    overturned: Mapping[RecordId, RecordId], texts: Mapping[RecordId, str], moments: Mapping[RecordId, datetime]
) -> dict[RecordId, RecordId]:
    """By the id of each record that names what has changed since, the id of that which changed it.

    It is older than the change, so it may rest on what was overturned. A name that more than a few records hold is the
    topic, as in ``successors``.

    Args:
      overturned: by record, the older one that it overturns.
      texts: of the records, in lower case, the title first.
      moments: when each was said.
    """
    found: dict[RecordId, RecordId] = {}
    for new, old in overturned.items():
        if new not in texts or old not in texts:
            continue
        names = [name for name in _names_in(texts[old]) if _says_changed(texts[new], name)]
        for name in names:
            holding = [each for each in texts if each not in overturned and re.search(_whole(name), texts[each])]
            if len(holding) <= RARE_LEAST + 1:
                older = (each for each in holding if each != old and moments[each] < moments[new])
                found.update(dict.fromkeys(older, new))
    return found


def _names_in(text: str) -> list[str]:
    """What the title of ``text`` names."""
    return [name for name in dict.fromkeys(word_runs(text.partition("\n")[0])) if _may_name(name)]


def _whole(name: str) -> str:
    return rf"\b{re.escape(name)}\b"


def _changed_name_counts(
    old: str, newer: Mapping[RecordId, str], said: Collection[str], total: int
) -> Counter[RecordId]:
    """For each of ``newer``, how many names of ``old`` it says have changed; records without any are left out."""
    found: Counter[RecordId] = Counter()
    most = max(RARE_LEAST, int(RARE_SHARE * total))
    everything = _SEPARATOR.join(newer.values())
    for name in _names_in(old):
        if name in said or name not in everything:
            continue
        holding = list(islice((each for each, text in newer.items() if name in text), most + 1))
        if len(holding) <= most:
            found.update(each for each in holding if _says_changed(newer[each], name))
    return found


def _may_name(word: str) -> bool:
    return len(word) >= LEAST_LETTERS and not word.isdigit() and not is_stop_word(word) and not _CHANGE.fullmatch(word)


def _says_changed(text: str, name: str) -> bool:
    text = _TURN_BEFORE.sub("", text)
    for at in re.finditer(_whole(name), text):
        near = text[max(0, at.start() - NEAR) : at.start()]
        whole_words = near if at.start() <= NEAR else near.partition(" ")[2]
        before = _SENTENCE_END.split(whole_words)[-1]
        behind = _SENTENCE_END.split(text[at.end() : at.end() + NEAR])[0]
        if _CHANGE.search(before) or _CHANGE.search(behind) or _DENIED.search(before):
            return True
    return False
