"""Secrets found by the name before them: ``password = ...``, ``"api_key": "..."``, cookies, options.

The difficulty is to decide whether a value is real: ``password: string`` is a type, ``token := getToken()`` is code,
and ``${TOKEN}`` is a reference. ``docs/privacy.md`` has the rules, and their errors on real sessions.
"""

from __future__ import annotations

import re

from kiro_learn.privacy.kind import CALL, CODE, QUOTE_CLOSED, Kind, beginning_a_word, placeholder

# --- names: each begins with a set of letters, since that is the fastest search for both upper and lower case --------

KEYS = "|".join(
    f"(?<={first}{joint}key)"
    for first in ("api", "auth", "access", "account", "secret", "private", "signing", "encryption")
    for joint in ("", "[_-]")
)
PASSWORD_NAME = "[Pp_](?i:ass(?:word|wd|phrase)|(?<=p)wd|(?<=_)pass)"  # noqa: S105 - the name of one
SHELL_NAME = "P(?:ASS(?:WORD|WD|PHRASE)|(?<=P)WD|(?<=_P)ASS)"
SECRET_NAME = f"[SsTtKk](?i:ecret(?:_?key_?base)?|oken|ey(?:{KEYS}))"
AWS_SECRET_NAME = "[Ss](?i:ecret[_-]?(?:access[_-]?)?key)"  # noqa: S105 - the name of one

SCHEMES = "basic|bearer|token|digest|apikey"

# --- from the name to the value -------------------------------------------------------------------------------------

COLOUR = r"(?:(?:\x1b|\\+(?:u001b|x1b|033|e))\[[0-9;]{0,20}m)*+"
_BOLD = r"(?:\*{2,3}|__)?+"
_TYPE = r"(?:[ \t]*+:[ \t]*+&?[\w.|\[\]]{1,40}+(?=[ \t]*+=)|[ \t]++string(?=[ \t]*+=))?+"
_SEPARATOR = rf"[ \t]*+{COLOUR}(?::=|=>|={{1,3}}|:){_BOLD}[ \t]*+"
_CLOSED = r"""(?:\\*+["'`]\]?+)?+"""
_OPTION_NAMES = ("password", "passwd", "passphrase", "token", "secret", "key")
NEXT_IN_LIST = r"""\\*+["'`][ \t]*+,\s*+(?=\\*+["'`](?!-))"""
_OPTION = f"(?:{'|'.join(f'(?<=-{name})' for name in _OPTION_NAMES)})(?:[ \\t]++|{NEXT_IN_LIST})"
QUOTE = r"""(?:[bBrRuUfF]{0,2}\\*+["'`])?+"""
_TO_VALUE = rf"(?>\d?{COLOUR}{_BOLD}(?:{_OPTION}|{_CLOSED}(?:{_TYPE}{_SEPARATOR}|>)){COLOUR}"
_BEFORE = rf"""{_TO_VALUE}{QUOTE})(?!(?:\\*+"){{2}}|(?:\\*+'){{2}})"""
_THREE_QUOTES = r"""(?:\"{3}|'{3}|(?:\\"){3}|(?:\\'){3})"""
_TRIPLE = rf"{_TO_VALUE}[bBrRuUfF]{{0,2}}{_THREE_QUOTES}(?:\s|\\+n){{0,40}}+)"
_BLOCK = r"""\\*+["']?: [|>][-+0-9]{0,2}[ \t]*+(?:\n|\\n)[ \t]{1,80}+"""
_SHELL = rf"\d?{COLOUR}={COLOUR}"

# --- values ---------------------------------------------------------------------------------------------------------

_QUOTED = (  # the quote before a value, the value, its end, and the text that may come before one of its words
    (r'(?<=\\")', r'(?:[^"\\\n]++|\\{3}"|\\(?!\\*+"))++', r'(?=\\*"|\n|\Z)', r'(?:[^"\n]{0,80}[ \t])?'),
    (r'(?<=")', r'(?:[^"\\\n]++|\\[^\n])++', r'(?="|\n|\Z)', r'(?:[^"\n]{0,80}[ \t])?'),
    (r"(?<=')", r"(?:[^'\\\n]++|\\[^\n])++", r"(?='|\n|\Z)", r"(?:[^'\n]{0,80}[ \t])?"),
    (r"(?<=`)", r"[^`\n]++", r"(?=`|\n|\Z)", r"(?:[^`\n]{0,80}[ \t])?"),
)
QUOTED_PASSWORD = "|".join(
    f"{behind}(?!{QUOTE_CLOSED}|{placeholder(end=end, words_before=words)}){value}"
    for behind, value, end, words in _QUOTED
)

