"""What a person likes and dislikes, where they say so plainly: "I love jazz", "I can't stand YAML".

A taste is for something that lasts, so its object is a known tool, a bare noun ("horses", "live music") or something
that one does ("listening to podcasts"). An object with an article or a pronoun points at something here and now
("I like the second one", "I love how you did it").
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import attrs

from kiro_learn.learning.graph.gazetteer import known_at_start

MOST_WORDS = 8
"""Of what is liked; more are a story."""


@attrs.frozen(kw_only=True)
class Taste:
    """One thing that is liked or disliked."""

    predicate: str
    object: str
    is_denied: bool = False
    is_past: bool = False


_ADVERBS = (
    r"(?:(?:really|truly|absolutely|totally|definitely|just|also|still|always|especially|particularly|generally"
    r"|do|so|too|personally|honestly|actually|both|now|simply|quite|very|super|much|even)\s+){0,2}"
)
_OBJECT = r"\s+(?P<object>\S[^.!?;:()\[\]\"`\u2013\u2014]{0,160})"


def _form(words: str, predicate: str, **values: bool) -> tuple[re.Pattern[str], str, dict[str, bool]]:
    return re.compile(words + _OBJECT, re.IGNORECASE), predicate, values


_AM = r"i(?:'m|\s+am)\s+" + _ADVERBS
_HAVE = r"i(?:'ve|\s+have)\s+" + _ADVERBS
_A_FAN = r"(?:a\s+)?(?:(?:big|huge|great|massive)\s+)?fan\s+of"
_MY = r"my\s+(?:(?:all-time|absolute|personal)\s+)?"
_KEEN = rf"(?:passionate\s+about|fond\s+of|into|{_A_FAN})"
_LOVE = r"(?:had\s+)?a\s+(?:(?:great|deep|real)\s+)?(?:love|passion)\s+(?:for|of)"
_NO_FAVOURITE = r"(?!part|moment|memory|one\b|thing about|way|time|day|example)"
_FORMS = (
    _form(r"i\s+(?:no longer|don't|do not)\s+(?:(?:really|particularly|even|much)\s+)?(?:like|love|enjoy)", ""),
    _form(r"i\s+(?:no longer|don't|do not)\s+(?:really\s+)?(?:hate|dislike)", "dislikes", is_denied=True),
    _form(r"i\s+used\s+to\s+(?:really\s+)?(?:like|love|enjoy)", "likes", is_past=True),
    _form(r"i\s+used\s+to\s+(?:really\s+)?(?:hate|dislike)", "dislikes", is_past=True),
    _form(rf"i\s+{_ADVERBS}(?:like|love|enjoy|adore)", "likes"),
    _form(rf"i\s+{_ADVERBS}(?:hate|dislike|detest|loathe|can't\s+stand|cannot\s+stand)", "dislikes"),
    _form(rf"{_AM}{_KEEN}", "likes"),
    _form(rf"{_AM}not\s+{_ADVERBS}{_KEEN}", "dislikes"),
    _form(rf"{_HAVE}(?:(?<=always\s)(?:liked|loved|enjoyed)|{_LOVE}|been\s+(?:really\s+)?{_KEEN})", "likes"),
    _form(rf"{_MY}(?:hobby|hobbies|passion|passions)\s+(?:is|are|include)", "likes"),
    _form(rf"{_MY}fav(?:ou?rite|e)\s+{_NO_FAVOURITE}(?:\w+\s+){{1,2}}(?:is|are)", "likes"),
)
_IS_MINE = re.compile(
    r"(?P<object>[a-z][\w' -]{1,80}?)\s+(?:is|are)\s+my\s+"
    r"(?:passion|hobby|hobbies|fav(?:ou?rites?|es?)(?=\s*(?:[.,!;-]|$)))",
    re.IGNORECASE,
)
_WEAK = re.compile(r"i\s+" + _ADVERBS + r"like\b", re.IGNORECASE)
"""Also said of what is proposed ("I like keeping the old flag"), so no article may stand in what is liked."""

_ANY_MORE = re.compile(r"\bany ?(?:more|longer)\b")

_END_WORDS = """
    and but because since so as while although though 'cause cause cuz when whenever too also very lately nowadays now
    especially particularly like better best more most less least than either anyway again indeed lol haha - & or plus
    ever even today any anymore
"""
_END = frozenset(_END_WORDS.split())
_POINTING_WORDS = """
    it its this that these those them they he she him her his hers their you your yours u ya we us me here
    there one ones what how where which who whose why such someone something anything everything nothing
    myself ourselves yourself themselves is are was were has have had does did do will would can could be able
    sure if not
"""
_POINTING = frozenset(_POINTING_WORDS.split())
"""What points at something else, or belongs to a whole sentence."""
_NO_BEGINNING_WORDS = """
    the a an my our some any all both each every another other others most more many much few several same
    certain to of in on at for with when if no in from about
    near by under over behind around inside outside next also always still really just very pretty quite too
    week day month year things stuff moments times
    option approach plan idea version variant number proposal design solution suggestion
"""
_LIGHT_WORDS = """
    being having doing getting making going seeing taking using knowing feeling hearing looking finding trying working
    putting keeping giving coming thinking saying
