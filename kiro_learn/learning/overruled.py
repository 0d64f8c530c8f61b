"""Which rules a newer one overrules: one that orders the contrary in the same words, or another tool for the same.

Rules of this file: only a person's newer words overrule, and what is left of both beside the tool must be the same; in
doubt both are told. Nothing is removed: an overruled rule stays in the store with its time.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

import attrs

from kiro_learn.learning.protected_records import stems
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import KnowledgeType, MemoryRecord, Origin, newest_first
from kiro_learn.model.wording import is_negation

_GROUPS = (
    ("npm", "pnpm", "yarn", "bun"),
    ("pip", "uv", "poetry", "pipenv", "conda", "pdm"),
    ("jest", "vitest", "mocha"),
    ("pytest", "unittest"),
    ("eslint", "biome", "oxlint"),
    ("flake8", "pylint", "ruff"),
    ("black", "yapf"),
    ("webpack", "vite", "rollup", "esbuild", "parcel"),
    ("tabs", "spaces"),
    ("squash", "rebase"),
    ("docker", "podman"),
    ("postgres", "postgresql", "mysql", "sqlite", "mariadb"),
)
_BESIDE = frozenset({"eslint", "flake8", "docker", "postgres"})
"""Of whose groups several are at home in one project, so that only who says that one is used chooses it."""
RIVALS = {name: group for group, names in enumerate(_GROUPS) for name in names}
"""Of what is used instead of each other: in which group it is."""

_FILLERS_WORDS = """
    run change plan now here project repo codebase on please again go switch
"""
_FILLERS = frozenset(_FILLERS_WORDS.split())
_DENYING = frozenset({"avoid", "stop", "instead", "rather"})
_CHOOSING = frozenset({"use", "using", "prefer", "switch", "store"})
_UNCLEAR_WORDS = """
    without unless except anything everything other both either too also alongside besides keep support supports add
    remove drop delete replace uninstall migrate compatible benchmark
"""
_UNCLEAR = frozenset(_UNCLEAR_WORDS.split())
"""With these a negation turns around, there is an exception, or several rivals have their place."""
_CLAUSE = re.compile(r"[,;:.!] +(?=(?:but |always |only |please |just )?(?:use|prefer|run|take|go with)\b)")
"""Where something is ordered that a negation before it does not deny."""
_LEADING = re.compile(
    r"(?i)(?:(?:(?:ok|actually|sorry|change of plans?|new rule|from now on|remember)[,:.]?"
    r"|(?:no|correction|update|note)[,:.]) )+"
)
"""What a person says before a rule that takes the place of another."""
_WORD = re.compile(r"[^\W_][\w'.+-]*")
LONGEST = 240
"""Characters of a rule that is compared: a longer one says more than one thing."""


@attrs.frozen
class Order:
    """What a rule orders, as far as it can be compared with another."""

    about: frozenset[object]
    """Its words without rivals, and the group of those it names."""
    wanted: frozenset[str]
    denied: frozenset[str]

    def excludes(self, other: Order) -> bool:
        """Whether both cannot be followed, where they are about the same."""
        if self.wanted & other.denied or self.denied & other.wanted:
            return True
        return bool(self.wanted and other.wanted) and self.wanted.isdisjoint(other.wanted)

    def contradicts(self, other: Order) -> bool:
        """Whether both are about the same, and cannot both be followed."""
        return self.about == other.about and self.excludes(other)


def order_of(text: str) -> Order | None:
    """What ``text`` orders; None where it says too much or turns around, or names rivals of several groups."""
    before = _LEADING.match(text)
    said = text[before.end() if before else 0 :].casefold() if len(text) <= LONGEST else ""
    words = {word.rstrip(".'") for word in _WORD.findall(said)}
    wanted, denied, rest = set[str](), set[str](), list[str]()
    orders = [_read(clause, wanted, denied, rest) for clause in _CLAUSE.split(said)]
    named = wanted | denied
    groups = {RIVALS[word] for word in named}
    left = stems(" ".join(rest)) - _FILLERS
    if len(groups) > 1 or len(wanted) > 1 or not (groups or left) or not words.isdisjoint(_UNCLEAR):
        return None
    if groups & {RIVALS[word] for word in _BESIDE} and not denied and words.isdisjoint(_CHOOSING):
        return None
    if not groups and (len(orders) > 1 or orders[0] > 1):
        return None
    if not groups:  # no rivals: the whole of it is wanted, or denied
        (denied if orders[0] else wanted).add("")
    return Order(left | groups, frozenset(wanted), frozenset(denied))


def _read(clause: str, wanted: set[str], denied: set[str], rest: list[str]) -> int:
    """Put its words where they belong, and answer how many negations it has."""
    negations = 0
    for word in (each.rstrip(".'") for each in _WORD.findall(clause)):
        if is_negation(word) or word in _DENYING:
            negations += 1
        elif word in RIVALS:
            (denied if negations else wanted).add(word)
        else:
            rest.append(word)
    return negations


def overruling(rules: Iterable[MemoryRecord]) -> dict[RecordId, RecordId]:
    """By the id of each of ``rules`` that a newer one of a person overrules, the id of the newest that does."""
    by_subject: defaultdict[frozenset[object], list[tuple[MemoryRecord, Order]]] = defaultdict(list)
    for rule in rules:
        order = order_of(rule.title) if rule.knowledge_type is KnowledgeType.CONSTRAINT else None
        if order is not None:
            by_subject[order.about].append((rule, order))
    found: dict[RecordId, RecordId] = {}
    for same in by_subject.values():
        for old, order in same:
            newer = [new for new, later in same if _is_newer_word(new, old) and later.excludes(order)]
            if newer:
                found[old.record_id] = newest_first(newer)[0].record_id
    return found


def overruled(rules: Iterable[MemoryRecord]) -> frozenset[RecordId]:
    """The ids of those of ``rules`` that a newer one of a person overrules."""
    return frozenset(overruling(rules))


def _is_newer_word(new: MemoryRecord, old: MemoryRecord) -> bool:
    return new.created_at > old.created_at and new.origin is not Origin.ASSISTANT