_QUOTE_END = r"""(?=\\*["'`]|\n|\Z)"""
RANDOM = r"""(?=[^\s"'`]{8})(?=[^\s"'`0-9]{0,80}+\d)(?=[^\s"'`A-Za-z]{0,80}+[A-Za-z])"""
"""Long enough, with a digit and a letter: a token, or a name with a number in it."""
QUOTED_SECRET = (
    rf"""(?<=["'`]){RANDOM}(?!{QUOTE_CLOSED}|{placeholder(end=_QUOTE_END)})(?:[^\s"'`\\]++|\\/)++{_QUOTE_END}"""
)

_MORE = r"(?=[\w!@#$%^*+.-])"
_GOES_ON = (
    r"&(?![\w.%-]{0,40}=|[&\s]|amp;|\Z)|;(?![\w.-]{0,40}(?: [\w.-]{1,40})?=|[;\s]|\Z)"
    rf"|,{_MORE}(?![\w.-]{{1,40}}[=:])|\|{_MORE}|<{_MORE}(?!br)|>{_MORE}|\\{{1,2}}{_MORE}(?![_nrtuxe0])|`(?=\w)"
)
"""Characters that end a query's pair, a statement, a cell or an element. If none of these can follow, the character is
a part of the value."""
_WORDS = r"(?:[^\n]{0,80}[ \t])?"
_BARE = r"""[^\s"'`,;&(){}\[\]<>\\|\x1b]"""
_TAIL = rf"(?:(?:{_GOES_ON}){_BARE}*+)*+"
_SHELL_CHARACTER = rf"""(?:[^\s"'`,;&)}}\]<>\\|\x1b]|{_GOES_ON}|[)}}\]'"](?=\w))"""
_BARE_DIGIT = r"""(?=[^\s"'`,;&(){}\[\]<>\\|0-9]{0,40}+\d)"""
_BARE_LETTER = r"""(?=[^\s"'`,;&(){}\[\]<>\\|A-Za-z]{0,40}+[A-Za-z])"""
_END = f"(?!{_BARE})"
_REAL = rf"(?!{placeholder(end=_END)}|{CODE})"
_IN_DOUBLE = r"""(?:[^"\\\n]|\\[^\n]){1,400}+(?="(?!\w))"""
_IN_SINGLE = r"""(?:[^'\\\n]|\\[^\n]){1,400}+(?='(?!\w))"""
"""A value in closed quotes may have spaces, and ends at the quote."""
_SHELL_QUOTED = (
    rf"""(?=[^\n]{{3}})(?!{QUOTE_CLOSED}|{placeholder(end=_QUOTE_END)})(?:(?<="){_IN_DOUBLE}|(?<='){_IN_SINGLE})"""
)
"""The quoted value after ``DB_PASSWORD=``. A word of a label (such as ``the``) marks it as a placeholder only if it is
the first word."""
_IN_SHELL = rf"(?!\"{_IN_DOUBLE}|'{_IN_SINGLE}|{placeholder(end=_END)}|{CALL}|\[\D{{0,40}}\])"
SHELL_PASSWORD = rf"(?=\S{{4}}){_IN_SHELL}{_SHELL_CHARACTER}++"
BARE_PASSWORD = rf"""(?<!["'`]){_BARE_DIGIT}(?={_BARE}{{6}}){_REAL}{_BARE}++{_TAIL}"""
_ASSIGNED_PASSWORD = (
    rf"""(?<!["'`])(?={_BARE}{{4}})(?:"""
    rf"(?<=[A-Z]: ){_REAL}{_BARE}++{_TAIL}(?=\s|\\|\Z)"  # as in the environment of a compose file
    rf"""|(?<=>){_REAL}{_BARE}{{4,80}}+(?=</)|(?<![\w"'`]>){BARE_PASSWORD})"""
)
BARE_SECRET = rf"""(?<!["'`]){_BARE_DIGIT}{_BARE_LETTER}(?={_BARE}{{12}}){_REAL}{_BARE}++{_TAIL}"""
_TRIPLE_VALUE = rf"(?!{placeholder(end=_QUOTE_END, words_before=_WORDS)})(?:(?!{_THREE_QUOTES})(?s:.)){{1,2000}}+"
_LINE = r"(?:[^\n\\]|\\(?!n))++"
_LINES = rf"{_LINE}(?:(?:\n|\\n)[ \t]{{1,80}}+[^\s:\\]++(?=[ \t]*+(?:\n|\\n|\Z)))*+"
_FIRST_LINE = placeholder(end=r"(?=\n|\\n|\Z)", words_before=_WORDS)

