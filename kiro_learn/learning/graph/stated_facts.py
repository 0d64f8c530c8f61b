"""Facts that a sentence states so plainly that no model is needed: what the project uses, its port, its branch.

Precision comes before recall. A form reads a sentence from its first word to its last. Behind what it says only a
reason or a time may stand: if that denies, asks, limits or supposes anything, the sentence states nothing. And only
what is known by name (``gazetteer``) is used, dropped or replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from kiro_learn.learning.graph.gazetteer import COMMON_NOUNS, known_at_start
from kiro_learn.learning.graph.polarity import denies, supposes
from kiro_learn.model.draft import FactDraft, Source
from kiro_learn.model.graph import EntityType, SourceType
from kiro_learn.retrieval.query.time_ranges import since_when

STATED = 1.0

_LEAD = re.compile(
    r"(?i)^(?:(?:yes|yeah|yep|ok(?:ay)?|well|and|also|btw|by the way|fyi|(?:please )?(?:note|remember)(?: that)?"
    r"|(?:it )?turns out(?: that)?|change of plans?)[,.:!]?\s+){1,2}",
)
_CORRECTS = re.compile(
    r"(?i)^(?:(?:no|nope|actually|sorry|correction|wrong|(?:that|it)(?:'s| is| was) (?:wrong|not right)"
    r"|i was wrong|my mistake)[,.:;!]\s+|actually\s+(?=(?:we|the|our)\b)){1,3}",
)
_CHANGES = re.compile(r"(?i)\bnow\b|^change of plans?\b")
"""With it, what is denied was true until then."""
_UNREAD = re.compile(
    r"(?i)\b(?:once|while|or|but|though|although|however|except|only|would|could|should|might|may|maybe|perhaps|probably"
    r"|will|going to|plan(?:s|ned|ning)?|want|hope|think|guess|example|said|says|claims?|according|wrong|used to"
    r"|other|another|else)\b",
)
"""What no form reads: behind what it does read, it may turn that round, as a denial or a condition does."""
_APOSTROPHE = re.compile(r"(?i)(?<=\bdo)nt\b|(?<=\bdoes)nt\b|(?<=\bis)nt\b")
_QUOTES = re.compile(r"[?\"\u201c\u201d\u00ab]|(?<!\w)'")

_WE = (
    r"(?:we|(?:our|this|the) (?:project|app|application|repo|repository|team|service|backend|frontend|api|code ?base"
    r"|stack))(?:'re|'ve|'s| are| is| have| has)?(?: (?:now|currently|already|also|still|finally|recently|just|all))*"
)
_WE_USE = (
    rf"(?:{_WE} (?:uses?|using)|wir (?:be)?nutzen|wir verwenden|(?:nosotros )?usamos|(?:on|nous) utilis(?:e|ons)|usiamo"
    r"|we gebruiken|мы используем)"
)
_NAME = r"`?[\w@][\w.+#/-]*`?(?: v?\d[\w.]*)?"
_NAMES = rf"(?P<objects>{_NAME}(?:(?:,? (?:and|&)|,) {_NAME}){{0,2}})"
_WHEN = (
    r"(?: (?:now|already|again|today|yesterday|recently|here|any ?more|any longer|at all|(?:last|this) \w+|since \w+"
    r"|in (?:(?-i:[A-Z])[a-z]+|\d{4})|on (?:\d{4}-\d\d-\d\d|(?-i:[A-Z])[a-z]+ \d+)|(?:a|\w{3,6}|\d+) \w+ ago))*"
)
_REASON = r"because|since|so|as|which|by the way|btw|please|thanks"
_END = rf"{_WHEN}(?P<tail>[,;:]? (?:{_REASON})\b.*)?[.!]*"
"""A time or a reason, and nothing that limits what was said to a part ("in the tests")."""
_FOR = (
    rf"(?: (?:{'|'.join(sorted(COMMON_NOUNS))}))?(?: everywhere| again| instead)?{_WHEN}"
    rf"(?P<tail>[,;:]? (?:{_REASON}|for|to)\b.*)?[.!]*"
)
"""What may follow the object of "use"; another noun makes another name of it, as in "Kafka Streams"."""
_PORT = r"(?P<object>\d{2,5})(?:,? not (?P<wrong>\d{2,5}))?"
_BRANCH = (
    r"(?P<object>main|master|trunk|develop|dev|stable|staging|production|next|`[\w./-]+`|\w+[/-][\w./-]+)"
    r"(?:,? not (?P<wrong>`?[\w./-]+`?))?"
)
_IS = r"(?:is(?: now)?|(?:was|has been) (?:changed|moved|set) to)"
_GONE = r"(?:don't|doesn't|do not|does not|no longer) use|stopped using|dropped|removed|ditched|got rid of"
_MOVED = r"(?:switched|moved|migrated|changed) from"
_LISTENS = r"(?: is)?(?: now)? (?:listens|listening|runs|running) on port"
_FORMS: Mapping[str, Sequence[str]] = {
    "uses": (
        rf"{_WE} (?P<gone>{_GONE}) {_NAMES}{_END}",
        rf"{_WE_USE} (?P<object>{_NAME})(?: now)?,? (?:not|nicht|kein|pas|no|non|geen) (?P<wrong>{_NAME}){_END}",
        rf"{_WE_USE} {_NAMES}{_FOR}",
        rf"{_WE} (?:{_MOVED}|replaced) (?P<old>{_NAME}) (?:(?:over )?to|with|by) (?P<object>{_NAME}){_END}",
    ),
    "listens_on_port": (
        rf"(?:(?:the|our) )?port {_IS} {_PORT}{_END}",
        rf"(?:(?:the|our) )?port (?P<gone>isn't|is not|is no longer) (?P<object>\d{{2,5}}){_END}",
        rf"(?:the|our|this) (?P<part>(?:[a-z][\w-]* )?[a-z][\w-]*?){_LISTENS} {_PORT}{_END}",
    ),
    "default_branch": (
        rf"(?:our|the) default branch {_IS} {_BRANCH}{_END}",
        rf"{_WE} (?:renamed|changed|switched) the default branch to {_BRANCH}{_END}",
    ),
}
_READERS = [(re.compile(form, re.IGNORECASE), predicate) for predicate, forms in _FORMS.items() for form in forms]
_WHOLE = frozenset({"project", "app", "application", "service", "repo", "repository", "site"})
"""A part of this name is the project."""
_NO_PART = frozenset({"same", "other", "old", "new", "first", "second", "only", "which", "what", "that"})


def facts_in(sentence: str, project: str, source: Source) -> list[FactDraft]:
    """What ``sentence`` states of ``project``.

    Only its own words tell whether it corrects or changes what was said before: what that was may be in another batch.
    """
    plain = sentence.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    text = _APOSTROPHE.sub("n't", " ".join(plain.split()).strip(" -*"))
    if _QUOTES.search(text):
        return []
    is_change = _CHANGES.search(text) is not None
    text, corrects = _CORRECTS.subn("", _LEAD.sub("", text))
    for form, predicate in _READERS:
        match = form.fullmatch(text)
        if match is not None:
            said = {name: each for name, each in match.groupdict().items() if each}
            is_correction = (corrects > 0 or "wrong" in said) and not is_change
            return list(_drafts(said, predicate, text, project, source, is_correction=is_correction))
    return []


def _drafts(  # what a form read, with all that it may depend on
    said: Mapping[str, str], predicate: str, text: str, project: str, source: Source, *, is_correction: bool
) -> Iterator[FactDraft]:
    """Nothing where something unread stands behind it, or a name is not known."""
    gone = said.get("wrong") or said.get("old")
    replaces = None if gone is None else _named(gone, predicate)
    part = set(said.get("part", "").lower().split())
    tail = said.get("tail", "")
    is_turned = denies(tail) or supposes(tail) or _UNREAD.search(tail) is not None
    if is_turned or part & _NO_PART or (gone is not None and replaces is None):
        return
    names = re.split(r",? (?:and|&) |, ", said.get("objects") or said["object"])
    objects = [object_ for each in names if (object_ := _named(each, predicate)) is not None]
    for object_ in objects if len(objects) == len(names) else ():
        yield FactDraft(
            subject=said["part"] if part - _WHOLE else project,
            subject_type=EntityType.PROJECT,
            predicate=predicate,
            object=object_,
            confidence=STATED,
            source_type=SourceType.CORRECTED if is_correction else SourceType.STATED,
            replaces=replaces,
            is_denied="gone" in said,
            was_never_true=is_correction,
            valid_from=since_when(text, now=source.said_at, is_change="gone" in said or "old" in said),
            source=source,
        )


def _named(name: str, predicate: str) -> str | None:
    value = name.strip("`.,;:!")
    return known_at_start(value.split()) if predicate == "uses" else value
