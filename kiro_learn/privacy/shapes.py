"""Secrets that their own shape gives away, one row a kind.

Rules of this file:

- A pattern begins with a literal, so that the search for it runs at memory speed.
- Nothing is required behind an unbounded run that could hold another beginning; so every body is read once.
- A kind stands under the narrowest ``Form`` that its pattern guarantees: so it costs least in a text without any.
- What ends early comes before what looks at its left neighbour, so that one pass finds all.
"""

from __future__ import annotations

import re

import attrs

from kiro_learn.privacy.kind import Form, Kind, beginning_a_word, behind_no_word

_AWS = "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html"
_AZURE = "https://learn.microsoft.com/purview/sit-defn-azure-storage-account-key"
_ENTRA = "https://learn.microsoft.com/purview/sit-defn-client-secret-api-key"
_GITLAB = "https://docs.gitlab.com/security/tokens/"
_GOOGLE = "https://cloud.google.com/docs/authentication/api-keys"
_GITLEAKS = "https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml"
_OPENAI = "https://platform.openai.com/docs/api-reference/authentication"
_SLACK = "https://api.slack.com/concepts/token-types"
_STRIPE = "https://docs.stripe.com/keys"
_TWILIO = "https://www.twilio.com/docs/iam/api-keys"
_VAULT = "https://developer.hashicorp.com/vault/docs/concepts/tokens"

_PEM_NAME = r"[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_BETWEEN_LINES = r"(?:\\+[nrt]|[^\w+/=-]|-(?!-)|\d{1,6}[^\w+/=-]){0,60}+"
r"""Between the lines of a key: line ends (real, or spelled ``\n``), quotes, indents, the line numbers of a listing."""
_PEM_LINE = r"(?:(?:Proc-Type|DEK-Info|Version|Comment): [^\n\\]{1,80}|[A-Za-z0-9+/=]{16,}+)"
_WHOLE_PEM = rf"(?:[^-]|-(?!----))*+-----END {_PEM_NAME}"
_CUT_OFF_PEM = rf"(?:{_BETWEEN_LINES}{_PEM_LINE})++"


_COMMON_BEGINNINGS = ("sk-", "eyj")


def _kind(name: str, beginning: str, rest: str, documented: str) -> Kind:
    """A secret that starts with the literal ``beginning``."""
    return Kind(name, (_trigger(beginning),), re.compile(f"(){re.escape(beginning)}{rest}", re.ASCII), documented)


def _trigger(beginning: str) -> str:
    """What to look for first. Kinds with a common beginning share it, since a body is searched once for each."""
    lowered = beginning.lower()
    return next((common for common in _COMMON_BEGINNINGS if lowered.startswith(common)), lowered)


def _word(name: str, beginning: str, rest: str, documented: str) -> Kind:
    """As ``_kind``, but not in the middle of a word: ``task-...`` holds no ``sk-...``."""
    pattern = re.compile(f"(){beginning_a_word(beginning)}{rest}", re.ASCII)
    return Kind(name, (_trigger(beginning),), pattern, documented)


def _value(name: str, key: str, rest: str, documented: str) -> Kind:
    """A secret behind a ``key`` that stays readable."""
    return Kind(name, (key.lower()[-10:],), re.compile(f"({re.escape(key)}){rest}", re.ASCII), documented)


_OF_ANY_FORM = (
    _kind("private-key", "-----BEGIN ", f"{_PEM_NAME}(?:{_WHOLE_PEM}|{_CUT_OFF_PEM})", "RFC 7468; RFC 4880, 6.2"),
    _kind(
        "private-key",
        "Private-Lines: ",
        rf"\d{{1,4}}(?:{_BETWEEN_LINES}[A-Za-z0-9+/=]{{16,}}+)++(?:{_BETWEEN_LINES}[A-Za-z0-9+/]{{2,15}}={{0,2}}(?![\w-]))?"
        rf"(?:{_BETWEEN_LINES}Private-(?:MAC|Hash): [0-9a-f]{{16,}}+)?",
        "https://www.chiark.greenend.org.uk/~sgtatham/putty/0.83/htmldoc/AppendixC.html",
    ),
    _kind("slack-token", "xox", r"[abeoprs][.-][\w-]{10,}+", _SLACK),
    _kind("slack-token", "xapp-", r"\d-[\w-]{10,}+", _SLACK),
    _kind("slack-webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/[\w/]{20,}+", _SLACK),
    _kind("stripe-key", "whsec_", "[A-Za-z0-9+/=]{24,}+", _STRIPE),
    _value("azure-key", "AccountKey=", "[A-Za-z0-9+/]{40,}+={0,2}", _AZURE),
    _value("azure-key", "SharedAccessKey=", "[A-Za-z0-9+/]{40,}+={0,2}", _AZURE),
    _value("azure-key", "sig=", r"[A-Za-z0-9%+/]{40,}+={0,2}", _AZURE),
    Kind(
        "azure-key",
        ("q~",),
        re.compile(rf"()(?:(?<![\w~.-])|{behind_no_word()})[\w~.-]{{3}}\dQ~[\w~.-]{{31,}}+", re.ASCII),
        _ENTRA,
    ),
    Kind(
        "vault-token",
        ("vault",),
        re.compile(
            r"""((?i:vault)[_-]?+(?i:token)[\\"']{0,4}+\s{0,4}+[:=]\s{0,4}+[\\"']{0,4}+)[sbr]\.[A-Za-z0-9]{24,}+""",
            re.ASCII,
        ),
        _VAULT,
    ),
    Kind(
        "terraform-token", (".atlasv1.",), re.compile(r"()[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}+", re.ASCII), _GITLEAKS
    ),
    _word("jwt", "eyJ", r"[\w-]{12,}+\.(?:eyJ[\w-]{4,}+(?:\.[\w-]*+)?|[\w-]*+(?:\.[\w-]++){3})", "RFC 7519; RFC 7516"),
)

