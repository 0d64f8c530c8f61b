"""Whether a sentence of a prompt is a rule, a choice, or neither.

A linear classifier decides. Words, pairs of words, the ends of a sentence and the signs in it have weights, whose sum
is the logarithm of the odds. ``benchmarks/sentence_weights.py`` fits them, and says how well they do.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import pairwise

import attrs

from kiro_learn.retrieval.kept_texts import kept

MOST_KEPT = 1_024
"""How many sentences have their odds kept in memory: several readers ask for those of one prompt."""

RULE_AT, CHOICE_AT = 0.5, -0.2
"""The least log-odds of a rule and of a choice. A wrong rule stands in every brief, so rules need more."""

SIGN_VALUE = 0.3
"""The value of a sign, next to words whose squares sum to 1."""

_TOKEN = re.compile(r"[^\W\d_]{1,40}(?:'[a-z]{1,4})?|\d+|[.,:;!?]")
_NO_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MOST_TOKENS, _LENGTH_STEP, _LONGEST = 40, 4, 6


@attrs.frozen
class Odds:
    """The logarithms of the odds that a sentence is a rule, and that it is a choice."""

    rule: float
    choice: float

    @property
    def is_rule(self) -> bool:
        """Whether the sentence lays down how things are done from now on."""
        return self.rule >= RULE_AT and self.rule >= self.choice

    @property
    def is_choice(self) -> bool:
        """Whether the sentence chooses, rejects or replaces something for the project."""
        return self.choice >= CHOICE_AT and not self.is_rule


@kept(MOST_KEPT)
def odds_of(sentence: str) -> Odds:
    """The odds of ``sentence``, which must be its author's own and no question."""
    weights = _weights()
    found = words_of(sentence)
    words = [word for word in found if word in weights]
    share = 1 / math.sqrt(len(found)) if found else 0.0
    valued = [*((word, share) for word in words), *((f"sign {name}", SIGN_VALUE) for name in signs_of(sentence))]
    rule, choice = weights[BIAS]
    for name, value in valued:
        of_rule, of_choice = weights.get(name, (0.0, 0.0))
        rule += value * of_rule
        choice += value * of_choice
    return Odds(rule, choice)


BIAS = "(bias)"
"""The name of the weight that every sentence has."""


@cache
def _weights() -> Mapping[str, tuple[float, float]]:
    text = files(__package__).joinpath("sentence_weights.json").read_text("utf-8")
    return {name: (rule, choice) for name, (rule, choice) in json.loads(text).items()}


def words_of(sentence: str) -> frozenset[str]:
    """The weighted features from words: words, pairs, the first and last words, and the number of words."""
    tokens = list(_tokens(sentence))[:_MOST_TOKENS]
    pairs = {f"{one} {other}" for one, other in pairwise(tokens)}
    ends = {f"^ {' '.join(tokens[:count])}" for count in (1, 2, 3)} | {
        f"{' '.join(tokens[-count:])} $" for count in (1, 2)
    }
    return frozenset({*tokens, *pairs, *ends, f"length {min(_LONGEST, len(tokens) // _LENGTH_STEP)}"})


def _tokens(sentence: str) -> Iterator[str]:
    for token in _TOKEN.findall(sentence.replace("\u2019", "'").lower().rstrip(" .")):
        if token.isdigit():
            yield "#"
        elif _NO_SPACES.search(token):
            yield from token
        else:
            yield token


# Signs in a sentence: where and how long it holds, what it wants, or that it asks.
#
# Each sign is a pattern of many words that mean the same, in the known languages. Whether a sign speaks for a rule or
# for a choice is not written here: its weight is learned, like that of a word.

_PLACE = (
    "(?:app|branch|codebase|code base|code|company|game|library|module|monorepo|org|package|pipeline|project|repo"
    "|repository|service|site|team|workspace)s?"
)
_POLITE = r"^(?:(?:please|pls|and|but|also|so|ok|then|hey|no|bitte|por favor)[,.!]? ){0,3}"


