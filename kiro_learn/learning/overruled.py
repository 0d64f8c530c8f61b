"""Which rules a newer one overrules, and which rules the agents' own rule files repeat or contradict."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import attrs

from kiro_learn.learning.acts.cues import commands_wanted_and_denied
from kiro_learn.learning.relearning import stems
from kiro_learn.learning.rule_values import set_one_value
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import ASKED, KnowledgeType, MemoryRecord, Origin, RuleConflict, newest_first
from kiro_learn.model.wording import RIVALS, denies_on_balance, denies_what_follows, is_negation, word_set
from kiro_learn.retrieval.kept_texts import OF_A_BRIEF, kept

# Which rules a newer one overrules: one that orders the contrary in the same words, or another tool for the same task.
#
# Rules of this part: only a person's newer words overrule, and apart from the tool both rules must have the same words.
# In doubt both are told. Nothing is removed: an overruled rule stays in the store with its time.

_BESIDE = frozenset({"eslint", "flake8", "docker", "postgres"})
"""Tools that a project may use next to others of their group. Only a word such as "use" chooses one of them."""
_FILLERS = word_set("""
    run change plan now here project repo codebase on please again go switch
""")
_DENYING = frozenset({"avoid", "stop", "instead", "rather"})
_CHOOSING = frozenset({"use", "using", "prefer", "switch", "store"})
_UNCLEAR = word_set("""
    without unless except anything everything other both either too also alongside besides keep support supports add
    remove drop delete replace uninstall migrate compatible benchmark
""")
"""Words that turn a negation around, make an exception, or leave room for several rivals."""
_CLAUSE = re.compile(r"[,;:.!] +(?=(?:but |always |only |please |just )?(?:use|prefer|run|take|go with)\b)")
"""The start of a clause with an order of its own, which a negation before it does not deny."""
_REASON = re.compile(r"(?:,? (?:because|since|so that)\b|[,;:] (?:we|it|it's|they|that|this|i|the|our) )[^,;:]*$")
"""A clause at the end that says why."""
_LEADING = re.compile(
    r"(?i)(?:(?:(?:ok|actually|sorry|change of plans?|new rule|from now on|remember)[,:.]?"
    r"|(?:no|correction|update|note)[,:.]) )+"
)
"""Words with which a person begins a rule that replaces another."""
_WORD = re.compile(r"[^\W_][\w'.+-]*")
LONGEST = 240
"""The most characters of a rule that is compared. A longer rule says more than one thing."""


@attrs.frozen
class Order:
    """The order that a rule gives, as far as it can be compared with another."""

    about: frozenset[object]
    """The words of the order without rivals, and the group of the rivals that it names."""
    wanted: frozenset[str]
    denied: frozenset[str]

    def excludes(self, other: Order) -> bool:
        """Whether nobody can follow both orders, given that they are about the same."""
        if self.wanted & other.denied or self.denied & other.wanted:
            return True
        return bool(self.wanted and other.wanted) and self.wanted.isdisjoint(other.wanted)

    def contradicts(self, other: Order) -> bool:
        """Whether both orders are about the same, and nobody can follow both."""
        return self.about == other.about and self.excludes(other)


@kept(OF_A_BRIEF)
def order_of(text: str) -> Order | None:
    """The order in ``text``. None if it is too long, turns around, or names rivals of several groups."""
    said = text[_lead_of(text) :].casefold() if len(text) <= LONGEST else ""
    words = {word.rstrip(".'") for word in _WORD.findall(said)}
    wanted, denied, rest = set[str](), set[str](), list[str]()
    orders = [_read(clause, wanted, denied, rest) for clause in _CLAUSE.split(_without_reason(said))]
    named = wanted | denied
    groups = {RIVALS[word] for word in named}
    left = stems(" ".join(rest)) - _FILLERS
    if len(groups) > 1 or len(wanted) > 1 or not (groups or left) or not words.isdisjoint(_UNCLEAR):
        return None
    if groups & {RIVALS[word] for word in _BESIDE} and not denied and words.isdisjoint(_CHOOSING):
        return None
    if not groups and (len(orders) > 1 or orders[0] > 1):
        return None
    if not groups:  # no rivals: the whole order is wanted or denied
        (denied if orders[0] else wanted).add("")
    return Order(left | groups, frozenset(wanted), frozenset(denied))


def _lead_of(text: str) -> int:
    """Where the order of ``text`` begins."""
    before = _LEADING.match(text)
    return before.end() if before else 0


def _without_reason(said: str) -> str:
    """``said`` without the clause that says why. A clause that names a tool or denies something stays."""
    found = _REASON.search(said)
    words = {word.rstrip(".'") for word in _WORD.findall(found.group())} if found else set()
    if found is None or words & RIVALS.keys() or words & _DENYING or any(map(is_negation, words)):
        return said
    return said[: found.start()]


def _read(clause: str, wanted: set[str], denied: set[str], rest: list[str]) -> int:
    """Add the words of ``clause`` to ``wanted``, ``denied`` or ``rest``; return how many negations it has."""
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
    """For each of ``rules`` that a person's newer rule overrules: its id, and the id of the newest such rule."""
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
    """The ids of those of ``rules`` that a person's newer rule overrules."""
    return frozenset(overruling(rules))


