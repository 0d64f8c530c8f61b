"""Reads what a model's answer proposes for the graph, next to its memories.

A model proposes, and the events decide. A fragment is taken only if its words stand in a prompt of the batch that it
cites, or in the person's answer to a tool. So nothing is learned that only an agent said, and no predicate that is not
in the table.
"""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import PurePath
from typing import TypeAlias, TypeVar

import attrs

from kiro_learn.learning.extraction.framing import FramedBatch, project_path_of, said_by
from kiro_learn.learning.extraction.parsing import attributes_of, bounded, up_to_the_next, without_thinking
from kiro_learn.learning.extraction.splitting import More
from kiro_learn.learning.graph.predicates import PREDICATES, fits
from kiro_learn.learning.graph.without_model import PERSON, OwnWords, own_words_in
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.draft import (
    EntityDraft,
    FactDraft,
    GraphDrafts,
    PreferenceDraft,
    ProcedureDraft,
)
from kiro_learn.model.graph import (
    MAX_ALIASES,
    MAX_DESCRIPTION,
    MAX_NAME,
    MAX_OBJECT,
    MAX_STEPS,
    EntityType,
    PreferenceCategory,
    SourceType,
)

THIS_PROJECT = "this project"
"""The name of a project without a folder."""

GRAPH = More(
    before=f"""
After the records (or after <skip/>) you may add one <graph> of what the person stated in their own words, in prompts
and in <user_answer> elements, and nothing else: not what an agent said, not a plan or a log that they pasted, not what
is planned, asked, imagined or said of others.

<graph>
<entity name="NAME" type="ENTITY" aliases="other name; another" events="NUMBERS">what it is, in their words</entity>
<fact subject="NAME" subject_type="ENTITY" predicate="PREDICATE" object="WORDS" events="NUMBERS"/>
<preference category="CATEGORY" key="what it is about" events="NUMBERS">what they want, in their words</preference>
<procedure name="NAME" events="NUMBERS"><step>first</step><step>then</step></procedure>
</graph>

ENTITY is one of {", ".join(EntityType)}. CATEGORY is one of {", ".join(PreferenceCategory)}.
PREDICATE is one of {", ".join(PREDICATES)}; leave out what none of them says.
The project is called by the last part of the batch's project path, its person "{PERSON}".
Of a fact that holds no longer write denied="yes"; of one that takes the place of another, replaces="the old WORDS";
of one that puts an error right, also corrected="yes". NAMES and WORDS stand in the prompt as you write them, at most
eight words each.
A fact still holds next month; has_status is for a state with a name, not for how things go today.
A preference is a standing wish about how work is done ("always", "never", "I prefer"), not an order for one task, and
not what was chosen for one feature: that is a record. A procedure is a way to do again what will be done again.
Leave the <graph> out if there is nothing for it.
""",
    after=", then with one <graph> if there is anything for it",
)
"""The part of the prompt that is about the graph."""

PROPOSED = 0.8
"""The confidence of a fragment that a model read out of a person's words."""
MOST_WORDS = 8
"""The most words of a name."""
MOST_FRAGMENTS = 50

_GRAPH = re.compile(r"<graph\b[^<>]{0,200}>")
_ELEMENT = re.compile(r"<(entity|fact|preference|procedure)\b([^<>]{0,2000})>")
_STEP = re.compile(r"<step>([^<>]{1,1000})</step>")
_ALIASES = re.compile("[;,]")
_PROJECT_WORDS = frozenset(
    {"we", "us", "project", "the project", "this project", "our project", "this repo", "the repo", "our repo"}
)
_PERSON_WORDS = frozenset({"i", "me", "user", PERSON, "person", "the person", "developer", "the developer"})

_Choice = TypeVar("_Choice", EntityType, PreferenceCategory)
Draft: TypeAlias = EntityDraft | FactDraft | PreferenceDraft | ProcedureDraft


class Refusal(enum.StrEnum):
    """Why a fragment is not taken."""

    NO_PROMPT = "no_prompt"
    """It cites no event of this batch in which the person said something."""
    NOT_SAID = "not_said"
    """Its words do not stand in the cited text, or only in sentences that state nothing."""
    PREDICATE = "predicate"
    """The table has no such predicate."""
    FORM = "form"
    """A name is too long or missing, or a type, a category or a value is not valid."""


Count: TypeAlias = Mapping[tuple[str, Refusal], int]


