"""Sentences and prompts that are not worth remembering.

They are politeness, status, announcements, and sentences about how things stand right now.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kiro_learn.learning.extraction.extractive import vocabulary
from kiro_learn.learning.extraction.extractive.vocabulary import sentences, words
from kiro_learn.retrieval.query.prose import asks

_NUMBER_OR_HASH = re.compile(r"[0-9a-f]{7,40}|v?[0-9][0-9.,%x/]*")
_ADDRESS = re.compile(r"https?://\S++")
"""The address of a commit or a pull request."""

_MARKS = "*_#> \u2705\u2713\u2714\U0001f389"
_COMMIT_WORDS = vocabulary.COMMITTING | vocabulary.COMMIT_TALK | vocabulary.POLITE | vocabulary.STATUS
_TALK = vocabulary.POLITE | vocabulary.STATUS
_EMPTY = _TALK | vocabulary.EMPTY
_COMMIT_SOON = 4
"""How many first words of a sentence are searched for a word about a commit."""

_FAILED = re.compile(
    r"api error(?::? (?:\d{3}\b|connection\b|request (?:was|timed)\b|overloaded\b|unable\b|\{)| \(|[.:]?$)"
    rf"|(?:{'|'.join(map(re.escape, vocabulary.FAILED_ANSWERS))})"
    r"(?:[.!\u2026]{0,3}$| ?[|\u00b7\u2219\u2022]|[.,:;]? (?:please|resets|retry|retrying|run /|try|wait|your)\b)"
)

_REMEMBERS_NOTHING = re.compile(
    r"(?:i|we) (?:(?:do not|don't) (?:currently |actually )?have|have no) (?:any |a |an )?(?:\w+ ){0,2}?"
    r"(?:records?|memor(?:y|ies)|recollection|information|context|history)\b"
)

_COMMAND_TIP = re.compile(
    r"(?:(?:also available|next|next up|up next|then)[\s:>-]*+`?/[\w-]++|`?/(?:clear|compact)`? first\b"
    r"|`/[\w-]++(?::[\w-]++)?(?: [^`]{0,80})?`$)"
)
"""The beginning of a sentence in which an agent offers one of its own commands, or the command alone."""
_LONGEST = 220
"""The most characters of chatter. A longer sentence says something, however it begins."""


def is_chatter(sentence: str) -> bool:
    """Whether the sentence says nothing lasting."""
    if len(sentence) > _LONGEST:
        return False
    bare = _straight(sentence).strip(_MARKS).lower()
    if _REMEMBERS_NOTHING.match(bare) or _COMMAND_TIP.match(bare) or bare.startswith(vocabulary.OFFERING):
        return True
    if bare.startswith(vocabulary.ANNOUNCING) and "`" not in bare:
        return True
    if bare.startswith(vocabulary.INTRODUCING) and bare.endswith(":"):
        return True
    return _only(words(bare), _TALK) or _is_commit_talk(words(_ADDRESS.sub(" ", bare)))


def without_chatter(text: str) -> str:
    """``text`` without the sentences that are chatter."""
    return " ".join(sentence for sentence in sentences(text) if not is_chatter(sentence))


def own_words(text: str) -> list[str]:
    """The words of ``text`` that say something: no nods, status words or numbers, and no words that every text has."""
    return [word for word in words(_straight(text)) if word not in _EMPTY and not _NUMBER_OR_HASH.fullmatch(word)]


def is_nod(prompt: str) -> bool:
    """Whether ``prompt`` only agrees, thanks, greets or urges on."""
    return _only(words(_straight(prompt)), vocabulary.POLITE)


def is_commit_request(prompt: str) -> bool:
    """Whether ``prompt`` only asks to commit, push or open a pull request."""
    return _is_commit_talk(words(_straight(prompt)))


def is_failed_answer(answer: str) -> bool:
    """Whether an answer is only the agent's report of its own failure."""
    return _FAILED.match(_straight(answer).strip().lower()) is not None


