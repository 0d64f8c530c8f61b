"""Secrets that the name in front of them gives away: ``password = ...``, ``"api_key": "..."``, ``--token ...``.

Whether a value is real is the whole question: ``password: string`` is a type, ``token := getToken()`` is code and
``${TOKEN}`` stands for something else. The rules, and what they cost on real sessions, are in ``docs/privacy.md``.
"""

from __future__ import annotations

import re

from kiro_learn.privacy.kind import Kind
from kiro_learn.privacy.reality import CODE, QUOTE_CLOSED, placeholder

# --- names: each begins with a set of letters, which is the fastest search that knows both cases --------------------

_KEYS = "|".join(
    f"(?<={first}{joint}key)"
    for first in ("api", "auth", "access", "account", "secret", "private", "signing", "encryption")
    for joint in ("", "[_-]")
)
PASSWORD_NAME = "[Pp_](?i:ass(?:word|wd|phrase)|(?<=p)wd|(?<=_)pass)"  # noqa: S105 - the name of one
SECRET_NAME = f"[SsTtKk](?i:ecret|oken|ey(?:{_KEYS}))"
AWS_SECRET_NAME = "[Ss](?i:ecret[_-]?(?:access[_-]?)?key)"  # noqa: S105 - the name of one

SCHEMES = "basic|bearer|token|digest|apikey"

# --- from the name to the value -------------------------------------------------------------------------------------

_TYPE = r"(?:[ \t]*+:[ \t]*+&?[\w.|\[\]]{1,40}+(?=[ \t]*+=)|[ \t]++string(?=[ \t]*+=))?+"
_SEPARATOR = r"[ \t]*+(?::=|=>|={1,3}|:)[ \t]*+"
_OPTION_NAMES = ("password", "passwd", "passphrase", "token", "secret", "key")
_OPTION = f"(?:{'|'.join(f'(?<=-{name})' for name in _OPTION_NAMES)})[ \\t]++"
_QUOTE = r"""(?:[bBrRuUfF]{0,2}\\*+["'`])?+"""
_BEFORE = rf"""(?>\d?(?:\\*+["'`]\]?+)?+(?:{_TYPE}{_SEPARATOR}|{_OPTION}|>){_QUOTE})"""

# --- values ---------------------------------------------------------------------------------------------------------

_QUOTED = (  # behind which quote, of what, up to where, and what may stand in front of a word of it
    (r'(?<=\\")', r'(?:[^"\\\n]++|\\{3}"|\\(?!\\*+"))++', r'(?=\\*"|\n|\Z)', r'(?:[^"\n]{0,80}[ \t])?'),
    (r'(?<=")', r'(?:[^"\\\n]++|\\[^\n])++', r'(?="|\n|\Z)', r'(?:[^"\n]{0,80}[ \t])?'),
    (r"(?<=')", r"(?:[^'\\\n]++|\\[^\n])++", r"(?='|\n|\Z)", r"(?:[^'\n]{0,80}[ \t])?"),
    (r"(?<=`)", r"[^`\n]++", r"(?=`|\n|\Z)", r"(?:[^`\n]{0,80}[ \t])?"),
)
_QUOTED_PASSWORD = "|".join(
    f"{behind}(?!{QUOTE_CLOSED}|{placeholder(end=end, words_before=words)}){value}"
    for behind, value, end, words in _QUOTED
)

_QUOTE_END = r"""(?=\\*["'`]|\n|\Z)"""
RANDOM = r"""(?=[^\s"'`]{8})(?=[^\s"'`0-9]{0,80}+\d)(?=[^\s"'`A-Za-z]{0,80}+[A-Za-z])"""
"""Long enough, with a digit and a letter: a token, or a name with a number in it."""
_QUOTED_SECRET = (
    rf"""(?<=["'`]){RANDOM}(?!{QUOTE_CLOSED}|{placeholder(end=_QUOTE_END)})(?:[^\s"'`\\]++|\\/)++{_QUOTE_END}"""
)

_BARE = r"""[^\s"'`,;&(){}\[\]<>\\|]"""
_BARE_DIGIT = r"""(?=[^\s"'`,;&(){}\[\]<>\\|0-9]{0,40}+\d)"""
_BARE_LETTER = r"""(?=[^\s"'`,;&(){}\[\]<>\\|A-Za-z]{0,40}+[A-Za-z])"""
_REAL = rf"(?!{placeholder(end=f'(?!{_BARE})')}|{CODE})"
_BARE_PASSWORD = (
    rf"""(?<!["'`])(?={_BARE}{{4}})(?:(?<=[A-Z]=){_REAL}{_BARE}++"""  # as in a shell, where no code can stand
    rf"|(?<=[A-Z]: ){_REAL}{_BARE}++(?=\s|\\|\Z)"  # as in the environment of a compose file
    rf"""|(?<=>){_REAL}{_BARE}{{4,80}}+(?=</)|(?<![\w"'`]>){_BARE_DIGIT}(?={_BARE}{{6}}){_REAL}{_BARE}++)"""
)
_BARE_SECRET = rf"""(?<!["'`]){_BARE_DIGIT}{_BARE_LETTER}(?={_BARE}{{12}}){_REAL}{_BARE}++"""

_PASSWORD = f"""(?:(?<=["'`])(?:{_QUOTED_PASSWORD})|{_BARE_PASSWORD})"""
_SECRET = f"(?:{_QUOTED_SECRET}|{_BARE_SECRET})"
_CREDENTIALS = r"[\w.~+/=-]"


def _kind(name: str, triggers: tuple[str, ...], pattern: str, documented: str) -> Kind:
    return Kind(name, triggers, re.compile(pattern, re.ASCII), documented)


_PASSWORDS = ("pass", "pwd")
_SECRETS = ("secret", "token", "key")

ASSIGNMENTS: tuple[Kind, ...] = (
    _kind(
        "password",
        ("://",),
        rf"""(://[^\s:/?#@"'<>\\\[\]]*+:)(?=[^\s/"'<>@\\\[\]]++@)(?!{placeholder(end="(?=@)")})[^\s/"'<>\\\[\]]+(?=@)""",
        "RFC 3986, 3.2.1",
    ),
    _kind(
        "authorization",
        ("authorization",),
        rf"""([Aa](?i:uthorization)(?:\\*["']\]?)?[ \t]*+[:=][ \t]*+(?:\\*["'`])?(?i:{SCHEMES})[ ]++)"""
        rf"(?!{placeholder(end=f'(?!{_CREDENTIALS})')}){_CREDENTIALS}{{6,}}+",
        "RFC 9110, 11.6.2",
    ),
    _kind(
        "authorization",
        ("bearer",),
        rf"([Bb](?i:earer)[ ]++)(?=[^\s0-9]{{0,80}}+\d){_CREDENTIALS}{{16,}}+",
        "RFC 6750, 2.1",
    ),
    _kind(
        "aws-secret-access-key",
        ("secret",),
        f"({AWS_SECRET_NAME}{_BEFORE})[A-Za-z0-9/+]{{40}}(?![A-Za-z0-9/+])",
        "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html",
    ),
    _kind("password", _PASSWORDS, f"({PASSWORD_NAME}{_BEFORE}){_PASSWORD}", "docs/privacy.md"),
    _kind("secret", _SECRETS, f"({SECRET_NAME}{_BEFORE}){_SECRET}", "docs/privacy.md"),
)
