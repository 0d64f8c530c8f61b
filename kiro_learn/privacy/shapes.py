"""Secrets that their own shape gives away, one row a kind.

Rules of this file:

- A pattern begins with a literal, so that the search for it runs at memory speed.
- Nothing is required behind an unbounded run that could hold another beginning; so every body is read once.
- What ends early comes before what looks at its left neighbour, so that one pass finds all.
"""

from __future__ import annotations

import re

from kiro_learn.privacy.kind import Kind

_AWS = "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html"
_AZURE = "https://learn.microsoft.com/purview/sit-defn-azure-storage-account-key"
_ENTRA = "https://learn.microsoft.com/purview/sit-defn-client-secret-api-key"
_GITHUB = "https://github.blog/engineering/behind-githubs-new-authentication-token-formats/"
_GITLAB = "https://docs.gitlab.com/security/tokens/"
_GOOGLE = "https://cloud.google.com/docs/authentication/api-keys"
_HUGGING_FACE = "https://huggingface.co/docs/hub/security-tokens"
_OPENAI = "https://platform.openai.com/docs/api-reference/authentication"
_SLACK = "https://api.slack.com/concepts/token-types"
_STRIPE = "https://docs.stripe.com/keys"

_PEM_NAME = r"[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_BETWEEN_LINES = r"(?:\\+[nrt]|[^\w+/=-]|-(?!-)|\d{1,6}[^\w+/=-]){0,60}+"
r"""Between the lines of a key: line ends (real, or spelled ``\n``), quotes, indents, the line numbers of a listing."""
_PEM_LINE = r"(?:(?:Proc-Type|DEK-Info|Version|Comment): [^\n\\]{1,80}|[A-Za-z0-9+/=]{16,}+)"
_WHOLE_PEM = rf"(?:[^-]|-(?!----))*+-----END {_PEM_NAME}"
_CUT_OFF_PEM = rf"(?:{_BETWEEN_LINES}{_PEM_LINE})++"


_COMMON_BEGINNINGS = ("sk-",)


def _kind(name: str, beginning: str, rest: str, documented: str) -> Kind:
    """A secret that starts with the literal ``beginning``."""
    return Kind(name, (_trigger(beginning),), re.compile(f"(){re.escape(beginning)}{rest}", re.ASCII), documented)


def _trigger(beginning: str) -> str:
    """What to look for first. Kinds with a common beginning share it, since a body is searched once for each."""
    lowered = beginning.lower()
    return next((common for common in _COMMON_BEGINNINGS if lowered.startswith(common)), lowered)


def _word(name: str, beginning: str, rest: str, documented: str) -> Kind:
    r"""As ``_kind``, but not in the middle of a word: ``task-...`` holds no ``sk-...``.

    The ``n`` of a line end spelled ``\n`` is no part of a word.
    """
    literal = re.escape(beginning)
    return _kind(name, beginning, rf"(?:(?<![\w-]{literal})|(?<=\\[nrt]{literal})){rest}", documented)


def _value(name: str, key: str, rest: str, documented: str) -> Kind:
    """A secret behind a ``key`` that stays readable."""
    return Kind(name, (key.lower()[-4:],), re.compile(f"({re.escape(key)}){rest}", re.ASCII), documented)


SHAPES: tuple[Kind, ...] = (
    _kind("private-key", "-----BEGIN ", f"{_PEM_NAME}(?:{_WHOLE_PEM}|{_CUT_OFF_PEM})", "RFC 7468; RFC 4880, 6.2"),
    *(_word("aws-access-key-id", prefix, "[A-Z2-7]{16,}+", _AWS) for prefix in ("AKIA", "ASIA")),
    _kind("github-token", "gh", "[pousr]_[A-Za-z0-9]{36,}+", _GITHUB),
    _kind("github-token", "github_pat_", r"\w{36,}+", _GITHUB),
    _kind("gitlab-token", "glpat-", r"[\w-]{20,}+(?:\.[\w-]++)*+", _GITLAB),
    _kind("slack-token", "xox", r"[abeoprs][.-][\w-]{10,}+", _SLACK),
    _kind("slack-token", "xapp-", r"\d-[\w-]{10,}+", _SLACK),
    _kind("slack-webhook", "hooks.slack.com/services/", r"[\w/]{20,}+", _SLACK),
    _kind("anthropic-key", "sk-ant-", r"[\w-]{20,}+", "https://docs.claude.com/en/api/overview"),
    *(_kind("openai-key", prefix, r"[\w-]{20,}+", _OPENAI) for prefix in ("sk-proj-", "sk-svcacct-", "sk-admin-")),
    _kind("stripe-key", "sk_", "(?:live|test)_[A-Za-z0-9]{16,}+", _STRIPE),
    _kind("stripe-key", "rk_", "(?:live|test)_[A-Za-z0-9]{16,}+", _STRIPE),
    _kind("stripe-key", "whsec_", "[A-Za-z0-9+/=]{24,}+", _STRIPE),
    _kind("google-oauth", "GOCSPX-", r"[\w-]{28,}+", _GOOGLE),
    _kind("pypi-token", "pypi-AgE", r"[\w-]{50,}+", "PyPI help, API tokens"),
    _value("azure-key", "AccountKey=", "[A-Za-z0-9+/]{40,}+={0,2}", _AZURE),
    _value("azure-key", "SharedAccessKey=", "[A-Za-z0-9+/]{40,}+={0,2}", _AZURE),
    _value("azure-key", "sig=", r"[A-Za-z0-9%+/]{40,}+={0,2}", _AZURE),
    Kind(
        "azure-key",
        ("q~",),
        re.compile(r"()(?:(?<![\w~.-])|(?<=\\[nrt]))[\w~.-]{3}\dQ~[\w~.-]{31,}+", re.ASCII),
        _ENTRA,
    ),
    _word("npm-token", "npm_", "[A-Za-z0-9]{36,}+", "https://docs.npmjs.com/about-access-tokens"),
    _word("huggingface-token", "hf_", "[A-Za-z0-9]{34,}+", _HUGGING_FACE),
    _word("openai-key", "sk-", "[A-Za-z0-9]{32,}+", _OPENAI),
    _word("google-api-key", "AIza", r"[\w-]{35,}+", _GOOGLE),
    _word("google-oauth", "ya29.", r"[\w-]{20,}+", _GOOGLE),
    _word("jwt", "eyJ", r"[\w-]{12,}+\.(?:eyJ[\w-]{4,}+(?:\.[\w-]*+)?|[\w-]*+(?:\.[\w-]++){3})", "RFC 7519; RFC 7516"),
)
