"""The English that the built-in learner knows, whether a text is English, where to cut texts, and names in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from kiro_learn.model.wording import word_set
from kiro_learn.retrieval.query.prose import OTHER_GRAMMAR, is_stop_word

# The English that this learner knows: words and openings that tell talk from knowledge.
#
# Plain lists are used, and no clever patterns: a text is judged in linear time, and a list can be read and added to. In
# a language that is not here every sentence counts as earnest, which keeps too much rather than too little.


POLITE = word_set("""
    a about absolutely again ah ahead alright also amazing and apologies apologise apologize are asking awesome
    beautiful best brilliant call catch certainly cheers clarification clarifying clean clear confusion continue
    cool correct course definitely did do does done exactly excellent eye fair fantastic feedback fine fixed for
    found from fun go going good got gotcha great green have hello helps here hey hi hmm hold i i'm i've idea
    indeed interesting is it it's just keep kind let let's lgtm looks love makes me mind mistake much my n nice
    no nope nothing now observation of oh ok okay on out perfect please point proceed question quite ready
    really reminder resume right see sense set so solid sorry sounds still sure thank thanks that that's the
    thing think thinking this to totally true understand understood up very wait welcome well whole works wow y
    yeah yep yes you you're your yup
""")
"""The words of nods: a sentence of these words alone is a nod."""

STATUS = word_set("""
    above added all analysis any anymore as below both build builds built change changed changes check checked
    checks ci cleanly code committed compile compiled compiles complete completed completely conclusion
    correctly detail details error errors every everything existing expected failed failing failure failures
    feature final findings finished fix format formatted formatting full fully has here's implementation
    implemented implementing in including integration issue issues lint linter linters linting local locally
    made new other overview pass passed passes passing place problem related relevant remaining result results
    run running runs same skipped succeed succeeded succeeds successful successfully suite suites summary task
    tasks test tests there these they those too type typecheck types unit update updated verified verify warning
    warnings was we went were what with without work worked working zero
""")
"""A sentence of these words, nods and numbers alone only says how things stand at the moment."""

COMMITTING = word_set(
    "amend amended commit committed committing force-pushed merge merged pr push pushed pushing rebase rebased"
)

COMMIT_TALK = word_set("""
    add branch by create created everything file files force git hash into lease main master message open opened
    origin pull remote request squash stage staged tag them then these upstream
""")
"""Other words of a sentence that only reports a commit or asks for one."""

EMPTY = word_set("""
    an another approach at be because been before being bug but by can case cases cause causes current each edge
    either example examples few file files first following had he her his how however i'd if into its key last
    like main make many may me might more most must my need needs next not off one only option options or our
    over own per proposed root scenario scenarios second she should since some statement step steps such than
    their them then thing things three time two under until upon us use used uses using via way ways when where
    which while who why will would you'd
""")
"""Words that say too little to tell one memory's title from another's."""

ANNOUNCING = (
    *("let me ", "let's see", "i'll ", "i will ", "i'm going to ", "i can now ", "i have a ", "i have all "),
    *("i now have ", "i need to ", "i've reviewed", "i have reviewed", "now i have ", "now i understand"),
    *("now i'll ", "now let me ", "now let's ", "i see the ", "i see what ", "next, ", "first, let me"),
    "based on my ",
)
"""The beginning of a sentence in which the speaker says what they are about to do."""

INTRODUCING = ("here's ", "here is ", "here are ", "below is ", "below are ", "this is ", "these are ")
"""The beginning of a line that ends in a colon and only announces the text below it."""

OFFERING = (
    *("anything else", "can you ", "could you ", "do you have", "do you want", "does that ", "does this "),
    *("feel free", "happy to ", "how would you like", "i can either", "i can also ", "i'm happy", "if you want"),
    *("if you'd like", "is there anything", "let me know", "or should i", "or would you", "ready for ", "ready to "),
    *("shall i ", "should i ", "want me ", "what do you think", "what would you", "which approach", "which one "),
    *("which option", "which would you", "would you "),
)
"""The beginning of a sentence that offers something, or asks how to go on."""

FAILED_ANSWERS = (
    *("(no content)", "5-hour limit reached", "claude ai usage limit reached", "credit balance is too low"),
    *("execution error", "internal server error", "invalid api key", "no response requested", "prompt is too long"),
    *("rate limit", "rate limit exceeded", "rate limit reached", "request timed out", "usage limit reached"),
    "you've hit your limit",
)
"""Reports of the agent's own failure in place of an answer, alone or with a hint how to go on."""