def _is_commit_talk(said: list[str]) -> bool:
    return not vocabulary.COMMITTING.isdisjoint(said[:_COMMIT_SOON]) and _only(said, _COMMIT_WORDS)


def _only(said: list[str], known: frozenset[str]) -> bool:
    return all(word in known or _NUMBER_OR_HASH.fullmatch(word) for word in said)


def _straight(text: str) -> str:
    """``text`` with the apostrophe that keyboards have."""
    return text.replace("\u2019", "'")


# Sentences that only say how things stand right now: where the work is, what runs, what comes next.
#
# They are true for an hour. A memory made only of them would stand in the way of memories that still hold next month;
# its events are kept. The patterns were chosen by reading the results of four histories, so they are tuned on them.

_LEAD = r"[\W_]*+(?:(?:and|so|ok|okay|yes|yep|also|but|then|now|here|good)\b[\W_]*+)*+"

_PLACE = r"(?:(?:we|you|i)(?:'re| are|'m| am) )?(?:now |back |still |already )?on [`*\w./-]+"
"""A sentence that says which branch is checked out."""

_SUBJECT = r"(?:all|everything|both|it|that|the [\w`*/.-]++(?: [\w`*/.-]++){0,5}|[\w`*./#-]++(?: [\w`*./#-]++){0,3})"
_STANDS = (
    r"(?:running|up to date|up and|working|green|clean|pushed|committed|merged|done|complete|finished"
    r"|passes(?=[.!,;]|$| (?:again|here|in (?:all|both)|locally|now|on (?:all|both|ci|main)|too)\b)"
    r"|live(?! (?:for|in|under|with)\b)|pass(?:ing|ed)|ready|in progress|underway|staged|saved|building|deployed|open"
    r"|pending|waiting|in sync|up\b)"
)
_STATE = rf"{_SUBJECT}?(?:(?:'s| is| are| was| were)(?: still| now| also| all| already| back)?|(?:'s)?) {_STANDS}\b"
"""A sentence that says that something runs, passes, waits or is done."""

_STEP = (
    r"(?:done|pushed|committed|merged|pulled|switched to|created branch|branched|restarted|stopped|killed"
    r"|conflicts resolved|pr (?:is|#\d+|created|opened)|working tree|clean working tree|nothing (?:to|left|else)"
    r"|\d+ commits?|down to \d+)\b"
)
"""A sentence about the step that was just taken."""

_NEXT = (
    r"(?:next up|up next|ready (?:when|to|for)|what(?:'s| is) next|want me|shall i|should i|would you like|let me know"
    r"|please (?!note)\w+|go ahead|standing by|waiting (?:for|on)|once (?:merged|you)|got it|understood|no problem"
    r"|sounds good"
    r"|i(?:'ll| will) (?:wait|let you|check|be|continue|report|start|now|keep|proceed)"
    r"|i(?:'m| am) (?:waiting|ready|now|still|going))\b"
)
"""A sentence about the step that comes next, or that is waited for."""

_ASIDE = (
    r"(?:(?:that|this)(?:'s| was| is) (?:(?:just|only|also) the|the (?:earlier|first|second|third|last|old|background))"
    r"(?: [\w`*./-]++){0,6}? (?:task|run|notification|build|server|command|process)\b"
    r"|(?:the |your |a )?(?:new |latest )?(?:otp|pin|one-time (?:code|password)|login code)(?: is|:) *+\d"
    r"|\d{4,8} for \S++$)"
)
"""A sentence about the end of a background task, or a code for logging in once."""

_HANDED_BACK = (
    r"(?:(?:please |now |you can now |just )*+(?:try (?:\w+ing|it|again|the [\w`*./-]++(?: [\w`*./-]++)? again)"
    r"|log ?in (?:and|again|then)|reply with)\b|(?:the )?next steps?(?: is)?:? *+`?/|(?:todo|plan|report) saved:)"
)
"""A sentence that says what the person should do now, or may type next."""