_WITH_A_LONG_RUN = (
    *(_word("aws-access-key-id", prefix, "[A-Z2-7]{16,}+", _AWS) for prefix in ("AKIA", "ASIA")),
    _kind(
        "gitlab-token",
        "gl",
        r"(?:pat|ptt|dt|rt|cbt|agent|oas|soat|imt|ft|ffct)-[\w-]{20,}+(?:\.[\w-]++)*+",
        _GITLAB,
    ),
    _kind("anthropic-key", "sk-ant-", r"[\w-]{20,}+", "https://docs.claude.com/en/api/overview"),
    _kind("openai-key", "sk-", r"(?:proj|svcacct|admin)-[\w-]{20,}+", _OPENAI),
    _kind("google-oauth", "GOCSPX-", r"[\w-]{28,}+", _GOOGLE),
    _kind("pypi-token", "pypi-AgE", r"[\w-]{50,}+", "PyPI help, API tokens"),
    _word("openai-key", "sk-", "[A-Za-z0-9]{32,}+", _OPENAI),
    _word(
        "secret",
        "sk-",
        r"(?:(?:live|test|prod)-(?=[\w-]{0,60}(?:[A-Za-z]\d|\d[A-Za-z]|[a-z][A-Z]))[\w-]{16,}+"
        r"|(?:[A-Za-z]\w{0,15}-){1,3}(?=[A-Za-z]{0,40}\d)(?=\d{0,40}[A-Za-z])[A-Za-z0-9]{20,}+)",
        "docs/privacy.md",
    ),
    _word("google-api-key", "AIza", r"[\w-]{35,}+", _GOOGLE),
    _word("google-oauth", "ya29.", r"[\w-]{20,}+", _GOOGLE),
    _word("grafana-token", "eyJrIjoi", "[A-Za-z0-9]{60,}+={0,3}", _GITLEAKS),
    _kind(
        "sendgrid-key",
        "SG.",
        r"[\w-]{20,24}\.[\w-]{39,}+",
        "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys",
    ),
    _word("vault-token", "hv", r"[sbr]\.[\w-]{20,}+", _VAULT),
    Kind("atlassian-token", ("tt3",), re.compile(r"()AT[AC]TT3[\w-]{20}[\w=-]{40,}+", re.ASCII), _GITLEAKS),
    _kind(
        "docker-token",
        "dckr_",
        r"(?:pat|oat)_[\w-]{24,}+",
        "https://docs.docker.com/security/for-developers/access-tokens/",
    ),
    Kind(
        "telegram-token",
        (":aa",),
        re.compile(r"(:)(?<=[0-9]{8}:)AA[\w-]{33}(?![\w-])", re.ASCII),
        "https://core.telegram.org/bots/api#authorizing-your-bot",
    ),
    _value(
        "discord-webhook",
        "api/webhooks/",
        r"[0-9]{15,20}/[\w-]{60,}+",
        "https://docs.discord.com/developers/resources/webhook",
    ),
    _value("teams-webhook", "webhookb2/", r"[\w-]{20}[\w@-]{40,}+(?:/[\w-]++)*+", _GITLEAKS),
)

_WITH_A_HEXADECIMAL_RUN = (
    _word("databricks-token", "dapi", "[0-9a-f]{32,}+(?:-[0-9]{1,2})?", _GITLEAKS),
    _word("twilio-key", "SK", "[0-9a-fA-F]{32}(?![0-9A-Za-z])", _TWILIO),
    Kind(
        "twilio-key",
        ("ac",),
        re.compile(r"""(AC[0-9a-f]{32}[\\"'`,:\s]{1,24}+)[0-9a-f]{32}(?![0-9A-Za-z])""", re.ASCII),
        _TWILIO,
    ),
)

SHAPES: tuple[Kind, ...] = (
    *_OF_ANY_FORM,
    *(attrs.evolve(kind, form=Form.LONG_RUN) for kind in _WITH_A_LONG_RUN),
    *(attrs.evolve(kind, form=Form.HEXADECIMAL_RUN) for kind in _WITH_A_HEXADECIMAL_RUN),
)
