"""English words that carry grammar, not meaning: nearly every record holds them, so they cost most and say least.

The closed classes of English, written down class by class: articles, pronouns, question words, auxiliaries and their
contractions, prepositions, conjunctions, and the adverbs that only connect. Nouns, verbs and adjectives stay out,
however common, since "use", "new" or "work" may be what a prompt is about.
"""

from __future__ import annotations

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

STOP_WORDS = frozenset(
    word
    for group in (
        _ARTICLES,
        _PRONOUNS,
        _QUESTIONS,
        _AUXILIARIES,
        _CONTRACTIONS,
        _PREPOSITIONS,
        _CONJUNCTIONS,
        _ADVERBS,
    )
    for word in group.split()
)


def is_stop_word(word: str) -> bool:
    """Whatever its case, and whichever apostrophe it is typed with."""
    return word.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'") in STOP_WORDS
