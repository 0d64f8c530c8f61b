"""The predicates that the graph knows, and the key of a wish: the first words that name its subject.

A predicate that has no row here is not learned: a predicate that means nothing is noise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import attrs

from kiro_learn.model.graph import MAX_NAME, EntityType
from kiro_learn.model.wording import word_set

TOOL, PROJECT, PERSON = EntityType.TOOL, EntityType.PROJECT, EntityType.PERSON
LOCATION, ORGANIZATION = EntityType.LOCATION, EntityType.ORGANIZATION
TECHNICAL_DAYS = 120.0
PREFERENCE_DAYS = 365.0
RELATIONSHIP_DAYS = 180.0
STATUS_DAYS = 30.0


@attrs.frozen(kw_only=True)
class Predicate:
    """How facts with one predicate behave."""

    name: str
    is_single: bool = False
    """One object at a time: another object ends it. False: several hold at once."""
    half_life_days: float | None = TECHNICAL_DAYS
    """After how many days without confirmation its confidence is halved; None: never."""
    object_type: EntityType | None = None
    """The type of the entity that its object is; then there is an edge too. None: its object is a value."""
    is_taste: bool = False
    """Its object may be anything: it is an entity of ``object_type`` only where it is known to be one."""
    opposite: str | None = None
    """The predicate that cannot hold for the same object at the same time."""
    form: str = ".+"
    """A pattern that matches its whole object."""
    is_duty: bool = False
    """The fact ends when its subject leaves: see ``LEAVING``."""
    ends_with: str | None = None
    """The predicate whose end also ends this one for the same object: a tool that is no longer used runs nothing."""


_PORT = "[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"

_ALL = (
    Predicate(name="uses", object_type=TOOL),
    Predicate(name="written_in", object_type=TOOL),
    Predicate(name="runs_on", object_type=TOOL, ends_with="uses"),
    Predicate(name="deployed_on", object_type=TOOL, ends_with="uses"),
    Predicate(name="depends_on", object_type=TOOL, ends_with="uses"),
    Predicate(name="tested_with", object_type=TOOL, ends_with="uses"),
    Predicate(name="built_with", object_type=TOOL, ends_with="uses"),
    Predicate(name="formatted_with", object_type=TOOL, ends_with="uses"),
    Predicate(name="listens_on_port", is_single=True, form=_PORT),
    Predicate(name="has_version", is_single=True, form=r".{0,100}\d.{0,100}"),
    Predicate(name="requires_version", is_single=True, form=r".{0,100}\d.{0,100}"),
    Predicate(name="default_branch", is_single=True, form=r"[^\s~^:?*\[\\]+"),
    Predicate(name="stored_in", object_type=TOOL, is_single=True),
    Predicate(name="licensed_under", is_single=True, half_life_days=None),
    Predicate(name="scheduled_for", is_single=True, half_life_days=STATUS_DAYS),
    Predicate(name="has_status", is_single=True, half_life_days=STATUS_DAYS),
    Predicate(name="lives_in", object_type=LOCATION, is_single=True, half_life_days=None),
    Predicate(name="works_at", object_type=ORGANIZATION, is_single=True, half_life_days=RELATIONSHIP_DAYS),
    Predicate(name="has_name", is_single=True, half_life_days=None),
    Predicate(name="works_as", is_single=True, half_life_days=RELATIONSHIP_DAYS),
    Predicate(name="works_on", is_duty=True, object_type=PROJECT, half_life_days=RELATIONSHIP_DAYS),
    Predicate(name="works_with", object_type=PERSON, half_life_days=RELATIONSHIP_DAYS),
    Predicate(name="created", object_type=PROJECT, half_life_days=None),
    Predicate(name="maintains", is_duty=True, object_type=PROJECT, half_life_days=RELATIONSHIP_DAYS),
    Predicate(name="owns", is_duty=True, object_type=PROJECT, half_life_days=RELATIONSHIP_DAYS),
    Predicate(name="responsible_for", is_duty=True, object_type=PROJECT, half_life_days=RELATIONSHIP_DAYS),
    Predicate(name="likes", object_type=TOOL, is_taste=True, half_life_days=PREFERENCE_DAYS, opposite="dislikes"),
    Predicate(name="dislikes", object_type=TOOL, is_taste=True, half_life_days=PREFERENCE_DAYS, opposite="likes"),
    Predicate(name="prefers", object_type=TOOL, is_taste=True, half_life_days=PREFERENCE_DAYS, opposite="dislikes"),
    Predicate(name="avoids", object_type=TOOL, half_life_days=PREFERENCE_DAYS, opposite="uses"),
)
PREDICATES = {predicate.name: predicate for predicate in _ALL}
"""The predicates by name."""


def _related(name: str) -> frozenset[str]:
    """The predicate, its opposites, their opposites, and so on."""
    near = {frozenset({each.name, each.opposite}) for each in _ALL if each.opposite is not None}
    found = frozenset({name})
    while more := frozenset[str]().union(*(pair for pair in near if pair & found)) - found:
        found |= more
    return found


def fits(predicate: str, object_: str) -> bool:
    """Whether a fact with this predicate may have the object: a port is a number, a branch one word."""
    known = PREDICATES.get(predicate)
    return known is None or re.fullmatch(known.form, object_, re.DOTALL) is not None


DUTIES = frozenset(each.name for each in _ALL if each.is_duty)
LEAVING = frozenset({"works_at", "has_status"})
"""Predicates that may say that somebody left: by a place of work that ended, or by a status like ``left``."""
_LEFT = re.compile(
    r"(?:has |is |was )*(?:left|gone|departed|resigned|retired|quit|let go|no longer (?:here|with us))(?: .*)?"
)


def is_left(object_: str) -> bool:
    """Whether a status says that somebody left. ``object_`` is folded."""
    return _LEFT.fullmatch(object_) is not None


RELATED = {name: _related(name) for name in PREDICATES}
"""For each predicate those whose facts are read together with its own, itself included."""


def read_whole(predicates: Iterable[str]) -> frozenset[str]:
    """The predicates whose facts matter to ``predicates`` with any object. Of others only the same object matters."""
    near = frozenset[str]().union(*(RELATED.get(each, frozenset()) for each in predicates))
    duties = DUTIES if near & LEAVING else frozenset()
    leaving = LEAVING if near & DUTIES else frozenset()
    return leaving | duties | {each for each in near if PREDICATES[each].is_single}


def cannot_hold_together(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two facts of one entity, each as predicate and object, exclude each other."""
    (predicate, object_), (other_predicate, other_object) = one, other
    if predicate == other_predicate:
        return PREDICATES[predicate].is_single and object_ != other_object
    is_opposite = PREDICATES[predicate].opposite == other_predicate or PREDICATES[other_predicate].opposite == predicate
    return is_opposite and object_ == other_object


KEY_WORDS = 6
"""How many words of a wish tell it from others."""
_NO_KEY = word_set("""
    a an the our my your we you i this that these on of for with in to from now all any every when before after be is
    and or but also always never ever should must please ok note remember project repo codebase use used using
    prefer
""")
_WORD = re.compile(r"[^\W_][\w.'#+/-]*")


def key_of(text: str) -> str:
    """The first words of a wish that name its subject; empty if it has none."""
    return " ".join([word for word in map(str.lower, words_of(text)) if word not in _NO_KEY][:KEY_WORDS])[:MAX_NAME]


def words_of(text: str) -> list[str]:
    """The words of ``text``, with the signs that names are written with."""
    return [word.rstrip(".'") for word in _WORD.findall(text)]
