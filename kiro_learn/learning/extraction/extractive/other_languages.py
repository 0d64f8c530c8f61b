# words of other scripts, whose letters resemble Latin ones
"""How people lay down rules and make choices in other languages than English.

A rule orders: it begins with "always", "never" or an imperative that has one of them, or with the person or the team
as its subject. So what only tells of something ("es geht nie") is none. What is missing here is a fact of its turn.
"""

from __future__ import annotations

import re

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
_CHOICE = re.compile(
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


def is_rule(sentence: str) -> bool:
    """Whether ``sentence``, which asks nothing, lays down how things are done from now on."""
    if _SIGNED_QUESTION.search(sentence):
        return False
    return _LATIN_RULE.match(sentence) is not None or _SIGNED_RULE.search(sentence) is not None


def is_choice(sentence: str) -> bool:
    """Whether ``sentence`` decides for one thing over another, or says why."""
    return _CHOICE.match(sentence) is not None and _SIGNED_QUESTION.search(sentence) is None
