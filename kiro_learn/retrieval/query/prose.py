"""Whether a line reads as prose in any language, and which English words carry grammar and no meaning.

This tells a person's typed text from a program's output. It also shows whether a text ends as a question, in any
script.

Programs write English, and names. So a line of ASCII needs a grammar word, of English or of another language that is
mostly written without accents. A line with other letters needs none.

Nearly every record has the stop words, so they cost most and say least. They are the closed classes of English, listed
class by class: articles, pronouns, question words, auxiliaries and their contractions, prepositions, conjunctions, and
the adverbs that only connect. Nouns, verbs and adjectives are left out, however common, since "use", "new" or "work"
may be the subject of a prompt.
"""

from __future__ import annotations

import re
import unicodedata

_ARTICLES = (
    "a an the this that these those such each every either neither some any no all both few many much most more "
    "other same own"
)
_PRONOUNS = (
    "i me my mine myself you your yours yourself he him his himself she her hers herself it its itself "
    "we us our ours ourselves they them their theirs themselves"
)
_QUESTIONS = "what which who whom whose when where why how whether"
_AUXILIARIES = (
    "am is are was were be been being have has had having do does did doing done "
    "can could may might must shall should will would ought cannot"
)
_CONTRACTIONS = (
    "i'm i've i'd i'll you're you've you'd you'll he's she's it's we're we've we'd we'll they're they've they'd "
    "they'll that's there's here's what's who's where's when's why's how's let's isn't aren't wasn't weren't hasn't "
    "haven't hadn't doesn't don't didn't can't couldn't mustn't shouldn't won't wouldn't"
)
_PREPOSITIONS = (
    "of at by for with about against between into through during above below to from in on onto upon within without"
)
_CONJUNCTIONS = "and but or nor if because as until while than then so though although"
_ADVERBS = "again once here there now just only very too also not please"

_CLASSES = (_ARTICLES, _PRONOUNS, _QUESTIONS, _AUXILIARIES, _CONTRACTIONS, _PREPOSITIONS, _CONJUNCTIONS, _ADVERBS)
STOP_WORDS = frozenset(" ".join(_CLASSES).split())


def is_stop_word(word: str) -> bool:
    """Whether ``word`` is a stop word, in any case and with any apostrophe."""
    return word.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'") in STOP_WORDS


_MARKS = ("?", "\uff1f", "\u061f", "\u037e", "\u2047", "\u2048", "\u2049", "\u203d")
"""Question marks: Latin, full-width, Arabic, Greek, and doubled ones."""

_BEHIND = " \t!.)]\"'*_\uff01\u3002\u300d\u00bb\u201d"
"""Signs that may follow the mark: closing quotation marks and parentheses, emphasis."""


def asks(text: str) -> bool:
    """Whether ``text`` ends with a question mark."""
    return text.rstrip().rstrip(_BEHIND).endswith(_MARKS)


_LEAST_WORDS = 3
_LEAST_LETTERS = 0.75
"""The least share of letters and blanks in a line of prose."""

_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]")
"""Thai, Lao, Khmer, kana, Han and Hangul. Hangul words are few and long."""

_LEAST_WRITTEN = 5
"""The fewest characters of such scripts in a line of prose. Fewer make a label."""

_GERMAN = (
    "aber auch auf aus bei beim das dem den der des doch ein eine einen einer es haben hat ich ihr im ist kann nach "
    "nicht noch oder sich sie sind und von vom warum wenn werden wie wieso wir wird wo zu zum zur"
)
_FRENCH = (
    "au aux avec ce cette comment dans des du elle est et faut il ils je la le les leur mais ne nous par pas pour "
    "pourquoi quand que quel quelle qui sont sur un une vous"
)
_IBERIAN = (
    "como cuando de del desde dos el ella eso essa esta este las los muy na nas nos para pero por porque quando "
    "quem se su um uma"
)
"""Grammar words of Spanish and Portuguese."""

_ITALIAN = "anche che chi come con dal dalla della delle di dove gli il nel nella non perche piu questa questo sono sul"
_OTHERS = (
    "het een niet waarom wat hoe met voor naar bij dat deze jest nie czy dlaczego jak sie przy bir neden nasil icin "
    "att det detta ett hur inte och som hvorfor ikke og jeg miksi"
)
"""Grammar words of Dutch, Polish, Turkish and the Nordic languages."""

OTHER_GRAMMAR = frozenset(word for words in (_GERMAN, _FRENCH, _IBERIAN, _ITALIAN, _OTHERS) for word in words.split())
"""Words that carry grammar, except those that are also names in code, such as ``com`` and ``on``."""


def reads_as_prose(line: str) -> bool:
    """Whether ``line`` is made of words, some of which carry grammar. A very short line must be a question."""
    words = line.split(maxsplit=400)
    is_foreign = not line.isascii() and len(_WITHOUT_SPACES.findall(line[:1_000])) >= _LEAST_WRITTEN
    if len(words) < _LEAST_WORDS and not is_foreign:
        return asks(line)
    plain = sum(character.isalpha() or character == " " or _is_mark(character) for character in line)
    if plain < _LEAST_LETTERS * len(line):
        return False
    return is_foreign or any(_carries_grammar(word.strip(".,;:!?()").lower()) for word in words)


def _is_mark(character: str) -> bool:
    """Whether ``character`` is a mark of the letter before it."""
    return character > "\u02ff" and unicodedata.category(character) in {"Mn", "Mc"}


def _carries_grammar(word: str) -> bool:
    return word in OTHER_GRAMMAR or is_stop_word(word) or any(c > "\u00bf" and c.isalpha() for c in word)
