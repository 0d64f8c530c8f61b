"""Which things a text says have ended, stay, or are taken up again, by their words.

A sentence is read word by word. A thing ends only as a whole, if it is said to be dropped, replaced or gone: "the Redis
index was dropped" ends an index, and "argon2 uses 64 MiB instead of 19" ends nothing but a number.

Rules of this file: a question, a denial or a mere consideration ends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import attrs

from kiro_learn.model.wording import is_negation
from kiro_learn.retrieval.kept_texts import OF_A_BRIEF, kept
from kiro_learn.retrieval.query.prose import is_stop_word
from kiro_learn.retrieval.ranking import ending_words as known

# How a sentence is cut into words, and where the thing that it speaks of begins and ends.

LEAST_LETTERS = 3
"""The fewest letters of a name."""
MOST_WORDS = 5
"""The most words of one thing. More words are a clause."""
REACH = 6
"""The most words between "moved" and its "from", and between a doubt and the doubtful word."""
LONGEST_SENTENCE = 400
"""How many characters of a sentence are read."""
FIRST_SENTENCES = 2
"""How many first sentences of an answer are read. Later ones tell details and attempts."""
LONGEST_HEAD = 2_000

_TURN_BEFORE = re.compile(r" \(after: [^\n]{0,600}\)(?=\n|$)")
"""The built-in learner's note on the turn before, after the question."""
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n")
_TOKEN = re.compile(r"[^\W_][\w'\u2019+#@/.-]{0,60}|[,:()\u2013\u2014]|(?<=\s)-(?=\s)|\./[\w./-]{1,60}")
ASKED = "asked: "


@attrs.frozen
class Ended:
    """One thing that ended, and where it ended if that is said."""

    words: frozenset[str]
    scope: frozenset[str] = frozenset()
    subject: frozenset[str] = frozenset()
    """The only subject for which it ended, as in "sessions are in Postgres instead of Redis"; empty: for all."""


@attrs.frozen
class Sentence:
    """The things in one sentence: those that ended, those that stay, and those taken up again or instead."""

    ended: tuple[Ended, ...] = ()
    staying: frozenset[str] = frozenset()
    returned: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
    """The things that were taken up: "switched to vitest", "we're on vitest now"."""


NOTHING_SAID = Sentence()


def may_name(word: str) -> bool:
    """Whether ``word`` may name a chosen thing."""
    is_figure = word.isdigit() or (word[:2] in {"0.", "0,"} and word[2:].isdigit())
    if is_figure or is_stop_word(word) or word in known.COMMON:
        return False
    return len(word) >= LEAST_LETTERS or (len(word) > 1 and any(map(str.isdigit, word)))


@kept(OF_A_BRIEF)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences that say most of the subject of ``text``: title, question, and the first of the answer."""
    lines = _TURN_BEFORE.sub("", text[:LONGEST_HEAD]).split("\n")
    head = [line for place, line in enumerate(lines) if not place or line.startswith(ASKED)]
    rest = "\n".join(line for line in lines[1:] if not line.startswith(ASKED))
    said = [each for line in head for each in _SENTENCE_END.split(line)]
    first = [each for each in _SENTENCE_END.split(rest) if each][:FIRST_SENTENCES]
    return tuple(each[:LONGEST_SENTENCE] for each in dict.fromkeys([*said, *first]) if each)


def _tokens(sentence: str) -> list[str]:
    return [_bare(each) for each in _TOKEN.findall(sentence.replace("\u2019", "'"))]


def _bare(word: str) -> str:
    return word.rstrip(".'-") if len(word) > 1 else word


def words_in(text: str) -> list[str]:
    """The words of ``text`` in lower case, in their order, without a genitive's ending."""
    return [word.removesuffix("'s") for word in _tokens(text) if word not in known.MARKS]


# Reads one sentence: where a thing ends, stays or is taken up again, and the words of the thing.