def _is_newer_word(new: MemoryRecord, old: MemoryRecord) -> bool:
    return new.created_at > old.created_at and new.origin is not Origin.ASSISTANT


# Which memories an agent's own rule files repeat, and which memories they contradict.
#
# The comparison uses words without their endings, numbers, and whether something is denied. In doubt a memory is told,
# and nothing counts as a contradiction.

MOST_STATEMENTS = 2_000
"""The most statements of all files together: more than any model would heed."""

SAID = 0.85
"""The share of a memory's words that one statement of a file must have to repeat the memory."""

SAME_SLOT = 0.75
"""The share of all words of a rule and a statement that both must have to be about the same thing."""

LEAST_WORDS = 2
_ORDER = re.compile(
    r"\b(?:always|never|must|should|do not|don'?t|only|use|keep|prefer|avoid|run|no|not|required?|instead of"
    r"|at most|at least|set|limit|indent|wrap|return|wait)\b",
    re.IGNORECASE,
)
_MARK = re.compile(r"^\s*(?:[-*+>]|\d{1,3}[.)]|#{1,6})\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")
_CLAUSE_END = re.compile(r"[,;:.!?](?:\s|$)|\b(?:and|but)\b")
_FIRST_CLAUSE_END = re.compile(r"[,;:.!?](?=\s)")
_LIMITING = re.compile(
    r"(?i)\b(?:but|except|unless|only|or|if|when|until|before|after|aber|außer|nur|wenn|oder|sonst)\b"
)
"""Words that limit the clause before them: it does not hold always, or everywhere."""
_FENCE = ("```", "~~~")


@attrs.frozen
class Statement:
    """One sentence of a rule file."""

    path: str
    line: int
    text: str
    words: frozenset[str]
    """Meaningful words without their endings, and numbers."""
    is_denied: bool

    @property
    def numbers(self) -> frozenset[str]:
        """The statement's words that have a digit."""
        return _numbers(self.words)