@attrs.frozen
class Proposals:
    """The proposals in an answer."""

    drafts: GraphDrafts
    """The drafts that are taken."""
    refusals: Count
    """How many other fragments were refused, by the name of the element and the reason."""

    @property
    def refused_counts(self) -> dict[str, int]:
        """The refusals for a log line: one name for each element and reason."""
        return {f"{element}_{reason}_count": count for (element, reason), count in self.refusals.items()}


@attrs.frozen
class _Fragment:
    """One element, with one of the texts that may bear it out."""

    attributes: Mapping[str, str]
    inside: str
    """The text between its tags, as the model wrote it."""
    said: OwnWords
    project: str

    def spelled(self, name: str, type_: EntityType) -> tuple[str, EntityType]:
        """The project's or the person's own name where ``name`` means one of them; else ``name``."""
        if type_ is not EntityType.PERSON and (name.casefold() in _PROJECT_WORDS or _is_spelling(name, self.project)):
            return self.project, EntityType.PROJECT
        if name.casefold() in _PERSON_WORDS:
            return PERSON, EntityType.PERSON
        return name, type_


@attrs.frozen
class _Made:
    """The result for one element."""

    element: str
    made: Draft | Refusal
    written: str
    """The subject of a fact as the model wrote it."""


Make: TypeAlias = Callable[[_Fragment], Draft | Refusal]


def proposals_in(answer: str, batch: FramedBatch, snapshot: BufferSnapshot) -> Proposals:
    """The proposals in ``answer`` that ``snapshot`` bears out, and counts of those that are refused.

    No proposals if ``answer`` has no graph.
    """
    answer = without_thinking(answer)
    opening = _GRAPH.search(answer)
    if opening is None:
        return Proposals(GraphDrafts(), {})
    content = answer[opening.end() :].partition("</graph>")[0]
    found = [
        _made(element, fragments) for element, fragments in islice(_fragments(content, batch, snapshot), MOST_FRAGMENTS)
    ]
    drafts = [each.made for each in found if not isinstance(each.made, Refusal)]
    return Proposals(
        GraphDrafts(
            entities=[*(draft for draft in drafts if isinstance(draft, EntityDraft)), *_spellings(found)],
            facts=[draft for draft in drafts if isinstance(draft, FactDraft)],
            preferences=[draft for draft in drafts if isinstance(draft, PreferenceDraft)],
            procedures=[draft for draft in drafts if isinstance(draft, ProcedureDraft)],
        ),
        Counter((each.element, each.made) for each in found if isinstance(each.made, Refusal)),
    )


def _made(element: str, fragments: Sequence[_Fragment]) -> _Made:
    """The draft from the first text that bears the element out; else the reason why the last text does not."""
    made: Draft | Refusal = Refusal.NO_PROMPT
    written = ""
    for fragment in fragments:
        made = _MAKERS[element](fragment)
        written = fragment.attributes.get("subject", "")
        if not isinstance(made, Refusal):
            break
    return _Made(element, made, written)


def _spellings(found: Sequence[_Made]) -> Iterator[EntityDraft]:
    """The project as an entity, with the other spellings of its name in facts."""
    for each in found:
        fact = each.made
        if isinstance(fact, FactDraft) and fact.subject != each.written and _is_spelling(each.written, fact.subject):
            yield EntityDraft(
                name=fact.subject, type=fact.subject_type, aliases=(each.written.strip(),), source=fact.source
            )


def _fragments(content: str, batch: FramedBatch, snapshot: BufferSnapshot) -> Iterator[tuple[str, Sequence[_Fragment]]]:
    """The name of each element, and one fragment for each text that it cites."""
    project = PurePath(project_path_of(snapshot.events)).name[:MAX_NAME] or THIS_PROJECT
    for element, following in up_to_the_next(_ELEMENT, content):
        is_empty = element[2].rstrip().endswith("/")
        inside = "" if is_empty else following.partition(f"</{element[1]}")[0]
        attributes = attributes_of(element[2])
        said = own_words_in(attributes.get("events", ""), batch, snapshot)
        yield element[1], [_Fragment(attributes, inside, each, project) for each in said]