@kept(OF_A_BRIEF)
def read_sentence(sentence: str) -> Sentence:
    """The content of ``sentence``, in lower case; nothing if it asks or sets a condition."""
    tokens = _tokens(sentence.removeprefix(ASKED))
    if sentence.rstrip().endswith("?") or not known.CONDITIONS.isdisjoint(tokens):
        return NOTHING_SAID
    ended, staying, returned, taken = list[Ended](), set[str](), set[str](), set[str]()
    for place, token in enumerate(tokens):
        if token not in known.SIGNALS and not is_negation(token):
            continue
        ended += _ended_behind(tokens, place)
        ended += _ended_before(tokens, place)
        staying |= _staying_at(tokens, place)
        returned |= _returned_at(tokens, place)
        taken |= _taken_at(tokens, place)
    return Sentence(tuple(ended), frozenset(staying), frozenset(returned), frozenset(taken))


def _ended_behind(tokens: Sequence[str], place: int) -> list[Ended]:
    """The things after the word at ``place``, if that word begins to say that they end."""
    start, is_action = _marker_end(tokens, place)
    before = _clause_before(tokens, place)
    if not start or _is_in_doubt(before):
        return []
    is_for_another = tokens[place][:4] in known.FOR_ANOTHER
    found = list[Ended]()
    while start:
        words, end = _thing_behind(tokens, start)
        scope = _scope_behind(tokens, end, is_for_another=is_for_another) if words else frozenset[str]()
        if words:
            subject = frozenset[str]() if is_action else subject_of(before)
            found.append(Ended(words, scope or _place_before(before), subject))
        start = end + 1 if words and is_action and end < len(tokens) and tokens[end] in ("and", "or") else 0
    return found


def _marker_end(tokens: Sequence[str], place: int) -> tuple[int, bool]:
    """Where the ended thing begins, or 0 if the words at ``place`` end nothing; and whether they are an action."""
    word, following = tokens[place], tokens[place + 1] if place + 1 < len(tokens) else ""
    is_passive = bool(place and tokens[place - 1] in known.BE - known.HAVING) or following in ("by", "with")
    if word in known.ENDING_VERBS and not is_passive:
        return 0 if _is_adjective(tokens, place) else place + 1, True
    beginning = known.PHRASES.get(word, ())
    phrase = next((each for each in beginning if tuple(tokens[place : place + len(each)]) == each), ())
    start = 0
    if phrase:
        is_verb_next = phrase == ("no", "longer") and place > 0 and tokens[place - 1] in known.PERSONS
        over = _over_verb if is_verb_next else _over_preposition
        start = over(tokens, place + len(phrase))
        is_deed = start < len(tokens) and tokens[start].endswith("ing") and tokens[start] not in known.MOVING
        start = 0 if is_deed else start
    elif word in known.MOVING:
        start = _behind_from(tokens, place + 1)
    elif word in known.OF_FOREIGN:
        start = place + 1
    elif is_negation(word):
        start = _denied_from(tokens, place)
    return start, False


def _is_adjective(tokens: Sequence[str], place: int) -> bool:
    """Whether the word at ``place``, which may end a thing, only describes the next word: "the removed line"."""
    if tokens[place] not in known.ADJECTIVES:
        return False
    if not place or tokens[place - 1] in known.MARKS:
        return tokens[place] in known.STATES_OF_WORK
    return tokens[place - 1] in known.DETERMINERS or tokens[place - 1] in known.PREPOSITIONS


def _behind_from(tokens: Sequence[str], start: int) -> int:
    """The place after the "from" of a move that begins at ``start``; 0 if no "from" comes before the target."""
    behind = tokens[start : start + REACH]
    end = next((at for at, each in enumerate(behind) if each in known.MARKS or each in ("to", "and")), len(behind))
    return start + behind.index("from") + 1 if "from" in behind[:end] else 0


def _denied_from(tokens: Sequence[str], place: int) -> int:
    """Where the thing denied by the negation at ``place`` begins; 0 if it could not have been chosen."""
    following = tokens[place + 1] if place + 1 < len(tokens) else ""
    if following in ("use", "using"):
        return place + 2
    if _has_any_more(tokens[place:]):
        return _over_verb(tokens, place + 1)
    is_plea = not place and (tokens[place] != "no" or "please" in tokens)
    is_bare = tokens[place] in ("no", "not", "never") and (is_plea or (place > 0 and tokens[place - 1] == ","))
    start = _over(tokens, place + 1, known.PREPOSITIONS)
    return start if is_bare and start < len(tokens) and not tokens[start].endswith(("ed", "ing")) else 0