_MOMENT = re.compile(rf"{_LEAD}(?:{_PLACE}|{_STATE}|{_STEP}|{_NEXT}|{_ASIDE}|{_HANDED_BACK})", re.IGNORECASE)
_DETAIL = re.compile(r"(?: \u2014|:) [^`]{0,200}+`|\b(?:because|since|so that|whose|which|instead)\b", re.IGNORECASE)
"""A clause after the status that names something or gives a reason. With it, the sentence says something lasting."""

_LONGEST_STATE = 200
"""The most characters of a sentence about how things stand. A longer sentence says more than that."""


def is_of_the_moment(texts: Iterable[str]) -> bool:
    """Whether every sentence of ``texts`` only says how things stand; False if there is none."""
    told = [sentence for text in texts for sentence in sentences(text) if any(map(str.isalnum, sentence))]
    return bool(told) and all(map(tells_how_things_stand, told))


_PROCESS = re.compile(
    r"\b(?:PIDs?|process(?:es)?(?: id)?):? #?\d{2,}|\bsince \d{1,2}[:.]\d\d\b"
    r"|\b\d+ ?(?:s|secs?|seconds?|m|mins?|minutes?|h|hours?) ago\b"
    r"|\bat the moment\b|\bright now\b|\b\d+ (?:(?:commits|files|hours?|h|items|jobs|min|minutes|more|records|rows|s"
    r"|seconds|steps|tasks|tests) )?(?:left|remaining|to go)\b",
    re.IGNORECASE,
)
"""Signs that a sentence is about a process of the day, or about an hour of it."""


def tells_how_things_stand(sentence: str) -> bool:
    """Whether ``sentence`` only says how things stand. Then it is worth no memory, and makes no title."""
    if len(sentence) > _LONGEST_STATE:
        return False
    return (_MOMENT.match(sentence) is not None and _DETAIL.search(sentence) is None) or bool(_PROCESS.search(sentence))


# Nods, thanks and greetings in languages other than English, and words that urge on.

# ruff: noqa: RUF001  # words of other scripts, whose letters resemble Latin ones


OTHER_LANGUAGES = """
    abend alles ausgezeichnet bis bitte bitteschön danke dankeschön dann das doch du einfach es genau gern gerne
    gut guten hallo klar klasse los mach mache machen mal moin morgen nein nee nö na okay passt perfekt prima
    schön sehr so stimmt super tag tschüss ja jawohl jo jep leg toll vielen dank weiter weitermachen wunderbar

    accord adieu allez alors au aussi beaucoup bien bon bonjour bonsoir c'est continue continuez d'accord entendu
    excellent génial merci non ok oui ouais parfait plaît revoir s'il salut suite super très va vas-y vous

    adelante adiós buenas buenos bueno bien claro continúa continua correcto de días dale eso favor genial gracias
    hola listo muchas noches perfecto por salud seguir sigue sí si tardes vale venga vamos

    avanti bene benissimo buongiorno certo ciao continua d'accordo fatto favore grazie grazie mille no perfetto
    per prego procedi sì va

    adiante bom certo continue dia obrigada obrigado olá ótimo perfeito pode por favor sim segue tudo

    akkoord bedankt dank doorgaan ga goed goedemorgen graag hoi ja je nee prima verder wel

    dalej dobra dobrze dziękuję dzięki kontynuuj nie proszę super świetnie tak witam

    tack ja nej bra fortsätt tak nej fortsæt hej takk fortsett kiitos joo kyllä jatka

    evet hayır tamam teşekkürler teşekkür ederim devam et lütfen merhaba

    да нет спасибо большое хорошо ладно ок окей отлично супер давай продолжай продолжайте дальше пожалуйста привет
    здравствуйте понятно понял верно ага угу так дякую продовжуй

    نعم لا شكرا شكراً حسنا حسناً تمام ممتاز استمر تابع أكمل مرحبا جزيلا جزيلاً כן לא תודה רבה בסדר מעולה המשך
    תמשיך שלום בבקשה ναι όχι ευχαριστώ εντάξει συνέχισε γεια 네 예
    아니요 아니오 감사합니다 고마워 고마워요 고맙습니다 좋아 좋아요 계속 계속해 계속해줘
    계속해주세요 안녕하세요 알겠습니다 응 धन्यवाद हाँ हां नहीं ठीक है जारी रखें नमस्ते
"""
"""The words, one paragraph for each family of languages."""