def statements_in(path: str, text: str) -> Iterator[Statement]:
    """The sentences of the rule file ``path``, each with its line. A list item may have several lines."""
    is_code = False
    for first, paragraph in _paragraphs(text):
        if paragraph.startswith(_FENCE):
            is_code = not is_code
        for sentence in _SENTENCE_END.split(_MARK.sub("", paragraph)):
            words = stems(sentence)
            if words:
                yield Statement(path, first, sentence.strip(), words, denies_on_balance(sentence))


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Each paragraph or list item on one line, and the number of its first line."""
    first, lines = 0, list[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        begins = not line.strip() or _MARK.match(line) or line.lstrip().startswith(_FENCE)
        if begins and lines:
            yield first, " ".join(lines)
            lines = []
        if line.strip():
            first = first if lines else number
            lines.append(line.strip())
    if lines:
        yield first, " ".join(lines)


class RuleStatements:
    """The statements of the files that an agent loads, by their words."""

    def __init__(self, statements: Iterable[Statement] = ()) -> None:
        self._statements: list[Statement] = []
        self._by_word: defaultdict[str, list[int]] = defaultdict(list)
        self.add(statements)

    def add(self, statements: Iterable[Statement]) -> None:
        """Add ``statements`` after those that are there, as far as there is room."""
        for statement in islice(statements, MOST_STATEMENTS - len(self._statements)):
            for word in statement.words:
                self._by_word[word].append(len(self._statements))
            self._statements.append(statement)

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> RuleStatements:
        """The statements of ``texts``, which are file contents by path."""
        return cls(each for path, text in texts.items() for each in statements_in(path, text))

    def say(self, record: MemoryRecord) -> bool:
        """Whether a statement repeats the memory: nearly all its words, its numbers, and what it denies."""
        return self.word(_told(record))

    def word(self, told: str) -> bool:
        """Whether a statement repeats the sentence ``told``, by the rule of ``say``."""
        if not self._statements:
            return False
        words, denied, is_denied = stems(told), _denied_in(told), denies_on_balance(told)
        if len(words) < LEAST_WORDS:
            return False
        return any(
            shared >= SAID * len(words)
            and _numbers(words) <= each.numbers
            and is_denied == each.is_denied
            and not (denied ^ _denied_in(each.text)) & words & each.words
            for each, shared in self._sharing(words)
        )

    def conflict(self, record: MemoryRecord) -> RuleConflict | None:
        """The first statement with the contrary order, number or tool of ``record``; None if there is none."""
        told = _told(record)
        words, is_denied = stems(told), denies_on_balance(told)
        if not _ORDER.search(told):
            return None
        order = order_of(told)
        named = order if order is not None and RIVALS.keys() & (order.wanted | order.denied) else None
        for each, shared in self._sharing(words):
            is_contrary = _contradicts(told, words, each, shared, is_denied=is_denied) or _is_rival(named, each.text)
            if is_contrary and _ORDER.search(each.text):
                return RuleConflict(record.record_id, record.title, each.path, each.line, each.text)
        return None

    def _sharing(self, words: Iterable[str]) -> Iterator[tuple[Statement, int]]:
        """The statements that have any of ``words``, in their order, each with how many it has."""
        counts = Counter(place for word in words for place in self._by_word.get(word, ()))
        for place in sorted(counts):
            yield self._statements[place], counts[place]


def contradictions(rules: Sequence[MemoryRecord]) -> Iterator[tuple[MemoryRecord, MemoryRecord]]:
    """Pairs of ``rules`` that contradict each other. Each rule is paired with at most one rule before it."""
    before_it = RuleStatements()
    orders = [order_of(rule.title) for rule in rules]
    for place, (rule, order) in enumerate(zip(rules, orders, strict=True)):
        rivals = (each for each, other in enumerate(orders[:place]) if order and other and order.contradicts(other))
        found = before_it.conflict(rule)
        before = next(rivals, None) if found is None else int(found.path)
        if before is not None:
            yield rules[before], rule
        before_it.add(statements_in(str(place), _told(rule)))


def without_repeated(rules: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """``rules`` without "always a" where another says "always a, never b": it begins alike and limits nothing."""
    said = [_whole_and_first(_told(rule)) for rule in rules]
    is_hard = dict[_Said | None, bool]()
    for rule, (_, first) in zip(rules, said, strict=True):
        is_hard[first] = is_hard.get(first, False) or rule.is_hard_rule
    return [
        rule
        for rule, (whole, _) in zip(rules, said, strict=True)
        if rule.pinned_at or whole not in is_hard or is_hard[whole] < rule.is_hard_rule
    ]


_Said = tuple[frozenset[str], frozenset[str], bool]
"""The words of a text, its denied words, and whether the text as a whole denies something."""


@kept(OF_A_BRIEF)
def _whole_and_first(told: str) -> tuple[_Said, _Said | None]:
    """The content of ``told`` and of its first clause. None for the clause if it is all, or holds only sometimes."""
    end = _FIRST_CLAUSE_END.search(told)
    texts = [told] if end is None or _LIMITING.search(told, end.end()) else [told, told[: end.start()]]
    whole, *first = ((stems(text), _denied_in(text), denies_on_balance(text)) for text in texts)
    return whole, next((each for each in first if LEAST_WORDS <= len(each[0]) < len(whole[0])), None)


def _is_rival(order: Order | None, text: str) -> bool:
    """Whether ``text`` orders another tool for the same task as ``order``."""
    other = order_of(text) if order is not None else None
    return order is not None and other is not None and order.contradicts(other)


def _contradicts(told: str, words: frozenset[str], other: Statement, shared: int, *, is_denied: bool) -> bool:
    wanted, denied = commands_wanted_and_denied(told)
    wanted_there, denied_there = commands_wanted_and_denied(other.text)
    if wanted & denied_there or denied & wanted_there:
        return True
    if wanted or denied or wanted_there or denied_there:
        return False
    if _only_forbids(told) and _only_forbids(other.text):
        return False
    numbers, others = _numbers(words), other.numbers
    if numbers != others:
        is_same = words - numbers - _FILLERS == other.words - others - _FILLERS
        return is_same and is_denied == other.is_denied and set_one_value(told, other.text)
    both = len(words | other.words)
    if both < LEAST_WORDS or shared < SAME_SLOT * both or is_denied == other.is_denied:
        return False
    # "always a, never b" denies b, of which "always a" says nothing
    return bool((_denied_in(told) ^ _denied_in(other.text)) & words & other.words)


def _only_forbids(text: str) -> bool:
    """Whether ``text`` begins by forbidding something and orders nothing else."""
    said = text[_lead_of(text) :].casefold()
    first = next(iter(said.split()), "")
    is_forbidden = is_negation(first) or first in _DENYING or said.startswith("do not ")
    return is_forbidden and "always" not in said and _CLAUSE.search(said) is None


def _told(record: MemoryRecord) -> str:
    """The memory in one sentence: its title, or a one-line summary that begins with the title."""
    is_short = not record.summary.startswith(ASKED) and record.summary.startswith(record.title.rstrip("…. "))
    return record.summary if is_short and "\n" not in record.summary else record.title


def _denied_in(text: str) -> frozenset[str]:
    """The words that ``text`` denies: "always a, never b" denies b. "always b, never a" has the same words."""
    found: set[str] = set()
    for clause in _CLAUSE_END.split(text.lower()):
        words = clause.split()
        first = next((place for place, word in enumerate(words, 1) if denies_what_follows(word)), len(words))
        found |= stems(" ".join(words[first:]))
    return frozenset(found)


def _numbers(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word for word in words if any(map(str.isdigit, word)))