FILE_EXTENSIONS = word_set("""
    bash c cc cfg cjs conf cpp cs css csv dart env ex exs fish go gradle h hpp html ini ipynb java js json jsonl
    jsx kt lock lua md mdx mjs mod nix php proto ps1 py pyi rb rs rst scala scss sh sql sum svelte swift tf toml
    ts tsx txt vue xml yaml yml zig zsh
""")


# Sentences and words: where a text may be cut, and which words it has.

_SENTENCE_END = re.compile(
    r"(?<=[.!?])[\"')\]*`]{0,3}\s+(?=[\"'(\[`*]{0,3}[A-Z0-9\u2010-\uffff/~-]|`[^`\n]{1,80}`)"
    r"|(?<=[\u3002\uff01\uff1f])|\n+"
)
_ABBREVIATION = re.compile(r"(?:\b(?i:e\.g|i\.e|vs|etc|cf|approx|incl|resp|no|fig|st|mr|dr)|\b[A-Z]|^\d{1,3})\.$")
_DAY = re.compile(r"\b\d{1,2}\.$")
_INLINE_CODE = re.compile(r"(?<!\w)`[^`\n]{1,200}`(?!\w)")
_GOES_ON = re.compile(r"(?<= \.{3}) (?![A-Z][a-z])|(?<=\.{3}) (?=`)")
"""The end of three dots that leave something out of a sentence: "SELECT ... FOR UPDATE"."""
_MONTH = re.compile(r"(?:Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)\w{0,6}\b")
_LONGEST_ABBREVIATION = 10
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{1,2}|\w[\w.'/-]*")
"""Words. In scripts without spaces, pairs of characters count as words."""

_MARGINS = " \t\n,;:-\u2013\u2014("


def sentences(text: str) -> list[str]:
    """The sentences of ``text``, split at sentence and line ends, in order. Together they are the whole text."""
    pieces: list[str] = []
    start = 0
    for end in _ends_in(text):
        last_word = text[max(start, end.start() - _LONGEST_ABBREVIATION) : end.start()]
        is_date = _DAY.search(last_word) is not None and _MONTH.match(text, end.end()) is not None
        if (_ABBREVIATION.search(last_word) or is_date) and "\n" not in end.group():
            continue
        pieces.append(text[start : end.start()] + end.group().rstrip())
        start = end.end()
    return [stripped for piece in (*pieces, text[start:]) if (stripped := piece.strip())]


def _ends_in(text: str, limit: int | None = None) -> Iterator[re.Match[str]]:
    """Where sentences may end in the first ``limit`` characters: neither in code, nor where words are left out."""
    spans = _INLINE_CODE.finditer(text) if "`" in text else iter(())
    span = next(spans, None)
    for end in _SENTENCE_END.finditer(text, 0, len(text) if limit is None else limit):
        while span and span.end() < end.end():
            span = next(spans, None)
        is_inside = (span and span.start() < end.start()) or _GOES_ON.match(text, end.start())
        if "\n" in end.group() or not is_inside:
            yield end


def cut_at_word(text: str, limit: int) -> str:
    """``text`` if it has at most ``limit`` characters, else its beginning up to a word's end, with an ellipsis."""
    if len(text) <= limit:
        return text
    beginning = text[: limit - 3]
    whole_words = beginning.rpartition(" ")[0] if " " in beginning[limit // 2 :] else beginning
    return whole_words.rstrip(_MARGINS) + "..."


def cut_at_sentence(text: str, limit: int) -> str:
    """The sentences of ``text`` that fit into ``limit``. If they use less than half of it, it is cut at a word."""
    if len(text) <= limit:
        return text
    ends = [end.start() for end in _ends_in(text, limit)]
    return text[: ends[-1]].rstrip() if ends and ends[-1] >= limit // 2 else cut_at_word(text, limit)


def words(text: str) -> list[str]:
    """The words of ``text`` in lower case. Names with dots, dashes and slashes stay whole."""
    return [word.rstrip(".'/-").lower() for word in _WORD.findall(text)]


def overlap(text: str, others: set[str]) -> float:
    """The share of the distinct words of ``text`` that are among ``others``: 0 to 1; 1 if it has no words."""
    mine = set(words(text))
    return len(mine & others) / len(mine) if mine else 1.0


def on_one_line(text: str) -> str:
    """``text`` with every run of white space replaced by one blank; none at either end."""
    return " ".join(text.split())


# Names that a memory is about: identifiers and files, spelled as in the turn.

MOST_CONCEPTS = 10
_MOST_FILES = 20

_CODE_SPAN = re.compile(r"`([^`\n]{2,60})`")
_NAME = re.compile(r"[A-Za-z_@.][\w.@:-]*[\w)]")
_COMPOUND = re.compile(r"\b(?:[a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z]*(?:[A-Z][a-z0-9]+){2,}|[A-Za-z]+(?:_[A-Za-z0-9]+)+)\b")
"""camelCase, PascalCase, snake_case and SCREAMING_CASE. A single word may be anything."""

_PATH = re.compile(r"(?<![\w/:.@-])((?:[\w.@-]+/)*[\w@-][\w.@-]*\.([A-Za-z]{1,5}))(?::\d+(?:-\d+)?)?(?![\w/(])")


def concepts_in(prompt: str, answer: str) -> tuple[str, ...]:
    """The ten most frequent identifiers. A name in backticks or in the prompt counts double."""
    counted: Counter[str] = Counter()
    for text in (prompt, prompt, answer):
        counted.update(_identifiers(text))
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return tuple(name for name, _ in ranked[:MOST_CONCEPTS])


def _identifiers(text: str) -> list[str]:
    spans = [span.strip().removesuffix("()") for span in _CODE_SPAN.findall(text)]
    names = [span for span in spans if _NAME.fullmatch(span) and not _PATH.fullmatch(span)]
    without_files = _PATH.sub(lambda found: " " if _is_file(found) else found.group(), text)
    return names + _COMPOUND.findall(without_files)


def _is_file(path: re.Match[str]) -> bool:
    return path.group(2).lower() in FILE_EXTENSIONS


def paths_in(text: str) -> tuple[str, ...]:
    """The file names and paths that ``text`` mentions, in order, each once."""
    found = (path.group(1) for path in _PATH.finditer(text) if _is_file(path))
    return tuple(dict.fromkeys(path.removeprefix("./") for path in found))[:_MOST_FILES]


# Whether a text is English, by the grammar words of its prose. One such word is not enough.
#
# Names, code and paths are words of no language: ``main.go`` has no article.

_NO_PROSE = re.compile(r"`[^`\n]{1,400}`|(?<![A-Za-z0-9_~@-])[A-Za-z0-9_~@-]++(?:[./\\@#:=+]++[A-Za-z0-9_~@-]++)++")
"""Code, addresses, paths and dotted names."""

_SHARED = word_set("a all am an as at do has he i in is me no on so was will")
"""English words that other languages have too. They are no evidence by themselves."""

_OF_OTHERS = word_set("""
    als así cuando cuya del denn dessen die di e et già ha hij i il io la lo ma mas mi ne né nu ob och og ou pero
    più quindi seine seinem sich si sin sowie tot und usa uso va vor ya y yo zwar
""")
"""Small words of other languages, in addition to ``OTHER_GRAMMAR``."""

_OTHER_SCRIPT = re.compile(r"[^\W\d_a-zA-Z\u00c0-\u024f\u1e00-\u1eff]")
_LATIN = re.compile(r"[a-zA-Z\u00c0-\u024f\u1e00-\u1eff]")
_OF_WORK = STATUS | COMMITTING | COMMIT_TALK
"""English words that notes of agents use without grammar: "3 files changed"."""


def is_english(texts: Iterable[str]) -> bool:
    """Whether ``texts`` have English in them, and at least as much of its grammar as of other languages."""
    prose = _NO_PROSE.sub(" ", "\n".join(texts))
    if len(_OTHER_SCRIPT.findall(prose)) > len(_LATIN.findall(prose)):
        return False
    said = words(prose)
    english = [word for word in said if word not in OTHER_GRAMMAR and (is_stop_word(word) or word in _OF_WORK)]
    return bool(english) and sum(word not in _SHARED for word in english) >= sum(map(_is_of_others, said))


def is_foreign(text: str) -> bool:
    """Whether ``text`` is in a language other than English. Words without grammar may be of any language."""
    prose = _NO_PROSE.sub(" ", text)
    has_others = _OTHER_SCRIPT.search(prose) is not None or any(map(_is_of_others, words(prose)))
    return has_others and not is_english([text])


def _is_of_others(word: str) -> bool:
    if is_stop_word(word) and word not in OTHER_GRAMMAR:
        return False
    return word in OTHER_GRAMMAR or word in _OF_OTHERS or any(c > "\u00bf" and c.isalpha() for c in word)
