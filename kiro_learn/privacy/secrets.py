"""Secrets in text, found by their shape or by the name before them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from kiro_learn.privacy.assignments import ASSIGNMENTS, COMMAND_LINES, COOKIES, CREDENTIAL_FILES
from kiro_learn.privacy.kind import Form, Kind, beginning_a_word, behind_no_word, folded

# Secrets that are recognised by their own shape, one row a kind.
#
# Rules of this part:
#
# - A pattern begins with a literal, so that the search for it runs at memory speed.
# - After an unbounded run that could hold another beginning, nothing is required; so every body is read once.
# - A kind has the narrowest ``Form`` that its pattern guarantees, so that it costs least in a text without any.
# - A kind that ends early comes before one that looks at its left neighbour, so that one pass finds all.

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
    """The text to look for first. Kinds with a common beginning share it, since a body is searched once for each
    trigger.
    """
    lowered = beginning.lower()
    return next((common for common in _COMMON_BEGINNINGS if lowered.startswith(common)), lowered)


def _word(name: str, beginning: str, rest: str, documented: str) -> Kind:
    """As ``_kind``, but only at the beginning of a word: ``task-...`` holds no ``sk-...``."""
    pattern = re.compile(f"(){beginning_a_word(beginning)}{rest}", re.ASCII)
    return Kind(name, (_trigger(beginning),), pattern, documented)


def _value(name: str, key: str, rest: str, documented: str) -> Kind:
    """A secret after a ``key`` that stays readable."""
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
        r"|live-(?=[\w-]{0,60}[A-Z0-9])[\w-]{16,}+"
        r"|(?:[A-Za-z]\w{0,15}-){1,3}(?=[A-Za-z]{0,40}\d)(?=\d{0,40}[A-Za-z])[A-Za-z0-9]{20,}+)",
        "docs/privacy.md",
    ),
    _word("google-api-key", "AIza", r"[\w-]{35,}+", _GOOGLE),
    _word("google-oauth", "ya29.", r"[\w-]{20,}+", _GOOGLE),
    _word(  # a name in code has no capital and no digit
        "supabase-token",
        "sb_secret_",
        r"(?=[a-z_-]{0,40}[A-Z0-9])[\w-]{20,}+",
        "https://supabase.com/docs/guides/api/api-keys",
    ),
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


# Secrets with an issuer's prefix and a run of letters and digits after it, one row a kind.
#
# Rules of this part: a prefix ends with one of ``_-.``, and at least 16 letters or digits follow it at once, so that
# one search finds the candidates for all rows (``Form.PREFIXED``). Secrets without this form are above.
# ``docs/privacy.md`` lists which services are here and which are not, and why.

_AGE = "https://github.com/C2SP/C2SP/blob/main/age.md"
_GITHUB = "https://github.blog/engineering/behind-githubs-new-authentication-token-formats/"
_HUGGING_FACE = "https://huggingface.co/docs/hub/security-tokens"
_SHOPIFY = "https://shopify.dev/changelog/length-of-the-shopify-access-token-is-increasing"

_ALPHANUMERIC = "[A-Za-z0-9]"
_HEX = "[0-9a-f]"


def _prefixed(name: str, prefixes: str, rest: str, documented: str, *, is_word: bool = False) -> Kind:
    """A secret that begins with one of ``prefixes``; with ``is_word``, only at the beginning of a word."""
    listed = prefixes.split()
    beginning = "|".join(map(beginning_a_word if is_word else re.escape, listed))
    return Kind(
        name,
        tuple(prefix.lower() for prefix in listed),
        re.compile(f"()(?:{beginning}){rest}", re.ASCII),
        documented,
        form=Form.PREFIXED,
    )


PREFIXES: tuple[Kind, ...] = (
    _prefixed("age-key", "AGE-SECRET-KEY- AGE-SECRET-KEY-PQ-", "1[A-Z0-9]{50,}+", _AGE),
    _prefixed("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", f"{_HEX}{{64,}}+", _GITLEAKS),
    _prefixed("shopify-token", "shpat_ shpca_ shppa_ shpss_ shpua_", "[0-9a-fA-F]{32,}+", _SHOPIFY),
    _prefixed("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", f"{_ALPHANUMERIC}{{36,}}+", _GITHUB),
    _prefixed("github-token", "github_pat_", rf"{_ALPHANUMERIC}{{16}}\w{{20,}}+", _GITHUB),
    _prefixed(
        "stripe-key",
        "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_",
        f"{_ALPHANUMERIC}{{16,}}+",
        _STRIPE,
    ),
    _prefixed(
        "npm-token", "npm_", f"{_ALPHANUMERIC}{{36,}}+", "https://docs.npmjs.com/about-access-tokens", is_word=True
    ),
    _prefixed("huggingface-token", "hf_", f"{_ALPHANUMERIC}{{34,}}+", _HUGGING_FACE, is_word=True),
    _prefixed(
        "openrouter-key", "sk-or-v1-", f"{_HEX}{{64,}}+", "https://openrouter.ai/docs/api-reference/authentication"
    ),
    _prefixed("groq-key", "gsk_", f"{_ALPHANUMERIC}{{40,}}+", _GITLEAKS, is_word=True),
    _prefixed("xai-key", "xai-", f"{_ALPHANUMERIC}{{70,}}+", "https://docs.x.ai", is_word=True),
    _prefixed("perplexity-key", "pplx-", f"{_ALPHANUMERIC}{{40,}}+", _GITLEAKS, is_word=True),
    _prefixed("replicate-token", "r8_", f"{_ALPHANUMERIC}{{37,}}+", "https://replicate.com/docs", is_word=True),
    _prefixed("langsmith-key", "lsv2_pt_ lsv2_sk_", f"{_HEX}{{32}}_{_HEX}{{10,}}+", _GITLEAKS),
    _prefixed("grafana-token", "glsa_", f"{_ALPHANUMERIC}{{32}}_[0-9A-Fa-f]{{8,}}+", _GITLEAKS),
    _prefixed("grafana-token", "glc_", rf"eyJ{_ALPHANUMERIC}{{13}}[A-Za-z0-9+/=]{{19,}}+", _GITLEAKS, is_word=True),
    _prefixed("sentry-token", "sntryu_ sntrys_", rf"{_ALPHANUMERIC}{{16}}[\w+/=]{{48,}}+", _GITLEAKS),
    _prefixed("onepassword-token", "ops_", rf"eyJ{_ALPHANUMERIC}{{13}}[\w+/=-]{{187,}}+", _GITLEAKS, is_word=True),
    _prefixed("linear-key", "lin_api_ lin_oauth_", f"{_ALPHANUMERIC}{{40,}}+", _GITLEAKS),
    _prefixed("notion-token", "ntn_", rf"\d{{11}}{_ALPHANUMERIC}{{35,}}+", _GITLEAKS, is_word=True),
    _prefixed("postman-key", "PMAK-", f"{_HEX}{{24}}-{_HEX}{{34,}}+", _GITLEAKS),
    _prefixed("rubygems-key", "rubygems_", f"{_HEX}{{48,}}+", _GITLEAKS),
    _prefixed("pulumi-token", "pul-", f"{_HEX}{{40,}}+", _GITLEAKS, is_word=True),
    _prefixed("new-relic-key", "NRAK-", "[A-Z0-9]{27,}+", _GITLEAKS),
    _prefixed(
        "dynatrace-token", "dt0c01. dt0s01. dt0s02.", rf"{_ALPHANUMERIC}{{24}}\.{_ALPHANUMERIC}{{64,}}+", _GITLEAKS
    ),
    _prefixed("brevo-key", "xkeysib- xsmtpsib-", f"{_HEX}{{64}}-{_ALPHANUMERIC}{{16,}}+", _GITLEAKS),
    _prefixed(
        "supabase-token", "sbp_ sbp_oauth_", f"{_HEX}{{40,}}+", "https://supabase.com/docs/reference/api", is_word=True
    ),
    _prefixed("netlify-token", "nfp_", f"{_ALPHANUMERIC}{{36,}}+", "https://docs.netlify.com", is_word=True),
)


KINDS: tuple[Kind, ...] = (*PREFIXES, *SHAPES, *CREDENTIAL_FILES, *COOKIES, *COMMAND_LINES, *ASSIGNMENTS)
"""In the order of search: shapes before names, since a shape identifies a token more precisely."""

_RAREST_FIRST = "~=_qzjx92:-ykwg.vbpfmcu/dhlrsnioate "
"""Characters from the rarest to the most frequent in the texts of agents: prose, code, and the output of programs."""


def _triggers_of(form: Form) -> frozenset[str]:
    return frozenset(trigger for kind in KINDS if kind.form is form for trigger in kind.triggers)


def _by_rarest_character(triggers: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """The triggers grouped by their rarest character: a text without it has none of them, and a search for one
    character is thirty times as fast.
    """
    grouped: dict[str, list[str]] = {}
    for trigger in sorted(triggers):
        grouped.setdefault(min(trigger, key=_RAREST_FIRST.find), []).append(trigger)
    return grouped


TRIGGERS = frozenset(trigger for kind in KINDS for trigger in kind.triggers)
_NUMBERS = {each: [number for number, kind in enumerate(KINDS) if each in kind.triggers] for each in TRIGGERS}
"""For each trigger, the indexes of its kinds in ``KINDS``."""
_TRIGGERS_OF_ANY_FORM = _by_rarest_character(_triggers_of(Form.ANY))
_PREFIXES = tuple(sorted(_triggers_of(Form.PREFIXED)))

_LETTERS_AND_DIGITS = b"abcdefghijklmnopqrstuvwxyz0123456789"


def _classes(**members: bytes) -> bytes:
    """A table for ``bytes.translate``: each of ``members`` becomes the letter of its name, all other bytes a space."""
    letters = {member: ord(letter) for letter, listed in members.items() for member in listed}
    return bytes(letters.get(byte, ord(" ")) for byte in range(256))


_RUNS = (
    (_classes(a=_LETTERS_AND_DIGITS + b"_-"), b"a" * 20, _by_rarest_character(_triggers_of(Form.LONG_RUN))),
    (_classes(a=b"0123456789abcdef"), b"a" * 32, _by_rarest_character(_triggers_of(Form.HEXADECIMAL_RUN))),
)
"""The characters of a run, its length, and the triggers to look for if a text has such a run."""
_BEFORE_A_RUN = 48
"""How many characters before a run its trigger may begin."""
_JOINTS = _classes(a=_LETTERS_AND_DIGITS, j=b"_-.")
_PREFIX_END = b"j" + b"a" * 16


def redact_secrets(text: str) -> str:
    """``text`` with every secret replaced by ``[REDACTED:kind]``; the name before it stays readable."""
    return redact_kinds(text, kinds_that_may_be_in(text))


def kinds_that_may_be_in(text: str) -> tuple[Kind, ...]:
    lowered = folded(text)
    characters = lowered.encode("ascii", "replace")
    present = {*_found(_TRIGGERS_OF_ANY_FORM, lowered), *_prefixes_in(lowered, characters.translate(_JOINTS))}
    for classes, run, triggers in _RUNS:
        if near := _near_runs(lowered, characters.translate(classes), run):
            present.update(_found(triggers, near))
    kinds = [KINDS[number] for number in sorted({number for each in present for number in _NUMBERS[each]})]
    wanted = {each: frozenset(each) for kind in kinds for each in kind.needs}
    there = {each for each, letters in wanted.items() if all(map(lowered.__contains__, letters)) and each in lowered}
    return tuple(kind for kind in kinds if not kind.needs or not there.isdisjoint(kind.needs))


def _found(triggers_by_character: Mapping[str, Sequence[str]], lowered: str) -> Iterator[str]:
    for character, triggers in triggers_by_character.items():
        if character in lowered:
            for trigger in triggers:
                if trigger in lowered:
                    yield trigger


def _near_runs(lowered: str, classes: bytes, run: bytes) -> str:
    """The text of such runs and shortly before them; all of the text if that is a good part of it."""
    pieces: list[str] = []
    size = 0
    start = classes.find(run)
    while start >= 0 and size * 4 <= len(lowered):
        end = classes.find(b" ", start + len(run))
        piece = lowered[max(0, start - _BEFORE_A_RUN) : end if end >= 0 else None]
        pieces.append(piece)
        size += len(piece)
        start = classes.find(run, end) if end >= 0 else -1
    return " ".join(pieces) if start < 0 else lowered


def _prefixes_in(lowered: str, classes: bytes) -> Iterator[str]:
    """The prefixes with 16 letters or digits after them: one search, however many prefixes there are."""
    missing = _PREFIXES
    joint = classes.find(_PREFIX_END)
    while joint >= 0:
        if lowered.endswith(missing, 0, joint + 1):
            yield from (prefix for prefix in missing if lowered.endswith(prefix, 0, joint + 1))
            missing = tuple(prefix for prefix in missing if not lowered.endswith(prefix, 0, joint + 1))
        joint = classes.find(_PREFIX_END, joint + len(_PREFIX_END))


def redact_kinds(text: str, kinds: tuple[Kind, ...]) -> str:
    for kind in kinds:
        text = kind.redact(text)
    return text