"""
_LIGHT = frozenset(_LIGHT_WORDS.split())
"""Verbs that say little alone."""
_NO_BEGINNING = frozenset(_NO_BEGINNING_WORDS.split())
_FEW = frozenset({"the", "a", "an"})
_GOES_ON = re.compile(
    r"\s*(?:it|they|this|that|he|she|we|i|you|and|but|because|so|which|especially|as|'cause|cause)\b", re.IGNORECASE
)
_TURNS = re.compile(r"\b(?:if|unless|said|says|would|kidding|joking|not|never|they|he|she)\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"\s*(?:[,;\u2013\u2014]|\s-\s)\s*")
_SIGNS = re.compile(r"[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]+")
_UNSURE = re.compile(
    r"\b(?:if|unless|would|could|should|shall|might|may|maybe|perhaps|probably|suppose|imagine|assum\w+|guess"
    r"|wonder\w*|let's|want(?:s|ed)?|need(?:s|ed)?|going to|will|won't|gonna|hope|whether|until|when|once|pretend"
    r"|says|said|claims?|according|can(?!'t stand\b)|cannot(?! stand\b)|seems?)\b",
    re.IGNORECASE,
)
"""A condition, a plan, a guess, or what somebody else says; not what may be liked, as planning or documentation."""
_OF_THE_MOMENT = re.compile(r"\b(?:right now|at the moment|for now|this time|tonight|today)\b", re.IGNORECASE)


def _is_sure(text: str) -> bool:
    """Whether the first clause is no guess, plan or condition, and nothing behind it turns it round."""
    end = _CLAUSE_END.search(text)
    if end is None or _TURNS.search(text, end.end()):
        return not _UNSURE.search(text)
    return not _UNSURE.search(text[: end.start()])


def tastes_in(text: str) -> list[Taste]:
    """What a sentence says that its speaker likes or dislikes."""
    if _OF_THE_MOMENT.search(text) or not _is_sure(text):
        return []
    for pattern, predicate, values in _FORMS:
        match = pattern.match(text)
        if match is not None:
            before, after = match[0][: match.start("object")].lower(), match["object"].lower()
            no_longer = "no longer" in before or (not predicate and _ANY_MORE.search(after) is not None)
            said = values | ({"is_denied": True} if no_longer else {})
            meant = predicate or ("likes" if no_longer else "dislikes")
            if values and "still" in text.lower():
                return []
            is_weak = _WEAK.match(text) is not None
            return [
                Taste(predicate=meant, object=object_, **said) for object_ in _objects(match["object"], is_weak=is_weak)
            ]
    match = _IS_MINE.match(text)
    if match is None:
        return []
    return [Taste(predicate="likes", object=_uncapitalized(each)) for each in _objects(match["object"])]


def _objects(phrase: str, *, is_weak: bool = False) -> Iterator[str]:
    """What is named at the beginning of ``phrase``, and what is joined to it by "and"."""
    clause, comma, rest = phrase.partition(",")
    clause = clause.partition(" - ")[0]
    first, *others = re.split(r"\s+(?:and|&)\s+", clause.strip())
    if any(word.lower() in _END for word in _bare_words(first)):
        others = []
    object_ = _object_of(first, is_weak=is_weak)
    if object_ is None or (comma and not others and _is_open(object_) and not _GOES_ON.match(rest)):
        return
    if others and not _is_doing(object_) and " " not in object_ and _is_one_name(others[0]):
        return  # of "action and adventure movies" the first may be half a name
    yield object_
    for other in others:
        also = _object_of(other, is_weak=is_weak)
        is_joined = also is not None and (
            _is_doing(also) or (len(also.split()) == 1 and (len(object_.split()) == 1 or not _is_doing(object_)))
        )
        if also is None or not is_joined:
            return
        yield also


def _is_one_name(text: str) -> bool:
    """Whether ``text`` begins with several words that may be a noun with something before it."""
    words = list(itertools.takewhile(lambda word: word.lower() not in _END, _bare_words(text)))
    return len(words) > 1 and not _is_doing(words[0]) and words[0].lower() not in _POINTING | _NO_BEGINNING


def _is_doing(object_: str) -> bool:
    return object_.partition(" ")[0].lower().endswith("ing")


def _is_open(object_: str) -> bool:
    """Whether its last word may be an adjective, which a comma parts from the next one."""
    words = object_.split()
    return (len(words) == 1 and not words[0].endswith(("s", "ing"))) or (len(words) > 1 and words[-2].lower() in _FEW)


def _bare_words(text: str) -> list[str]:
    return [bare for word in text.split() if (bare := _SIGNS.sub("", word).strip(".,;:!'*_"))]


def _object_of(phrase: str, *, is_weak: bool) -> str | None:
    words: list[str] = []
    for word in _bare_words(phrase):
        if word.lower() in _END:
            break
        words.append(word)
    if not words or len(words) > MOST_WORDS or words[0].lower() in _NO_BEGINNING:
        return None
    known = known_at_start(words)
    if known is not None:
        return known
    small = {word.lower() for word in words}
    if small & _POINTING or any("'" in word for word in words) or len(words[-1]) == 1 or words[-1].isdigit():
        return None
    if (is_weak and small & _FEW) or words[0].endswith("ly") or (len(words) == 1 and small & _LIGHT):
        return None
    return " ".join(words)


def _uncapitalized(text: str) -> str:
    """As it is written within a sentence, but for names that are known or have other capitals."""
    first = text.partition(" ")[0]
    return text if not first[1:].islower() or known_at_start([first]) else text[0].lower() + text[1:]
