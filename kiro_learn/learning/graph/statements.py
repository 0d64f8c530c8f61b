"""Sentences that state something, as facts: a small grammar that would rather miss a fact than make one up.

A sentence states something if it begins with one of few subjects (we, our project, I, a name), has a verb of the table
below in an indicative form, and an object that is a name: known, or written as names are. Questions, conditions,
plans, reports of what others say, and what is in quotes state nothing.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping

import attrs

from kiro_learn.learning.graph.endings import NOT_NEEDED, endings_in
from kiro_learn.learning.graph.gazetteer import KNOWN, known_at_start
from kiro_learn.learning.graph.names import END_OF_NAME, NO_NAME, name_in
from kiro_learn.learning.graph.own_words import PERSON
from kiro_learn.learning.graph.project_values import project_values_in
from kiro_learn.learning.graph.statement import PROJECT, Statement
from kiro_learn.learning.graph.tastes import tastes_in
from kiro_learn.model.graph import EntityType

LONGEST_SENTENCE = 240
MOST_WORDS_OF_A_JOB = 4
MOST_OBJECTS = 3
"""Of one sentence; a longer list is an enumeration of something else."""


_UNSURE = re.compile(
    r"\b(?:if|unless|would|could|should|shall|might|(?-i:may)|maybe|perhaps|probably|suppose|imagine|assum\w+|consider\w*|think"
    r"|thinking|guess|wonder\w*|let'?s|want(?:s|ed)?|need(?:s|ed)?|plan(?:s|ned|ning)?|going to|will|won't|gonna|hope"
    r"|hypothetical\w*|e\.g|for example|example|instance|article|docs?|documentation|blog|says|said|claims?|according"
    r"|whether|until|when|once|as if|pretend|try|tried|trying"
    r"|can|cannot|can't|seems?|looks?|appears?)\b",
    re.IGNORECASE,
)
"""A condition, a plan, a guess, or what somebody else says."""

_LEAD = re.compile(
    r"(?:(?:yeah|yes|yep|yup|well|oh|wow|and|but|also|honestly|personally|btw|by the way|fyi|haha|unfortunately|sadly"
    r"|luckily|fortunately|(?:please )?(?:remember|note|keep in mind)(?: that|:)?"
    r"|(?:it )?turns out(?: that)?|ok(?:ay)?)[,.!]?\s+){1,2}",
    re.IGNORECASE,
)
"""What a sentence may begin with without saying anything else."""
_CORRECTS = re.compile(
    r"(?:(?:no(?!\s+more\b)|nope|actually|sorry|correction|typo|wrong|wait|oops|i was wrong|my (?:mistake|bad))\b"
    r"[\s,.:;!\u2014-]*){1,3}",
    re.IGNORECASE,
)
_LEFT_OUT = (
    (
        re.compile(
            r"(?:(?:just|recently)\s+)?(?=(?:relocated\s+to|(?:started|got|took)\s+a\s+new\s+job)\b)", re.IGNORECASE
        ),
        "I ",
    ),
    (
        re.compile(
            r"(?:(?:just|finally|already)\s+)(?=(?:switched|migrated|dropped|removed|replaced|renamed|ditched|got\s+rid)\b)",
            re.IGNORECASE,
        ),
        "We ",
    ),
)
"""What a sentence begins with that leaves out who did it, and who that is."""
_ADVERBS = (
    r"(?:(?:now|currently|already|always|mostly|also|still|actually|just|only|both|all|today|finally|recently)\s+){0,2}"
)
_SUBJECT = (
    r"(?P<subject>we|i|you|our (?:project|app|application|repo|repository|team|service|backend|frontend|api|server"
    r"|code ?base|stack|tests?|ci|site|website)|(?:this|the) (?:project|app|application|repo|repository|service|backend"
    r"|frontend|api|server|code ?base|site|website)|it)"
)
_NOUN = r"(?P<object>[^\s,;:()\[\]\"'`]{1,40}(?:\s+[^\s,;:()\[\]\"'`]{1,40}){0,7})"


def _rule(verb: str, predicate: str, **values: bool) -> tuple[re.Pattern[str], str, dict[str, bool]]:
    pattern = rf"{_SUBJECT}(?:'re|'m|'s|'ve)?\s+{_ADVERBS}(?:{verb})\s+{_ADVERBS}{_NOUN}"
    return re.compile(pattern, re.IGNORECASE), predicate, values


_BE = r"(?:(?:is|are|am|(?:(?:have|has)\s+)?been)\s+)?"
_WAS = r"(?:(?:is|are|was|were|been)\s+(?:now\s+)?)?"
"""How something was made holds on; where it ran does not."""
_NOT = r"(?:do not|don't|does not|doesn't|no longer|are not|aren't|is not|isn't)"
_RULES = (
    _rule(rf"{_BE}{_NOT}\s+(?:uses?|using|rel(?:y|ies) on)", "uses", is_denied=True),
    _rule(r"(?:(?:have|has|'ve)\s+)?stopped using", "uses", is_denied=True),
    _rule(r"(?:have\s+)?never\s+(?:actually\s+|really\s+)?used", "uses", is_denied=True, is_correction=True),
    _rule(r"(?:have not|haven't|has not|hasn't)\s+used(?=\s[^,;]{1,80}\s(?:for|since|in)\s)", "uses", is_denied=True),
    _rule(r"used to use", "uses", is_past=True),
    _rule(rf"(?:use|uses|{_BE}using|rely on|relies on)", "uses"),
    _rule(r"(?:(?:is|are|am)\s+)?on", "uses"),
    _rule(rf"{_BE}{_NOT}\s+(?:runs?|running|hosted|deployed)\s+on", "runs_on", is_denied=True),
    _rule(rf"(?:run|runs|host|hosts|{_BE}running|{_BE}hosted)\s+(?:(?:everything|it\s+all|all)\s+)?on", "runs_on"),
    _rule(rf"(?:{_NOT}|no longer)\s+(?:deploys?|deploying|deployed)\s+to", "deployed_on", is_denied=True),
    _rule(r"used to (?:deploy|be deployed)\s+(?:on|to)", "deployed_on", is_past=True),
    _rule(r"used to (?:run|be hosted)\s+on", "runs_on", is_past=True),
    _rule(rf"(?:deploy|deploys|{_BE}deployed)\s+(?:on|to)", "deployed_on"),
    _rule(rf"(?:(?:has\s+)?been\s+|{_WAS})(?:re)?(?:written|implemented)\s+in", "written_in"),
    _rule(rf"{_WAS}built\s+(?:with|on)", "built_with"),
    _rule(rf"(?:test|{_BE}tested)\s+with", "tested_with"),
    _rule(r"(?:depend|depends)\s+on", "depends_on"),
    _rule(r"(?:store|stores|keep|keeps)\s+(?:our|the|its|all)\s+(?:\w+\s+)?data\s+in", "stored_in"),
    _rule(rf"{_NOT}\s+(?:live|living|based)\s+in", "lives_in", is_denied=True),
    _rule(rf"(?:live|{_BE}living|{_BE}based)\s+in", "lives_in"),
    _rule(r"(?:have\s+)?lived\s+in(?=\s[^,;]{1,80}\s(?:for|since)\s)", "lives_in"),
    _rule(rf"{_NOT}\s+(?:work|working)\s+(?:at|for)", "works_at", is_denied=True),
    _rule(r"(?:lost|quit|left)\s+my\s+job\s+at", "works_at", is_denied=True),
    _rule(r"(?:(?:was|got|were)\s+(?:fired|laid\s+off)\s+(?:from|by)|resigned\s+from)", "works_at", is_denied=True),
    _rule(
        rf"(?:(?:started|got|took)\s+(?:a|my)\s+(?:new\s+)?job\s+at|started\s+at|(?:work|{_BE}working|started\s+working)\s+(?:at|for))",
        "works_at",
    ),
    _rule(r"used to live in", "lives_in", is_past=True),
    _rule(r"used to work (?:at|for)", "works_at", is_past=True),
    _rule(r"(?:have\s+)?(?:moved|relocated) (?:back )?(?:from\s[^\s,;]{2,40}(?:\s[^\s,;]{2,40})?\s)?to", "lives_in"),
)
_JOB = re.compile(
    rf"i(?:'m|\s+am)?\s+{_ADVERBS}(?:(?P<works>work|working)\s+as\s+)?an?\s+(?P<object>[a-z][\w'-]*(?:\s+[\w'-]+){{0,5}})",
    re.IGNORECASE,
)
_JOB_WORDS = """
    accountant actor administrator advisor analyst architect artist assistant auditor author baker banker barista
    biologist builder carpenter cashier ceo chef chemist clerk coach composer consultant contractor cook counselor cto
    dancer dentist designer developer devops dietitian director doctor driver economist editor electrician engineer
    entrepreneur farmer firefighter florist freelancer gardener geologist illustrator instructor intern interpreter
    journalist lawyer lecturer librarian maintainer manager marketer mathematician mechanic midwife musician nurse
    officer painter paramedic pharmacist photographer physicist pilot plumber policeman principal producer professor
    programmer psychologist realtor receptionist recruiter researcher salesman scientist secretary sre statistician
    student surgeon surveyor sysadmin teacher technician tester therapist trainer translator tutor veterinarian waiter
    waitress welder writer
