"""What a model's answer says for the graph, beside its memories.

A model proposes, the events decide: a fragment is taken only where a prompt of the batch that it cites holds the words
of what it claims. So nothing is learned that only an agent said, and no predicate that is not in the table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

import attrs

from kiro_learn.learning.extraction.elements import attributes_of, bounded
from kiro_learn.learning.extraction.framing import FramedBatch
from kiro_learn.learning.extraction.instructions import More
from kiro_learn.learning.extraction.markup import unescaped
from kiro_learn.learning.extraction.parsing import numbers_in
from kiro_learn.learning.extraction.thinking import without_thinking
from kiro_learn.learning.graph.predicates import PREDICATES
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.event import EventKind
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
from kiro_learn.model.graph_drafts import (
    EntityDraft,
    FactDraft,
    GraphDrafts,
    PreferenceDraft,
    ProcedureDraft,
    Source,
)
from kiro_learn.retrieval.query.query_text import query_text
from kiro_learn.retrieval.query.terms import terms

GRAPH = More(
    before=f"""
After the records (or after <skip/>) you may add one <graph> of what the person stated in their own prompts, and nothing
else: not what an agent said, not what follows, not what is planned, asked, imagined or said of others.

<graph>
<entity name="NAME" type="ENTITY" aliases="other name; another" events="NUMBERS">what it is, in a sentence</entity>
<fact subject="NAME" subject_type="ENTITY" predicate="PREDICATE" object="WORDS" events="NUMBERS"/>
<preference category="CATEGORY" key="what it is about" events="NUMBERS">what the person wants</preference>
<procedure name="NAME" events="NUMBERS"><step>first</step><step>then</step></procedure>
</graph>

ENTITY is one of {", ".join(EntityType)}. CATEGORY is one of {", ".join(PreferenceCategory)}.
PREDICATE is one of {", ".join(PREDICATES)}; leave out what none of them says.
Of a fact that holds no longer write denied="yes"; of one that takes the place of another, replaces="the old WORDS";
of one that puts an error right, also corrected="yes". WORDS are names as they stand in the prompt, at most eight.
Leave the <graph> out if there is nothing for it.
""",
    after=", then with one <graph> if there is anything for it",
)
"""What a model is told of the graph."""

PROPOSED = 0.8
"""The confidence of what a model read out of a person's words."""
MOST_WORDS = 8
"""Of a name."""
MOST_FRAGMENTS = 50
GROUNDED_SHARE = 0.5
"""Of the words of a wish or of a step that must stand in the prompt."""

_GRAPH = re.compile(r"<graph\b[^<>]{0,200}>")
_ELEMENT = re.compile(r"<(entity|fact|preference|procedure)\b([^<>]{0,2000})>")
_STEP = re.compile(r"<step>([^<>]{1,1000})</step>")
_ALIASES = re.compile("[;,]")
_Choice = TypeVar("_Choice", EntityType, PreferenceCategory)
D = TypeVar("D", EntityDraft, FactDraft, PreferenceDraft, ProcedureDraft)


@attrs.frozen
class _Fragment:
    """One element, and the prompt that speaks for it."""

    attributes: Mapping[str, str]
    inside: str
    """What stands between its tags, as it is written there."""
    source: Source
    said: str
    """The prompt."""

    def holds(self, text: str, *, share: float = 1.0) -> bool:
        """Whether that share of the words of ``text`` stands in the prompt."""
        words = [word.casefold() for word in terms(text)]
        said = self.said.casefold()
        return bool(words) and sum(word in said for word in words) >= share * len(words)


def drafts_in(answer: str, batch: FramedBatch, snapshot: BufferSnapshot) -> GraphDrafts:
    """What ``answer`` says for the graph and ``snapshot`` bears out; nothing where it has no graph."""
    answer = without_thinking(answer)
    opening = _GRAPH.search(answer)
    if opening is None:
        return GraphDrafts()
    content = answer[opening.end() :].partition("</graph>")[0]
    found = list(islice(_fragments(content, batch, snapshot), MOST_FRAGMENTS))

    def of(kind: str, make: Callable[[_Fragment], D | None]) -> list[D]:
        drafts = (make(fragment) for name, fragment in found if name == kind)
        return [draft for draft in drafts if draft is not None]

    return GraphDrafts(
        entities=of("entity", _entity),
        facts=of("fact", _fact),
        preferences=of("preference", _preference),
        procedures=of("procedure", _procedure),
    )