WITHOUT_SPACES = """
    好的 好 好吧 是的 是 对的 对 行 嗯 可以 没问题 谢谢你 谢谢 多谢 感谢 请 继续吧 继续 下一步 不用了
    不用 不是 不 你好 早上好 再见 明白了 明白 知道了 了解 开始吧 开始 提交吧 提交 完美 太好了 太棒了 棒
    提交代码 好啊 謝謝你 謝謝 請 繼續 對的 對 沒問題 開始 下一個 下一个 はい うん ええ いいえ お願いします
    おねがいします お願い ありがとうございます ありがとうございました ありがとう どうも 続けてください 続けて 続き
    次へ 次 次に進んで 進めてください 進めて 了解です 了解で 了解しました わかりました 分かりました こんにちは
    おはようございます おはよう 完璧です 完璧で いいですね いいね 大丈夫です 大丈夫で どうぞ コミットして そうです
    ขอบคุณครับ ขอบคุณค่ะ ขอบคุณ ใช่ ครับ ค่ะ ต่อไป สวัสดี
"""
"""Words of scripts without spaces between words. A prompt may be several of these in a row."""


# Prompts for which no memory is worth looking up: they agree, thank, greet, urge on, choose, or ask for a commit.
#
# They are found by lists, as in ``vocabulary``: a prompt with one word that is in no list asks for something. So a word
# that is missing from the lists costs some bytes, and never an answer.

_WORD = re.compile(r"\w[\w.'/-]*")


def _words(text: str) -> list[str]:
    """The words of ``text`` in lower case. Unlike those of ``prose``, Hangul words stay whole."""
    return [word.rstrip(".'/-") for word in _WORD.findall(text.lower())]


def _set(words: str) -> frozenset[str]:
    return frozenset(_words(words))


_SHORT_FORMS = _set("""
    afternoon appreciated bravo bye care done evening goodbye haha hahaha hehe heya hiya job k kk later lol morning
    nice night np oki okey oops pls plz problem sec there tomorrow ty tysm thx thnx tx wonderful wonderfully yea yess yo
    claude codex copilot cursor gemini kiro
""")
"""English nods and greetings that the learner does not have, and names of agents that are greeted."""

_URGING = _set("""
    apply as back bad begin by commence create either finish first from help implement it keep last left let's lot move
    moving off on one pick please rest ship start then they these those try up we where with work
""")
"""Words of prompts that urge on without saying what they are about."""

_URGING_ALONE = _set("abort again anyway both cancel carry execute fix forward go next retry stop")
"""Words that also urge on when they stand alone."""

_NAMED = _set(
    "a above all b c d e first item items last number one ones option options other part phase plan plans "
    "pr second stage step steps suggestion suggestions task tasks that them third thing things two"
)
"""Words that such a prompt points at. Alone, one of these is a subject to ask for."""

_WITHOUT_SPACES = re.compile(f"(?>{'|'.join(sorted(WITHOUT_SPACES.split(), key=len, reverse=True))})+")

_ASKED_ABOUT = _set("""
    about call catch clarification clean clear confusion course feedback fixed fun green hold idea kind mind mistake
    observation point question reminder resume set solid still thing understand understood
""")
"""Nods that name something: a question with one of these words is about it."""

_REQUEST = re.compile(r"(?:please |pls )?(?:can|could|would|will) you (?:please |pls |now )?", re.IGNORECASE)
_PULL_REQUEST = re.compile(r"\b(?:pull|merge) request\b", re.IGNORECASE)
_BLANKS = re.compile(r"\W+")
_LONGEST_TALK = 120
"""The most characters of talk. A longer prompt says something."""