def _over(tokens: Sequence[str], start: int, words: frozenset[str]) -> int:
    """``start``, or the place after it if one of ``words`` stands there."""
    return start + 1 if start < len(tokens) and tokens[start] in words else start


def _over_preposition(tokens: Sequence[str], start: int) -> int:
    return _over(tokens, start, known.USING | known.PREPOSITIONS)


def _over_verb(tokens: Sequence[str], start: int) -> int:
    """The place after the verb at ``start`` and its preposition ("deploy with"); ``start`` if there is none."""
    has_preposition = start + 1 < len(tokens) and tokens[start + 1] in known.PREPOSITIONS
    if has_preposition and tokens[start] not in known.PREPOSITIONS:
        return start + 2
    return _over(tokens, start, known.USING | known.PREPOSITIONS)


def _has_any_more(tokens: Sequence[str]) -> bool:
    return "anymore" in tokens or any(pair in known.ANY_MORE for pair in pairwise(tokens))


def _clause_before(tokens: Sequence[str], place: int) -> Sequence[str]:
    start = next((at + 1 for at in range(place - 1, -1, -1) if tokens[at] in known.MARKS), 0)
    return tokens[start:place]


def _is_in_doubt(before: Sequence[str]) -> bool:
    """Whether the clause ``before`` a word denies what the word says, or only considers it."""
    return not known.UNSURE.isdisjoint(before) or any(map(is_negation, before[-REACH:]))


def _thing_behind(tokens: Sequence[str], start: int) -> tuple[frozenset[str], int]:
    """The words of the thing named from ``start`` on, and the place where they end."""
    place, is_support = start, False
    while place < len(tokens) and (
        tokens[place] in known.BEFORE_A_NAME
        or tokens[place] in known.SUPPORT
        or (is_support and tokens[place] in ("for", "of", "on", "about"))
        or (place == start and tokens[place] in known.MOVING)
        or (place > start and tokens[place] == "to")
    ):
        is_support = is_support or tokens[place] in known.SUPPORT
        place += 1
    words = list[str]()
    while place < len(tokens) and tokens[place] not in known.BEHIND_A_NAME:
        words.append(tokens[place].removesuffix("'s"))
        place += 1
        if len(words) > MOST_WORDS:
            return frozenset(), place
    return frozenset(words) - known.TIMES, place


def _scope_behind(tokens: Sequence[str], place: int, *, is_for_another: bool) -> frozenset[str]:
    """The only place where the thing ends, if ``place`` begins to name it: "from the rate limiter"."""
    if place >= len(tokens) or tokens[place] not in known.SCOPING or (tokens[place] == "for" and is_for_another):
        return frozenset()
    words, _ = _thing_behind(tokens, place + 1)
    is_place = any(word in known.PLACES or "." in word or "/" in word or word.isdigit() for word in words)
    return frozenset() if is_place else words


def _place_before(clause: Sequence[str]) -> frozenset[str]:
    """The only place where ``clause`` holds, if it begins with it: "in tests we do not use it"."""
    words = _thing_behind(clause, 1)[0] if clause and clause[0] in ("in", "for") else subject_of(clause)
    return words if not words.isdisjoint(known.SIDE_PLACES) else frozenset()


def subject_of(words: Sequence[str]) -> frozenset[str]:
    """The subject of ``words``, which are one clause; nothing if it is a person, or if no verb is found."""
    end = next((at for at, each in enumerate(words) if each in known.VERBS), 0)
    subject = [each for each in words[:end] if each not in known.BEFORE_A_NAME]
    is_person = (
        not subject or len(subject) > MOST_WORDS or any(each in known.STOPS or is_stop_word(each) for each in subject)
    )
    return frozenset() if is_person else frozenset(subject)