def _fragments(content: str, batch: FramedBatch, snapshot: BufferSnapshot) -> Iterator[tuple[str, _Fragment]]:
    elements = list(_ELEMENT.finditer(content))
    for place, element in enumerate(elements, start=1):
        end = elements[place].start() if place < len(elements) else len(content)
        is_empty = element[2].rstrip().endswith("/")
        inside = "" if is_empty else content[element.end() : end].partition(f"</{element[1]}")[0]
        attributes = attributes_of(element[2])
        for source, said in _prompts(attributes.get("events", ""), batch, snapshot):
            yield element[1], _Fragment(attributes, inside, source, said)
            break


def _prompts(numbers: str, batch: FramedBatch, snapshot: BufferSnapshot) -> Iterator[tuple[Source, str]]:
    """The person's prompts among the events that are cited, but for those from before the batch."""
    cited = {number for number in numbers_in(numbers) if number > batch.context_count}
    ids = set(batch.cited_by(cited))
    for entry in snapshot.entries:
        event = entry.event
        if event.kind is EventKind.PROMPT and event.event_id in ids:
            yield Source(event.event_id, event.session_id, event.valid_time), query_text(event.body)


def _fact(fragment: _Fragment) -> FactDraft | None:
    given = {name: bounded(fragment.attributes.get(name, ""), MAX_OBJECT) for name in ("object", "replaces", "subject")}
    subject = given["subject"][:MAX_NAME]
    if not (_is_name(given["object"]) and _is_name(subject) and fragment.holds(given["object"])):
        return None
    if fragment.attributes.get("predicate") not in PREDICATES:
        return None
    is_corrected = fragment.attributes.get("corrected") == "yes"
    return FactDraft(
        subject=subject,
        subject_type=_choice(EntityType, fragment.attributes.get("subject_type")) or EntityType.OTHER,
        predicate=fragment.attributes["predicate"],
        object=given["object"],
        confidence=PROPOSED,
        source_type=SourceType.CORRECTED if is_corrected else SourceType.STATED,
        replaces=given["replaces"] or None,
        is_denied=fragment.attributes.get("denied") == "yes",
        was_never_true=is_corrected,
        source=fragment.source,
    )


def _entity(fragment: _Fragment) -> EntityDraft | None:
    name = bounded(fragment.attributes.get("name", ""), MAX_NAME)
    type_ = _choice(EntityType, fragment.attributes.get("type"))
    if type_ is None or not _is_name(name) or not fragment.holds(name):
        return None
    aliases = [bounded(each, MAX_NAME) for each in _ALIASES.split(fragment.attributes.get("aliases", ""))]
    return EntityDraft(
        name=name,
        type=type_,
        description=_text(fragment.inside, MAX_DESCRIPTION),
        aliases=tuple(each for each in aliases if _is_name(each) and fragment.holds(each))[:MAX_ALIASES],
        source=fragment.source,
    )


def _preference(fragment: _Fragment) -> PreferenceDraft | None:
    category = _choice(PreferenceCategory, fragment.attributes.get("category"))
    key = bounded(fragment.attributes.get("key", ""), MAX_NAME)
    value = _text(fragment.inside, MAX_OBJECT)
    if category is None or not key or not fragment.holds(value, share=GROUNDED_SHARE):
        return None
    return PreferenceDraft(
        category=category,
        key=key,
        value=value,
        strength=PROPOSED,
        source_type=SourceType.STATED,
        is_denied=fragment.attributes.get("denied") == "yes",
        source=fragment.source,
    )


def _procedure(fragment: _Fragment) -> ProcedureDraft | None:
    name = bounded(fragment.attributes.get("name", ""), MAX_NAME)
    steps: Sequence[str] = [_text(step, MAX_OBJECT) for step in _STEP.findall(fragment.inside)]
    steps = [step for step in steps if step][:MAX_STEPS]
    if not name or not steps or not all(fragment.holds(step, share=GROUNDED_SHARE) for step in steps):
        return None
    return ProcedureDraft(
        name=name,
        trigger=bounded(fragment.attributes.get("trigger", ""), MAX_OBJECT),
        steps=tuple(steps),
        confidence=PROPOSED,
        source_type=SourceType.STATED,
        source=fragment.source,
    )


def _text(inside: str, length_most: int) -> str:
    return bounded(unescaped(inside), length_most)


def _is_name(text: str) -> bool:
    return 0 < len(text.split()) <= MOST_WORDS


def _choice(kind: type[_Choice], text: str | None) -> _Choice | None:
    return kind(text) if text in set(kind) else None
