"""Secrets that a command gives away: by an option of its own, or by a name with a space behind it.

Each row begins with the command, which is seldom in a text, and reads on over a few arguments.
"""

from __future__ import annotations

import re

from kiro_learn.privacy.assignments import (
    BARE_PASSWORD,
    BARE_SECRET,
    KEYS,
    PASSWORDS,
    QUOTE,
    QUOTED_PASSWORD,
    QUOTED_SECRET,
    SECRETS,
    SHELL_PASSWORD,
)
from kiro_learn.privacy.kind import Kind, beginning_a_word, placeholder

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


def _pattern(before: str, value: str) -> re.Pattern[str]:
    return re.compile(f"({before}{QUOTE}){value}", re.ASCII)


COMMAND_LINES: tuple[Kind, ...] = (
    Kind("password", PASSWORDS, _pattern(r"sshpass[ \t]++-p[ \t]*+", _OF_AN_OPTION), "sshpass(1)", needs=("sshpass",)),
    Kind(
        "password",
        ("redis-cli",),
        _pattern(rf"redis-cli{_ARGUMENTS}(?:-a|--pass)[ \t]++", _OF_AN_OPTION),
        "https://redis.io/docs/latest/develop/tools/cli/",
    ),
    Kind(
        "password",
        ("mysql", "mariadb"),
        _pattern(
            rf"m(?:ysql|ariadb)-?(?:dump|admin|import|check|show|sh|pump)?+{_ARGUMENTS}-p{_NO_PORT}", _OF_AN_OPTION
        ),
        "https://dev.mysql.com/doc/refman/8.4/en/password-security-user.html",
    ),
    *(
        Kind(
            "password",
            ("curl",),
            re.compile(rf"({_CURL}{user})(?!{_NO_LOGIN}){value}", re.ASCII),
            "https://curl.se/docs/manpage.html#-u",
            needs=("-u", "user"),
        )
        for user, value in (
            (_USER_IN_QUOTES, r"""[^"'`\\\n]{4,400}+(?=\\*+["'])"""),
            (_USER, r"""[^\s"'`;|&<>\\]{4,400}+"""),
        )
    ),
    *(
        Kind(name, triggers, _pattern(rf"{before}{secret}[ \t]++", value), documented, needs=needs)
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