"""
_JOBS = frozenset(_JOB_WORDS.split())
_NO_JOB_WORDS = """
    good bad terrible great better worse best big huge real former aspiring future retired horrible lousy decent poor
    natural born amateur hobby self-taught fan kind bit part whole result team's
"""
_NO_JOB = frozenset(_NO_JOB_WORDS.split())
_NO_PLACE_WORDS = """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december christmas easter
"""
_NO_PLACE = frozenset(_NO_PLACE_WORDS.split())
_OF_A_PERSON = {"lives_in", "works_at"}
_SWITCHED = re.compile(
    _SUBJECT + rf"(?:'ve|\s+have|\s+has)?\s+{_ADVERBS}(?:switched|moved|migrated|changed|went)\s+(?:\w+\s+){{0,2}}?from"
    r"\s+(?P<old>[^\s,;:()\"'`]{1,40}(?:\s[^\s,;:()\"'`]{1,40})?)\s+(?:over\s+)?to\s+" + _NOUN,
    re.IGNORECASE,
)
_REPLACED = re.compile(
    _SUBJECT + rf"(?:'ve|\s+have|\s+has)?\s+{_ADVERBS}(?:replaced|swapped(?:\s+out)?|dropped|ditched|left)"
    r"\s+(?P<old>[^\s,;:()\"'`]{1,40}(?:\s[^\s,;:()\"'`]{1,40})?)\s+(?:with|by|for|in\s+favou?r\s+of)\s+" + _NOUN,
    re.IGNORECASE,
)
_REPLACED_BY = re.compile(
    r"(?P<old>[^\s,;:()\"'`]{1,40}(?:\s[^\s,;:()\"'`]{1,40})?)\s+(?:was|is|has\s+been|got)\s+(?:now\s+)?"
    r"(?:replaced|superseded)\s+(?:by|with)\s+" + _NOUN,
    re.IGNORECASE,
)
_REPLACES = re.compile(
    r"(?P<object>[^\s,;:()\"'`]{1,40}(?:\s[^\s,;:()\"'`]{1,40})?)\s+(?:has\s+)?(?:now\s+)?replace[ds]\s+"
    r"(?P<old>[^\s,;:()\"'`]{1,40})",
    re.IGNORECASE,
)
_DENIED_BESIDE = re.compile(r"(?:,|\band)\s+not\s+(?:(?:on|in|with|at)\s+)?" + _NOUN, re.IGNORECASE)
_NAME = re.compile(r"[Mm]y\s+name\s+is\s+(?P<object>[A-Z][\w'-]+(?:\s[A-Z][\w'-]+){0,2})")
_PEOPLE = re.compile(
    r"(?P<who>[A-Z][a-z]{1,20}(?:\s[A-Z][a-z]{1,20})?)\s+(?P<not>(?:no\s+longer|doesn't|does\s+not)\s+)?"
    r"(?P<verb>maintains?|created|wrote|owns?|is (?:no longer )?responsible for|works? on)\s+" + _NOUN
)
_DEFINITE = re.compile(r"(?:the|our|my|this)\s|[A-Z`]")
"""One thing and no kind of things ("works on weekends")."""
_PEOPLE_PREDICATES = {
    "maintain": "maintains",
    "maintains": "maintains",
    "created": "created",
    "wrote": "created",
    "own": "owns",
    "owns": "owns",
    "is responsible for": "responsible_for",
    "is no longer responsible for": "responsible_for",
    "work on": "works_on",
    "works on": "works_on",
}
_NO_PEOPLE_WORDS = """
    this that it we they he she who there here the a an everyone nobody somebody user team script commit session build
    command job agent bot test server client migration function code app program tool