_SIMPLE = vocabulary.POLITE | _SHORT_FORMS | _set(OTHER_LANGUAGES)
_URGED = _SIMPLE | _URGING | _URGING_ALONE | _NAMED
_LETTER_OR_NUMBER = re.compile(r"[a-e0-9]{1,2}")


def asks_nothing(prompt: str) -> bool:
    """Whether no memory helps with ``prompt``; False for a question with a word of its own, however short."""
    text = _PULL_REQUEST.sub("pr", prompt.replace("\u2019", "'")).strip()
    if len(text) > _LONGEST_TALK:
        return is_nod(text) or is_commit_request(text)
    request = _REQUEST.match(text)
    if asks(text) and not request:
        return _SIMPLE_QUESTION.issuperset(_words(text)) and not any(map(str.isdigit, text))
    said = _words(text[request.end() :] if request else text)
    if _SIMPLE.issuperset(said) or is_nod(text) or is_commit_request(" ".join(said)):
        return True
    if _WITHOUT_SPACES.fullmatch(_BLANKS.sub("", text)):
        return True
    is_choice = len(said) > 1 or _LETTER_OR_NUMBER.fullmatch(said[0]) or said[0] in _URGING_ALONE
    return bool(is_choice) and all(word in _URGED or _LETTER_OR_NUMBER.fullmatch(word) for word in said)


_SIMPLE_QUESTION = _SIMPLE - _ASKED_ABOUT


# Whether a prompt asks how things stand now, for a sum, or for fun. Its answer is of no use next month.

_LATELY = r"(?: (?:again|already|anymore|at the moment|currently|just|now|right now|so far|still|there|today|yet))"
_ASKED_END = rf"{_LATELY}*+\s*(?:\?|$)"
_STANDS_ASKED = (
    r"(?:alive|behind|checked out|clean|closed|connected|dead|done|down|finished|free|green|healthy|in use|listening"
    r"|logged in|merged"
    r"|occupied|offline|online|open|passing|pushed|queued|reachable|ready|red|responding|running|stopped|taken"
    r"|through|up|up to date)"
)
_ENDED = (
    r"(?:answer|arrive|build|compile|complete|deploy|end|exit|fail|finish|go through|land|merge|pass|push|respond"
    r"|restart|run|start|stop"
    r"|succeed|work)(?:s|es|ed|ped)?"
)
_COUNTED = (
    r"(?:ahead|behind|changed|done|errors?|fail(?:s|ed|ing)?|free|in the queue|left|missing|now|online|open|pass(?:es"
    r"|ed|ing)?|pending"
    r"|queued|remain(?:s|ing)?|running|so far|today|unread|uncommitted|used|waiting)"
)
_READING = (
    r"(?:(?:battery|clipboard|commit|coverage|cpu|date|day|disk|eta|exit code|git|hash|load|memory|otp|progress|queue"
    r"|state|status"
    r"|temperature|test|time|uptime|weather)(?: (?:address|count|length|level|size|status|usage))?|pid)"
)
_LAST = r"(?:last|latest|most recent|previous) (?:attempt|build|commit|deploy(?:ment)?|job|push|run)"

_ASKING_LEAD = (
    r"\W*+(?:(?:and|but|so|ok|okay|hey|hi|hmm|now|then|great|thanks|please|(?:can|could) you (?:check|see|tell me|look)"
    r"|check)\b[\s,:]*+(?:if |whether )?)*+"
)
_WHETHER = re.compile(
    rf"{_ASKING_LEAD}(?:(?:is|are|was|were|am|isn't|aren't)(?: [^\s?]{{1,60}}){{1,8}}? {_STANDS_ASKED}"
    rf"(?: (?:on|in|at) (?:port )?(?::?\d{{2,5}}|here|localhost|my machine|ci|prod|production|staging))?{_ASKED_END}"
    rf"|(?:did|has|have|didn't|hasn't)(?: [^\s?]{{1,60}}){{1,6}}? {_ENDED}{_ASKED_END}"
    rf"|(?:do|does|doesn't)(?: [^\s?]{{1,60}}){{1,6}}? (?:answer|build|compile|pass|respond|work){_ASKED_END})",
    re.IGNORECASE,
)
"""The beginning of a sentence that asks whether something runs or has ended."""