def _fact(fragment: _Fragment) -> FactDraft | Refusal:
    given = {name: bounded(fragment.attributes.get(name, ""), MAX_OBJECT) for name in ("object", "replaces", "subject")}
    written, object_ = given["subject"][:MAX_NAME], given["object"]
    predicate = fragment.attributes.get("predicate", "")
    if predicate not in PREDICATES:
        return Refusal.PREDICATE
    if not (_is_name(object_) and _is_name(written) and fits(predicate, object_)):
        return Refusal.FORM
    type_ = _choice(EntityType, fragment.attributes.get("subject_type")) or EntityType.OTHER
    subject, subject_type = fragment.spelled(written, type_)
    is_known = subject in {fragment.project, PERSON} or fragment.said.knows(written)
    is_denied = fragment.attributes.get("denied") == "yes"
    old = given["replaces"]
    replaces = old if old and fragment.said.ends(old, object_) else None
    is_stated = fragment.said.states(object_, predicate, PERSON if subject == PERSON else written, replaces or "")
    if not is_known or not (fragment.said.ends(object_) if is_denied else is_stated):
        return Refusal.NOT_SAID
    is_corrected = fragment.attributes.get("corrected") == "yes" and (is_denied or replaces is not None)
    return FactDraft(
        subject=subject,
        subject_type=subject_type,
        predicate=predicate,
        object=object_,
        confidence=PROPOSED,
        source_type=SourceType.CORRECTED if is_corrected else SourceType.STATED,
        replaces=replaces,
        is_denied=is_denied,
        was_never_true=is_corrected,
        source=fragment.said.source,
    )


def _entity(fragment: _Fragment) -> EntityDraft | Refusal:
    written = bounded(fragment.attributes.get("name", ""), MAX_NAME)
    given_type = _choice(EntityType, fragment.attributes.get("type"))
    if given_type is None or not _is_name(written):
        return Refusal.FORM
    name, type_ = fragment.spelled(written, given_type)
    if not fragment.said.names(written):
        return Refusal.NOT_SAID
    aliases = [bounded(each, MAX_NAME) for each in _ALIASES.split(fragment.attributes.get("aliases", ""))]
    if name != written and _is_spelling(written, name):
        aliases = [written, *aliases]
    description = _text(fragment.inside, MAX_DESCRIPTION)
    return EntityDraft(
        name=name,
        type=type_,
        description=description if fragment.said.has(description) else "",
        aliases=tuple(each for each in aliases if _is_name(each) and fragment.said.names(each))[:MAX_ALIASES],
        source=fragment.said.source,
    )


def _preference(fragment: _Fragment) -> PreferenceDraft | Refusal:
    category = _choice(PreferenceCategory, fragment.attributes.get("category"))
    key = bounded(fragment.attributes.get("key", ""), MAX_NAME)
    value = _text(fragment.inside, MAX_OBJECT)
    if category is None or not key or not value:
        return Refusal.FORM
    is_denied = fragment.attributes.get("denied") == "yes"
    is_said = fragment.said.takes_back(value) if is_denied else fragment.said.wants(value)
    if fragment.said.asked or not is_said:
        return Refusal.NOT_SAID
    return PreferenceDraft(
        category=category,
        key=key,
        value=value,
        strength=PROPOSED,
        source_type=SourceType.STATED,
        is_denied=is_denied,
        source=fragment.said.source,
    )


def _procedure(fragment: _Fragment) -> ProcedureDraft | Refusal:
    name = bounded(fragment.attributes.get("name", ""), MAX_NAME)
    steps: Sequence[str] = [_text(step, MAX_OBJECT) for step in _STEP.findall(fragment.inside)]
    steps = [step for step in steps if step][:MAX_STEPS]
    if not name or not steps:
        return Refusal.FORM
    if fragment.said.asked or not all(fragment.said.wants(step) for step in steps):
        return Refusal.NOT_SAID
    return ProcedureDraft(
        name=name,
        trigger=bounded(fragment.attributes.get("trigger", ""), MAX_OBJECT),
        steps=tuple(steps),
        confidence=PROPOSED,
        source_type=SourceType.STATED,
        source=fragment.said.source,
    )


_MAKERS: Mapping[str, Make] = {
    "entity": _entity,
    "fact": _fact,
    "preference": _preference,
    "procedure": _procedure,
}


def _is_spelling(name: str, of: str) -> bool:
    """Whether both names have the same letters and digits."""
    bare = ["".join(filter(str.isalnum, each)).casefold() for each in (name, of)]
    return bool(bare[0]) and bare[0] == bare[1]


def _text(inside: str, length_most: int) -> str:
    return bounded(said_by(inside), length_most)


def _is_name(text: str) -> bool:
    return 0 < len(text.split()) <= MOST_WORDS


def _choice(kind: type[_Choice], text: str | None) -> _Choice | None:
    return kind(text) if text in set(kind) else None