"""
_NO_PEOPLE = frozenset(_NO_PEOPLE_WORDS.split())


def statements_in(sentence: str) -> list[Statement]:
    """What a sentence states; nothing for most sentences."""
    text = " ".join(sentence.replace("\u2019", "'").split()).strip(" -*>\u2022\t")
    if len(text) > LONGEST_SENTENCE or text.rstrip("!").endswith("?") or text[:1] in {'"', "'", "`", "\u201c"}:
        return []
    lead = _LEAD.match(text)
    if lead is not None:
        text = text[lead.end() :]
    corrects = _CORRECTS.match(text)
    if corrects is not None:
        text = text[corrects.end() :]
    for beginning, who in _LEFT_OUT:
        text = beginning.sub(who, text, count=1) if beginning.match(text) else text
    found = list(_of_taste(text)) or ([] if _UNSURE.search(NOT_NEEDED.sub("", text)) else list(_found_in(text)))
    if corrects is not None and len(found) == 1:
        found = [attrs.evolve(found[0], replaces=found[0].replaces or _denied_beside(text, found[0]))]
    return [attrs.evolve(each, is_correction=each.is_correction or corrects is not None) for each in found]


def _denied_beside(text: str, found: Statement) -> str | None:
    """What a correction says that it is not: "No, we use Vite, not Webpack"."""
    denied = _DENIED_BESIDE.search(text)
    old = None if denied is None or found.is_denied else name_in(denied["object"])
    return None if old == found.object else old


def _found_in(text: str) -> Iterator[Statement]:
    """By the first form that fits, since the forms are told apart by their beginnings."""
    for reader in (_switched, endings_in, project_values_in, _of_people, _of_a_job, _plain):
        found = list(reader(text))
        if found:
            yield from found
            return


def _switched(text: str) -> Iterator[Statement]:
    match = next(filter(None, (form.match(text) for form in (_SWITCHED, _REPLACED, _REPLACED_BY, _REPLACES))), None)
    if match is None:
        return
    old, new = name_in(match["old"]), name_in(match["object"])
    who = (match.groupdict().get("subject") or "").lower()
    if old is None or new is None or who == "you":
        return
    yield Statement(
        subject=PERSON if who == "i" else PROJECT,
        subject_type=EntityType.PERSON if who == "i" else EntityType.PROJECT,
        predicate="uses",
        object=new,
        replaces=old,
    )


def _of_people(text: str) -> Iterator[Statement]:
    name = _NAME.match(text)
    if name is not None:
        yield Statement(
            subject=PERSON, subject_type=EntityType.PERSON, predicate="has_name", object=name["object"].rstrip(".")
        )
        return
    match = _PEOPLE.match(text)
    if match is None or set(match["who"].lower().split()) & _NO_PEOPLE or match["who"].casefold() in KNOWN:
        return
    predicate = _PEOPLE_PREDICATES[match["verb"]]
    is_denied = match["not"] is not None or "no longer" in match["verb"]
    if not is_denied and match["verb"] in {"maintain", "own", "work on"}:
        return  # "People own their data" names nobody
    is_definite = _DEFINITE.match(match["object"]) is not None or predicate == "responsible_for"
    object_ = name_in(match["object"], is_free=True)
    if object_ is not None and is_definite:
        yield Statement(
            subject=match["who"],
            subject_type=EntityType.PERSON,
            predicate=predicate,
            object=object_,
            is_denied=is_denied,
        )


def _of_a_job(text: str) -> Iterator[Statement]:
    """What the speaker is by profession; without "work as", only where the word is one of a profession."""
    match = _JOB.match(text)
    if match is None:
        return
    words = list(itertools.takewhile(lambda word: word.lower() not in END_OF_NAME, match["object"].split()))
    small = [word.lower() for word in words]
    if not words or len(words) > MOST_WORDS_OF_A_JOB or _NO_JOB.intersection(small) or small[0] in NO_NAME:
        return
    if small[-1] in _JOBS or (match["works"] and not small[-1].endswith(("'s", "ly"))):
        yield Statement(subject=PERSON, subject_type=EntityType.PERSON, predicate="works_as", object=" ".join(words))


def _of_taste(text: str) -> Iterator[Statement]:
    for taste in tastes_in(text):
        yield Statement(
            subject=PERSON,
            subject_type=EntityType.PERSON,
            predicate=taste.predicate,
            object=taste.object,
            is_denied=taste.is_denied,
            is_past=taste.is_past,
        )


def _plain(text: str) -> Iterator[Statement]:
    for pattern, predicate, values in _RULES:
        match = pattern.match(text)
        if match is None:
            continue
        is_person = match["subject"].lower() == "i"
        is_of_this_subject = predicate == "uses" or is_person == (predicate in _OF_A_PERSON)
        if match["subject"].lower() in {"you", "it"} or not is_of_this_subject:
            return
        yield from _objects(match["object"], predicate, is_person=is_person, values=values)
        return


def _objects(phrase: str, predicate: str, *, is_person: bool, values: Mapping[str, bool]) -> Iterator[Statement]:
    is_place = predicate in {"lives_in", "works_at"}
    objects = [name_in(part, is_name=is_place) for part in re.split(r"\s+(?:and|&)\s+", phrase)]
    if is_place and any(each and _is_no_place(each, predicate) for each in objects):
        return
    if None in objects or len(objects) > MOST_OBJECTS:
        objects = objects[:1]
    for object_ in objects:
        if object_ is None:
            return
        yield Statement(
            subject=PERSON if is_person else PROJECT,
            subject_type=EntityType.PERSON if is_person else EntityType.PROJECT,
            predicate=predicate,
            object=object_,
            is_denied=values.get("is_denied", False),
            is_past=values.get("is_past", False),
            is_correction=values.get("is_correction", False),
        )


def _is_no_place(name: str, predicate: str) -> bool:
    """One works for a company that is known by its tool, but lives in none, and neither at a time."""
    return name.casefold() in _NO_PLACE or (predicate == "lives_in" and known_at_start(name.split()) is not None)
