"""Cookies: in headers, in options (``curl -b``), in what ``curl -v`` prints, in its jars, and in dictionaries.

A header holds several, so what is found is the header, and each value in it is looked at. The names stay, and so do
the attributes (``Path``, ``Max-Age``) and values that say something (``theme=dark``).
"""

from __future__ import annotations

import re

from kiro_learn.privacy.assignments import COLOUR, NEXT_IN_LIST, QUOTE
from kiro_learn.privacy.kind import Kind, placeholder

_VALUE = r"""[^\s"'`,;\\]"""
_PAIR = rf"""[\w!#$%&*+.^|~-]{{1,100}}+(?:=(?:\\*+"{_VALUE}{{0,4096}}+\\*+"|{_VALUE}{{0,4096}}+))?+"""
_PAIRS = rf"{_PAIR}(?:;[ \t]{{0,4}}+{_PAIR})*+"

_ATTRIBUTES = "path|domain|expires|max-age|samesite|priority|version|comment"
_REAL = (
    rf"(?!{placeholder(end=f'(?!{_VALUE})')})(?={_VALUE}{{8}})(?=(?:%[0-9A-Fa-f]{{2}}|[^\s\"'`,;\\%0-9]){{0,200}}+\d)"
    rf"(?=[^\s\"'`,;\\A-Za-z]{{0,200}}+[A-Za-z])"
)
"""As behind the names of other secrets: eight characters, with a letter and a digit that is no part of an escape."""
_EACH = re.compile(
    rf"""((?:\A|;[ \t]{{0,4}}+)(?!(?i:{_ATTRIBUTES})=)[^\s=;]{{1,100}}+=(?:\\*+")?+){_REAL}{_VALUE}++""", re.ASCII
)

COOKIE_VALUE = rf"{_REAL}{_VALUE}++"
"""A pattern for the whole of a value that is real."""

_STRING = r"""\\*+["'`]"""
_COLON_OR_EQUALS = r"[ \t]{0,4}+[:=][ \t]{0,4}+"
_NAME = rf"\s{{0,80}}+(?:{_STRING})?+[\w.-]{{1,100}}+(?:{_STRING})?+[ \t]{{0,4}}+:[ \t]{{0,4}}+{_STRING}"
_NAMED_VALUE = rf"{_NAME}{_VALUE}{{0,4096}}+{_STRING}"

_DOCUMENTED = "RFC 6265, 4.1 and 4.2"
_MAN_PAGE = "https://curl.se/docs/manpage.html#-b"

COOKIES: tuple[Kind, ...] = (
    Kind(
        "cookie",
        ("cookie",),
        re.compile(
            rf"""([Cc](?i:ookie)(?:(?<=--cookie)(?:[ \t]++|{NEXT_IN_LIST})|(?<=ed cookie)[ ]"""
            rf"""|(?:\\*+["']\]?)?+[ \t]*+{COLOUR}[:=]{COLOUR}[ \t]*+){QUOTE}){_PAIRS}""",
            re.ASCII,
        ),
        _DOCUMENTED,
        within=_EACH,
    ),
    Kind(
        "cookie",
        ("curl",),
        re.compile(rf"(-b(?<=[\s\"'`]-b)(?:[ \t]{{1,8}}+|{NEXT_IN_LIST})?+{QUOTE}){_PAIRS}", re.ASCII),
        _MAN_PAGE,
        needs=("-b",),
        within=_EACH,
    ),
    Kind(
        "cookie",
        ("cookies",),
        re.compile(
            rf"([Cc](?i:ookies)(?:{_STRING})?+{_COLON_OR_EQUALS}\{{){_NAMED_VALUE}(?:,{_NAMED_VALUE}){{0,100}}+",
            re.ASCII,
        ),
        "https://requests.readthedocs.io/en/latest/user/quickstart/#cookies",
        within=re.compile(rf"((?:\A|,){_NAME}){_REAL}{_VALUE}++", re.ASCII),
    ),
    Kind(
        "cookie",
        ("e\t/", "e\\t/"),  # as in TRUE, a path
        re.compile(
            r"((?:\t|(?<=\\)t)(?:TRUE|FALSE)(?:\t|\\t)/[^\s\\]{0,200}+(?:\t|\\t)(?:TRUE|FALSE)(?:\t|\\t)\d{1,14}+"
            rf"(?:\t|\\t)[^\s\\]{{1,100}}+(?:\t|\\t)){_REAL}{_VALUE}++",
            re.ASCII,
        ),
        "https://curl.se/docs/http-cookies.html",
    ),
)


def redact_cookies(header: str) -> str:
    """``header``, what stands behind ``Cookie:``, with the values in it redacted that are real."""
    return COOKIES[0].redact(f"Cookie: {header}").removeprefix("Cookie: ")