_PASSWORD = f"""(?:(?<=["'`])(?:{QUOTED_PASSWORD})|{_ASSIGNED_PASSWORD})"""
_SECRET = f"(?:{QUOTED_SECRET}|{BARE_SECRET})"
_CREDENTIALS = r"[\w.~+/=-]"
_RAW_CREDENTIALS = (
    rf"(?!AWS4-)(?=[^\s0-9]{{0,80}}+\d)(?=[^\sA-Za-z]{{0,80}}+[A-Za-z])(?={_CREDENTIALS}{{12}})"
    rf"{_REAL}{_CREDENTIALS}++(?![({{\[])"
)


def _kind(
    name: str,
    triggers: tuple[str, ...],
    pattern: str,
    documented: str,
    *,
    needs: tuple[str, ...] = (),
    within: re.Pattern[str] | None = None,
) -> Kind:
    return Kind(name, triggers, re.compile(pattern, re.ASCII), documented, needs=needs, within=within)


PASSWORDS = ("pass", "pwd")
_TRIPLES = ('"""', "'''", '\\"\\"\\"', "\\'\\'\\'")
_BLOCKS = (": |", ": >")
SECRETS = ("secret", "token", "key")

ASSIGNMENTS: tuple[Kind, ...] = (
    _kind(
        "password",
        ("://",),
        rf"""(://[^\s:/?#@"'<>\\\[\]]*+:)(?=[^\s/"'<>@\\\[\]]++@)(?!{placeholder(end="(?=@)")})[^\s/"'<>\\\[\]]+(?=@)""",
        "RFC 3986, 3.2.1",
    ),
    _kind(
        "password",
        (":\\/",),
        rf"""(:\\{{1,3}}/\\{{1,3}}/[^\s:/?#@"'<>\\\[\]]*+:)(?=[^\s/"'<>@\\\[\]]++@)(?!{placeholder(end="(?=@)")})[^\s/"'<>\\\[\]]+(?=@)""",
        "RFC 3986, 3.2.1; RFC 8259, 7",
    ),
    _kind(
        "password",
        ("://",),
        rf"""(://[^\s:/?#@"'<>\\\[\]]{{1,64}}+:)(?!\d{{1,5}}/|{placeholder(end="(?=@)")})"""
        r"""(?=[^\s"<>@\\0-9/]{0,64}+\d)(?=[^\s"<>@\\]{2,128}+@\w)[^\s"<>@\\]++(?=@)""",
        "docs/privacy.md",
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
        ("authorization",),
        rf"""([Aa](?i:uthorization)(?:\\*["']\]?)?[ \t]*+[:=][ \t]*+(?:\\*["'`])?"""
        rf"(?:[A-Za-z][\w-]{{1,20}} )?){_RAW_CREDENTIALS}",
        "docs/privacy.md",
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
    _kind("password", _TRIPLES, f"({PASSWORD_NAME}{_TRIPLE}){_TRIPLE_VALUE}", "docs/privacy.md"),
    _kind("password", _BLOCKS, f"({PASSWORD_NAME}{_BLOCK})(?!{_FIRST_LINE}){_LINES}", "docs/privacy.md"),
    _kind("password", PASSWORDS, f"""({SHELL_NAME}{_SHELL}["']){_SHELL_QUOTED}""", "docs/privacy.md"),
    _kind("password", PASSWORDS, f"({SHELL_NAME}{_SHELL}){SHELL_PASSWORD}", "docs/privacy.md"),
    _kind("password", PASSWORDS, f"({PASSWORD_NAME}{_BEFORE}){_PASSWORD}", "docs/privacy.md"),
    _kind("secret", _BLOCKS, f"({SECRET_NAME}{_BLOCK}){RANDOM}(?!{_FIRST_LINE}){_LINES}", "docs/privacy.md"),
    _kind("secret", SECRETS, f"({SECRET_NAME}{_BEFORE}){_SECRET}", "docs/privacy.md"),
)


# Secrets in credential files, found by the lines and names around them, one row a kind.
#
# ``docs/privacy.md`` shows each kind of file, and texts that look like it.

_NOT_SPACE = r"[^\s\"'`\\]"
_PLACEHOLDER = placeholder(end=f"(?!{_NOT_SPACE})")

TEXT_IN_BASE64 = (
    r"(?:[I-Za-f][C-HS-Xi-ny-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/]){%d,80}+"
    r"(?:[I-Za-f](?:[C-HS-Xi-ny-z0-3][AEIMQUYcgkosw048]=|[gwAQ]==))?+(?![A-Za-z0-9+/=])"
)
"""ASCII text in Base64, at least so many times three bytes: no byte has its highest bit set, and none is a control
character. A word that looks like Base64 matches once in some thousand."""
USER_AND_PASSWORD = TEXT_IN_BASE64 % 3

_PRIVATE_KEY_IN_BASE64 = "|".join(
    (
        *("QUklWQVRFIEtFW", "SU0EgUFJJVkFURSBLRV", "FQyBQUklWQVRFIEtFW", "EU0EgUFJJVkFURSBLRV"),
        *("PUEVOU1NIIFBSSVZBVEUgS0VZ", "FTkNSWVBURUQgUFJJVkFURSBLRV"),
    )
)
_GAP = r"(?:\s|\\[nrt]){1,8}+"
_TECHNICAL = "oauth|openid|saml|sha|md|http|ipv|utf|base|pbkdf|argon|ed|rfc|aes|rsa|tls|ssl|totp|fido|u|v|mfa|jwt|sso"
"""Words that end in digits and may follow "login with": methods of a login, not passwords."""


CREDENTIAL_FILES: tuple[Kind, ...] = (
    _kind(
        "password",
        ("machine", "default"),
        r"((?:machine[ \t]++(?:localhost|[\w-]{1,63}+(?:\.[\w-]{1,63}+){1,8}+)(?::\d{1,5})?|default)"
        rf"(?:{_GAP}(?:login|account){_GAP}{_NOT_SPACE}{{1,100}}+){{0,2}}+{_GAP}password{_GAP})"
        rf"(?!{_PLACEHOLDER}){_NOT_SPACE}++",
        "https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html",
    ),
    _kind(
        "password",
        ("432:", ":5433:", ":*:", "pgpass"),
        r"((?:(?<=\n)|(?<=\\n)|(?<=[\"'`])|\A)[\w.*-]{1,100}+:(?:\d{4,5}|\*):[\w.*-]{1,63}+:[\w.*-]{1,63}+:)"
        rf"(?!{_PLACEHOLDER}){_NOT_SPACE}{{3,}}+(?=\s|\\n|[\"'`]|\Z)",
        "https://www.postgresql.org/docs/current/libpq-pgpass.html",
    ),
    _kind(
        "password",
        ("auth",),
        rf"""([Aa]uth(?<=["'_\s][Aa]uth)\\*["']?[ \t]*+[:=][ \t]*+(?:\\*["'])?){USER_AND_PASSWORD}""",
        "https://docs.docker.com/reference/cli/docker/login/; https://docs.npmjs.com/cli/configuring-npm/npmrc",
        needs=("_auth", "auth:", 'auth"', "auth'", "auth\\", "auth\n"),  # the last is a key of JSON
    ),
    _kind(
        "private-key",
        ("client-key-data",),
        r"""(client-key-data\\*["']?[ \t]*+:[ \t]*+(?:\\*["'])?)[A-Za-z0-9+/]{40,}+={0,2}""",
        "https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/",
    ),
    _kind(
        "private-key",
        ("ls0tls1crudjti",),
        rf"()LS0tLS1CRUdJTiB(?:{_PRIVATE_KEY_IN_BASE64})[A-Za-z0-9+/]++={{0,2}}",
        "RFC 7468; RFC 4648",
    ),
    _kind(
        "password",
        ("login", "credential", "creds"),
        r"([LlCc](?i:ogin|redentials?|reds)(?:[ \t](?i:is|are|was|were)|:)[ \t]++"
        r"[\"'`*]{0,3}+[\w.@+-]{2,64}+[\"'`*]{0,3}+[ \t]/[ \t][\"'`*]{0,3}+)"
        rf"(?!(?i:{_TECHNICAL})[-_.]?\d|{_PLACEHOLDER})"
        rf"(?={_NOT_SPACE}{{5}})(?=[^\s\d]{{0,40}}\d)(?=[^\sA-Za-z]{{0,40}}[A-Za-z])[^\s\"'`]{{1,100}}(?<![.,;:)])",
        "docs/privacy.md",
    ),
)


# Secrets in commands, found by an option of the command, or by a name with a space after it.
#
# Each row begins with the command, which is rare in texts, and then skips a few arguments.

_ARGUMENTS = r"(?:[ \t]++[^\s;|&<>]{1,80}+){0,10}?[ \t]++"
_OF_AN_OPTION = rf"""(?:(?<=["'`])(?:{QUOTED_PASSWORD})|(?<!["'`]){SHELL_PASSWORD})"""
_NO_PORT = r"(?!\d{1,5}(?::|(?!\S))|ort\b|rotocol\b)"

_CURL = rf"curl{_ARGUMENTS}(?:-u|--(?:proxy-)?user)[ \t=]*+"
_USER = r"""[^\s:;|&<>"'`$\\]{1,80}+:"""
_USER_IN_QUOTES = r"""\\*+["'][^:"'`$\\\n]{1,80}+:"""
_NO_LOGIN = placeholder(end=r"(?![^\s\\'])")

_SETTING = r"set(?:(?:x|env)[ \t]++|[ \t]++(?:-[A-Za-z-]{1,12}+[ \t]++){1,3}+)"
_ENV = rf"{beginning_a_word('ENV')}[ \t]++"
_NAME = r"[A-Za-z_]\w{2,80}+"
_PASSWORD_NAME = rf"{_NAME}(?i:(?<=password)|(?<=passwd)|(?<=passphrase)|(?<=pwd)|(?<=_pass))"
_SECRET_NAME = rf"{_NAME}(?i:(?<=secret)|(?<=token)|(?<=key_base)|{KEYS})"


def _pattern(before: str, value: str) -> str:
    return f"({before}{QUOTE}){value}"


COMMAND_LINES: tuple[Kind, ...] = (
    _kind("password", PASSWORDS, _pattern(r"sshpass[ \t]++-p[ \t]*+", _OF_AN_OPTION), "sshpass(1)", needs=("sshpass",)),
    _kind(
        "password",
        ("redis-cli",),
        _pattern(rf"redis-cli{_ARGUMENTS}(?:-a|--pass)[ \t]++", _OF_AN_OPTION),
        "https://redis.io/docs/latest/develop/tools/cli/",
    ),
    _kind(
        "password",
        ("mysql", "mariadb"),
        _pattern(
            rf"m(?:ysql|ariadb)-?(?:dump|admin|import|check|show|sh|pump)?+{_ARGUMENTS}-p{_NO_PORT}", _OF_AN_OPTION
        ),
        "https://dev.mysql.com/doc/refman/8.4/en/password-security-user.html",
    ),
    *(
        _kind(
            "password",
            ("curl",),
            rf"({_CURL}{user})(?!{_NO_LOGIN}){value}",
            "https://curl.se/docs/manpage.html#-u",
            needs=("-u", "user"),
        )
        for user, value in (
            (_USER_IN_QUOTES, r"""[^"'`\\\n]{4,400}+(?=\\*+["'])"""),
            (_USER, r"""[^\s"'`;|&<>\\]{4,400}+"""),
        )
    ),
    *(
        _kind(name, triggers, _pattern(rf"{before}{secret}[ \t]++", value), documented, needs=needs)
        for needs, before, documented in (
            (("set -", "setx ", "setenv "), _SETTING, "https://fishshell.com/docs/current/cmds/set.html"),
            (("env ",), _ENV, "https://docs.docker.com/reference/dockerfile/#env"),
        )
        for name, triggers, secret, value in (
            (
                "password",
                PASSWORDS,
                _PASSWORD_NAME,
                rf"""(?:(?<=["'`])(?:{QUOTED_PASSWORD})|{BARE_PASSWORD})""",
            ),
            ("secret", SECRETS, _SECRET_NAME, f"(?:{QUOTED_SECRET}|{BARE_SECRET})"),
        )
    ),
)


# Cookies: in headers, in options (``curl -b``), in the output of ``curl -v``, in its jars, and in dictionaries.
#
# A header holds several cookies, so a match is the whole header, and each value in it is checked. The names stay, and
# so do the attributes (``Path``, ``Max-Age``) and values that are words (``theme=dark``).

_VALUE = r"""[^\s"'`,;\\]"""
_PAIR = rf"""[\w!#$%&*+.^|~-]{{1,100}}+(?:=(?:\\*+"{_VALUE}{{0,4096}}+\\*+"|{_VALUE}{{0,4096}}+))?+"""
_PAIRS = rf"{_PAIR}(?:;[ \t]{{0,4}}+{_PAIR})*+"

_ATTRIBUTES = "path|domain|expires|max-age|samesite|priority|version|comment"
_REAL_COOKIE = (
    rf"(?!{placeholder(end=f'(?!{_VALUE})')})(?={_VALUE}{{8}})(?=(?:%[0-9A-Fa-f]{{2}}|[^\s\"'`,;\\%0-9]){{0,200}}+\d)"
    rf"(?=[^\s\"'`,;\\A-Za-z]{{0,200}}+[A-Za-z])"
)
"""The same test as for other named secrets: eight characters, with a letter, and with a digit outside of escapes."""
_EACH = re.compile(
    rf"""((?:\A|;[ \t]{{0,4}}+)(?!(?i:{_ATTRIBUTES})=)[^\s=;]{{1,100}}+=(?:\\*+")?+){_REAL_COOKIE}{_VALUE}++""",
    re.ASCII,
)

COOKIE_VALUE = rf"{_REAL_COOKIE}{_VALUE}++"
"""A pattern for a whole value that is real."""

_STRING = r"""\\*+["'`]"""
_COLON_OR_EQUALS = r"[ \t]{0,4}+[:=][ \t]{0,4}+"
_COOKIE_NAME = rf"\s{{0,80}}+(?:{_STRING})?+[\w.-]{{1,100}}+(?:{_STRING})?+[ \t]{{0,4}}+:[ \t]{{0,4}}+{_STRING}"
_NAMED_VALUE = rf"{_COOKIE_NAME}{_VALUE}{{0,4096}}+{_STRING}"

_DOCUMENTED = "RFC 6265, 4.1 and 4.2"
_MAN_PAGE = "https://curl.se/docs/manpage.html#-b"

COOKIES: tuple[Kind, ...] = (
    _kind(
        "cookie",
        ("cookie",),
        rf"""([Cc](?i:ookie)(?:(?<=--cookie)(?:[ \t]++|{NEXT_IN_LIST})|(?<=ed cookie)[ ]"""
        rf"""|(?:\\*+["']\]?)?+[ \t]*+{COLOUR}[:=]{COLOUR}[ \t]*+){QUOTE}){_PAIRS}""",
        _DOCUMENTED,
        within=_EACH,
    ),
    _kind(
        "cookie",
        ("curl",),
        rf"(-b(?<=[\s\"'`]-b)(?:[ \t]{{1,8}}+|{NEXT_IN_LIST})?+{QUOTE}){_PAIRS}",
        _MAN_PAGE,
        needs=("-b",),
        within=_EACH,
    ),
    _kind(
        "cookie",
        ("cookies",),
        rf"([Cc](?i:ookies)(?:{_STRING})?+{_COLON_OR_EQUALS}\{{){_NAMED_VALUE}(?:,{_NAMED_VALUE}){{0,100}}+",
        "https://requests.readthedocs.io/en/latest/user/quickstart/#cookies",
        within=re.compile(rf"((?:\A|,){_COOKIE_NAME}){_REAL_COOKIE}{_VALUE}++", re.ASCII),
    ),
    _kind(
        "cookie",
        ("e\t/", "e\\t/"),  # the end of TRUE, a tab, and a path
        r"((?:\t|(?<=\\)t)(?:TRUE|FALSE)(?:\t|\\t)/[^\s\\]{0,200}+(?:\t|\\t)(?:TRUE|FALSE)(?:\t|\\t)\d{1,14}+"
        rf"(?:\t|\\t)[^\s\\]{{1,100}}+(?:\t|\\t)){_REAL_COOKIE}{_VALUE}++",
        "https://curl.se/docs/http-cookies.html",
    ),
)


def redact_cookies(header: str) -> str:
    """``header``, the text after ``Cookie:``, with its real values redacted."""
    return COOKIES[0].redact(f"Cookie: {header}").removeprefix("Cookie: ")
