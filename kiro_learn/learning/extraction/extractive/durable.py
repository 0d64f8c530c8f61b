"""Finds sentences of a person that lay down rules, choose between ways to go on, or list what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.learning.extraction.extractive.own_text import (
    asks_by_form,
    is_small_talk,
    own_parts,
    own_sentences,
    tidy,
    unquoted,
)
from kiro_learn.learning.extraction.extractive.sentence_classes import odds_of
from kiro_learn.learning.extraction.extractive.vocabulary import on_one_line, sentences, words
from kiro_learn.model.wording import letters
from kiro_learn.retrieval.query.prose import asks


def any_of(*patterns: str) -> str:
    """A group that matches any of ``patterns`` and captures nothing."""
    return f"(?:{'|'.join(patterns)})"


_CHOICE_LEAD = any_of(
    "yes", "yeah", "yep", "ok", "okay", "no", "hmm", "i think", "actually", "good", "great", "then", "and", "so"
)
_CHOICE = re.compile(
    rf"(?:(?:{_CHOICE_LEAD}|thinking again)[,:. ]+)*"
    + any_of(
        r"let(?:'s| us) (?:completely |just )?"
        r"(?:do|go|use|keep|make|not|drop|remove|replace|move to|switch|stick|implement|call|prefix|put|change|have"
        r"|leave)\b",
        r"(?:go|going) (?:with|for) (?!it\b)",
        r"(?:do |use |implement )?(?:option|approach|variant|choice|plan|number|solution) [#\w]{1,3}\b",
        r"(?:do |both |all )?\d(?:(?: ?[,+&]| and| or) \d)*"
        r"(?= *+(?:[,.!]? *+$|(?:(?<= )|, )(?:and|but|please|then|i)\b))",
        r"i (?:like (?!to\b)|prefer|would (?:prefer|rather|go|even)|choose)\b",
        r"i'd (?:rather|prefer|go)\b",
        r"we (?:removed|decided|chose|dropped|agreed|replaced|rejected|ruled out|settled on|switched to|went with"
        r"|should (?:not|only|keep|use|just))\b",
        r"we(?:'re| are)? (?:us(?:e|ing)|keep(?:ing)?|stay(?:ing)?|stick(?:ing)?) (?=[^?]{2,}\b(?:because|since)\b)",
        r"(?:do|please|just) (?:not(?! (?:run|write|do|start|implement)\b)|nothing|keep|use)\b",
        r"don't (?!(?:run|write|do|start|implement|forget|worry|you)\b)\w+",
        r"(?:keep|use) (?!(?:in mind|going|at it|on|it up)\b)\w+",
        r"(?:\w+ ){1,4}(?:is|are) too? much\b",
        r"we tried \S[^?]{0,80}?(?:[,;:]| but\b)",
        r"(?:it|this|that) should(?:n't| not| only| be)\b",
    ),
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"(?:(?:and|but|so|ok|hmm|yes|no),? )*"
    r"(?:why|what|when|where|who|which|how|is|are|was|were|does|did|do (?:we|you)|can|could|would|will|should|have"
    r"|has)\b",
    re.IGNORECASE,
)
_THIS_HOUR = re.compile(
    r"\b(?:yet|today|tomorrow|tonight|yesterday|later|(?:for|at) the moment|just once|currently|i'll"
    r"|i will|this time|this one|last (?:commit|time|change)|for the (?:rest of the|next) \w+"
    r"|(?:in|for|during) this (?:session|chat|conversation|run|pr|mr|branch|ticket|task|sprint|demo|meeting)"
    r"|this (?:morning|afternoon|evening|week|sprint)"
    r"|when (?:it|that|he|she|they|i)(?:'s| is|'re| are|'m| am)"
    r"|(?:when|once|until|if|after|before) (?:you|we) ?(?:are|'re) done"
    r"|(?:by|until|till) (?:\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|noon\b|eod\b|then\b|i\b|we\b)"
    r"|heute|morgen|gerade|erstmal|diese woche|bis (?:\w+tag|\d|morgen)|f\u00fcr (?:jetzt|heute)"
    r"|hoy|ma\u00f1ana|hasta el"
    r"|aujourd'hui|demain|pour l'instant)\b|\u4eca\u65e5|\u4eca\u56de|\u3068\u308a\u3042\u3048\u305a|\u4eca\u5929",
    re.IGNORECASE,
)
"""Words that limit a sentence to the present time."""
_NOW = re.compile(r"(?<!from )\bnow\b", re.IGNORECASE)
"""In a rule, this word means "for now". In a choice it means "from now on"."""
_REPROACH = re.compile(
    r"\b(?:should|could|would|must|need)(?:n'?t| not)?(?: \w+)? have (?!to\b|an?\b|the\b|at\b|no\b|\w+s\b)\w+"
    r"|\bh\u00e4tte(?:n|st|t)?\b|\bdeber\u00edas haber\b|\baurais d\u00fb\b",
    re.IGNORECASE,
)
"""Words about what should have been done. It is too late for a rule."""
_HEADING = re.compile(
    r"(?:please |here are |these are |remember |note |follow |some |a few |the |our |my |these )*"
    r"(?:(?:house|ground|coding|project|team|repo|general|basic|git|style) )?(?:rules|conventions|guidelines"
    r"|preferences)"
    r"(?: (?:for|in|of) (?:this|the|our|my) (?:repo|repository|project|codebase|team|code))?(?: here)?(?: to"
    r" follow)?:",
    re.IGNORECASE,
)
"""The heading of a list of rules."""

_SHORTEST, _LONGEST = 10, 240
"""The characters of a sentence that may lay something down: at least, at most."""

_FEWEST_WORDS = 3
_CHOICE_SENTENCES = 2
"""How many first sentences may make a choice. The sentences after them say how to go about it."""


def laid_down_in(prompt: str) -> list[str]:
    """The sentences of ``prompt`` that lay down how things are done from now on, each once, in order."""
    return list(dict.fromkeys(sentence for sentence, is_rule in _judged(own_sentences(prompt)) if is_rule))


def only_lays_down(prompt: str) -> bool:
    """Whether ``prompt`` states rules and nothing else. Mostly its first sentence shows that it does not."""
    said = own_sentences(prompt) if own_parts(prompt) == [prompt] else []
    return bool(said) and all(is_rule for _, is_rule in _judged(said))


def _judged(said: list[str]) -> Iterator[tuple[str, bool]]:
    """Each of ``said``, and whether it is a rule. All sentences after the heading of a list of rules may be rules."""
    is_listed = False
    for sentence in said:
        is_heading = _HEADING.fullmatch(sentence) is not None
        is_listed = is_listed or is_heading
        yield sentence, not is_heading and _is_rule(sentence, is_listed=is_listed)


def _is_rule(sentence: str, *, is_listed: bool) -> bool:
    bare = unquoted(sentence)
    if not may_last(sentence) or _NOW.search(sentence) or _POINTS_BACK.fullmatch(sentence):
        return False
    return is_listed or odds_of(bare).is_rule or _is_foreign_rule(bare)


def may_last(sentence: str) -> bool:
    """Whether ``sentence`` may be a rule or a choice by its length, asks nothing, and is not only about this hour."""
    if not max(len(sentence), letters(sentence)) >= _SHORTEST or len(sentence) > _LONGEST:
        return False
    is_short = sentence.isascii() and len(words(sentence)) < _FEWEST_WORDS  # other scripts may have no blanks
    if is_short or asks(sentence) or asks_by_form(sentence) or is_small_talk(sentence) or _lists_figures(sentence):
        return False
    return not (_THIS_HOUR.search(sentence) or _REPROACH.search(sentence))


def _lists_figures(sentence: str) -> bool:
    """Whether ``sentence`` is a row of a table: "Unit tests 69 16 85 81%"."""
    said = sentence.split()
    return sum(word[0].isdigit() for word in said) >= max(_FEWEST_WORDS, len(said) / 3)


def choice_in(prompt: str) -> str:
    """The sentence of ``prompt`` that decides between ways to go on, or the empty text."""
    if own_parts(prompt) != [prompt]:
        return ""
    first = (sentence for sentence in map(tidy, sentences(prompt)[:_CHOICE_SENTENCES]) if len(sentence) <= _LONGEST)
    return next((sentence for sentence in first if _is_choice(sentence)), "")


def _is_choice(sentence: str) -> bool:
    return (_CHOICE.match(sentence) is not None and not _QUESTION.match(sentence)) or _is_foreign_choice(sentence)


# Sentences in which a person chooses something for the project, rejects it, or says what is used instead.

_LONGEST_CHOICE = 600
"""The most characters of a prompt that chooses. A longer prompt says what to do."""
_SENTENCES_OF_A_CHOICE = 3


_POINTS_BACK = re.compile(
    r"(?:.{0,30}\b)?(?:keep|bear|have) (?:this|that|it|these|those) (?:all )?in mind[\s.!]*"
    r"|(?:.{0,80}\b)?(?:keep|take|use|choose|like|prefer|do|stay with|go with|stick with|going with|went with)"
    r" (?:this|that|it|these|those|them)(?: one| way)?(?: (?:please|then|for now))?[\s.!]*",
    re.IGNORECASE | re.DOTALL,
)
"""A sentence that names nothing: "ahh very good, so we keep this", "keep that in mind"."""
_TOO = re.compile(r"\b(?:too|not \w+ enough)\b.{0,80}?\b(?:can|could) (?:we|you)\b", re.IGNORECASE | re.DOTALL)
"""A complaint with a request: "the batch is too big, can we make it smaller"."""


def chosen_in(prompt: str) -> str:
    """The first sentence of ``prompt`` that chooses something by name for the project, or the empty text."""
    if len(prompt) > _LONGEST_CHOICE or own_parts(prompt) != [prompt]:
        return ""
    first = own_sentences(prompt)[:_SENTENCES_OF_A_CHOICE]
    return next((each for each in first if may_last(each) and _names_choice(each)), "")


def _names_choice(sentence: str) -> bool:
    is_empty = _POINTS_BACK.fullmatch(sentence) is not None or _TOO.search(sentence) is not None
    return not is_empty and odds_of(unquoted(sentence)).is_choice


# Rules and choices in languages other than English.
#
# A rule gives an order. It begins with "always" or "never", with an imperative followed by one of them, or with the
# person or the team as its subject. So a mere report ("es geht nie") is no rule. A rule that is missed here is still a
# fact of its turn.

_IMPERATIVES = {
    "de": (
        "(?:bitte,? )?(?:benutz|verwend|nutz|nimm|nehm|schreib|mach|commit|push|lass|führ|leg|änder|lösch|test|merg"
        "|deploy|setz|halt|ruf|bau|prüf|start|speicher|rechne|logg?)\\w{0,5}"
    ),
    "fr": "(?:s'il te plaît,? )?(?:utilis|emploi|écri|lanc|fai|met|commit|pouss|exécut|prend|appel|n')\\w*",
    "es": "(?:por favor,? )?(?:us|utili[zc]|ejecut|escrib|ha[zg]|pon|llam)\\w{0,6}",
    "pt": "(?:por favor,? )?(?:us|utiliz|execut|escrev|faç|coloqu)\\w{0,6}",
    "it": "(?:per favore,? )?(?:usa|utilizz|esegu|scriv|fa|mett|non)\\w{0,6}",
    "nl": "(?:gebruik|schrijf|draai|commit|push|zet|maak)",
    "ru": "(?:пожалуйста,? )?(?:использу|пиш|запуска|дела|ставь|не )\\w*",
}
_EVER = {
    "de": (
        "(?:immer(?! noch| wieder| mehr| öfter| d(?:er|ie|as|ies\\w*)\\b)|niemals|nie(?! gesehen| gehört)|stets"
        "|grundsätzlich|auf keinen fall)"
    ),
    "fr": "(?:toujours(?! pas| en | l[ea] même| cette?)|jamais(?! vu))",
    "es": "(?:siempre|nunca|jamás)(?! (?:falla|funciona|ha|he|me|el mismo)\\b)",
    "pt": "(?:sempre|nunca|jamais)(?! (?:falha|falla|funciona|ha|he|me|o mesmo)\\b)",
    "it": "(?:sempre|mai)(?! (?:visto|lo stesso)\\b)",
    "nl": "(?:altijd|nooit)",
    "ru": "(?:всегда|никогда)",
}
_SUBJECTS = {
    "de": "(?:wir|du|ihr)",
    "fr": "(?:on|nous|tu|vous)",
    "es": "(?:nosotros|tú)",
    "pt": "(?:nós|a gente|você)",
    "it": "(?:noi|tu)",
    "nl": "(?:we|wij|je)",
    "ru": "(?:мы|ты|вы)",
}
_FROM_NOW_ON = (
    "ab (?:jetzt|sofort)|künftig|in zukunft|désormais|à partir de maintenant|a partir de ahora|de ahora en adelante"
    "|a partir de agora|de agora em diante|d'ora in poi|vanaf nu|voortaan|отныне|впредь"
)
_LATIN_RULE = re.compile(
    "|".join(
        rf"{_EVER[each]} (?!mehr|plus|más|mais|più|meer)|{_IMPERATIVES[each]}\b[^,;:]{{0,80}}?\b{_EVER[each]}\b"
        rf"|{_SUBJECTS[each]} [^,;:]{{0,40}}?\b{_EVER[each]}\b"
        for each in _EVER
    )
    + rf"|(?:{_FROM_NOW_ON})\b",
    re.IGNORECASE,
)
_SIGNED_RULE = re.compile(
    "(?:必ず|常に|絶対に?|今後は|これからは).{0,80}(?:ください|下さい|こと|使う|使います|しましょう)"
    "|禁止(?:です|とします|とする|する|。|$)|[わかさたなまらがばし]ないでください"
    "|^(?:请|我们|以后|今后|所有.{0,8}?都?)?(?:必须|务必|一律|始终|永远|绝对不要|千万不要|不要再|禁止|不准)"
    "|(?:항상|반드시|절대로?|앞으로는?).{0,60}(?:세요|하라|해라|것|니다)|금지(?:입니다|한다|$)"
)
_SIGNED_QUESTION = re.compile(r"(?:か|吗|呢|까요?|나요)[。.\s]*$")
_FOREIGN_CHOICE = re.compile(
    r"(?:wir|lass(?:t)? uns)\b[^?]{0,40}?\b(?:nehmen|nutzen|verwenden|benutzen|wechseln|bleiben|ersetzen|streichen"
    r"|haben uns)\b[^?]{2,120}\b(?:statt|anstatt|weil|da|entschieden)\b"
    r"|(?:on|nous)\b[^?]{0,20}?\b(?:prend|utilis|gard|remplac|pass|choisi)\w*[^?]{2,120}"
    r"\b(?:au lieu d|plutôt que|parce que|car\b)"
    r"|(?:usamos|usaremos|vamos a usar|elegimos|cambiamos|vamos usar|escolhemos)[^?]{2,120}"
    r"\b(?:en vez de|en lugar de|em vez de|porque)\b"
    r"|[^?]{2,60}(?:ではなく|じゃなくて|の代わりに|をやめて)[^?]{1,60}(?:にします|にする|にしましょう|に決め|を使|を採用)"
    r"|(?:我们)?[^?]{0,30}(?:改用|决定用|选择了?)[^?]{1,60}",
    re.IGNORECASE,
)


def _is_foreign_rule(sentence: str) -> bool:
    """Whether ``sentence``, which asks nothing, lays down a rule in another language."""
    if _SIGNED_QUESTION.search(sentence):
        return False
    return _LATIN_RULE.match(sentence) is not None or _SIGNED_RULE.search(sentence) is not None


def _is_foreign_choice(sentence: str) -> bool:
    """Whether ``sentence`` chooses one thing over another, or gives a reason for a choice, in another language."""
    return _FOREIGN_CHOICE.match(sentence) is not None and _SIGNED_QUESTION.search(sentence) is None


# Plans that a person lays out without a rule or a reason: the steps of a task, and what something becomes.
#
# They hold whatever the answer says, even if the answer did not help.

_LONGEST_LAID_OUT = 600
"""The most characters of such a prompt. A longer prompt is a plan or a paste."""

_MOST_SHOWN = 300
_DOING = (
    r"(?:back ?up|build|bump|cut|deploy|generate|install|migrate|onboard|promote|provision|publish|release|restore"
    r"|roll ?back|roll ?out"
    r"|rotate|run|seed|set up|ship|sign|sync|tag|test|update|upgrade)"
)
_STEPS = re.compile(
    r"(?:\b(?:(?!(?:the|these|down|following)\b)[\w-]{1,30} )?(?:steps|procedure|checklist|runbook|order)\b"
    r"[^.:\n]{0,60}"
    rf"|\b(?:to|when (?:we|you)|how (?:we|to)) {_DOING}\b[^.:\n]{{0,60}}"
    rf"|\b(?:a|the|every|each|our) (?:\w{{1,30}} )?{_DOING}\b[^.:\n]{{0,30}}):\s{{1,3}}"
    r"(\S[^\n]{0,300}(?:\n[ \t]{0,8}(?:[-*]|\d{1,2}[.)])[^\n]{1,200}){0,12})",
    re.IGNORECASE,
)
"""A task, a colon, and the steps of the task."""

_HOW = re.compile(
    r"\W*+(?:(?:and|so|btw|fyi|note|ok|yes)\b[\s,:]*+)*+"
    rf"(?:(?:we|our team|the team) (?:always |usually |only )?{_DOING}\b[^?]{{0,80}}?"
    r"\b(?:by|from|through|using|via|with|every|twice|after)\b"
    r"|(?:the|our|a|an|each|every) \S{1,40}(?: \S{1,40}){0,3}? (?:triggers|deploys|publishes|releases|kicks off|starts"
    r"|creates|builds|uploads|(?:is|are) (?:built|created|deployed|done|generated|published|released|tagged|uploaded)"
    r" (?:by|from|in|on|with))\b)",
    re.IGNORECASE,
)
"""The beginning of a sentence that says how something is done."""

_ITEM = re.compile(r"[,;\n]|\bthen\b|->|\u2192")
_FEWEST_CUTS = 2
"""The fewest separators between steps: fewer than three steps are no list."""

_BECOMES = re.compile(
    r"\bfrom [^\s,]{1,40}[^?]{0,60}? to [^\s,]|\b(?:change|rename|move|switch|replace|migrate|set|bump|raise"
    r"|lower)\b[^?]{1,80}? (?:by|to|with) \S"
    r"|\b(?:instead of|rather than|not anymore|no longer)\b|\b(?:should|must|has to|have to) (?:be|become|have|use)\b"
    r"|\b(?:use|keep) [^\s,]",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\d|`|\w[._/\\@#-]\w|[a-z][A-Z]|[A-Z]{2}|(?<=[a-z,;] )[A-Z][a-z]")


def steps_in(prompt: str) -> str:
    """The steps that ``prompt`` lists for a task, or its sentence about how the task is done; or the empty text."""
    if len(prompt) > _LONGEST_LAID_OUT or asks(prompt):
        return ""
    listed = _STEPS.search(prompt)
    if listed and "?" not in listed.group() and len(_ITEM.findall(listed.group(1))) >= _FEWEST_CUTS:
        return on_one_line(listed.group())[:_MOST_SHOWN]
    told = (sentence for sentence in sentences(prompt) if not asks(sentence))
    return next((sentence for sentence in told if _HOW.match(sentence)), "")


def order_in(prompt: str) -> str:
    """The sentence of ``prompt`` that says what a named thing becomes; or the empty text."""
    if len(prompt) > _LONGEST_LAID_OUT:
        return ""
    told = (sentence for sentence in sentences(prompt) if not asks(sentence) and len(sentence) <= _MOST_SHOWN)
    return next((sentence for sentence in told if _BECOMES.search(sentence) and _NAMED.search(sentence)), "")
