"""Whether a sentence says that something is so. It may also ask, suppose or deny it, or say that it ended.

Only a few words are read, in the languages that projects are talked about in most. A sentence is read in clauses: one
may deny a thing and the next may state another ("We use uv, not pip"). In doubt nothing is stated, and nothing ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator


def _any(table: str) -> str:
    """A pattern of the alternatives between the semicolons of ``table``."""
    return "|".join(each.strip() for each in table.split(";"))


def _words(table: str, *, signs: str = "") -> re.Pattern[str]:
    """A pattern of whole words, and of signs of scripts that put no spaces between words."""
    return re.compile(rf"\b(?:{_any(table)})(?!\w)" + (f"|{_any(signs)}" if signs else ""), re.IGNORECASE)


_QUOTED = re.compile(
    '"[^"\\s]+ [^"\\s]+ [^"\\n]*"|\u201c[^\u201c\u201d]*\u201d'
    "|\u00ab[^\u00ab\u00bb]*\u00bb|\u201e[^\u201c-\u201e]*[\u201c\u201d]"
)
_SENTENCE_END = re.compile("(?<=[.!?])\\s+|(?<=[\u3002\uff01\uff1f])|\\n+")

_LEADING = "(?:(?:so|and|ok|but|well|hey|und|also),? )*"
_VERB_FIRST = _any("""does; did; is; are; was; were; have; has; should; shall; may; might; can; could; would; benutzen
    ; nutzen; verwenden; haben; sind; ist; brauchen; sollen; soll; laufen; läuft; gibt""")
_PERSON = _any("""i; we; you; they; he; she; it; that; this; there; the; our; your; my; wir; ihr; sie; du; es; das; die
    ; der; unsere?""")
_ASKED_FOR = _any("what; which; why; how; who; where; when; whether")
_AUXILIARY = _any("is; are; was; do; does; did; can; should; would; shall")
_ASKS = re.compile(
    "[?\uff1f](?:\\W|$)|\u00bf|[\u304b\u5417\u5462][\u3002\\s]*$"
    rf"|^{_LEADING}(?:(?:{_VERB_FIRST}) (?:{_PERSON})\b|do (?:i|we|you|they)\b|est-ce qu"
    rf"|(?:{_ASKED_FOR})\b[^,]{{0,20}} (?:{_AUXILIARY})\b)",
    re.IGNORECASE,
)
_ASKS_POLITELY = _words("""(?:can|could|will|would) you; (?:kannst|könntest|würdest) du; pue?des; podrías; peux-tu
    ; pouvez-vous; pourrais-tu""")
_SUPPOSES = _words(
    """if; unless; in case; as soon as; once (?:the|we|they|it); provided that; when; until; assuming; assume; suppose
    ; ob; ojalá; supposing; imagine; imagining; pretend\\w*; whether; wenn; falls; sobald; sofern; angenommen; si
    ; cuando
    ; suponiendo; siempre que; quand; lorsque; dès que; supposons; quando; indien; zodra; если
    ; se (?:a gente|o|os|nós|il|gli|noi)""",
    signs="もし; たら; れば[^な]; 場合; 如果; 要是; 假如",
)

_NOT = _any("""no; not; never; none; neither; nor; nobody; nothing; nowhere; without; cannot; dont; doesnt; didnt; isnt
    ; arent; wont; cant; hardly; avoid\\w*; hat(?:e|es|ed); dislik\\w+; refus\\w+; instead of; rather than; away from
    ; (?:mov|switch|migrat|chang)\\w* from; get(?:ting)? rid of; ditch(?:ing)?
    ; stop \\w+ing; hör auf; deja de; arrête[zr]? de; out of the question
    ; (?:would|['\u2019]d) rather; nicht; nie; niemals; kein\\w*; ohne; statt
    ; anstatt; weder; vermeide\\w*; raus; nada de; nunca; jamás; sin; tampoco; ningún\\w*; evita\\w*; en vez de
    ; en lugar de; n['\u2019]\\w+; ne; pas; jamais; aucune?; sans; ni; évite\\w*; au lieu d\\w*; plus de; não; nem; sem
    ; non; senza; niente; invece di; geen; niet; nooit; zonder; не; нет; никогда; без""")
_DENIES = re.compile(rf"\b(?:{_NOT})(?!\w)|n['\u2019]t\b|ない|ません|禁止|[不没别勿]", re.IGNORECASE)
_NO_DENIAL = _words(
    "not only; no doubt; (?:no|nein|non|não)(?=,); why not; no problem; kein Problem; never ?mind; no longer than",
    signs="なければなりません; なければならない; 不错",
)
_PAST = _words(
    """used to; (?:we|they|it|i) used; (?:years?|ages|long) ago; in ages; back then; formerly; previously; tried; früher
    ; damals; (?:hatte|war)\\w*; antes; era; dejamos; autrefois; avant; était; in (?:19|20)\\d\\d
    ; (?:was|were) \\w+(?:ed|n)(?= (?:from|before|out)); almost \\w+ed""",
    signs="以前; 昔",
)
_OF_OTHERS = _words(
    """(?:old|other|another|previous|former|last|sister) (?:app|project|repo|service|system|team|company|job)
    ; (?:customer|client|competitor|friend|colleague|intern|vendor)s?['\u2019]s?; guild; squad; wanted(?=:)
    ; [a-z]+['\u2019]s (?:rule|habit|style|preference) is; (?:i|i['\u2019]ve|we) (?:read|heard); on m['\u2019]a dit
    ; j['\u2019]ai (?:lu|entendu); (?:gelesen|gehört)(?=,|,? dass); (?:he|hemos) (?:leído|oído)"""
)
"""Words about another project, or about what others say or do."""
_ONLY_LOOKED_AT = _words(
    """(?:it['\u2019]?s|is|more|looks?|sort of|just) like; (?:lass|lasst) uns; let['\u2019]?s; die finger; would
    ; (?:is|already) (?:taken|busy|in use); overkill; (?:tutorial|readme|article|blog|docs?|competitor)s?; failli; fini
    ; finger weg
    ; (?:compare|evaluate|estimate|check|explain|try|consider|look at|investigate|benchmark) .*"""
)
"""Words that name a thing only to compare or propose it, or to have somebody look at it."""
_ORDERS = re.compile(
    r"^\W*(?:(?:please|just|now|then|and|so) )*(?:add|ask|block|call|curl|delete|drop|fix|grep|kill|open|ping|read"
    r"|remove|rename|restart|revert|show|start|stop|uninstall|update|upgrade|write)\b",
    re.IGNORECASE,
)
"""An order for one time. It says nothing about what holds."""

_GOES_ON = _any("""because; since; weil; porque; parce que; but; sondern; sino; mais; mas; instead of; rather than
    ; statt; anstatt; au lieu d; en vez de; en lugar de; invece di""")
_AUXILIARIES = "do does did is are was were will would should must have has please"
_AFTER_AUXILIARY = "".join(rf"(?<!\b{each})" for each in _AUXILIARIES.split())
_CLAUSE = re.compile(
    "[,;:()\u2014\u2013\u3001\uff0c\uff1b]+\\s*|\\s-+\\s"
    rf"|\s(?={_GOES_ON})|\s(?:and|und|y|et|e|en)\s(?=(?:\w+ )?(?:{_NOT})\s|\w+n['\u2019]t\b)"
    rf"|(?<=\w){_AFTER_AUXILIARY}\s(?=not\s)",
    re.IGNORECASE,
)
_LIST_OF_DENIED = re.compile(r",(?= [\w.+#/-]+(?:,| (?:or|nor|oder|noch|ni|ou|o) ))", re.IGNORECASE)
_LEFT = re.compile(
    r"\b(?:mov|switch|migrat|chang|convert)\w* (?:away )?from (.{1,60}?) (?:over )?to\b"
    r"|\breplac\w+ (.{1,60}?) (?:with|by)\b|\breplac(?:ed|es|ing) (\S{1,60})"
    r"|\btook over from (\S{1,60})|\bstatt (\S{1,60}) (?:ist|nutzen|nehmen|haben)\b"
    r"|\bvon (.{1,60}?) (?:auf|zu|nach)\b(?=.{0,60}\b(?:wechs|gewechselt|umge|migriert))|\bersetz\w+ (\S{1,60}) durch\b"
    r"|\b(?:cambia|pasa|migra|muda)\w* (?:de|del|desde|do|da) (.{1,60}?) (?:a|para|al)\b"
    r"|\b(?:pass|migr|bascul)\w* d(?:e |')(.{1,60}?) (?:à|vers)\b",
    re.IGNORECASE,
)
"""Words that name a thing that is left for another. The rest of the clause names the other thing."""

_STATES = _any("""do; don['\u2019]?t; are; ['\u2019]re; use; run; have; have got; 've got; build
    ; deploy; ship; test; lint; format; write; install; serve; host; store; log; keep; manage; publish
    ; release; cache; monitor; track; document; send; put; go with; rely; depend; stick; stay; settled; chose
    ; picked; went with; switched; moved; migrated; replaced; converted; work; live; listen; pin; target
    ; support; call; sign; tag; squash; rebase; queue; render; style; bundle; compile; package; own; maintain
    ; default; standardi[sz]ed""")
"""Verbs after "we" in a sentence that says how things are."""
_PARTS = _any(r"""api; apis; app; apps; back ?end; front ?ends?; server; client; service; services; site; website; db
    ; database; databases; cache; queue; broker; worker; workers; pipeline; pipelines; ci; cd; build; builds
    ; deploys?; deployments?; deployt; production; prod; staging; infra; infrastructure; hosting; stack
    ; tests?; e2e; unit; units; errors?; logs?; logging; metrics; monitoring; tracing; alerts; styling
    ; styles; lint\w*; formatt\w*; packages?; deps; dependencies; code; codebase; repo; repository; project
    ; monorepo; port; licen[cs]e; version; branch; docs; search; storage; auth; login; mails?; payments?
    ; migrations; schema; images?; containers?; secrets; runtime; language; framework; library; cli; sdk
    ; mobile; releases?; datenbank; projekt; dienst; seite; anwendung; base; serveur; dépôt; projet
    ; proyecto; servicio; servidor; base de datos; banco; projeto; progetto; servizio""")
"""The parts of a project, in the words of its people."""
_OF_THE_PROJECT = re.compile(
    rf"\b(?:we|i|you all)(?: (?:all|now|just|still|already|always|only|currently|mostly|\w+ly)){{0,3}} ?(?:{_STATES})\b"
    rf"|\b(?:{_PARTS})\b"
    r"|\b(?:our|ours|us|here|everything (?:in|is|under|runs|lives|goes)|it['\u2019]?s|it (?:is|runs|uses|lives|sits"
    r"|needs|listens|deploys)|wir|bei uns|unser\w*|hier|alles|nous|notre|nos|ici|partout|nuestr\w+|aquí|noss[oa]"
    r"|nostr\w|onze|ons|my (?:name|editor|shell|machine|role|laptop|timezone|os))\b"
    r"|\b(?:us|utiliz|despleg|trabaj|prob|ten|t|corr|rod|guard|tir|hosped|hem|hac)[aei]mos\b|\bhemos\b"
    r"|\b(?:us|utilizz|abb|lavor)iamo\b|\bon (?:\w+ (?:avec|sur|sous|via)|utilise|a|garde)\b|\bwe gebruiken\b"
    r"|^\W*(?:(?:please|always|just|only|and|so|now) ){0,3}(?:use|stick (?:to|with)|nutze?|verwende|usa|utilise[zr]?)\b"
    r"|\bfrom now on\b|この|使って|うち|我们|本项目|\b\u043c\u044b\b|\b\u043d\u0430\u0448|\b\u043d\u0430\u0441\b",
    re.IGNORECASE,
)
"""Words that show that a sentence speaks of the project, of a part of it, or of those who work on it."""
_OF_THE_PERSON = _words(
    """i; me; my; mine; myself; ich; mir; mich; mein\\w*; je; j; moi; mon; ma; mes; yo; mi; mis; eu
    ; meu; minha; io; mio; mia; ik; mijn""",
    signs="私; 僕; 俺; 我; \u044f",
)
_BARE = re.compile(
    r"^\W*(?:(?:only|just|always|nur|immer|solo|no|and|yes) )?\S+(?: (?:only|here|please|btw|now|everywhere|it is|bitte"
    r"|immer|überall|siempre|always|too|again|though|\d\S*))?\W*$",
    re.IGNORECASE,
)
"""A name and hardly a word more."""

_USES = _words(
    """use; uses; used; using; runs?; running; deploy\\w*; support\\w*; depends?; (?:be)?nutz\\w+; verwend\\w+; setzen
    ; usa\\w*; uso; utiliz\\w+; utilis\\w+; usiamo; gebruik\\w+; использ\\w+""",
    signs="使; 用",
)
_IN_PART = re.compile(
    rf"\b(?:{_any('for; as; in; on; with; when; für; bei; im; para; en; pour; dans; per; voor')})\s+\S", re.IGNORECASE
)
_ENDS = re.compile(
    r"(?:\b|(?<=\w)(?=['n]))(?:"
    + _any("""no longer; any ?more; any longer; (?:stopped|quit) \\w+ing; dropping
    ; (?:dropped|removed|ditched|abandoned|retired)(?! (?:an?|some)\\b); (?:is|are|was|were|'s|'re) (?:gone|dead)
    ; got rid of; (?:is|was|were) (?:wrong|an? (?:error|mistake)); (?:not|n't|no) (?:have|need) to
    ; (?:just|finally|already) (?:deleted|dropped|removed); (?:was|were) (?:ripped|thrown|taken) out
    ; nicht mehr; kein\\w* .{0,30}mehr; abgeschafft; entfernt; abgelöst; raus(?:geworfen|geflogen)?; (?:war|ist) falsch
    ; ya no; dej(?:amos|é|ó) de; elimin(?:amos|é|ó); (?:ne|n['\u2019]).{1,30} plus; abandonné\\w*; arrêté\\w* d
    ; não .{1,30} mais; non .{1,30} più; geen .{1,30} meer; niet meer; больше не""")
    + r")(?!\w)|やめ|廃止|もう|不再",
    re.IGNORECASE,
)
_NOT_THIS = re.compile(
    r"^\W*(?:(?:and|und|y|et|e) )?(?:"
    + _any("""not; no; never; nicht; kein\\w*; statt; anstatt; instead of; rather than; en vez de; en lugar de
    ; au lieu d(?:e|['\u2019]); pas; plutôt que; non; invece di; não; niet; geen""")
    + r")\s+((?:(?:the|port|den|das|die|el|la|le|de|on|in|auf|mit)\s)*\S+(?:\s\S+)?)",
    re.IGNORECASE,
)
"""A clause that only names what is not so: "not npm"."""


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of ``text`` without quotations. A name in quotes stays."""
    return (each.strip() for each in _SENTENCE_END.split(_QUOTED.sub(" ", text)) if each.strip())


def asks(sentence: str, *, politely: bool = False) -> bool:
    """Whether ``sentence`` is a question. With ``politely``, a request in the form of a question is none."""
    return _ASKS.search(sentence) is not None and not (politely and _ASKS_POLITELY.search(sentence))


def supposes(sentence: str) -> bool:
    """Whether ``sentence`` names a condition."""
    return _SUPPOSES.search(sentence) is not None


def clauses_of(sentence: str) -> list[str]:
    """The clauses of ``sentence``. Each may state or deny something by itself."""
    text = _LIST_OF_DENIED.sub(" or", _NO_DENIAL.sub(" ", sentence))
    return [each for each in _CLAUSE.split(text) if each]


def denies(clause: str) -> bool:
    """Whether a clause has a word that denies, or that shows dislike."""
    return _DENIES.search(clause) is not None


def is_of_the_project(sentence: str) -> bool:
    """Whether ``sentence`` speaks of the project or its people, or is a name and hardly more.

    Praise, comparisons, requests and stories name no part of the project. In doubt the answer is False.
    """
    return (
        _OF_THE_PROJECT.search(sentence) is not None or _BARE.search(next(iter(clauses_of(sentence)), "")) is not None
    )


def is_of_the_person(sentence: str) -> bool:
    """Whether the writer of ``sentence`` names themselves."""
    return _OF_THE_PERSON.search(sentence) is not None


def tells_of_others(sentence: str) -> bool:
    """Whether ``sentence`` speaks of another project, or reports what others say or do."""
    return _OF_OTHERS.search(sentence) is not None


def says_that_is(clause: str) -> str:
    """The part of a clause that says what is so, without a thing that it says is left for another.

    Empty if the clause denies, gives an order for one time, or is of the past, of others or of a comparison.
    """
    rest = _LEFT.sub(" ", clause)
    is_unsaid = denies(rest) or any(each.search(rest) for each in (_PAST, _OF_OTHERS, _ONLY_LOOKED_AT, _ENDS))
    return "" if is_unsaid or (_ORDERS.search(rest) and not _USES.search(rest)) else rest


def says_that_is_not(clause: str) -> str:
    """``clause`` if it denies; else the empty text."""
    return clause if denies(clause) else ""


def says_that_ended(clause: str) -> str:
    """The part of a clause that names what no longer holds or never held: it leaves, stops or denies to use it."""
    if _ENDS.search(clause) or (_USES.search(clause) and denies(clause) and not _IN_PART.search(clause)):
        return clause
    left = [each for match in _LEFT.finditer(clause) for each in match.groups() if each]
    return " ".join([*left, *(match[1] for match in _NOT_THIS.finditer(clause))])
