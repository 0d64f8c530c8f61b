"""Secrets that files of credentials hold, told by the lines and names around them, one row a kind.

What each file looks like, and what else looks like it, is in ``docs/privacy.md``.
"""

from __future__ import annotations

import re

from kiro_learn.privacy.kind import Kind, placeholder

_NOT_SPACE = r"[^\s\"'`\\]"
_PLACEHOLDER = placeholder(end=f"(?!{_NOT_SPACE})")

TEXT_IN_BASE64 = (
    r"(?:[I-Za-f][C-HS-Xi-ny-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/]){%d,80}+"
    r"(?:[I-Za-f](?:[C-HS-Xi-ny-z0-3][AEIMQUYcgkosw048]=|[gwAQ]==))?+(?![A-Za-z0-9+/=])"
)
"""ASCII text in Base64, so many times three bytes at least: no byte has its highest bit, and none is a control
character. Of words that look like Base64, one in some thousands does."""
USER_AND_PASSWORD = TEXT_IN_BASE64 % 3

_PRIVATE_KEY_IN_BASE64 = "|".join(
    (
        *("QUklWQVRFIEtFW", "SU0EgUFJJVkFURSBLRV", "FQyBQUklWQVRFIEtFW", "EU0EgUFJJVkFURSBLRV"),
        *("PUEVOU1NIIFBSSVZBVEUgS0VZ", "FTkNSWVBURUQgUFJJVkFURSBLRV"),
    )
)
_GAP = r"(?:\s|\\[nrt]){1,8}+"
_TECHNICAL = "oauth|openid|saml|sha|md|http|ipv|utf|base|pbkdf|argon|ed|rfc|aes|rsa|tls|ssl|totp|fido|u|v|mfa|jwt|sso"
"""What a login is said to be with, in words that end in digits."""


def _kind(name: str, triggers: tuple[str, ...], pattern: str, documented: str) -> Kind:
    return Kind(name, triggers, re.compile(pattern, re.ASCII), documented)


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
        (":5432:", ":5433:", ":6432:", ":*:", "pgpass"),
        r"((?:(?<=\n)|(?<=\\n)|(?<=[\"'`])|\A)[\w.*-]{1,100}+:(?:\d{4,5}|\*):[\w.*-]{1,63}+:[\w.*-]{1,63}+:)"
        rf"(?!{_PLACEHOLDER}){_NOT_SPACE}{{3,}}+(?=\s|\\n|[\"'`]|\Z)",
        "https://www.postgresql.org/docs/current/libpq-pgpass.html",
    ),
    _kind(
        "password",
        ("_auth", "auth:", 'auth"', "auth'", "auth\\", "auth\n"),  # the last is a key of JSON
        rf"""([Aa]uth(?<=["'_\s][Aa]uth)\\*["']?[ \t]*+[:=][ \t]*+(?:\\*["'])?){USER_AND_PASSWORD}""",
        "https://docs.docker.com/reference/cli/docker/login/; https://docs.npmjs.com/cli/configuring-npm/npmrc",
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