_ASKED = re.compile(
    rf"\bhow (?:many|much)\b(?: [^\s?]{{1,60}}){{0,6}}? {_COUNTED}\b(?! (?:by default|each|for each|per)\b)"
    r"|\bhow (?:many|much)\b[^?]{1,60} (?:did|have) (?:you|we|i)\b"
    r"|\bhow far (?:along |are |is |did |have )|\bhow long (?:did|has|have|was|were)\b|\bhow much did\b"
    rf"|\bwhat(?:'s|s| is| was| are)(?: (?:the|my|our|your|its|today's|tomorrow's))?(?: current| present)? {_READING}"
    rf"(?: (?:in|of|on) (?:the |my |our )?[^\s?]{{1,40}})?{_ASKED_END}"
    r"|\bwhat(?:'s| is) (?:my|your) (?:[\w ]{0,12} )?(?:ip|username|user|session|version)\b"
    r"|\b(?:what|which) (?:time|day|date) is it\b|\bwhat(?:'s| is) (?:in|on) (?:the|my) (?:clipboard|screen|queue)\b"
    rf"|\b(?:when|what|who|how|which)\b[^?]{{0,60}}? {_LAST}\b"
    r"|\bwho(?:'s| is) (?:on call|online|logged in|on duty)\b|\bwho (?:am i|pushed|committed|deployed|merged)\b"
    r"|\bwhere am i\b"
    rf"|\b(?:what|which) (?:\w+ ){{1,2}}?(?:(?:am i|are (?:we|you)) (?:on|in)|is (?:active|checked out)){_ASKED_END}"
    r"|\b(?:what|which) (?:\w+ ){1,2}?(?:(?:is|are|were|was) )?(?:still )?"
    rf"(?:fail(?:s|ed|ing)?|running|open|down|pending|left|stuck|up){_ASKED_END}",
    re.IGNORECASE,
)
"""Questions about what runs, how far it is, how much of it is left, and what ran last."""

_SUM = re.compile(
    r"\b(?:what(?:'s|s| is| are)|calculate|compute|how much is"
    r"|add up)\b[^?\d]{0,20}\d[\d.,]*\s*(?:[*/+^\u00d7\u00f7x-]|plus|minus|times|divided by)\s*\d"
    r"|\d ?% (?:[\w-]+ ){0,2}of \d|\bconvert \d",
    re.IGNORECASE,
)
_FOR_FUN = re.compile(
    r"\b(?:tell (?:me|us) (?:a|an|another) (?:\w+ )?(?:fact|joke|riddle|story|pun)|(?:haiku|limerick)|how do (?:i"
    r"|you) spell"
    r"|(?:the )?capital of|the weather|play a game|fun fact)\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:against|versus|vs|compared|than|instead of|down from|up from|faster|slower)\b", re.IGNORECASE
)
_AT_PRESENT = re.compile(r"\b(?:now|currently|today|at the moment|so far)\b", re.IGNORECASE)


def asks_for_the_moment(prompt: str, answer: str) -> bool:
    """Whether ``prompt`` asks for something that changes by tomorrow; False if ``answer`` compares measurements."""
    said = prompt.replace("\u2019", "'")
    if _ASKED.search(said) is None and not any(map(_WHETHER.match, sentences(said))):
        return False
    return _COMPARED.search(answer) is None or _AT_PRESENT.search(said) is not None


def asks_in_passing(prompt: str) -> bool:
    """Whether ``prompt`` only asks for a sum or a joke, and not about the project."""
    said = prompt.replace("\u2019", "'")
    return _SUM.search(said) is not None or _FOR_FUN.search(said) is not None