def _ended_before(tokens: Sequence[str], place: int) -> list[Ended]:
    """The things before the word at ``place``, if that word says that they have ended."""
    first = place
    while first and tokens[first - 1] in known.LINKING:
        first -= 1
    linking = frozenset(tokens[first:place])
    length = _state_length(tokens[place : place + 3], is_past=not linking.isdisjoint(known.PAST))
    is_by = tuple(tokens[place : place + 2]) in (("replaced", "by"), *known.GONE_PAIRS)
    length = 2 if is_by else length
    clause = _clause_before(tokens, first)
    is_sure = linking.isdisjoint(known.DOUBTFUL) and known.UNSURE.isdisjoint(clause)
    if not is_sure or not length or (linking.isdisjoint(known.BE) and not is_by):
        return []
    end = place + length
    if tokens[end - 1 : end] == ["by"] or tokens[end : end + 1] in (["by"], ["with"]):
        end = _thing_behind(tokens, end + (tokens[end - 1] != "by"))[1]
        is_by = False
    scope = _scope_behind(tokens, end, is_for_another=is_by)
    return [Ended(words, scope) for words in _things_before(clause)]


def _state_length(tokens: Sequence[str], *, is_past: bool) -> int:
    """How many of ``tokens`` say that a thing has ended; 0 if they do not begin in that way."""
    pair, following = tuple(tokens[:2]), tokens[-1]
    if pair in known.ENDED_PAIRS or (pair in known.NO_LONGER and following in known.NEEDED):
        return 2 if pair in known.ENDED_PAIRS else 3
    if is_past and pair[0] == "too" and pair[-1] in known.TOO:
        return 2
    return 1 if tokens[0] in known.ENDED_STATES else 0


def _things_before(clause: Sequence[str]) -> list[frozenset[str]]:
    """The words of the things at the end of ``clause``: "redis and celery"."""
    found = list[frozenset[str]]()
    rest = list(clause)
    while rest:
        start = next((at + 1 for at in range(len(rest) - 1, -1, -1) if rest[at] in known.JOINING), 0)
        words = [each for each in rest[start:] if each not in known.BEFORE_A_NAME]
        head = next((at for at, each in enumerate(words) if each in known.PREPOSITIONS), len(words))
        if head < len(words) and frozenset(words[:head]) <= known.SUPPORT:
            words, head = words[head + 1 :], len(words)
        words = [each.removesuffix("'s") for each in words[:head]]
        if not words or len(words) > MOST_WORDS or any(each in known.STOPS for each in words):
            break
        found.append(frozenset(words))
        if not start or rest[start - 1] not in ("and", "or"):
            break
        rest = rest[: start - 1]
    return found


def _staying_at(tokens: Sequence[str], place: int) -> frozenset[str]:
    """The thing that stays, if the word at ``place`` says so."""
    if tokens[place] in known.STAYING and not any(map(is_negation, _clause_before(tokens, place)[-REACH:])):
        start = _over(tokens, place + 1, known.PREPOSITIONS | known.USING)
        before = _things_before(_clause_before(tokens, place))[:1] if tokens[place] in known.REMAINING else []
        return _thing_behind(tokens, start)[0].union(*before)
    if tuple(tokens[place : place + 2]) == ("it", "is"):
        return frozenset().union(*_things_before(_clause_before(tokens, place))[:1])
    return frozenset()


def _returned_at(tokens: Sequence[str], place: int) -> frozenset[str]:
    """The thing that is taken up again, if the word at ``place`` says so."""
    before = _clause_before(tokens, place)
    if _is_in_doubt(before):
        return frozenset()
    if tuple(tokens[place : place + 2]) in known.RETURNS:
        return _thing_behind(tokens, _over(tokens, place + 2, known.USING))[0]
    if tokens[place] in ("use", "using", "take"):
        words, end = _thing_behind(tokens, place + 1)
        is_again = "again" in tokens[end : end + 1] or tokens[end : end + 2] == known.AFTER_ALL
        return words if is_again else frozenset()
    return frozenset()


def _taken_at(tokens: Sequence[str], place: int) -> frozenset[str]:
    """The thing that is taken up instead, if the word at ``place`` says so."""
    before = _clause_before(tokens, place)
    if _is_in_doubt(before):
        return frozenset()
    is_move = tokens[place] in known.MOVING and tuple(tokens[place + 1 : place + 2]) in (("to",), ("over",))
    if is_move:
        return _thing_behind(tokens, place + 2 + (tokens[place + 1] == "over"))[0]
    if tokens[place] in ("on", "use", "using") and before and before[-1] in known.ON_NOW:
        words, end = _thing_behind(tokens, place + 1)
        return words if "now" in tokens[end : end + 1] else frozenset()
    return frozenset()