_SIGN_FORMS = {
    # For a rule: its place and its duration.
    "place": (
        rf"\b(?:in|for|across|throughout|on|inside|within) (?:this|our|these|the (?:whole"
        rf"|entire)) (?:\w{{1,30}} )?{_PLACE}\b"
        r"|\b(?:in|for) here\b|\beverywhere\b|\bfor us\b|\bproject[- ]wide\b|\baround here\b"
        r"|\bin diesem (?:projekt|repo)|überall|bei uns|en este (?:proyecto|repo)|dans ce (?:projet|dépôt)|partout"
        r"|chez nous"
        r"|このプロジェクト|このリポジトリ"
    ),
    "here": r"\b(?:here|hier|aquí|ici)\b",
    "always": (
        r"\balways\b|\bat all times\b|\bwithout exception\b|\bby default\b|\bimmer\b|\bgrundsätzlich\b|\bsiempre\b"
        r"|\btoujours\b"
        r"|必ず|常に|いつも"
    ),
    "never": (
        r"\bnever\b(?! mind)|\bever\b|\bunder no circumstances\b|\bno ?body\b|\bno one\b|\bnie(?:mals)?\b"
        r"|\bnunca\b(?! (?:funciona|he|ha|me))|\bjamás\b|\bjamais\b|絶対"
    ),
    "order for good": (
        rf"{_POLITE}(?:(?:you|we|i want you to|everyone) (?:(?:should|must|will|do) )?)?(?:always|never|not ever"
        rf"|don'?t ever)"
        r" (?!mind|seen|been|got|had|again|fails?|works?|gets?|the|an?|my|this|that|it|know|understood?)[a-z]{2,20} \S"
        r"|[,;:] (?:so |and )?(?:always|never) (?!mind|had|been|a\b)[a-z]{2,20} \S"
    ),
    "shall for good": (
        r"\b(?:should|must|shall|may|do|want) (?:always|never|not ever)\b|\bnot be \w{2,20} ever\b|\b(?:never"
        r"|always) want\b"
    ),
    "shouted": r"(?-i:\b(?:NEVER|ALWAYS)\b)",
    "only": r"\b(?:only|exclusively|nur|ausschließlich|sólo|solo|solamente|seulement|uniquement)\b|のみ|だけ",
    # For its subject: all things of a kind, or none of them.
    "every": (
        r"\b(?:every|each|all|any|alle[nr]?|jede[rsnm]?|tod[oa]s?|cada|tout(?:e|es)?|tous|chaque)\b|すべて|全て|全部"
    ),
    "no": (
        r"\b(?:nothing|none|no)\b(?! (?:idea|problem|worries|thanks|need|longer|way|matter|rush))"
        r"|\b(?:keine?[nmrs]?|nichts|ninguna?|nada|aucune?|rien)\b"
    ),
    "kind": (
        r"^(?:the )?[a-z][\w./-]{0,40}s (?:\w{1,30} ){0,3}(?:are|go|get|come|stay|live|need|belong|start|end|use"
        r"|carry|have)\b"
        r"|^[\w ./-]{3,40} (?:goes?|lives?|belongs?|stays?|comes?) (?:in|from|to|next|under|through|via|with|out)\b"
    ),
    "made so": (
        r"\b(?:is|are) (?:\w{2,20}ed|kept|written|stored|named|run|built|done|put|sent|set|made|cut|shown|taken"
        r"|drawn)\b"
        r"|\bwird\b|\bwerden\b|\bse (?:usa|hace|escribe|guarda)n?\b"
    ),
    "style": (
        r"\b(?:upper|lower|snake|kebab|camel|pascal)[- _]?case\b|\b(?:tabs|spaces|indent\w{0,10}|spelling"
        r"|semicolons?|naming)\b"
        r"|\b(?:commit messages|docstrings|english|englisch|inglés|anglais)\b|英語|日本語"
    ),
    # For its demand.
    "forbidden": (
        r"\b(?:forbidden|prohibited|banned|off[- ]limits|mandatory|required|non[- ]negotiable|no[- ]go|taboo|tabu"
        r"|verboten"
        r"|pflicht|prohibido|obligatorio|interdit|obligatoire|tabou)\b|\b(?:is|are) out\b|禁止"
        r"|\b(?:not|isn'?t|aren'?t) (?:allowed|permitted|ok|okay|optional|acceptable|negotiable)\b"
    ),
    "must": (
        r"\b(?:must|should|ought to|ha(?:s|ve) to|needs? to|shall|may only|may not|mustn'?t|shouldn'?t|cannot|can'?t)\b"
        r"|\b(?:muss|müssen|soll(?:en)?|darf|dürfen|debe[ns]?|hay que|tiene[ns]? que|doi(?:t|vent)|il faut)\b|べき"
        r"|なければならない|こと[。.]?$"
    ),
    "do not": (
        rf"{_POLITE}(?:do not|don'?t|never|stop|avoid|no(?= [a-z])|nie|keine?"
        r"|nunca(?! (?:funciona|he|ha|me))|no (?=[a-z]{2,20}s\b))\b"
        r"|^ne\b[^.]{1,60}\b(?:jamais|pas)\b|ないで(?:ください)?"
    ),
    "do": (
        rf"{_POLITE}(?:always )?(?:use|prefer|keep|put|write|name|ask|follow|stick|log|store|treat|respect"
        r"|format|document|validate|wrap|pin|prefix|tag|sign|squash|target|leave|speak|reply|default|hands off"
        r"|benutz\w{0,4}"
        r"|verwend\w{0,4}|nutz\w{0,4}|schreib\w{0,4}|usa|utiliza\w{0,4}|escrib\w{0,4}|utilise[rz]?|écri\w{0,4}"
        r"|met[sz]?)\b"
        r"|してください|してね"
    ),
    "one, not another": (
        r",? (?:and )?not (?:with |in |to |on |the |a )?[\w.`/-]{1,40}[.!]?(?:$|,)|\b(?:instead of|rather than)\b"
        r"|\bover \w{1,30}$"
        r"|, never\b|, (?:no|nicht) \w{1,30}|\bnicht\b[^.]{1,60}\bsondern\b|\b(?:statt|anstatt)\b|\ben (?:vez"
        r"|lugar) de\b"
        r"|\bau lieu d|\bnot\b[^.]{3,40}\bbut\b|\b\w{1,30}s? not \w{1,30}s?\b|\bno \w{1,30}[.!]?$|ではなく|代わりに"
    ),
    "we": (
        r"\b(?:we|our|wir|unser\w{0,3}|nosotros|nuestr\w{1,3}|nous|notre)\b"
        r"|\bon (?:utilise|fait|met|ne)\b|うち|我々|私たち"
    ),
    "wish": (
        r"\bi (?:\w{1,12} )?(?:prefer|want|like|expect|hate|don'?t (?:like|want)|dislike|would like|insist"
        r"|need)\b(?! to (?:do|see|add|make|brainstorm|discuss|know|start))"
        r"|\bit would be good if\b|\bplease respect\b|\b(?:prefiero|quiero)\b|\bje (?:préfère|veux|ne veux)\b"
        r"|\bich (?:will|möchte|bevorzuge|hasse)\b|\bbitte\b"
    ),
    "taste": (r"\bi (?:\w{1,12} )?(?:prefer|hate|insist)\b|\bprefiero\b|\bje préfère\b|\bich (?:hasse|bevorzuge)\b"),
    "standing": (
        r"\bkeep (?:(?:it|that|this|them) )?(?:that way|like that|up|so|to)\b|\bstick (?:to|with)\b"
        r"|\bremember\b(?! to)|\breminder\b"
        r"|\bthat'?s (?:how|the convention|our|why we)\b|\bhow we do\b|\bwhen in doubt\b|\bone thing\b"
        r"|\bas a (?:rule|matter of)\b|\bprinciple\b|\bfor the record\b|\bfyi\b|\bwhenever\b|\b(?:every|each) time\b"
        r"|\bden(?:k|kt) dran\b|\bmerk dir\b|\bjedes mal\b|\brecuerda\b|\bcada vez\b|\bchaque fois\b|覚えて"
    ),
    "occasion": (
        r"\b(?:before|after|when|whenever|while|on) (?:(?:you|we|i|each|every|any|the) )?(?:commit|push|merg"
        r"|deploy|releas|ship"
        r"|chang|edit|touch|add|creat|writ|open|run|rebas|delet|refactor|upgrad|install|clos|publish|review|telling"
        r"|saying)\w{0,6}\b|\bfor (?:every|each|all)\b|\bvor (?:jedem|dem)\b|\bbevor\b|\bantes de\b|\bpara todo\b"
        r"|\bavant (?:de|chaque)\b|前に|際は"
    ),
    "leave": (
        r"\b(?:ask|tell|ping|consult|check with|show) (?:me|us|[A-Z]\w{1,30})\b|\b(?:my|an?) (?:ok|okay|approval"
        r"|permission|go-?ahead)\b"
        r"|\bwithout (?:asking|my|telling|an? (?:ok|review|approval|test|ticket))\b|\b(?:permiso|permission"
        r"|erlaubnis)\b"
        r"|\b(?:ohne|sin|sans)\b|許可|確認して"
    ),
    # Against: questions, orders for the moment, words of others.
    "question": (
        r"\?\s*$|^(?:why|what|when|where|who|how|which|is|are|does|did|do you|can|could|would|will|has|have"
        r"|(?:should|shall|must|may) (?:we|i|it|they|this|that|the|there|our))\b|\uff1f"
        r"|ですか|ますか"
    ),
    "points": (
        rf"\b(?:it|this|that|these|those|them)\b(?! (?:{_PLACE}|way|how))"
        r"|\bdas\b(?! projekt)|\b(?:esto|eso|ça)\b|これ|それ"
    ),
    "moment": (
        r"\b(?:now|yet|today|tonight|for now|until|till|later|tomorrow|right now|currently|at the moment"
        r"|for the moment|temporarily"
        r"|lunch|meanwhile|again|still|already|first|real quick|quick(?:ly)?|just this|monday|friday)\b(?<!from now)"
        r"|\bthis (?:time|morning|afternoon|week|once|one|run|pr|branch|file|session|ticket|sprint)\b"
        r"|\b(?:heute|jetzt|gerade|erstmal|hoy|ahora(?! en)|mañana|aujourd|maintenant|demain)\b"
        r"|今日|今回|今は|とりあえず"
    ),
    "quoted": r"[\"“”„«»「」『』]|(?<!\w)'[^']{6,80}'(?!\w)|`[^` ]{1,40} [^`]{1,80}`|:\s*$",
    "text": (
        r"\b(?:translate|summari[sz]e|explain|draft|rephrase|paraphrase|proofread|e-?mail|tweet|readme|blog|slogan"
        r"|poem|lyrics|haiku"
        r"|test that|unit test|tooltip|banner|label|copy|toast|error message|license|quote|saying|song|meme"
        r"|übersetz\w{0,3}|traduce"
        r"|tradui\w{0,4}|résume|resum\w{0,4})\b|\blint(?:er)? (?:rule|message)|訳して|要約|説明して"
    ),
    "report": (
        r"\b(?:fail(?:s|ed|ing)?|errors?|exceptions?|crash(?:e[sd]|ing)?|broken|undefined|missing|misleading|blank"
        r"|getting|problem"
        r"|violations?|warnings?|couldn'?t|could not|there(?:'?s| (?:is|are))|was|were|got|had|went|said|told|saw"
        r"|tried)\b"
        r"|\battached\b|^here (?:is|are)\b|\bis (?:set|configured|available)\b|\bnot (?:found|defined|showing"
        r"|working|recogni[sz]ed|set|centered|there)\b|\b(?:is|are) (?:set|failing|run|created)\b"
    ),
    "code": r"\w\(\)|::|https?://|\.\w{1,5}:\d|\b[A-Z][a-z]{1,20}Error\b",
    "plan": (
        r"\b(?:before we|let me know|feel free|the (?:plan|roadmap|todo|story|step|phase)|one thing i"
        r"|i was thinking|i had an? idea"
        r"|next|move on|clarifying|make sure (?:that )?you(?:'re| have)|in mind)\b"
    ),
    "please you": r"\b(?:can|could|would|will) (?:you|u)\b|\blet'?s\b|\bi'?ll\b|\bi(?:'?m| am)\b",
    "unsure": (
        r"\b(?:maybe|perhaps|probably|might|guess|wonder|suppose|i think|seems?|looks like|wish|hope|imagine"
        r"|what if|lol|haha|ugh"
        r"|vielleicht|quizás|peut-être)\b|\bwould be (?:nice|cool|funny)\b|かも"
    ),
    "this one": (
        r"\bthe (?:second|first|last|next|old|new|red|blue|left|right|other|build|script|test|button|page|bug"
        r"|error|function|file|line"
        r"|server|container|process|job|migration|endpoint)\b"
    ),
    "task": (
        r"^(?:(?:please|pls|now|then|also|ok|and),? ){0,3}(?:add|fix|create|make(?! sure)|change(?! of)|rename|remove"
        r"|delete|move|refactor|implement"
        r"|build|generate|convert|update|bump|re-?run|show|find|look|open|start|restart|deploy|revert|undo|try"
        r"|test|check|give|tell"
        r"|help|profile|sort|rewrite|port|merge|rebase|apply|finish|continue|go|do|commit|push)\b"
    ),
    "i": r"\bi\b",
    "number": r"\d",
}
"""The pattern of each sign by its name, in the known languages."""

_SIGNS = {name: re.compile(form, re.IGNORECASE) for name, form in _SIGN_FORMS.items()}

_FREE = frozenset({"points", "moment"})
_TOGETHER: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "do not, free": (frozenset({"do not"}), _FREE),
    "contrast, free": (frozenset({"one, not another"}), frozenset({"i", "question", "points"})),
    "we, free": (frozenset({"we"}), frozenset({"question"})),
    "do, not another": (frozenset({"do", "one, not another"}), frozenset()),
    "every must": (frozenset({"every", "must"}), frozenset()),
    "wish for all": (frozenset({"wish", "every"}), frozenset()),
}
"""Combined signs: some signs must be there, and others must be missing."""


def signs_of(sentence: str) -> frozenset[str]:
    """The names of all signs that ``sentence`` has."""
    found = {name for name, pattern in _SIGNS.items() if pattern.search(sentence)}
    together = {name for name, (there, missing) in _TOGETHER.items() if there <= found and found.isdisjoint(missing)}
    return frozenset(found | together)
