"""What kind of thing the object of a fact names, by how it is written: a model or a person may write anything there."""

from __future__ import annotations

import re

from kiro_learn.learning.extraction.extractive.vocabulary import FILE_EXTENSIONS
from kiro_learn.learning.graph.gazetteer import known_at_start
from kiro_learn.learning.graph.predicates import PREDICATES
from kiro_learn.learning.graph.working_graph import folded
from kiro_learn.model.graph import EntityType

SUGGESTED = frozenset({EntityType.TOOL, EntityType.PROJECT, EntityType.CONCEPT})
"""What predicates suggest of objects that may be something else; one lives in no tool."""
MOST_WORDS_OF_A_CONCEPT = 2
"""What is liked and has more words ("finding new ways"), or a name of an unknown kind ("Paris"), is a value."""
MOST_WORDS_OF_A_NAME = 3
_NO_TOOL = re.compile(r"[.~-]|.*/|[\d.:]+\Z|[A-Z][A-Z0-9]*_[A-Z0-9_]+\Z")
"""The beginning of a path or of an option, an address, or the name of a setting."""
_FILES = FILE_EXTENSIONS - {"js"}
"""Three.js is a library."""


def object_type_of(predicate: str, object_: str) -> EntityType | None:
    """The type of the entity that an object names; None: it is a value, no entity.

    A tool has a name of one word, or of words that begin with capital letters. A path, a setting or an address is of no
    type, two plain words are a concept, and more are no name.
    """
    known = PREDICATES[predicate]
    suggested = known.object_type
    if suggested not in SUGGESTED:
        return suggested
    words = object_.split()[-len(folded(object_).split()) :]  # without an article
    if known_at_start(words) is not None:
        return suggested
    is_short = len(words) <= MOST_WORDS_OF_A_CONCEPT
    if known.is_taste:
        return EntityType.CONCEPT if is_short and not words[0][0].isupper() else None
    if len(words) == 1 and _is_no_tool(words[0]):
        return EntityType.OTHER
    is_name = suggested is EntityType.PROJECT or len(words) == 1 or not any(word[0].islower() for word in words)
    if is_name and len(words) <= MOST_WORDS_OF_A_NAME:
        return suggested
    return EntityType.CONCEPT if is_short else None


def _is_no_tool(word: str) -> bool:
    return _NO_TOOL.match(word) is not None or word.rpartition(".")[2].lower() in _FILES - {word.lower()}
